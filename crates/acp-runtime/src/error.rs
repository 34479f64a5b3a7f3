//! The one error type of the runtime.
//!
//! Callers decide by [`ErrorCode`], never by message text. The peer's raw error, the way the agent ended and what had
//! arrived until then are kept beside the code, so that nothing is lost on the way up.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Stable, machine-readable reason of a failure. The list in `docs/errors.md` and the type in `index.d.ts` mirror it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// The agent's binary was not found (the shell's 127).
    MissingBinary,
    /// The operating system refused to start the agent for another reason.
    SpawnError,
    /// A required environment variable is absent from the environment built for the agent.
    MissingEnv,
    /// `initialize` was not answered in time (the shell's 124).
    HandshakeTimeout,
    /// The agent negotiated a protocol version that this client does not speak.
    IncompatibleProtocol,
    /// The agent wants authentication first (JSON-RPC −32000), or no acceptable method was advertised.
    AuthRequired,
    /// The agent process ended while it was still needed.
    AgentExited,
    /// The agent closed its output, but its process had not ended yet.
    ConnectionClosed,
    /// The agent answered a request with an error; `rpc` holds it.
    AgentError,
    /// The agent answered with something that is not what the method returns.
    MalformedResponse,
    /// The caller's arguments are not acceptable; nothing was sent.
    InvalidArgument,
    /// The agent did not advertise the capability that the call needs; nothing was sent.
    UnsupportedCapability,
    /// A call did not finish in its own time limit.
    Timeout,
    /// The turn sent no protocol frames for its idle limit.
    TurnStalled,
    /// The session already runs a turn.
    TurnInProgress,
    /// A session of that id is open already, or is being opened; nothing was sent.
    SessionAlreadyOpen,
    /// The session cannot take turns any more (a cancel was forced, or it was closed).
    SessionUnusable,
    /// The caller aborted the call.
    Aborted,
    /// The client was closed by its host.
    ClientClosed,
    /// The turn ended with another stop reason than `end_turn`.
    AbnormalStop,
    /// The whole reply is a sign-in notice.
    SignInRequired,
    /// A fault of this runtime; the call it hit failed, the host lives.
    InternalError,
}

impl ErrorCode {
    /// Every code, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self::MissingBinary,
        Self::SpawnError,
        Self::MissingEnv,
        Self::HandshakeTimeout,
        Self::IncompatibleProtocol,
        Self::AuthRequired,
        Self::AgentExited,
        Self::ConnectionClosed,
        Self::AgentError,
        Self::MalformedResponse,
        Self::InvalidArgument,
        Self::UnsupportedCapability,
        Self::Timeout,
        Self::TurnStalled,
        Self::TurnInProgress,
        Self::SessionAlreadyOpen,
        Self::SessionUnusable,
        Self::Aborted,
        Self::ClientClosed,
        Self::AbnormalStop,
        Self::SignInRequired,
        Self::InternalError,
    ];

    /// The code as the host sees it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MissingBinary => "missing_binary",
            Self::SpawnError => "spawn_error",
            Self::MissingEnv => "missing_env",
            Self::HandshakeTimeout => "handshake_timeout",
            Self::IncompatibleProtocol => "incompatible_protocol",
            Self::AuthRequired => "auth_required",
            Self::AgentExited => "agent_exited",
            Self::ConnectionClosed => "connection_closed",
            Self::AgentError => "agent_error",
            Self::MalformedResponse => "malformed_response",
            Self::InvalidArgument => "invalid_argument",
            Self::UnsupportedCapability => "unsupported_capability",
            Self::Timeout => "timeout",
            Self::TurnStalled => "turn_stalled",
            Self::TurnInProgress => "turn_in_progress",
            Self::SessionAlreadyOpen => "session_already_open",
            Self::SessionUnusable => "session_unusable",
            Self::Aborted => "aborted",
            Self::ClientClosed => "client_closed",
            Self::AbnormalStop => "abnormal_stop",
            Self::SignInRequired => "sign_in_required",
            Self::InternalError => "internal_error",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the runtime was doing when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Finding and starting the process.
    Spawn,
    /// The `initialize` handshake.
    Initialize,
    /// The `authenticate` call.
    Authenticate,
    /// Creating, loading or changing a session, and calls outside a turn.
    Session,
    /// A prompt turn.
    Prompt,
    /// Ending the process tree.
    Teardown,
}

