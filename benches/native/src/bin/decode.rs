//! The per-update path of the core without pipes and JavaScript: bytes into a connection, segments for the host out.
//!
//! An agent in memory sends the same block of prebuilt lines again and again in reads of 64 KiB, so that two runs of
//! different length differ by the updates alone. `scripts/callgrind.js` counts the instructions of both.
//!
//! Usage: `decode callbacks|events text|tools <updates>`
#![warn(missing_docs)]

#[path = "../../../../crates/acp-testkit/tests/cost/memory_agent.rs"]
#[expect(dead_code, reason = "the tests use more of it")]
mod memory_agent;

use std::error::Error;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use acp_runtime::delivery::{Kind, Limits, Outbox, Reader};
use acp_runtime::session::ViewKind;
use acp_runtime::wire::DEFAULT_MAX_LINE_BYTES;
use memory_agent::{Flood, MemoryAgent};

/// Updates in one block of lines.
const BLOCK: usize = 1000;
/// Bytes of one read from the pipe.
const READ_BYTES: usize = 64 * 1024;
/// Segments that the host takes at once.
const SLICE: usize = 512;
/// And bytes.
const SLICE_BYTES: usize = 256 * 1024;

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

/// The host: takes what is queued at every wake, as JavaScript would.
struct Host {
    reader: Mutex<Option<Reader>>,
    seen: Mutex<(usize, usize)>,
}

impl Host {
    fn drain(&self) {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(reader) = reader.as_mut() else { return };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (text, marks) = reader.slice(SLICE, SLICE_BYTES);
            if marks.is_empty() {
                return;
            }
            seen.0 += marks.iter().filter(|mark| mark.kind != Kind::Turn).count();
            seen.1 += text.len();
        }
    }
}

async fn run(view: ViewKind, block: String, blocks: usize) -> Result<(usize, usize), Box<dyn Error>> {
    let flood = Flood { block: block.into_bytes().into(), blocks, read_bytes: READ_BYTES };
    let agent = MemoryAgent::connect(flood, DEFAULT_MAX_LINE_BYTES);
    let host = Arc::new(Host { reader: Mutex::new(None), seen: Mutex::new((0, 0)) });
    let waking = Arc::clone(&host);
    let outbox = Outbox::new(Limits::default(), Arc::new(move || waking.drain()));
    *host.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(Reader::new(Arc::clone(&outbox)));
    agent.open(view, Some(outbox)).await?;
    agent.turn().await?;
    let seen = *host.seen.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(seen)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [view, kind, updates] = arguments.as_slice() else {
        return Err("usage: decode callbacks|events text|tools <updates>".into());
    };
    let view = match view.as_str() {
        "callbacks" => ViewKind::Callbacks,
        "events" => ViewKind::Events,
        _ => return Err("the view is callbacks or events".into()),
    };
    let updates: usize = updates.parse()?;
    if !updates.is_multiple_of(BLOCK) {
        return Err(format!("updates come in blocks of {BLOCK}").into());
    }
    let mut block = String::new();
    for i in 0..BLOCK {
        line(kind, i, &mut block)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    let (segments, bytes) = runtime.block_on(run(view, block, updates / BLOCK))?;
    println!("{segments} segments, {bytes} bytes");
    Ok(())
}
