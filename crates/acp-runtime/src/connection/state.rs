//! What the connection's task owns, and how a line finds its way through it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::children::{Children, PARENT_NAMES};
use super::early::EarlyUpdates;
use super::halves::Halves;
use super::inbound::guard;
use super::mcp::McpServers;
use super::open_requests::InboundTable;
use super::{CancelState, Options, Shared};
use crate::delivery::Outbox;
use crate::error::Error;
use crate::pending::Pending;
use crate::port::Host;
use crate::session::{MAX_SESSION_ID_BYTES, Session, SessionSpec, Turn, meta_parent};
use crate::text::jsonstr::repair_lone_surrogates;
use crate::text::sanitize::strip_control_sequences;
use crate::trace::{self, Direction, cut_str};
use crate::wire::chunk::Chunk;
use crate::wire::chunk_reader::ChunkReader;
use crate::wire::encode::{self, AnswerError, code};
use crate::wire::envelope::{self, Frame, Message, Noise, Outcome, ResponseId};
use crate::wire::oversize::{self, Oversize};
use crate::wire::update::{self, Notified};
use crate::wire::update_reader::UpdateReader;

/// How far into a line its method is looked for before the general path is taken, in bytes.
const METHOD_WINDOW: usize = 512;
/// How much of a noise line is looked at for its sample, in bytes.
const MAX_SAMPLED_BYTES: usize = 8 * 1024;

const TOO_LARGE: &str = "it is larger than the limit";

static UPDATE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"session/update\""));

pub(super) struct State {
    pub shared: Arc<Shared>,
    pub host: Arc<dyn Host>,
    pub options: Options,
    /// Bytes for the agent; those before `written` are gone.
    pub out: Vec<u8>,
    pub written: usize,
    /// Ids of calls whose bytes are still in `out`, with where they end.
    pub unwritten: Vec<(u64, usize)>,
    pub pending: Pending<SessionSpec>,
    pub sessions: Sessions,
    pub chunks: ChunkReader,
    pub updates: UpdateReader,
    pub early: EarlyUpdates,
    pub halves: Halves,
    pub children: Children,
    /// Sessions that the agent opened for callers who had left, not closed because somebody else is opening them.
    pub unclosed: HashSet<String>,
    pub inbound: InboundTable,
    pub mcp: McpServers,
    /// Messages read that the diagnostics do not count yet: one atomic step for a batch.
    messages: u64,
    /// Callers of `cancel` that wait for a turn's end.
    pub cancels: Vec<(String, oneshot::Sender<CancelState>)>,
    /// The outboxes that are full; reading waits for them.
    pub blocked: Vec<Arc<Outbox>>,
    pub winding: Option<Winding>,
    pub input_closed: bool,
    pub stop: Option<Error>,
    pub now: Instant,
}

/// A teardown that waits for turns to end and output to be written.
pub(super) struct Winding {
    pub deadline: Instant,
    pub done: oneshot::Sender<()>,
}

impl State {
    pub(super) fn new(shared: Arc<Shared>, host: Arc<dyn Host>, options: Options) -> Self {
        Self {
            shared,
            host,
            options,
            out: Vec::new(),
            written: 0,
            unwritten: Vec::new(),
            pending: Pending::default(),
            sessions: Sessions::default(),
            chunks: ChunkReader::default(),
            updates: UpdateReader::default(),
            early: EarlyUpdates::default(),
            halves: Halves::default(),
            children: Children::default(),
            unclosed: HashSet::new(),
            inbound: InboundTable::default(),
            mcp: McpServers::default(),
            messages: 0,
            cancels: Vec::new(),
            blocked: Vec::new(),
            winding: None,
            input_closed: false,
            stop: None,
            now: Instant::now(),
        }
    }

    /// One line of the agent's stdout.
    pub(super) fn on_line(&mut self, bytes: &[u8]) {
        let line = if let Ok(line) = std::str::from_utf8(bytes) {
            Cow::Borrowed(line)
        } else {
            self.shared.diagnostics.repaired(1);
            String::from_utf8_lossy(bytes)
        };
        if let Some(tap) = &self.options.tap {
            trace::show(tap, &*self.options.redact, Direction::FromAgent, bytes);
        }
        self.on_text(&line);
    }

