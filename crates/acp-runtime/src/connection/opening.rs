//! How sessions come and go: opened by the agent's answer, or registered before the call that reopens them.
//!
//! A session has one owner: whoever opened it. A call that reopens one takes its id at once, since its history comes before
//! its answer, and gives it back when it fails or is let go; a second call for the same id is refused meanwhile. So the end
//! of one call never takes away what another one opened.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::CancelState;
use super::calls::{prompt_error, sent};
use super::state::State;
use super::stop_reason::finish_turn;
use crate::bridge::CallsClosed;
use crate::error::{Error, ErrorCode, Phase, Result};
use crate::pending::{Asked, Effect, Waiting};
use crate::session::{MAX_SESSION_ID_BYTES, Session, SessionSpec};
use crate::wire::encode;

impl State {
    /// What has to be there before the call that opens a session goes out: the session, where its id is known, and its MCP
    /// servers, which the agent may use at once.
    pub(super) fn prepare_opening(
        &mut self,
        call: u64,
        register: Option<(String, SessionSpec)>,
        mcp_servers: Vec<String>,
    ) -> Result<()> {
        let Some((session_id, spec)) = register else { return self.mcp.offer(mcp_servers, call, None) };
        self.register_session(call, session_id.clone(), &spec)?;
        let offered = self.mcp.offer(mcp_servers, call, Some(&session_id));
        if offered.is_err() {
            self.give_up_opening(&session_id);
        }
        offered
    }

    /// Takes the id of a session for the call that is about to reopen it.
    fn register_session(&mut self, call: u64, session_id: String, spec: &SessionSpec) -> Result<()> {
        let mut former = None;
        if let Some(session) = self.sessions.get_mut(&session_id) {
            let idle = session.turn.is_none() && session.owed.is_none();
            let opener = session.opened_by;
            let opening = self.pending.get_mut(opener).is_some();
            if !spec.take_over || opening || !idle {
                let how = if opening { "being opened" } else { "open" };
                let why = format!("the session is already {how}; use that one, or close it first");
                return Err(Error::new(ErrorCode::SessionAlreadyOpen, why));
            }
            former = self.set_aside(&session_id);
        }
        self.make_way(&session_id);
        self.announce_session(&session_id, spec.cwd.as_ref());
        let mut session = Session::new(session_id, spec);
        session.opened_by = call;
        session.former = former.map(Box::new);
        // A resumed session needs no history (rule C23), but some agents repeat it, and it is history all the same.
        session.set_replaying(true);
        self.add_session(session);
        Ok(())
    }

    /// An agent only takes a cursor that it announced on the session, and that can be forked at now.
    pub(super) fn check_cursor(&mut self, session_id: &str, cursor_id: &str) -> Result<()> {
        let Some(session) = self.sessions.get_mut(session_id) else {
            let why = "only a session that is open here has cursors that are known";
            return Err(Error::invalid_argument(why));
        };
        if session.can_fork_at(cursor_id) {
            return Ok(());
        }
        let why = "the agent does not let the session be forked at this cursor";
        let extra = json!({ "capability": "fork", "method": "session/fork" });
        Err(Error::new(ErrorCode::UnsupportedCapability, why).with_extra(extra))
    }

    /// Whether this call registered the session that has the id now.
    pub(super) fn opened_by(&mut self, session_id: &str, call: u64) -> bool {
        self.sessions.get_mut(session_id).is_some_and(|session| session.opened_by == call)
    }

    /// The answer to a call that opens a session whose id the agent chooses.
    pub(super) fn on_session_named(
        &mut self,
        mut waiting: Waiting<SessionSpec>,
        call: u64,
        spec: &SessionSpec,
        result: Result<Box<RawValue>>,
    ) {
        match result.and_then(|raw| session_id_of(&raw).map(|id| (raw, id))) {
            Ok((raw, session_id)) => {
                self.make_way(&session_id);
                self.unclosed.remove(&session_id);
                self.announce_session(&session_id, spec.cwd.as_ref());
                let session = Session::new(session_id.clone(), spec);
                session.with_state(|state| state.on_result(&raw));
                self.add_session(session);
                self.hand_over_mcp(call, &session_id);
                let forked = waiting.method == "session/fork";
                // The host hears of the session before its first update.
                waiting.answer(Ok(raw));
                self.set_replaying(&session_id, forked);
                self.replay_early(&session_id);
                self.set_replaying(&session_id, false);
            }
            Err(error) => {
                self.forget_mcp_of_call(call);
                waiting.answer(Err(error));
            }
        }
    }

    fn set_replaying(&mut self, session_id: &str, replaying: bool) {
        if let Some(session) = self.sessions.touch(session_id) {
            session.set_replaying(replaying);
        }
    }

    /// The answer to a call that reopens a session.
    pub(super) fn on_session_ready(
        &mut self,
        mut waiting: Waiting<SessionSpec>,
        call: u64,
        session_id: &str,
        result: Result<Box<RawValue>>,
    ) {
        let own = self.opened_by(session_id, call);
        let result = match result {
            Ok(raw) if own => {
                self.unclosed.remove(session_id);
                let mut former = None;
                if let Some(session) = self.sessions.touch(session_id) {
                    session.set_replaying(false);
                    session.with_state(|state| state.on_result(&raw));
                    session.publish();
                    former = session.former.take();
                }
                if let Some(former) = former {
                    self.retire(*former, "the session was opened anew");
                }
                Ok(raw)
            }
            Ok(_) => Err(Error::new(ErrorCode::SessionUnusable, GIVEN_AWAY)),
            Err(error) => {
                if own {
                    self.give_up_opening(session_id);
                    self.close_unwanted(session_id);
                }
                Err(error)
            }
        };
        waiting.answer(result);
    }

