//! The process table of Linux: `/proc`.

use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, RawDir, openat};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::members::Entry;
use crate::process::mark::Mark;

/// The longest environment that is searched, in bytes.
const MAX_ENVIRONMENT: usize = 4 << 20;
const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC);

/// A name below `/proc`, without a heap.
struct Name {
    bytes: [u8; 48],
    len: usize,
}

impl Name {
    fn of(pid: u32, rest: &str) -> Self {
        let mut name = Self { bytes: [0; 48], len: 0 };
        // Cannot fail: ten digits and the short constants of this file.
        let _ = write!(name, "{pid}{rest}");
        name
    }
}

impl std::fmt::Write for Name {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(std::fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// What a listing noticed besides the processes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listing {
    /// Processes that ended while the list was made: they may have forked behind its back.
    pub vanished: usize,
}

/// Where the kernel is in giving out process ids. It gives them out in a ring: an id that is in use is skipped, one that was
/// passed comes again only after a whole round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    last_pid: u32,
    forks: u64,
    pid_max: u64,
}

/// The ids that were given out between two looks at the cursor: a part of the ring.
#[derive(Clone, Copy, Debug)]
struct Window {
    after: u32,
    to: u32,
}

impl Window {
    /// `None` when the cursor may have gone round: then every id may be young. The machine's forks, containers and threads
    /// included, are at least as many as the ids that were given out here. Half a round is left for ids that were skipped.
    fn between(then: Cursor, now: Cursor) -> Option<Self> {
        let forks = now.forks.checked_sub(then.forks)?;
        (now.pid_max == then.pid_max && forks < now.pid_max / 2)
            .then_some(Self { after: then.last_pid, to: now.last_pid })
    }

    fn contains(self, pid: u32) -> bool {
        if self.after <= self.to { pid > self.after && pid <= self.to } else { pid > self.after || pid <= self.to }
    }
}

/// An open `/proc`.
pub(super) struct Table {
    proc_dir: OwnedFd,
    environment: Vec<u8>,
}

impl Table {
    /// `None` where `/proc` is not mounted, or shows another process namespace than the one whose ids this process knows:
    /// then a number in it names a stranger.
    pub fn open() -> Option<Self> {
        let proc_dir = rustix::fs::open("/proc", READ | OFlags::DIRECTORY, Mode::empty()).ok()?;
        let mut target = [0u8; 16];
        let length = rustix::fs::readlinkat_raw(&proc_dir, c"self", &mut target[..]).ok()?;
        let itself: u32 = parse(target.get(..length)?)?;
        (itself == std::process::id()).then_some(Self { proc_dir, environment: Vec::new() })
    }

    /// Every process that started at `since` or later; `None` when the list is not complete. With `then`, taken before the
    /// process `root` was started, those whose ids were given out before are not even looked at.
    pub fn list(&mut self, since: u64, then: Option<(Cursor, u32)>, into: &mut Vec<Entry>) -> Option<Listing> {
        rustix::fs::seek(&self.proc_dir, rustix::fs::SeekFrom::Start(0)).ok()?;
        let mut pids: Vec<u32> = Vec::new();
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut dir = RawDir::new(self.proc_dir.as_fd(), &mut buffer);
        while let Some(item) = dir.next() {
            pids.extend(parse::<u32>(item.ok()?.file_name().to_bytes()));
        }
        // Read after the ids: what is younger than this is not among them.
        let now = then.and_then(|_| self.cursor());
        if let (Some((then, root)), Some(now)) = (then, now)
            && let Some(window) = Window::between(then, now)
            && window.contains(root)
        {
            pids.retain(|pid| window.contains(*pid));
        }
        let mut listing = Listing { vanished: 0 };
        for pid in pids {
            match self.entry(pid) {
                Some(entry) if entry.start >= since => into.push(entry),
                Some(_) => {}
                None => listing.vanished += 1,
            }
        }
        Some(listing)
    }

    /// Where the kernel is in giving out ids.
    pub fn cursor(&self) -> Option<Cursor> {
        let mut line = [0u8; 128];
        let file = openat(&self.proc_dir, c"loadavg", READ, Mode::empty()).ok()?;
        let read = rustix::io::read(&file, &mut line).ok()?;
        let last_pid = parse(line[..read].trim_ascii_end().rsplit(|byte| *byte == b' ').next()?)?;
        Some(Cursor { last_pid, forks: self.forks()?, pid_max: self.pid_max()? })
    }

    /// How many processes and threads this machine has started since it runs (`proc_stat(5)`, `processes`).
    fn forks(&self) -> Option<u64> {
        let file = openat(&self.proc_dir, c"stat", READ, Mode::empty()).ok()?;
        let mut text: Vec<u8> = Vec::with_capacity(8 * 1024);
        loop {
            text.reserve(8 * 1024);
            if rustix::io::read(&file, rustix::buffer::spare_capacity(&mut text)).ok()? == 0 {
                break;
            }
        }
        let at = memchr::memmem::find(&text, b"\nprocesses ")? + 11;
        parse(text[at..].split(|byte| *byte == b'\n').next()?)
    }

    fn pid_max(&self) -> Option<u64> {
        let file = openat(&self.proc_dir, c"sys/kernel/pid_max", READ, Mode::empty()).ok()?;
        let mut line = [0u8; 32];
        let read = rustix::io::read(&file, &mut line).ok()?;
        parse(line[..read].trim_ascii_end())
    }

    /// One process; `None` when it does not exist.
    pub fn entry(&self, pid: u32) -> Option<Entry> {
        let name = Name::of(pid, "/stat");
        let file = openat(&self.proc_dir, &name.bytes[..name.len], READ, Mode::empty()).ok()?;
        let mut line = [0u8; 1024];
        let read = rustix::io::read(&file, &mut line).ok()?;
        parse_stat(pid, &line[..read])
    }

