//! The watchdog: what ends the trees of a host that was killed itself.
//!
//! One `/bin/sh` per host process, in a group of its own, blocked on a pipe whose only other end this process holds. The
//! kernel closes that end whatever way the host dies; the shell then ends every process that carries the host's token.
//! It starts before the first agent does, so that there is no moment in which a host's death goes unseen, and ends a moment
//! after the last tree is gone. `docs/decisions/process-ownership.md` tells why a shell.

use std::fmt::Write as _;
use std::io::{self, PipeWriter, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::mark;

const SCRIPT: &str = include_str!("watchdog.sh");
/// How long an idle watchdog is kept for the next launch.
const LINGER: Duration = Duration::from_secs(1);

struct Slot {
    pipe: Option<PipeWriter>,
    /// The trees that it must know, so that another one can be told.
    trees: Vec<(u32, u64)>,
    /// Agents that are being started; nobody knows their ids yet.
    starting: usize,
    /// Counts every change that may make it idle or busy.
    generation: u64,
}

static SLOT: Mutex<Slot> = Mutex::new(Slot { pipe: None, trees: Vec::new(), starting: 0, generation: 0 });
/// The id of the running watchdog; 0 for none.
static PID: AtomicU32 = AtomicU32::new(0);

fn slot() -> MutexGuard<'static, Slot> {
    SLOT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of the running watchdog, if there is one: for diagnostics.
pub fn pid() -> Option<u32> {
    Some(PID.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
}

/// An agent that is being started. Dropped without [`Starting::begun`], it did not start.
#[must_use]
pub(super) struct Starting(());

/// Makes sure that one is running, and tells it that an agent is about to. A host without one works as before, so a failure
/// is only logged.
pub(super) fn start() -> Starting {
    let mut slot = slot();
    slot.generation += 1;
    slot.starting += 1;
    if slot.pipe.is_some() {
        tell(&mut slot, "s");
    } else {
        ensure(&mut slot);
    }
    Starting(())
}

impl Starting {
    /// Notes its tree: the session that its root leads, and when that root started.
    pub(super) fn begun(self, session: u32, start: u64) {
        std::mem::forget(self);
        let mut slot = slot();
        slot.starting -= 1;
        slot.trees.push((session, start));
        tell(&mut slot, &format!("+ {session} {start}"));
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        let mut slot = slot();
        slot.starting -= 1;
        tell(&mut slot, "f");
        rest(slot);
    }
}

/// Forgets a tree; a moment after the last one is forgotten the watchdog ends.
pub(super) fn remove(session: u32, start: u64) {
    let mut slot = slot();
    let Some(at) = slot.trees.iter().position(|tree| *tree == (session, start)) else { return };
    slot.trees.swap_remove(at);
    tell(&mut slot, &format!("- {session} {start}"));
    rest(slot);
}

/// Lets it go in a moment when there is nothing to watch.
fn rest(mut slot: MutexGuard<'_, Slot>) {
    if !slot.trees.is_empty() || slot.starting > 0 {
        return;
    }
    slot.generation += 1;
    let generation = slot.generation;
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => {
            drop(slot);
            runtime.spawn(async move {
                tokio::time::sleep(LINGER).await;
                let mut slot = self::slot();
                if slot.generation == generation {
                    slot.pipe = None;
                }
            });
        }
        Err(_) => slot.pipe = None,
    }
}

fn ensure(slot: &mut Slot) {
    if slot.pipe.is_some() {
        return;
    }
    match launch() {
        Ok(mut pipe) => {
            // Each `+` takes one of those that are starting.
            let mut lines = "s\n".repeat(slot.starting + slot.trees.len());
            for (session, start) in &slot.trees {
                let _ = writeln!(lines, "+ {session} {start}");
            }
            match pipe.write_all(lines.as_bytes()) {
                Ok(()) => slot.pipe = Some(pipe),
                Err(error) => dismiss(&error),
            }
        }
        Err(error) => tracing::warn!(target: "acp::process", %error, "no watchdog: agents may outlive a killed host"),
    }
}

fn tell(slot: &mut Slot, line: &str) {
    let Some(pipe) = &mut slot.pipe else { return };
    // The host ignores SIGPIPE (Node and Rust programs do), so a dead watchdog is an error here; so is one that was stopped
    // until its pipe is full. Its successor is told everything.
    if let Err(error) = pipe.write_all(format!("{line}\n").as_bytes()) {
        dismiss(&error);
        slot.pipe = None;
        ensure(slot);
    }
}

/// Ends a watchdog that does not listen, before its pipe is closed: it would take that for the death of the host.
fn dismiss(error: &io::Error) {
    let alive = error.kind() != io::ErrorKind::BrokenPipe;
    if let Some(shell) = pid().filter(|_| alive).and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _ = kill_process(shell, Signal::KILL);
    }
}

fn launch() -> io::Result<PipeWriter> {
    let token = mark::host_token().map_err(|error| io::Error::other(error.to_string()))?;
    // Both ends are close-on-exec: no agent ever holds one.
    let (reader, writer) = io::pipe()?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "acp-watchdog", token]).env_clear().env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::from(reader)).stdout(Stdio::null()).stderr(Stdio::null());
    // A group, not a session: enough against Ctrl-C and a kill of the host's group, and the one of the two for which the
    // standard library need not copy the host's page tables.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    // Before the shell: without a thread nobody would collect it.
    let (started, shells) = mpsc::channel::<Child>();
    std::thread::Builder::new().name("acp-watchdog".into()).stack_size(128 * 1024).spawn(move || {
        let Ok(mut shell) = shells.recv() else { return };
        let ended = shell.wait();
        let _ = PID.compare_exchange(shell.id(), 0, Ordering::Relaxed, Ordering::Relaxed);
        tracing::debug!(target: "acp::process", ?ended, "watchdog ended");
    })?;
    let shell = command.spawn()?;
    // Holds the read end: without this the pipe would not break when the shell dies.
    drop(command);
    PID.store(shell.id(), Ordering::Relaxed);
    let _ = started.send(shell);
    Ok(writer)
}

#[cfg(test)]
#[path = "watchdog_tests.rs"]
mod tests;
