//! The table of our calls that wait for a response. No I/O; the connection's task owns it.

use std::collections::HashMap;

use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::error::{Error, Phase, Result};

/// Receives the outcome of a call, in wire order, on the connection's task. Must not block.
pub type Reply = Box<dyn FnOnce(Result<Box<RawValue>>) + Send>;

/// What the connection does with a result before the caller hears of it.
#[derive(Debug)]
pub enum Effect<S> {
    /// Nothing.
    None,
    /// The result names a new session (`session/new`, `session/fork`), which starts with this state.
    OpenSession(Box<S>),
    /// The session given by its id was registered before the call (`session/load`, `session/resume`): its replay is over,
    /// or it is dropped again when the call failed.
    SessionReady(String),
    /// The response ends the running turn of this session.
    EndTurn(String),
    /// The session is closed or deleted.
    CloseSession(String),
    /// Whatever the answer is, nobody has ever waited for it.
    Ignored,
    /// A setting of the session changes: its state follows.
    Follow {
        /// The session.
        session_id: String,
        /// The mode that was asked for; `None`: the result says what changed.
        mode_id: Option<Box<RawValue>>,
    },
}

/// One waiting call.
pub struct Waiting<S> {
    /// The method, for messages.
    pub method: String,
    /// What the runtime is doing meanwhile.
    pub phase: Phase,
    /// When it is given up.
    pub deadline: Option<Instant>,
    /// What happens on success, before `reply`.
    pub effect: Effect<S>,
    /// Who waits. `None`: nobody any more; the late response is discarded.
    pub reply: Option<Reply>,
    /// Whether its bytes may have reached the agent.
    pub written: bool,
    /// While the host is asked about it, its time stands still.
    pub asked: Asked,
}

/// Questions of the agent about a call that wait for the host.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    open: usize,
    since: Option<Instant>,
}

/// Calls by their id. Ids are handed out by [`crate::connection`], increasing and never reused.
pub struct Pending<S> {
    calls: HashMap<u64, Waiting<S>>,
}

impl<S> Default for Pending<S> {
    fn default() -> Self {
        Self { calls: HashMap::new() }
    }
}

impl<S> Pending<S> {
    /// Adds a call.
    pub fn register(&mut self, id: u64, call: Waiting<S>) {
        self.calls.insert(id, call);
    }

    /// Takes the call that a response answers.
    pub fn complete(&mut self, id: u64) -> Option<Waiting<S>> {
        self.calls.remove(&id)
    }

    /// Lets the caller go; the entry stays, so that the late response is recognised (rule C51).
    pub fn abandon(&mut self, id: u64) -> Option<(Reply, Phase)> {
        self.calls.get_mut(&id).and_then(|call| {
            call.deadline = None;
            Some((call.reply.take()?, call.phase))
        })
    }

    /// The nearest deadline.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.calls.values().filter_map(Waiting::limit).min()
    }

    /// Ids whose deadline has passed.
    pub fn expired(&self, now: Instant) -> Vec<u64> {
        self.calls.iter().filter(|(_, c)| c.limit().is_some_and(|d| d <= now)).map(|(id, _)| *id).collect()
    }

    /// The agent waits for the host about this call, whose time stands still until it has as many answers.
    pub fn on_host_asked(&mut self, id: u64, now: Instant) {
        if let Some(call) = self.calls.get_mut(&id) {
            call.asked.open += 1;
            call.asked.since.get_or_insert(now);
        }
    }

    /// The host answered: what was left of the call's time runs on.
    pub fn on_host_answered(&mut self, id: u64, now: Instant) {
        let Some(call) = self.calls.get_mut(&id) else { return };
        call.asked.open = call.asked.open.saturating_sub(1);
        if call.asked.open == 0
            && let Some(since) = call.asked.since.take()
        {
            call.deadline = call.deadline.map(|deadline| deadline + (now - since));
        }
    }

    /// The call with this id.
    pub fn get_mut(&mut self, id: u64) -> Option<&mut Waiting<S>> {
        self.calls.get_mut(&id)
    }

    /// Whether a call is waiting whose effect opens a session with an id that is not known yet.
    pub fn opens_session(&self) -> bool {
        self.calls.values().any(|c| matches!(c.effect, Effect::OpenSession(_)))
    }

    /// The one call that an answer is owed for, if it is one, the abandoned included.
    pub fn only(&self) -> Option<u64> {
        let mut ids = self.calls.keys().copied();
        ids.next().filter(|_| ids.next().is_none())
    }

    /// Whether somebody waits for a response.
    pub fn awaited(&self) -> bool {
        self.calls.values().any(|c| c.reply.is_some())
    }

    /// Methods that somebody waits for.
    pub fn methods(&self) -> Vec<&str> {
        self.calls.values().filter(|c| c.reply.is_some()).map(|c| c.method.as_str()).collect()
    }

    /// Takes every call, to fail it.
    pub fn drain(&mut self) -> Vec<Waiting<S>> {
        self.calls.drain().map(|(_, call)| call).collect()
    }

    /// Number of entries, abandoned ones included.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

