//! A session as its connection sees it: how its updates are viewed, the running turn, and what is staged for the host.

mod state;
mod text;
mod turn;
mod usage;
mod view;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::value::RawValue;

use state::Cursors;
pub use state::{Announced, Dropped, Limits, SessionState, SharedState};
pub(crate) use state::{MAX_SESSION_ID_BYTES, meta_parent};
pub use text::{DEFAULT_TURN_TEXT_UNITS, TurnText};
pub use turn::{Due, Turn, TurnOptions, TurnOutcome, TurnReply};
pub use usage::{Context, Scope, Source, Tokens, Usage};
pub use view::ViewKind;

use crate::bridge::CallsClosed;
use crate::delivery::{Kind, Outbox, Slab};
use crate::error;
use crate::services::permission::tool_calls::ToolCallPatch;
use crate::wire::chunk::Chunk;
use crate::wire::update::{self, Notified};
use view::{Target, View};

/// A stage larger than this is published before the batch ends, in bytes.
const STAGE_BYTES: usize = 256 * 1024;

/// How a new session starts.
#[derive(Clone, Debug)]
pub struct SessionSpec {
    /// What the host gets to see.
    pub view: ViewKind,
    /// Where it gets it. `None`: nowhere; only the turn's text is kept.
    pub outbox: Option<Arc<Outbox>>,
    /// Whether everything it says is merged into a [`SessionState`] that can be read at any time. Needs the events view.
    pub state: bool,
    /// The session's directory, filled in from the request that opens it.
    pub cwd: Option<PathBuf>,
    /// Whether the conversation that is repeated while the session is reopened is left out. What tells how the session
    /// stands is not.
    pub discard_replay: bool,
    /// Whether an idle session that has the id already makes way for this one, and has it again when the opening fails. For
    /// hosts whose sessions have no owner but their id. Otherwise a second opening is refused.
    pub take_over: bool,
}

impl SessionSpec {
    /// A session that is told nowhere, with nothing that is not the usual.
    pub const fn new(view: ViewKind) -> Self {
        Self { view, outbox: None, state: false, cwd: None, discard_replay: false, take_over: false }
    }
}

/// One session.
#[derive(Debug)]
pub struct Session {
    /// As the agent named it.
    pub id: String,
    /// The running turn.
    pub turn: Option<Turn>,
    /// The call whose late response a forced or timed-out turn still owes. While it is owed the session takes no turn.
    pub owed: Option<u64>,
    /// The call that registered it before it was open; 0: the agent named it in an answer.
    pub opened_by: u64,
    /// The one that it takes the place of, until it is open.
    pub former: Option<Box<Session>>,
    /// Its directory, where the host named one.
    pub cwd: Option<PathBuf>,
    view: View,
    outbox: Option<Arc<Outbox>>,
    stage: Slab,
    state: Option<Arc<SharedState>>,
    /// Where no state is kept, what has to be known all the same.
    cursors: Cursors,
    replaying: bool,
    discard_replay: bool,
}

impl Session {
    /// A session without a turn.
    pub fn new(id: String, spec: &SessionSpec) -> Self {
        Self {
            id,
            turn: None,
            owed: None,
            opened_by: 0,
            former: None,
            cwd: spec.cwd.clone(),
            view: View::new(spec.view),
            outbox: spec.outbox.clone(),
            stage: Slab::default(),
            state: (spec.state && spec.view == ViewKind::Events).then(SharedState::new),
            cursors: Cursors::default(),
            replaying: false,
            discard_replay: spec.discard_replay,
        }
    }

    /// Following updates repeat history (rule C22) until this is called with `false`.
    pub fn set_replaying(&mut self, replaying: bool) {
        if replaying == self.replaying {
            return;
        }
        if self.outbox.is_some() {
            self.stage.push(Kind::Replay, if replaying { "true" } else { "false" });
        }
        self.replaying = replaying;
        self.with_state(|state| state.set_replaying(replaying));
    }

