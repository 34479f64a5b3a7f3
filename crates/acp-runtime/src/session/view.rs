//! How a session's updates are shown to its host.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::text::TurnText;
use crate::bridge::{BridgeInput, BridgeSink, EventBridge};
use crate::delivery::{Kind, Slab};
use crate::services::permission::tool_calls::{MergedToolCall, ToolCallPatch, ToolCallTracker};
use crate::text::sanitize::Sanitizer;
use crate::wire::chunk::{Chunk, Stream};
use crate::wire::update;

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
    clean: String,
}

impl View {
    pub(super) fn new(kind: ViewKind) -> Self {
        let shape = match kind {
            ViewKind::Callbacks => Shape::Callbacks(Box::default()),
            ViewKind::Events => Shape::Events(Box::default()),
        };
        Self { shape, tool_calls: ToolCallTracker::default() }
    }

    pub(super) fn on_chunk<'a>(
        &mut self,
        chunk: &Chunk<'_>,
        raw: impl FnOnce() -> Option<&'a RawValue>,
        text: Option<&mut TurnText>,
        stage: Option<&mut Slab>,
        replaying: bool,
    ) {
        match &mut self.shape {
            // History is no part of what the callbacks tell (field case S11).
            Shape::Callbacks(_) if replaying => {}
            Shape::Callbacks(bridge) => {
                let input = match chunk.stream {
                    Stream::Message => BridgeInput::Text(&chunk.text),
                    Stream::Thought => BridgeInput::Thought(&chunk.text),
                    Stream::User => return,
                };
                bridge.handle(input, &mut Callbacks { stage, text });
            }
            Shape::Events(events) => {
                let clean = events.sanitize(chunk.stream, &chunk.text);
                if let (Stream::Message, Some(text)) = (chunk.stream, text) {
                    text.push(&clean);
                }
                let Some(stage) = stage else { return };
                if !chunk.complete
                    && let Some(raw) = raw()
                {
                    stage.push(Kind::Update, raw.get());
                    return;
                }
                let id = chunk.message_id.as_deref().unwrap_or_default();
                if id != events.message_id {
                    id.clone_into(&mut events.message_id);
                    stage.push(Kind::MessageId, id);
                }
                let kind = match chunk.stream {
                    Stream::Message => Kind::Text,
                    Stream::Thought => Kind::Thought,
                    Stream::User => Kind::UserText,
                };
                stage.push(kind, &clean);
            }
        }
    }

    pub(super) fn on_update(
        &mut self,
        raw: &RawValue,
        text: Option<&mut TurnText>,
        stage: Option<&mut Slab>,
        replaying: bool,
    ) {
        let Some(update) = update::peek(raw) else {
            // Not even a tag: the host of a typed session still sees what was sent.
            if let (Shape::Events(_), Some(stage)) = (&self.shape, stage) {
                stage.push(Kind::Update, raw.get());
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
            Shape::Callbacks(_) if replaying => {}
            Shape::Callbacks(bridge) => {
                let block = update::block_text(update.content);
                let input = match (tag, &block) {
                    ("agent_message_chunk", Some(text)) => BridgeInput::Text(text),
                    ("agent_thought_chunk", Some(text)) => BridgeInput::Thought(text),
                    _ => BridgeInput::from_update(&update),
                };
                bridge.handle(input, &mut Callbacks { stage, text });
            }
            Shape::Events(_) => {
                if let (Some(text), "agent_message_chunk") = (text, tag)
                    && let Some(block) = update::block_text(update.content)
                {
                    text.push(&crate::text::sanitize::strip_control_sequences(&block));
                }
                if let Some(stage) = stage {
                    stage.push(Kind::Update, raw.get());
                }
            }
        }
    }

    pub(super) fn begin_turn(&mut self) {
        match &mut self.shape {
            Shape::Callbacks(bridge) => bridge.reset(),
            Shape::Events(events) => events.sanitizers = Default::default(),
        }
    }

    pub(super) fn end_turn(&mut self, text: Option<&mut TurnText>, stage: Option<&mut Slab>) {
        if let Shape::Callbacks(bridge) = &mut self.shape {
            bridge.close_open_calls(&mut Callbacks { stage, text });
        }
    }

    pub(super) fn merge_tool_call(&mut self, patch: &ToolCallPatch<'_>) -> &MergedToolCall {
        self.tool_calls.apply(patch)
    }
}

impl Events {
    fn sanitize<'t>(&mut self, stream: Stream, text: &'t str) -> Cow<'t, str> {
        let _ = &mut self.clean;
        self.sanitizers[stream as usize].push(text)
    }
}

/// Where the bridge's events go: to the host's stage, and message text into the turn.
struct Callbacks<'a> {
    stage: Option<&'a mut Slab>,
    text: Option<&'a mut TurnText>,
}

impl BridgeSink for Callbacks<'_> {
    fn text(&mut self, delta: &str) {
        if let Some(text) = &mut self.text {
            text.push(delta);
        }
        if let Some(stage) = &mut self.stage {
            stage.push(Kind::Text, delta);
        }
    }

    fn thinking(&mut self, delta: &str) {
        if let Some(stage) = &mut self.stage {
            stage.push(Kind::Thought, delta);
        }
    }

    fn tool_start(&mut self, name: &str, args: Option<&RawValue>) {
        if let Some(stage) = &mut self.stage {
            push_json(stage, Kind::ToolStart, &ToolStart { name, args });
        }
    }

    fn tool_end(&mut self, name: &str, is_error: bool, result: Option<&RawValue>) {
        if let Some(stage) = &mut self.stage {
            push_json(stage, Kind::ToolEnd, &ToolEnd { name, is_error, result });
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
