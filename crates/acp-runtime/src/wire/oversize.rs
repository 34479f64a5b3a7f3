//! What the ends of an overlong line still tell: whether somebody waits for it.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::value::RawValue;

use super::envelope::{ResponseId, response_id, valid_id};
use super::text::Text;

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
    let (mut id, mut call, mut answer) = (None, false, false);
    for (key, member) in Members::of(readable(head))? {
        call |= key == "method";
        answer |= matches!(&*key, "result" | "error");
        if let ("id", Member::Whole(value)) = (&*key, member) {
            id = Some(value);
        }
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

/// Whether the line may have carried text of a message: its ends say so, or do not say what it is.
pub fn may_hold_message(head: &[u8], tail: &[u8]) -> bool {
    let text = readable(head);
    let Some(message) = Members::of(text) else {
        // No object is no message; of blanks alone it is not known what follows.
        return text.trim_start().is_empty();
    };
    // A name that is given twice is the last one.
    if message.string("method").is_some_and(|method| method != "session/update")
        && memchr::memmem::find(tail, b"/update\"").is_none()
    {
        return false;
    }
    let tag = member(text, "params").and_then(|params| member(params, "update")).and_then(|update| {
        // One that is cut is not known.
        Members::of(update)?.string("sessionUpdate")
    });
    tag.is_none_or(|tag| tag == "agent_message_chunk")
}

/// The session that an update is of, where an end of its line says so beyond doubt: as one of the first members of its
/// params, or as the last one. `None` also where the two ends disagree.
pub fn session_of(head: &[u8], tail: &[u8]) -> Option<String> {
    let first = member(readable(head), "params").and_then(|params| Members::of(params)?.string("sessionId"));
    match (first, last_session(tail)) {
        (Some(first), Some(last)) => (first == last).then(|| last.into_owned()),
        (first, last) => first.or(last).map(Cow::into_owned),
    }
}

/// The start of a line as text, without a byte order mark. The cut may have split a character.
fn readable(head: &[u8]) -> &str {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The value of a member: all of it, or what there is before the text ends.
#[derive(Clone, Copy)]
enum Member<'a> {
    Whole(&'a str),
    Cut(&'a str),
}

/// The members of an object in their order, as far as its text goes.
#[derive(Clone)]
struct Members<'a>(&'a str);

impl<'a> Members<'a> {
    /// `None`: the text is not that of an object.
    fn of(text: &'a str) -> Option<Self> {
        text.trim_start().strip_prefix('{').map(Self)
    }

    /// What a member says, if that is a string and all of it is there.
    fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        match self.clone().filter(|(name, _)| name == key).last()? {
            (_, Member::Whole(value)) => serde_json::from_str(value).ok().map(|Text(value)| value),
            (_, Member::Cut(_)) => None,
        }
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, Member<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, rest) = value(std::mem::take(&mut self.0))?;
        let Text(key) = serde_json::from_str(key).ok()?;
        let rest = rest.trim_start().strip_prefix(':')?;
        let Some((member, rest)) = value(rest) else { return Some((key, Member::Cut(rest))) };
        self.0 = rest.trim_start().strip_prefix(',').unwrap_or_default();
        Some((key, Member::Whole(member)))
    }
}

/// The value of a member of an object, or as much of it as there is.
fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let (_, member) = Members::of(object)?.filter(|(name, _)| name == key).last()?;
    match member {
        Member::Whole(value) | Member::Cut(value) => Some(value),
    }
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