    fn on_text(&mut self, line: &str) {
        if let Some(chunk) = self.chunks.decode(line) {
            self.messages += 1;
            if !self.halves.is_empty() {
                self.settle_halves(&chunk.session_id);
            }
            self.on_chunk(&chunk, line);
            return;
        }
        // Half of a surrogate pair would only be noticed where a string is read, too late for the rest of its line.
        if let Some(repaired) = repair_lone_surrogates(line.as_bytes())
            && let Ok(repaired) = String::from_utf8(repaired)
        {
            self.shared.diagnostics.repaired(1);
            // Repaired text has no lone surrogates left, so this goes round once.
            if !self.on_cut_chunk(line, &repaired) {
                self.on_text(&repaired);
            }
            return;
        }
        let head = &line.as_bytes()[..line.len().min(METHOD_WINDOW)];
        if UPDATE.find(head).is_some()
            && let Some(notified) = self.updates.decode(line)
        {
            self.messages += 1;
            self.on_update(&notified, line);
            return;
        }
        match envelope::decode(line) {
            Frame::Message(message) => self.on_message(message, line),
            Frame::Noise(noise) => self.on_noise(noise, line),
        }
    }

    fn on_message(&mut self, message: Message<'_>, line: &str) {
        self.messages += 1;
        match message {
            Message::Request { id, method, params } => self.on_request(id, &method, params),
            Message::Notification { method, params } if method == "session/update" => {
                match params.and_then(update::params) {
                    Some(notified) => self.on_update(&notified, line),
                    // Malformed, and a notification is never answered (rule C5).
                    None => self.shared.diagnostics.dropped_update(1),
                }
            }
            Message::Notification { method, params } => self.on_notification(&method, params),
            Message::Response { id, outcome } => self.on_response(id, &outcome),
        }
    }

    /// Whether its session is known.
    pub(super) fn on_chunk(&mut self, chunk: &Chunk<'_>, line: &str) -> bool {
        let tell = |session: &mut Session, child: Option<&str>| session.on_chunk(child, chunk, || update::decode(line));
        self.feed(&chunk.session_id, line, tell).is_some()
    }

    pub(super) fn count_message(&mut self) {
        self.messages += 1;
    }

    fn on_update(&mut self, notified: &Notified<'_>, line: &str) {
        if !self.halves.is_empty() {
            self.settle_halves(&notified.session_id);
        }
        let announced = self.feed(&notified.session_id, line, |session, child| {
            session.on_update(child, notified).map(|announced| (announced, session.id.clone()))
        });
        if let Some((child, root)) = announced.flatten()
            && self.sessions.get_mut(&child.id).is_none()
        {
            self.children.announce(&child, &root);
        }
    }

    /// Hands an update to the session that sent it, or, with the id of the child, to the one that the sender is a child of.
    fn feed<T>(&mut self, sender: &str, line: &str, tell: impl FnOnce(&mut Session, Option<&str>) -> T) -> Option<T> {
        let (slot, child) = if let Some(slot) = self.sessions.touch_slot(sender) {
            (slot, None)
        } else if let Some(slot) = self.root_of_sender(sender, line).and_then(|root| self.sessions.touch_slot(&root)) {
            (slot, Some(sender))
        } else {
            self.on_unknown_session(sender, line);
            return None;
        };
        let session = self.sessions.slots[slot].as_mut()?;
        if let Some(turn) = &mut session.turn {
            turn.on_frame(self.now);
        }
        let told = tell(session, child);
        if session.should_publish() {
            self.relieve(slot);
        }
        Some(told)
    }

