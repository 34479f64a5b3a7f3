//! Opening and replacing files relative to a pinned directory, without following a single link.

use std::fs::File;
use std::io;
use std::path::Path;

use super::error::{FsError, FsErrorCode};

#[cfg(unix)]
#[path = "sys_unix.rs"]
mod imp;
#[cfg(windows)]
#[path = "sys_windows.rs"]
mod imp;

pub(super) use imp::{Root, open_read, replace};

/// A file opened for reading and what its descriptor says of it.
pub(super) struct Opened {
    pub file: File,
    pub is_regular: bool,
    pub has_other_links: bool,
    pub size: u64,
}

/// Why an operation below the root failed.
#[derive(Debug)]
pub(super) enum SysError {
    /// A component is a link, or the opened file turned out to lie elsewhere.
    Escapes,
    /// The target is no regular file.
    NotRegular,
    /// The target has other hard links.
    HardLinked,
    /// Anything else.
    Io(io::Error),
}

impl SysError {
    /// The refusal for the path. A link here appeared after the path was resolved.
    pub(super) fn explain(self, doing: &str, path: &Path) -> FsError {
        match self {
            Self::Escapes if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) => {
                FsError::at(FsErrorCode::PathOutsideCwd, "final component is a symlink: ", path)
            }
            Self::Escapes => FsError::at(FsErrorCode::PathOutsideCwd, "opened path escapes cwd after open: ", path),
            Self::NotRegular => FsError::not_regular(path),
            Self::HardLinked => FsError::hard_linked(path),
            Self::Io(error) => FsError::io(&error, doing, path),
        }
    }
}

/// How many names the file has, as far as the path's metadata tell.
pub(super) fn links(meta: &std::fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(meta);
    #[cfg(not(unix))]
    {
        let _ = meta;
        1
    }
}

/// The name of a temporary file, unpredictable so that nobody can wait for it.
fn temporary_name() -> io::Result<String> {
    let mut random = [0u8; 8];
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!(".acp-{:016x}.tmp", u64::from_ne_bytes(random)))
}
