//! Text chunks without a parse: an agent that streams sends the same line again and again with another text in it.
//!
//! What stands around the text of a chunk that was parsed is remembered. A line that begins and ends with the very same
//! bytes, and has one JSON string between them, means the same but for its text. Nothing is assumed of how the agent
//! writes its JSON, so nothing can be misread: a line that differs in any other byte is parsed.

use std::borrow::Cow;
use std::ops::Range;

use super::chunk::{self, Chunk, Stream};
use super::text::Text;

/// Surroundings remembered at once: streams and sessions take turns.
const KEPT: usize = 4;
/// Longer surroundings are not worth remembering, in bytes.
const MAX_AROUND: usize = 4 * 1024;

/// Reads text chunks, quickly those that look like the last ones.
#[derive(Debug, Default)]
pub struct ChunkReader {
    /// The one used last comes first.
    kept: Vec<Around>,
}

/// What stands around the text of a chunk, its quotes included, and what it says.
#[derive(Debug)]
struct Around {
    before: String,
    after: String,
    stream: Stream,
    session_id: Place,
    message_id: Option<Place>,
    complete: bool,
    plain: bool,
}

/// Where in the line a value stands.
#[derive(Clone, Debug)]
enum Place {
    /// Before the text: counted from the start of the line.
    Before(Range<usize>),
    /// After the text: counted from the end of the text.
    After(Range<usize>),
}

impl ChunkReader {
    /// Reads `line` if it is a text chunk.
    pub fn decode<'a>(&mut self, line: &'a str) -> Option<Chunk<'a>> {
        for at in 0..self.kept.len() {
            if let Some(chunk) = self.kept[at].read(line) {
                self.kept[..=at].rotate_right(1);
                return Some(chunk);
            }
        }
        let chunk = chunk::decode(line)?;
        if let Some(around) = Around::of(&chunk, line) {
            self.kept.truncate(KEPT - 1);
            self.kept.insert(0, around);
        }
        Some(chunk)
    }
}

impl Around {
    fn of(chunk: &Chunk<'_>, line: &str) -> Option<Self> {
        let text = range_in(line, &chunk.text)?;
        let place = |value: &Text<'_>| {
            let range = range_in(line, value)?;
            let after = range.start.checked_sub(text.end).map(|start| Place::After(start..range.end - text.end));
            Some(after.unwrap_or(Place::Before(range)))
        };
        let around = Self {
            before: line.get(..text.start)?.to_owned(),
            after: line.get(text.end..)?.to_owned(),
            stream: chunk.stream,
            session_id: place(&chunk.session_id)?,
            message_id: match &chunk.message_id {
                Some(id) => Some(place(id)?),
                None => None,
            },
            complete: chunk.complete,
            plain: chunk.plain,
        };
        // Where an empty string was borrowed from is not certain to be the line.
        let quoted = around.before.ends_with('"') && around.after.starts_with('"');
        (quoted && around.before.len() + around.after.len() <= MAX_AROUND).then_some(around)
    }

    fn read<'a>(&self, line: &'a str) -> Option<Chunk<'a>> {
        let end = line.len().checked_sub(self.after.len())?;
        let bytes = line.as_bytes();
        // The end first: the start is more often shared with other kinds of updates.
        if self.before.len() > end || &bytes[end..] != self.after.as_bytes() {
            return None;
        }
        let text = line.get(self.before.len()..end)?;
        if &bytes[..self.before.len()] != self.before.as_bytes() {
            return None;
        }
        let text = if plain(text.as_bytes()) {
            Text(Cow::Borrowed(text))
        } else {
            // With escapes, or no string at all: its quotes are the last and first byte around it.
            serde_json::from_str(line.get(self.before.len() - 1..=end)?).ok()?
        };
        let value = |place: &Place| {
            let range = match place {
                Place::Before(range) => range.clone(),
                Place::After(range) => range.start + end..range.end + end,
            };
            line.get(range).map(|value| Text(Cow::Borrowed(value)))
        };
        Some(Chunk {
            session_id: value(&self.session_id)?,
            stream: self.stream,
            text,
            message_id: match &self.message_id {
                Some(place) => Some(value(place)?),
                None => None,
            },
            complete: self.complete,
            plain: self.plain,
        })
    }
}

