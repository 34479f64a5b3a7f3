//! The facade: one agent, launched, initialised, used and ended.

mod handshake;
mod process;
mod requests;
mod secrets;
mod stderr;

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

pub(crate) use handshake::shown_methods;
pub use handshake::{AgentFacts, Authenticate, HandshakeOptions};
pub use requests::SessionRequest;
use secrets::Secrets;

use crate::capabilities::Offers;
use crate::connection::{CallOptions, Connection, Options, Transport};
use crate::diagnostics;
use crate::error::{Error, ErrorCode, ExitFacts, Phase, Result};
use crate::pending::{Effect, Reply};
use crate::port::{Host, NoServices, Services};
use crate::process::{Ladder, LaunchSpec, ProcessTree, input_gone, spawn};
use crate::services::permission::Floor;
use crate::session::{SessionSpec, SharedState, TurnOptions, TurnReply};
use crate::trace::Tap;
use crate::wire::DEFAULT_MAX_LINE_BYTES;

/// How long a running turn may take to end when the client is closed, before stdin is closed under it.
const DEFAULT_TURN_GRACE: Duration = Duration::from_millis(500);

/// Everything that a launch can be told.
#[derive(Clone)]
pub struct LaunchOptions {
    /// The process.
    pub spec: LaunchSpec,
    /// What the client is called; goes into `initialize`.
    pub client_info: Value,
    /// What the host offers.
    pub offers: Offers,
    /// `_meta` of the client's capabilities, for extensions.
    pub capabilities_meta: Option<Value>,
    /// The handshake.
    pub handshake: HandshakeOptions,
    /// Sign in right after the handshake.
    pub authenticate: Option<Authenticate>,
    /// Which permission options the host may choose.
    pub floor: Floor,
    /// The longest line accepted, in bytes.
    pub max_line_bytes: usize,
    /// Sees every frame.
    pub tap: Option<Tap>,
    /// Files and terminals, where they are offered.
    pub services: Arc<dyn Services>,
    /// Calls the launch off while it is under way. Without meaning once there is a client.
    pub call_off: CancellationToken,
}

impl LaunchOptions {
    /// A launch that offers nothing and keeps every default.
    pub fn new(spec: LaunchSpec) -> Self {
        Self {
            spec,
            client_info: serde_json::json!({
                "name": "fusion-acp-runtime",
                "title": "Fusion ACP Runtime",
                "version": env!("CARGO_PKG_VERSION"),
            }),
            offers: Offers::default(),
            capabilities_meta: None,
            handshake: HandshakeOptions::default(),
            authenticate: None,
            floor: Floor::OnceOnly,
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            tap: None,
            services: Arc::new(NoServices),
            call_off: CancellationToken::new(),
        }
    }
}

/// How a client is ended.
#[derive(Clone, Copy, Debug)]
pub struct CloseOptions {
    /// How long running turns may take to end.
    pub turn_grace: Duration,
    /// The steps after stdin is closed.
    pub ladder: Ladder,
}

impl Default for CloseOptions {
    fn default() -> Self {
        Self { turn_grace: DEFAULT_TURN_GRACE, ladder: Ladder::default() }
    }
}

impl CloseOptions {
    /// At once, without asking.
    pub const IMMEDIATE: Self = Self { turn_grace: Duration::ZERO, ladder: Ladder::IMMEDIATE };
}

/// How a client ended.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitInfo {
    /// How the agent's own process ended.
    #[serde(flatten)]
    pub exit: ExitFacts,
    /// Processes that the operating system refused to end; normally none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<u32>,
}

struct Inner {
    connection: Connection,
    tree: Arc<ProcessTree>,
    facts: AgentFacts,
    ended: Arc<OnceCell<ExitInfo>>,
    secrets: Arc<Secrets>,
}

/// One agent. Cheap to clone; when the last clone is dropped without [`Client::close`], the whole tree is killed.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

impl Client {
    /// Starts the agent, shakes hands, and signs in where that was asked for. Whatever fails, no process is left when the
    /// error arrives; that holds for a launch that is called off, too.
    pub async fn launch(options: LaunchOptions, host: Arc<dyn Host>) -> Result<Self> {
        Self::launch_with(options, host, |_| {}).await
    }

