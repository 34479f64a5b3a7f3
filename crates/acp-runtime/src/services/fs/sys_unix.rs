//! Unix: `openat2` with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS` where the kernel has it, else a walk that opens one
//! component after the other with `O_NOFOLLOW`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Opened, SysError, temporary_name};

/// Enough to open things below it; needs no read permission where the system has `O_PATH`.
#[cfg(any(target_os = "linux", target_os = "android"))]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Flags of every open of a file: no link, no terminal taken over, no waiting for the other end of a FIFO.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The pinned directory.
#[derive(Debug)]
pub(in super::super) struct Root(OwnedFd);

impl Root {
    pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
        // The path is real: a link at its end was put there just now.
        Ok(Self(rustix::fs::open(path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?))
    }
}

impl From<Errno> for SysError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::LOOP | Errno::MLINK | Errno::XDEV => Self::Escapes,
            Errno::ISDIR | Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => Self::NotRegular,
            other => Self::Io(other.into()),
        }
    }
}

pub(in super::super) fn open_read(root: &Root, below: &Path) -> Result<Opened, SysError> {
    if below.as_os_str().is_empty() {
        return Err(SysError::NotRegular);
    }
    let fd = open_below(root.0.as_fd(), below, OFlags::RDONLY | FILE)?;
    let stat = rustix::fs::fstat(&fd)?;
    Ok(Opened {
        is_regular: is_regular(&stat) && !tells_of_processes(&fd),
        has_other_links: has_other_links(&stat),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        file: File::from(fd),
    })
}

pub(in super::super) fn replace(root: &Root, below: &Path, content: &[u8]) -> Result<(), SysError> {
    let name = below.file_name().ok_or(SysError::NotRegular)?;
    let parent = match below.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => open_below(root.0.as_fd(), parent, DIRECTORY)?,
        _ => root.0.try_clone().map_err(SysError::Io)?,
    };
    // Opening the old file for writing, without truncating it, proves that its permissions allow this.
    let old = match rustix::fs::openat(&parent, name, OFlags::WRONLY | FILE, Mode::empty()) {
        Ok(fd) => {
            let stat = rustix::fs::fstat(&fd)?;
            if !is_regular(&stat) {
                return Err(SysError::NotRegular);
            }
            if has_other_links(&stat) {
                return Err(SysError::HardLinked);
            }
            Some(stat)
        }
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(errno.into()),
    };
    // A new file gets what the umask leaves of 0644; a replacement is private until it has its predecessor's bits.
    let mode = if old.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o644) };
    let temporary = Temporary::create(parent.as_fd(), mode)?;
    (&temporary.file).write_all(content).map_err(SysError::Io)?;
    if let Some(old) = old {
        keep_permissions(temporary.file.as_fd(), &old)?;
    }
    temporary.rename_to(name)
}

