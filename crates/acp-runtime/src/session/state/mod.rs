//! What is known of a session, merged from every update in wire order and readable at any time.
//!
//! Pure: updates go in, JSON comes out, no time and no input or output. Text costs one copy of its bytes; everything else
//! stays in the agent's own JSON and is only looked into when the state is read. Everything is bounded by [`Limits`], and
//! what was left out is counted in [`Dropped`].

mod compactions;
mod cursors;
mod json;
mod limits;
mod messages;
mod plans;
mod settings;
mod shared;
mod subagents;
#[cfg(test)]
mod testing;
mod tool_calls;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use compactions::Compactions;
pub(super) use cursors::Cursors;
pub(crate) use json::meta_parent;
pub(super) use json::{members, string};
pub use limits::{Dropped, Limits};
use messages::{Key, Messages, Role, Start};
use plans::Plans;
use settings::Settings;
pub use shared::SharedState;
pub use subagents::Announced;
use subagents::Subagents;
pub(super) use subagents::announced;
pub(super) use tool_calls::PARENT_NAMES;
use tool_calls::{At, Said, ToolCalls};

use super::usage::{Context, Usage};
use crate::text::sanitize::strip_control_sequences;
use crate::wire::chunk::Stream;
use crate::wire::update::{self, RawUpdate, Update};

/// Longest id of a session, in bytes.
pub(crate) const MAX_SESSION_ID_BYTES: usize = 1024;
/// Longest id of a parent tool call that is kept, in bytes.
const MAX_PARENT_BYTES: usize = 1024;

/// Everything that is known of one session.
#[derive(Debug, Default)]
pub struct SessionState {
    limits: Limits,
    version: u64,
    /// The next place in the order of messages, tool calls and compactions.
    order: u64,
    /// The turn, also one that is replayed.
    epoch: u32,
    replaying: bool,
    messages: Messages,
    tool_calls: ToolCalls,
    plans: Plans,
    compactions: Compactions,
    cursors: Cursors,
    settings: Settings,
    context: Context,
    usage: Option<Usage>,
    subagents: Subagents,
    dropped: Dropped,
}

/// Which message a piece of text belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub stream: Stream,
    pub message_id: Option<&'a str>,
    /// The tool call that it was said in.
    pub parent: Option<&'a str>,
}

impl<'a> Origin<'a> {
    fn key(self) -> Key<'a> {
        let role = match self.stream {
            Stream::Message => Role::Agent,
            Stream::Thought => Role::Thought,
            Stream::User => Role::User,
        };
        Key { role, id: self.message_id, parent: self.parent.filter(|id| id.len() <= MAX_PARENT_BYTES) }
    }
}

impl SessionState {
    /// The state of a session that nothing is known of.
    pub fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Changes with every change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What is held of what the agent said, in bytes.
    pub fn bytes(&self) -> usize {
        self.messages.bytes()
            + self.tool_calls.bytes()
            + self.plans.bytes()
            + self.compactions.bytes()
            + self.cursors.bytes()
            + self.settings.bytes()
            + self.subagents.bytes()
    }

    /// What was left out so far.
    pub fn dropped(&self) -> Dropped {
        Dropped { subagents: self.subagents.dropped(), ..self.dropped }
    }

    /// Takes one update of the session, whatever it is.
    pub fn apply(&mut self, raw: &RawValue) {
        if let Some(update) = update::peek(raw) {
            self.on_update(&update, raw.into());
        }
    }

    /// Text of a message, sanitised.
    pub(crate) fn on_text(&mut self, origin: Origin<'_>, text: &str) {
        let start = self.start(origin);
        let began = self.messages.push_text(origin.key(), text, start, &self.limits, &mut self.dropped);
        self.order += u64::from(began);
    }

    /// A content block of a message that is not plain text.
    pub(crate) fn on_block(&mut self, origin: Origin<'_>, block: &RawValue) {
        let start = self.start(origin);
        let began = self.messages.push_block(origin.key(), block, start, &self.limits, &mut self.dropped);
        self.order += u64::from(began);
    }

    fn start(&mut self, origin: Origin<'_>) -> Start {
        self.version += 1;
        // In a replay, what the user said begins a turn.
        if self.replaying && origin.stream == Stream::User && !self.messages.continues(origin.key()) {
            self.begin_epoch();
        }
        Start { order: self.order, replay: self.replaying }
    }

