//! What the start of an overlong line still tells: whether somebody waits for it.

use serde_json::value::RawValue;

use super::envelope::{ResponseId, response_id, valid_id};

/// Who waits for a line that was dropped.
#[derive(Debug, PartialEq, Eq)]
pub enum Oversize {
    /// The agent, for the answer to its request with this id, in its own JSON.
    Request(String),
    /// One of our calls.
    Response(ResponseId),
}

/// Reads the members of an object as far as they are there. `None`: a notification, or an id that stood further back.
pub fn identify(head: &[u8]) -> Option<Oversize> {
    // The cut may have split a character.
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let mut rest = text.trim_start().strip_prefix('{')?;
    let (mut id, mut call, mut answer) = (None, false, false);
    while let Some((key, after)) = value(rest) {
        let Some(after) = after.trim_start().strip_prefix(':') else { break };
        call |= key == "\"method\"";
        answer |= matches!(key, "\"result\"" | "\"error\"");
        let Some((member, after)) = value(after) else { break };
        if key == "\"id\"" {
            id = Some(member);
        }
        let Some(after) = after.trim_start().strip_prefix(',') else { break };
        rest = after;
    }
    let id = id.filter(|id| valid_id(id))?;
    match (call, answer) {
        (true, _) => Some(Oversize::Request(id.to_owned())),
        (false, true) => Some(Oversize::Response(response_id(id))),
        (false, false) => None,
    }
}

/// Whether the line may have carried text of a message: its start says so, or does not say what it is.
pub fn may_hold_message(head: &[u8]) -> bool {
    let Some(at) = memchr::memmem::find(head, b"\"sessionUpdate\"") else { return true };
    let value = head[at + b"\"sessionUpdate\"".len()..].trim_ascii_start();
    let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii_start();
    let tag: &[u8] = b"\"agent_message_chunk\"";
    value.starts_with(tag) || tag.starts_with(value) || value.contains(&b'\\')
}

/// The first JSON value of a text and what follows it, unless the text ends with it: it may have been cut.
fn value(text: &str) -> Option<(&str, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?.get();
    let end = values.byte_offset();
    (end < text.len()).then(|| (value, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_hold_message_text_unless_its_start_says_otherwise() {
        for (head, expected) in [
            (
                r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":"#,
                true,
            ),
            (r#"{"params":{"update":{"sessionUpdate" : "agent_message_chunk","content":"#, true),
            (r#"{"params":{"update":{"content":{"type":"text","text":"xxxx"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"agent_mess"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"agent_messag\u0065_chunk"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"tool_call_update","content":"#, false),
            (r#"{"params":{"update":{"sessionUpdate":"agent_thought_chunk","content":"#, false),
        ] {
            assert_eq!(may_hold_message(head.as_bytes()), expected, "{head}");
        }
    }

    #[test]
    fn the_start_of_a_line_says_who_waits() {
        let response = |id| Some(Oversize::Response(id));
        let cases = [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"x":"xxx"#, response(ResponseId::Exact(7))),
            (r#" { "id" : "7", "error":{"code":1,"#, response(ResponseId::Quirk(7))),
            (
                r#"{"id":"a-1","jsonrpc":"2.0","method":"fs/write_text_file","params":{"content":"é"#,
                Some(Oversize::Request("\"a-1\"".into())),
            ),
            (r#"{"jsonrpc":"2.0","method":"session/update","params":{"id":3,"#, None),
            (r#"{"jsonrpc":"2.0","result":"xxxx"#, None),
            (r#"{"jsonrpc":"2.0","id":7"#, None),
            (r#"{"id":7,"xxx":"#, None),
            ("xxxxxxxxxxxx", None),
            ("", None),
        ];
        for (head, expected) in cases {
            assert_eq!(identify(head.as_bytes()), expected, "{head}");
            let mut cut = head.as_bytes().to_vec();
            cut.push(0xC3);
            assert_eq!(identify(&cut), expected, "{head} and half a character");
        }
    }
}
