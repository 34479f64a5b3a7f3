//! A tree on Unix: started in a session of its own, found again by parentage, session and mark.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::linux::{Cursor, Table};
#[cfg(target_os = "macos")]
use super::macos::{Cursor, Table};
use super::members::{Entry, Identity, Known, Never};
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
use super::other_unix::{self as start, Cursor, Table};
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
use super::start;
use super::{Pass, wait};
use crate::error::{ExitFacts, Result};
use crate::process::lookup;
use crate::process::mark::Mark;
use crate::process::spec::LaunchSpec;
use crate::process::watchdog;

/// How often the freezing of a tree is repeated for processes that were forked meanwhile.
const FREEZE_ROUNDS: usize = 8;
/// How often a look that found nobody is repeated because it was disturbed.
const UNSURE_ROUNDS: usize = 4;

/// A process that has just been started, and everything that belongs to it.
pub(in crate::process) struct Launched {
    pub pid: u32,
    pub owned: Owned,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    /// Resolves when the process has ended; collects its status.
    pub exit: Pin<Box<dyn Future<Output = ExitFacts> + Send>>,
}

/// Starts `binary`. Everything that can fail for another reason than the binary is done before, so that a failure leaves no
/// process.
pub(in crate::process) fn launch(binary: &Path, spec: &LaunchSpec) -> Result<Launched> {
    let mark = Mark::fresh()?;
    let no_pipes =
        |error: io::Error| lookup::spawn_failure(format!("no pipes for the ACP agent: {error}"), binary, &error);
    let (ends, stdin, stdout, stderr) = pipes().map_err(no_pipes)?;
    let starting = watchdog::start();
    let born = Table::open().and_then(|table| table.cursor());
    let pid = start::start(binary, spec, mark.value(), &ends).map_err(|error| lookup::exec_error(binary, &error))?;
    drop(ends);
    // It has not been waited for: until then its id is its own, whether it is alive or not.
    let start = Table::open().and_then(|table| table.entry(pid)).map(|entry| entry.start);
    let host_session = own_session();
    starting.begun(pid, start.unwrap_or(0));
    let owned = Owned {
        root: (pid, start.unwrap_or(0)),
        blind: start.is_none(),
        born,
        mark,
        never: Never { host: std::process::id(), host_session },
        known: Mutex::new(Known::new((pid, start.unwrap_or(0)))),
    };
    Ok(Launched { pid, owned, stdin, stdout, stderr, exit: wait::for_exit(pid) })
}

/// The session of this process; 0 when its leader is outside of the process namespace, as in a container that was entered, or
/// unknown. Not `rustix::process::getsid`, whose result cannot be 0.
fn own_session() -> u32 {
    // SAFETY: asks for a number; no memory is involved.
    let id = unsafe { libc::getsid(0) };
    u32::try_from(id).unwrap_or(0)
}

/// The agent's ends and ours. All are close-on-exec, and the agent's are none of the three numbers that they will get.
fn pipes() -> io::Result<([OwnedFd; 3], ChildStdin, ChildStdout, ChildStderr)> {
    let (input, stdin) = io::pipe()?;
    let (stdout, output) = io::pipe()?;
    let (stderr, errors) = io::pipe()?;
    let high = |end: OwnedFd| rustix::io::fcntl_dupfd_cloexec(&end, 3);
    Ok((
        [high(input.into())?, high(output.into())?, high(errors.into())?],
        ChildStdin::from_std(OwnedFd::from(stdin).into())?,
        ChildStdout::from_std(OwnedFd::from(stdout).into())?,
        ChildStderr::from_std(OwnedFd::from(stderr).into())?,
    ))
}

/// Whether a process can fork no more.
fn is_dead(table: &Table, (pid, start): Identity) -> bool {
    table.entry(pid).is_none_or(|entry| entry.start != start || entry.zombie)
}

/// A started tree.
#[derive(Debug)]
pub(in crate::process) struct Owned {
    root: Identity,
    /// No process table can be read: only the root's own group is reached.
    blind: bool,
    /// Where the system was in giving out ids just before the root got its own.
    born: Option<Cursor>,
    mark: Mark,
    never: Never,
    known: Mutex<Known>,
}

impl Owned {
    /// Held during a look at the processes, never across an await.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All live members. `None` when only the group can be reached.
    fn look(&self, known: &mut Known) -> Option<(Table, Vec<Entry>)> {
        if self.blind {
            return None;
        }
        let mut table = Table::open()?;
        let mut all = Vec::new();
        let mut live = Vec::new();
        for _ in 0..UNSURE_ROUNDS {
            if known.extinct {
                break;
            }
            all.clear();
            let dead: Vec<Identity> =
                known.members().iter().copied().filter(|member| is_dead(&table, *member)).collect();
            let listing = table.list(self.root.1, self.born.map(|born| (born, self.root.0)), &mut all)?;
            live = known.select(&mut all, self.never, |entry| table.has_mark(entry.pid, &self.mark));
            if !live.is_empty() || (listing.vanished == 0 && known.is_settled(&dead)) {
                break;
            }
            // Nobody was found, but somebody left or died during the look: a member may have forked before it did.
            known.extinct = false;
        }
        known.extinct |= live.is_empty();
        Some((table, live))
    }