    /// The answer to a call that nobody waits for any more. A session that it opened is closed again.
    pub(super) fn on_unwanted(&mut self, effect: Effect<SessionSpec>, result: Result<&RawValue, &Error>) {
        let succeeded = result.is_ok();
        let session_id = match effect {
            Effect::OpenSession(_) => result.ok().and_then(|raw| session_id_of(raw).ok()),
            Effect::SessionReady(session_id) => Some(session_id),
            _ => None,
        };
        let Some(session_id) = session_id else { return };
        // One that is open by now is in use, and closed by whoever uses it.
        let opener = self.sessions.get_mut(&session_id).map(|session| session.opened_by);
        if succeeded && opener.is_none_or(|call| self.pending.get_mut(call).is_some()) {
            self.unclosed.insert(session_id.clone());
        }
        self.close_unwanted(&session_id);
    }

    /// Closes a session that the agent opened for nobody, where the agent can; not while somebody opens it anew.
    fn close_unwanted(&mut self, session_id: &str) {
        if self.sessions.get_mut(session_id).is_some() || !self.unclosed.remove(session_id) {
            return;
        }
        if !self.shared.capabilities.get().is_some_and(|c| c.allows_method("session/close")) {
            return;
        }
        let Ok(params) = encode::raw(&json!({ "sessionId": session_id })) else { return };
        let waiting = Waiting {
            method: "session/close".to_owned(),
            phase: Phase::Session,
            deadline: None,
            effect: Effect::Ignored,
            reply: None,
            written: false,
            asked: Asked::default(),
        };
        let call = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        self.pending.register(call, waiting);
        self.write_call(call, "session/close", Some(&params));
    }

    fn announce_session(&self, session_id: &str, cwd: Option<&PathBuf>) {
        if let Some(cwd) = cwd {
            self.options.services.session_opened(session_id, cwd);
        }
    }

    pub(super) fn drop_session(&mut self, session_id: &str) {
        self.end_session(session_id, "the session was closed");
    }

    /// A call that was to reopen a session failed, or nobody waits for it. Whoever had the id before has it again.
    pub(super) fn give_up_opening(&mut self, session_id: &str) {
        let former = self.sessions.get_mut(session_id).and_then(|session| session.former.take());
        self.drop_session(session_id);
        if let Some(former) = former {
            self.announce_session(session_id, former.cwd.as_ref());
            self.add_session(*former);
        }
    }

    fn end_session(&mut self, session_id: &str, why: &str) {
        if let Some(session) = self.set_aside(session_id) {
            self.retire(session, why);
        }
    }

    /// Everything that a session has ends; it itself can come back.
    fn set_aside(&mut self, session_id: &str) -> Option<Session> {
        self.take_back_of_session(session_id);
        self.forget_mcp_of_session(session_id);
        self.options.services.session_closed(session_id);
        self.forget_halves_of_session(session_id);
        self.children.forget(session_id);
        let session = self.sessions.remove(session_id)?;
        self.shared.states().remove(session_id);
        Some(session)
    }

    /// A session is about to get this id. An agent that names one twice takes it away from whoever had it.
    fn make_way(&mut self, session_id: &str) {
        if self.sessions.get_mut(session_id).is_some() {
            self.end_session(session_id, GIVEN_AWAY);
        }
        // It may have been the id of a child session, too.
        self.forget_halves_of_session(session_id);
        self.children.forget(session_id);
    }

    /// A new session, whose id is free.
    fn add_session(&mut self, session: Session) {
        if let Some(state) = session.state().cloned() {
            self.shared.states().insert(session.id.clone(), state);
        }
        self.sessions.insert(session);
    }

    fn retire(&mut self, mut session: Session, why: &str) {
        let turn = session.end_turn(CallsClosed::Cancelled, None);
        session.on_end();
        if let Some(mut turn) = turn {
            session.publish();
            match turn.take_result() {
                // The agent has ended it; it was only waiting for stragglers.
                Some(result) => finish_turn(turn, result),
                None => turn.fail(sent(prompt_error(ErrorCode::SessionUnusable, why))),
            }
        }
        self.answer_cancels(&session.id, CancelState::Forced);
    }
}

const GIVEN_AWAY: &str = "the agent gave the session's id away";

/// The session id of a `session/new` result. It must be a string that can be sent back.
///
/// # Errors
/// `malformed_response` for any other.
pub fn session_id_of(raw: &RawValue) -> Result<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NewSession {
        session_id: String,
    }
    let malformed = |why| Error::new(ErrorCode::MalformedResponse, format!("the agent's new session {why}"));
    let new: NewSession = serde_json::from_str(raw.get()).map_err(|_| malformed("has no string sessionId"))?;
    if new.session_id.is_empty() || new.session_id.len() > MAX_SESSION_ID_BYTES {
        return Err(malformed("has an empty or overlong sessionId"));
    }
    // It is shown, logged and sent back as it is: cleaned, it would be another id.
    if new.session_id.contains(char::is_control) {
        return Err(malformed("has control characters in its sessionId"));
    }
    Ok(new.session_id)
}