    /// Any update, read as far as its members.
    pub(crate) fn on_update(&mut self, update: &Update<'_>, raw: RawUpdate<'_>) {
        let (limits, dropped) = (&self.limits, &mut self.dropped);
        let changed = match update.tag.as_deref().unwrap_or_default() {
            "agent_message_chunk" => return self.on_chunk(Stream::Message, update),
            "agent_thought_chunk" => return self.on_chunk(Stream::Thought, update),
            "user_message_chunk" => return self.on_chunk(Stream::User, update),
            "tool_call" => return self.on_tool_call(Said::Announced, update),
            "tool_call_update" => return self.on_tool_call(Said::Updated, update),
            "plan" => self.plans.replace(update.entries, limits, dropped),
            "plan_update" => self.plans.update(update.plan, limits, dropped),
            tag => return self.on_rare_update(tag, raw),
        };
        self.version += u64::from(changed);
    }

    /// Updates whose members are not read beforehand.
    fn on_rare_update(&mut self, tag: &str, raw: RawUpdate<'_>) {
        let Some(raw) = raw.value() else { return };
        let (limits, dropped) = (&self.limits, &mut self.dropped);
        let changed = match tag {
            "plan_removed" => plan_id(raw).is_some_and(|id| self.plans.remove(&id)),
            "compaction_update" => {
                let began = self.compactions.update(raw, self.order, limits, dropped);
                return self.on_compaction(began);
            }
            "compaction_summary_chunk" => {
                let began = self.compactions.chunk(raw, self.order, limits, dropped);
                return self.on_compaction(began);
            }
            "available_commands_update"
            | "current_mode_update"
            | "config_option_update"
            | "session_info_update"
            | "prompt_suggestions_update" => self.settings.apply(raw, limits, dropped),
            "usage_update" => self.context.update(raw),
            "cursor_update" => self.cursors.update(raw, limits, dropped),
            "subagent_update" => self.subagents.update(None, raw, limits, dropped),
            "session_message" => return self.on_session_message(raw),
            "session_message_chunk" => return self.on_session_message_chunk(raw),
            // Notices are shown, not remembered (rule C38); what is unknown has no meaning here.
            _ => false,
        };
        self.version += u64::from(changed);
    }

    /// Feeds a child session.
    pub(crate) fn on_child(&mut self, child: &str, feed: impl FnOnce(&mut Self)) {
        self.version += 1;
        self.subagents.with(child, &self.limits, self.replaying, feed);
    }

    /// An update of a child session. A child of its own is listed beside it.
    pub(crate) fn on_child_update(&mut self, child: &str, update: &Update<'_>, raw: RawUpdate<'_>) {
        if update.tag.as_deref() == Some("subagent_update") {
            self.version += 1;
            if let Some(raw) = raw.value() {
                self.subagents.update(Some(child), raw, &self.limits, &mut self.dropped);
            }
        } else {
            self.on_child(child, |state| state.on_update(update, raw));
        }
    }

    /// What a permission question says of its tool call.
    pub(crate) fn on_question(&mut self, tool_call: &Update<'_>) {
        self.on_tool_call(Said::Asked, tool_call);
    }

    /// The result of a call that opens the session or changes its settings.
    pub(crate) fn on_result(&mut self, result: &RawValue) {
        self.version += u64::from(self.settings.apply(result, &self.limits, &mut self.dropped));
    }

    /// The cursors that the agent announced.
    pub(crate) fn cursors(&self) -> &Cursors {
        &self.cursors
    }

    /// The host chose a mode.
    pub(crate) fn on_mode(&mut self, mode_id: &RawValue) {
        self.version += u64::from(self.settings.set_mode(mode_id));
    }

    /// Following updates repeat history.
    pub(crate) fn set_replaying(&mut self, replaying: bool) {
        if self.replaying != replaying {
            self.replaying = replaying;
            self.messages.interrupt();
            self.begin_epoch();
            if !replaying {
                // In history nothing runs.
                self.cancel_open_calls();
            }
        }
    }

    /// A turn begins.
    pub(crate) fn begin_turn(&mut self) {
        self.messages.interrupt();
        self.begin_epoch();
    }

    /// A turn ended, with what it used. Whatever it left unfinished is not going to be.
    pub(crate) fn end_turn(&mut self, usage: Option<&Usage>) {
        self.cancel_open_calls();
        if let Some(usage) = usage {
            self.version += 1;
            self.usage = Some(usage.clone());
        }
    }

