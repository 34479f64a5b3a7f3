//! Ending a tree step by step: end of input, request, force, proof.

use std::time::{Duration, Instant};

use super::ProcessTree;
use crate::error::ExitFacts;

/// How long each step of the shutdown may take.
///
/// Real agents end within 1.5 s of the end of their input, if at all; some take 7 s, some never do, and some ignore SIGTERM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// From the end of the agent's input to SIGTERM.
    pub eof_grace: Duration,
    /// From SIGTERM to SIGKILL.
    pub term_grace: Duration,
    /// How long descendants may finish their work after the agent itself has ended, before they get SIGTERM.
    pub orphan_grace: Duration,
    /// From the first SIGKILL to giving up on processes that the kernel does not end.
    pub kill_bound: Duration,
}

impl Default for Ladder {
    fn default() -> Self {
        Self {
            eof_grace: Duration::from_secs(2),
            term_grace: Duration::from_secs(1),
            orphan_grace: Duration::from_millis(300),
            kill_bound: Duration::from_secs(5),
        }
    }
}

impl Ladder {
    /// No grace at all: straight to SIGKILL.
    pub const IMMEDIATE: Self = Self {
        eof_grace: Duration::ZERO,
        term_grace: Duration::ZERO,
        orphan_grace: Duration::ZERO,
        kill_bound: Duration::from_secs(5),
    };

    /// The longest that a whole shutdown can take, apart from the scheduling of this process.
    pub fn bound(&self) -> Duration {
        self.eof_grace + self.orphan_grace + self.term_grace + self.kill_bound + REAP_BOUND
    }
}

/// The step that ended the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// It had ended before the shutdown began.
    AlreadyEnded,
    /// The end of its input.
    EndOfInput,
    /// SIGTERM to some or all of it.
    Terminated,
    /// SIGKILL (Windows: the end of its job) to some or all of it.
    Killed,
}

/// How a tree ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShutdownReport {
    /// How the agent's own process ended.
    pub exit: ExitFacts,
    /// The step that was needed for the whole tree.
    pub rung: Rung,
    /// Processes that are still alive because the kernel did not end them; normally none.
    pub survivors: Vec<u32>,
}

/// How long the exit status of a dead agent is awaited.
const REAP_BOUND: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

impl ProcessTree {
    /// Ends the tree and resolves when none of it is left.
    ///
    /// The caller has closed the agent's stdin (and sent what the protocol wants before that). Then: `eof_grace`, SIGTERM to
    /// all, `term_grace`, SIGKILL to all until a look at all processes finds no member. An agent that ends by itself and
    /// leaves nothing costs one such look. Descendants that outlive the agent get `orphan_grace` first.
    ///
    /// May be called again and by several callers; dropping the future leaves the tree owned. The whole is bounded by
    /// [`Ladder::bound`]; what the kernel refuses to end is reported, not hidden, and stays registered.
    pub async fn shutdown(&self, ladder: Ladder) -> ShutdownReport {
        let mut known = self.shutdown.lock().await;
        if let Some(report) = &*known {
            return report.clone();
        }
        let report = self.climb(ladder).await;
        tracing::debug!(
            target: "acp::process",
            pid = self.pid(),
            rung = ?report.rung,
            exit = %report.exit,
            survivors = ?report.survivors,
            "tree ended"
        );
        if report.survivors.is_empty() {
            *known = Some(report.clone());
        }
        report
    }

    async fn climb(&self, ladder: Ladder) -> ShutdownReport {
        let mut rung = Rung::AlreadyEnded;
        let mut survivors = Vec::new();
        if !self.is_finished() {
            if self.try_exit().is_none() {
                rung = Rung::EndOfInput;
                // While the family is still together: who leaves it later is known then.
                self.os.observe();
                let _ = tokio::time::timeout(ladder.eof_grace, self.exited()).await;
            }
            let agent_ended = self.try_exit().is_some();
            let gone = agent_ended && self.gone_within(ladder.orphan_grace).await;
            if !gone {
                rung = rung.max(Rung::Terminated);
                let asked = !ladder.term_grace.is_zero() && self.os.terminate();
                if !(asked && self.gone_within(ladder.term_grace).await) {
                    rung = Rung::Killed;
                    survivors = self.kill_within(ladder.kill_bound).await;
                }
            }
            if survivors.is_empty() {
                self.finish();
            }
        }
        let exit = tokio::time::timeout(REAP_BOUND, self.exited()).await.unwrap_or_default();
        ShutdownReport { exit, rung, survivors }
    }

    /// Whether no member is left, waiting for that at most for `grace`. Looks at least once.
    async fn gone_within(&self, grace: Duration) -> bool {
        let deadline = Instant::now() + grace;
        let mut pause = FIRST_PAUSE;
        loop {
            if !self.os.any_alive() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let step = pause.min(left);
            if self.try_exit().is_none() {
                let _ = tokio::time::timeout(step, self.exited()).await;
            } else {
                tokio::time::sleep(step).await;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn kill_within(&self, bound: Duration) -> Vec<u32> {
        let deadline = Instant::now() + bound;
        let mut pause = FIRST_PAUSE;
        loop {
            if self.os.kill_pass().live == 0 {
                return Vec::new();
            }
            if Instant::now() >= deadline {
                return self.os.survivors();
            }
            loop {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                if Instant::now() >= deadline || !self.os.known_alive() {
                    break;
                }
            }
        }
    }
}
