//! Delivery to the host: a bounded, ordered queue that the host drains in slices.
//!
//! Everything a session tells its host passes through one [`Outbox`] in wire order: updates, requests of the agent, and
//! the answers that followed them. Items are segments of one string, so that a slice crosses to JavaScript as one string
//! and a table of lengths. The producer appends to a [`Slab`] of its own and publishes it once per read from the pipe;
//! the consumer takes what it can use. A full outbox makes the connection stop reading, which slows the agent through its
//! pipe: memory never grows with a slow host, and nothing is lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// Following updates replay history (`session/load`): JSON `true` or `false`.
    Replay = 10,
    /// A turn of the session begins or ends; following updates belong to it, or to none: JSON `true` or `false`.
    Turn = 11,
    /// The connection ended: JSON of the exit facts.
    Closed = 12,
    /// One frame for the wire tap: JSON `{direction,time,frame}`.
    Wire = 13,
    /// Following updates belong to this child session; empty: to the session itself.
    Child = 14,
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

/// Called when an empty outbox gets its first segment; at most once until the consumer drained it.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The queue between one session's producer and its host.
pub struct Outbox {
    limits: Limits,
    wake: Wake,
    inner: Mutex<Inner>,
    space: Notify,
}

#[derive(Default)]
struct Inner {
    slab: Slab,
    closed: bool,
}

impl Inner {
    fn exceeds(&self, bytes: usize, items: usize) -> bool {
        !self.closed && (self.slab.bytes() >= bytes || self.slab.marks.len() >= items)
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
        Arc::new(Self { limits, wake, inner: Mutex::default(), space: Notify::new() })
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
        self.lock().exceeds(self.limits.bytes, self.limits.items)
    }

    /// Resolves when the outbox has room again, or is closed.
    pub async fn space(&self) {
        loop {
            let notified = self.space.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if !self.is_full() {
                return;
            }
            notified.await;
        }
    }

    /// Moves everything queued into `slab`, which the consumer has drained; its memory serves the producer next.
    fn refill(&self, slab: &mut Slab) {
        slab.clear();
        std::mem::swap(&mut self.lock().slab, slab);
        self.space.notify_one();
    }

    /// The host is gone: drops what is held and everything that follows, and frees a waiting producer.
    pub fn close(&self) {
        let mut inner = self.lock();
        inner.closed = true;
        inner.slab = Slab::default();
        drop(inner);
        self.space.notify_one();
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
}

impl Reader {
    /// The one consumer of `outbox`.
    pub fn new(outbox: Arc<Outbox>) -> Self {
        Self { outbox, slab: Slab::default(), next_mark: 0, next_byte: 0 }
    }

    /// The next segments: at most `max`, and no more after `max_bytes`; at least one if any is queued.
    pub fn slice(&mut self, max: usize, max_bytes: usize) -> (&str, &[Mark]) {
        if self.next_mark == self.slab.marks.len() {
            self.outbox.refill(&mut self.slab);
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
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn outbox(limits: Limits) -> (Arc<Outbox>, Arc<AtomicUsize>) {
        let wakes = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&wakes);
        (
            Outbox::new(
                limits,
                Arc::new(move || {
                    counter.fetch_add(1, Ordering::SeqCst);
                }),
            ),
            wakes,
        )
    }

    #[test]
    fn segments_keep_order_kind_and_both_lengths_through_any_slicing() {
        let (outbox, wakes) = outbox(Limits::default());
        let mut expected = Vec::new();
        for i in 0..100 {
            let text = format!("{i}é🚀");
            outbox.push(if i % 2 == 0 { Kind::Text } else { Kind::Update }, &text);
            expected.push(text);
        }
        assert_eq!(wakes.load(Ordering::SeqCst), 1, "one wake until drained");
        let mut reader = Reader::new(Arc::clone(&outbox));
        let mut got = Vec::new();
        while reader.has_more() {
            let (mut text, marks) = reader.slice(7, usize::MAX);
            assert!(marks.len() <= 7);
            for mark in marks {
                let (segment, rest) = text.split_at(mark.bytes as usize);
                text = rest;
                assert_eq!(mark.units as usize, segment.encode_utf16().count());
                assert_eq!(mark.kind, if got.len() % 2 == 0 { Kind::Text } else { Kind::Update });
                got.push(segment.to_owned());
            }
            assert!(text.is_empty());
        }
        assert_eq!(got, expected);
        outbox.push(Kind::Text, "again");
        assert_eq!(wakes.load(Ordering::SeqCst), 2);
    }

    #[tokio::test]
    async fn a_full_outbox_holds_its_producer_until_it_is_drained() {
        let (outbox, _) = outbox(Limits { bytes: 100, items: 10 });
        for _ in 0..10 {
            assert!(!outbox.is_full());
            outbox.push(Kind::Text, "12345");
        }
        assert!(outbox.is_full());
        let waiting = tokio::spawn({
            let outbox = Arc::clone(&outbox);
            async move { outbox.space().await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        let mut reader = Reader::new(Arc::clone(&outbox));
        assert_eq!(reader.slice(3, 6).1.len(), 2, "bytes are bounded, too");
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_closed_outbox_takes_nothing_and_blocks_nobody() {
        let (outbox, _) = outbox(Limits { bytes: 1, items: 1 });
        outbox.push(Kind::Text, "x");
        assert!(outbox.is_full());
        outbox.close();
        outbox.space().await;
        outbox.push(Kind::Text, "y");
        assert!(!outbox.is_full());
        assert!(!Reader::new(outbox).has_more());
    }
}
