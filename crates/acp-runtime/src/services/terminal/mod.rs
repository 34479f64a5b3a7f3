//! Terminals for the agent: commands that it starts, watches and ends.
//!
//! Off by default; where they are on, every command is asked for first (category `command_execution`). A terminal belongs
//! to the session that created it, and no command outlives its terminal. The decisions are in
//! `docs/decisions/terminals.md`.

mod buffer;
mod local;
mod process;
mod registry;
mod request;

pub use buffer::OutputBuffer;
pub use local::LocalLauncher;
pub use process::{Started, TerminalCommand, TerminalLauncher, TerminalProcess};
pub use registry::{DEFAULT_MAX_TERMINALS, DEFAULT_OUTPUT_CEILING, TerminalError, TerminalLimits, Terminals};
pub use request::{CreateRequest, ExitStatus, MAX_COMMAND_BYTES, Shell, TerminalOutput, TerminalRef};
