//! The meeting point of one Node environment: everything that Rust tells JavaScript passes through it.
//!
//! Each session and each client has a channel, an ordered queue. A channel that gets its first segment becomes ready and
//! wakes JavaScript once, without a payload; JavaScript then drains slices, one channel after the other in turn, so that
//! no session starves another. A slice is one string and a table of its segments.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use acp_runtime::delivery::{Kind, Limits, Outbox, Reader};
use acp_runtime::port::BoxFuture;
use acp_runtime::process::OwnerId;
use napi::Status;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use serde::Serialize;
use tokio::sync::oneshot;

/// Wakes JavaScript. Weak: listening does not keep Node alive.
pub type WakeFunction = ThreadsafeFunction<(), (), (), Status, false, true>;

/// How much one slice carries at most, in bytes; a larger segment travels alone.
const SLICE_BYTES: usize = 256 * 1024;

struct Channel {
    outbox: Arc<Outbox>,
    reader: Reader,
    /// Whether it stands in the ready queue.
    queued: bool,
    /// The host asked to be spared; the queue fills, and slows the agent.
    paused: bool,
    /// Nothing follows: it goes when it is drained.
    retired: bool,
}

#[derive(Default)]
struct Channels {
    map: HashMap<u32, Channel>,
    ready: VecDeque<u32>,
}

/// Shared by the environment's JavaScript thread and the runtime's workers.
pub struct Hub {
    /// Whose agents these are.
    pub owner: OwnerId,
    wake: WakeFunction,
    /// Whether a wake is on its way; one is enough.
    waking: AtomicBool,
    channels: Mutex<Channels>,
    /// Questions that wait for JavaScript, by number.
    questions: Mutex<HashMap<u32, oneshot::Sender<String>>>,
    next: AtomicU32,
}

impl Hub {
    /// A hub that wakes JavaScript through `wake`.
    pub fn new(owner: OwnerId, wake: WakeFunction) -> Arc<Self> {
        Arc::new(Self {
            owner,
            wake,
            waking: AtomicBool::new(false),
            channels: Mutex::default(),
            questions: Mutex::default(),
            // 0 is nothing.
            next: AtomicU32::new(1),
        })
    }

    /// A number that is not in use.
    pub fn number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    fn channels(&self) -> MutexGuard<'_, Channels> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a channel.
    pub fn open(self: &Arc<Self>) -> (u32, Arc<Outbox>) {
        let id = self.number();
        let hub: Weak<Self> = Arc::downgrade(self);
        let wake = move || {
            if let Some(hub) = hub.upgrade() {
                hub.on_ready(id);
            }
        };
        let outbox = Outbox::new(Limits::default(), Arc::new(wake));
        let channel = Channel {
            outbox: Arc::clone(&outbox),
            reader: Reader::new(Arc::clone(&outbox)),
            queued: false,
            paused: false,
            retired: false,
        };
        self.channels().map.insert(id, channel);
        (id, outbox)
    }

    /// The queue of a channel.
    pub fn outbox(&self, id: u32) -> Option<Arc<Outbox>> {
        self.channels().map.get(&id).map(|channel| Arc::clone(&channel.outbox))
    }

    /// Closes a channel; its producer is freed, what it still says is dropped.
    pub fn close(&self, id: u32) {
        let channel = self.channels().map.remove(&id);
        if let Some(channel) = channel {
            channel.outbox.close();
        }
    }

    /// Nothing that matters follows on a channel: it is forgotten, at once or as soon as it is drained, which `drain` tells.
    /// Returns whether it is gone.
    pub fn retire(&self, id: u32) -> bool {
        let mut channels = self.channels();
        let Some(channel) = channels.map.get_mut(&id) else { return true };
        channel.retired = true;
        if channel.reader.has_more() {
            return false;
        }
        channels.map.remove(&id);
        true
    }

    /// Pauses or resumes a channel.
    pub fn set_paused(&self, id: u32, paused: bool) {
        let mut channels = self.channels();
        let Some(channel) = channels.map.get_mut(&id) else { return };
        channel.paused = paused;
        if !paused && channel.reader.has_more() {
            drop(channels);
            self.on_ready(id);
        }
    }