    /// The open session that an unknown one is a child of: by its link, or because its update names it.
    fn root_of_sender(&mut self, session_id: &str, line: &str) -> Option<String> {
        if let Some(root) = self.children.root_of(session_id) {
            return Some(root.to_owned());
        }
        // Almost every line of an unknown session is one of a session that is gone, or about to open.
        memchr::memmem::find(line.as_bytes(), b"arent")?;
        let parent = update::metas(line).into_iter().find_map(|meta| meta_parent(meta, PARENT_NAMES))?;
        let root =
            if self.sessions.get_mut(&parent).is_some() { parent } else { self.children.root_of(&parent)?.to_owned() };
        (session_id.len() <= MAX_SESSION_ID_BYTES && self.children.link(session_id, &root)).then_some(root)
    }

    /// Publishes a large stage early, so that one batch cannot grow it without bound.
    fn relieve(&mut self, slot: usize) {
        let others = self.others_wait();
        if let Some(session) = self.sessions.slots[slot].as_mut()
            && let Some(full) = session.publish()
        {
            block(&mut self.blocked, full, others);
        }
    }

    /// A host that does not take what it is asked, in a session or outside of any, is asked nothing more.
    pub(super) fn hold_back(&mut self, session_id: Option<&str>) {
        let others = self.others_wait();
        let session = session_id.and_then(|id| self.sessions.get_mut(id)).and_then(|session| session.outbox().cloned());
        // A host that fails is none that could fall behind.
        let own = guard(|| self.host.outbox()).ok().flatten();
        for outbox in session.iter().chain(&own).filter(|outbox| outbox.is_full()) {
            block(&mut self.blocked, outbox, others);
        }
    }

    /// Whether somebody besides one session's listener waits for what the agent says: another session, a caller, or whoever
    /// cancelled the turn and wants to hear that the agent ended it.
    pub(super) fn others_wait(&self) -> bool {
        self.sessions.index.len() > 1 || self.pending.awaited() || self.sessions.any_cancelling()
    }

    /// Somebody may have come to wait for the pipe that a slow session holds up.
    pub(super) fn reconsider_blocked(&mut self) {
        if !self.blocked.is_empty() && self.others_wait() {
            let before = self.blocked.len();
            self.blocked.retain(|outbox| outbox.is_full() && !outbox.park());
            if self.blocked.len() < before {
                self.hear_again();
            }
        }
    }

    /// The outbox that was waited for has room again. What the agent said meanwhile was not read: no silence of its.
    pub(super) fn on_space(&mut self) {
        self.blocked.remove(0);
        self.hear_again();
    }

    fn hear_again(&mut self) {
        let now = Instant::now();
        for turn in self.sessions.iter_mut().filter_map(|session| session.turn.as_mut()) {
            turn.on_frame(now);
        }
    }

    fn on_unknown_session(&mut self, session_id: &str, line: &str) {
        if !(self.pending.opens_session() && self.early.keep(session_id, line)) {
            self.shared.diagnostics.dropped_update(1);
        }
    }

    /// Hands a new session what arrived for it before it was known.
    pub(super) fn replay_early(&mut self, session_id: &str) {
        for line in self.early.take(session_id) {
            self.on_text(&line);
        }
    }

    fn on_noise(&mut self, noise: Noise, line: &str) {
        let redact = &self.options.redact;
        self.shared.diagnostics.noise(|| redact(&strip_control_sequences(cut_str(line, MAX_SAMPLED_BYTES))));
        tracing::debug!(target: "acp::wire", bytes = line.len(), ?noise, "skipped a line that is not JSON-RPC");
    }

    /// A line longer than the limit was dropped. Whoever waits for it, on either side, hears so, if its ends say who.
    pub(super) fn on_oversize(&mut self, bytes: u64, head: &[u8], tail: &[u8]) {
        self.shared.diagnostics.oversize(1);
        tracing::warn!(target: "acp::wire", bytes, limit = self.options.max_line_bytes, "dropped an oversize line");
        match oversize::identify(head, tail) {
            Some(Oversize::Request(id)) => {
                self.shared.diagnostics.refused_request(1);
                let error = AnswerError::new(code::INVALID_REQUEST, "the message is larger than the client accepts");
                self.write(|out| encode::response(out, &id, &Err(error)));
            }
            Some(Oversize::Response(id)) => self.on_response(id, &Outcome::Malformed(TOO_LARGE)),
            // Where one call alone waits there is no doubt whose it was.
            Some(Oversize::SomeResponse) => {
                if let Some(call) = self.pending.only() {
                    self.on_response(ResponseId::Exact(call), &Outcome::Malformed(TOO_LARGE));
                } else {
                    let waiting = self.pending.methods();
                    tracing::warn!(target: "acp::wire", ?waiting, "an oversize answer does not say which call it is of");
                }
            }
            None if oversize::may_hold_message(head, tail) => self.on_text_lost(head, tail),
            None => {}
        }
    }

