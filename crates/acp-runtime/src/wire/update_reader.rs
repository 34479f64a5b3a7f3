//! Updates of any kind with one parse, where their line looks like the last ones but for the update.

use super::around::{Place, Recent, place, range_in};
use super::update::{self, Notified, RawUpdate};

/// Reads `session/update` notifications.
#[derive(Debug, Default)]
pub struct UpdateReader(Recent<Place>);

impl UpdateReader {
    /// Reads `line` if it is a `session/update` with a session and an update.
    pub fn decode<'a>(&mut self, line: &'a str) -> Option<Notified<'a>> {
        let same = self.0.read(line, |session_id, parts| {
            let raw = parts.value()?;
            // Its parse proves that it is one object.
            let members = update::members(raw)?;
            Some(Notified { session_id: parts.at(session_id)?, members: Some(members), raw: RawUpdate::new(raw) })
        });
        if same.is_some() {
            return same;
        }
        let found = update::decode(line)?;
        if let Some(range) = range_in(line, found.raw.get())
            && let Some(session_id) = place(line, &range, &found.session_id)
        {
            self.0.learn(line, &range, session_id);
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Shown = Option<(String, String, Option<String>)>;

    fn shown(found: Option<Notified<'_>>) -> Shown {
        let found = found?;
        let tag = found.members.and_then(|members| members.tag).map(|tag| tag.to_string());
        Some((found.session_id.to_string(), found.raw.get().trim().to_owned(), tag))
    }

    fn line(session: &str, update: &str, more: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{update}{more}}}}}"#
        )
    }

    fn same_as_parsed(lines: &[String]) {
        let mut reader = UpdateReader::default();
        for line in lines {
            assert_eq!(shown(reader.decode(line)), shown(update::decode(line)), "{line}");
        }
    }

    #[test]
    fn lines_that_look_alike_are_read_as_parsed() {
        let updates = [
            r#"{"sessionUpdate":"tool_call","toolCallId":"1"}"#,
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"1","rawOutput":{"a":"}}"}}"#,
            r#"{"sessionUpdate":"plan","entries":[]}"#,
            r#"{"sessionUpdate":"x"},"update":{"sessionUpdate":"y"}"#,
            r#"{"sessionUpdate":"cut""#,
            "[]",
            "null",
            "{}",
            r#""text""#,
            r#"{"sessionUpdate":7}"#,
        ];
        let mut lines = Vec::new();
        for session in ["s1", "s2", r"s\u0031"] {
            for update in updates {
                lines.push(line(session, update, ""));
                lines.push(line(session, update, r#","_meta":{"a":1}"#));
                lines.push(line(session, update, r#","sessionId":"other""#));
            }
        }
        same_as_parsed(&lines);
    }

    proptest! {
        #[test]
        fn any_sequence_of_lines_reads_as_parsed(
            parts in proptest::collection::vec((
                prop_oneof![Just("s1"), Just("s2")],
                prop_oneof![
                    "[a-z \"\\\\{}\\[\\]:,]{0,30}",
                    Just(r#"{"sessionUpdate":"plan"}"#.to_owned()),
                    "[a-z]{1,5}".prop_map(|id| format!(r#"{{"toolCallId":"{id}","sessionUpdate":"tool_call"}}"#)),
                ],
                prop_oneof![Just(""), Just(r#","_meta":null"#)],
            ), 0..20),
        ) {
            let lines: Vec<String> = parts.iter().map(|(session, update, more)| line(session, update, more)).collect();
            same_as_parsed(&lines);
        }
    }
}
