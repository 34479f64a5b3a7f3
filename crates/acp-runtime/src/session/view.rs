//! How a session's updates are shown to its host.

use std::collections::HashMap;
use std::sync::MutexGuard;

use serde_json::value::RawValue;

use super::state::{Announced, Origin, PARENT_NAMES, SessionState, announced, meta_parent};
use super::text::TurnText;
use super::usage::SessionUsage;
use crate::bridge::{BridgeInput, BridgeSink, CallsClosed, EventBridge, PER_CHUNK_CAP_CHARS, TextStream};
use crate::delivery::{Kind, Slab};
use crate::error;
use crate::services::permission::tool_calls::{ToolCallPatch, ToolCallTracker};
use crate::text::bound::DEFAULT_IDENTIFIER_MAX;
use crate::text::clean_json::{Cleaning, clean_json};
use crate::text::sanitize::{Appended, Sanitizer, sanitized};
use crate::wire::chunk::{Chunk, Stream};
use crate::wire::update::{self, Notified, RawUpdate};

/// How an update is shown. Data for programs, of tools, of extensions, of the command of a sign-in method, stays as the agent
/// gave it.
const UPDATE: Cleaning<'static> =
    Cleaning { names: None, values: usize::MAX, data: &["rawInput", "rawOutput", "_meta", "args", "env"] };

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
    /// What the running turn used.
    pub(super) usage: SessionUsage,
}

#[derive(Debug)]
enum Shape {
    Callbacks(Box<EventBridge>),
    Events(Box<Events>),
}

/// The streams of a typed session: what is carried from chunk to chunk.
#[derive(Debug, Default)]
struct Events {
    sanitizers: Sanitizers,
    /// Those of child sessions, as many as the connection routes here.
    children: HashMap<String, Sanitizers>,
    /// The child session whose updates the host reads now; empty: those of the session itself.
    shown_child: String,
    /// The message whose chunks the host reads now.
    shown_message: String,
}

/// One for each kind of stream.
type Sanitizers = [Sanitizer; 3];

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
    /// What everything is merged into.
    pub state: Option<MutexGuard<'a, SessionState>>,
    /// The child session that speaks.
    pub child: Option<&'a str>,
}

impl View {
    pub(super) fn new(kind: ViewKind) -> Self {
        let shape = match kind {
            ViewKind::Callbacks => Shape::Callbacks(Box::default()),
            ViewKind::Events => Shape::Events(Box::default()),
        };
        Self { shape, tool_calls: ToolCallTracker::default(), usage: SessionUsage::default() }
    }

    pub(super) fn on_chunk<'r>(
        &mut self,
        chunk: &Chunk<'_>,
        whole: impl FnOnce() -> Option<Notified<'r>>,
        target: &mut Target<'_>,
    ) {
        match &mut self.shape {
            // History, and what children say, is no part of what the callbacks tell (field case S11).
            Shape::Callbacks(_) if target.replaying || target.child.is_some() => {}
            Shape::Callbacks(bridge) => {
                let input = match chunk.stream {
                    Stream::Message => BridgeInput::Text(&chunk.text),
                    Stream::Thought => BridgeInput::Thought(&chunk.text),
                    Stream::User => return,
                };
                bridge.handle(input, target);
            }
            Shape::Events(events) => {
                if !chunk.complete
                    && (target.shown || target.state.is_some())
                    && let Some(whole) = whole()
                {
                    events.on_rich_chunk(chunk, &whole, target);
                    return;
                }
                events.on_chunk(chunk, target);
            }
        }
    }

    /// Gives back what the update announces of a child session.
    pub(super) fn on_update(&mut self, notified: &Notified<'_>, target: &mut Target<'_>) -> Option<Announced> {
        let raw = notified.raw;
        let Some(update) = notified.members.as_ref().filter(|members| members.tag.is_some()) else {
            // Not even a tag: the host of a typed session still sees what was sent.
            if let Shape::Events(events) = &mut self.shape {
                events.show(raw, target);
            }
            return None;
        };
        let tag = update.tag.as_deref().unwrap_or_default();
        match tag {
            "tool_call" | "tool_call_update" => {
                if let Some(patch) = ToolCallPatch::of(update) {
                    self.tool_calls.apply_in(target.child, &patch);
                }
            }
            "usage_update" if target.child.is_none() && !target.replaying => {
                if let Some(raw) = raw.value() {
                    self.usage.update(raw);
                }
            }
            _ => {}
        }
        match &mut self.shape {
            Shape::Callbacks(_) if target.replaying || target.child.is_some() => {}
            Shape::Callbacks(bridge) => bridge.handle_update(update, target),
            Shape::Events(events) => {
                if tag == "agent_message_chunk"
                    && let Some(block) = update::block_text(update.content)
                {
                    target.keep_text(&block);
                }
                events.show(raw, target);
                if let Some(state) = &mut target.state {
                    match target.child {
                        None => state.on_update(update, raw),
                        Some(child) => state.on_child_update(child, update, raw),
                    }
                }
            }
        }
        if tag == "subagent_update" { announced(raw.value()?) } else { None }
    }

    pub(super) fn begin_turn(&mut self) {
        self.usage.begin_turn();
        match &mut self.shape {
            Shape::Callbacks(bridge) => bridge.reset(),
            Shape::Events(events) => {
                events.sanitizers = Sanitizers::default();
                events.shown_message.clear();
            }
        }
    }

    pub(super) fn end_turn(&mut self, why: CallsClosed, target: &mut Target<'_>) {
        match &mut self.shape {
            Shape::Callbacks(bridge) => bridge.close_open_calls(why, target),
            // The reader forgets it at a turn's end, too.
            Shape::Events(events) => events.shown_message.clear(),
        }
    }

    pub(super) fn merge_tool_call(&mut self, child: Option<&str>, patch: &ToolCallPatch<'_>) {
        self.tool_calls.apply_in(child, patch);
    }

    pub(super) fn show_tool_call(&mut self, child: Option<&str>, id: &str) -> error::Result<Box<RawValue>> {
        self.tool_calls.view_in(child, id)
    }
}

