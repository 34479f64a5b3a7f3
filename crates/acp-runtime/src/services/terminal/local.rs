//! Starts commands of this machine as owned process trees, with one pipe for both outputs, so that their order is the
//! order of writing.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use super::process::{Started, TerminalCommand, TerminalLauncher, TerminalProcess};
use crate::error::{ErrorCode, ExitFacts};
use crate::process::registry::Order;
use crate::process::{self, LaunchSpec, OwnerId, ProcessTree};

/// Commands of this machine, each with a process tree of its own.
#[derive(Clone, Debug, Default)]
pub struct LocalLauncher {
    /// Who the trees belong to.
    pub owner: OwnerId,
    /// When their agent was asked for: an end of all trees of the owner since then calls off its commands, too.
    pub order: Option<Order>,
}

impl TerminalLauncher for LocalLauncher {
    fn launch(&self, command: TerminalCommand) -> io::Result<Started> {
        let mut spec = LaunchSpec::new(command.program, command.cwd);
        spec.args = command.args;
        spec.env = command.env;
        spec.owner = self.owner;
        spec.order.clone_from(&self.order);
        // The bytes are the agent's own business; nothing of them is kept for the host.
        spec.stderr_bytes = 0;
        let spawned = merge_outputs(&mut spec).and_then(|()| process::spawn(&spec)).map_err(|error| {
            let kind = match error.code() {
                ErrorCode::MissingBinary => io::ErrorKind::NotFound,
                ErrorCode::InvalidArgument => io::ErrorKind::InvalidInput,
                _ => io::ErrorKind::Other,
            };
            io::Error::new(kind, error.to_string())
        })?;
        // There is nobody to type: the command sees the end of its input at once.
        drop(spawned.stdin);
        Ok(Started { output: Box::new(spawned.stdout), process: Box::new(LocalProcess(spawned.tree)) })
    }
}

/// Lets the command inherit one descriptor for both outputs: a shell joins them and becomes the command.
#[cfg(unix)]
fn merge_outputs(spec: &mut LaunchSpec) -> crate::error::Result<()> {
    // A program that is missing is reported as such, not as a shell's exit code.
    let program = process::find_binary(spec)?;
    let program =
        program.to_str().ok_or_else(|| crate::error::Error::invalid_argument("the program's path is no text"))?;
    let mut args = vec!["-c".to_owned(), r#"exec "$0" "$@" 2>&1"#.to_owned(), program.to_owned()];
    args.append(&mut spec.args);
    spec.args = args;
    "/bin/sh".clone_into(&mut spec.command);
    Ok(())
}

/// Windows: standard output only.
#[cfg(not(unix))]
fn merge_outputs(_: &mut LaunchSpec) -> crate::error::Result<()> {
    Ok(())
}

struct LocalProcess(Arc<ProcessTree>);

impl TerminalProcess for LocalProcess {
    fn wait(&mut self) -> Pin<Box<dyn Future<Output = ExitFacts> + Send + '_>> {
        Box::pin(self.0.exited())
    }

    fn kill(&mut self) {
        let tree = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || tree.kill());
    }

    fn end(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            // Fails only when the runtime is going away; dropping the tree kills it then.
            let _ = tokio::task::spawn_blocking(move || self.0.kill()).await;
        })
    }
}