    /// Text of a running turn may be lost: of the one whose session the dropped line names, else of any.
    fn on_text_lost(&mut self, head: &[u8], tail: &[u8]) {
        let named = oversize::session_of(head, tail);
        // What a child says is no part of a turn's text.
        if named.as_ref().is_some_and(|id| self.children.root_of(id).is_some()) {
            return;
        }
        let known = named.filter(|id| self.sessions.get_mut(id).is_some());
        for session in self.sessions.iter_mut().filter(|session| known.as_ref().is_none_or(|id| *id == session.id)) {
            if let Some(turn) = &mut session.turn {
                turn.text.mark_truncated();
            }
        }
    }

    /// Publishes everything staged by a batch of lines.
    pub(super) fn publish_all(&mut self) {
        if self.messages > 0 {
            self.shared.diagnostics.received_messages(std::mem::take(&mut self.messages));
        }
        let others = self.others_wait();
        while let Some(slot) = self.sessions.touched.pop() {
            if let Some(session) = self.sessions.slots.get_mut(slot).and_then(Option::as_mut)
                && let Some(full) = session.publish()
            {
                block(&mut self.blocked, full, others);
            }
        }
    }
}

/// Reading waits for a full outbox, unless others wait for the pipe, too, and the budget has room.
fn block(blocked: &mut Vec<Arc<Outbox>>, full: &Arc<Outbox>, others: bool) {
    if others && full.park() {
        return;
    }
    if !blocked.iter().any(|outbox| Arc::ptr_eq(outbox, full)) {
        blocked.push(Arc::clone(full));
    }
}

/// The sessions by id. Looking up the one that was looked up last costs a comparison.
#[derive(Default)]
pub(super) struct Sessions {
    slots: Vec<Option<Session>>,
    index: HashMap<String, usize>,
    last: usize,
    /// Slots with something staged.
    touched: Vec<usize>,
}

impl Sessions {
    fn slot(&mut self, id: &str) -> Option<usize> {
        if let Some(Some(session)) = self.slots.get(self.last)
            && session.id == id
        {
            return Some(self.last);
        }
        let slot = *self.index.get(id)?;
        self.last = slot;
        Some(slot)
    }

    /// The session, which is going to be published at the end of the batch.
    pub(super) fn touch(&mut self, id: &str) -> Option<&mut Session> {
        let slot = self.touch_slot(id)?;
        self.slots[slot].as_mut()
    }

    fn touch_slot(&mut self, id: &str) -> Option<usize> {
        let slot = self.slot(id)?;
        if self.touched.last() != Some(&slot) && !self.touched.contains(&slot) {
            self.touched.push(slot);
        }
        Some(slot)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        let slot = self.slot(id)?;
        self.slots[slot].as_mut()
    }

    /// Adds a session, whose id no other one has.
    pub(super) fn insert(&mut self, session: Session) {
        let id = session.id.clone();
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(Some(session));
        } else {
            self.slots[slot] = Some(session);
        }
        self.index.insert(id, slot);
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Session> {
        let slot = self.index.remove(id)?;
        self.touched.retain(|touched| *touched != slot);
        self.slots[slot].take()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.slots.iter_mut().flatten()
    }

    fn any_cancelling(&self) -> bool {
        self.slots.iter().flatten().any(|session| session.turn.as_ref().is_some_and(Turn::cancel_requested))
    }

    pub(super) fn ids(&self) -> Vec<String> {
        self.index.keys().cloned().collect()
    }
}
