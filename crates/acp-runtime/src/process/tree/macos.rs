//! The process table of macOS: libproc and sysctl. Processes of other users, and the environment of programs that the
//! system protects, cannot be seen; those are reached by parentage and session only.

use std::ffi::{c_int, c_void};
use std::ptr;

use rustix::process::{Pid, Signal, kill_process};

use super::members::Entry;
use crate::process::mark::Mark;

/// What a listing noticed besides the processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    /// Not known here.
    pub vanished: usize,
}

/// There is none on this system.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cursor {}

/// A view of the process table.
pub(super) struct Table {
    environment: Vec<u8>,
}

impl Table {
    #[expect(clippy::unnecessary_wraps, reason = "other systems may have no table")]
    pub fn open() -> Option<Self> {
        Some(Self { environment: Vec::new() })
    }

    /// Every process that started at `since` or later; `None` when the list is not complete.
    pub fn list(&mut self, since: u64, _then: Option<(Cursor, u32)>, into: &mut Vec<Entry>) -> Option<Listing> {
        // SAFETY: with no buffer the call only returns how many ids there are.
        let count = unsafe { libc::proc_listallpids(ptr::null_mut(), 0) };
        let count = usize::try_from(count).ok()?;
        // Room for those that start between the two calls.
        let mut ids: Vec<c_int> = vec![0; count + count / 4 + 64];
        let bytes = c_int::try_from(size_of_val(ids.as_slice())).ok()?;
        // SAFETY: `ids` is writable for `bytes` bytes.
        let listed = unsafe { libc::proc_listallpids(ids.as_mut_ptr().cast::<c_void>(), bytes) };
        let listed = usize::try_from(listed).ok()?;
        if listed == 0 || listed >= ids.len() {
            return None;
        }
        let found = ids[..listed].iter().filter_map(|id| u32::try_from(*id).ok()).filter_map(|pid| self.entry(pid));
        into.extend(found.filter(|entry| entry.start >= since));
        Some(Listing { vanished: 0 })
    }

    /// Ids are not given out in an order here.
    pub fn cursor(&self) -> Option<Cursor> {
        None
    }

    /// One process; `None` when it does not exist or is another user's.
    pub fn entry(&self, pid: u32) -> Option<Entry> {
        let id = c_int::try_from(pid).ok()?;
        // SAFETY: the structure consists of integers and arrays of them, for which zero is a value.
        let mut info: libc::proc_bsdinfo = unsafe { std::mem::zeroed() };
        let size = c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
        // SAFETY: `info` is writable for `size` bytes.
        let got = unsafe {
            libc::proc_pidinfo(id, libc::PROC_PIDTBSDINFO, 0, ptr::from_mut(&mut info).cast::<c_void>(), size)
        };
        if got != size {
            return None;
        }
        let session = Pid::from_raw(id).and_then(|id| rustix::process::getsid(Some(id)).ok());
        Some(Entry {
            pid,
            parent: info.pbi_ppid,
            session: session.map_or(0, |session| session.as_raw_nonzero().get().unsigned_abs()),
            start: info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec,
            zombie: info.pbi_status == libc::SZOMB,
            stopped: info.pbi_status == libc::SSTOP,
        })
    }

    /// The direct children of a process.
    pub fn children(&self, pid: u32, into: &mut Vec<Entry>) {
        let Ok(parent) = libc::pid_t::try_from(pid) else { return };
        let mut ids: [c_int; 256] = [0; 256];
        let Ok(bytes) = c_int::try_from(size_of_val(&ids)) else { return };
        // SAFETY: `ids` is writable for `bytes` bytes.
        let listed = unsafe { libc::proc_listchildpids(parent, ids.as_mut_ptr().cast::<c_void>(), bytes) };
        let listed = usize::try_from(listed).unwrap_or(0).min(ids.len());
        let found = ids[..listed].iter().filter_map(|id| u32::try_from(*id).ok()).filter(|id| *id != 0);
        into.extend(found.filter_map(|child| self.entry(child)));
    }

    /// Whether the environment that the process was executed with carries `mark`.
    pub fn has_mark(&mut self, pid: u32, mark: &Mark) -> bool {
        let Ok(id) = c_int::try_from(pid) else { return false };
        let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, id];
        let mut size = 0;
        // SAFETY: `name` has three elements; with no buffer the call only stores the size that is needed.
        let asked = unsafe { libc::sysctl(name.as_mut_ptr(), 3, ptr::null_mut(), &raw mut size, ptr::null_mut(), 0) };
        if asked != 0 || size == 0 {
            return false;
        }
        self.environment.clear();
        self.environment.resize(size, 0);
        // SAFETY: the buffer is writable for `size` bytes; the call stores how many it wrote.
        let read = unsafe {
            let buffer = self.environment.as_mut_ptr().cast::<c_void>();
            libc::sysctl(name.as_mut_ptr(), 3, buffer, &raw mut size, ptr::null_mut(), 0)
        };
        // The arguments come first in the block, each ended by NUL like the variables.
        read == 0 && mark.is_in(&self.environment[..size.min(self.environment.len())])
    }

    /// Signals the process `entry`. `false` when the kernel refuses.
    pub fn signal(&self, entry: &Entry, signal: Signal) -> bool {
        let Some(pid) = i32::try_from(entry.pid).ok().and_then(Pid::from_raw) else { return true };
        if self.entry(entry.pid).is_none_or(|now| now.start != entry.start) {
            return true;
        }
        !matches!(kill_process(pid, signal), Err(rustix::io::Errno::PERM))
    }
}
