//! Unix systems whose process table is not read here: only the agent's own process group is reached. A tool that leaves
//! the group survives the agent there.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use super::members::Entry;
use crate::process::mark::{self, Mark};
use crate::process::spec::LaunchSpec;

/// Starts `binary` in a session of its own, by fork.
pub(super) fn start(binary: &Path, spec: &LaunchSpec, mark: &str, stdio: &[OwnedFd; 3]) -> io::Result<u32> {
    let mut command = Command::new(binary);
    command.args(&spec.args).current_dir(&spec.cwd).env_clear();
    command.envs(spec.env.iter().map(|(name, value)| (name, value))).env(mark::NAME, mark);
    command.stdin(stdio[0].try_clone()?).stdout(stdio[1].try_clone()?).stderr(stdio[2].try_clone()?);
    // SAFETY: setsid and signal are async-signal-safe; the closure allocates nothing, takes no lock and does not unwind.
    unsafe {
        command.pre_exec(|| {
            rustix::process::setsid()?;
            for number in 1..32 {
                // An ignored signal would stay ignored; numbers that may not be set fail without an effect.
                libc::signal(number, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    // The handle is not needed: the child is waited for by its id.
    command.spawn().map(|child| child.id())
}

/// Never made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    pub vanished: usize,
}

/// Never made.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cursor {}

/// Stands for a table that cannot be opened.
pub(super) enum Table {}

impl Table {
    pub fn open() -> Option<Self> {
        None
    }

    pub fn list(&mut self, _since: u64, _then: Option<(Cursor, u32)>, _into: &mut Vec<Entry>) -> Option<Listing> {
        match *self {}
    }

    pub fn cursor(&self) -> Option<Cursor> {
        match *self {}
    }

    pub fn entry(&self, _pid: u32) -> Option<Entry> {
        match *self {}
    }

    pub fn children(&self, _pid: u32, _into: &mut Vec<Entry>) {
        match *self {}
    }

    pub fn has_mark(&mut self, _pid: u32, _mark: &Mark) -> bool {
        match *self {}
    }

    pub fn signal(&self, _entry: &Entry, _signal: Signal) -> bool {
        match *self {}
    }
}
