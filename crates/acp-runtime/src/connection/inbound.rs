//! The agent's side of the conversation: its requests, each answered exactly once (rule C7), and its notifications.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::task::Poll;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::mcp::McpKey;
use super::open_requests::{Asks, Finished, Open, PANICKED};
use super::state::State;
use crate::pending::Effect;
use crate::port::{BoxFuture, PermissionDecision, PermissionRequest};
use crate::services::elicitation::{self, Elicitation, Modes};
use crate::services::permission::{Floor, Outcome, PermissionOption, Several, request, resolve_decision};
use crate::session::Turn;
use crate::text::bound::DEFAULT_IDENTIFIER_MAX;
use crate::text::sanitize::sanitized;
use crate::wire::encode::{self, Answer, AnswerError, code};

/// The longest method outside the protocol, in bytes.
const MAX_METHOD_BYTES: usize = 256;

/// URL elicitations whose completion may still be told. An agent with more of them loses the oldest.
const MAX_ELICITATIONS: usize = 256;

const WAIT_FOR_EXIT: &str = "terminal/wait_for_exit";

/// What answers a request.
pub(super) enum Handler {
    /// The answer is known.
    Known(Answer),
    /// Somebody is asked.
    Asked(Question, BoxFuture<Answer>),
}

/// What is known of a question that waits.
pub(super) struct Question {
    asks: Asks,
    /// The open session that it belongs to.
    session_id: Option<String>,
    /// The child session that asks.
    child: Option<String>,
    /// The call of ours that it names.
    call: Option<u64>,
    /// The id of a URL elicitation.
    elicitation: Option<String>,
    /// The request to an MCP server that it is.
    mcp: Option<McpKey>,
}

impl Question {
    fn of(asks: Asks, session_id: Option<String>) -> Self {
        Self { asks, session_id, child: None, call: None, elicitation: None, mcp: None }
    }

    pub(super) fn of_mcp(key: McpKey, session_id: Option<String>, call: Option<u64>) -> Self {
        Self { mcp: Some(key), call, ..Self::of(Asks::Other, session_id) }
    }
}

/// Calls into the host's code on the connection's own task, which must survive it.
pub(super) fn guard<T>(call: impl FnOnce() -> T) -> Result<T, AnswerError> {
    // Nothing of ours is changed in there: what the host's code leaves half done is its own.
    catch_unwind(AssertUnwindSafe(call)).map_err(|_| AnswerError::new(code::INTERNAL_ERROR, PANICKED))
}

/// The host's decision; a denial where its code panics.
async fn or_deny(mut decision: BoxFuture<PermissionDecision>) -> PermissionDecision {
    poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| decision.as_mut().poll(context)))
            .unwrap_or(Poll::Ready(PermissionDecision::Deny))
    })
    .await
}

impl State {
    pub(super) fn on_request(&mut self, id: &str, method: &str, params: Option<&RawValue>) {
        let bytes = id.len() + params.map_or(0, |params| params.get().len());
        match self.handler(method, params, bytes) {
            Ok(Handler::Known(answer)) => self.write(|out| encode::response(out, id, &answer)),
            Ok(Handler::Asked(question, future)) => {
                self.hold_back(question.session_id.as_deref());
                let about = question.call.filter(|&call| self.pending.get_mut(call).is_some());
                let about = about.or_else(|| self.call_of_session(question.session_id.as_deref()?));
                // A command of its own explains why a turn is silent; to a call it is no excuse.
                let about = about.filter(|&call| method != WAIT_FOR_EXIT || self.turn(call).is_some());
                self.open_request((id, bytes), question, about, future);
            }
            Err(error) => {
                self.shared.diagnostics.refused_request(1);
                tracing::debug!(target: "acp::connection", method, code = error.code, "refused a request");
                self.write(|out| encode::response(out, id, &Err(error)));
            }
        }
    }

