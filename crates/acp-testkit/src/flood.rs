//! Floods of updates that cost their sender next to nothing.
//!
//! A block of lines is built once and written again and again; only the eight digits that number each line are changed in
//! place, so that a receiver can check the order.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

/// Where a number goes in a line; the number has as many digits.
const HOLE: &str = "########";
/// What a text update says after its number, again and again until it has its length.
const FILLER: &str = " the quick brown fox jumps over ";
/// Characters of each text update unless said.
const TEXT_CHARS: usize = 40;
/// Bytes of output in each tool update.
const TOOL_OUTPUT: usize = 200;

/// What is sent on each prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// `agent_message_chunk` of ASCII characters, of which the first eight number it.
    #[default]
    Text,
    /// A `tool_call` and its `tool_call_update` with 200 bytes of output; the pair counts as one.
    Tools,
    /// One `tool_call_update` of that many megabytes (10^6 bytes) on one line, in small writes.
    Line,
    /// `tool_call_update` of one call, the n-th with n × 1,000 bytes of output.
    Cumulative,
}

/// A flood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is sent.
    pub kind: Kind,
    /// How much of it: updates, pairs, or megabytes.
    pub count: u64,
    /// Bytes of each write; for [`Kind::Line`] 4,096 when absent, otherwise 262,144.
    pub write_bytes: Option<usize>,
    /// Characters of each [`Kind::Text`], 40 when absent, at least 8.
    pub text_chars: Option<usize>,
}

impl Options {
    /// Reads command line arguments: `--kind text|tools|line|cumulative`, `--count N`, `--write-bytes B`,
    /// `--text-chars C`.
    pub fn parse(args: &[&str]) -> Result<Self, String> {
        let mut options = Self { kind: Kind::Text, count: 1000, write_bytes: None, text_chars: None };
        let mut rest = args.iter();
        while let Some(name) = rest.next() {
            let value = rest.next().ok_or_else(|| format!("{name} needs a value"))?;
            let number = || value.parse().map_err(|_| format!("{name}: {value} is not a number"));
            match *name {
                "--kind" => options.kind = Kind::parse(value)?,
                "--count" => options.count = number()?,
                "--write-bytes" => options.write_bytes = Some(usize::try_from(number()?).unwrap_or(usize::MAX).max(1)),
                "--text-chars" => options.text_chars = Some(usize::try_from(number()?).unwrap_or(usize::MAX)),
                _ => return Err(format!("unknown option {name}")),
            }
        }
        Ok(options)
    }

    /// Writes all of it for a session; stops at the next write when `cancelled` is set. Says whether it got to the end.
    pub fn write(&self, session: &str, out: &mut impl Write, cancelled: &AtomicBool) -> io::Result<bool> {
        let size = self.write_bytes.unwrap_or(if self.kind == Kind::Line { 4096 } else { 256 * 1024 });
        match self.kind {
            Kind::Text => Block::new(&text_line(session, self.text_chars.unwrap_or(TEXT_CHARS)), size)
                .write(self.count, out, cancelled),
            Kind::Tools => Block::new(&tool_lines(session), size).write(self.count, out, cancelled),
            Kind::Line => {
                let bytes = usize::try_from(self.count).unwrap_or(usize::MAX).saturating_mul(1_000_000);
                let line = output_line(session, &"x".repeat(bytes));
                for piece in line.as_bytes().chunks(size) {
                    if cancelled.load(Ordering::Relaxed) {
                        return Ok(false);
                    }
                    out.write_all(piece)?;
                    out.flush()?;
                }
                Ok(true)
            }
            Kind::Cumulative => cumulative(session, self.count, size, out, cancelled),
        }
    }
}

impl Kind {
    fn parse(name: &str) -> Result<Self, String> {
        Ok(match name {
            "text" => Self::Text,
            "tools" => Self::Tools,
            "line" => Self::Line,
            "cumulative" => Self::Cumulative,
            _ => return Err(format!("unknown kind {name}")),
        })
    }
}

/// Many copies of the same lines, ready to be written.
#[derive(Debug)]
struct Block {
    bytes: Vec<u8>,
    unit: usize,
    /// Where the numbers are in one unit.
    holes: Vec<usize>,
}

impl Block {
    /// As many copies as fit into a write, at least one.
    fn new(lines: &str, write_bytes: usize) -> Self {
        let copies = (write_bytes / lines.len()).max(1);
        let holes = lines.match_indices(HOLE).map(|(index, _)| index).collect();
        Self { bytes: lines.repeat(copies).into_bytes(), unit: lines.len(), holes }
    }

    fn write(&mut self, count: u64, out: &mut impl Write, cancelled: &AtomicBool) -> io::Result<bool> {
        let mut next = 0;
        while next < count {
            if cancelled.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let mut used = 0;
            for copy in self.bytes.chunks_exact_mut(self.unit) {
                if next == count {
                    break;
                }
                for hole in &self.holes {
                    stamp(&mut copy[*hole..*hole + HOLE.len()], next);
                }
                used += self.unit;
                next += 1;
            }
            out.write_all(&self.bytes[..used])?;
            out.flush()?;
        }
        Ok(true)
    }
}