impl Events {
    fn on_chunk(&mut self, chunk: &Chunk<'_>, target: &mut Target<'_>) {
        self.tell_child(target);
        let id = chunk.message_id.as_deref();
        if target.shown && id.unwrap_or_default() != self.shown_message {
            id.unwrap_or_default().clone_into(&mut self.shown_message);
            target.stage.push(Kind::MessageId, &sanitized(&self.shown_message, DEFAULT_IDENTIFIER_MAX));
        }
        let kind = match chunk.stream {
            Stream::Message => Kind::Text,
            Stream::Thought => Kind::Thought,
            Stream::User => Kind::UserText,
        };
        let sanitizer = sanitizer(&mut self.sanitizers, &mut self.children, target.child, chunk.stream);
        let units = sanitizer.append(target.stage.text_mut(), &chunk.text, usize::MAX);
        if units > 0
            && let Some(state) = &mut target.state
        {
            let origin = Origin { stream: chunk.stream, message_id: id, parent: None };
            feed_text(state, target.child, origin, target.stage.uncommitted());
        }
        target.commit(kind, units);
    }

    /// A text chunk that says more than its text.
    fn on_rich_chunk(&mut self, chunk: &Chunk<'_>, whole: &Notified<'_>, target: &mut Target<'_>) {
        if chunk.stream == Stream::Message {
            target.keep_text(&chunk.text);
        }
        self.show(whole.raw, target);
        let update = whole.members.as_ref();
        let Some(state) = &mut target.state else { return };
        if !chunk.plain {
            match (update, target.child) {
                (Some(update), None) => state.on_update(update, whole.raw),
                (Some(update), Some(child)) => state.on_child_update(child, update, whole.raw),
                (None, _) => {}
            }
            return;
        }
        let sanitizer = sanitizer(&mut self.sanitizers, &mut self.children, target.child, chunk.stream);
        let text = sanitizer.push(&chunk.text);
        if !text.is_empty() {
            let parent = meta_parent(update.and_then(|update| update.meta), PARENT_NAMES);
            let message_id = chunk.message_id.as_deref();
            let origin = Origin { stream: chunk.stream, message_id, parent: parent.as_deref() };
            feed_text(state, target.child, origin, &text);
        }
    }

    /// An update as the agent sent it, without terminal control in what is shown of it.
    fn show(&mut self, raw: RawUpdate<'_>, target: &mut Target<'_>) {
        self.tell_child(target);
        if target.shown {
            target.stage.push(Kind::Update, &clean_json(raw.get(), &UPDATE));
        }
    }

    /// Tells the host whose updates follow.
    fn tell_child(&mut self, target: &mut Target<'_>) {
        let child = target.child.unwrap_or_default();
        if target.shown && child != self.shown_child {
            child.clone_into(&mut self.shown_child);
            self.shown_message.clear();
            target.stage.push(Kind::Child, &sanitized(child, DEFAULT_IDENTIFIER_MAX));
        }
    }
}

/// The sanitiser of a stream of the session or of a child of it.
fn sanitizer<'s>(
    own: &'s mut Sanitizers,
    children: &'s mut HashMap<String, Sanitizers>,
    child: Option<&str>,
    stream: Stream,
) -> &'s mut Sanitizer {
    let sanitizers = match child {
        None => own,
        Some(child) => children.entry(child.to_owned()).or_default(),
    };
    &mut sanitizers[stream as usize]
}

fn feed_text(state: &mut SessionState, child: Option<&str>, origin: Origin<'_>, text: &str) {
    match child {
        None => state.on_text(origin, text),
        Some(child) => state.on_child(child, |state| state.on_text(origin, text)),
    }
}

impl Target<'_> {
    /// Message text that is not staged as such still belongs to the turn's text.
    fn keep_text(&mut self, text: &str) {
        if let Some(turn) = &mut self.text {
            if text.len() <= PER_CHUNK_CAP_CHARS {
                turn.push(&sanitized(text, PER_CHUNK_CAP_CHARS));
                return;
            }
            let mut clean = String::new();
            let Appended { units, cut } = Sanitizer::new().append_telling(&mut clean, text, PER_CHUNK_CAP_CHARS);
            turn.push_units(&clean, units);
            if cut {
                turn.mark_truncated();
            }
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

    fn message_cut(&mut self) {
        if let Some(turn) = &mut self.text {
            turn.mark_truncated();
        }
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
