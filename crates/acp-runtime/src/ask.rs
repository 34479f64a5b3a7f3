//! `askAcpOnce`: one question, one answer, no trace.
//!
//! Launches the agent, opens one read-only session, runs one turn and ends everything, whatever happens. The answer never
//! rests on a guess: JSON is recovered only from a clean stop, a sign-in notice is a failure, and what had arrived is
//! always handed over.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::client::{Client, CloseOptions, LaunchOptions, SessionRequest, shown_methods};
use crate::error::{Details, Error, ErrorCode, Phase, Result};
use crate::port::DenyAll;
use crate::session::{SessionSpec, TurnOptions, TurnOutcome, ViewKind};
use crate::text::json::last_json_object;
use crate::text::notice::is_sign_in_notice;
use crate::text::sanitize::strip_control_sequences;
use crate::wire::encode;

/// How long `session/new` may take in an ask whose request sets no limit.
pub const DEFAULT_SESSION_TIMEOUT: Duration = Duration::from_secs(120);

/// One question.
#[derive(Clone)]
pub struct AskOptions {
    /// The agent. Its offers are ignored: an ask is read-only.
    pub launch: LaunchOptions,
    /// The session; its working directory above all. Without a limit of its own, [`DEFAULT_SESSION_TIMEOUT`] holds.
    pub session: SessionRequest,
    /// The content blocks of the prompt.
    pub prompt: Box<RawValue>,
    /// The limit of the turn. None by default.
    pub timeout: Option<Duration>,
    /// The limit of silence in the turn. None by default.
    pub idle_timeout: Option<Duration>,
    /// Recover the last JSON object of the answer.
    pub recover_json: bool,
    /// After the turn's end, how long the session must stay quiet before its text counts as whole (field case S03). Zero
    /// by default: the protocol says that nothing follows.
    pub settle: Duration,
    /// How the agent is ended.
    pub close: CloseOptions,
}

/// Why an ask failed, in the words of Fusion's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AskReason {
    /// Launch, handshake, sign-in or `session/new` failed.
    CreateSessionFailed,
    /// The turn failed, or ended without an answer.
    TurnFailed,
    /// The turn did not end in time, or the agent fell silent in it.
    Timeout,
    /// The turn ended with another stop reason than `end_turn`.
    AbnormalStop,
}

/// The outcome of an ask. Serialises into the result object of the contract.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum AskOutcome {
    /// A clean answer.
    Answer(Answer),
    /// A failure that says why.
    Failure(Box<Failure>),
}

/// A clean answer.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    ok: True,
    /// The message text.
    pub text: String,
    /// The last complete JSON object in it, if one was asked for and found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parsed: Option<Value>,
    /// As the agent said it; absent when it said nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Present, and `true`, where a limit of this runtime cut the text. Nothing is recovered from such an answer: what it
    /// ends with is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The result of the turn in the agent's own JSON, usage included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
}

/// A failed ask.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    ok: False,
    /// Which part failed.
    pub reason: AskReason,
    /// For people.
    pub message: String,
    /// What had arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// As the agent said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Everything else: code, phase, exit, stderr tail, the peer's error.
    pub error: Details,
}

/// Serialises as `true`.
#[derive(Clone, Copy, Debug)]
struct True;
/// Serialises as `false`.
#[derive(Clone, Copy, Debug)]
struct False;

impl Serialize for True {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl Serialize for False {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_bool(false)
    }
}

impl AskOutcome {
    fn failure(reason: AskReason, error: Error, text: Option<String>, stop_reason: Option<String>) -> Self {
        let mut error = error.into_details();
        let text = text.or_else(|| error.partial_text.clone()).filter(|t| !t.is_empty());
        error.partial_text.clone_from(&text);
        Self::Failure(Box::new(Failure { ok: False, reason, message: error.message.clone(), text, stop_reason, error }))
    }

    /// The clean answer, if it is one.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answer(answer) => Some(answer),
            Self::Failure(_) => None,
        }
    }

    /// The failure, if it is one.
    pub fn failed(&self) -> Option<&Failure> {
        match self {
            Self::Answer(_) => None,
            Self::Failure(failure) => Some(failure),
        }
    }
}

/// Asks. Never fails otherwise than by its outcome, and leaves no process behind.
pub async fn ask(options: AskOptions) -> AskOutcome {
    let mut launch = options.launch.clone();
    launch.offers = crate::capabilities::Offers::default();
    let client = match Client::launch(launch, std::sync::Arc::new(DenyAll)).await {
        Ok(client) => client,
        Err(error) => return AskOutcome::failure(AskReason::CreateSessionFailed, error, None, None),
    };
    let mut outcome = converse(&client, &options).await;
    client.close(options.close).await;
    if let AskOutcome::Failure(failure) = &mut outcome {
        // Only now is it whole: stderr is another pipe, and may lag behind the answer.
        failure.error.stderr_tail = said(&client).or_else(|| failure.error.stderr_tail.take());
    }
    outcome
}

