//! The terminals of one connection, each owned by a task of its own.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::buffer::OutputBuffer;
use super::process::{Started, TerminalCommand, TerminalLauncher, TerminalProcess};
use super::request::{ExitStatus, TerminalOutput};
use crate::services::clean::clean;
use crate::wire::encode::{AnswerError, code};

/// Default ceiling of the kept output of one terminal, in bytes.
pub const DEFAULT_OUTPUT_CEILING: usize = 1024 * 1024;
/// Default number of terminals that a connection may hold.
pub const DEFAULT_MAX_TERMINALS: usize = 64;
/// How long output is awaited after the command ended: a process it left behind may hold the pipe open.
const DRAIN: Duration = Duration::from_millis(250);
/// How long `kill` and `release` wait for the end before they answer anyway.
const KILL_WAIT: Duration = Duration::from_secs(5);

/// Limits of a connection's terminals.
#[derive(Clone, Copy, Debug)]
pub struct TerminalLimits {
    /// Most bytes of output kept of one terminal, whatever the agent asks for.
    pub output_ceiling: usize,
    /// Most terminals at a time.
    pub max_terminals: usize,
}

impl Default for TerminalLimits {
    fn default() -> Self {
        Self { output_ceiling: DEFAULT_OUTPUT_CEILING, max_terminals: DEFAULT_MAX_TERMINALS }
    }
}

/// Why a terminal request failed.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The params are not acceptable.
    #[error("{0}")]
    InvalidParams(&'static str),
    /// The session has no terminal with this id, or no longer.
    #[error("no such terminal: {0}")]
    Unknown(String),
    /// The connection holds as many terminals as it may.
    #[error("too many terminals; release some first")]
    TooMany,
    /// The connection is about to end.
    #[error("the client is closing")]
    Closed,
    /// The command did not start.
    #[error("the command did not start ({})", .0.kind())]
    Start(io::Error),
}

impl TerminalError {
    /// The JSON-RPC error code: −32002 for an unknown id, −32602 for params, −32800 once the connection ends, −32603
    /// otherwise.
    pub const fn rpc_code(&self) -> i64 {
        match self {
            Self::InvalidParams(_) => code::INVALID_PARAMS,
            Self::Unknown(_) => code::RESOURCE_NOT_FOUND,
            Self::Closed => code::REQUEST_CANCELLED,
            Self::TooMany | Self::Start(_) => code::INTERNAL_ERROR,
        }
    }

    /// The `data` of the JSON-RPC error.
    pub fn rpc_data(&self) -> Option<Value> {
        match self {
            Self::Unknown(id) => Some(json!({ "terminalId": id })),
            _ => None,
        }
    }
}

impl From<TerminalError> for AnswerError {
    fn from(error: TerminalError) -> Self {
        Self { code: error.rpc_code(), message: error.to_string(), data: error.rpc_data() }
    }
}

/// The terminals of one connection. Cheap to clone; when the last clone goes, every command is killed.
#[derive(Clone)]
pub struct Terminals(Arc<Inner>);

struct Inner {
    launcher: Arc<dyn TerminalLauncher>,
    limits: TerminalLimits,
    state: Mutex<State>,
    /// A command that was about to start has started, or has not.
    settled: Notify,
}

#[derive(Default)]
struct State {
    next: u64,
    /// Terminals, and commands that are about to start.
    count: usize,
    /// Commands that are about to start.
    starting: usize,
    /// Nothing is started any more.
    closed: bool,
    sessions: HashMap<String, HashMap<String, Arc<Terminal>>>,
}

impl Terminals {
    /// No terminals yet.
    pub fn new(launcher: Arc<dyn TerminalLauncher>, limits: TerminalLimits) -> Self {
        Self(Arc::new(Inner { launcher, limits, state: Mutex::default(), settled: Notify::new() }))
    }

