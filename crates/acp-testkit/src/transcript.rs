//! Golden transcripts: what both sides said, free of what differs from run to run.
//!
//! A transcript is what the `transcript` step writes: one `{"from": "client" | "agent", "message": …}` a line. The golden ones
//! are in `tests/transcripts/` of this crate; `UPDATE_EXPECT=1` rewrites them, and the difference is reviewed like code.

use std::collections::HashMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Replaces what differs from run to run.
#[derive(Debug, Default)]
pub struct Normaliser {
    replacements: Vec<(String, String)>,
    requests: HashMap<String, String>,
    sessions: HashMap<String, String>,
    counts: HashMap<&'static str, usize>,
}

impl Normaliser {
    /// Nothing is replaced but ids, session ids and versions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces a text (a folder's path, a secret) wherever it occurs.
    #[must_use]
    pub fn replacing(mut self, text: impl Into<String>, with: impl Into<String>) -> Self {
        self.replacements.push((text.into(), with.into()));
        self.replacements.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        self
    }

    /// Normalises a transcript. Request ids become `client-1`, `agent-1`, … in the order of their first use and session ids
    /// `session-1`, …; a `version` beside a `name` becomes `<version>`.
    ///
    /// Fails on a line that is no line of a transcript.
    pub fn normalise(&mut self, transcript: &str) -> Result<String, String> {
        let mut normal = String::new();
        for line in transcript.lines() {
            let mut entry: Value = serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))?;
            let from = entry["from"].as_str().ok_or_else(|| format!("nobody said {line}"))?.to_owned();
            self.message(&from, &mut entry["message"]);
            let _ = writeln!(normal, "{entry}");
        }
        Ok(normal)
    }

    fn message(&mut self, from: &str, message: &mut Value) {
        let is_call = message.get("method").is_some();
        // A response carries the id of the other side's request.
        let owner = if (from == "client") == is_call { "client" } else { "agent" };
        if let Some(id) = message.get_mut("id").filter(|id| !id.is_null()) {
            *id = self.request(owner, id).into();
        }
        let cancels = message.get("method").and_then(Value::as_str) == Some("$/cancel_request");
        if let Some(id) = message.pointer_mut("/params/requestId").filter(|_| cancels) {
            *id = self.request(owner, id).into();
        }
        self.value(message);
    }

    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => {
                for (from, to) in &self.replacements {
                    if text.contains(from.as_str()) {
                        *text = text.replace(from.as_str(), to);
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => {
                let named = fields.contains_key("name");
                for (key, field) in fields {
                    match (key.as_str(), field.as_str()) {
                        ("sessionId", Some(id)) => *field = self.session(id).into(),
                        ("version", Some(_)) if named => *field = "<version>".into(),
                        _ => self.value(field),
                    }
                }
            }
            _ => {}
        }
    }

    fn request(&mut self, owner: &'static str, id: &Value) -> String {
        let count = self.counts.entry(owner).or_default();
        let name = || {
            *count += 1;
            format!("{owner}-{count}")
        };
        self.requests.entry(format!("{owner} {id}")).or_insert_with(name).clone()
    }

    fn session(&mut self, id: &str) -> String {
        let next = self.sessions.len() + 1;
        self.sessions.entry(id.to_owned()).or_insert_with(|| format!("session-{next}")).clone()
    }
}

/// Compares a normalised transcript with the golden one of that name, or rewrites it when `UPDATE_EXPECT=1` is set.
///
/// # Panics
///
/// When they differ, or the golden one does not exist.
pub fn assert_golden(name: &str, normal: &str) {
    let path = golden_path(name);
    if env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, normal));
        assert!(written.is_ok(), "cannot write {}: {written:?}", path.display());
        return;
    }
    let hint = "UPDATE_EXPECT=1 rewrites it";
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}; {hint}", path.display()));
    if let Some(difference) = first_difference(&golden, normal) {
        panic!("the transcript differs from {} {difference}\n{hint}", path.display());
    }
}

fn golden_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts").join(format!("{name}.jsonl"))
}

fn first_difference(golden: &str, found: &str) -> Option<String> {
    let (mut golden, mut found) = (golden.lines(), found.lines());
    for number in 1.. {
        match (golden.next(), found.next()) {
            (None, None) => break,
            (wanted, got) if wanted == got => {}
            (wanted, got) => {
                let text = |line: Option<&str>| line.unwrap_or("(the end)").to_owned();
                return Some(format!("in line {number}:\n  golden: {}\n  found:  {}", text(wanted), text(got)));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_gone() {
        let run = |id: u32, session: &str, dir: &str, version: &str| {
            let transcript = [
                format!(
                    r#"{{"from":"client","message":{{"id":{id},"method":"initialize","params":{{"clientInfo":{{"name":"x","version":"{version}"}}}}}}}}"#
                ),
                format!(r#"{{"from":"agent","message":{{"id":{id},"result":{{"sessionId":"{session}"}}}}}}"#),
                format!(
                    r#"{{"from":"agent","message":{{"id":{id},"method":"ask","params":{{"sessionId":"{session}","path":"{dir}/a"}}}}}}"#
                ),
                format!(r#"{{"from":"client","message":{{"id":{id},"result":null}}}}"#),
                format!(
                    r#"{{"from":"agent","message":{{"method":"$/cancel_request","params":{{"requestId":{id}}}}}}}"#
                ),
            ];
            Normaliser::new().replacing(dir, "<dir>").normalise(&transcript.join("\n")).unwrap()
        };
        let normal = run(7, "abc", "/tmp/x", "1.2.3");
        assert_eq!(normal, run(8, "def", "/var/y", "2.0.0"));
        for part in ["client-1", "agent-1", "session-1", "<dir>/a", "<version>"] {
            assert!(normal.contains(part), "{part} in {normal}");
        }
        assert_eq!(normal.matches("agent-1").count(), 3);
    }

    #[test]
    fn the_first_difference_is_shown() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        assert!(first_difference("a\nb\n", "a\n").unwrap().contains("line 2"));
        assert!(first_difference("a\n", "a\nc\n").unwrap().contains("found:  c"));
    }

    #[test]
    fn a_broken_transcript_is_an_error() {
        assert!(Normaliser::new().normalise("nonsense").is_err());
        assert!(Normaliser::new().normalise("{}").is_err());
    }
}