    /// The direct children of a process, from the kernel's own list (`CONFIG_PROC_CHILDREN`; nothing without it).
    pub fn children(&self, pid: u32, into: &mut Vec<Entry>) {
        let name = Name::of(pid, "/task");
        let Ok(tasks) = openat(&self.proc_dir, &name.bytes[..name.len], READ | OFlags::DIRECTORY, Mode::empty()) else {
            return;
        };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut dir = RawDir::new(tasks.as_fd(), &mut buffer);
        while let Some(Ok(item)) = dir.next() {
            let Some(thread) = parse(item.file_name().to_bytes()) else { continue };
            let name = Name::of(thread, "/children");
            let Ok(file) = openat(&tasks, &name.bytes[..name.len], READ, Mode::empty()) else { continue };
            let mut list = [0u8; 4096];
            let Ok(read) = rustix::io::read(&file, &mut list) else { continue };
            let ids = list[..read].split(|byte| *byte == b' ').filter_map(parse::<u32>);
            into.extend(ids.filter_map(|child| self.entry(child)));
        }
    }

    /// Whether the environment that the process was executed with carries `mark`. `false` for processes of other users.
    pub fn has_mark(&mut self, pid: u32, mark: &Mark) -> bool {
        let name = Name::of(pid, "/environ");
        let Ok(file) = openat(&self.proc_dir, &name.bytes[..name.len], READ, Mode::empty()) else { return false };
        self.environment.clear();
        while self.environment.len() < MAX_ENVIRONMENT {
            self.environment.reserve(8 * 1024);
            match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut self.environment)) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        mark.is_in(&self.environment)
    }

    /// Signals exactly the process `entry`, never a later one of the same id. `false` when the kernel refuses.
    pub fn signal(&self, entry: &Entry, signal: Signal) -> bool {
        let Some(pid) = i32::try_from(entry.pid).ok().and_then(Pid::from_raw) else { return true };
        let handle = pidfd_open(pid, PidfdFlags::empty());
        // With the handle open its id may pass on, but the handle does not. So: still the one we mean?
        if self.entry(entry.pid).is_none_or(|now| now.start != entry.start) {
            return true;
        }
        let sent = match &handle {
            Ok(handle) => match pidfd_send_signal(handle, signal) {
                Err(rustix::io::Errno::NOSYS) => kill_process(pid, signal),
                sent => sent,
            },
            // Kernels before 5.3, sandboxes that forbid the call, no descriptor left.
            Err(_) => kill_process(pid, signal),
        };
        !matches!(sent, Err(rustix::io::Errno::PERM))
    }
}

fn parse<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Reads what is needed of `/proc/<pid>/stat` (`proc_pid_stat(5)`). The name in parentheses may hold anything.
fn parse_stat(pid: u32, line: &[u8]) -> Option<Entry> {
    let after = memchr::memrchr(b')', line)? + 2;
    let mut fields = line.get(after..)?.split(|byte| *byte == b' ');
    let state = *fields.next()?.first()?;
    let parent = parse(fields.next()?)?;
    let session = parse(fields.nth(1)?)?;
    let start = parse(fields.nth(15)?)?;
    Some(Entry {
        pid,
        parent,
        session,
        start,
        zombie: matches!(state, b'Z' | b'X' | b'x'),
        stopped: matches!(state, b'T' | b't'),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_does_not_shift_the_fields() {
        let line = b"7 (a) S 1 (\n) R 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 2222 22 23\n";
        let entry = parse_stat(7, line).unwrap();
        assert_eq!((entry.parent, entry.session, entry.start, entry.zombie), (3, 5, 2222, false));
        assert!(parse_stat(7, b"7 (x) Z").is_none());
        assert!(parse_stat(7, b"").is_none());
    }

    #[test]
    fn this_process_is_listed_with_its_own_facts() {
        let own = std::process::id();
        let mut table = Table::open().unwrap();
        let entry = table.entry(own).unwrap();
        assert_eq!(entry.parent, u32::try_from(rustix::process::getppid().unwrap().as_raw_nonzero().get()).unwrap());
        let mut all = Vec::new();
        assert!(table.list(entry.start, None, &mut all).is_some());
        assert!(all.iter().any(|other| other.identity() == entry.identity()));
        all.clear();
        assert!(table.list(u64::MAX, None, &mut all).is_some() && all.is_empty());
    }

    #[test]
    fn with_a_cursor_only_younger_processes_are_looked_at_and_none_is_missed() {
        let mut table = Table::open().unwrap();
        let then = table.cursor().unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut young = Vec::new();
        table.list(0, Some((then, child.id())), &mut young).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(young.iter().any(|entry| entry.pid == child.id()));
        assert!(!young.iter().any(|entry| entry.pid == std::process::id()));
    }

    #[test]
    fn the_window_goes_round_the_ring_once_at_most() {
        let at = |last_pid, forks| Cursor { last_pid, forks, pid_max: 1000 };
        let window = Window::between(at(100, 5000), at(300, 5200)).unwrap();
        assert_eq!([100, 101, 300, 301].map(|pid| window.contains(pid)), [false, true, true, false]);
        let window = Window::between(at(900, 5000), at(50, 5200)).unwrap();
        assert_eq!([900, 901, 999, 1, 50, 51].map(|pid| window.contains(pid)), [false, true, true, true, true, false]);
        assert!(Window::between(at(100, 5000), at(300, 5500)).is_none());
        assert!(Window::between(at(100, 5000), at(300, 4000)).is_none());
        assert!(Window::between(at(1, 1), Cursor { pid_max: 2000, ..at(2, 2) }).is_none());
    }
}
