//! Files for the agent, inside one directory.
//!
//! Off by default. Every path crosses the [`Jail`]; secrets and `.git` are refused wherever they lie; sizes are bounded in
//! both directions; writes are gated and atomic. Every refusal is an [`FsError`], which becomes a JSON-RPC error. The
//! decisions are in `docs/decisions/file-jail.md`.

mod error;
mod handlers;
mod jail;
mod names;
mod sys;
mod window;

pub use error::{FsError, FsErrorCode};
pub use handlers::{
    DEFAULT_READ_MAX_BYTES, DEFAULT_WRITE_MAX_BYTES, FsPolicy, FsService, PendingWrite, ReadResult, RelativePaths,
};
pub use jail::{HardLinks, Jail, MAX_PATH_BYTES, MAX_SCAN_BYTES, PreparedWrite};
pub use names::{foreign_form, is_git_internal, is_secret_path};
pub use window::{Window, apply_read_window};