/// The session id that is the last member of the params, which only short members of the message follow.
fn last_session(tail: &[u8]) -> Option<Cow<'_, str>> {
    const KEY: &[u8] = b"\"sessionId\"";
    // As in `last_id`, no part of a string can be taken for it.
    let at = memchr::memmem::rfind(tail, KEY)?;
    tail[..at].trim_ascii_end().strip_suffix(b",")?;
    let rest = std::str::from_utf8(&tail[at + KEY.len()..]).ok()?;
    let (id, rest) = value(rest.trim_start().strip_prefix(':')?)?;
    let rest = rest.trim_start().strip_prefix('}')?.trim_start();
    let message = format!("{{{}", rest.strip_prefix(',').unwrap_or(rest));
    let message: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(&message).ok()?;
    if !message.keys().all(|key| matches!(&**key, "jsonrpc" | "method")) {
        return None;
    }
    serde_json::from_str(id).ok().map(|Text(id)| id)
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_may_hold_message_text_unless_its_start_says_otherwise() {
        let cases = [
            (
                r#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":"#,
                true,
            ),
            (r#"{"params":{"update":{"sessionUpdate" : "agent_message_chunk","content":"#, true),
            (r#"{"params":{"update":{"content":{"type":"text","text":"xxxx"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"agent_mess"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"agent_messag\u0065_chunk","content":"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"tool_call_update","content":"#, false),
            (r#"{"params":{"update":{"sessionUpdate":"agent_thought_chunk","content":"#, false),
            (r#"{"params":{"update":{"sessionUpdate":"agent_thought_chunk","content":{}},"_meta":"x"#, false),
            // The tag is the one of the update, and the last of several.
            (r#"{"params":{"_meta":{"sessionUpdate":"plan"},"update":{"content":"x"#, true),
            (r#"{"sessionUpdate":"plan","params":{"update":{"content":"x"#, true),
            (r#"{"params":{"update":{"content":{"sessionUpdate":"plan","text":"x"#, true),
            (r#"{"params":{"update":{"sessionUpdate":"plan","sessionUpdate":"agent_message_chunk","content":"#, true),
            // Another method, as a member of the message itself, and the last of several.
            (r#"{"jsonrpc":"2.0","method":"_x/y","params":{"pad":"xxx"#, false),
            ("\u{feff} { \"method\" : \"_x/y\" , \"params\":{\"pad\":\"xxx", false),
            (r#"{"params":{"method":"_x/y","update":{"content":"x"#, true),
            (r#"{"params":{"update":{"content":{"text":"\"method\":\"_x/y\",x"#, true),
            (r#"{"_meta":{"method":"_x/y"},"params":{"update":{"content":"x"#, true),
            (r#"{"method":"_x/y","method":"session/update","params":{"pad":"xxx"#, true),
            (r#"{"method":"_x/y","m\u0065thod":"session\/update","params":{"pad":"xxx"#, true),
            (r#"{"method":"session/upda"#, true),
            (r#"{"method":"_x/"#, true),
            (r#"{"method":5,"params":{"pad":"xxx"#, true),
            // No object.
            ("2026-01-01 a log line", false),
            (r#"[{"method":"session/update","params":{"#, false),
            (r#""xxx"#, false),
            ("    ", true),
            ("", true),
        ];
        for (head, expected) in cases {
            assert_eq!(may_hold_message(head.as_bytes(), b"xxx\"}}"), expected, "{head}");
        }
        let other = br#"{"method":"_x/y","params":{"pad":"xxx"#;
        for (tail, expected) in [
            (r#"xxx"},"method":"session/update"}"#, true),
            (r#"xxx"},"method":"session\/update"}"#, true),
            (r#"xxx"},"jsonrpc":"2.0"}"#, false),
        ] {
            assert_eq!(may_hold_message(other, tail.as_bytes()), expected, "{tail}");
        }
    }

    #[test]
    fn an_end_of_a_line_says_which_session_it_is_of() {
        let (start, end) = (r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{"x":"x"#, r#"x"}}}"#);
        let cases = [
            (r#"{"method":"session/update","params":{"sessionId":"1","update":{"x":"x"#, end, Some("1")),
            (r#"{"params": { "sessionId" : "a\"\u0062" , "update":{"x":"x"#, end, Some("a\"b")),
            (start, r#"x"}}, "sessionId" : "2" } } "#, Some("2")),
            (start, r#"x"}},"sessionId":"a\"\u0062"}}"#, Some("a\"b")),
            (start, r#"x"}},"sessionId":"2"},"method":"session/update","jsonrpc":"2.0"}"#, Some("2")),
            (r#"{"params":{"sessionId":"1","update":{"x":"x"#, r#"x"}},"sessionId":"1"}}"#, Some("1")),
            (r#"{"params":{"sessionId":"1","update":{"x":"x"#, r#"x"}},"sessionId":"2"}}"#, None),
            // Not the member of the params, cut, or no member at all.
            (start, end, None),
            (r#"{"sessionId":"1","params":{"update":{"x":"x"#, end, None),
            (r#"{"params":{"_meta":{"sessionId":"1"},"update":{"x":"x"#, end, None),
            (r#"{"params":{"update":{"x":"\"sessionId\":\"1\","#, end, None),
            (r#"{"params":{"sessionId":"1"#, end, None),
            (r#"{"params":{"sessionId":1,"update":{"x":"x"#, end, None),
            (start, r#"x"}},"_meta":{"a":1,"sessionId":"2"}}}"#, None),
            (start, r#"x,\"sessionId\":\"2\"}}"}}}"#, None),
            (start, r#"x"}},"sessionId":"2"},"_meta":{}}"#, None),
            (start, r#"x"}},"sessionId":"2","_meta":{}}}"#, None),
            (start, r#"x"}},"sessionId":"2"}"#, None),
            (start, r#"x"}},"sessionId":"2"#, None),
            (start, "", None),
            ("1", "1", None),
        ];
        for (head, tail, expected) in cases {
            assert_eq!(session_of(head.as_bytes(), tail.as_bytes()).as_deref(), expected, "{head} … {tail}");
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
            ("\u{feff}{\"result\":\"xxx", r#"xxx","id":7}"#, exact(7)),
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

    fn object(members: &[String]) -> String {
        format!("{{{}}}", members.join(","))
    }

    proptest! {
        #[test]
        fn a_chunk_that_is_cut_anywhere_is_seen_and_never_taken_for_another_sessions(
            text in r#"[ -~é]{0,40}|[{}":,\\\\]{0,20}|"sessionId":"2"|"sessionUpdate":"plan","method":"_x/y""#,
            id in r#"[12"\\\\]{1,3}"#,
            message in Just(vec![0, 1, 2, 3]).prop_shuffle(),
            params in Just(vec![0, 1, 2]).prop_shuffle(),
            update in Just(vec![0, 1, 2]).prop_shuffle(),
            (a, b) in (0usize..400, 0usize..400),
        ) {
            let ordered = |members: &[String], order: &[usize]| -> String {
                object(&order.iter().map(|&at| members[at].clone()).collect::<Vec<_>>())
            };
            let json = |text: &str| serde_json::to_string(text).unwrap();
            let meta = r#""_meta":{"sessionId":"9","sessionUpdate":"plan","method":"_x/y"}"#.to_owned();
            let content = format!(r#""content":{{"type":"text","text":{}}}"#, json(&text));
            let tag = r#""sessionUpdate":"agent_message_chunk""#.to_owned();
            let update = format!(r#""update":{}"#, ordered(&[tag, content, meta.clone()], &update));
            let params = ordered(&[format!(r#""sessionId":{}"#, json(&id)), update, meta], &params);
            let other = r#""_meta":{"method":"_x/y","x":1}"#.to_owned();
            let members = [r#""jsonrpc":"2.0""#.into(), r#""method":"session/update""#.into(), other];
            let line = ordered(&[&members[..], &[format!(r#""params":{params}"#)]].concat(), &message);
            let (head, tail) = (&line.as_bytes()[..a.min(line.len())], &line.as_bytes()[b.min(line.len())..]);
            prop_assert!(may_hold_message(head, tail), "{}", line);
            prop_assert_eq!(session_of(head, tail).unwrap_or(id.clone()), id, "{}", line);
            prop_assert_eq!(identify(head, tail), None, "{}", line);
        }

        #[test]
        fn any_ends_are_survived(head: Vec<u8>, tail: Vec<u8>) {
            may_hold_message(&head, &tail);
            session_of(&head, &tail);
            identify(&head, &tail);
        }
    }
}