/// Writes a number with leading zeros, or its last digits when it is too long.
fn stamp(digits: &mut [u8], mut number: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

fn cumulative(
    session: &str,
    count: u64,
    size: usize,
    out: &mut impl Write,
    cancelled: &AtomicBool,
) -> io::Result<bool> {
    let line = output_line(session, HOLE);
    let (head, tail) = line.split_once(HOLE).unwrap_or((&line, ""));
    let all = vec![b'x'; usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(1000)];
    let mut out = io::BufWriter::with_capacity(size, out);
    for n in (1000..=all.len()).step_by(1000) {
        if cancelled.load(Ordering::Relaxed) {
            return out.flush().map(|()| false);
        }
        out.write_all(head.as_bytes())?;
        out.write_all(&all[..n])?;
        out.write_all(tail.as_bytes())?;
    }
    out.flush().map(|()| true)
}

fn update_line(session: &str, update: &Value) -> String {
    let params = json!({"sessionId": session, "update": update});
    format!("{}\n", json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
}

fn text_line(session: &str, chars: usize) -> String {
    let filler: String = FILLER.chars().cycle().take(chars.saturating_sub(HOLE.len())).collect();
    let content = json!({"type": "text", "text": format!("{HOLE}{filler}")});
    update_line(session, &json!({"sessionUpdate": "agent_message_chunk", "content": content}))
}

fn tool_lines(session: &str) -> String {
    let id = format!("call-{HOLE}");
    let call = json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": "Run a command", "kind": "execute", "status": "pending",
        "rawInput": {"command": "cargo", "args": ["test", "--workspace"], "timeout": 120},
    });
    let output = "o".repeat(TOOL_OUTPUT);
    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed",
        "content": [{"type": "content", "content": {"type": "text", "text": output}}],
        "rawOutput": {"exitCode": 0},
    });
    update_line(session, &call) + &update_line(session, &update)
}

fn output_line(session: &str, output: &str) -> String {
    let content = json!([{"type": "content", "content": {"type": "text", "text": output}}]);
    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "in_progress", "content": content,
    });
    update_line(session, &update)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(args: &[&str]) -> Vec<Value> {
        let mut out = Vec::new();
        let complete = Options::parse(args).unwrap().write("s1", &mut out, &AtomicBool::new(false)).unwrap();
        assert!(complete && out.ends_with(b"\n"));
        String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn text_has_40_characters_and_a_number() {
        let lines = lines(&["--count", "5000", "--write-bytes", "1000"]);
        assert_eq!(lines.len(), 5000);
        for (index, line) in lines.iter().enumerate() {
            let text = line["params"]["update"]["content"]["text"].as_str().unwrap();
            assert_eq!(text.len(), 40);
            assert_eq!(text[..8].parse::<usize>().unwrap(), index);
        }
    }

    #[test]
    fn text_has_the_length_that_was_asked_for() {
        for chars in [8, 9, 41, 100] {
            let lines = lines(&["--count", "2", "--text-chars", &chars.to_string()]);
            let text = lines[1]["params"]["update"]["content"]["text"].as_str().unwrap();
            assert_eq!((text.len(), &text[..8]), (chars, "00000001"));
        }
    }

    #[test]
    fn tools_come_in_pairs() {
        let lines = lines(&["--kind", "tools", "--count", "300"]);
        assert_eq!(lines.len(), 600);
        let last = &lines[599]["params"]["update"];
        assert_eq!(last["toolCallId"], "call-00000299");
        assert_eq!(last["content"][0]["content"]["text"].as_str().unwrap().len(), 200);
        assert_eq!(lines[598]["params"]["update"]["toolCallId"], "call-00000299");
    }

    #[test]
    fn output_grows_or_is_huge() {
        let grown = lines(&["--kind", "cumulative", "--count", "3"]);
        let length = |line: &Value| line["params"]["update"]["content"][0]["content"]["text"].as_str().unwrap().len();
        assert_eq!(grown.iter().map(length).collect::<Vec<_>>(), [1000, 2000, 3000]);
        assert_eq!(lines(&["--kind", "line", "--count", "1"]).iter().map(length).collect::<Vec<_>>(), [1_000_000]);
    }

    #[test]
    fn a_cancel_stops_it() {
        let mut out = Vec::new();
        let options = Options::parse(&["--count", "10"]).unwrap();
        assert!(!options.write("s1", &mut out, &AtomicBool::new(true)).unwrap());
        assert!(out.is_empty());
    }

    #[test]
    fn arguments_are_checked() {
        for args in [&["--count"][..], &["--count", "x"], &["--kind", "x"], &["--speed", "1"]] {
            assert!(Options::parse(args).is_err(), "{args:?}");
        }
    }
}
