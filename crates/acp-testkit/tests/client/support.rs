//! A client with its agent, what it told its host, and the proof that nothing is left of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use acp_runtime::ask::{self, AskOptions, AskOutcome};
use acp_runtime::client::{Client, CloseOptions, HandshakeOptions, LaunchOptions, SessionRequest};
use acp_runtime::delivery::{Budget, Kind, Limits, Outbox, Reader};
use acp_runtime::error::{Error, ErrorCode, Result};
use acp_runtime::port::{BoxFuture, DenyAll, Host, PermissionDecision, PermissionRequest};
use acp_runtime::process::{Ladder, LaunchSpec, OwnerId, registry};
use acp_runtime::session::{SessionSpec, TurnOptions, TurnOutcome, ViewKind};
use acp_testkit::process::processes_with_env_mark;
use acp_testkit::{Script, cases};
use serde_json::Value;
use serde_json::value::RawValue;
use tempfile::TempDir;
use tokio::sync::{Notify, oneshot};

/// Longer than anything takes on a busy machine: it bounds a failing test and measures nothing.
pub const PATIENCE: Duration = Duration::from_secs(60);

static NEXT: AtomicU64 = AtomicU64::new(50_000);

/// Where one test launches its agents.
pub struct Stage {
    dir: TempDir,
    pub owner: OwnerId,
    mark: String,
}

impl Stage {
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{number}", std::process::id());
        Self { dir: TempDir::new().unwrap(), owner: OwnerId(number), mark }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A file in the stage, as scripts name it.
    pub fn file(&self, name: &str) -> String {
        self.path().join(name).to_string_lossy().into_owned()
    }

    /// Launches the fake agent with a script; `{{args.0}}` in it is the file `pids`.
    pub fn options(&self, script: &Script) -> LaunchOptions {
        let path = self.file(&format!("script-{}.jsonl", NEXT.fetch_add(1, Ordering::Relaxed)));
        script.write_to(Path::new(&path)).unwrap();
        let mut spec = LaunchSpec::new(env!("CARGO_BIN_EXE_fake-agent"), self.path());
        spec.args = vec![path, self.file("pids")];
        spec.env = vec![("PATH".into(), "/usr/bin:/bin".into()), ("ACP_TEST_MARK".into(), self.mark.clone())];
        spec.host_path = std::env::var_os("PATH");
        spec.owner = self.owner;
        let mut options = LaunchOptions::new(spec);
        options.handshake = HandshakeOptions { timeout: PATIENCE, extend_to: None };
        options
    }

    pub fn pids(&self) -> Vec<u32> {
        acp_testkit::process::pids_from(&PathBuf::from(self.file("pids")))
    }

    pub async fn launch(&self, script: &Script) -> Client {
        self.launch_for(script, Arc::new(DenyAll)).await
    }

    pub async fn launch_for(&self, script: &Script, host: Arc<dyn Host>) -> Client {
        Client::launch(self.options(script), host).await.unwrap()
    }

    pub fn session_request(&self) -> SessionRequest {
        SessionRequest { timeout: Some(PATIENCE), ..SessionRequest::new(self.path().to_string_lossy()) }
    }

    pub fn ask_options(&self, script: &Script) -> AskOptions {
        AskOptions {
            launch: self.options(script),
            session: self.session_request(),
            prompt: ask::text_blocks("please").unwrap(),
            timeout: Some(PATIENCE),
            idle_timeout: None,
            recover_json: false,
            settle: Duration::ZERO,
            close: patient(),
        }
    }

    /// Nothing of this stage's agents is left, now.
    #[track_caller]
    pub fn assert_empty(&self) {
        assert_eq!(registry::active_count(self.owner), 0, "trees are still registered");
        if cfg!(unix) {
            let left = processes_with_env_mark(&format!("ACP_TEST_MARK={}", self.mark));
            assert!(left.is_empty(), "processes are left: {left:?}");
        }
    }

    /// The same, some time soon.
    pub async fn empties(&self) {
        eventually("the last tree is gone", || registry::active_count(self.owner) == 0).await;
        self.assert_empty();
    }

    /// Asks once and proves that nothing is left.
    pub async fn ask(&self, script: &Script) -> AskOutcome {
        self.ask_with(self.ask_options(script)).await
    }

    pub async fn ask_with(&self, options: AskOptions) -> AskOutcome {
        let outcome = ask::ask(options).await;
        self.assert_empty();
        outcome
    }

    /// Closes a client whose agent played its whole script.
    pub async fn end(&self, client: Client) {
        let info = client.close(patient()).await;
        assert_eq!(info.exit.exit_code, Some(0), "the script went wrong: {info:?}\n{}", client.stderr());
        self.assert_empty();
    }
}

