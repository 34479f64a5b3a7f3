//! Prints the JSON Schema of every protocol type of version 1, prose removed, in a stable order.
//!
//! `node scripts/generate-protocol-types.js --schema` writes the output to `schema/acp-v1.schema.json`.

use std::io::Write as _;

use agent_client_protocol_schema::v1;
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// Registers the payloads of both directions; everything that they reach comes along.
fn register(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
    macro_rules! roots {
        ($($name:ident),* $(,)?) => { vec![$((stringify!($name), generator.subschema_for::<v1::$name>())),*] };
    }
    roots!(
        ClientRequest,
        ClientResponse,
        ClientNotification,
        AgentRequest,
        AgentResponse,
        AgentNotification,
        ProtocolLevelNotification,
        RequestId,
        Error,
    )
}

/// Removes descriptions and titles: the contract is the shape. Objects named by the author of the schema
/// (`properties`, `$defs`) may have members of these names, so only schema positions are cleaned.
fn strip_prose(schema: &mut Value, is_schema: bool) {
    match schema {
        Value::Object(object) => {
            if is_schema {
                object.remove("description");
                object.remove("title");
            }
            for (key, value) in object.iter_mut() {
                let names = is_schema && matches!(key.as_str(), "properties" | "$defs" | "patternProperties");
                let data = is_schema && matches!(key.as_str(), "default" | "const" | "enum" | "examples" | "required");
                if !data {
                    strip_prose(value, !names);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| strip_prose(item, is_schema)),
        _ => {}
    }
}

/// Sorts the members of every object, so that the output does not depend on declaration order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.into_iter().collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(members.into_iter().map(|(k, v)| (k, sorted(v))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn main() -> std::io::Result<()> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let _roots = register(&mut generator);
    let definitions = generator.take_definitions(true);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-crate": "agent-client-protocol-schema",
        "x-crate-version": env!("CARGO_PKG_VERSION"),
        "x-protocol-version": 1,
        "$defs": definitions,
    });
    strip_prose(&mut schema, true);
    let text = serde_json::to_string_pretty(&sorted(schema))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")
}
