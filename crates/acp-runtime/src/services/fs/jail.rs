//! The jail: one directory, opened once, and the only way from an agent's path to a file.
//!
//! A path is first resolved by name, following links, to decide and to explain; then the file is opened relative to the
//! pinned directory without following any link. So whatever changes between the two steps, no link leads out.

use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::{FsError, FsErrorCode, quote};
use super::names::{foreign_form, is_git_internal, is_secret_path};
use super::sys::{self, Root};
use super::window::{Found, Window, read_window};

/// Longest path accepted, in bytes.
pub const MAX_PATH_BYTES: usize = 4096;
/// Bytes passed over at most to find the first line of a read.
pub const MAX_SCAN_BYTES: u64 = 256 * 1024 * 1024;

/// A directory that files cannot be reached out of. Cheap to clone; blocking, so call it off the async threads.
#[derive(Clone, Debug)]
pub struct Jail(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    root: Root,
    /// The real path of the root when it was opened.
    real: PathBuf,
    hard_links: HardLinks,
}

/// What happens to reads of files that have other hard links. Writes are always refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// Refused: the other name may lie outside, and no one can tell without reading the whole disk.
    #[default]
    Refuse,
    /// Allowed, for trees that are linked from a package store.
    AllowReads,
}

/// A write that passed every check but the gate.
#[derive(Debug)]
#[must_use = "nothing is written before `commit`"]
pub struct PreparedWrite {
    jail: Jail,
    resolved: PathBuf,
}

impl Jail {
    /// Opens the directory and keeps it open: later renames or links in its place change nothing.
    pub fn open(root: &Path) -> Result<Self, FsError> {
        Self::with_hard_links(root, HardLinks::default())
    }

    /// The same with a policy for hard links.
    pub fn with_hard_links(root: &Path, hard_links: HardLinks) -> Result<Self, FsError> {
        let unresolved = || FsError::at(FsErrorCode::InvalidPath, "cwd does not resolve: ", root);
        let real = std::fs::canonicalize(root).map_err(|_| unresolved())?;
        let root = Root::open(&real).map_err(|_| unresolved())?;
        Ok(Self(Arc::new(Inner { root, real, hard_links })))
    }

    /// The real path of the directory.
    pub fn root(&self) -> &Path {
        &self.0.real
    }

    /// Resolves a path, absolute or relative to the root, to the real path of a file inside, existing or new.
    ///
    /// Links are followed as long as they stay inside. Fails with [`FsErrorCode::InvalidPath`] or
    /// [`FsErrorCode::PathOutsideCwd`]; names are not judged here.
    pub fn resolve(&self, requested: &str) -> Result<PathBuf, FsError> {
        check_form(requested)?;
        let lexical = normalize(&self.0.real.join(requested));
        let resolved = self.resolve_normal(&lexical)?;
        if Path::new(requested).components().any(|c| c == Component::ParentDir) {
            self.check_both_readings(&self.0.real.join(requested), &resolved)?;
        }
        Ok(resolved)
    }