pub fn case(name: &str) -> Script {
    cases::script(name).unwrap_or_else(|| panic!("there is no case {name}"))
}

/// `initialize`, `session/new` for `s1`, and the first prompt.
pub fn prompted() -> Script {
    Script::new().initialize().session_new("s1").prompt_begin()
}

/// Gives an agent all the time it wants to end by itself.
pub fn patient() -> CloseOptions {
    let ladder = Ladder { eof_grace: PATIENCE, ..Ladder::default() };
    CloseOptions { turn_grace: Duration::from_millis(200), ladder }
}

/// For agents that do not end by themselves.
pub fn brisk() -> CloseOptions {
    let ladder = Ladder {
        eof_grace: Duration::from_millis(100),
        term_grace: Duration::from_millis(100),
        orphan_grace: Duration::from_millis(50),
        kill_bound: PATIENCE,
    };
    CloseOptions { turn_grace: Duration::from_millis(50), ladder }
}

/// Waits until something is true.
pub async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < until, "this never came: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// What a session told its host, as a host reads it.
pub struct Listener {
    outbox: Arc<Outbox>,
    reader: Mutex<Reader>,
    heard: Mutex<Vec<(Kind, String)>>,
    eager: bool,
}

impl Listener {
    pub fn new() -> Arc<Self> {
        let wake = Arc::new(Notify::new());
        let listener = Self::with(Limits::default(), Budget::of_process(), Some(Arc::clone(&wake)));
        let weak = Arc::downgrade(&listener);
        tokio::spawn(async move {
            loop {
                wake.notified().await;
                let Some(listener) = weak.upgrade() else { return };
                listener.take();
            }
        });
        listener
    }

    /// A host that takes nothing before it is told to.
    pub fn slow(limits: Limits) -> Arc<Self> {
        Self::slow_on(limits, Budget::of_process())
    }

    /// The same with a budget of its own.
    pub fn slow_on(limits: Limits, budget: Arc<Budget>) -> Arc<Self> {
        Self::with(limits, budget, None)
    }

    fn with(limits: Limits, budget: Arc<Budget>, wake: Option<Arc<Notify>>) -> Arc<Self> {
        let eager = wake.is_some();
        let outbox =
            Outbox::with_budget(limits, budget, Arc::new(move || wake.iter().for_each(|wake| wake.notify_one())));
        let reader = Mutex::new(Reader::new(Arc::clone(&outbox)));
        Arc::new(Self { outbox, reader, heard: Mutex::default(), eager })
    }

    pub fn spec(&self, view: ViewKind) -> SessionSpec {
        SessionSpec { outbox: Some(Arc::clone(&self.outbox)), state: true, ..SessionSpec::new(view) }
    }

    /// Where the session tells it.
    pub fn outbox(&self) -> &Arc<Outbox> {
        &self.outbox
    }

    /// Takes what is queued; whether there was something.
    pub fn take(&self) -> bool {
        let mut reader = self.reader.lock().unwrap();
        let mut heard = self.heard.lock().unwrap();
        let before = heard.len();
        while reader.has_more() {
            let (mut text, marks) = reader.slice(100, usize::MAX);
            for mark in marks {
                let (segment, rest) = text.split_at(mark.bytes as usize);
                heard.push((mark.kind, segment.to_owned()));
                text = rest;
            }
        }
        heard.len() > before
    }

    /// Everything heard so far.
    pub fn heard(&self) -> Vec<(Kind, String)> {
        if self.eager {
            self.take();
        }
        self.heard.lock().unwrap().clone()
    }

    pub fn of(&self, kind: Kind) -> Vec<String> {
        self.heard().into_iter().filter(|(k, _)| *k == kind).map(|(_, text)| text).collect()
    }

    pub fn text(&self) -> String {
        self.of(Kind::Text).concat()
    }

    pub async fn hears(&self, kind: Kind, text: &str) {
        eventually(text, || self.of(kind).iter().any(|heard| heard.contains(text))).await;
    }

    /// Where something was heard first.
    #[track_caller]
    pub fn position(&self, kind: Kind, text: &str) -> usize {
        let heard = self.heard();
        let found = heard.iter().position(|(k, t)| *k == kind && t.contains(text));
        found.unwrap_or_else(|| panic!("{kind:?} {text} in {heard:?}"))
    }
}

/// Opens a session with typed events. The host hears of it as the addon's would: in its outbox.
pub async fn open(client: &Client, stage: &Stage, listener: &Arc<Listener>) -> Result<String> {
    open_by(client, "session/new", None, &stage.session_request(), listener, ViewKind::Events).await
}

