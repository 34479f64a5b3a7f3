//! The event bridge: session updates of one session become the callbacks that hosts of coding agents take — text,
//! thinking, tool start, tool end.
//!
//! A pure state machine. Everything that passes is sanitised and bounded; per delta it does constant work beside one
//! pass over the new text, which is copied once, into the sink's own buffer. Its rules: `docs/decisions/event-bridge.md`.

mod calls;
mod decode;
mod payload;

use std::fmt::Write as _;

use serde_json::value::RawValue;

use self::calls::{Call, CallTable};
pub use self::calls::{TOOL_CALL_MAP_CAP, TOOL_TITLES_MAX_BYTES};
pub use self::payload::{TOOL_PAYLOAD_MAX_BYTES, is_plain_object};
use self::payload::{bounded_args, bounded_result, message};
use crate::text::bound::{DEFAULT_IDENTIFIER_MAX, identifier};
use crate::text::sanitize::{Appended, Sanitizer, append_sanitized, sanitized};
use crate::text::utf16::{trim, utf16_len};

/// Limit of text, thinking and plans together in one turn, in UTF-16 units. It is tested before a chunk, so that a turn
/// may exceed it by one chunk.
pub const PER_TURN_OUTPUT_CAP_CHARS: usize = 5_000_000;

/// Limit of one chunk, one plan or one title, in UTF-16 units.
pub const PER_CHUNK_CAP_CHARS: usize = 64_000;

/// Entries of a plan that are shown.
pub const MAX_PLAN_ENTRIES: usize = 100;

/// Shown once, as thinking, when a turn reaches its limit.
pub const OUTPUT_TRUNCATED_NOTICE: &str =
    "[output truncated: per-turn limit reached — further agent output suppressed]";

/// Which of the two texts of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextStream {
    /// The answer (`agent_message_chunk`).
    Message,
    /// The thinking (`agent_thought_chunk`), plans, and the notice of a reached limit.
    Thought,
}

/// Where the bridge's events go.
pub trait BridgeSink {
    /// The buffer that text is appended to; what is in it already is not looked at. A delta is appended in one or more
    /// calls and then committed, with nothing in between.
    fn text_buf(&mut self) -> &mut String;

    /// What was appended since the last commit is one delta of `stream`, `utf16_len` UTF-16 units long (never 0).
    fn commit_text(&mut self, stream: TextStream, utf16_len: usize);

    /// A limit dropped text of the message: what was committed is not the whole answer.
    fn message_cut(&mut self) {}

    /// A tool call started. `args` is a JSON object; `None` stands for `{}`.
    fn tool_start(&mut self, name: &str, args: Option<&RawValue>);

    /// A tool call ended, with the agent's own result where it gave one.
    fn tool_end(&mut self, name: &str, is_error: bool, result: Option<&RawValue>);
}

/// One entry of a plan, as the agent sent it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlanEntry<'a> {
    /// The task.
    pub content: &'a str,
    /// Its status; `pending` when absent.
    pub status: Option<&'a str>,
}

/// The members of a `tool_call` or `tool_call_update`, as the agent sent them.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolCallInput<'a> {
    /// `toolCallId`.
    pub id: &'a str,
    /// `title`; `None` leaves an earlier one.
    pub title: Option<&'a str>,
    /// `kind`; `None` leaves an earlier one.
    pub kind: Option<&'a str>,
    /// `status`; only `completed` and `failed` end the call.
    pub status: Option<&'a str>,
    /// `rawInput`.
    pub raw_input: Option<&'a RawValue>,
    /// `rawOutput`.
    pub raw_output: Option<&'a RawValue>,
    /// `content`, the result where there is no `rawOutput`.
    pub content: Option<&'a RawValue>,
}

