//! A tree on Unix: started in a session of its own, found again by parentage, session and mark.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

use super::Pass;
use super::image::Image;
#[cfg(any(target_os = "linux", target_os = "android"))]
use super::linux::Table;
#[cfg(target_os = "macos")]
use super::macos::Table;
use super::members::{Entry, Identity, Known, Never};
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
use super::other_unix::Table;
use crate::error::{Error, ErrorCode, Phase, Result};
use crate::process::mark::Mark;
use crate::process::spec::LaunchSpec;
use crate::process::watchdog;

/// How often the freezing of a tree is repeated for processes that were forked meanwhile.
const FREEZE_ROUNDS: usize = 8;

/// What is decided before the process exists.
#[derive(Debug)]
pub(in crate::process) struct Birth {
    mark: Mark,
}

impl Birth {
    pub(in crate::process) fn prepare() -> Result<Self> {
        let mark = Mark::fresh()?;
        watchdog::start();
        Ok(Self { mark })
    }

    pub(in crate::process) fn configure(&self, command: &mut Command, binary: &Path, spec: &LaunchSpec) -> Result<()> {
        let image = Image::new(binary, spec, self.mark.value())?;
        // SAFETY: the closure runs between fork and exec. It makes only system calls that are async-signal-safe (setsid,
        // signal, close_range or fcntl, execve), allocates nothing, takes no lock and does not unwind.
        unsafe { command.pre_exec(move || detach().and_then(|()| Err(image.execute()))) };
        Ok(())
    }

    /// Ends what a failed start may have left.
    pub(in crate::process) fn abandon(&self) {
        let Some(mut table) = Table::open() else { return };
        let mut all = Vec::new();
        let host = std::process::id();
        table.list(0, &mut all);
        for entry in all {
            if entry.pid > 1 && entry.pid != host && !entry.zombie && table.has_mark(entry.pid, &self.mark) {
                table.signal(&entry, Signal::KILL);
                if entry.parent == host
                    && let Some(pid) = pid_of(entry.pid)
                {
                    // Killed, so this does not wait long.
                    let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
                }
            }
        }
    }

    /// Takes over the started child, which has not been waited for yet: its id is still its own.
    pub(in crate::process) fn adopt(self, child: &Child) -> Result<Owned> {
        let pid = child.id().ok_or_else(|| {
            Error::new(ErrorCode::SpawnError, "the agent ended before it could be taken over").in_phase(Phase::Spawn)
        })?;
        let start = Table::open().and_then(|table| table.entry(pid)).map(|entry| entry.start);
        let host_session = rustix::process::getsid(None).map_or(0, |session| session.as_raw_nonzero().get().unsigned_abs());
        watchdog::add(pid, start.unwrap_or(0));
        Ok(Owned {
            root: (pid, start.unwrap_or(0)),
            blind: start.is_none(),
            mark: self.mark,
            never: Never { host: std::process::id(), host_session },
            known: Mutex::new(Known::new((pid, start.unwrap_or(0)))),
        })
    }
}

/// Makes the child independent of the host: own session and group (no controlling terminal to read from or to type into),
/// default signal dispositions (`exec` keeps ignored signals ignored), no descriptor but the three pipes. The standard
/// library has emptied the signal mask and reset SIGPIPE before.
fn detach() -> io::Result<()> {
    rustix::process::setsid()?;
    unsafe extern "C" {
        fn signal(number: std::ffi::c_int, handler: usize) -> usize;
    }
    for number in 1..=64 {
        // SAFETY: signal(3) with SIG_DFL (0) is async-signal-safe; numbers that may not be set fail without an effect.
        unsafe { signal(number, 0) };
    }
    close_inherited();
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn close_inherited() {
    const CLOSE_RANGE: std::ffi::c_long = 436; // the same on every architecture
    const CLOSE_RANGE_CLOEXEC: std::ffi::c_uint = 4;
    unsafe extern "C" {
        fn syscall(number: std::ffi::c_long, ...) -> std::ffi::c_long;
    }
    // SAFETY: close_range(2) with CLOEXEC only marks descriptors; kernels before 5.11 refuse it, which changes nothing.
    unsafe { syscall(CLOSE_RANGE, 3 as std::ffi::c_uint, std::ffi::c_uint::MAX, CLOSE_RANGE_CLOEXEC) };
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn close_inherited() {
    // There is no call for a range; the lowest ones are where a leak would be.
    for number in 3..1024 {
        // SAFETY: the borrow lasts for one call that only marks the descriptor, or fails when there is none.
        let descriptor = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
        let _ = rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC);
    }
}

/// A started tree.
#[derive(Debug)]
pub(in crate::process) struct Owned {
    root: Identity,
    /// No process table can be read: only the root's own group is reached.
    blind: bool,
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
        if known.extinct {
            return Some((table, Vec::new()));
        }
        let mut all = Vec::new();
        if !table.list(self.root.1, &mut all) {
            return None;
        }
        let live = known.select(&mut all, self.never, |entry| table.has_mark(entry.pid, &self.mark));
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

fn pid_of(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

/// The name of a signal, as a shell spells it.
pub(in crate::process) fn signal_name(number: i32) -> String {
    const NAMES: &[(Signal, &str)] = &[
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let known = NAMES.iter().find(|(signal, _)| signal.as_raw() == number);
    known.map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned())
}
