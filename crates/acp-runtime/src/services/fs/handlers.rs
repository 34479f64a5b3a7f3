//! `fs/read_text_file` and `fs/write_text_file`: params, policy, results.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{FsError, FsErrorCode, quote};
use super::jail::{HardLinks, Jail, PreparedWrite};
use super::window::Window;
use crate::services::decode;

/// Default ceiling of what a read returns, in bytes.
pub const DEFAULT_READ_MAX_BYTES: usize = 5 * 1024 * 1024;
/// Default ceiling of what a write may contain, in bytes.
pub const DEFAULT_WRITE_MAX_BYTES: usize = 5 * 1024 * 1024;

/// What becomes of a relative path. The protocol demands absolute ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RelativePaths {
    /// Refused with −32602.
    #[default]
    Refuse,
    /// Resolved below the session's directory: the Fusion-shaped handlers.
    Resolve,
}

/// What the files of a session are open for. Everything is off by default.
#[derive(Clone, Copy, Debug)]
pub struct FsPolicy {
    /// Serve `fs/read_text_file`.
    pub read: bool,
    /// Serve `fs/write_text_file`, each write gated.
    pub write: bool,
    /// Ceiling of what a read returns, in bytes.
    pub read_max_bytes: usize,
    /// Ceiling of what a write may contain, in bytes.
    pub write_max_bytes: usize,
    /// Relative paths.
    pub relative: RelativePaths,
    /// Reads of files with other hard links.
    pub hard_links: HardLinks,
}

impl Default for FsPolicy {
    fn default() -> Self {
        Self {
            read: false,
            write: false,
            read_max_bytes: DEFAULT_READ_MAX_BYTES,
            write_max_bytes: DEFAULT_WRITE_MAX_BYTES,
            relative: RelativePaths::default(),
            hard_links: HardLinks::default(),
        }
    }
}

/// The files of one session. Blocking: call it off the async threads.
#[derive(Clone, Debug)]
pub struct FsService {
    jail: Jail,
    policy: FsPolicy,
}

/// The result of `fs/read_text_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadResult {
    /// The window's text.
    pub content: String,
}

/// The params of a read. Numbers may be fractions or out of range; see [`Window::new`].
#[derive(Debug, Deserialize)]
struct ReadParams {
    path: Value,
    #[serde(default)]
    line: Option<f64>,
    #[serde(default)]
    limit: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct WriteParams {
    path: Value,
    content: String,
}

/// A write that waits for the gate, together with its content.
#[derive(Debug)]
#[must_use = "nothing is written before `commit`"]
pub struct PendingWrite {
    prepared: PreparedWrite,
    content: String,
}

impl FsService {
    /// Opens the session's directory.
    pub fn open(cwd: &Path, policy: FsPolicy) -> Result<Self, FsError> {
        Ok(Self { jail: Jail::with_hard_links(cwd, policy.hard_links)?, policy })
    }

    /// The jail, for other services that start from a path.
    pub fn jail(&self) -> &Jail {
        &self.jail
    }

    /// The policy.
    pub fn policy(&self) -> &FsPolicy {
        &self.policy
    }

    /// Serves `fs/read_text_file`. The caller answers −32601 when reads are off; this refuses as well.
    pub fn read(&self, params: &str) -> Result<ReadResult, FsError> {
        let params: ReadParams = decode(params)?;
        check_on(self.policy.read, "fs/read_text_file")?;
        let path = self.path_of(&params.path)?;
        let window = Window::new(params.line, params.limit);
        self.jail.read_text(path, window, self.policy.read_max_bytes).map(|content| ReadResult { content })
    }

    /// Checks `fs/write_text_file` up to the gate. Ask the gate next, with the category `file_write_delete` and
    /// [`PendingWrite::dedupe_key`]; then commit, or answer [`FsError::write_blocked`] or [`FsError::write_not_granted`].
    pub fn prepare_write(&self, params: &str) -> Result<PendingWrite, FsError> {
        let params: WriteParams = decode(params)?;
        check_on(self.policy.write, "fs/write_text_file")?;
        if params.content.len() > self.policy.write_max_bytes {
            return Err(FsError::write_too_large(self.policy.write_max_bytes as u64));
        }
        let path = self.path_of(&params.path)?;
        let prepared = self.jail.prepare_write(path, &params.content, self.policy.write_max_bytes)?;
        Ok(PendingWrite { prepared, content: params.content })
    }

    fn path_of<'p>(&self, path: &'p Value) -> Result<&'p str, FsError> {
        let path = path.as_str().unwrap_or_default();
        if self.policy.relative == RelativePaths::Refuse && !path.is_empty() && !Path::new(path).is_absolute() {
            let message = format!("path is not absolute: {}", quote(Path::new(path)));
            return Err(FsError::new(FsErrorCode::InvalidPath, message));
        }
        Ok(path)
    }
}

impl PendingWrite {
    /// The real path that will be written.
    pub fn path(&self) -> &Path {
        self.prepared.path()
    }

    /// The new content.
    pub fn content(&self) -> &str {
        &self.content
    }

    /// The key under which an approval of this write is found again.
    pub fn dedupe_key(&self) -> String {
        self.prepared.dedupe_key()
    }

    /// Writes. The result of the request is then an empty object.
    pub fn commit(self) -> Result<(), FsError> {
        self.prepared.commit(&self.content)
    }
}

fn check_on(on: bool, method: &str) -> Result<(), FsError> {
    if on { Ok(()) } else { Err(FsError::new(FsErrorCode::InvalidParams, format!("{method} is not enabled"))) }
}

fn decode<'p, T: Deserialize<'p>>(params: &'p str) -> Result<T, FsError> {
    let message = "params do not have the types of the method";
    decode::object(params).ok_or_else(|| FsError::new(FsErrorCode::InvalidParams, message))
}