    /// Finds what answers a request of that many bytes.
    fn handler(&mut self, method: &str, params: Option<&RawValue>, bytes: usize) -> Result<Handler, AnswerError> {
        if self.inbound.is_full(bytes) {
            return Err(AnswerError::new(code::INTERNAL_ERROR, "too many requests are open"));
        }
        if self.shared.closing.load(Ordering::Acquire) || self.input_closed {
            if method == "session/request_permission" {
                return Ok(Handler::Known(outcome(&Outcome::Cancelled)));
            }
            return Err(AnswerError::new(code::REQUEST_CANCELLED, "the client is closing"));
        }
        // A child session has no host and no directory of its own: it asks through its parent's.
        let session_id = params.and_then(session_of).map(|id| self.open_session(id));
        if self.options.offers.admit(method).is_none_or(|m| !m.request) {
            let unknown = || AnswerError::method_not_found(method);
            if !(method.starts_with('_') && is_name(method)) {
                return Err(unknown());
            }
            self.flush_for_host(session_id.as_deref());
            let asked = guard(|| self.host.extension_request(session_id.as_deref(), method, params))?;
            return Ok(Handler::Asked(Question::of(Asks::Other, session_id), asked.ok_or_else(unknown)?));
        }
        let params = params.ok_or_else(|| AnswerError::new(code::INVALID_PARAMS, "params are missing"))?;
        if method == "session/request_permission" {
            return self.permission(params);
        }
        if method == "elicitation/create" {
            return self.elicitation(params);
        }
        if method == "mcp/message" {
            return self.mcp_message(params);
        }
        let session_id = session_id.ok_or_else(|| AnswerError::new(code::INVALID_PARAMS, "sessionId is missing"))?;
        if self.sessions.get_mut(&session_id).is_none() {
            return Err(unknown_session(&session_id));
        }
        self.flush_for_host(Some(&session_id));
        let services = &self.options.services;
        let future = guard(|| services.request(&session_id, method, params, &self.host))?
            .ok_or_else(|| AnswerError::method_not_found(method))?;
        let large = matches!(method, "fs/read_text_file" | "terminal/output");
        let asks = if large { Asks::Large } else { Asks::Other };
        Ok(Handler::Asked(Question::of(asks, Some(session_id)), future))
    }

    fn permission(&mut self, params: &RawValue) -> Result<Handler, AnswerError> {
        let asked = request::PermissionRequest::decode(params.get())
            .map_err(|e| AnswerError::new(code::INVALID_PARAMS, e.to_string()))?;
        let session_id = self.open_session(asked.session_id.clone());
        let child = (session_id != asked.session_id).then_some(asked.session_id);
        let options = asked.options;
        let Some(session) = self.sessions.touch(&session_id) else {
            // Whoever asks there, no host of another session is asked in its place: the floor denies.
            self.shared.diagnostics.refused_request(1);
            return Ok(Handler::Known(denial(&options, self.options.floor)));
        };
        session.merge_tool_call(child.as_deref(), &asked.tool_call, params);
        let cancelling = child.as_deref().is_some_and(|child| self.children.cancelling(child));
        if cancelling || session.turn.as_ref().is_some_and(Turn::cancel_requested) {
            // Rule C46.
            return Ok(Handler::Known(outcome(&Outcome::Cancelled)));
        }
        if !self.host.decides_permissions() {
            return Ok(Handler::Known(denial(&options, self.options.floor)));
        }
        // Only now: a call may hold much, and a request that asks about it takes few bytes.
        let tool_call = session.show_tool_call(child.as_deref(), asked.tool_call.id());
        let tool_call = tool_call.map_err(|e| AnswerError::new(code::INTERNAL_ERROR, e.to_string()))?;
        session.publish();
        let child_session_id = child.as_deref().map(|id| sanitized(id, DEFAULT_IDENTIFIER_MAX).into_owned());
        let options_shown = options.clone();
        let session_shown = session_id.clone();
        let request =
            PermissionRequest { session_id: session_shown, child_session_id, tool_call, options: options_shown };
        // A host that fails denies.
        let decision = guard(|| self.host.permission(request))
            .unwrap_or_else(|_| Box::pin(std::future::ready(PermissionDecision::Deny)));
        let floor = self.options.floor;
        let answer =
            async move { resolve_decision(&options, &or_deny(decision).await, floor, Several::Refuse).outcome };
        let future = Box::pin(async move { outcome(&answer.await) });
        Ok(Handler::Asked(Question { child, ..Question::of(Asks::Permission, Some(session_id)) }, future))
    }

    /// The open session behind an id: the one of that id, or the one that the child session of that id belongs to.
    fn open_session(&mut self, id: String) -> String {
        if self.sessions.get_mut(&id).is_some() {
            return id;
        }
        self.children.root_of(&id).map(str::to_owned).unwrap_or(id)
    }

