//! The agent's requests that wait for an answer, and how much they may hold.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

use super::mcp::McpKey;
use crate::port::BoxFuture;
use crate::wire::encode::{Answer, AnswerError, code};

/// Requests that may wait for the host at once. One more is refused; an agent has no use for so many.
const MAX_OPEN: usize = 256;

/// Handlers at once, those included that were taken back and have not ended yet. With one more the request is refused.
const MAX_HANDLERS: usize = 2 * MAX_OPEN;

/// Bytes of requests that wait for an answer, ids and params. A single request may exceed it by its own size.
const MAX_OPEN_BYTES: usize = 64 * 1024 * 1024;

/// Requests with large answers that are served at once. Such an answer is some megabytes, and an agent that does not take
/// its answers must not make us keep many.
const MAX_LARGE: usize = 4;

/// What a request asks, as far as taking it back differs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Permission,
    Elicitation,
    /// Something whose answer may be large.
    Large,
    Other,
}

/// A request that waits.
pub(super) struct Open {
    /// The agent's id, in its own JSON.
    pub id: String,
    pub session_id: Option<String>,
    /// The child session that asks.
    pub child: Option<String>,
    /// The request to an MCP server that it is.
    pub mcp: Option<McpKey>,
    /// The call of ours that the agent cannot answer before it has this answer.
    pub about: Option<u64>,
    pub asks: Asks,
    /// The id of a URL elicitation.
    pub elicitation: Option<String>,
    /// What counts against [`MAX_OPEN_BYTES`].
    pub bytes: usize,
    pub abort: AbortHandle,
}

/// An answer, and the place that it takes among the large ones until it is written.
type Held = (Answer, Option<OwnedSemaphorePermit>);

/// The agent's requests that wait for an answer.
pub(super) struct InboundTable {
    pub open: HashMap<Id, Open>,
    /// The sum over `open`.
    bytes: usize,
    handlers: JoinSet<Held>,
    large: Arc<Semaphore>,
    /// URL elicitations that were not declined.
    pub elicitations: VecDeque<String>,
}

/// What [`InboundTable::next`] yields: a handler that finished.
pub(super) type Finished = (Id, Held);

impl Default for InboundTable {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            bytes: 0,
            handlers: JoinSet::new(),
            large: Arc::new(Semaphore::new(MAX_LARGE)),
            elicitations: VecDeque::new(),
        }
    }
}

impl InboundTable {
    pub(super) fn is_empty(&self) -> bool {
        self.handlers.is_empty()
    }

    /// Whether another request of that many bytes is one too many.
    pub(super) fn is_full(&self, bytes: usize) -> bool {
        let too_large = self.bytes > 0 && self.bytes.saturating_add(bytes) > MAX_OPEN_BYTES;
        too_large || self.open.len() >= MAX_OPEN || self.handlers.len() >= MAX_HANDLERS
    }

    /// Starts a handler; [`Self::insert`] follows.
    pub(super) fn spawn(&mut self, asks: Asks, future: BoxFuture<Answer>) -> AbortHandle {
        let place = (asks == Asks::Large).then(|| Arc::clone(&self.large));
        self.handlers.spawn(async move {
            let place = match place {
                // It is never closed.
                Some(place) => place.acquire_owned().await.ok(),
                None => None,
            };
            (future.await, place)
        })
    }

    pub(super) fn insert(&mut self, open: Open) {
        self.bytes += open.bytes;
        self.open.insert(open.abort.id(), open);
    }

    pub(super) fn remove(&mut self, key: Id) -> Option<Open> {
        let open = self.open.remove(&key)?;
        self.bytes -= open.bytes;
        Some(open)
    }

    /// The next handler that finishes.
    pub(super) async fn next(&mut self) -> Option<Finished> {
        self.handlers.join_next_with_id().await.map(finished)
    }

    /// The next handler that has finished already.
    pub(super) fn try_next(&mut self) -> Option<Finished> {
        self.handlers.try_join_next_with_id().map(finished)
    }
}

/// A handler that panicked failed; the connection lives.
fn finished(joined: Result<(Id, Held), JoinError>) -> Finished {
    joined.unwrap_or_else(|error| (error.id(), (Err(AnswerError::new(code::INTERNAL_ERROR, failure(&error))), None)))
}

/// What an agent hears of a host whose code failed.
pub(super) const PANICKED: &str = "the client failed to handle the request";

fn failure(error: &JoinError) -> &'static str {
    if error.is_panic() { PANICKED } else { "the request was cancelled" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn handlers_that_were_taken_back_count_until_they_have_ended() {
        let mut table = InboundTable::default();
        for asks in [Asks::Other, Asks::Large, Asks::Permission].into_iter().cycle().take(MAX_HANDLERS) {
            assert!(!table.is_full(1));
            table.spawn(asks, Box::pin(std::future::pending())).abort();
        }
        assert!(table.open.is_empty() && table.is_full(1));
        while !table.is_empty() {
            tokio::task::yield_now().await;
            while let Some((_, (answer, place))) = table.try_next() {
                assert!(answer.is_err() && place.is_none());
            }
        }
        assert!(!table.is_full(1));
        assert_eq!(table.large.available_permits(), MAX_LARGE);
    }
}
