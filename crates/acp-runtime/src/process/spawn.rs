//! Starting the agent.

use std::sync::Arc;

use tokio::process::{ChildStdin, ChildStdout};

use super::lookup;
use super::registry::{Order, SWEPT};
use super::spec::LaunchSpec;
use super::stderr::{StderrTail, literal_redactor};
use super::tree::{ProcessTree, os};
use crate::error::{Error, ErrorCode, Phase, Result};

/// A started agent: the two ends of the wire, and the tree that owns the processes.
#[derive(Debug)]
pub struct Spawned {
    /// To the agent. Dropping it is the agent's end of input.
    pub stdin: ChildStdin,
    /// From the agent.
    pub stdout: ChildStdout,
    /// The tree. Dropping the last handle kills what is left of it.
    pub tree: Arc<ProcessTree>,
}

/// Starts the agent described by `spec` in a session (Windows: a job) of its own, with three pipes, no shell, and no
/// descriptor, signal mask or ignored signal inherited from the host. Stderr is read from here on until its end.
///
/// Must be called inside a tokio runtime with I/O enabled. Takes as long as the operating system needs to execute the
/// binary.
///
/// Fails with `InvalidArgument` (`spec` itself), `ClientClosed` (all trees of the owner were killed since the launch was
/// asked for), `MissingBinary` or `SpawnError`; nothing is left running then. An agent that started while all others were
/// killed gets its signal at once.
pub fn spawn(spec: &LaunchSpec) -> Result<Spawned> {
    spec.check()?;
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(
            Error::new(ErrorCode::InternalError, "agents are started inside a runtime only").in_phase(Phase::Spawn)
        );
    }
    let order = spec.order.clone().unwrap_or_else(|| Order::now(spec.owner));
    if order.is_void() {
        return Err(Error::new(ErrorCode::ClientClosed, SWEPT).in_phase(Phase::Spawn));
    }
    let binary = lookup::find_binary(spec)?;
    let os::Launched { pid, owned, stdin, stdout, stderr, exit } = os::launch(&binary, spec)?;
    enlarge(&stdout);

    let redact = spec.redact.clone().unwrap_or_else(|| literal_redactor(&spec.secrets));
    let longest_secret = spec.secrets.iter().map(String::len).max().unwrap_or(0);
    let tail = Arc::new(StderrTail::new(spec.stderr_bytes, longest_secret, redact));
    let tree = ProcessTree::start(order, (pid, owned), exit, stderr, tail);
    tracing::debug!(
        target: "acp::process",
        pid,
        owner = spec.owner.0,
        command = %spec.command,
        args = spec.args.len(),
        env = ?spec.env.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "agent started"
    );
    Ok(Spawned { stdin, stdout, tree })
}

/// Makes room for a burst of updates, so that the agent writes on while the host is busy. Linux counts the pipe memory of a
/// user (16384 pages by default) and takes it from everyone once that is used up, so many agents get less each.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn enlarge(stdout: &ChildStdout) {
    let size = match super::registry::total() {
        0..16 => 1 << 20,
        16..64 => 1 << 18,
        _ => return,
    };
    let _ = rustix::pipe::fcntl_setpipe_size(stdout, size);
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn enlarge(_stdout: &ChildStdout) {}