    /// The same, telling the process's id as soon as it is known.
    pub async fn launch_with(
        options: LaunchOptions,
        host: Arc<dyn Host>,
        started: impl FnOnce(&Arc<ProcessTree>),
    ) -> Result<Self> {
        let secrets = Arc::new(Secrets::of_launch(&options.spec));
        let redact = secrets.redact();
        let mut spec = options.spec.clone();
        spec.redact = Some(Arc::clone(&redact));
        if options.call_off.is_cancelled() {
            return Err(called_off().in_phase(Phase::Spawn));
        }
        let spawned = spawn(&spec).map_err(|e| e.in_phase(Phase::Spawn))?;
        spawned.tree.stderr().expect(secrets.longest());
        started(&spawned.tree);
        let tree = Arc::clone(&spawned.tree);
        let transport = Transport {
            input_gone: input_gone(&spawned.stdin),
            reader: Box::new(spawned.stdout),
            writer: Box::new(spawned.stdin),
            process: Arc::new(process::Adapter(Arc::clone(&tree))),
        };
        let connection = Connection::start(
            transport,
            host,
            Options {
                offers: options.offers,
                floor: options.floor,
                max_line_bytes: options.max_line_bytes,
                redact,
                tap: options.tap.clone(),
                services: Arc::clone(&options.services),
            },
        );
        let handshake = tokio::select! {
            biased;
            () = options.call_off.cancelled() => Err(called_off().in_phase(Phase::Initialize)),
            result = handshake::run(&connection, &tree, &options) => result,
        };
        match handshake {
            Ok(facts) => {
                let inner = Inner { connection, tree, facts, ended: Arc::new(OnceCell::new()), secrets };
                let client = Self(Arc::new(inner));
                client.sweep_after_end();
                Ok(client)
            }
            Err(mut error) => {
                connection.wind_down(Duration::ZERO).await;
                let patience = if options.call_off.is_cancelled() { 0 } else { 300 };
                let ladder = Ladder { eof_grace: Duration::from_millis(patience), ..Ladder::default() };
                tree.shutdown(ladder).await;
                let tail = tree.stderr().tail();
                let details = error.details_mut();
                if details.stderr_tail.is_none() && !tail.trim().is_empty() {
                    details.stderr_tail = Some(tail);
                }
                connection.stop(Error::new(ErrorCode::ClientClosed, "the launch failed"));
                Err(error)
            }
        }
    }

    /// An agent that ends by itself leaves nothing behind either.
    fn sweep_after_end(&self) {
        // The future holds neither the client nor its connection, so that dropping them still ends the agent.
        tokio::spawn(self.closed());
    }

    /// The agent's process id.
    pub fn pid(&self) -> u32 {
        self.0.tree.pid()
    }

    /// What the agent said in `initialize`.
    pub fn facts(&self) -> &AgentFacts {
        &self.0.facts
    }

    /// The connection.
    pub fn connection(&self) -> &Connection {
        &self.0.connection
    }

    /// What is known of an open session, merged from everything it said; `None` unless its [`SessionSpec`] asked for it.
    pub fn session_state(&self, session_id: &str) -> Option<Arc<SharedState>> {
        self.0.connection.session_state(session_id)
    }

    /// The process tree.
    pub fn tree(&self) -> &Arc<ProcessTree> {
        &self.0.tree
    }

    /// The end of the agent's stderr so far, redacted.
    pub fn stderr(&self) -> String {
        self.0.tree.stderr().tail()
    }

    /// Counters and samples of the wire.
    pub fn diagnostics(&self) -> diagnostics::Snapshot {
        self.0.connection.diagnostics().snapshot()
    }

    /// Opens a session. `reply` runs in wire order, before anything that the session tells its outbox.
    pub fn new_session_with(&self, request: &SessionRequest, spec: SessionSpec, reply: Reply) -> u64 {
        self.open("session/new", None, request, spec, reply)
    }

    /// Opens, loads, resumes or forks a session; `method` is the protocol's name of that, `id` the session it starts from.
    pub fn open(
        &self,
        method: &str,
        id: Option<&str>,
        request: &SessionRequest,
        mut spec: SessionSpec,
        reply: Reply,
    ) -> u64 {
        let reply = stderr::telling(&self.0.tree, reply);
        spec.cwd = Some(request.cwd.clone().into());
        self.mask(request.secrets());
        let params = match request.params(method, id, &self.0.facts.capabilities) {
            Ok(params) => params,
            Err(error) => {
                reply(Err(error.in_phase(Phase::Session)));
                return 0;
            }
        };
        let plain = CallOptions {
            mcp_servers: request.served_here(),
            ..CallOptions::plain(Phase::Session).timeout(request.timeout)
        };
        let options = match (method, id) {
            ("session/load" | "session/resume", Some(id)) => CallOptions {
                effect: Effect::SessionReady(id.to_owned()),
                register: Some((id.to_owned(), spec)),
                ..plain
            },
            _ => CallOptions {
                effect: Effect::OpenSession(Box::new(spec)),
                at_cursor: id.map(str::to_owned).zip(request.cursor_id.clone()),
                ..plain
            },
        };
        self.0.connection.call_with(method, Some(params), options, reply)
    }

