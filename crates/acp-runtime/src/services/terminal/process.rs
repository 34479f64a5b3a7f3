//! What a terminal needs of a process. Starting and owning process trees is another layer's work.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use tokio::io::AsyncRead;

use crate::error::ExitFacts;

/// A command, ready to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalCommand {
    /// The program: a path, or a name looked up in the environment's `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Exactly this environment.
    pub env: Vec<(String, String)>,
    /// The working directory.
    pub cwd: PathBuf,
}

/// A started command.
pub struct Started {
    /// Standard output and standard error, in the order in which they were written.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// The process tree.
    pub process: Box<dyn TerminalProcess>,
}

/// Starts commands. Called on a tokio runtime.
pub trait TerminalLauncher: Send + Sync + 'static {
    /// Starts the command and returns at once.
    fn launch(&self, command: TerminalCommand) -> io::Result<Started>;
}

/// The process tree of a command. Dropping it kills what is left.
pub trait TerminalProcess: Send + 'static {
    /// Waits for the command itself, not for what it left behind. Safe to cancel and to call again.
    fn wait(&mut self) -> Pin<Box<dyn Future<Output = ExitFacts> + Send + '_>>;

    /// Kills the whole tree, at once. Does nothing when it is gone.
    fn kill(&mut self);
}