pub async fn open_by(
    client: &Client,
    method: &str,
    id: Option<&str>,
    request: &SessionRequest,
    listener: &Arc<Listener>,
    view: ViewKind,
) -> Result<String> {
    let (sender, receiver) = oneshot::channel();
    let outbox = Arc::clone(&listener.outbox);
    let reply = Box::new(move |outcome: Result<Box<RawValue>>| {
        outbox.push(Kind::Reply, "opened");
        drop(sender.send(outcome));
    });
    client.open(method, id, request, listener.spec(view), reply);
    let raw = receiver.await.expect("a call is always answered")?;
    let result: Value = serde_json::from_str(raw.get()).unwrap();
    Ok(result["sessionId"].as_str().or(id).unwrap_or_default().to_owned())
}

/// Starts a turn; the handle yields its end.
pub fn begin(
    client: &Client,
    session_id: &str,
    listener: Option<&Arc<Listener>>,
    options: TurnOptions,
) -> oneshot::Receiver<Result<TurnOutcome>> {
    let (sender, receiver) = oneshot::channel();
    let outbox = listener.map(|listener| Arc::clone(&listener.outbox));
    let reply = Box::new(move |outcome| {
        if let Some(outbox) = outbox {
            outbox.push(Kind::Reply, "ended");
        }
        drop(sender.send(outcome));
    });
    client.prompt_with(session_id, &ask::text_blocks("please").unwrap(), options, reply);
    receiver
}

/// Runs a turn to its end.
pub async fn prompt(client: &Client, session_id: &str, listener: &Arc<Listener>) -> Result<TurnOutcome> {
    begin(client, session_id, Some(listener), TurnOptions::default()).await.expect("a turn always ends")
}

/// Launches, opens `s1` and returns all that a turn needs.
pub async fn opened(stage: &Stage, script: &Script, host: Arc<dyn Host>) -> (Client, Arc<Listener>) {
    let client = stage.launch_for(script, host).await;
    let listener = Listener::new();
    assert_eq!(open(&client, stage, &listener).await.unwrap(), "s1");
    (client, listener)
}

/// One turn of a script that opens `s1`, ends the turn and exits cleanly.
pub async fn one_turn(script: &Script) -> (TurnOutcome, Arc<Listener>, acp_runtime::diagnostics::Snapshot) {
    let stage = Stage::new();
    let (client, listener) = opened(&stage, script, Arc::new(DenyAll)).await;
    let outcome = prompt(&client, "s1", &listener).await.unwrap();
    let diagnostics = client.diagnostics();
    stage.end(client).await;
    listener.take();
    (outcome, listener, diagnostics)
}

/// Everything of an error that a host may show or log.
pub fn everything(error: &Error) -> String {
    format!("{error} {error:?} {}", serde_json::to_string(error.details()).unwrap())
}

#[track_caller]
pub fn assert_code<T: std::fmt::Debug>(result: &Result<T>, code: ErrorCode) {
    match result {
        Err(error) => assert_eq!(error.code(), code, "{error:?}"),
        Ok(value) => panic!("{code} expected, found {value:?}"),
    }
}

/// The tool call that a host is asked about.
pub fn shown(request: &PermissionRequest) -> Value {
    serde_json::from_str(request.tool_call.get()).unwrap()
}

/// What the host answers a permission request with.
type Decide = dyn Fn(usize, PermissionRequest) -> BoxFuture<PermissionDecision> + Send + Sync;

/// A host that decides by a function of the number and the content of the request, and notes what it was asked.
pub struct Decider {
    decide: Box<Decide>,
    pub asked: Mutex<Vec<PermissionRequest>>,
    pub notified: Mutex<Vec<String>>,
    pub closed: AtomicU64,
}

impl Decider {
    pub fn new(
        decide: impl Fn(usize, PermissionRequest) -> BoxFuture<PermissionDecision> + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (asked, notified) = (Mutex::default(), Mutex::default());
        Arc::new(Self { decide: Box::new(decide), asked, notified, closed: AtomicU64::new(0) })
    }

    pub fn always(decision: PermissionDecision) -> Arc<Self> {
        Self::new(move |_, _| Box::pin(std::future::ready(decision.clone())))
    }

    /// Never decides.
    pub fn undecided() -> Arc<Self> {
        Self::new(|_, _| Box::pin(std::future::pending()))
    }

    pub fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Host for Decider {
    fn permission(&self, request: PermissionRequest) -> BoxFuture<PermissionDecision> {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(request.clone());
            asked.len() - 1
        };
        (self.decide)(number, request)
    }

    fn notification(&self, method: &str, _: Option<&RawValue>) {
        self.notified.lock().unwrap().push(method.to_owned());
    }

    fn closed(&self, _: &acp_runtime::error::ExitFacts) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}
