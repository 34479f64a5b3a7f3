use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;

fn schema_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schema").join(name)
}

fn schema() -> Value {
    serde_json::from_str(&std::fs::read_to_string(schema_file("acp-v1.schema.json")).unwrap()).unwrap()
}

/// The constants that a definition's variants have in a member, or are.
fn constants(definition: &Value, member: Option<&str>) -> BTreeSet<String> {
    let variants = definition.get("oneOf").or_else(|| definition.get("anyOf")).and_then(Value::as_array).unwrap();
    let constant = |variant: &Value| match member {
        Some(member) => variant["properties"][member]["const"].as_str().map(str::to_owned),
        None => variant["const"].as_str().map(str::to_owned),
    };
    variants.iter().filter_map(constant).collect()
}

fn names(known: &[Known]) -> BTreeSet<String> {
    let names: BTreeSet<_> = known.iter().map(|known| known.name.to_owned()).collect();
    assert_eq!(names.len(), known.len(), "a name is there twice");
    names
}

#[test]
fn the_registry_has_all_that_the_protocols_schema_has() {
    let schema = schema();
    let definition = |name: &str| &schema["$defs"][name];
    let cases: [(&str, Option<&str>, &[Known]); 10] = [
        ("SessionUpdate", Some("sessionUpdate"), UPDATES),
        ("ContentBlock", Some("type"), CONTENT_BLOCKS),
        ("StopReason", None, STOP_REASONS),
        ("ToolKind", None, TOOL_KINDS),
        ("ToolCallStatus", None, TOOL_STATUSES),
        ("ToolCallContent", Some("type"), TOOL_CONTENT),
        ("PermissionOptionKind", None, PERMISSION_OPTIONS),
        ("SessionConfigOption", Some("type"), CONFIG_OPTIONS),
        ("CreateElicitationRequest", Some("mode"), ELICITATION_MODES),
        ("AuthMethod", Some("type"), &AUTH_METHODS[1..]),
    ];
    for (name, member, known) in cases {
        assert_eq!(constants(definition(name), member), names(known), "{name}");
    }
    let transports = constants(definition("McpServer"), Some("type"));
    assert_eq!(transports, names(&MCP_SERVERS[1..]));
}

#[test]
fn every_method_of_the_schema_is_called_handled_or_left_out_for_a_reason() {
    let schema = schema();
    let mut wanted = BTreeSet::new();
    for definition in schema["$defs"].as_object().unwrap().values() {
        if let (Some(method), Some(side)) = (definition["x-method"].as_str(), definition["x-side"].as_str()) {
            // What one side can receive; a notification that both sides know counts for both.
            let sides: &[&str] = if side == "protocol" { &["client"] } else { &[side] };
            wanted.extend(sides.iter().map(|side| ((*side).to_owned(), method.to_owned())));
        }
    }
    let left_out = |method: &str| LEFT_OUT.iter().any(|(name, _)| *name == method);
    wanted.retain(|(_, method)| !left_out(method));
    let mut known: BTreeSet<_> = OUTBOUND.iter().map(|method| ("agent".to_owned(), method.name.to_owned())).collect();
    known.extend(INBOUND.iter().map(|method| ("client".to_owned(), method.name.to_owned())));
    assert_eq!(known, wanted);
}

#[test]
fn the_registry_as_data_is_current() {
    let path = schema_file("registry.json");
    let text = format!("{}\n", serde_json::to_string_pretty(&registry()).unwrap());
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert_eq!(kept, text, "UPDATE_EXPECT=1 rewrites {}", path.display());
}

/// The examples that the golden transcripts use are what the protocol means.
#[test]
fn there_is_a_good_example_of_every_update() {
    let examples = std::fs::read_to_string(schema_file("update-examples.json")).unwrap();
    let examples: serde_json::Map<String, Value> = serde_json::from_str(&examples).unwrap();
    assert_eq!(examples.keys().cloned().collect::<BTreeSet<_>>(), names(UPDATES));
    for (name, body) in examples {
        let mut update = body.clone();
        update["sessionUpdate"] = name.clone().into();
        let typed: agent_client_protocol_schema::v1::SessionUpdate =
            serde_json::from_value(update.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        // What a type leaves out on the way back, it did not understand.
        assert_eq!(serde_json::to_value(typed).unwrap(), update, "{name}");
    }
}
