//! The fast path: a text chunk read from its line in one pass, without a copy.
//!
//! Most lines of a turn are `session/update` notifications with one text block. They are recognised here with a single
//! borrowed parse; every other line, and every chunk with members that this pass does not keep, takes the general path.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde_json::value::RawValue;

use super::object::object;
use super::text::Text;

/// Which stream a chunk belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// `agent_message_chunk`
    Message,
    /// `agent_thought_chunk`
    Thought,
    /// `user_message_chunk`
    User,
}

/// A text chunk.
#[derive(Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// The session it belongs to.
    pub session_id: Text<'a>,
    /// Its stream.
    pub stream: Stream,
    /// Its text, unescaped.
    pub text: Text<'a>,
    /// The message it belongs to, where the agent says.
    pub message_id: Option<Text<'a>>,
    /// Whether this is all that the chunk says: false when it has `_meta`, annotations or unknown members.
    pub complete: bool,
    /// Whether its content is nothing but text: false when it has annotations, or `_meta` of its own.
    pub plain: bool,
}

/// What the tags of the three streams end in.
static TAG: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"_chunk\""));

/// Reads `line` if it is a text chunk.
pub fn decode(line: &str) -> Option<Chunk<'_>> {
    // The tag stands near the start in every agent seen; a miss only means the general path.
    let head = &line.as_bytes()[..line.len().min(512)];
    TAG.find(head)?;
    let notification: Notification<'_> = serde_json::from_str(line).ok()?;
    // An unknown member of the envelope, an id above all, makes it another kind of message.
    if notification.extra || *notification.version? != *"2.0" || *notification.method? != *"session/update" {
        return None;
    }
    let params = notification.params?;
    let update = params.update?;
    let content = update.content?;
    let stream = match &*update.tag? {
        "agent_message_chunk" => Stream::Message,
        "agent_thought_chunk" => Stream::Thought,
        "user_message_chunk" => Stream::User,
        _ => return None,
    };
    if *content.kind? != *"text" {
        return None;
    }
    Some(Chunk {
        session_id: params.session_id?,
        stream,
        text: content.text?,
        message_id: update.message_id,
        complete: !(params.extra || update.extra || content.extra),
        plain: !content.extra,
    })
}

/// The text of a chunk in its own JSON, halves of surrogate pairs included, which no string can hold.
pub fn raw_text(line: &str) -> Option<&str> {
    #[derive(serde::Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        params: RawParams<'a>,
    }
    #[derive(serde::Deserialize)]
    struct RawParams<'a> {
        #[serde(borrow)]
        update: RawUpdate<'a>,
    }
    #[derive(serde::Deserialize)]
    struct RawUpdate<'a> {
        #[serde(borrow)]
        content: RawContent<'a>,
    }
    #[derive(serde::Deserialize)]
    struct RawContent<'a> {
        #[serde(borrow)]
        text: &'a RawValue,
    }
    serde_json::from_str::<Line<'_>>(line).ok().map(|line| line.params.update.content.text.get())
}

object!(Notification { "jsonrpc" => version: Text<'a>, "method" => method: Text<'a>, "params" => params: Params<'a> });
object!(Params { "sessionId" => session_id: Text<'a>, "update" => update: Update<'a> });
object!(Update { "sessionUpdate" => tag: Text<'a>, "content" => content: Content<'a>, "messageId" => message_id: Text<'a> });
object!(Content { "type" => kind: Text<'a>, "text" => text: Text<'a> });

#[cfg(test)]
mod tests {
    use super::*;

    fn line(update: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s1","update":{update}}}}}"#)
    }

    #[test]
    fn the_three_streams_are_read_without_a_copy() {
        for (tag, stream) in [
            ("agent_message_chunk", Stream::Message),
            ("agent_thought_chunk", Stream::Thought),
            ("user_message_chunk", Stream::User),
        ] {
            let line = line(&format!(r#"{{"sessionUpdate":"{tag}","content":{{"type":"text","text":"hé"}}}}"#));
            let chunk = decode(&line).unwrap();
            assert_eq!((chunk.stream, &*chunk.text, &*chunk.session_id), (stream, "hé", "s1"));
            assert!(chunk.complete && chunk.message_id.is_none());
            assert!(matches!(chunk.text.0, std::borrow::Cow::Borrowed(_)));
        }
    }

    #[test]
    fn escapes_message_ids_and_member_order_are_understood() {
        let line = line(
            r#"{"content":{"text":"a\n\ud83d\ude80","type":"text"},"messageId":"m\u0031","sessionUpdate":"agent_message_chunk"}"#,
        );
        let chunk = decode(&line).unwrap();
        assert_eq!((&*chunk.text, &*chunk.message_id.unwrap()), ("a\n🚀", "m1"));
        assert!(chunk.complete);
    }

    #[test]
    fn what_it_does_not_keep_is_told() {
        let extra = [
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"_meta":{"x":1}}"#,
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a","annotations":{}}}"#,
        ];
        for update in extra {
            assert!(!decode(&line(update)).unwrap().complete, "{update}");
        }
    }

    #[test]
    fn everything_else_is_left_to_the_general_path() {
        let others = [
            r#"{"sessionUpdate":"tool_call","toolCallId":"1","title":"agent_message_chunk"}"#,
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"","mimeType":""}}"#,
            r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":null}}"#,
            r#"{"sessionUpdate":"agent_message_chunk"}"#,
            r#"{"sessionUpdate":"x_chunk","content":{"type":"text","text":"a"}}"#,
        ];
        for update in others {
            assert_eq!(decode(&line(update)), None, "{update}");
        }
        let request = line(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}"#)
            .replace(r#""method""#, r#""id":1,"method""#);
        assert_eq!(decode(&request), None);
    }
}