    /// Notes the descendants that parentage shows now, without a look at all processes.
    pub(in crate::process) fn observe(&self) {
        if self.blind {
            return;
        }
        let Some(table) = Table::open() else { return };
        let mut found = Vec::new();
        table.children(self.root.0, &mut found);
        let mut at = 0;
        while let Some(entry) = found.get(at) {
            let pid = entry.pid;
            table.children(pid, &mut found);
            at += 1;
        }
        // A child of a process that took over the id of a dead root is younger than the root too, but not in the family:
        // the root was alive before and after, or nothing is noted.
        if !found.is_empty() && table.entry(self.root.0).is_some_and(|root| root.start == self.root.1 && !root.zombie) {
            self.known().add(&found, self.never);
        }
    }

    /// SIGTERM to every member; stopped ones are woken to receive it.
    pub(in crate::process) fn terminate(&self) -> bool {
        let mut known = self.known();
        match self.look(&mut known) {
            Some((table, live)) => {
                for entry in &live {
                    table.signal(entry, Signal::TERM);
                    if entry.stopped {
                        table.signal(entry, Signal::CONT);
                    }
                }
            }
            None => {
                self.signal_group(&mut known, Signal::TERM);
            }
        }
        true
    }

    /// Stops all members so that none can fork away, then kills them.
    pub(in crate::process) fn kill_pass(&self) -> Pass {
        let mut known = self.known();
        let mut frozen: Vec<Identity> = Vec::new();
        for _ in 0..FREEZE_ROUNDS {
            let Some((table, live)) = self.look(&mut known) else {
                let live = usize::from(self.signal_group(&mut known, Signal::KILL));
                return Pass { live, refused: 0 };
            };
            let fresh: Vec<&Entry> = live.iter().filter(|entry| !frozen.contains(&entry.identity())).collect();
            if fresh.is_empty() {
                return Self::kill_all(&table, &live);
            }
            for entry in &fresh {
                table.signal(entry, Signal::STOP);
            }
            frozen.extend(fresh.iter().map(|entry| entry.identity()));
        }
        self.look(&mut known).map_or(Pass { live: 1, refused: 0 }, |(table, live)| Self::kill_all(&table, &live))
    }

    fn kill_all(table: &Table, live: &[Entry]) -> Pass {
        let refused = live.iter().filter(|entry| !table.signal(entry, Signal::KILL)).count();
        Pass { live: live.len(), refused }
    }

    /// Whether one of the members seen last is still alive. Cheap, but blind to new ones.
    pub(in crate::process) fn known_alive(&self) -> bool {
        let mut known = self.known();
        let Some(table) = (if self.blind { None } else { Table::open() }) else {
            return self.group_alive(&mut known);
        };
        known
            .members()
            .iter()
            .any(|(pid, start)| table.entry(*pid).is_some_and(|now| now.start == *start && !now.zombie))
    }

    /// Whether any member is alive; a complete look is taken only when no known one is.
    pub(in crate::process) fn any_alive(&self) -> bool {
        self.known_alive() || !self.survivors().is_empty()
    }

    pub(in crate::process) fn survivors(&self) -> Vec<u32> {
        let mut known = self.known();
        match self.look(&mut known) {
            Some((_, live)) => live.iter().map(|entry| entry.pid).collect(),
            None if self.group_alive(&mut known) => vec![self.root.0],
            None => Vec::new(),
        }
    }

    /// The tree is gone: the watchdog may forget it.
    pub(in crate::process) fn release(&self) {
        watchdog::remove(self.root.0, self.root.1);
    }

    /// The fallback without a process table. Once the group is empty its id may belong to others, so it is not used again.
    fn signal_group(&self, known: &mut Known, signal: Signal) -> bool {
        let Some(group) = pid_of(self.root.0) else { return false };
        if known.extinct {
            return false;
        }
        let found = rustix::process::kill_process_group(group, signal).is_ok();
        known.extinct |= !found;
        found
    }

    fn group_alive(&self, known: &mut Known) -> bool {
        let Some(group) = pid_of(self.root.0) else { return false };
        if !known.extinct {
            known.extinct = rustix::process::test_kill_process_group(group).is_err();
        }
        !known.extinct
    }
}

pub(super) fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}