    fn elicitation(&mut self, params: &RawValue) -> Result<Handler, AnswerError> {
        let offers = self.options.offers;
        let modes = Modes { form: offers.elicitation_form, url: offers.elicitation_url };
        let Elicitation { session_id, request_id, ask, shown } = Elicitation::read(params, modes)?;
        let session_id = session_id.map(|id| self.open_session(id));
        if let Some(id) = &session_id
            && self.sessions.get_mut(id).is_none()
        {
            return Err(unknown_session(id));
        }
        // A question about a prompt is a question of its session.
        let call = request_id.and_then(|id| id.trim_matches('"').parse().ok());
        let session_id = session_id.or_else(|| self.session_of_turn(call?));
        self.flush_for_host(session_id.as_deref());
        let asked = guard(|| self.host.elicitation(session_id.as_deref(), &shown))?;
        let id = match &ask {
            elicitation::Ask::Url { id } => Some(id.clone()),
            elicitation::Ask::Form(_) => None,
        };
        if let Some(id) = &id {
            let known = &mut self.inbound.elicitations;
            known.retain(|other| other != id);
            if known.len() == MAX_ELICITATIONS {
                known.pop_front();
            }
            known.push_back(id.clone());
        }
        let future = Box::pin(async move { ask.answer(asked.await) });
        let question = Question { call, elicitation: id, ..Question::of(Asks::Elicitation, session_id) };
        Ok(Handler::Asked(question, future))
    }

    /// The session whose turn a call is.
    fn session_of_turn(&mut self, call: u64) -> Option<String> {
        match &self.pending.get_mut(call)?.effect {
            Effect::EndTurn(session_id) => Some(session_id.clone()),
            _ => None,
        }
    }

    /// The call that a question of a session is about: its turn, or the one that opens it.
    fn call_of_session(&mut self, session_id: &str) -> Option<u64> {
        let session = self.sessions.get_mut(session_id)?;
        let call = session.turn.as_ref().map_or(session.opened_by, |turn| turn.call);
        self.pending.get_mut(call).map(|_| call)
    }

    /// The clocks of a call stand while the host is asked about it. The limit of a whole turn is none of them.
    fn on_host_asked(&mut self, call: u64) {
        self.pending.on_host_asked(call, self.now);
        if let Some(turn) = self.turn(call) {
            turn.on_host_asked();
        }
    }

    fn on_host_answered(&mut self, call: u64) {
        let now = self.now;
        self.pending.on_host_answered(call, now);
        if let Some(turn) = self.turn(call) {
            turn.on_host_answered(now);
        }
    }

    /// The running turn of a call.
    fn turn(&mut self, call: u64) -> Option<&mut Turn> {
        let session_id = self.session_of_turn(call)?;
        self.sessions.get_mut(&session_id)?.turn.as_mut().filter(|turn| turn.call == call)
    }

    /// The host sees everything that came before the question.
    pub(super) fn flush_for_host(&mut self, session_id: Option<&str>) {
        if let Some(session) = session_id.and_then(|id| self.sessions.get_mut(id)) {
            session.publish();
        }
    }

    fn open_request(
        &mut self,
        (id, bytes): (&str, usize),
        question: Question,
        call: Option<u64>,
        future: BoxFuture<Answer>,
    ) {
        if let Some(call) = call {
            self.on_host_asked(call);
        }
        let abort = self.inbound.spawn(question.asks, future);
        let Question { asks, session_id, child, elicitation, mcp, .. } = question;
        let open = Open { id: id.to_owned(), session_id, child, mcp, about: call, asks, elicitation, bytes, abort };
        self.inbound.insert(open);
    }

    /// A handler finished. An answer to a request that was taken back meanwhile is dropped.
    pub(super) fn on_answer(&mut self, (key, (answer, _place)): Finished) {
        if let Some(open) = self.inbound.remove(key) {
            self.settle(&open, &answer);
        }
    }

    fn settle(&mut self, open: &Open, answer: &Answer) {
        if let Some(call) = open.about {
            self.on_host_answered(call);
        }
        // What was not accepted is finished.
        if let Some(id) = &open.elicitation
            && !elicitation::accepted(answer)
        {
            self.inbound.elicitations.retain(|other| other != id);
        }
        self.write(|out| encode::response(out, &open.id, answer));
    }