/// Where in `line` a value was borrowed from; `None` for one that was unescaped.
fn range_in(line: &str, value: &Text<'_>) -> Option<Range<usize>> {
    let Cow::Borrowed(value) = value.0 else { return None };
    let start = (value.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let end = start + value.len();
    (end <= line.len()).then_some(start..end)
}

/// Bytes looked at together.
const BLOCK: usize = 32;

/// Whether these bytes, between quotes, are a JSON string without escapes.
fn plain(bytes: &[u8]) -> bool {
    // Without a branch per byte, so that it vectorises.
    let special =
        |block: &[u8]| block.iter().fold(0, |any, &b| any | u8::from(b < 0x20 || b == b'"' || b == b'\\')) != 0;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    if blocks.iter().any(|block| special(block)) {
        return false;
    }
    match bytes.last_chunk::<BLOCK>() {
        // As one block with bytes that were looked at already.
        Some(last) => !special(last),
        None => !special(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(session: &str, tag: &str, text: &str, message: Option<&str>) -> String {
        let id = message.map(|id| format!(r#","messageId":"{id}""#)).unwrap_or_default();
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"{tag}","content":{{"type":"text","text":"{text}"}}{id}}}}}}}"#
        )
    }

    /// Reads the lines with one reader; each must be what a parse makes of it.
    fn same_as_parsed(lines: &[String]) -> ChunkReader {
        let mut reader = ChunkReader::default();
        for line in lines {
            assert_eq!(reader.decode(line), chunk::decode(line), "{line}");
        }
        reader
    }

    #[test]
    fn a_line_like_the_last_is_read_without_a_parse_and_without_a_copy() {
        let lines = ["", "hello", "wörld 🚀", "and a text that is longer than one block of bytes, with é at its end é"]
            .map(|text| line("s1", "agent_message_chunk", text, Some("m1")));
        let reader = same_as_parsed(&lines);
        let around = &reader.kept[0];
        for line in &lines[1..] {
            let chunk = around.read(line).expect("the same surroundings");
            assert!(matches!(chunk.text.0, Cow::Borrowed(_)));
        }
    }

    #[test]
    fn escapes_are_resolved_and_what_is_no_string_is_parsed() {
        let texts =
            ["a", r"b\nc", r#"d\"e"#, r"f\u00e9", r"\\", r"x\", "g\",\"text\":\"h", "\t", r"\ud83d", r"\ud83d\ude80"];
        same_as_parsed(&texts.map(|text| line("s1", "agent_message_chunk", text, None)));
    }

    #[test]
    fn other_sessions_streams_and_messages_are_not_mistaken() {
        let mut lines = Vec::new();
        for round in 0..3 {
            for session in ["s1", "s2", "s22"] {
                for tag in ["agent_message_chunk", "agent_thought_chunk", "tool_call"] {
                    lines.push(line(session, tag, "x", None));
                    lines.push(line(session, tag, "y", Some(&format!("m{round}"))));
                }
            }
        }
        let reader = same_as_parsed(&lines);
        assert_eq!(reader.kept.len(), KEPT);
    }

    #[test]
    fn what_an_escape_hides_is_not_remembered() {
        let reader = same_as_parsed(&[line(r"s\u0031", "agent_message_chunk", "x", None)]);
        assert!(reader.kept.is_empty());
        let reader = same_as_parsed(&[line(&"s".repeat(MAX_AROUND), "agent_message_chunk", "x", None)]);
        assert!(reader.kept.is_empty());
    }

    proptest! {
        #[test]
        fn any_sequence_of_lines_reads_as_parsed(
            parts in proptest::collection::vec((
                prop_oneof![Just("s1"), Just("s2"), Just(r"s\u0031")],
                prop_oneof![Just("agent_message_chunk"), Just("agent_thought_chunk"), Just("user_message_chunk"), Just("plan")],
                prop_oneof!["[a-z \"\\\\{}:,]{0,40}", ".{0,12}", Just(r#"","text":""#.to_owned())],
                prop_oneof![Just(None), Just(Some("m1")), Just(Some("m2"))],
                any::<bool>(),
            ), 0..30),
        ) {
            let lines: Vec<String> = parts.iter().map(|(session, tag, text, message, escape)| {
                let text = if *escape { serde_json::to_string(text).unwrap() } else { format!("\"{text}\"") };
                line(session, tag, &text[1..text.len() - 1], *message)
            }).collect();
            let mut reader = ChunkReader::default();
            for line in &lines {
                prop_assert_eq!(reader.decode(line), chunk::decode(line), "{}", line);
            }
        }
    }
}
