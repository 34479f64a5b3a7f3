//! The connection to one agent: a task that owns all of its state, and a handle that talks to it.
//!
//! The task reads lines, dispatches them in order, writes what is due and watches the clock. Nothing else touches the
//! request table, the sessions or the turns, so nothing waits on the path of an update; only a session's merged state is
//! behind a lock, for whoever reads it. Callers send [`Command`]s and are answered through closures that run on the task,
//! in wire order.

mod calls;
mod children;
mod early;
mod end;
mod halves;
mod inbound;
mod mcp;
mod open_requests;
mod opening;
mod state;
mod stop_reason;
mod task;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, oneshot, watch};

pub(crate) use mcp::MAX_NAME_BYTES;
use mcp::McpKey;
pub use opening::session_id_of;

use crate::capabilities::{AgentCapabilities, OUTBOUND, Offers};
use crate::delivery::Outbox;
use crate::diagnostics::Diagnostics;
use crate::error::{Error, ErrorCode, ExitFacts, Phase, Result};
use crate::pending::{Effect, Reply};
use crate::port::{BoxFuture, Host, Services};
use crate::services::permission::Floor;
use crate::session::{SessionSpec, SharedState, TurnOptions, TurnReply};
use crate::trace::Tap;

/// The process behind a connection, as far as the connection needs it.
pub trait AgentProcess: Send + Sync + 'static {
    /// Resolves when the process itself has ended, whoever still holds its pipes.
    fn exited(&self) -> BoxFuture<ExitFacts>;
    /// The end of its stderr, redacted; waits a bounded time for stderr to end.
    fn stderr_tail(&self) -> BoxFuture<Option<String>>;
    /// Whether the host ended it together with all its agents, past their connections.
    fn swept(&self) -> bool {
        false
    }
    /// Ends everything it started, at once and without waiting.
    fn kill(&self);
}

/// The two ends of the agent's stdio and the process behind them.
pub struct Transport {
    /// The agent's stdout.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// The agent's stdin.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// Resolves when the agent has closed that. Dropped together with it.
    pub input_gone: BoxFuture<()>,
    /// The process.
    pub process: Arc<dyn AgentProcess>,
}

/// Masks secrets in a text.
pub type Redact = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// How a connection behaves.
#[derive(Clone)]
pub struct Options {
    /// What the host offers to the agent.
    pub offers: Offers,
    /// Which permission options the host may choose.
    pub floor: Floor,
    /// The longest line accepted, in bytes.
    pub max_line_bytes: usize,
    /// Masks secrets in what the agent says of errors.
    pub redact: Redact,
    /// Sees every frame.
    pub tap: Option<Tap>,
    /// The file service and the terminals, where they are offered.
    pub services: Arc<dyn Services>,
}

/// What a call asks of the connection besides sending it.
pub struct CallOptions {
    /// What the runtime is doing, for the error.
    pub phase: Phase,
    /// Given up after this long.
    pub timeout: Option<Duration>,
    /// What happens on success before the caller hears of it.
    pub effect: Effect<SessionSpec>,
    /// Registers this session before the call goes out (`session/load`, `session/resume`): what it says until the answer is
    /// history. Refused with `session_already_open` while a session of that id is open, or being opened.
    pub register: Option<(String, SessionSpec)>,
    /// Ids of the MCP servers that the host serves for the session, from now until the session ends or is not opened.
    pub mcp_servers: Vec<String>,
    /// The session and the cursor of it that the call is about. Refused unless the agent lets it be forked there.
    pub at_cursor: Option<(String, String)>,
}

impl CallOptions {
    /// A plain call.
    pub fn plain(phase: Phase) -> Self {
        Self { phase, timeout: None, effect: Effect::None, register: None, mcp_servers: Vec::new(), at_cursor: None }
    }

    /// The same with a time limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }
}

/// What became of a cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CancelState {
    /// The agent ended the turn.
    Cancelled,
    /// The agent did not end the turn in time; it was ended here.
    Forced,
    /// No turn was running.
    Idle,
}

enum Command {
    Call {
        id: u64,
        method: String,
        params: Option<Box<RawValue>>,
        options: CallOptions,
        reply: Reply,
    },
    Notify {
        method: String,
        params: Option<Box<RawValue>>,
    },
    Prompt {
        call: u64,
        session_id: String,
        params: Box<RawValue>,
        options: TurnOptions,
        reply: TurnReply,
    },
    Cancel {
        session_id: String,
        grace: Duration,
        done: oneshot::Sender<CancelState>,
    },
    NotifyMcp {
        key: McpKey,
        method: String,
        params: Option<Box<RawValue>>,
    },
    CancelChild {
        session_id: String,
        child: String,
        done: oneshot::Sender<Result<()>>,
    },
    Abandon {
        call: u64,
        error: Error,
    },
    DropSession {
        session_id: String,
        /// Only the session that tells its updates here.
        of: Option<Arc<Outbox>>,
    },
    /// Teardown, first half: cancel turns, answer what is open, flush, close stdin.
    Wind {
        grace: Duration,
        done: oneshot::Sender<()>,
    },
    /// Teardown, second half: fail what is left and end the task.
    Stop {
        error: Error,
    },
}