impl<S> Waiting<S> {
    /// When it is given up, as things stand.
    fn limit(&self) -> Option<Instant> {
        self.deadline.filter(|_| self.asked.open == 0)
    }

    /// Tells the caller.
    pub fn answer(&mut self, outcome: Result<Box<RawValue>>) {
        if let Some(reply) = self.reply.take() {
            reply(outcome.map_err(|e: Error| e.in_phase(self.phase)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use proptest::prelude::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn call(answers: &Arc<AtomicUsize>) -> Waiting<()> {
        let answers = Arc::clone(answers);
        Waiting {
            method: "m".into(),
            phase: Phase::Session,
            deadline: None,
            effect: Effect::None,
            reply: Some(Box::new(move |_| {
                answers.fetch_add(1, Ordering::SeqCst);
            })),
            written: true,
            asked: Asked::default(),
        }
    }

    #[test]
    fn time_stands_still_for_as_long_as_any_question_is_open() {
        let (t0, ms) = (Instant::now(), std::time::Duration::from_millis(1));
        let mut pending = Pending::default();
        pending.register(1, Waiting { deadline: Some(t0 + 10 * ms), ..call(&Arc::default()) });
        pending.on_host_asked(1, t0 + 4 * ms);
        pending.on_host_asked(1, t0 + 5 * ms);
        pending.on_host_answered(1, t0 + 100 * ms);
        assert_eq!((pending.next_deadline(), pending.expired(t0 + 200 * ms)), (None, vec![]));
        pending.on_host_answered(1, t0 + 104 * ms);
        assert_eq!(pending.next_deadline(), Some(t0 + 110 * ms));
        assert_eq!((pending.expired(t0 + 109 * ms), pending.expired(t0 + 110 * ms)), (vec![], vec![1]));
        // One answer too many, and one for a call that is gone, change nothing.
        pending.on_host_answered(1, t0 + 105 * ms);
        pending.on_host_asked(2, t0);
        pending.on_host_answered(2, t0);
        assert_eq!(pending.next_deadline(), Some(t0 + 110 * ms));
        // Who was let go has no time left that could run on.
        pending.on_host_asked(1, t0);
        pending.abandon(1);
        pending.on_host_answered(1, t0 + 5 * ms);
        assert_eq!(pending.next_deadline(), None);
    }

    proptest! {
        /// Whatever order responses, aborts and the end come in, every caller is answered exactly once.
        #[test]
        fn every_call_is_answered_exactly_once(steps in proptest::collection::vec((0u8..3, 0u64..8), 0..60)) {
            let answers = Arc::new(AtomicUsize::new(0));
            let mut pending = Pending::default();
            for id in 0..8 {
                pending.register(id, call(&answers));
            }
            for (step, id) in steps {
                let failure = || Err(Error::new(ErrorCode::Aborted, "x"));
                match step {
                    0 => if let Some(mut call) = pending.complete(id) { call.answer(failure()) },
                    1 => if let Some((reply, _)) = pending.abandon(id) { reply(failure()) },
                    _ => if let Some(mut call) = pending.complete(id) { call.answer(failure()); call.answer(failure()) },
                }
            }
            for mut call in pending.drain() {
                call.answer(Err(Error::new(ErrorCode::AgentExited, "x")));
            }
            prop_assert_eq!(answers.load(Ordering::SeqCst), 8);
        }
    }
}
