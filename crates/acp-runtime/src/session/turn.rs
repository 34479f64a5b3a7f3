//! One prompt turn: a pure state machine over time. The connection feeds it and acts on what is due.
//!
//! running ──cancel──▶ cancelling ──grace over──▶ forced
//! running ──idle or total limit over──▶ given up
//! any of them ──response──▶ ended, or settling ──quiet──▶ ended

use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::text::{DEFAULT_TURN_TEXT_UNITS, TurnText};
use super::usage::Usage;
use crate::error::{Error, Result};

/// Receives the end of a turn, in wire order, on the connection's task. Must not block.
pub type TurnReply = Box<dyn FnOnce(Result<TurnOutcome>) + Send>;

/// Limits of a turn. All off by default, except the bound on its text.
#[derive(Clone, Copy, Debug)]
pub struct TurnOptions {
    /// The whole turn.
    pub timeout: Option<Duration>,
    /// Silence of the session on the wire; stderr and noise do not count, and the clock stands while the host itself is
    /// being asked (field case S09).
    pub idle_timeout: Option<Duration>,
    /// Text kept, in UTF-16 code units.
    pub text_units: usize,
    /// After the response, how long the session must be quiet before the turn counts as ended (field case S03). Zero: at
    /// once. Where the agent never falls quiet, the total limit, a cancel or [`longest_settling`] ends the turn: with its
    /// response all the same.
    pub settle: Duration,
}

impl Default for TurnOptions {
    fn default() -> Self {
        Self { timeout: None, idle_timeout: None, text_units: DEFAULT_TURN_TEXT_UNITS, settle: Duration::ZERO }
    }
}

/// How long a turn is held at all after its response, for an agent that does not fall quiet: four times as long as it is to
/// be quiet, and five seconds.
pub fn longest_settling(settle: Duration) -> Duration {
    settle.saturating_mul(4).saturating_add(Duration::from_secs(5))
}

/// How a turn ended that ended by its response or by a cancel.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnOutcome {
    /// As the agent said it, known or not. Absent when the agent said nothing (field case S10 e).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The turn's message text. No part of the JSON: see [`crate::delivery::Kind::TurnText`].
    #[serde(skip_serializing)]
    pub text: String,
    /// Whether text was dropped at a limit of this runtime, be it of the turn, of a chunk or of a line.
    pub text_truncated: bool,
    /// Whether the host had asked for a cancel.
    pub cancel_requested: bool,
    /// Whether the cancel was forced because the agent did not answer it in time.
    pub forced: bool,
    /// Tokens and cost, where the agent said anything of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The whole result, in the agent's own JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
}

/// What a turn wants to have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Its total limit is over.
    TimedOut,
    /// Its idle limit is over.
    Stalled,
    /// The agent did not answer a cancel in time.
    ForceCancel,
    /// The response is here, and the session has been quiet since, or is not waited for any longer.
    Settled,
}

/// A running turn.
pub struct Turn {
    /// The `session/prompt` call.
    pub call: u64,
    /// The text so far.
    pub text: TurnText,
    /// What it used, once it has ended.
    pub usage: Option<Usage>,
    reply: TurnReply,
    options: TurnOptions,
    started: Instant,
    last_frame: Instant,
    host_asked: usize,
    force_at: Option<Instant>,
    settling: Option<Settling>,
}

/// A response that is held until the session is quiet.
struct Settling {
    result: Box<RawValue>,
    /// When it is held no longer, however much the agent says.
    until: Instant,
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("call", &self.call).field("options", &self.options).finish_non_exhaustive()
    }
}

impl Turn {
    /// A turn that begins now.
    pub fn new(call: u64, options: TurnOptions, now: Instant, reply: TurnReply) -> Self {
        Self {
            call,
            text: TurnText::new(options.text_units),
            usage: None,
            reply,
            options,
            started: now,
            last_frame: now,
            host_asked: 0,
            force_at: None,
            settling: None,
        }
    }

    /// A protocol frame of this session arrived.
    pub fn on_frame(&mut self, now: Instant) {
        self.last_frame = now;
    }

    /// The host is being asked something; the idle clock stands until it answered.
    pub fn on_host_asked(&mut self) {
        self.host_asked += 1;
    }

