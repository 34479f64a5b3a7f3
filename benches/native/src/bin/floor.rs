//! The floor: what reading the agent's pipe and parsing its lines costs when nothing else is done.
//!
//! Starts the agent, speaks the handshake, sends one prompt after another and counts the updates that come back,
//! borrowing every string from the read buffer. There is no JavaScript, no second thread and no queue. Prints one JSON
//! object.
//!
//! Usage: `floor <turns> <command> [arguments…]`
#![warn(missing_docs)]

use std::borrow::Cow;
use std::error::Error;
use std::io::{Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;

/// Bytes asked for in one read: what a full pipe holds on Linux.
const READ_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Line<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
    #[serde(borrow)]
    result: Option<&'a serde_json::value::RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "sessionId")]
    _session: Cow<'a, str>,
    #[serde(borrow)]
    update: Update<'a>,
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow, rename = "sessionUpdate")]
    _tag: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<Content<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    // Not in an `Option`, which serde would never fill with a borrowed string.
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(borrow, rename = "sessionId")]
    id: Cow<'a, str>,
}

/// What one turn delivered.
#[derive(Default)]
struct Count {
    updates: u64,
    chars: u64,
}

/// Reads lines from the agent until the response to a request arrives.
struct Reader {
    pipe: ChildStdout,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that were read.
    filled: usize,
    /// Bytes of `buffer` that were handed out as lines.
    used: usize,
}

impl Reader {
    fn new(pipe: ChildStdout) -> Self {
        Self { pipe, buffer: vec![0; 2 * READ_BYTES], filled: 0, used: 0 }
    }

    /// Counts updates up to the response to `id` and returns its result as raw JSON.
    fn until_response(&mut self, id: u64, count: &mut Count) -> Result<String, Box<dyn Error>> {
        let mut scanned = self.used;
        loop {
            while let Some(at) = memchr::memchr(b'\n', &self.buffer[scanned..self.filled]) {
                let end = scanned + at;
                let line: Line<'_> = serde_json::from_str(str::from_utf8(&self.buffer[self.used..end])?)?;
                self.used = end + 1;
                scanned = self.used;
                if line.id == Some(id) {
                    return Ok(line.result.ok_or("the agent answered with an error")?.get().to_owned());
                }
                if let Some(params) = line.params {
                    count.updates += 1;
                    count.chars += params.update.content.map_or(0, |content| content.text.len() as u64);
                }
            }
            scanned = self.make_room();
            let read = self.pipe.read(&mut self.buffer[self.filled..])?;
            if read == 0 {
                return Err("the agent closed its output".into());
            }
            self.filled += read;
        }
    }

    /// Moves the unfinished line to the front and grows the buffer when that line fills it; returns where to scan on.
    fn make_room(&mut self) -> usize {
        self.buffer.copy_within(self.used..self.filled, 0);
        self.filled -= self.used;
        self.used = 0;
        if self.buffer.len() - self.filled < READ_BYTES {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        self.filled
    }
}

fn request(pipe: &mut ChildStdin, id: u64, method: &str, params: &str) -> std::io::Result<()> {
    pipe.write_all(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n").as_bytes(),
    )
}

/// Processor time of this process, all threads, in microseconds.
fn cpu_us() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one run are far below 2^52")]
    let us = now.tv_sec as f64 * 1e6 + now.tv_nsec as f64 / 1e3;
    us
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let usage = "usage: floor <turns> <command> [arguments…]";
    let turns: u64 = arguments.next().and_then(|text| text.to_str()?.parse().ok()).ok_or(usage)?;
    let command = arguments.next().ok_or(usage)?;
    let mut agent = Command::new(command).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = agent.stdin.take().ok_or("no stdin")?;
    let mut reader = Reader::new(agent.stdout.take().ok_or("no stdout")?);
    let mut before = Count::default();

    request(&mut stdin, 1, "initialize", r#"{"protocolVersion":1,"clientCapabilities":{}}"#)?;
    reader.until_response(1, &mut before)?;
    let cwd = serde_json::to_string(&std::env::current_dir()?)?;
    request(&mut stdin, 2, "session/new", &format!("{{\"cwd\":{cwd},\"mcpServers\":[]}}"))?;
    let opened = reader.until_response(2, &mut before)?;
    let session = serde_json::to_string(&serde_json::from_str::<Session<'_>>(&opened)?.id)?;

    let mut count = Count::default();
    let cpu = cpu_us();
    let start = Instant::now();
    let prompt = format!("{{\"sessionId\":{session},\"prompt\":[{{\"type\":\"text\",\"text\":\"go\"}}]}}");
    for turn in 0..turns {
        request(&mut stdin, 3 + turn, "session/prompt", &prompt)?;
        reader.until_response(3 + turn, &mut count)?;
    }
    let wall = start.elapsed().as_secs_f64() * 1e3;
    let cpu = cpu_us() - cpu;

    println!("{}", serde_json::json!({ "wallMs": wall, "cpuUs": cpu, "updates": count.updates, "chars": count.chars }));
    drop(stdin);
    agent.wait()?;
    Ok(())
}