/// A session update, borrowed from its line.
#[derive(Clone, Copy, Debug)]
pub enum BridgeInput<'a> {
    /// Text of an `agent_message_chunk`.
    Text(&'a str),
    /// Text of an `agent_thought_chunk`.
    Thought(&'a str),
    /// A `tool_call`.
    ToolCall(ToolCallInput<'a>),
    /// A `tool_call_update`.
    ToolCallUpdate(ToolCallInput<'a>),
    /// A `plan`, which replaces the one before.
    Plan(&'a [PlanEntry<'a>]),
    /// Any other update: not shown.
    Other,
}

/// Why open tool calls are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallsClosed {
    /// The turn ended by itself.
    TurnEnded,
    /// The turn was cancelled.
    Cancelled,
    /// The agent died, or its connection was lost.
    AgentGone,
}

impl CallsClosed {
    /// The result in the end event of a call that is closed.
    pub const fn result(self) -> &'static str {
        match self {
            Self::TurnEnded => "tool call not finished: the turn ended without its result",
            Self::Cancelled => "tool call not finished: the turn was cancelled",
            Self::AgentGone => "tool call not finished: the agent ended",
        }
    }
}

/// What the next delta of a stream needs to know of those before.
#[derive(Debug, Default)]
struct StreamState {
    sanitizer: Sanitizer,
    /// The last two bytes shown.
    last: [u8; 2],
}

impl StreamState {
    /// Whether a delta that begins with `next` continues a sentence-ending mark with a new sentence: agents lose the
    /// space between two messages. Not inside a number (`3.` + `5`).
    fn lacks_space(&self, next: u8) -> bool {
        let [before, last] = self.last;
        let starts = next.is_ascii_uppercase() || next.is_ascii_digit() || b"\"'([".contains(&next);
        let number = last == b'.' && before.is_ascii_digit() && next.is_ascii_digit();
        matches!(last, b'.' | b'!' | b'?') && starts && !number
    }

    fn shown(&mut self, delta: &[u8]) {
        self.last = match *delta {
            [.., before, last] => [before, last],
            [only] => [self.last[1], only],
            [] => self.last,
        };
    }
}

/// The state of one session's bridge.
#[derive(Debug, Default)]
pub struct EventBridge {
    message: StreamState,
    thought: StreamState,
    /// UTF-16 units of text, thinking and plans shown in this turn.
    shown: usize,
    /// Whether the notice of the reached limit was shown.
    suppressed: bool,
    calls: CallTable,
}

impl EventBridge {
    /// A bridge at the start of a turn.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the turn: limits, spacing and tool calls. Calls still open are not reported; see
    /// [`EventBridge::close_open_calls`].
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Passes on one update. Never fails: what makes no sense is ignored.
    pub fn handle(&mut self, input: BridgeInput<'_>, sink: &mut impl BridgeSink) {
        match input {
            BridgeInput::Text(text) => self.text(TextStream::Message, text, sink),
            BridgeInput::Thought(text) => self.text(TextStream::Thought, text, sink),
            BridgeInput::ToolCall(call) => self.tool_call(call, true, sink),
            BridgeInput::ToolCallUpdate(call) => self.tool_call(call, false, sink),
            BridgeInput::Plan(entries) => self.plan(entries, sink),
            BridgeInput::Other => {}
        }
    }

    /// Ends every call that was started and not ended, in the order of their starts, as an error: the agent reported no
    /// success. The result is a JSON string, [`CallsClosed::result`]. An update that still comes later is ignored.
    pub fn close_open_calls(&mut self, why: CallsClosed, sink: &mut impl BridgeSink) {
        let result = message(why.result());
        self.calls.close_open(|call| sink.tool_end(call.name(), true, result.as_deref()));
    }

    fn text(&mut self, stream: TextStream, text: &str, sink: &mut impl BridgeSink) {
        if text.is_empty() {
            return;
        }
        if self.limit_reached(sink) {
            if stream == TextStream::Message {
                sink.message_cut();
            }
            return;
        }
        let state = match stream {
            TextStream::Message => &mut self.message,
            TextStream::Thought => &mut self.thought,
        };
        let buf = sink.text_buf();
        let start = buf.len();
        let Appended { mut units, cut } = state.sanitizer.append_telling(buf, text, PER_CHUNK_CAP_CHARS);
        let Some(&first) = buf.as_bytes().get(start) else { return };
        if state.lacks_space(first) {
            buf.insert(start, ' ');
            units += 1;
        }
        state.shown(&buf.as_bytes()[start..]);
        self.shown += units;
        sink.commit_text(stream, units);
        if cut && stream == TextStream::Message {
            sink.message_cut();
        }
    }

