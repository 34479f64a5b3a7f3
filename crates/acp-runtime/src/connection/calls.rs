//! Our side of the conversation: calls, turns, cancels, and the responses that end them.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::state::{State, Winding};
use super::stop_reason::{checked_result, finish_turn};
use super::{CallOptions, CancelState, Command};
use crate::bridge::CallsClosed;
use crate::error::{Error, ErrorCode, Phase, Result};
use crate::pending::{Asked, Effect, Waiting};
use crate::session::{Due, Session, SessionSpec, Turn};
use crate::trace::{self, Direction};
use crate::wire::encode;
use crate::wire::envelope::{Outcome, ResponseId};
use crate::wire::rpc_error;

impl State {
    pub(super) fn on_command(&mut self, command: Command) {
        match command {
            Command::Call { id, method, params, options, reply } => {
                let CallOptions { phase, timeout, effect, register, mcp_servers, at_cursor } = options;
                if let Some((session_id, cursor_id)) = at_cursor
                    && let Err(error) = self.check_cursor(&session_id, &cursor_id)
                {
                    reply(Err(error.in_phase(phase)));
                    return;
                }
                if let Err(error) = self.prepare_opening(id, register, mcp_servers) {
                    reply(Err(error.in_phase(phase)));
                    return;
                }
                let effect = match effect {
                    Effect::None => follow(&method, params.as_deref()),
                    effect => effect,
                };
                let deadline = timeout.map(|t| self.now + t);
                let reply = Some(reply);
                let waiting = Waiting {
                    method: method.clone(),
                    phase,
                    deadline,
                    effect,
                    reply,
                    written: false,
                    asked: Asked::default(),
                };
                self.pending.register(id, waiting);
                self.write_call(id, &method, params.as_deref());
            }
            Command::Notify { method, params } => {
                self.write(|out| encode::notification(out, &method, params.as_deref()));
            }
            Command::Prompt { call, session_id, params, options, reply } => {
                match self.sessions.touch(&session_id).map(|s| (s.turn.is_some(), s.owed.is_some())) {
                    None => reply(Err(no_session(&session_id))),
                    Some((true, _)) => {
                        reply(Err(prompt_error(ErrorCode::TurnInProgress, "the session already runs a turn")));
                    }
                    Some((_, true)) => {
                        let why = "the agent has not ended the previous turn yet";
                        reply(Err(prompt_error(ErrorCode::SessionUnusable, why)));
                    }
                    Some((false, false)) => {
                        self.begin_turn(session_id, call, &params, Turn::new(call, options, self.now, reply));
                    }
                }
            }
            Command::Cancel { session_id, grace, done } => {
                if self.cancel_turn(&session_id, grace) {
                    self.cancels.push((session_id, done));
                } else {
                    let _ = done.send(CancelState::Idle);
                }
            }
            Command::NotifyMcp { key, method, params } => self.notify_mcp(&key, &method, params.as_deref()),
            Command::CancelChild { session_id, child, done } => drop(done.send(self.cancel_child(&session_id, &child))),
            Command::Abandon { call, error } => self.abandon(call, error),
            Command::DropSession { session_id, of } => {
                // Whoever lets go of a session may only drop his own: its id can be another one's by now.
                let owned = |session: &Session| {
                    of.as_ref().is_none_or(|of| session.outbox().is_some_and(|outbox| Arc::ptr_eq(outbox, of)))
                };
                let Some(session) = self.sessions.get_mut(&session_id) else { return };
                session.former.take_if(|former| owned(former));
                if owned(session) {
                    self.give_up_opening(&session_id);
                }
            }
            Command::Wind { grace, done } => {
                for session_id in self.sessions.ids() {
                    self.cancel_turn(&session_id, grace);
                }
                self.refuse_open_requests();
                self.winding = Some(Winding { deadline: self.now + grace, done });
            }
            Command::Stop { error } => self.stop = Some(error),
        }
    }

    fn begin_turn(&mut self, session_id: String, call: u64, params: &RawValue, turn: Turn) {
        if let Some(session) = self.sessions.touch(&session_id) {
            session.begin_turn(turn);
        }
        let waiting = Waiting {
            method: "session/prompt".to_owned(),
            phase: Phase::Prompt,
            deadline: None,
            effect: Effect::EndTurn(session_id),
            reply: None,
            written: false,
            asked: Asked::default(),
        };
        self.pending.register(call, waiting);
        self.write_call(call, "session/prompt", Some(params));
    }

    /// Asks the agent to end the running turn. `false`: there is none.
    fn cancel_turn(&mut self, session_id: &str, grace: Duration) -> bool {
        let now = self.now;
        let Some(turn) = self.sessions.get_mut(session_id).and_then(|s| s.turn.as_mut()) else { return false };
        if turn.request_cancel(now, grace) {
            self.send_cancel(session_id);
            if let Some(session) = self.sessions.get_mut(session_id) {
                session.on_cancel();
            }
        }
        true
    }

