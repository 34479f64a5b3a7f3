//! Text chunks without a parse, where they look like the last ones but for their text.

use std::borrow::Cow;

use super::around::{Parts, Place, Recent, place, range_in};
use super::chunk::{self, Chunk, Stream};
use super::text::Text;

/// Reads text chunks, quickly those that look like the last ones.
#[derive(Debug, Default)]
pub struct ChunkReader(Recent<Facts>);

/// What a chunk says besides its text.
#[derive(Debug)]
struct Facts {
    stream: Stream,
    session_id: Place,
    message_id: Option<Place>,
    plain: bool,
    complete: bool,
}

impl ChunkReader {
    /// Reads `line` if it is a text chunk.
    pub fn decode<'a>(&mut self, line: &'a str) -> Option<Chunk<'a>> {
        if let Some(chunk) = self.0.read(line, Facts::read) {
            return Some(chunk);
        }
        let chunk = chunk::decode(line)?;
        self.learn(line, &chunk);
        Some(chunk)
    }

    fn learn(&mut self, line: &str, chunk: &Chunk<'_>) -> Option<()> {
        let Cow::Borrowed(text) = chunk.text.0 else { return None };
        let text = range_in(line, text)?;
        // Where an empty string was borrowed from is not certain to be the line.
        let quoted = line.get(text.start.checked_sub(1)?..=text.end)?;
        if !(quoted.starts_with('"') && quoted.ends_with('"')) {
            return None;
        }
        let facts = Facts {
            stream: chunk.stream,
            session_id: place(line, &text, &chunk.session_id)?,
            message_id: match &chunk.message_id {
                Some(id) => Some(place(line, &text, id)?),
                None => None,
            },
            plain: chunk.plain,
            complete: chunk.complete,
        };
        self.0.learn(line, &text, facts);
        Some(())
    }
}

impl Facts {
    fn read<'a>(&self, parts: Parts<'a>) -> Option<Chunk<'a>> {
        let text = parts.value()?;
        let text = if plain(text.as_bytes()) {
            Text(Cow::Borrowed(text))
        } else {
            // With escapes, or no string at all: the bytes around it are its quotes.
            serde_json::from_str(parts.quoted()?).ok()?
        };
        Some(Chunk {
            session_id: parts.at(&self.session_id)?,
            stream: self.stream,
            text,
            message_id: match &self.message_id {
                Some(place) => Some(parts.at(place)?),
                None => None,
            },
            plain: self.plain,
            complete: self.complete,
        })
    }
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
        let mut reader = same_as_parsed(&lines);
        for line in &lines[1..] {
            let chunk = reader.0.read(line, Facts::read).expect("the same surroundings");
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
        assert_eq!(reader.0.len(), 4);
    }

    #[test]
    fn what_an_escape_hides_is_not_remembered() {
        let reader = same_as_parsed(&[line(r"s\u0031", "agent_message_chunk", "x", None)]);
        assert_eq!(reader.0.len(), 0);
        let reader = same_as_parsed(&[line(&"s".repeat(5000), "agent_message_chunk", "x", None)]);
        assert_eq!(reader.0.len(), 0);
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