    /// The host answered; the idle clock starts anew.
    pub fn on_host_answered(&mut self, now: Instant) {
        self.host_asked = self.host_asked.saturating_sub(1);
        self.last_frame = now;
    }

    /// Asks for a cancel. Returns whether this is the first one, which goes on the wire (rule C47). A settling turn, which
    /// the agent has ended already, is due at once.
    pub fn request_cancel(&mut self, now: Instant, grace: Duration) -> bool {
        if self.settling.is_some() {
            self.force_at = Some(now);
            return false;
        }
        if self.force_at.is_some() {
            return false;
        }
        self.force_at = Some(now + grace);
        true
    }

    /// Whether a cancel was asked for.
    pub fn cancel_requested(&self) -> bool {
        self.force_at.is_some()
    }

    /// The response arrived. Gives it back unless the turn waits for stragglers first.
    pub fn on_result(&mut self, result: Box<RawValue>, now: Instant) -> Option<Box<RawValue>> {
        if self.options.settle.is_zero() {
            return Some(result);
        }
        self.last_frame = now;
        self.settling = Some(Settling { result, until: now + longest_settling(self.options.settle) });
        None
    }

    /// The response that a settling turn holds.
    pub fn take_result(&mut self) -> Option<Box<RawValue>> {
        self.settling.take().map(|settling| settling.result)
    }

    /// The same, left where it is.
    pub fn held_result(&self) -> Option<&RawValue> {
        self.settling.as_ref().map(|settling| &*settling.result)
    }

    /// When something becomes due, if nothing happens until then. While the agent is not `heard`, because its host has
    /// yet to take what was read, its silence means nothing.
    pub fn next_deadline(&self, heard: bool) -> Option<Instant> {
        let total = self.options.timeout.map(|t| self.started + t);
        if let Some(settling) = &self.settling {
            let quiet = heard.then(|| self.last_frame + self.options.settle);
            return [Some(settling.until), quiet, total, self.force_at].into_iter().flatten().min();
        }
        if let Some(force_at) = self.force_at {
            return Some(force_at);
        }
        let idle =
            (heard && self.host_asked == 0).then_some(self.options.idle_timeout).flatten().map(|t| self.last_frame + t);
        [total, idle].into_iter().flatten().min()
    }

    /// What is due now.
    pub fn due(&self, now: Instant, heard: bool) -> Option<Due> {
        if self.next_deadline(heard)? > now {
            return None;
        }
        if self.settling.is_some() {
            return Some(Due::Settled);
        }
        if self.force_at.is_some() {
            return Some(Due::ForceCancel);
        }
        let timed_out = self.options.timeout.is_some_and(|t| self.started + t <= now);
        Some(if timed_out { Due::TimedOut } else { Due::Stalled })
    }

    /// The limit that [`Due::TimedOut`] or [`Due::Stalled`] speaks of.
    pub fn limit(&self, due: Due) -> Duration {
        let limit = if due == Due::TimedOut { self.options.timeout } else { self.options.idle_timeout };
        limit.unwrap_or_default()
    }

    /// Tells the caller how it ended.
    pub fn finish(self, stop_reason: Option<String>, result: Option<Box<RawValue>>, forced: bool) {
        let outcome = TurnOutcome {
            stop_reason,
            text_truncated: self.text.truncated(),
            cancel_requested: self.force_at.is_some(),
            forced,
            usage: self.usage,
            result,
            text: self.text.into_string(),
        };
        (self.reply)(Ok(outcome));
    }