/// An error object as the agent sent it (JSON-RPC 2.0 §5.1), text bounded and redacted.
#[derive(Clone, Debug, Serialize)]
pub struct RpcError {
    /// The JSON-RPC code, exactly as received.
    pub code: i64,
    /// The agent's message.
    pub message: String,
    /// The agent's `data`, in its own JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

/// How a process ended: an exit code or a signal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitFacts {
    /// The exit code, when the process exited by itself.
    pub exit_code: Option<i32>,
    /// The name of the ending signal (`SIGKILL`), when a signal ended it.
    pub signal: Option<String>,
}

impl fmt::Display for ExitFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.exit_code, &self.signal) {
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => write!(f, "signal {signal}"),
            (None, None) => f.write_str("unknown exit status"),
        }
    }
}

/// A failure, with everything known about it. Cheap to move: one pointer.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct Error(Box<Details>);

/// The contents of an [`Error`]; serialises into the object that becomes the host's `AcpError`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Details {
    /// The stable reason.
    pub code: ErrorCode,
    /// What the runtime was doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// For people; not a contract, except where `docs/errors.md` quotes a format.
    pub message: String,
    /// The peer's error, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpc: Option<RpcError>,
    /// How the agent ended, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitFacts>,
    /// The end of the agent's stderr, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// Whether trying again without a change can help.
    pub retryable: bool,
    /// Whether the agent may have seen the prompt (`false`: it certainly has not).
    pub prompt_may_have_been_sent: bool,
    /// The message text that had arrived when the turn failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_text: Option<String>,
    /// Machine-readable extras of one code: the offered versions, the missing keys, the advertised methods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<serde_json::Value>,
}

impl Error {
    /// A failure with nothing but its code and text.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(Details {
            code,
            phase: None,
            message: message.into(),
            rpc: None,
            exit: None,
            stderr_tail: None,
            retryable: matches!(
                code,
                ErrorCode::AgentExited
                    | ErrorCode::ConnectionClosed
                    | ErrorCode::HandshakeTimeout
                    | ErrorCode::Timeout
                    | ErrorCode::TurnStalled
            ),
            prompt_may_have_been_sent: false,
            partial_text: None,
            extra: None,
        }))
    }

    /// The caller's mistake; nothing was sent.
    pub fn invalid_argument(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    /// The stable reason.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Everything known about the failure.
    pub fn details(&self) -> &Details {
        &self.0
    }

    /// The same, to be completed on the way up.
    pub fn details_mut(&mut self) -> &mut Details {
        &mut self.0
    }

    /// Everything known about the failure, by value.
    pub fn into_details(self) -> Details {
        *self.0
    }

    /// Names the phase, unless one closer to the fault already did.
    #[must_use]
    pub fn in_phase(mut self, phase: Phase) -> Self {
        self.0.phase.get_or_insert(phase);
        self
    }

    /// Attaches machine-readable extras.
    #[must_use]
    pub fn with_extra(mut self, extra: serde_json::Value) -> Self {
        self.0.extra = Some(extra);
        self
    }
}

/// The runtime's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_serialises_as_its_name() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
        }
        let mut names: Vec<_> = ErrorCode::ALL.iter().map(|c| c.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ErrorCode::ALL.len());
    }

    #[test]
    fn the_phase_closest_to_the_fault_wins() {
        let error = Error::new(ErrorCode::Timeout, "late").in_phase(Phase::Initialize).in_phase(Phase::Prompt);
        assert_eq!(error.details().phase, Some(Phase::Initialize));
    }
}
