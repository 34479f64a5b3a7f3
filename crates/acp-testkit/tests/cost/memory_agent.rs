//! An agent in memory: a connection without pipes and processes, so that nothing but its own work is counted.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use acp_runtime::capabilities::Offers;
use acp_runtime::connection::{CallOptions, Connection, Options, Transport};
use acp_runtime::delivery::Outbox;
use acp_runtime::error::{Phase, Result};
use acp_runtime::pending::Effect;
use acp_runtime::port::{DenyAll, NoServices};
use acp_runtime::services::permission::Floor;
use acp_runtime::session::{SessionSpec, TurnOptions, TurnOutcome, ViewKind};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::immortal::Immortal;

/// The one session of the agent.
pub const SESSION: &str = "sess-1";

/// What the agent says in a turn: a block of whole lines, again and again.
#[derive(Clone, Debug)]
pub struct Flood {
    /// The lines, each with its newline.
    pub block: Arc<[u8]>,
    /// How often.
    pub blocks: usize,
    /// Bytes of one read.
    pub read_bytes: usize,
}

/// The start and end of a line that tells an update of the session.
pub fn line(update: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{SESSION}","update":{update}}}}}"#)
        + "\n"
}

/// A connection to an agent that will send `flood` on its first prompt. Needs a tokio runtime.
pub struct MemoryAgent {
    /// The connection.
    pub connection: Connection,
    agent: Shared,
}

impl MemoryAgent {
    /// Connects; lines longer than `max_line_bytes` are dropped.
    pub fn connect(flood: Flood, max_line_bytes: usize) -> Self {
        let agent: Shared =
            Arc::new(Mutex::new(Agent { flood, at: 0, sent: 0, answers: Vec::new(), waker: None, turn: None }));
        let transport = Transport {
            reader: Box::new(Stdout(Arc::clone(&agent))),
            writer: Box::new(Stdin(Arc::clone(&agent))),
            input_gone: Box::pin(std::future::pending()),
            process: Arc::new(Immortal),
        };
        let options = Options {
            offers: Offers::default(),
            floor: Floor::OnceOnly,
            max_line_bytes,
            redact: Arc::new(str::to_owned),
            tap: None,
            services: Arc::new(NoServices),
        };
        Self { connection: Connection::start(transport, Arc::new(DenyAll), options), agent }
    }

    /// Opens the session.
    pub async fn open(&self, view: ViewKind, outbox: Option<Arc<Outbox>>) -> Result<()> {
        let mut open = CallOptions::plain(Phase::Session);
        let state = view == ViewKind::Events;
        open.effect = Effect::OpenSession(Box::new(SessionSpec { outbox, state, ..SessionSpec::new(view) }));
        self.connection.call("session/new", None, open).await.map(drop)
    }

    /// The turn, from prompt to result.
    pub async fn turn(&self) -> Result<TurnOutcome> {
        let (ended, end) = tokio::sync::oneshot::channel();
        let params = serde_json::value::to_raw_value(&serde_json::json!({ "sessionId": SESSION, "prompt": [] }));
        let params: Box<RawValue> = params.unwrap_or_default();
        let settle = Box::new(move |outcome| drop(ended.send(outcome)));
        self.connection.prompt_with(SESSION, params, TurnOptions::default(), settle);
        end.await.unwrap_or_else(|_| Err(acp_runtime::error::Error::invalid_argument("the turn was dropped")))
    }

    /// Bytes that were read from the agent so far.
    pub fn sent(&self) -> usize {
        lock(&self.agent).sent
    }
}

struct Agent {
    flood: Flood,
    /// Where in the current block the next read goes on.
    at: usize,
    sent: usize,
    answers: Vec<u8>,
    waker: Option<Waker>,
    /// The `session/prompt` that is being answered.
    turn: Option<u64>,
}

type Shared = Arc<Mutex<Agent>>;

fn lock(agent: &Shared) -> MutexGuard<'_, Agent> {
    agent.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Agent {
    fn heard(&mut self, bytes: &[u8]) {
        #[derive(serde::Deserialize)]
        struct Call {
            id: u64,
            method: String,
        }
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(call) = serde_json::from_slice::<Call>(line) else { continue };
            if call.method == "session/prompt" {
                self.turn = Some(call.id);
            } else {
                let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"sessionId":"{SESSION}"}}}}"#, call.id);
                self.answers.extend_from_slice(answer.as_bytes());
                self.answers.push(b'\n');
            }
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn say(&mut self, into: &mut ReadBuf<'_>) -> bool {
        let room = into.remaining().min(self.flood.read_bytes);
        let before = into.filled().len();
        if !self.answers.is_empty() {
            let part = self.answers.len().min(room);
            into.put_slice(&self.answers[..part]);
            self.answers.drain(..part);
        } else if let Some(turn) = self.turn {
            let part = &self.flood.block[self.at..self.flood.block.len().min(self.at + room)];
            into.put_slice(part);
            self.at += part.len();
            if self.at == self.flood.block.len() {
                self.at = 0;
                self.flood.blocks -= 1;
            }
            if self.flood.blocks == 0 {
                self.turn = None;
                let end = format!(r#"{{"jsonrpc":"2.0","id":{turn},"result":{{"stopReason":"end_turn"}}}}"#);
                self.answers.extend_from_slice(end.as_bytes());
                self.answers.push(b'\n');
            }
        } else {
            return false;
        }
        self.sent += into.filled().len() - before;
        true
    }
}

struct Stdout(Shared);
struct Stdin(Shared);

impl AsyncRead for Stdout {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        let mut agent = lock(&self.0);
        if agent.say(into) {
            return Poll::Ready(Ok(()));
        }
        agent.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl AsyncWrite for Stdin {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        lock(&self.0).heard(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