    fn resolve_normal(&self, path: &Path) -> Result<PathBuf, FsError> {
        let outside = |text, path: &Path| Err(FsError::at(FsErrorCode::PathOutsideCwd, text, path));
        if let Ok(real) = std::fs::canonicalize(path) {
            return if self.contains(&real) { Ok(real) } else { outside("resolved path escapes cwd: ", &real) };
        }
        // Nothing there (or nothing that resolves): the directory must be inside, and the name must not be a link.
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return outside("resolved path escapes cwd: ", path);
        };
        let Ok(real_parent) = std::fs::canonicalize(parent) else {
            return outside("parent directory does not resolve: ", parent);
        };
        if !self.contains(&real_parent) {
            return outside("resolved parent escapes cwd: ", &real_parent);
        }
        let resolved = real_parent.join(name);
        if resolved.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            return outside("final component is a symlink: ", &resolved);
        }
        Ok(resolved)
    }

    /// `link/../name` means one thing to people and another to the operating system. Where the two differ, neither is
    /// served.
    fn check_both_readings(&self, physical: &Path, resolved: &Path) -> Result<(), FsError> {
        let real = std::fs::canonicalize(physical).ok().or_else(|| {
            let name = physical.file_name()?;
            Some(std::fs::canonicalize(physical.parent()?).ok()?.join(name))
        });
        match real {
            Some(real) if !self.contains(&real) => {
                Err(FsError::at(FsErrorCode::PathOutsideCwd, "resolved path escapes cwd: ", &real))
            }
            Some(real) if real != resolved => {
                Err(FsError::at(FsErrorCode::InvalidPath, "\"..\" after a link is ambiguous: ", physical))
            }
            _ => Ok(()),
        }
    }

    fn contains(&self, real: &Path) -> bool {
        real.starts_with(&self.0.real)
    }

    /// The part of a resolved path below the root. Empty for the root itself.
    fn below<'p>(&self, resolved: &'p Path) -> Result<&'p Path, FsError> {
        resolved
            .strip_prefix(&self.0.real)
            .map_err(|_| FsError::at(FsErrorCode::PathOutsideCwd, "resolved path escapes cwd: ", resolved))
    }

    /// Opens an existing regular file for reading.
    fn open_regular(&self, resolved: &Path) -> Result<(File, u64), FsError> {
        let opened = sys::open_read(&self.0.root, self.below(resolved)?).map_err(|e| e.explain("open", resolved))?;
        if !opened.is_regular {
            return Err(FsError::not_regular(resolved));
        }
        if opened.has_other_links && self.0.hard_links == HardLinks::Refuse {
            return Err(FsError::hard_linked(resolved));
        }
        Ok((opened.file, opened.size))
    }

    /// Reads a window of lines of a text file, at most `max_bytes` bytes of it. Invalid UTF-8 is replaced.
    pub fn read_text(&self, requested: &str, window: Window, max_bytes: usize) -> Result<String, FsError> {
        let resolved = self.resolve(requested)?;
        let either = |judge: fn(&str) -> bool| judge(requested) || judge(&resolved.to_string_lossy());
        if either(is_secret_path) {
            return Err(FsError::at(FsErrorCode::DeniedSecret, "read of secret-pattern file denied: ", &resolved));
        }
        if either(is_git_internal) {
            return Err(FsError::at(FsErrorCode::DeniedGit, "read of git-internal file denied: ", &resolved));
        }
        let (mut file, size) = self.open_regular(&resolved)?;
        match read_window(&mut file, size, window, max_bytes, MAX_SCAN_BYTES) {
            Ok(Found::Text(text)) => Ok(text),
            Ok(Found::TooFar) => Err(FsError::scan_too_large(MAX_SCAN_BYTES)),
            Err(error) => Err(FsError::io(&error, "read", &resolved)),
        }
    }

    /// Runs every check of a write that needs no person, in this order: size, jail, `.git`, secrets, and whether the target
    /// could be replaced. Nothing is created.
    pub fn prepare_write(&self, requested: &str, content: &str, max_bytes: usize) -> Result<PreparedWrite, FsError> {
        if content.len() > max_bytes {
            return Err(FsError::write_too_large(max_bytes as u64));
        }
        let resolved = self.resolve(requested)?;
        let either = |judge: fn(&str) -> bool| judge(requested) || judge(&resolved.to_string_lossy());
        if either(is_git_internal) {
            let text = "write to git-internal path hard-rejected: ";
            return Err(FsError::at(FsErrorCode::DeniedGit, text, &resolved));
        }
        if either(is_secret_path) {
            return Err(FsError::at(FsErrorCode::DeniedSecret, "write to secret-pattern file denied: ", &resolved));
        }
        // Nobody should be asked about a write that cannot happen. `commit` looks again, at the descriptor.
        match resolved.symlink_metadata() {
            Ok(meta) if !meta.is_file() => Err(FsError::not_regular(&resolved)),
            Ok(meta) if sys::links(&meta) > 1 => Err(FsError::hard_linked(&resolved)),
            _ => Ok(PreparedWrite { jail: self.clone(), resolved }),
        }
    }

    /// Checks and writes at once, for hosts without a gate.
    pub fn write_text(&self, requested: &str, content: &str, max_bytes: usize) -> Result<(), FsError> {
        self.prepare_write(requested, content, max_bytes)?.commit(content)
    }

    /// Resolves a directory inside, for processes that are to start there.
    pub fn resolve_directory(&self, requested: &str) -> Result<PathBuf, FsError> {
        let resolved = self.resolve(requested)?;
        match resolved.metadata() {
            Ok(meta) if meta.is_dir() => Ok(resolved),
            Ok(_) => Err(FsError::at(FsErrorCode::InvalidPath, "not a directory: ", &resolved)),
            Err(error) => Err(FsError::io(&error, "stat", &resolved)),
        }
    }
}

impl PreparedWrite {
    /// The real path that will be written.
    pub fn path(&self) -> &Path {
        &self.resolved
    }

    /// The key under which an approval of this write is found again.
    pub fn dedupe_key(&self) -> String {
        format!("fs_write|{}", self.resolved.to_string_lossy())
    }

    /// Replaces the file's content, or creates the file. Readers see the old content or the new, never a part: the new
    /// content goes into a temporary file beside the target, which then takes its name. Permission bits are kept.
    pub fn commit(self, content: &str) -> Result<(), FsError> {
        let below = self.jail.below(&self.resolved)?;
        if below.as_os_str().is_empty() {
            return Err(FsError::not_regular(&self.resolved));
        }
        sys::replace(&self.jail.0.root, below, content.as_bytes()).map_err(|e| e.explain("write", &self.resolved))
    }
}

fn check_form(requested: &str) -> Result<(), FsError> {
    let invalid = |message: String| Err(FsError::new(FsErrorCode::InvalidPath, message));
    if requested.is_empty() {
        return invalid("empty or non-string path".into());
    }
    if requested.contains('\0') {
        return invalid("path contains a NUL byte".into());
    }
    // A path is shown to whoever is asked about it; one with these would show another.
    if requested.contains(char::is_control) {
        return invalid("path contains a control character".into());
    }
    if requested.len() > MAX_PATH_BYTES {
        return invalid(format!("path is longer than {MAX_PATH_BYTES} bytes"));
    }
    if let Some(form) = foreign_form(requested) {
        return invalid(format!("path is {form}: {}", quote(Path::new(requested))));
    }
    Ok(())
}

/// Removes `.` and `..` by name alone.
fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
