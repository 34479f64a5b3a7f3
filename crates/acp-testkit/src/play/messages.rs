//! The messages that convenience steps send.

use serde_json::{Map, Value, json};

use super::vars::Vars;
use crate::script::{Flood, Permission, Piece, Raw, Text};

/// The result of `initialize` when the script does not change it.
pub fn initialize_result() -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": false,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": false},
            "mcpCapabilities": {"http": false, "sse": false},
        },
        "agentInfo": {"name": "fake-agent", "title": "Fake agent", "version": env!("CARGO_PKG_VERSION")},
        "authMethods": [],
    })
}

/// Merges a change into a value: objects key by key, `null` removes, anything else replaces (RFC 7396).
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(target) = target.as_object_mut() else { return };
    for (key, change) in patch {
        if change.is_null() {
            target.shift_remove(key);
        } else {
            merge(target.entry(key.as_str()).or_insert(Value::Null), change);
        }
    }
}

/// A response with a result or an error.
pub fn response(id: &Value, result: Option<Value>, error: Option<Value>) -> Value {
    match error {
        Some(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        None => json!({"jsonrpc": "2.0", "id": id, "result": result.unwrap_or(Value::Null)}),
    }
}

/// A request, or a notification when there is no id.
pub fn call(id: Option<&Value>, method: &str, params: Option<Value>) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    if let Some(id) = id {
        message.insert("id".into(), id.clone());
    }
    message.insert("method".into(), method.into());
    if let Some(params) = params {
        message.insert("params".into(), params);
    }
    Value::Object(message)
}

/// A `session/update`.
pub fn update(session: &Value, update: &Value) -> Value {
    call(None, "session/update", Some(json!({"sessionId": session, "update": update})))
}

/// The update of a `text` step.
pub fn chunk(text: &Text) -> Value {
    let mut update = json!({
        "sessionUpdate": text.kind.as_deref().unwrap_or("agent_message_chunk"),
        "content": {"type": "text", "text": text.text},
    });
    if let Some(id) = &text.message_id {
        update["messageId"] = id.as_str().into();
    }
    update
}

/// The params of a permission request.
pub fn permission(step: &Permission, session: &Value) -> Value {
    let tool_call = step.tool_call.clone().unwrap_or_else(
        || json!({"toolCallId": "call-1", "title": "Run a command", "kind": "execute", "status": "pending"}),
    );
    let options = step.options.clone().unwrap_or_else(|| {
        json!([
            {"optionId": "allow", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "reject", "name": "Reject once", "kind": "reject_once"},
        ])
    });
    json!({"sessionId": session, "toolCall": tool_call, "options": options})
}

/// The parts of a message between the places of `{i}`, so that each copy costs no serialisation.
pub fn template(message: &Value) -> Vec<Vec<u8>> {
    let line = format!("{message}\n");
    line.split("{i}").map(|part| part.as_bytes().to_vec()).collect()
}

/// Appends the copy with number `i`.
pub fn stamp(template: &[Vec<u8>], i: u64, buffer: &mut Vec<u8>) {
    let number = i.to_string();
    for (index, part) in template.iter().enumerate() {
        if index > 0 {
            buffer.extend_from_slice(number.as_bytes());
        }
        buffer.extend_from_slice(part);
    }
}

/// The lines of a flood, in buffers of about the wanted size.
pub fn flood<'a>(step: &'a Flood, template: &'a [Vec<u8>]) -> impl Iterator<Item = Vec<u8>> + use<'a> {
    let size = step.bytes_per_write.unwrap_or(256 * 1024).max(1);
    let mut next = 0;
    std::iter::from_fn(move || {
        let mut buffer = Vec::with_capacity(size + 1024);
        while next < step.count && buffer.len() < size {
            stamp(template, next, &mut buffer);
            next += 1;
        }
        (!buffer.is_empty()).then_some(buffer)
    })
}

/// The bytes of a `raw` step: the pieces in the order of their writes.
pub fn raw_pieces(step: &Raw, vars: &Vars) -> Result<Vec<Vec<u8>>, String> {
    let literal = step.literal.unwrap_or(false);
    let single =
        Piece { text: step.text.clone(), base64: step.base64.clone(), json: step.json.clone(), repeat: step.repeat };
    match (&step.chunks, single == Piece::default()) {
        (Some(chunks), true) => chunks.iter().map(|piece| piece_bytes(piece, vars, literal)).collect(),
        (None, false) => Ok(vec![piece_bytes(&single, vars, literal)?]),
        _ => Err("raw needs either chunks or one of text, base64, json".into()),
    }
}

fn piece_bytes(piece: &Piece, vars: &Vars, literal: bool) -> Result<Vec<u8>, String> {
    use base64::Engine as _;
    let once = match (&piece.text, &piece.base64, &piece.json) {
        (Some(text), None, None) if literal => text.clone().into_bytes(),
        (Some(text), None, None) => vars.fill_json_text(text)?.into_bytes(),
        (None, Some(base64), None) => {
            base64::engine::general_purpose::STANDARD.decode(base64).map_err(|error| format!("not base64: {error}"))?
        }
        (None, None, Some(json)) if literal => format!("{json}\n").into_bytes(),
        (None, None, Some(json)) => format!("{}\n", vars.fill(json)?).into_bytes(),
        _ => return Err("a piece needs exactly one of text, base64, json".into()),
    };
    match piece.repeat.map(usize::try_from) {
        None => Ok(once),
        Some(Ok(times)) => Ok(once.repeat(times)),
        Some(Err(error)) => Err(format!("repeat: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_like_rfc_7396() {
        let mut value = json!({"a": {"b": 1, "c": 2}, "d": [1], "e": 1});
        merge(&mut value, &json!({"a": {"b": null, "x": {"y": null, "z": 1}}, "d": {"k": 1}, "e": null}));
        assert_eq!(value, json!({"a": {"c": 2, "x": {"z": 1}}, "d": {"k": 1}}));
    }

    #[test]
    fn floods_in_buffers() {
        let step = Flood { count: 10, bytes_per_write: Some(50), ..Flood::default() };
        let template = template(&json!({"n": "<{i}> {i}"}));
        let buffers: Vec<Vec<u8>> = flood(&step, &template).collect();
        assert_eq!(buffers.len(), 3);
        let text = String::from_utf8(buffers.concat()).unwrap();
        assert_eq!(text.lines().count(), 10);
        assert!(text.ends_with("{\"n\":\"<9> 9\"}\n"));
    }

    #[test]
    fn a_piece_is_one_thing() {
        let vars = Vars::default();
        for step in [
            Raw::default(),
            Raw { text: Some("a".into()), base64: Some("YQ==".into()), ..Raw::default() },
            Raw { text: Some("a".into()), chunks: Some(vec![Piece::text("b")]), ..Raw::default() },
            Raw { base64: Some("?".into()), ..Raw::default() },
        ] {
            assert!(raw_pieces(&step, &vars).is_err(), "{step:?}");
        }
        let step = Raw { chunks: Some(vec![Piece::text("ab").repeated(2), Piece::bytes(&[255])]), ..Raw::default() };
        assert_eq!(raw_pieces(&step, &vars).unwrap(), [b"abab".to_vec(), vec![255]]);
    }
}