    fn plan(&mut self, entries: &[PlanEntry<'_>], sink: &mut impl BridgeSink) {
        if self.limit_reached(sink) {
            return;
        }
        // One line per entry; what lies beyond the limit of the whole is not built.
        let mut plan = String::from("Plan:");
        if entries.is_empty() {
            plan.push('\n');
        }
        for entry in entries.iter().take(MAX_PLAN_ENTRIES) {
            if plan.len() > 4 * PER_CHUNK_CAP_CHARS {
                break;
            }
            plan.push_str("\n- [");
            append_sanitized(&mut plan, entry.status.unwrap_or("pending"), PER_CHUNK_CAP_CHARS);
            plan.push_str("] ");
            append_sanitized(&mut plan, entry.content, PER_CHUNK_CAP_CHARS);
        }
        if let Some(more @ 1..) = entries.len().checked_sub(MAX_PLAN_ENTRIES) {
            // Writing to a string cannot fail.
            let _ = write!(plan, "\n- … {more} more entries truncated");
        }
        let units = append_sanitized(sink.text_buf(), &plan, PER_CHUNK_CAP_CHARS);
        self.shown += units;
        sink.commit_text(TextStream::Thought, units);
    }

    /// Whether the turn may show nothing more. Says so once.
    fn limit_reached(&mut self, sink: &mut impl BridgeSink) -> bool {
        if self.shown < PER_TURN_OUTPUT_CAP_CHARS {
            return false;
        }
        if !self.suppressed {
            self.suppressed = true;
            sink.text_buf().push_str(OUTPUT_TRUNCATED_NOTICE);
            sink.commit_text(TextStream::Thought, utf16_len(OUTPUT_TRUNCATED_NOTICE));
        }
        true
    }

    fn tool_call(&mut self, input: ToolCallInput<'_>, announced: bool, sink: &mut impl BridgeSink) {
        let id = identifier(input.id, DEFAULT_IDENTIFIER_MAX);
        if id.is_empty() {
            return;
        }
        self.calls.update(&id, |call: &mut Call, order: &mut u64| {
            if let Some(title) = input.title {
                call.title = clean_title(title).into();
            }
            if let Some(kind) = input.kind {
                call.kind = kind_label(kind);
            }
            if announced && call.started.is_none() && !call.ended {
                *order += 1;
                call.started = Some(*order);
                sink.tool_start(call.name(), bounded_args(input.raw_input).as_deref());
            }
            let failed = match input.status {
                Some("completed") => false,
                Some("failed") => true,
                _ => return,
            };
            if !call.ended {
                call.ended = true;
                let given = input.raw_output.filter(|raw| raw.get() != "null").or(input.content).or(input.raw_output);
                let result = given.map(bounded_result);
                sink.tool_end(call.name(), failed, result.as_deref());
            }
        });
    }
}

/// The label of a tool kind of the protocol, `None` for any other.
pub fn kind_label(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "read" => "Read",
        "edit" => "Edit",
        "delete" => "Delete",
        "move" => "Move",
        "search" => "Search",
        "execute" => "Execute",
        "think" => "Think",
        "fetch" => "Fetch",
        "switch_mode" => "Switch Mode",
        "other" => "Tool",
        _ => return None,
    })
}

/// The name under which a host shows a tool call: its title, sanitised and bounded, else the label of its kind, else
/// `tool`.
pub fn tool_display_name(title: Option<&str>, kind: Option<&str>) -> String {
    let title = title.map(clean_title).unwrap_or_default();
    if title.is_empty() { kind.and_then(kind_label).unwrap_or(NO_NAME).to_owned() } else { title }
}

/// The name of a call that has neither title nor known kind.
const NO_NAME: &str = "tool";

fn clean_title(title: &str) -> String {
    trim(&sanitized(title, PER_CHUNK_CAP_CHARS)).to_owned()
}

#[cfg(test)]
#[path = "bridge_tests.rs"]
mod tests;