    /// Tells the caller that it failed, with the text so far.
    pub fn fail(self, mut error: Error) {
        let text = self.text.into_string();
        if !text.is_empty() {
            error.details_mut().partial_text.get_or_insert(text);
        }
        (self.reply)(Err(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn turn(options: TurnOptions) -> (Turn, Instant) {
        let now = Instant::now();
        (Turn::new(1, options, now, Box::new(|_| {})), now)
    }

    #[test]
    fn silence_is_due_but_not_while_the_host_is_asked() {
        let (mut turn, t0) = turn(TurnOptions { idle_timeout: Some(10 * MS), ..TurnOptions::default() });
        assert_eq!(turn.due(t0 + 9 * MS, true), None);
        turn.on_frame(t0 + 9 * MS);
        assert_eq!(turn.due(t0 + 18 * MS, true), None);
        turn.on_host_asked();
        assert_eq!(turn.due(t0 + 500 * MS, true), None);
        turn.on_host_answered(t0 + 500 * MS);
        assert_eq!(turn.due(t0 + 509 * MS, true), None);
        assert_eq!(turn.due(t0 + 510 * MS, true), Some(Due::Stalled));
    }

    #[test]
    fn the_total_limit_runs_on_and_wins() {
        let (mut turn, t0) =
            turn(TurnOptions { timeout: Some(20 * MS), idle_timeout: Some(20 * MS), ..TurnOptions::default() });
        turn.on_frame(t0);
        assert_eq!(turn.due(t0 + 20 * MS, true), Some(Due::TimedOut));
        assert_eq!(turn.limit(Due::TimedOut), 20 * MS);
    }

    /// A turn whose response came after 5 ms, and then a frame every millisecond, with what `act` does to it at 8 ms: how
    /// many milliseconds it is held.
    fn held(options: TurnOptions, heard: bool, act: impl FnOnce(&mut Turn, Instant)) -> u32 {
        let (mut turn, t0) = turn(options);
        let mut act = Some(act);
        assert!(turn.on_result(RawValue::NULL.to_owned(), t0 + 5 * MS).is_none());
        for ms in 6.. {
            let now = t0 + ms * MS;
            if let Some(act) = act.take_if(|_| ms == 8) {
                act(&mut turn, now);
            }
            if let Some(due) = turn.due(now, heard) {
                assert_eq!(due, Due::Settled);
                assert_eq!(turn.next_deadline(heard), Some(now));
                assert!(turn.held_result().is_some() && turn.take_result().is_some());
                return ms - 5;
            }
            turn.on_frame(now);
        }
        unreachable!()
    }

    #[test]
    fn a_settling_turn_ends_when_it_has_been_quiet() {
        let (mut turn, t0) = turn(TurnOptions { settle: 10 * MS, ..TurnOptions::default() });
        assert!(turn.on_result(RawValue::NULL.to_owned(), t0).is_none());
        turn.on_frame(t0 + 9 * MS);
        assert_eq!(turn.due(t0 + 18 * MS, true), None);
        assert_eq!(turn.due(t0 + 19 * MS, true), Some(Due::Settled));
        assert!(turn.take_result().is_some());
    }

    #[test]
    fn a_settling_turn_that_never_falls_quiet_ends_at_every_limit_and_by_a_cancel() {
        let options = TurnOptions { settle: 10 * MS, ..TurnOptions::default() };
        let longest = u32::try_from(longest_settling(options.settle).as_millis()).unwrap();
        for heard in [true, false] {
            assert_eq!(held(options, heard, |_, _| {}), longest);
            assert_eq!(held(TurnOptions { timeout: Some(20 * MS), ..options }, heard, |_, _| {}), 15);
            let cancel = |turn: &mut Turn, now| assert!(!turn.request_cancel(now, 1000 * MS));
            assert_eq!(held(options, heard, cancel), 3);
        }
        // A cancel from before the response still has its grace only.
        let (mut turn, t0) = turn(options);
        assert!(turn.request_cancel(t0, 7 * MS));
        assert!(turn.on_result(RawValue::NULL.to_owned(), t0 + 5 * MS).is_none());
        assert_eq!((turn.due(t0 + 6 * MS, true), turn.due(t0 + 7 * MS, true)), (None, Some(Due::Settled)));
        assert!(turn.cancel_requested());
    }

    #[test]
    fn a_cancel_is_sent_once_and_forced_after_its_grace_whatever_the_limits() {
        let (mut turn, t0) = turn(TurnOptions { timeout: Some(5 * MS), ..TurnOptions::default() });
        assert!(turn.request_cancel(t0, 100 * MS));
        assert!(!turn.request_cancel(t0, 1 * MS));
        assert_eq!(turn.due(t0 + 99 * MS, true), None);
        assert_eq!(turn.due(t0 + 100 * MS, true), Some(Due::ForceCancel));
    }
}
