//! Starting the agent.

use std::process::Stdio;
use std::sync::Arc;

use tokio::process::{ChildStdin, ChildStdout, Command};

use super::lookup;
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
/// Fails with `InvalidArgument` (`spec` itself), `MissingBinary` or `SpawnError`; nothing is left running then.
pub fn spawn(spec: &LaunchSpec) -> Result<Spawned> {
    spec.check()?;
    let binary = lookup::find_binary(spec)?;
    let birth = os::Birth::prepare()?;

    let mut command = Command::new(&binary);
    command.current_dir(&spec.cwd).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    birth.configure(&mut command, &binary, spec)?;

    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            // The fault may have come after the process was made: nothing must stay behind.
            birth.abandon();
            return Err(lookup::exec_error(&binary, &error));
        }
    };
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take(), child.id());
    let owned = match birth.adopt(&child) {
        Ok(owned) => owned,
        Err(error) => {
            let _ = child.start_kill();
            return Err(error);
        }
    };
    let (Some(stdin), Some(stdout), Some(stderr), Some(pid)) = pipes else {
        owned.kill_pass();
        return Err(Error::new(ErrorCode::SpawnError, "the agent was started without its pipes").in_phase(Phase::Spawn));
    };
    enlarge(&stdout);

    let redact = spec.redact.clone().unwrap_or_else(|| literal_redactor(&spec.secrets));
    let longest_secret = spec.secrets.iter().map(String::len).max().unwrap_or(0);
    let tail = Arc::new(StderrTail::new(spec.stderr_bytes, longest_secret, redact));
    let tree = ProcessTree::start(spec.owner, pid, owned, child, stderr, tail);
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
