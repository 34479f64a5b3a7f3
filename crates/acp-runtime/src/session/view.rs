//! How a session's updates are shown to its host.

use serde_json::value::RawValue;

use super::text::TurnText;
use crate::bridge::{BridgeInput, BridgeSink, CallsClosed, EventBridge, PER_CHUNK_CAP_CHARS, PlanEntry, TextStream, ToolCallInput};
use crate::delivery::{Kind, Slab};
use crate::services::permission::tool_calls::{MergedToolCall, ToolCallPatch, ToolCallTracker};
use crate::text::sanitize::Sanitizer;
use crate::wire::chunk::{Chunk, Stream};
use crate::wire::update::{self, Update};

/// The two ways to look at a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewKind {
    /// Callbacks for text, thinking and tools, bounded per turn: the event bridge.
    Callbacks,
    /// Every update as a typed event.
    Events,
}

#[derive(Debug)]
pub(super) struct View {
    shape: Shape,
    /// Everything said of each tool call, for permission requests.
    tool_calls: ToolCallTracker,
}

#[derive(Debug)]
enum Shape {
    Callbacks(Box<EventBridge>),
    Events(Box<Events>),
}

/// The streams of a typed session: what is carried from chunk to chunk.
#[derive(Debug, Default)]
struct Events {
    sanitizers: [Sanitizer; 3],
    /// The message that the last chunk belonged to.
    message_id: String,
}

/// Where a session's events go.
pub(super) struct Target<'a> {
    /// Staged for the host.
    pub stage: &'a mut Slab,
    /// Whether there is a host; otherwise nothing stays in the stage.
    pub shown: bool,
    /// The text of the running turn.
    pub text: Option<&'a mut TurnText>,
    /// Whether history is being replayed.
    pub replaying: bool,
}

impl View {
    pub(super) fn new(kind: ViewKind) -> Self {
        let shape = match kind {
            ViewKind::Callbacks => Shape::Callbacks(Box::default()),
            ViewKind::Events => Shape::Events(Box::default()),
        };
        Self { shape, tool_calls: ToolCallTracker::default() }
    }

    pub(super) fn on_chunk<'r>(
        &mut self,
        chunk: &Chunk<'_>,
        raw: impl FnOnce() -> Option<&'r RawValue>,
        target: &mut Target<'_>,
    ) {
        match &mut self.shape {
            // History is no part of what the callbacks tell (field case S11).
            Shape::Callbacks(_) if target.replaying => {}
            Shape::Callbacks(bridge) => {
                let input = match chunk.stream {
                    Stream::Message => BridgeInput::Text(&chunk.text),
                    Stream::Thought => BridgeInput::Thought(&chunk.text),
                    Stream::User => return,
                };
                bridge.handle(input, target);
            }
            Shape::Events(events) => {
                if !chunk.complete && target.shown && let Some(raw) = raw() {
                    if chunk.stream == Stream::Message {
                        target.keep_text(&chunk.text);
                    }
                    target.stage.push(Kind::Update, raw.get());
                    return;
                }
                events.on_chunk(chunk, target);
            }
        }
    }

    pub(super) fn on_update(&mut self, raw: &RawValue, target: &mut Target<'_>) {
        let Some(update) = update::peek(raw) else {
            // Not even a tag: the host of a typed session still sees what was sent.
            if matches!(self.shape, Shape::Events(_)) {
                target.show(Kind::Update, raw.get());
            }
            return;
        };
        let tag = update.tag.as_deref().unwrap_or_default();
        if matches!(tag, "tool_call" | "tool_call_update")
            && let Some(patch) = ToolCallPatch::decode(raw.get())
        {
            self.tool_calls.apply(&patch);
        }
        match &mut self.shape {
            Shape::Callbacks(_) if target.replaying => {}
            Shape::Callbacks(bridge) => bridge_update(bridge, tag, &update, target),
            Shape::Events(_) => {
                if tag == "agent_message_chunk"
                    && let Some(block) = update::block_text(update.content)
                {
                    target.keep_text(&block);
                }
                target.show(Kind::Update, raw.get());
            }
        }
    }

    pub(super) fn begin_turn(&mut self) {
        match &mut self.shape {
            Shape::Callbacks(bridge) => bridge.reset(),
            Shape::Events(events) => **events = Events::default(),
        }
    }

    pub(super) fn end_turn(&mut self, why: CallsClosed, target: &mut Target<'_>) {
        if let Shape::Callbacks(bridge) = &mut self.shape {
            bridge.close_open_calls(why, target);
        }
    }

    pub(super) fn merge_tool_call(&mut self, patch: &ToolCallPatch<'_>) -> &MergedToolCall {
        self.tool_calls.apply(patch)
    }
}

