//! Delivery to the host: a bounded, ordered queue that the host drains in slices.
//!
//! Everything a session tells its host passes through one [`Outbox`] in wire order: updates, requests of the agent, and
//! the answers that followed them. Items are segments of one string, so that a slice crosses to JavaScript as one string
//! and a table of lengths. The producer appends to a [`Slab`] of its own and publishes it once per read from the pipe;
//! the consumer takes what it can use. A full outbox makes the connection stop reading, which slows the agent through its
//! pipe: memory never grows with a slow host, and nothing is lost.
//!
//! An agent has one pipe for all of its sessions. So that one slow session does not stop the others, a full outbox may go
//! on growing while others wait for that pipe, on account of a [`Budget`] that the whole process shares.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::text::utf16::utf16_len;

/// What a drained slab keeps of its memory, in bytes.
const KEEP_BYTES: usize = 1024 * 1024;

/// What a segment is. The numbers are the contract with `lib/native/hub.js`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Text of an `agent_message_chunk`, sanitised.
    Text = 0,
    /// Text of an `agent_thought_chunk`, sanitised.
    Thought = 1,
    /// Text of a `user_message_chunk`, sanitised.
    UserText = 2,
    /// A change of the message that following chunks belong to: the id, or empty for none.
    MessageId = 3,
    /// A session update in the agent's own JSON.
    Update = 4,
    /// A tool call started, for hosts that take callbacks: JSON `{name,args}`.
    ToolStart = 5,
    /// A tool call ended, for hosts that take callbacks: JSON `{name,isError,result}`.
    ToolEnd = 6,
    /// The answer to a call of the host: JSON `{token,ok,value|error}`.
    Reply = 7,
    /// A request of the agent that the host answers: JSON `{request,method,params}`.
    Request = 8,
    /// A notification of the agent: JSON `{method,params}`.
    Notification = 9,
    /// Following updates repeat history, while a session is reopened: JSON `true` or `false`.
    Replay = 10,
    /// A turn of the session begins or ends; following updates belong to it, or to none: JSON `true` or `false`.
    Turn = 11,
    /// The connection ended: JSON of the exit facts.
    Closed = 12,
    /// One frame for the wire tap: JSON `{direction,time,frame}`.
    Wire = 13,
    /// Following updates belong to this child session; empty: to the session itself.
    Child = 14,
    /// The message text of the turn that the next reply ends: large, and as it is, so that nobody escapes it and reads it back.
    TurnText = 15,
}

/// One segment of a [`Slab`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// What it is.
    pub kind: Kind,
    /// Its length in bytes of UTF-8.
    pub bytes: u32,
    /// Its length in UTF-16 code units, as JavaScript counts.
    pub units: u32,
}

/// Segments in order, back to back in one string.
#[derive(Debug, Default)]
pub struct Slab {
    text: String,
    marks: Vec<Mark>,
    /// Where the last segment ends.
    committed: usize,
}

impl Slab {
    /// Appends a segment.
    pub fn push(&mut self, kind: Kind, text: &str) {
        self.text.push_str(text);
        self.commit(kind, utf16_len(text));
    }

    /// The string that the next segment is written to in place; [`Slab::commit`] ends it.
    pub fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// What was written since the last segment.
    pub fn uncommitted(&self) -> &str {
        &self.text[self.committed..]
    }

    /// Ends a segment of `units` UTF-16 code units.
    pub fn commit(&mut self, kind: Kind, units: usize) {
        // A segment is at most one line of the wire, whose limit is far below 4 GiB.
        let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.marks.push(Mark { kind, bytes: length(self.text.len() - self.committed), units: length(units) });
        self.committed = self.text.len();
    }

    /// Drops what was written since the last segment.
    pub fn discard(&mut self) {
        self.text.truncate(self.committed);
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    fn append(&mut self, other: &mut Self) {
        if self.marks.is_empty() {
            std::mem::swap(self, other);
        } else {
            self.text.push_str(&other.text);
            self.marks.append(&mut other.marks);
            self.committed = self.text.len();
        }
        other.clear();
    }

    fn clear(&mut self) {
        self.text.clear();
        self.marks.clear();
        self.committed = 0;
        // One huge item must not be paid for ever after.
        self.text.shrink_to(KEEP_BYTES);
    }
}

/// Limits of an [`Outbox`]. An item may exceed them by its own size, so that one large item always passes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes held before the producer waits.
    pub bytes: usize,
    /// Segments held before the producer waits.
    pub items: usize,
}

impl Default for Limits {
    /// 4 MiB and 16,384 segments.
    fn default() -> Self {
        Self { bytes: 4 * 1024 * 1024, items: 16 * 1024 }
    }
}

/// What the outboxes of a process may hold together beyond their own limits.
#[derive(Debug)]
pub struct Budget {
    bytes: usize,
    used: AtomicUsize,
    freed: Notify,
}

/// The budget of this process, in bytes: 64 MiB.
pub const PROCESS_BUDGET_BYTES: usize = 64 * 1024 * 1024;

static PROCESS_BUDGET: LazyLock<Arc<Budget>> = LazyLock::new(|| Budget::new(PROCESS_BUDGET_BYTES));

impl Budget {
    /// A budget of its own.
    pub fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { bytes, used: AtomicUsize::new(0), freed: Notify::new() })
    }

    /// The one that every outbox of this process has unless it is told otherwise.
    pub fn of_process() -> Arc<Self> {
        Arc::clone(&PROCESS_BUDGET)
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }

    fn take(&self, bytes: usize) -> bool {
        let more = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.bytes);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    fn give(&self, bytes: usize) {
        if bytes > 0 {
            self.used.fetch_sub(bytes, Ordering::AcqRel);
            self.freed.notify_waiters();
        }
    }
}