    /// Takes back open requests: their handlers are dropped, and each is answered as its kind wants it (rule C49).
    fn take_back(&mut self, which: impl Fn(&Open) -> bool) {
        let keys: Vec<_> = self.inbound.open.iter().filter(|(_, open)| which(open)).map(|(key, _)| *key).collect();
        for key in keys {
            let Some(open) = self.inbound.remove(key) else { continue };
            open.abort.abort();
            let answer = match open.asks {
                Asks::Permission => outcome(&Outcome::Cancelled),
                Asks::Elicitation => answer(&json!({ "action": "cancel" })),
                Asks::Large | Asks::Other => {
                    Err(AnswerError::new(code::REQUEST_CANCELLED, "the request was cancelled"))
                }
            };
            self.settle(&open, &answer);
        }
    }

    /// Answers every permission request of a session with `cancelled` (rule C43).
    pub(super) fn cancel_permissions(&mut self, session_id: &str) {
        self.take_back(|open| open.asks == Asks::Permission && open.session_id.as_deref() == Some(session_id));
    }

    /// Answers everything that a session which is gone has asked: its host does not any more.
    pub(super) fn take_back_of_session(&mut self, session_id: &str) {
        self.take_back(|open| open.session_id.as_deref() == Some(session_id));
    }

    /// The same as [`State::cancel_permissions`] for a child session alone.
    pub(super) fn cancel_permissions_of_child(&mut self, child: &str) {
        self.take_back(|open| open.asks == Asks::Permission && open.child.as_deref() == Some(child));
    }

    /// Answers the requests to MCP servers that are gone.
    pub(super) fn take_back_mcp(&mut self, servers: &[String]) {
        self.take_back(|open| open.mcp.as_ref().is_some_and(|key| servers.contains(&key.server_id)));
    }

    /// Whether a request to an MCP server is open.
    pub(super) fn asks_mcp(&self, key: &McpKey) -> bool {
        self.inbound.open.values().any(|open| open.mcp.as_ref() == Some(key))
    }

    /// Answers everything that is open (rules C7, C50).
    pub(super) fn refuse_open_requests(&mut self) {
        self.take_back(|_| true);
    }

    pub(super) fn on_notification(&mut self, method: &str, params: Option<&RawValue>) {
        if method == "$/cancel_request" {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct CancelRequest<'a> {
                #[serde(borrow)]
                request_id: &'a RawValue,
            }
            let Some(cancel) = params.and_then(|p| serde_json::from_str::<CancelRequest<'_>>(p.get()).ok()) else {
                return;
            };
            let id = cancel.request_id.get();
            self.take_back(|open| open.id == id);
            return;
        }
        let ignored = method.starts_with("$/") || !is_name(method) || !self.options.offers.hears(method);
        if !(ignored || method == "elicitation/complete" && !self.completes(params)) {
            let _ = guard(|| self.host.notification(method, params));
        }
    }
}

impl State {
    /// Whether a URL elicitation is known and not finished; from now on it is (rule C60).
    fn completes(&mut self, params: Option<&RawValue>) -> bool {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Complete {
            elicitation_id: String,
        }
        let Some(told) = params.and_then(|p| serde_json::from_str::<Complete>(p.get()).ok()) else { return false };
        let known = &mut self.inbound.elicitations;
        let before = known.len();
        known.retain(|id| *id != told.elicitation_id);
        known.len() < before
    }
}

/// Whether a host may be shown this as the name of a method outside the protocol.
fn is_name(method: &str) -> bool {
    is_clean(method, MAX_METHOD_BYTES)
}

/// Whether a text that a host is handed as it is, since cleaned it would be another, is short enough and harmless.
pub(super) fn is_clean(text: &str, max_bytes: usize) -> bool {
    text.len() <= max_bytes && !text.contains(char::is_control)
}

fn session_of(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Scoped {
        session_id: Option<String>,
    }
    serde_json::from_str::<Scoped>(params.get()).ok()?.session_id
}

fn unknown_session(session_id: &str) -> AnswerError {
    AnswerError {
        code: code::RESOURCE_NOT_FOUND,
        message: "Session not found".to_owned(),
        data: Some(json!({ "sessionId": session_id })),
    }
}

fn answer(value: &serde_json::Value) -> Answer {
    encode::raw(value).map_err(|e| AnswerError::new(code::INTERNAL_ERROR, e.to_string()))
}

fn denial(options: &[PermissionOption], floor: Floor) -> Answer {
    outcome(&resolve_decision(options, &PermissionDecision::Deny, floor, Several::Refuse).outcome)
}

fn outcome(outcome: &Outcome) -> Answer {
    answer(&outcome.to_result())
}