    /// Asks the agent to end what a child session does, and nothing else (rule C40). It has no turn of ours that could end.
    fn cancel_child(&mut self, session_id: &str, child: &str) -> Result<()> {
        let Some(session) = self.sessions.get_mut(session_id) else { return Err(no_session(session_id)) };
        if self.children.cancel(child, session_id)? {
            session.on_cancel_child(child);
            self.cancel_permissions_of_child(child);
            self.write_cancel(child);
        }
        Ok(())
    }

    /// `session/cancel`, and the answer `cancelled` to every permission request of the session (rule C43).
    fn send_cancel(&mut self, session_id: &str) {
        self.cancel_permissions(session_id);
        self.write_cancel(session_id);
    }

    fn write_cancel(&mut self, session_id: &str) {
        match encode::raw(&json!({ "sessionId": session_id })) {
            Ok(params) => self.write(|out| encode::notification(out, "session/cancel", Some(&params))),
            Err(error) => tracing::error!(target: "acp::session", %error, "a cancel could not be encoded"),
        }
    }

    fn abandon(&mut self, call: u64, error: Error) {
        if let Some((reply, phase)) = self.pending.abandon(call) {
            // A session that nobody waits for any more is not kept for a late response.
            if let Some(Effect::SessionReady(session_id)) = self.pending.get_mut(call).map(|c| &c.effect) {
                let session_id = session_id.clone();
                if self.opened_by(&session_id, call) {
                    self.give_up_opening(&session_id);
                }
            }
            self.forget_mcp_of_call(call);
            reply(Err(error.in_phase(phase)));
            if let Ok(params) = encode::raw(&json!({ "requestId": call })) {
                self.write(|out| encode::notification(out, "$/cancel_request", Some(&params)));
            }
        }
    }

    pub(super) fn answer_cancels(&mut self, session_id: &str, state: CancelState) {
        for (_, done) in self.cancels.extract_if(.., |(id, _)| id == session_id) {
            let _ = done.send(state);
        }
    }

    pub(super) fn on_response(&mut self, id: ResponseId, outcome: &Outcome<'_>) {
        let (ResponseId::Exact(call) | ResponseId::Quirk(call)) = id else {
            self.shared.diagnostics.unknown_response(1);
            return;
        };
        let Some(mut waiting) = self.pending.complete(call) else {
            self.shared.diagnostics.unknown_response(1);
            return;
        };
        if matches!(id, ResponseId::Quirk(_)) {
            self.shared.diagnostics.quirk(1);
        }
        let result = self.read_outcome(outcome, &waiting.method);
        match std::mem::replace(&mut waiting.effect, Effect::None) {
            Effect::EndTurn(session_id) => self.on_turn_response(&session_id, call, result),
            // Nobody waits any more. A session that opened for nobody is closed again.
            effect @ (Effect::None | Effect::Follow { .. } | Effect::OpenSession(_) | Effect::SessionReady(_))
                if waiting.reply.is_none() =>
            {
                self.shared.diagnostics.late_response(1);
                self.on_unwanted(effect, result.as_deref());
            }
            Effect::None => waiting.answer(result),
            Effect::Ignored => {}
            Effect::Follow { session_id, mode_id } => {
                if let (Ok(raw), Some(session)) = (&result, self.sessions.get_mut(&session_id)) {
                    session.with_state(|state| match &mode_id {
                        Some(mode_id) => state.on_mode(mode_id),
                        None => state.on_result(raw),
                    });
                }
                waiting.answer(result);
            }
            Effect::OpenSession(spec) => self.on_session_named(waiting, call, &spec, result),
            Effect::SessionReady(session_id) => self.on_session_ready(waiting, call, &session_id, result),
            Effect::CloseSession(session_id) => {
                if result.is_ok() {
                    self.drop_session(&session_id);
                }
                waiting.answer(result);
            }
        }
        if !self.pending.opens_session() {
            let lost = self.early.clear();
            self.shared.diagnostics.dropped_update(lost as u64);
        }
    }

    fn read_outcome(&self, outcome: &Outcome<'_>, method: &str) -> Result<Box<RawValue>> {
        match outcome {
            Outcome::Result(raw) => Ok((*raw).to_owned()),
            Outcome::Error(raw) => {
                Err(rpc_error::read(raw, method, self.shared.auth_methods.get(), &*self.options.redact))
            }
            Outcome::Malformed(why) => Err(Error::new(
                ErrorCode::MalformedResponse,
                format!("the agent's response to {method} is malformed: {why}"),
            )),
        }
    }

    fn on_turn_response(&mut self, session_id: &str, call: u64, result: Result<Box<RawValue>>) {
        let Some(session) = self.sessions.touch(session_id) else { return };
        if session.owed == Some(call) {
            session.owed = None;
            self.shared.diagnostics.late_response(1);
            return;
        }
        let now = self.now;
        let Some(turn) = session.turn.as_mut().filter(|turn| turn.call == call) else { return };
        let result = match result.and_then(checked_result) {
            Ok(raw) => match turn.on_result(raw, now) {
                Some(raw) => Ok(raw),
                // Settling.
                None => return,
            },
            Err(error) => Err(error),
        };
        let raw = result.as_deref().ok();
        let Some(turn) = self.take_turn(session_id, CancelState::Cancelled, raw) else { return };
        match result {
            Ok(raw) => finish_turn(turn, raw),
            // The agent was to say `cancelled`; some say it with an error (rule C48).
            Err(_) if turn.cancel_requested() => turn.finish(Some("cancelled".to_owned()), None, false),
            Err(error) => turn.fail(sent(error)),
        }
    }