/// Called when an empty outbox gets its first segment; at most once until the consumer drained it.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The queue between one session's producer and its host.
pub struct Outbox {
    limits: Limits,
    budget: Arc<Budget>,
    wake: Wake,
    inner: Mutex<Inner>,
    space: Notify,
}

#[derive(Default)]
struct Inner {
    slab: Slab,
    closed: bool,
    /// Bytes taken from the budget for what is held.
    charged: usize,
}

impl Inner {
    fn exceeds(&self, limits: Limits) -> bool {
        !self.closed && (self.slab.bytes() >= limits.bytes || self.slab.marks.len() >= limits.items)
    }

    /// What is held beyond the limits, in bytes; segments are memory, too.
    fn excess(&self, limits: Limits) -> usize {
        let marks = self.slab.marks.len().saturating_sub(limits.items) * size_of::<Mark>();
        self.slab.bytes().saturating_sub(limits.bytes) + marks
    }
}

impl std::fmt::Debug for Outbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outbox").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Outbox {
    /// An empty outbox.
    pub fn new(limits: Limits, wake: Wake) -> Arc<Self> {
        Self::with_budget(limits, Budget::of_process(), wake)
    }

    /// The same, with a budget of its own.
    pub fn with_budget(limits: Limits, budget: Arc<Budget>, wake: Wake) -> Arc<Self> {
        Arc::new(Self { limits, budget, wake, inner: Mutex::default(), space: Notify::new() })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code panics while holding the lock; if it did, the queue is still consistent between its statements.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the producer's segments to the queue. Never waits: call [`Outbox::is_full`] before producing more.
    pub fn publish(&self, slab: &mut Slab) {
        if slab.is_empty() {
            return;
        }
        let mut inner = self.lock();
        if inner.closed {
            slab.clear();
            return;
        }
        let was_empty = inner.slab.is_empty();
        inner.slab.append(slab);
        drop(inner);
        if was_empty {
            (self.wake)();
        }
    }

    /// Queues one segment.
    pub fn push(&self, kind: Kind, text: &str) {
        let mut slab = Slab::default();
        slab.push(kind, text);
        self.publish(&mut slab);
    }

    /// Whether the producer should wait for [`Outbox::space`].
    pub fn is_full(&self) -> bool {
        self.lock().exceeds(self.limits)
    }

    /// Lets a full outbox go on growing on account of the budget. `false`: the budget has no room, the producer waits.
    pub fn park(&self) -> bool {
        let mut inner = self.lock();
        if inner.closed {
            return true;
        }
        let more = inner.excess(self.limits).saturating_sub(inner.charged);
        let room = self.budget.take(more);
        if room {
            inner.charged += more;
        }
        room
    }

    /// Resolves when the outbox has room again, or is closed; where it may `park`, also when the budget has room.
    pub async fn space(&self, park: bool) {
        loop {
            let (notified, freed) = (self.space.notified(), self.budget.freed.notified());
            tokio::pin!(notified, freed);
            notified.as_mut().enable();
            freed.as_mut().enable();
            if !self.is_full() || park && self.park() {
                return;
            }
            tokio::select! {
                () = notified => {}
                () = freed, if park => {}
            }
        }
    }

    /// Moves everything queued into `slab`, which the consumer has drained; its memory serves the producer next. So does
    /// what both have `charged` to the budget.
    fn refill(&self, slab: &mut Slab, charged: &mut usize) {
        slab.clear();
        let spent = {
            let mut inner = self.lock();
            std::mem::swap(&mut inner.slab, slab);
            std::mem::replace(charged, std::mem::take(&mut inner.charged))
        };
        self.budget.give(spent);
        self.space.notify_one();
    }

    /// The host is gone: drops what is held and everything that follows, and frees a waiting producer.
    pub fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.slab = Slab::default();
        let charged = std::mem::take(&mut inner.charged);
        drop(inner);
        self.budget.give(charged);
        self.space.notify_one();
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        let charged = std::mem::take(&mut self.lock().charged);
        self.budget.give(charged);
    }
}

/// The consumer's end of an [`Outbox`]: hands out slices of at most a given number of segments, without copying them.
#[derive(Debug)]
pub struct Reader {
    outbox: Arc<Outbox>,
    slab: Slab,
    /// The first segment and byte not handed out yet.
    next_mark: usize,
    next_byte: usize,
    /// What the segments of `slab` cost the budget.
    charged: usize,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.outbox.budget.give(self.charged);
    }
}

impl Reader {
    /// The one consumer of `outbox`.
    pub fn new(outbox: Arc<Outbox>) -> Self {
        Self { outbox, slab: Slab::default(), next_mark: 0, next_byte: 0, charged: 0 }
    }

    /// The next segments: at most `max`, and no more after `max_bytes`; at least one if any is queued.
    pub fn slice(&mut self, max: usize, max_bytes: usize) -> (&str, &[Mark]) {
        if self.next_mark == self.slab.marks.len() {
            self.outbox.refill(&mut self.slab, &mut self.charged);
            (self.next_mark, self.next_byte) = (0, 0);
        }
        let (first, start) = (self.next_mark, self.next_byte);
        for mark in self.slab.marks[first..].iter().take(max) {
            if self.next_byte - start >= max_bytes {
                break;
            }
            self.next_mark += 1;
            self.next_byte += mark.bytes as usize;
        }
        (&self.slab.text[start..self.next_byte], &self.slab.marks[first..self.next_mark])
    }

    /// Whether segments are left.
    pub fn has_more(&self) -> bool {
        self.next_mark < self.slab.marks.len() || !self.outbox.lock().slab.is_empty()
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
