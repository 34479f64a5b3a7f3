//! What the ends of an overlong line still tell: whether somebody waits for it.

use serde_json::value::RawValue;

use super::envelope::{ResponseId, response_id, valid_id};

/// Who waits for a line that was dropped.
#[derive(Debug, PartialEq, Eq)]
pub enum Oversize {
    /// The agent, for the answer to its request with this id, in its own JSON.
    Request(String),
    /// One of our calls.
    Response(ResponseId),
    /// One of our calls, but neither end says which.
    SomeResponse,
}

/// Reads the members of an object from its start as far as they are there, and the id from its end where it is the last
/// member. `None`: a notification, or nothing that somebody is known to wait for.
pub fn identify(head: &[u8], tail: &[u8]) -> Option<Oversize> {
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
    let id = id.filter(|id| valid_id(id)).or_else(|| last_id(tail));
    match (id, call, answer) {
        (Some(id), true, _) => Some(Oversize::Request(id.to_owned())),
        (Some(id), false, true) => Some(Oversize::Response(response_id(id))),
        (None, false, true) => Some(Oversize::SomeResponse),
        // The long member came first, and the other end has what makes an answer of it.
        (Some(id), false, false) if answers(tail) => Some(Oversize::Response(response_id(id))),
        _ => None,
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

/// Whether the end of an object looks like that of an answer.
fn answers(tail: &[u8]) -> bool {
    let has = |key: &[u8]| memchr::memmem::find(tail, key).is_some();
    (has(b"\"result\"") || has(b"\"error\"")) && !has(b"\"method\"")
}

/// The id of an object whose last member it is. No part of a string can be taken for it: its quotes are not escaped, and
/// would end the string.
fn last_id(tail: &[u8]) -> Option<&str> {
    let rest = tail.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'"');
    let length = rest.iter().rev().take_while(|byte| plain(byte)).count();
    let (before, id) = rest.split_at(rest.len() - length);
    let key = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"id\"")?;
    key.trim_ascii_end().strip_suffix(b",")?;
    std::str::from_utf8(id).ok().filter(|id| valid_id(id) && serde_json::from_str::<&RawValue>(id).is_ok())
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
    fn the_end_of_a_line_says_who_waits_where_the_start_does_not() {
        let exact = |id| Some(Oversize::Response(ResponseId::Exact(id)));
        let answer = r#"{"jsonrpc":"2.0","result":{"x":"xxx"#;
        let cases = [
            (answer, r#"xxx"},"id":7}"#, exact(7)),
            (answer, "xxx\"} , \"id\" : 7 } \r", exact(7)),
            (answer, r#"xxx"},"id":"7"}"#, Some(Oversize::Response(ResponseId::Quirk(7)))),
            (r#"{"error":{"message":"xxx"#, r#"xxx"},"jsonrpc":"2.0","id":7}"#, exact(7)),
            (r#"{"result":"xxx"#, r#"xxx","id":7}"#, exact(7)),
            // What is inside of the answer, or of a string, is not its id.
            (answer, r#"xxx","id":7}}"#, Some(Oversize::SomeResponse)),
            (answer, r#"xxx,\"id\":7}"}"#, Some(Oversize::SomeResponse)),
            (answer, r#"xxx"},"id":7,"_meta":{}}"#, Some(Oversize::SomeResponse)),
            (answer, r#"xxx"},"id":[7]}"#, Some(Oversize::SomeResponse)),
            (answer, r#"xxx"},"id":7"8}"#, Some(Oversize::SomeResponse)),
            (answer, r#"xxx"},"id":7"#, Some(Oversize::SomeResponse)),
            (answer, "", Some(Oversize::SomeResponse)),
            // The start goes before the end.
            (r#"{"id":8,"result":{"x":"xxx"#, r#"xxx"},"id":7}"#, exact(8)),
            (r#"{"method":"_x/y","params":{"x":"xxx"#, r#"xxx"},"id":"a"}"#, Some(Oversize::Request("\"a\"".into()))),
            (r#"{"method":"session/update","params":{"x":"xxx"#, r#"xxx"}}"#, None),
            (r#"{"_meta":{"x":"xxx"#, r#"xxx"},"result":{},"id":7}"#, exact(7)),
            (r#"{"level":"xxx"#, r#"xxx","id":7}"#, None),
            (r#"{"params":{"x":"xxx"#, r#"xxx"},"method":"_x/y","id":7}"#, None),
            ("xxxx", "xxxx", None),
        ];
        for (head, tail, expected) in cases {
            assert_eq!(identify(head.as_bytes(), tail.as_bytes()), expected, "{head} … {tail}");
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
            (r#"{"jsonrpc":"2.0","result":"xxxx"#, Some(Oversize::SomeResponse)),
            (r#"{"jsonrpc":"2.0","id":7"#, None),
            (r#"{"id":7,"xxx":"#, None),
            ("xxxxxxxxxxxx", None),
            ("", None),
        ];
        for (head, expected) in cases {
            assert_eq!(identify(head.as_bytes(), b""), expected, "{head}");
            let mut cut = head.as_bytes().to_vec();
            cut.push(0xC3);
            assert_eq!(identify(&cut, b""), expected, "{head} and half a character");
        }
    }
}