fn is_regular(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

/// Whether the file is one of `/proc`, which is reachable where the directory is `/`. There, `self` is the host: its
/// environment and its memory.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn tells_of_processes(fd: &OwnedFd) -> bool {
    rustix::fs::fstatfs(fd).is_ok_and(|fs| fs.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn tells_of_processes(_fd: &OwnedFd) -> bool {
    false
}

/// The width of the count differs by system; a comparison fits all.
fn has_other_links(stat: &Stat) -> bool {
    stat.st_nlink > 1
}

/// Gives the new file the old one's permission bits, and its owner and group as far as the system lets us. A group that
/// cannot be kept loses its access: the bits were meant for another group. Set-id bits end with a change of content.
fn keep_permissions(new: BorrowedFd<'_>, old: &Stat) -> Result<(), SysError> {
    let mut bits = Mode::from_raw_mode(old.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
    let current = rustix::fs::fstat(new)?;
    if current.st_uid != old.st_uid {
        let owner = rustix::fs::Uid::from_raw(old.st_uid);
        // Only a privileged host may; otherwise the file belongs to whoever wrote it, as with any editor.
        let _ = rustix::fs::fchown(new, Some(owner), None);
    }
    if current.st_gid != old.st_gid {
        let group = rustix::fs::Gid::from_raw(old.st_gid);
        if rustix::fs::fchown(new, None, Some(group)).is_err() {
            bits -= Mode::RWXG;
        }
    }
    Ok(rustix::fs::fchmod(new, bits)?)
}

/// A temporary file that disappears unless it is renamed.
struct Temporary<'d> {
    directory: BorrowedFd<'d>,
    name: Option<String>,
    file: File,
}

impl<'d> Temporary<'d> {
    fn create(directory: BorrowedFd<'d>, mode: Mode) -> Result<Self, SysError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut attempts = 8;
        loop {
            let name = temporary_name().map_err(SysError::Io)?;
            match rustix::fs::openat(directory, &name, flags, mode) {
                Ok(fd) => return Ok(Self { directory, name: Some(name), file: File::from(fd) }),
                Err(Errno::EXIST) if attempts > 0 => attempts -= 1,
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn rename_to(mut self, target: &OsStr) -> Result<(), SysError> {
        if let Some(name) = &self.name {
            rustix::fs::renameat(self.directory, name, self.directory, target)?;
            self.name = None;
        }
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Nothing more can be done if even this fails.
            let _ = rustix::fs::unlinkat(self.directory, name, AtFlags::empty());
        }
    }
}

/// Opens a path below the directory; every component must be a plain name and none may be a link.
fn open_below(directory: BorrowedFd<'_>, below: &Path, flags: OFlags) -> Result<OwnedFd, SysError> {
    if !below.components().all(|c| matches!(c, Component::Normal(_))) {
        return Err(SysError::Escapes);
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(result) = open_beneath(directory, below, flags) {
        return Ok(result?);
    }
    Ok(walk(directory, below, flags)?)
}

/// `None` where the kernel, or a sandbox around us, does not know `openat2`.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_beneath(directory: BorrowedFd<'_>, below: &Path, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(directory, below, flags, Mode::empty(), resolve) {
        // Sandboxes answer an unknown call with EPERM; EAGAIN means that the tree moved while the kernel looked. The walk
        // decides both.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::INVAL | Errno::TOOBIG) => None,
        result => Some(result),
    }
}

fn walk(directory: BorrowedFd<'_>, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut current: Option<OwnedFd> = None;
    let mut components = below.components().peekable();
    while let Some(component) = components.next() {
        let last = components.peek().is_none();
        let flags = if last { flags } else { DIRECTORY };
        let at = current.as_ref().map_or(directory, AsFd::as_fd);
        let opened = rustix::fs::openat(at, component.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty());
        let opened = opened.map_err(|errno| {
            // `O_DIRECTORY | O_NOFOLLOW` on a link says "not a directory".
            let is_link = errno == Errno::NOTDIR
                && rustix::fs::statat(at, component.as_os_str(), AtFlags::SYMLINK_NOFOLLOW)
                    .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
            if is_link { Errno::LOOP } else { errno }
        })?;
        current = Some(opened);
    }
    current.ok_or(Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_and_the_kernel_agree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink("b", root.join("a/link")).unwrap();
        std::os::unix::fs::symlink("file", root.join("a/b/final")).unwrap();
        std::os::unix::fs::symlink("/", root.join("out")).unwrap();
        let pinned = Root::open(root).unwrap();
        for (below, expected) in [
            ("a/b/file", Ok(())),
            ("a/b/none", Err(Errno::NOENT)),
            ("a/none/file", Err(Errno::NOENT)),
            ("a/link/file", Err(Errno::LOOP)),
            ("a/b/final", Err(Errno::LOOP)),
            ("out/etc/passwd", Err(Errno::LOOP)),
            ("a/b/file/x", Err(Errno::NOTDIR)),
        ] {
            let flags = OFlags::RDONLY | FILE;
            assert_eq!(walk(pinned.0.as_fd(), Path::new(below), flags).map(drop), expected, "walk {below}");
            #[cfg(any(target_os = "linux", target_os = "android"))]
            if let Some(result) = open_beneath(pinned.0.as_fd(), Path::new(below), flags) {
                assert_eq!(result.map(drop), expected, "openat2 {below}");
            }
        }
        for below in ["../x", "/etc/passwd", "a/../../x", "./a"] {
            assert!(matches!(
                open_below(pinned.0.as_fd(), Path::new(below), OFlags::RDONLY | FILE),
                Err(SysError::Escapes)
            ));
        }
    }
}
