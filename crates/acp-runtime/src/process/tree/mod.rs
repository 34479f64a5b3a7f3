//! The tree of processes that one launch started.

mod ladder;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod members;
#[cfg(unix)]
#[path = "unix.rs"]
pub(super) mod os;
#[cfg(windows)]
#[path = "windows.rs"]
pub(super) mod os;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_os = "macos"))))]
mod other_unix;
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
mod start;
#[cfg(unix)]
mod wait;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::process::ChildStderr;
use tokio::sync::watch;
use tokio::task::AbortHandle;

pub use ladder::{Ladder, Rung, ShutdownReport};

use super::registry::{self, Order};
use super::spec::OwnerId;
use super::stderr::StderrTail;
use crate::error::ExitFacts;

/// How long [`ProcessTree::kill`] waits for killed processes to disappear. A killed process cannot run on; one that is
/// still there after this is stuck in the kernel.
const KILL_BOUND: Duration = Duration::from_secs(2);

static IDS: AtomicU64 = AtomicU64::new(1);

/// What one pass over the tree found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    /// Members that were alive.
    pub live: usize,
    /// Of those, how many the kernel does not let us signal.
    pub refused: usize,
}

/// A launched agent with all its descendants.
///
/// Dropping the last handle kills what is left of the tree, synchronously. Ended trees cost nothing to drop.
#[derive(Debug)]
pub struct ProcessTree {
    id: u64,
    owner: OwnerId,
    pid: u32,
    os: os::Owned,
    exit: watch::Receiver<Option<ExitFacts>>,
    stderr: Arc<StderrTail>,
    stderr_task: AbortHandle,
    finished: AtomicBool,
    /// Whether the host ended it together with all others.
    swept: AtomicBool,
    shutdown: tokio::sync::Mutex<Option<ShutdownReport>>,
}

impl ProcessTree {
    /// Takes over a started process and starts the tasks that wait for its end and read its stderr.
    pub(super) fn start(
        order: Order,
        (pid, os): (u32, os::Owned),
        wait: impl Future<Output = ExitFacts> + Send + 'static,
        stderr: ChildStderr,
        tail: Arc<StderrTail>,
    ) -> Arc<Self> {
        let (ended, exit) = watch::channel(None);
        // The status tells the end even when a descendant holds the pipes.
        tokio::spawn(async move {
            let facts = wait.await;
            tracing::debug!(target: "acp::process", pid, exit = %facts, "agent ended");
            ended.send_replace(Some(facts));
        });
        let drained = Arc::clone(&tail);
        let stderr_task = tokio::spawn(async move { drained.drain(stderr).await }).abort_handle();
        let tree = Arc::new(Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            owner: order.owner(),
            pid,
            os,
            exit,
            stderr: tail,
            stderr_task,
            finished: AtomicBool::new(false),
            swept: AtomicBool::new(false),
            shutdown: tokio::sync::Mutex::new(None),
        });
        if !registry::register(&tree, &order) {
            tree.sweep();
        }
        tree
    }

    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// The agent's own process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Who the tree belongs to.
    pub fn owner(&self) -> OwnerId {
        self.owner
    }

    /// The end of the agent's stderr.
    pub fn stderr(&self) -> &Arc<StderrTail> {
        &self.stderr
    }

    /// How the agent's own process ended, if it has. Descendants may still be alive.
    pub fn try_exit(&self) -> Option<ExitFacts> {
        self.exit.borrow().clone()
    }

    /// Resolves when the agent's own process has ended, whoever holds its pipes. Any number of waiters.
    pub fn exited(&self) -> impl Future<Output = ExitFacts> + Send + 'static {
        let mut exit = self.exit.clone();
        // An error means that the runtime which waited for the process is gone: nothing is known then.
        async move { exit.wait_for(Option::is_some).await.ok().and_then(|facts| facts.clone()).unwrap_or_default() }
    }

    /// Asks the whole tree to end (SIGTERM). On Windows, where there is no such request for a process without a console or
    /// window, this does nothing and returns `false`.
    pub fn terminate(&self) -> bool {
        !self.is_finished() && self.os.terminate()
    }

    /// Kills the whole tree and waits until it is gone, at most two seconds; returns the ids of those that are not.
    ///
    /// Synchronous and independent of any runtime: for exit hooks and `Drop`.
    pub fn kill(&self) -> Vec<u32> {
        let deadline = Instant::now() + KILL_BOUND;
        let mut pause = Duration::from_micros(200);
        while !self.is_finished() {
            let pass = self.os.kill_pass();
            if pass.live == 0 {
                self.finish();
                break;
            }
            if pass.live == pass.refused || Instant::now() >= deadline {
                let left = self.survivors();
                tracing::warn!(target: "acp::process", pid = self.pid, ?left, "processes could not be killed");
                return left;
            }
            // Looks only at those already known; the next pass looks at everything again.
            loop {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
                if Instant::now() >= deadline || !self.os.known_alive() {
                    break;
                }
            }
        }
        Vec::new()
    }

    /// Sends the kill without waiting for anything, as the host's end of all its trees.
    pub(super) fn sweep(&self) {
        if self.is_finished() {
            return;
        }
        // Before the signal: whoever notices the end asks for its reason.
        if self.try_exit().is_none() {
            self.swept.store(true, Ordering::Release);
        }
        self.os.kill_pass();
    }

    /// Whether the host ended it together with all its others, rather than the agent itself.
    pub fn was_swept(&self) -> bool {
        self.swept.load(Ordering::Acquire)
    }

    /// The ids of all processes of the tree that are alive (zombies are not), the agent's own included.
    pub fn survivors(&self) -> Vec<u32> {
        if self.is_finished() { Vec::new() } else { self.os.survivors() }
    }

    /// Whether the tree is known to be gone as a whole.
    pub fn is_finished(&self) -> bool {
        self.finished.load(Ordering::Acquire)
    }

    /// To be called only when a full look found no member alive.
    fn finish(&self) {
        if !self.finished.swap(true, Ordering::AcqRel) {
            registry::unregister(self.id);
            self.os.release();
        }
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        if !self.is_finished() {
            let left = self.kill();
            tracing::debug!(target: "acp::process", pid = self.pid, ?left, "tree killed: its last handle was dropped");
            self.finish();
        }
        // Everyone who could write to it is gone, or not ours.
        if self.try_exit().is_none() || !self.stderr_task.is_finished() {
            self.stderr_task.abort();
        }
    }
}
