//! Why a file request was refused, and the JSON-RPC error that tells the agent.

use std::fmt;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::services::clean::clean;
use crate::wire::encode::{AnswerError, code};

/// Longest path quoted in a message, in UTF-16 code units.
const MAX_QUOTED_PATH: usize = 4096;

/// The stable reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FsErrorCode {
    /// The path leads out of the session's directory, or cannot be shown to stay inside.
    PathOutsideCwd,
    /// The file looks like a secret.
    DeniedSecret,
    /// The file belongs to a `.git` directory.
    DeniedGit,
    /// The path has no acceptable form.
    InvalidPath,
    /// The content, or what would have to be read to find it, is above the ceiling.
    ContentTooLarge,
    /// The policy, or the person asked, refused the write.
    WriteDenied,
    /// There is no such file.
    NotFound,
    /// The path names a directory, FIFO, device or socket, or a file that has other names elsewhere (hard links).
    NotARegularFile,
    /// The operating system failed the operation.
    Io,
    /// The request's params have the wrong types.
    InvalidParams,
}

impl FsErrorCode {
    /// The code as the host sees it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PathOutsideCwd => "path_outside_cwd",
            Self::DeniedSecret => "denied_secret",
            Self::DeniedGit => "denied_git",
            Self::InvalidPath => "invalid_path",
            Self::ContentTooLarge => "content_too_large",
            Self::WriteDenied => "write_denied",
            Self::NotFound => "not_found",
            Self::NotARegularFile => "not_a_regular_file",
            Self::Io => "io_error",
            Self::InvalidParams => "invalid_params",
        }
    }
}

impl fmt::Display for FsErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refused or failed file request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FsError {
    /// The stable reason.
    pub code: FsErrorCode,
    /// For people; quotes the path, cleaned.
    pub message: String,
    /// The ceiling in bytes, for [`FsErrorCode::ContentTooLarge`].
    pub limit_bytes: Option<u64>,
    /// The missing file, for [`FsErrorCode::NotFound`].
    pub path: Option<String>,
}

impl FsError {
    /// A refusal with this message.
    pub fn new(code: FsErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), limit_bytes: None, path: None }
    }

    /// A refusal whose message is a fixed text followed by the path.
    pub(super) fn at(code: FsErrorCode, text: &str, path: &Path) -> Self {
        Self::new(code, format!("{text}{}", quote(path)))
    }

    /// The content of a write is too large.
    pub fn write_too_large(limit_bytes: u64) -> Self {
        let message = format!("fs write content exceeds the {limit_bytes}-byte ceiling");
        Self { limit_bytes: Some(limit_bytes), ..Self::new(FsErrorCode::ContentTooLarge, message) }
    }

    /// The wanted lines begin too far into the file.
    pub(super) fn scan_too_large(limit_bytes: u64) -> Self {
        let message = format!("fs read starts beyond the first {limit_bytes} bytes of the file");
        Self { limit_bytes: Some(limit_bytes), ..Self::new(FsErrorCode::ContentTooLarge, message) }
    }

    /// The policy blocks writes.
    pub fn write_blocked(path: &Path) -> Self {
        Self::at(FsErrorCode::WriteDenied, "file_write_delete is blocked by policy: ", path)
    }

    /// The write needed an approval and did not get one.
    pub fn write_not_granted(path: &Path) -> Self {
        Self::at(FsErrorCode::WriteDenied, "file_write_delete write requires approval and was not granted: ", path)
    }

    pub(super) fn not_found(path: &Path) -> Self {
        let path_text = quote(path);
        Self { path: Some(path_text.clone()), ..Self::new(FsErrorCode::NotFound, format!("no such file: {path_text}")) }
    }

    /// Translates an operating system's error for this path.
    pub(super) fn io(error: &io::Error, doing: &str, path: &Path) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::not_found(path),
            io::ErrorKind::IsADirectory => Self::not_regular(path),
            kind => Self::new(FsErrorCode::Io, format!("{doing} failed ({kind}): {}", quote(path))),
        }
    }

    pub(super) fn not_regular(path: &Path) -> Self {
        Self::at(FsErrorCode::NotARegularFile, "not a regular file: ", path)
    }

    pub(super) fn hard_linked(path: &Path) -> Self {
        Self::at(FsErrorCode::NotARegularFile, "file has other hard links: ", path)
    }

    /// The JSON-RPC error code: −32002 for a missing file, −32603 for a failure of the operating system, −32602 for
    /// everything that another path or content would avoid.
    pub const fn rpc_code(&self) -> i64 {
        match self.code {
            FsErrorCode::NotFound => code::RESOURCE_NOT_FOUND,
            FsErrorCode::Io => code::INTERNAL_ERROR,
            _ => code::INVALID_PARAMS,
        }
    }

    /// The `data` of the JSON-RPC error: the stable code, and the `uri` of a missing file.
    pub fn rpc_data(&self) -> Value {
        match &self.path {
            Some(path) => json!({ "code": self.code.as_str(), "uri": file_uri(path) }),
            None => json!({ "code": self.code.as_str() }),
        }
    }
}

impl From<FsError> for AnswerError {
    fn from(error: FsError) -> Self {
        Self { code: error.rpc_code(), data: Some(error.rpc_data()), message: error.message }
    }
}

pub(super) fn quote(path: &Path) -> String {
    clean(&path.to_string_lossy(), MAX_QUOTED_PATH)
}

fn file_uri(path: &str) -> String {
    use fmt::Write as _;
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => uri.push(byte.into()),
            _ => {
                // Writing into a string cannot fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