    /// Calls a method of the protocol, or an extension. What its parameters need of the agent is checked, too.
    pub fn call_with(&self, method: &str, params: Option<Box<RawValue>>, options: CallOptions, reply: Reply) -> u64 {
        let reply = stderr::telling(&self.0.tree, reply);
        let checked = params.as_deref().map_or(Ok(()), |params| requests::check_params(method, params, &self.0.facts));
        match checked {
            Ok(()) => self.0.connection.call_with(method, params, options, reply),
            Err(error) => {
                reply(Err(error.in_phase(options.phase)));
                0
            }
        }
    }

    /// Starts a turn with these content blocks. `reply` runs in wire order, after everything the turn told its outbox.
    pub fn prompt_with(&self, session_id: &str, blocks: &RawValue, options: TurnOptions, reply: TurnReply) -> u64 {
        self.prompt_with_meta(session_id, blocks, None, options, reply)
    }

    /// The same with `_meta` for the request.
    pub fn prompt_with_meta(
        &self,
        session_id: &str,
        blocks: &RawValue,
        meta: Option<&RawValue>,
        options: TurnOptions,
        reply: TurnReply,
    ) -> u64 {
        let reply = stderr::telling(&self.0.tree, reply);
        match requests::prompt_params(session_id, blocks, meta, &self.0.facts.capabilities) {
            Ok(params) => self.0.connection.prompt_with(session_id, params, options, reply),
            Err(error) => {
                reply(Err(error.in_phase(Phase::Prompt)));
                0
            }
        }
    }

    /// Masks these values, too, wherever text of this client is shown.
    pub fn mask(&self, secrets: Vec<String>) {
        self.0.secrets.add(secrets);
        self.0.tree.stderr().expect(self.0.secrets.longest());
    }

    /// Signs in with one of the agent's own methods.
    pub async fn authenticate(&self, options: &Authenticate) -> Result<Option<String>> {
        let outcome = handshake::authenticate(&self.0.connection, &self.0.facts, options).await;
        outcome.map_err(|error| stderr::tell(&Arc::downgrade(&self.0.tree), error))
    }

    /// Ends the agent: cancels turns, closes stdin, then climbs the ladder. Resolves when the whole tree is gone. May be
    /// called again, and by several callers at once; the first call's options count.
    pub async fn close(&self, options: CloseOptions) -> ExitInfo {
        self.0.connection.wind_down(options.turn_grace).await;
        let info = self.0.ended.get_or_init(|| finish(&self.0.tree, options.ladder)).await.clone();
        self.0.connection.stop(Error::new(ErrorCode::ClientClosed, "the ACP client was closed"));
        info
    }

    /// Resolves when the whole tree is gone, whoever ended it. The future does not hold the client.
    pub fn closed(&self) -> impl Future<Output = ExitInfo> + Send + 'static {
        let (tree, ended) = (Arc::downgrade(&self.0.tree), Arc::clone(&self.0.ended));
        let exited = self.0.tree.exited();
        async move {
            let exit = exited.await;
            match tree.upgrade() {
                Some(tree) => ended.get_or_init(|| finish(&tree, Ladder::default())).await.clone(),
                // The last handle is gone, and with it the whole tree.
                None => ExitInfo { exit, survivors: Vec::new() },
            }
        }
    }

    /// Kills the whole tree, now and synchronously.
    pub fn kill(&self) {
        // What is pending fails because of this, not because the agent ended.
        self.0.connection.closing();
        self.0.tree.kill();
    }
}

fn called_off() -> Error {
    Error::new(ErrorCode::Aborted, "the launch was called off")
}

async fn finish(tree: &ProcessTree, ladder: Ladder) -> ExitInfo {
    let report = tree.shutdown(ladder).await;
    ExitInfo { exit: report.exit, survivors: report.survivors }
}