    /// Ends the session's turn: its last events are published and its open questions answered before its caller hears.
    fn take_turn(&mut self, session_id: &str, state: CancelState, result: Option<&RawValue>) -> Option<Turn> {
        self.cancel_permissions(session_id);
        if !self.halves.is_empty() {
            self.settle_halves_of_session(session_id);
        }
        let session = self.sessions.touch(session_id)?;
        let cancelled = session.turn.as_ref().is_some_and(Turn::cancel_requested);
        let why = if cancelled { CallsClosed::Cancelled } else { CallsClosed::TurnEnded };
        let turn = session.end_turn(why, result)?;
        session.publish();
        self.children.settle(session_id);
        self.answer_cancels(session_id, state);
        Some(turn)
    }

    /// Acts on whatever is due now.
    pub(super) fn on_timer(&mut self) {
        for call in self.pending.expired(self.now) {
            let method = self.pending.get_mut(call).map(|c| c.method.clone()).unwrap_or_default();
            self.abandon(call, Error::new(ErrorCode::Timeout, format!("{method} was not answered in time")));
        }
        let (now, heard) = (self.now, self.blocked.is_empty());
        let due: Vec<_> = self
            .sessions
            .iter_mut()
            .filter_map(|s| {
                s.turn.as_ref().and_then(|t| Some((s.id.clone(), t.call, t.due(now, heard)?, t.cancel_requested())))
            })
            .collect();
        for (session_id, call, due, cancel_sent) in due {
            if due == Due::Settled {
                if let Some(mut turn) = self.take_turn(&session_id, CancelState::Cancelled, None) {
                    match turn.take_result() {
                        Some(result) => finish_turn(turn, result),
                        None => turn.finish(None, None, false),
                    }
                }
                continue;
            }
            if !cancel_sent {
                self.send_cancel(&session_id);
            }
            let Some(turn) = self.take_turn(&session_id, CancelState::Forced, None) else { continue };
            if let Some(session) = self.sessions.get_mut(&session_id) {
                session.owed = Some(call);
            }
            let limit = turn.limit(due).as_millis();
            match due {
                Due::ForceCancel | Due::Settled => turn.finish(Some("cancelled".to_owned()), None, true),
                Due::TimedOut => {
                    turn.fail(sent(prompt_error(
                        ErrorCode::Timeout,
                        &format!("the turn did not end within {limit} ms"),
                    )));
                }
                Due::Stalled => {
                    let why = format!("the agent sent nothing for {limit} ms in a running turn");
                    turn.fail(sent(prompt_error(ErrorCode::TurnStalled, &why)));
                }
            }
        }
    }

    /// When [`State::on_timer`] is next needed.
    pub(super) fn next_deadline(&mut self) -> Option<Instant> {
        let heard = self.blocked.is_empty();
        let turns = self.sessions.iter_mut().filter_map(|s| s.turn.as_ref().and_then(|t| t.next_deadline(heard))).min();
        [turns, self.pending.next_deadline(), self.winding.as_ref().map(|w| w.deadline)].into_iter().flatten().min()
    }

    pub(super) fn write_call(&mut self, id: u64, method: &str, params: Option<&RawValue>) {
        self.write(|out| encode::request(out, id, method, params));
        self.unwritten.push((id, self.out.len()));
    }

    /// Appends to the output. After stdin was closed there is nobody to tell.
    pub(super) fn write(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.input_closed {
            return;
        }
        let start = self.out.len();
        encode(&mut self.out);
        if let Some(tap) = &self.options.tap {
            trace::show(tap, &*self.options.redact, Direction::ToAgent, &self.out[start..]);
        }
    }
}

/// What a successful call changes in what is known of its session.
fn follow(method: &str, params: Option<&RawValue>) -> Effect<SessionSpec> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        session_id: String,
        mode_id: Option<Box<RawValue>>,
    }
    if !matches!(method, "session/set_mode" | "session/set_config_option" | "session/set_title") {
        return Effect::None;
    }
    match params.and_then(|params| serde_json::from_str::<Params>(params.get()).ok()) {
        Some(Params { session_id, mode_id }) => Effect::Follow { session_id, mode_id },
        None => Effect::None,
    }
}

pub(super) fn prompt_error(code: ErrorCode, message: &str) -> Error {
    Error::new(code, message).in_phase(Phase::Prompt)
}

/// The prompt is in the agent's hands, or may be.
pub(super) fn sent(error: Error) -> Error {
    let mut error = error.in_phase(Phase::Prompt);
    error.details_mut().prompt_may_have_been_sent = true;
    error
}

fn no_session(session_id: &str) -> Error {
    let shown: String = session_id.chars().take(64).collect();
    prompt_error(ErrorCode::SessionUnusable, &format!("no open session has the id {shown}"))
}