    /// Starts a command and returns the terminal's id at once. Call it on a tokio runtime.
    pub fn create(
        &self,
        session_id: &str,
        command: TerminalCommand,
        output_byte_limit: Option<u64>,
    ) -> Result<String, TerminalError> {
        let place = Place::take(&self.0)?;
        let started = self.0.launcher.launch(command).map_err(TerminalError::Start)?;
        let limit = OutputBuffer::effective_limit(output_byte_limit, self.0.limits.output_ceiling);
        let terminal = Arc::new(Terminal::new(limit));
        tokio::spawn(own(started, EndGuard(Arc::clone(&terminal))));
        place.fill(session_id, terminal)
    }

    /// What the terminal has printed, and how it ended, if it has.
    pub fn output(&self, session_id: &str, terminal_id: &str) -> Result<TerminalOutput, TerminalError> {
        Ok(self.find(session_id, terminal_id)?.snapshot())
    }

    /// Waits for the command's end. Any number of callers may wait, and a release ends the waiting as well.
    pub async fn wait_for_exit(&self, session_id: &str, terminal_id: &str) -> Result<ExitStatus, TerminalError> {
        let terminal = self.find(session_id, terminal_id)?;
        terminal.ended().await;
        Ok(terminal.snapshot().exit_status.unwrap_or_default())
    }

    /// Kills the command and what it started. The id stays valid; killing an ended command does nothing.
    pub async fn kill(&self, session_id: &str, terminal_id: &str) -> Result<(), TerminalError> {
        self.find(session_id, terminal_id)?.kill_and_wait().await;
        Ok(())
    }

    /// Kills the command if it still runs and forgets the terminal. Returns its last output, so that a host can keep
    /// showing it.
    pub async fn release(&self, session_id: &str, terminal_id: &str) -> Result<TerminalOutput, TerminalError> {
        let terminal = {
            let mut state = self.state();
            let terminals = state.sessions.get_mut(session_id);
            let terminal = terminals.and_then(|terminals| terminals.remove(terminal_id));
            let terminal = terminal.ok_or_else(|| unknown(terminal_id))?;
            state.count -= 1;
            if state.sessions.get(session_id).is_some_and(HashMap::is_empty) {
                state.sessions.remove(session_id);
            }
            terminal
        };
        terminal.kill_and_wait().await;
        Ok(terminal.snapshot())
    }

    /// Releases every terminal that a session has now: it ended. The future waits for their end.
    pub fn release_all(&self, session_id: &str) -> impl Future<Output = ()> + Send + use<> {
        let terminals = {
            let mut state = self.state();
            let terminals = state.sessions.remove(session_id).unwrap_or_default();
            state.count -= terminals.len();
            terminals
        };
        end_all(terminals.into_values())
    }

    /// Starts nothing any more: the connection is about to end.
    pub fn refuse(&self) {
        self.state().closed = true;
    }

    /// Releases every terminal, those included that are just being created: the connection ended.
    pub async fn close(&self) {
        self.refuse();
        loop {
            let settled = self.0.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            let (sessions, starting) = {
                let mut state = self.state();
                let sessions = std::mem::take(&mut state.sessions);
                state.count -= sessions.values().map(HashMap::len).sum::<usize>();
                (sessions, state.starting)
            };
            end_all(sessions.into_values().flat_map(HashMap::into_values)).await;
            if starting == 0 {
                return;
            }
            settled.await;
        }
    }