    /// A text chunk. `whole` is its update with all that it says, read only where the view needs it.
    pub fn on_chunk<'r>(
        &mut self,
        child: Option<&str>,
        chunk: &Chunk<'_>,
        whole: impl FnOnce() -> Option<Notified<'r>>,
    ) {
        let discarded = self.replaying && self.discard_replay;
        let (view, mut target) = self.target(child);
        target.shown &= !discarded;
        view.on_chunk(chunk, whole, &mut target);
    }

    /// Any other update. Gives back what it announces of a child session.
    pub fn on_update(&mut self, child: Option<&str>, update: &Notified<'_>) -> Option<Announced> {
        if self.state.is_none()
            && child.is_none()
            && tag_of(update) == Some("cursor_update")
            && let Some(raw) = update.raw.value()
        {
            self.cursors.update(raw, &Limits::default(), &mut Dropped::default());
        }
        let discarded = self.replaying && self.discard_replay && !tells_state(update);
        let (view, mut target) = self.target(child);
        target.shown &= !discarded;
        view.on_update(update, &mut target)
    }

    fn target<'a>(&'a mut self, child: Option<&'a str>) -> (&'a mut View, Target<'a>) {
        // What a child says is no part of the turn's text.
        let text = if self.replaying || child.is_some() { None } else { self.turn.as_mut().map(|t| &mut t.text) };
        let (shown, replaying) = (self.outbox.is_some(), self.replaying);
        let state = self.state.as_deref().map(SharedState::lock);
        (&mut self.view, Target { stage: &mut self.stage, shown, text, replaying, state, child })
    }

    /// The state, where it is kept.
    pub fn state(&self) -> Option<&Arc<SharedState>> {
        self.state.as_ref()
    }

    /// Changes the state, where it is kept.
    pub(crate) fn with_state(&self, change: impl FnOnce(&mut SessionState)) {
        if let Some(state) = &self.state {
            change(&mut state.lock());
        }
    }

    /// Whether the agent lets the session be forked at a cursor that it announced.
    pub fn can_fork_at(&self, cursor_id: &str) -> bool {
        match &self.state {
            Some(state) => state.lock().cursors().can_fork(cursor_id),
            None => self.cursors.can_fork(cursor_id),
        }
    }

    /// A cancel went to the agent: tool calls that run count as cancelled at once (rule C44).
    pub fn on_cancel(&self) {
        self.with_state(SessionState::cancel_open_calls);
    }

    /// The same for a child session alone.
    pub fn on_cancel_child(&self, child: &str) {
        self.with_state(|state| state.on_child(child, SessionState::cancel_open_calls));
    }

    /// Nothing follows: the session was closed, or the agent is gone.
    pub fn on_end(&self) {
        self.with_state(SessionState::end);
    }

    /// Starts a turn.
    pub fn begin_turn(&mut self, turn: Turn) {
        self.view.begin_turn();
        self.with_state(SessionState::begin_turn);
        self.turn = Some(turn);
        if self.outbox.is_some() {
            self.stage.push(Kind::Turn, "true");
        }
    }

    /// Takes the running turn, whose end events are staged before its caller hears of it. `result`: that of its prompt.
    pub fn end_turn(&mut self, why: CallsClosed, result: Option<&RawValue>) -> Option<Turn> {
        let usage = {
            let turn = self.turn.as_ref()?;
            self.view.usage.end_turn(result.or(turn.held_result()))
        };
        let (view, mut target) = self.target(None);
        view.end_turn(why, &mut target);
        drop(target);
        if self.outbox.is_some() {
            self.stage.push(Kind::Turn, "false");
        }
        self.with_state(|state| state.end_turn(usage.as_ref()));
        let mut turn = self.turn.take()?;
        turn.usage = usage;
        Some(turn)
    }

    /// Whether enough is staged that it should go out before the batch ends.
    pub fn should_publish(&self) -> bool {
        self.stage.bytes() >= STAGE_BYTES
    }

    /// Publishes what is staged. Returns the outbox if its host has fallen behind.
    pub fn publish(&mut self) -> Option<&Arc<Outbox>> {
        let outbox = self.outbox.as_ref()?;
        outbox.publish(&mut self.stage);
        outbox.is_full().then_some(outbox)
    }

    /// Where its host listens.
    pub fn outbox(&self) -> Option<&Arc<Outbox>> {
        self.outbox.as_ref()
    }

    /// Merges what a permission request says of a tool call with everything said of it so far. `params` are those of the
    /// request, `child` is the child session that asks.
    pub fn merge_tool_call(&mut self, child: Option<&str>, patch: &ToolCallPatch<'_>, params: &RawValue) {
        self.with_state(|state| {
            if let Some(asked) = update::asked_tool_call(params) {
                match child {
                    Some(child) => state.on_child(child, |state| state.on_question(&asked)),
                    None => state.on_question(&asked),
                }
            }
        });
        self.view.merge_tool_call(child, patch);
    }

    /// What is known of a tool call, as its host may show it.
    pub fn show_tool_call(&mut self, child: Option<&str>, id: &str) -> error::Result<Box<RawValue>> {
        self.view.show_tool_call(child, id)
    }
}

fn tag_of<'u>(update: &'u Notified<'_>) -> Option<&'u str> {
    update.members.as_ref().and_then(|members| members.tag.as_deref())
}

/// Whether an update tells how the session stands now, rather than what was said in it.
fn tells_state(update: &Notified<'_>) -> bool {
    tag_of(update).is_some_and(|tag| {
        matches!(
            tag,
            "available_commands_update"
                | "current_mode_update"
                | "config_option_update"
                | "session_info_update"
                | "usage_update"
                | "cursor_update"
        )
    })
}