impl Events {
    fn on_chunk(&mut self, chunk: &Chunk<'_>, target: &mut Target<'_>) {
        if target.shown {
            let id = chunk.message_id.as_deref().unwrap_or_default();
            if id != self.message_id {
                id.clone_into(&mut self.message_id);
                target.stage.push(Kind::MessageId, id);
            }
        }
        let kind = match chunk.stream {
            Stream::Message => Kind::Text,
            Stream::Thought => Kind::Thought,
            Stream::User => Kind::UserText,
        };
        let sanitizer = &mut self.sanitizers[chunk.stream as usize];
        let units = sanitizer.append(target.stage.text_mut(), &chunk.text, usize::MAX);
        target.commit(kind, units);
    }
}

fn bridge_update(bridge: &mut EventBridge, tag: &str, update: &Update<'_>, target: &mut Target<'_>) {
    match tag {
        "agent_message_chunk" | "agent_thought_chunk" => {
            let Some(text) = update::block_text(update.content) else { return };
            let thought = tag == "agent_thought_chunk";
            bridge.handle(if thought { BridgeInput::Thought(&text) } else { BridgeInput::Text(&text) }, target);
        }
        "tool_call" | "tool_call_update" => {
            let Some(id) = update.tool_call_id.as_deref() else { return };
            let (title, kind, status) =
                (update::string(update.title), update::string(update.kind), update::string(update.status));
            let call = ToolCallInput {
                id,
                title: title.as_deref(),
                kind: kind.as_deref(),
                status: status.as_deref(),
                raw_input: update.raw_input,
                raw_output: update.raw_output,
                content: update.content,
            };
            let input = if tag == "tool_call" { BridgeInput::ToolCall(call) } else { BridgeInput::ToolCallUpdate(call) };
            bridge.handle(input, target);
        }
        "plan" => {
            let entries = update::plan_entries(update.entries);
            let entries: Vec<_> = entries
                .iter()
                .map(|(content, status)| PlanEntry { content, status: status.as_deref() })
                .collect();
            bridge.handle(BridgeInput::Plan(&entries), target);
        }
        _ => {}
    }
}

impl Target<'_> {
    fn show(&mut self, kind: Kind, text: &str) {
        if self.shown {
            self.stage.push(kind, text);
        }
    }

    /// Message text that is not staged as such still belongs to the turn's text.
    fn keep_text(&mut self, text: &str) {
        if let Some(turn) = &mut self.text {
            turn.push(&crate::text::sanitize::sanitized(text, PER_CHUNK_CAP_CHARS));
        }
    }

    /// Ends a delta that was appended to the stage.
    fn commit(&mut self, kind: Kind, units: usize) {
        if units == 0 {
            return;
        }
        if let (Kind::Text, Some(turn)) = (kind, &mut self.text) {
            turn.push_units(self.stage.uncommitted(), units);
        }
        if self.shown {
            self.stage.commit(kind, units);
        } else {
            self.stage.discard();
        }
    }
}

impl BridgeSink for Target<'_> {
    fn text_buf(&mut self) -> &mut String {
        self.stage.text_mut()
    }

    fn commit_text(&mut self, stream: TextStream, utf16_len: usize) {
        let kind = match stream {
            TextStream::Message => Kind::Text,
            TextStream::Thought => Kind::Thought,
        };
        self.commit(kind, utf16_len);
    }

    fn tool_start(&mut self, name: &str, args: Option<&RawValue>) {
        if self.shown {
            push_json(self.stage, Kind::ToolStart, &ToolStart { name, args });
        }
    }

    fn tool_end(&mut self, name: &str, is_error: bool, result: Option<&RawValue>) {
        if self.shown {
            push_json(self.stage, Kind::ToolEnd, &ToolEnd { name, is_error, result });
        }
    }
}

#[derive(serde::Serialize)]
struct ToolStart<'a> {
    name: &'a str,
    args: Option<&'a RawValue>,
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolEnd<'a> {
    name: &'a str,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
}

fn push_json(stage: &mut Slab, kind: Kind, value: &impl serde::Serialize) {
    match serde_json::to_string(value) {
        Ok(json) => stage.push(kind, &json),
        Err(error) => tracing::error!(target: "acp::session", %error, "an event could not be encoded"),
    }
}