/// What handle and task share.
pub(crate) struct Shared {
    diagnostics: Diagnostics,
    capabilities: OnceLock<AgentCapabilities>,
    /// The advertised `authMethods`, for errors that ask to sign in.
    auth_methods: OnceLock<serde_json::Value>,
    /// States of open sessions, where they are kept.
    states: Mutex<HashMap<String, Arc<SharedState>>>,
    /// Whether the host is ending the agent: its exit is no failure then.
    closing: AtomicBool,
    /// The next id of a call.
    next_id: AtomicU64,
    /// What the agent started through the connection.
    services: Arc<dyn Services>,
    /// Set once, when the connection ends: why.
    end: watch::Sender<Option<Arc<EndFacts>>>,
}

impl Shared {
    pub(crate) fn states(&self) -> MutexGuard<'_, HashMap<String, Arc<SharedState>>> {
        // Single inserts and removals cannot leave it half done.
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a connection ended.
#[derive(Clone, Debug)]
pub struct EndFacts {
    /// The code that calls fail with from now on.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// How the agent ended, where it did.
    pub exit: Option<ExitFacts>,
    /// The end of its stderr.
    pub stderr_tail: Option<String>,
}

impl EndFacts {
    /// The failure of one call.
    pub fn error(&self) -> Error {
        let mut error = Error::new(self.code, self.message.clone());
        let details = error.details_mut();
        details.exit.clone_from(&self.exit);
        details.stderr_tail.clone_from(&self.stderr_tail);
        error
    }
}

/// A handle on a connection. When the last one is dropped, the agent's tree is killed.
#[derive(Clone)]
pub struct Connection {
    inbox: mpsc::UnboundedSender<Command>,
    shared: Arc<Shared>,
}

impl Connection {
    /// Starts the task. Must be called inside a tokio runtime.
    pub fn start(transport: Transport, host: Arc<dyn Host>, options: Options) -> Self {
        let (inbox, commands) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            diagnostics: Diagnostics::default(),
            capabilities: OnceLock::new(),
            auth_methods: OnceLock::new(),
            states: Mutex::default(),
            closing: AtomicBool::new(false),
            // Ids start at 1: some agents take 0 for absent.
            next_id: AtomicU64::new(1),
            services: Arc::clone(&options.services),
            end: watch::Sender::new(None),
        });
        tokio::spawn(task::run(transport, commands, state::State::new(Arc::clone(&shared), host, options)));
        Self { inbox, shared }
    }

    /// Counters and samples.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.shared.diagnostics
    }

    /// What the agent advertised; nothing before `initialize`.
    pub fn capabilities(&self) -> AgentCapabilities {
        self.shared.capabilities.get().cloned().unwrap_or_default()
    }

    /// Records what the agent advertised; the first time counts.
    pub fn set_facts(&self, capabilities: AgentCapabilities, auth_methods: serde_json::Value) {
        let _ = self.shared.capabilities.set(capabilities);
        let _ = self.shared.auth_methods.set(auth_methods);
    }

    /// Calls a method that the agent advertised. `reply` runs on the connection's task, in wire order, exactly once.
    /// Returns the call's id, for [`Connection::abandon`].
    pub fn call_with(&self, method: &str, params: Option<Box<RawValue>>, options: CallOptions, reply: Reply) -> u64 {
        let id = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let phase = options.phase;
        if OUTBOUND.iter().any(|m| m.name == method && !m.request) {
            let why = format!("{method} is a notification of the protocol, which nothing answers");
            reply(Err(Error::invalid_argument(why).in_phase(phase)));
            return id;
        }
        if let Err(error) = self.shared.capabilities.get().map_or(Ok(()), |c| c.check(method)) {
            reply(Err(error.in_phase(phase)));
            return id;
        }
        let command = Command::Call { id, method: method.to_owned(), params, options, reply };
        if let Err(mpsc::error::SendError(Command::Call { reply, .. })) = self.inbox.send(command) {
            reply(Err(self.end_error().in_phase(phase)));
        }
        id
    }

    /// Calls a method and waits for its result. Dropping the future abandons the call (`$/cancel_request` is sent).
    pub async fn call(
        &self,
        method: &str,
        params: Option<Box<RawValue>>,
        options: CallOptions,
    ) -> Result<Box<RawValue>> {
        let (sender, receiver) = oneshot::channel();
        let phase = options.phase;
        let reply = Box::new(move |outcome| drop(sender.send(outcome)));
        let id = self.call_with(method, params, options, reply);
        let guard = AbandonOnDrop { connection: self, id: Some(id) };
        let outcome = receiver.await;
        guard.disarm();
        outcome.unwrap_or_else(|_| Err(self.end_error().in_phase(phase)))
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Option<Box<RawValue>>) -> Result<()> {
        if !method.starts_with('_') {
            self.capabilities().check(method)?;
        }
        let command = Command::Notify { method: method.to_owned(), params };
        self.inbox.send(command).map_err(|_| self.end_error())
    }

    /// Sends what an MCP server of the host tells of a request that it has not answered yet; dropped when it has, or when the
    /// agent no longer waits.
    pub fn notify_mcp(&self, server_id: &str, request_id: &str, method: &str, params: Option<Box<RawValue>>) {
        let key = McpKey { server_id: server_id.to_owned(), request_id: request_id.to_owned() };
        let _ = self.inbox.send(Command::NotifyMcp { key, method: method.to_owned(), params });
    }

    /// Starts a turn. `params` are the whole parameters of `session/prompt`. Returns the call's id.
    pub fn prompt_with(&self, session_id: &str, params: Box<RawValue>, options: TurnOptions, reply: TurnReply) -> u64 {
        let call = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let session_id = session_id.to_owned();
        let command = Command::Prompt { call, session_id, params, options, reply };
        if let Err(mpsc::error::SendError(Command::Prompt { reply, .. })) = self.inbox.send(command) {
            reply(Err(self.end_error().in_phase(Phase::Prompt)));
        }
        call
    }

    /// Cancels the running turn of a session; resolves when the turn has ended, at the latest after `grace`.
    pub async fn cancel(&self, session_id: &str, grace: Duration) -> CancelState {
        let (done, state) = oneshot::channel();
        let _ = self.inbox.send(Command::Cancel { session_id: session_id.to_owned(), grace, done });
        state.await.unwrap_or(CancelState::Idle)
    }

    /// Cancels what a child session does, and nothing else. Resolves when the agent has been told; its events say what
    /// becomes of it.
    ///
    /// # Errors
    /// `invalid_argument` for a child that the session is not known to have, `unsupported_capability` where the agent did not
    /// say of this child that it can be cancelled (rule C40).
    pub async fn cancel_child(&self, session_id: &str, child: &str) -> Result<()> {
        let (done, told) = oneshot::channel();
        let command = Command::CancelChild { session_id: session_id.to_owned(), child: child.to_owned(), done };
        self.inbox.send(command).map_err(|_| self.end_error())?;
        told.await.unwrap_or_else(|_| Err(self.end_error()))
    }

    /// Lets a caller go with `error`; the agent is told by `$/cancel_request`, its late response is discarded.
    pub fn abandon(&self, call: u64, error: Error) {
        let _ = self.inbox.send(Command::Abandon { call, error });
    }

    /// Forgets a session; updates for it are dropped from now on.
    pub fn drop_session(&self, session_id: &str) {
        let _ = self.inbox.send(Command::DropSession { session_id: session_id.to_owned(), of: None });
    }

    /// The same, unless the id has become that of a session which tells its updates elsewhere.
    pub fn drop_session_of(&self, session_id: &str, outbox: Arc<Outbox>) {
        let _ = self.inbox.send(Command::DropSession { session_id: session_id.to_owned(), of: Some(outbox) });
    }

    /// What is known of an open session, where its [`SessionSpec`] asked for it; readable for as long as it is held.
    pub fn session_state(&self, session_id: &str) -> Option<Arc<SharedState>> {
        self.shared.states().get(session_id).cloned()
    }

    /// The host ends the agent: whatever waits from now on, or is called later, fails with `client_closed`. What the agent
    /// asks is refused, and nothing more is started for it.
    pub fn closing(&self) {
        self.shared.closing.store(true, Ordering::Release);
        self.shared.services.closing();
    }

    /// First half of a teardown: cancels turns, answers what is open, waits at most `grace` for turns to end and output to
    /// be written, then closes the agent's stdin.
    pub async fn wind_down(&self, grace: Duration) {
        self.closing();
        let (done, wound) = oneshot::channel();
        if self.inbox.send(Command::Wind { grace, done }).is_ok() {
            let _ = wound.await;
        }
    }

    /// Second half of a teardown: whatever still waits fails with `error`, and the task ends.
    pub fn stop(&self, error: Error) {
        let _ = self.inbox.send(Command::Stop { error });
    }

    /// Resolves when the connection has ended, with the reason.
    pub async fn ended(&self) -> Arc<EndFacts> {
        let mut end = self.shared.end.subscribe();
        // The sender lives in `shared`, which this handle holds.
        match end.wait_for(Option::is_some).await {
            Ok(facts) => facts.clone().unwrap_or_else(unknown_end),
            Err(_) => unknown_end(),
        }
    }

    /// The reason, if it has ended.
    pub fn end(&self) -> Option<Arc<EndFacts>> {
        self.shared.end.borrow().clone()
    }

    fn end_error(&self) -> Error {
        self.end().unwrap_or_else(unknown_end).error()
    }
}

fn unknown_end() -> Arc<EndFacts> {
    Arc::new(EndFacts {
        code: ErrorCode::ConnectionClosed,
        message: "ACP connection closed".to_owned(),
        exit: None,
        stderr_tail: None,
    })
}

struct AbandonOnDrop<'a> {
    connection: &'a Connection,
    id: Option<u64>,
}

impl AbandonOnDrop<'_> {
    fn disarm(mut self) {
        self.id = None;
    }
}

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.connection.abandon(id, Error::new(ErrorCode::Aborted, "the call was abandoned"));
        }
    }
}
