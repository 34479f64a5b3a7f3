//! How much work an update costs: counted, not timed. Allocations and the bytes they take stand for work, since copying
//! needs somewhere to copy to; bytes read from the agent show where it is held back.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

#[path = "../common/immortal.rs"]
mod immortal;
mod memory_agent;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::{Arc, Mutex};

use acp_runtime::bridge::TOOL_CALL_MAP_CAP;
use acp_runtime::delivery::{Kind, Limits, Outbox, Reader};
use acp_runtime::session::ViewKind;
use acp_runtime::wire::DEFAULT_MAX_LINE_BYTES;
use memory_agent::{Flood, MemoryAgent, line};

thread_local! {
    /// Calls of this thread and the bytes they took: a connection of the runtime of one thread does all its work there.
    static TAKEN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

fn count(size: usize) {
    // A thread that ends has none any more; nothing is measured then.
    let _ = TAKEN.try_with(|taken| {
        let (calls, bytes) = taken.get();
        taken.set((calls + 1, bytes + size));
    });
}

// SAFETY: everything is the system's own allocator; the counters are no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What a turn cost and showed.
#[derive(Debug, Default)]
struct Cost {
    calls: usize,
    bytes: usize,
    updates: usize,
    shown: usize,
}

fn run(view: ViewKind, flood: Flood, max_line: usize) -> Cost {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let reader: Arc<Mutex<Option<Reader>>> = Arc::default();
        let seen = Arc::new(Mutex::new((0, 0)));
        let outbox = {
            let (reader, seen) = (Arc::clone(&reader), Arc::clone(&seen));
            let drain = move || {
                let mut reader = reader.lock().unwrap();
                let Some(reader) = reader.as_mut() else { return };
                let mut seen = seen.lock().unwrap();
                loop {
                    let (text, marks) = reader.slice(512, 256 * 1024);
                    if marks.is_empty() {
                        return;
                    }
                    seen.0 += marks.iter().filter(|mark| mark.kind != Kind::Turn).count();
                    seen.1 += text.len();
                }
            };
            Outbox::new(Limits::default(), Arc::new(drain))
        };
        *reader.lock().unwrap() = Some(Reader::new(Arc::clone(&outbox)));
        let agent = MemoryAgent::connect(flood, max_line);
        agent.open(view, Some(outbox)).await.unwrap();
        let (calls, bytes) = TAKEN.get();
        agent.turn().await.unwrap();
        let (all_calls, all_bytes) = TAKEN.get();
        let (updates, shown) = *seen.lock().unwrap();
        Cost { calls: all_calls - calls, bytes: all_bytes - bytes, updates, shown }
    })
}

const BLOCK: usize = 500;

fn texts() -> Arc<[u8]> {
    let lines = (0..BLOCK).map(|i| {
        line(&format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{i:010}"}}}}"#))
    });
    lines.collect::<String>().into_bytes().into()
}

#[test]
fn text_costs_no_allocation_of_its_own_and_grows_linearly() {
    for view in [ViewKind::Callbacks, ViewKind::Events] {
        let cost = |blocks| run(view, Flood { block: texts(), blocks, read_bytes: 64 * 1024 }, DEFAULT_MAX_LINE_BYTES);
        let (small, large) = (cost(50), cost(200));
        assert_eq!((small.updates, large.updates), (50 * BLOCK, 200 * BLOCK));
        // Buffers double and are used again; a chunk itself takes nothing.
        assert!(large.calls < large.updates / 50, "{view:?}: {large:?}");
        assert!(large.calls <= 5 * small.calls && large.bytes <= 5 * small.bytes, "{view:?}: {small:?} {large:?}");
    }
}

#[test]
fn a_tool_update_costs_the_same_early_and_late_in_a_turn() {
    // More calls than are remembered, so that the repeated block brings new ones.
    let block: String = (0..2 * TOOL_CALL_MAP_CAP)
        .map(|i| {
            line(&format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"c{i}","title":"Read","status":"pending","rawInput":{{"path":"a"}}}}"#))
                + &line(&format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c{i}","status":"completed","rawOutput":{{"out":"{:o>200}"}}}}"#, ""))
        })
        .collect();
    let block: Arc<[u8]> = block.into_bytes().into();
    for view in [ViewKind::Callbacks, ViewKind::Events] {
        let flood = |blocks| Flood { block: Arc::clone(&block), blocks, read_bytes: 64 * 1024 };
        let (small, large) = (run(view, flood(4), 1 << 20), run(view, flood(16), 1 << 20));
        assert_eq!((small.updates, large.updates), (16 * TOOL_CALL_MAP_CAP, 64 * TOOL_CALL_MAP_CAP));
        assert!(
            large.calls * 10 <= 44 * small.calls && large.bytes <= 5 * small.bytes,
            "{view:?}: {small:?} {large:?}"
        );
    }
}

#[test]
fn one_long_line_in_small_reads_takes_memory_in_proportion() {
    let cost = |megabytes: usize| {
        let output = "x".repeat(megabytes * 1_000_000);
        let update = format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c","rawOutput":"{output}"}}"#);
        run(ViewKind::Events, Flood { block: line(&update).into_bytes().into(), blocks: 1, read_bytes: 4096 }, 64 << 20)
    };
    let (small, large) = (cost(5), cost(20));
    assert!(large.shown > 20_000_000 && small.shown > 5_000_000);
    // The line in a buffer that doubles, and the update in the queue: a fixed number of times its size.
    assert!(large.bytes <= 10 * large.shown, "{large:?}");
    assert!(large.bytes <= 6 * small.bytes && large.calls <= small.calls + 200, "{small:?} {large:?}");
}

#[test]
fn an_agent_whose_host_does_not_listen_is_read_no_further() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let block = texts();
        let total = block.len() * 1000;
        let limits = Limits { bytes: 64 * 1024, items: 1000 };
        let outbox = Outbox::new(limits, Arc::new(|| {}));
        let mut reader = Reader::new(Arc::clone(&outbox));
        let flood = Flood { block, blocks: 1000, read_bytes: 64 * 1024 };
        let agent = Arc::new(MemoryAgent::connect(flood, DEFAULT_MAX_LINE_BYTES));
        agent.open(ViewKind::Callbacks, Some(outbox)).await.unwrap();
        let prompting = Arc::clone(&agent);
        let turn = tokio::spawn(async move { prompting.turn().await });
        let mut updates = 0;
        loop {
            // Everything that the connection does without its host.
            let mut before = usize::MAX;
            while agent.sent() != before {
                before = agent.sent();
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            if updates == 0 {
                assert!(agent.sent() < total / 100, "{} bytes of {total} were read", agent.sent());
            }
            let (_, marks) = reader.slice(4096, usize::MAX);
            if marks.is_empty() {
                break;
            }
            updates += marks.iter().filter(|mark| mark.kind == Kind::Text).count();
        }
        assert_eq!(updates, 1000 * BLOCK, "nothing is lost");
        turn.await.unwrap().unwrap();
    });
}