    /// How many terminals are held, or about to be.
    pub fn len(&self) -> usize {
        self.state().count
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn find(&self, session_id: &str, terminal_id: &str) -> Result<Arc<Terminal>, TerminalError> {
        let state = self.state();
        let terminal = state.sessions.get(session_id).and_then(|terminals| terminals.get(terminal_id));
        terminal.cloned().ok_or_else(|| unknown(terminal_id))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a command that is about to start: taken before it starts, given back if it does not.
struct Place<'a> {
    of: &'a Inner,
    filled: bool,
}

impl<'a> Place<'a> {
    fn take(of: &'a Inner) -> Result<Self, TerminalError> {
        let mut state = of.state();
        if state.closed {
            return Err(TerminalError::Closed);
        }
        if state.count >= of.limits.max_terminals {
            return Err(TerminalError::TooMany);
        }
        state.count += 1;
        state.starting += 1;
        Ok(Self { of, filled: false })
    }

    /// Hands out an id, unless the end came while the command started: it is killed then, and left to who closes.
    fn fill(mut self, session_id: &str, terminal: Arc<Terminal>) -> Result<String, TerminalError> {
        let mut state = self.of.state();
        self.filled = true;
        state.next += 1;
        let id = format!("term-{}", state.next);
        let closed = state.closed;
        if closed {
            terminal.kill.notify_one();
        }
        state.sessions.entry(session_id.to_owned()).or_default().insert(id.clone(), terminal);
        if closed { Err(TerminalError::Closed) } else { Ok(id) }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.of.state();
            state.starting -= 1;
            state.count -= usize::from(!self.filled);
        }
        self.of.settled.notify_waiters();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for terminal in state.sessions.values().flat_map(HashMap::values) {
            terminal.kill.notify_one();
        }
    }
}

fn unknown(terminal_id: &str) -> TerminalError {
    TerminalError::Unknown(clean(terminal_id, 256))
}

async fn end_all(terminals: impl Iterator<Item = Arc<Terminal>> + Send) {
    let terminals: Vec<_> = terminals.collect();
    for terminal in &terminals {
        terminal.kill.notify_one();
    }
    for terminal in terminals {
        terminal.kill_and_wait().await;
    }
}

/// What the owning task and the registry share.
struct Terminal {
    output: Mutex<(OutputBuffer, Option<ExitStatus>)>,
    ended: watch::Sender<bool>,
    kill: Notify,
}

impl Terminal {
    fn new(limit: usize) -> Self {
        Self {
            output: Mutex::new((OutputBuffer::new(limit), None)),
            ended: watch::Sender::new(false),
            kill: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, (OutputBuffer, Option<ExitStatus>)> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn snapshot(&self) -> TerminalOutput {
        let output = self.lock();
        TerminalOutput { output: output.0.text(), truncated: output.0.is_truncated(), exit_status: output.1.clone() }
    }

    async fn ended(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    async fn kill_and_wait(&self) {
        self.kill.notify_one();
        // A process that the system cannot end (uninterruptible sleep) must not hold up the answer.
        let _ = tokio::time::timeout(KILL_WAIT, self.ended()).await;
    }
}

/// Sets the end even when the task is dropped with its runtime: nobody waits for ever.
struct EndGuard(Arc<Terminal>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        {
            let mut output = self.0.lock();
            output.0.finish();
            output.1.get_or_insert_default();
        }
        self.0.ended.send_replace(true);
    }
}

/// Owns a command from its start to the end of its tree.
async fn own(started: Started, terminal: EndGuard) {
    let Started { mut output, mut process } = started;
    let mut chunk = vec![0; 16 * 1024];
    let mut open = true;
    let status = loop {
        tokio::select! {
            biased;
            () = terminal.0.kill.notified() => process.kill(),
            facts = process.wait() => break ExitStatus::from(&facts),
            read = output.read(&mut chunk), if open => open = take_in(&terminal.0, read, &chunk),
        }
    };
    if open {
        drain(&mut output, process.as_mut(), &terminal.0, &mut chunk).await;
    }
    // What the command left behind ends with it.
    process.end().await;
    terminal.0.lock().1 = Some(status);
}

async fn drain(
    output: &mut (impl AsyncRead + Unpin),
    process: &mut dyn TerminalProcess,
    terminal: &Terminal,
    chunk: &mut [u8],
) {
    let deadline = Instant::now() + DRAIN;
    loop {
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(deadline) => return,
            () = terminal.kill.notified() => process.kill(),
            read = output.read(chunk) => if !take_in(terminal, read, chunk) { return },
        }
    }
}

/// Returns whether more may follow.
fn take_in(terminal: &Terminal, read: io::Result<usize>, chunk: &[u8]) -> bool {
    match read {
        Ok(0) => false,
        Ok(read) => {
            terminal.lock().0.push(&chunk[..read]);
            true
        }
        Err(error) => error.kind() == io::ErrorKind::Interrupted,
    }
}