    /// Tool calls that have not ended count as cancelled (rule C44).
    pub(crate) fn cancel_open_calls(&mut self) {
        self.version += u64::from(self.tool_calls.cancel_open());
    }

    /// The agent is gone, or the session is.
    pub(crate) fn end(&mut self) {
        self.version += 1;
        self.cancel_open_calls();
        self.subagents.end();
    }

    /// Forgets what was said, keeps how much was left out before.
    fn empty(&mut self) {
        *self = Self {
            limits: self.limits,
            order: self.order,
            epoch: self.epoch,
            dropped: self.dropped,
            ..Self::default()
        };
    }

    fn on_chunk(&mut self, stream: Stream, update: &Update<'_>) {
        let Some(content) = update.content.filter(|raw| json::is_object(raw.get())) else { return };
        let id = update.message_id.and_then(string);
        let parent = meta_parent(update.meta, PARENT_NAMES);
        let origin = Origin { stream, message_id: id.as_deref(), parent: parent.as_deref() };
        match update::plain_text(content) {
            Some(text) if text.is_empty() => {}
            Some(text) => self.on_text(origin, &strip_control_sequences(&text)),
            None => self.on_block(origin, content),
        }
    }

    fn on_tool_call(&mut self, said: Said, update: &Update<'_>) {
        self.version += 1;
        let at = At { order: self.order, epoch: self.epoch, replay: self.replaying };
        if self.tool_calls.apply(said, update, at, &self.limits, &mut self.dropped) {
            self.order += 1;
            self.messages.interrupt();
        }
    }

    fn on_compaction(&mut self, began: Option<bool>) {
        if let Some(began) = began {
            self.version += 1;
            if began {
                self.order += 1;
                self.messages.interrupt();
            }
        }
    }

    fn on_session_message(&mut self, raw: &RawValue) {
        let (mut id, mut patch) = (None, Vec::new());
        members(raw.get(), |key, value| match key {
            "messageId" => id = string(value),
            "senderSessionId" => patch.push(("senderSessionId", value)),
            "recipientSessionId" => patch.push(("recipientSessionId", value)),
            "senderMessageId" => patch.push(("senderMessageId", value)),
            "recipientMessageId" => patch.push(("recipientMessageId", value)),
            "content" => patch.push(("content", value)),
            _ => {}
        });
        let Some(id) = id else { return };
        self.version += 1;
        let start = Start { order: self.order, replay: self.replaying };
        let began = self.messages.patch_session(&id, &patch, start, &self.limits, &mut self.dropped);
        self.order += u64::from(began);
    }

    fn on_session_message_chunk(&mut self, raw: &RawValue) {
        let (mut id, mut content) = (None, None);
        members(raw.get(), |key, value| match key {
            "messageId" => id = string(value),
            "content" => content = Some(value),
            _ => {}
        });
        let (Some(id), Some(content)) = (id, content) else { return };
        self.version += 1;
        let key = Key { role: Role::Session, id: Some(&id), parent: None };
        let start = Start { order: self.order, replay: self.replaying };
        let (limits, dropped) = (&self.limits, &mut self.dropped);
        let began = match update::plain_text(content) {
            Some(text) => self.messages.push_text(key, &strip_control_sequences(&text), start, limits, dropped),
            None => self.messages.push_block(key, content, start, limits, dropped),
        };
        self.order += u64::from(began);
    }

    fn begin_epoch(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }
}

/// The id of a `plan_removed`; older schemas call it `id`.
fn plan_id(raw: &RawValue) -> Option<String> {
    let (mut id, mut old_id) = (None, None);
    members(raw.get(), |key, value| match key {
        "planId" => id = string(value),
        "id" => old_id = string(value),
        _ => {}
    });
    id.or(old_id).map(|id| id.0.into_owned())
}

impl Serialize for SessionState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("version", &self.version)?;
        map.serialize_entry("messages", &self.messages)?;
        map.serialize_entry("toolCalls", &self.tool_calls)?;
        map.serialize_entry("plans", &self.plans)?;
        map.serialize_entry("compactions", &self.compactions)?;
        map.serialize_entry("cursors", &self.cursors)?;
        self.settings.serialize(&mut map)?;
        self.context.serialize(&mut map)?;
        if let Some(usage) = &self.usage {
            map.serialize_entry("usage", usage)?;
        }
        map.serialize_entry("subagents", &self.subagents)?;
        map.serialize_entry("dropped", &self.dropped())?;
        map.end()
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