    fn on_ready(&self, id: u32) {
        let mut channels = self.channels();
        let Some(channel) = channels.map.get_mut(&id) else { return };
        if channel.queued || channel.paused {
            return;
        }
        channel.queued = true;
        channels.ready.push_back(id);
        drop(channels);
        if !self.waking.swap(true, Ordering::AcqRel) {
            // A closing environment refuses; nobody is left to hear it.
            self.wake.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }

    /// Hands the next slice to `take` and its table to `table`: the channel, the number of segments, two flags (1: there is
    /// more to drain; 2: it was the channel's last), then one entry a segment, kind in the upper four bits and length in UTF-16 units below. `None`: nothing is ready.
    pub fn drain<T>(&self, table: &mut [u32], take: impl FnOnce(&str) -> T) -> Option<T> {
        self.waking.store(false, Ordering::Release);
        let mut channels = self.channels();
        loop {
            let id = channels.ready.pop_front()?;
            let others = !channels.ready.is_empty();
            let Some(channel) = channels.map.get_mut(&id) else { continue };
            channel.queued = false;
            if channel.paused {
                continue;
            }
            let (text, marks) = channel.reader.slice(table.len().saturating_sub(3), SLICE_BYTES);
            if marks.is_empty() {
                continue;
            }
            for (entry, mark) in table[3..].iter_mut().zip(marks) {
                *entry = (mark.kind as u32) << 28 | mark.units & 0x0fff_ffff;
            }
            let count = u32::try_from(marks.len()).unwrap_or(u32::MAX);
            // The text borrows from the reader: it is taken before the channel is looked at again.
            let taken = take(text);
            let more = channel.reader.has_more();
            channel.queued = more;
            let last = channel.retired && !more;
            (table[0], table[1], table[2]) = (id, count, u32::from(more || others) | u32::from(last) << 1);
            if more {
                channels.ready.push_back(id);
            } else if last {
                channels.map.remove(&id);
            }
            return Some(taken);
        }
    }

    /// Asks JavaScript a question on `outbox`. The future resolves with its answer, or `None` when there will be none.
    /// Dropping the future tells JavaScript that the question is moot.
    pub fn ask(self: &Arc<Self>, outbox: &Arc<Outbox>, question: &impl Serialize) -> BoxFuture<Option<String>> {
        let number = self.number();
        let (sender, receiver) = oneshot::channel();
        self.questions().insert(number, sender);
        push(outbox, Kind::Request, &Question { request: number, question });
        let guard = Withdraw { hub: Arc::clone(self), outbox: Arc::clone(outbox), number: Some(number) };
        Box::pin(async move {
            let mut guard = guard;
            let answer = receiver.await.ok();
            guard.number = None;
            answer
        })
    }

    fn questions(&self) -> MutexGuard<'_, HashMap<u32, oneshot::Sender<String>>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// JavaScript's answer. Late ones are dropped.
    pub fn answer(&self, number: u32, answer: String) {
        let sender = self.questions().remove(&number);
        if let Some(sender) = sender {
            let _ = sender.send(answer);
        }
    }

    /// The environment is going away: nothing waits for it any more.
    pub fn shut(&self) {
        self.questions().clear();
        let channels = std::mem::take(&mut *self.channels());
        for channel in channels.map.into_values() {
            channel.outbox.close();
        }
    }
}

struct Withdraw {
    hub: Arc<Hub>,
    outbox: Arc<Outbox>,
    number: Option<u32>,
}

impl Drop for Withdraw {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.hub.questions().remove(&number);
            push(&self.outbox, Kind::Notification, &Withdrawn { withdrawn: number });
        }
    }
}

#[derive(Serialize)]
struct Question<'a, T: Serialize> {
    request: u32,
    #[serde(flatten)]
    question: &'a T,
}

#[derive(Serialize)]
struct Withdrawn {
    withdrawn: u32,
}

/// Queues a value as JSON.
pub fn push(outbox: &Outbox, kind: Kind, value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(json) => outbox.push(kind, &json),
        Err(error) => tracing::error!(target: "acp::binding", %error, "a message could not be encoded"),
    }
}
