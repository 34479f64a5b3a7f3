//! What to launch.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::registry::Order;
use crate::error::{Error, Phase, Result};

/// How much of the end of the agent's stderr is kept, in bytes.
pub const DEFAULT_STDERR_BYTES: usize = 64 * 1024;

/// Replaces secrets in a text. Called on reads of the stderr tail only, never per write.
pub type RedactFn = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Who a tree belongs to: one per host environment (a Node environment, a test), so that the end of one of them ends its
/// own agents and no others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OwnerId(pub u64);

/// Everything that [`spawn`](super::spawn()) needs to start an agent.
#[derive(Clone)]
pub struct LaunchSpec {
    /// The binary: a name looked up in `PATH`, an absolute path, or a path with a separator, relative to `cwd`.
    pub command: String,
    /// Its arguments, passed as they are. No shell is involved.
    pub args: Vec<String>,
    /// The working directory: absolute, existing.
    pub cwd: PathBuf,
    /// The environment of the agent, whole. On Unix the runtime adds one variable of its own, `FUSION_ACP_TREE`, by
    /// which it finds the agent's descendants again. The last entry of a repeated name wins.
    pub env: Vec<(String, String)>,
    /// The host's own `PATH`: where `command` is looked up when `env` has none. It is not passed on.
    pub host_path: Option<OsString>,
    /// How many bytes of the end of stderr are kept.
    pub stderr_bytes: usize,
    /// Texts that must not appear in what is told of the agent, whatever they look like. Variables of `env` whose names are
    /// those of secrets need not be named again.
    pub secrets: Vec<String>,
    /// Redacts the stderr tail; absent, only `secrets` are replaced.
    pub redact: Option<RedactFn>,
    /// Who the tree belongs to.
    pub owner: OwnerId,
    /// When the launch was asked for, where that is earlier than its start.
    pub order: Option<Order>,
}

impl LaunchSpec {
    /// A launch with an empty environment and the defaults for the rest.
    pub fn new(command: impl Into<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            host_path: None,
            stderr_bytes: DEFAULT_STDERR_BYTES,
            secrets: Vec::new(),
            redact: None,
            owner: OwnerId::default(),
            order: None,
        }
    }

    /// Refuses what no operating system takes, before anything is started.
    pub(super) fn check(&self) -> Result<()> {
        let refuse = |message: String| Err(Error::invalid_argument(message).in_phase(Phase::Spawn));
        if self.command.is_empty() {
            return refuse("the agent's command is empty".into());
        }
        if self.command.contains('\0') || self.args.iter().any(|arg| arg.contains('\0')) {
            return refuse("the agent's command and arguments must not contain NUL".into());
        }
        for (name, value) in &self.env {
            // Windows keeps hidden variables such as `=C:` for drives; they are not for hosts to set.
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return refuse("an environment variable has an empty or invalid name, or a NUL in its value".into());
            }
        }
        let shown = self.cwd.display();
        if !self.cwd.is_absolute() {
            return refuse(format!("the agent's working directory must be an absolute path: {shown}"));
        }
        match std::fs::metadata(&self.cwd) {
            Ok(meta) if meta.is_dir() => Ok(()),
            Ok(_) => refuse(format!("the agent's working directory is not a directory: {shown}")),
            Err(error) => refuse(format!("the agent's working directory cannot be used: {shown}: {error}")),
        }
    }

    /// The value of a variable of the agent's environment.
    pub(super) fn env_value(&self, name: &str) -> Option<&str> {
        self.env.iter().rev().find(|(key, _)| super::env::same_name(key, name)).map(|(_, value)| value.as_str())
    }
}

/// Names and counts only: arguments and values may hold secrets.
impl fmt::Debug for LaunchSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaunchSpec")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("owner", &self.owner)
            .finish_non_exhaustive()
    }
}