async fn converse(client: &Client, options: &AskOptions) -> AskOutcome {
    let mut request = options.session.clone();
    request.timeout.get_or_insert(DEFAULT_SESSION_TIMEOUT);
    let session_id = match open(client, &request).await {
        Ok(session_id) => session_id,
        Err(error) => return AskOutcome::failure(AskReason::CreateSessionFailed, error, None, None),
    };
    let turn = TurnOptions {
        timeout: options.timeout,
        idle_timeout: options.idle_timeout,
        settle: options.settle,
        ..TurnOptions::default()
    };
    match prompt(client, &session_id, &options.prompt, turn).await {
        Ok(outcome) => judge(outcome, options.recover_json, &client.facts().auth_method_ids()),
        Err(mut error) => {
            let limit = match error.code() {
                ErrorCode::Timeout => options.timeout.map(|limit| (limit, "")),
                ErrorCode::TurnStalled => options.idle_timeout.map(|limit| (limit, " without anything from the agent")),
                _ => None,
            };
            if let Some((limit, silence)) = limit {
                error.details_mut().message = format!("ACP prompt timed out after {}ms{silence}", limit.as_millis());
            }
            let timed_out = limit.is_some();
            AskOutcome::failure(if timed_out { AskReason::Timeout } else { AskReason::TurnFailed }, error, None, None)
        }
    }
}

/// Opens a session of which only the text is kept. Returns its id.
pub async fn open(client: &Client, request: &SessionRequest) -> Result<String> {
    let (sender, receiver) = oneshot::channel();
    let spec = SessionSpec::new(ViewKind::Callbacks);
    client.new_session_with(request, spec, Box::new(move |outcome| drop(sender.send(outcome))));
    let raw = receiver.await.map_err(|_| lost())??;
    let result: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    // The connection has checked that it is a string.
    Ok(result["sessionId"].as_str().unwrap_or_default().to_owned())
}

/// Runs one turn.
pub async fn prompt(client: &Client, session_id: &str, blocks: &RawValue, options: TurnOptions) -> Result<TurnOutcome> {
    let (sender, receiver) = oneshot::channel();
    client.prompt_with(session_id, blocks, options, Box::new(move |outcome| drop(sender.send(outcome))));
    receiver.await.map_err(|_| lost())?
}

/// What the agent wrote to stderr so far, if anything.
fn said(client: &Client) -> Option<String> {
    Some(client.stderr()).filter(|tail| !tail.trim().is_empty())
}

fn lost() -> Error {
    Error::new(ErrorCode::InternalError, "the connection dropped a call without an answer")
}

/// A text prompt as content blocks.
pub fn text_blocks(prompt: &str) -> Result<Box<RawValue>> {
    encode::raw(&serde_json::json!([{ "type": "text", "text": prompt }]))
}

/// What a turn that ended means for the caller.
fn judge(turn: TurnOutcome, recover_json: bool, auth_methods: &[&str]) -> AskOutcome {
    let TurnOutcome { stop_reason, text, result, text_truncated: truncated, .. } = turn;
    if let Some(reason) = stop_reason.as_deref().filter(|reason| *reason != "end_turn") {
        let shown: String = strip_control_sequences(reason).chars().take(100).collect();
        let error = prompt_error(ErrorCode::AbnormalStop, &format!("ACP prompt ended with stopReason={shown}"));
        return AskOutcome::failure(AskReason::AbnormalStop, error, Some(text), stop_reason);
    }
    if let Some(message) = sign_in_notice(&text, auth_methods) {
        let error = prompt_error(ErrorCode::SignInRequired, &message);
        return AskOutcome::failure(AskReason::TurnFailed, error, Some(text), stop_reason);
    }
    let recoverable = recover_json && !truncated;
    let parsed =
        recoverable.then(|| last_json_object(&text)).flatten().and_then(|json| serde_json::from_str(json).ok());
    AskOutcome::Answer(Answer { ok: True, text, parsed, stop_reason, truncated, result })
}

/// What to tell of a reply that is nothing but a notice to sign in, with the ways that the agent offers; `None` for any other
/// reply.
pub fn sign_in_notice(reply: &str, auth_methods: &[impl AsRef<str>]) -> Option<String> {
    if !is_sign_in_notice(reply) {
        return None;
    }
    let methods = shown_methods(auth_methods);
    let offers = if methods.is_empty() { String::new() } else { format!(" (it offers {methods})") };
    let notice: String = strip_control_sequences(reply.trim()).chars().take(200).collect();
    Some(format!("the ACP agent is not signed in{offers}; its whole reply was: {notice}"))
}

fn prompt_error(code: ErrorCode, message: &str) -> Error {
    let mut error = Error::new(code, message).in_phase(Phase::Prompt);
    error.details_mut().prompt_may_have_been_sent = true;
    error
}
