//! The per-update path of the core without its I/O: lines in, segments for the host out.
//!
//! The same block of prebuilt lines is fed again and again in reads of 64 KiB, so that two runs of different length
//! differ by the updates alone. `scripts/callgrind.js` counts the instructions of both.
//!
//! Usage: `decode text|tools <updates>`
#![warn(missing_docs)]

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;

use acp_runtime::delivery::{Kind, Limits, Outbox, Reader, Slab};
use acp_runtime::wire::{DEFAULT_MAX_LINE_BYTES, Line, LineSplitter, chunk, update};

/// Updates in one block of lines.
const BLOCK: usize = 1000;
/// Bytes of one read from the pipe.
const READ_BYTES: usize = 64 * 1024;
/// Segments that the host takes at once.
const SLICE: usize = 512;

fn line(kind: &str, i: usize, out: &mut String) -> std::fmt::Result {
    out.push_str(r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-1","update":"#);
    if kind == "text" {
        write!(
            out,
            r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{i:08} {:a>31}"}}}}"#,
            ""
        )?;
    } else if i.is_multiple_of(2) {
        write!(
            out,
            r#"{{"sessionUpdate":"tool_call","toolCallId":"call-{i}","title":"Read file","kind":"read","status":"pending","rawInput":{{"path":"src/main.rs"}}}}"#
        )?;
    } else {
        write!(
            out,
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"call-{}","status":"completed","rawOutput":{{"output":"{:o>200}"}}}}"#,
            i - 1,
            ""
        )?;
    }
    out.push_str("}}\n");
    Ok(())
}

/// What the host would see.
#[derive(Default)]
struct Seen {
    segments: usize,
    bytes: usize,
}

struct Path {
    lines: LineSplitter,
    slab: Slab,
    outbox: Arc<Outbox>,
    reader: Reader,
    seen: Seen,
}

impl Path {
    fn new() -> Self {
        let outbox = Outbox::new(Limits::default(), Arc::new(|| {}));
        Self {
            lines: LineSplitter::new(DEFAULT_MAX_LINE_BYTES),
            slab: Slab::default(),
            reader: Reader::new(Arc::clone(&outbox)),
            outbox,
            seen: Seen::default(),
        }
    }

    /// What happens between one read from the pipe and the next.
    fn read(&mut self, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
        self.lines.read_buffer().extend_from_slice(bytes);
        while let Some(line) = self.lines.next_line() {
            let Line::Complete(line) = line else { return Err("no line is oversize here".into()) };
            let line = std::str::from_utf8(line)?;
            if let Some(chunk) = chunk::decode(line) {
                self.slab.push(Kind::Text, &chunk.text);
            } else if let Some((_, update)) = update::decode(line) {
                self.slab.push(Kind::Update, update.get());
            }
        }
        self.outbox.publish(&mut self.slab);
        loop {
            let (text, marks) = self.reader.slice(SLICE);
            if marks.is_empty() {
                return Ok(());
            }
            self.seen.segments += marks.len();
            self.seen.bytes += text.len();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, updates] = arguments.as_slice() else { return Err("usage: decode text|tools <updates>".into()) };
    let updates: usize = updates.parse()?;
    if !updates.is_multiple_of(BLOCK) {
        return Err(format!("updates come in blocks of {BLOCK}").into());
    }
    let mut block = String::new();
    for i in 0..BLOCK {
        line(kind, i, &mut block)?;
    }
    let mut path = Path::new();
    for _ in 0..updates / BLOCK {
        for read in block.as_bytes().chunks(READ_BYTES) {
            path.read(read)?;
        }
    }
    if path.seen.segments != updates {
        return Err(format!("{} of {updates} updates came out", path.seen.segments).into());
    }
    println!("{} segments, {} bytes", path.seen.segments, path.seen.bytes);
    Ok(())
}
