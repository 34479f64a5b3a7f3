//! Params and results of the five terminal methods.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::process::TerminalCommand;
use super::registry::TerminalError;
use crate::error::ExitFacts;
use crate::services::decode;

/// Longest command line accepted, in bytes over program, arguments and variables.
pub const MAX_COMMAND_BYTES: usize = 128 * 1024;

/// Whether a command without arguments may be a line for the shell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shell {
    /// A command without arguments that is no plain program name is given to the shell. Agents send whole lines.
    #[default]
    WhenNoArgs,
    /// The command is always a program.
    Never,
}

/// The params of `terminal/create`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateRequest {
    /// The session, exactly as the agent named it.
    pub session_id: String,
    /// The command, or a line for the shell.
    pub command: String,
    /// The arguments.
    pub args: Vec<String>,
    /// Variables on top of the terminal's environment.
    pub env: Vec<(String, String)>,
    /// An absolute directory; the caller confines it.
    pub cwd: Option<String>,
    /// Bytes of output to keep.
    pub output_byte_limit: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawCreate<'a> {
    session_id: String,
    command: String,
    #[serde(default)]
    args: Option<Vec<String>>,
    #[serde(borrow, default)]
    env: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    output_byte_limit: Option<f64>,
}

#[derive(Deserialize)]
struct RawVariable {
    name: String,
    value: String,
}

impl CreateRequest {
    /// Decodes and checks the params. Unlike elsewhere nothing is skipped: a command that is not what the agent meant must
    /// not run.
    pub fn decode(params: &str) -> Result<Self, TerminalError> {
        let invalid = TerminalError::InvalidParams;
        let wrong_types = || invalid("the params have the wrong types");
        let raw: RawCreate<'_> = decode::object(params).ok_or_else(wrong_types)?;
        let args = raw.args.unwrap_or_default();
        let env = raw.env.unwrap_or_default();
        let env = env.into_iter().map(|raw| decode::object(raw.get()).map(|v: RawVariable| (v.name, v.value)));
        let env: Vec<_> = env.collect::<Option<_>>().ok_or_else(wrong_types)?;
        if raw.command.trim().is_empty() {
            return Err(invalid("the command is empty"));
        }
        let args_bytes = args.iter().map(|arg| arg.len() + 1).sum::<usize>();
        // As the system counts a variable: `=` and NUL included.
        let env_bytes = env.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>();
        if raw.command.len() + args_bytes + env_bytes > MAX_COMMAND_BYTES {
            return Err(invalid("the command is too long"));
        }
        if raw.command.contains('\0') || args.iter().any(|arg| arg.contains('\0')) {
            return Err(invalid("the command contains a NUL byte"));
        }
        if env.iter().any(|(name, value)| name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')) {
            return Err(invalid("a variable has no acceptable name or value"));
        }
        if raw.cwd.as_deref().is_some_and(|cwd| !Path::new(cwd).is_absolute()) {
            return Err(invalid("cwd is not absolute"));
        }
        let output_byte_limit = match raw.output_byte_limit {
            Some(limit) if limit < 0.0 => return Err(invalid("outputByteLimit is negative")),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; saturates")]
            limit => limit.map(|limit| limit as u64),
        };
        Ok(Self { session_id: raw.session_id, command: raw.command, args, env, cwd: raw.cwd, output_byte_limit })
    }

    /// The command to start in a confined directory, on top of an environment.
    pub fn to_command(&self, cwd: PathBuf, base_env: &[(String, String)], shell: Shell) -> TerminalCommand {
        // The last value of a name wins, in the place of the first.
        let given = base_env.len() + self.env.len();
        let (mut env, mut places) = (Vec::with_capacity(given), HashMap::with_capacity(given));
        for variable @ (name, value) in base_env.iter().chain(&self.env) {
            match places.entry(name) {
                Entry::Occupied(place) => {
                    let (_, known): &mut (String, String) = &mut env[*place.get()];
                    known.clone_from(value);
                }
                Entry::Vacant(place) => {
                    place.insert(env.len());
                    env.push(variable.clone());
                }
            }
        }
        let (program, args) = if shell == Shell::WhenNoArgs && self.args.is_empty() && !is_program(&self.command) {
            shell_line(&self.command)
        } else {
            (self.command.clone(), self.args.clone())
        };
        TerminalCommand { program, args, env, cwd }
    }
}

/// Whether the command is a single word without anything that a shell would interpret.
fn is_program(command: &str) -> bool {
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '@' | '%' | ',' | ':' | '\\');
    command.chars().all(plain) && (cfg!(windows) || !command.contains('\\'))
}

fn shell_line(line: &str) -> (String, Vec<String>) {
    if cfg!(windows) {
        ("cmd.exe".into(), ["/d", "/s", "/c", line].map(str::to_owned).into())
    } else {
        ("/bin/sh".into(), ["-c", line].map(str::to_owned).into())
    }
}

/// The params of the other four methods.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalRef {
    /// The session, exactly as the agent named it.
    pub session_id: String,
    /// The terminal.
    pub terminal_id: String,
}

impl TerminalRef {
    /// Decodes the params.
    pub fn decode(params: &str) -> Result<Self, TerminalError> {
        decode::object(params).ok_or(TerminalError::InvalidParams("the params have the wrong types"))
    }
}

/// How a command ended, as the protocol shows it: the result of `terminal/wait_for_exit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExitStatus {
    /// The exit code; `null` when a signal ended the command.
    pub exit_code: Option<u32>,
    /// The signal's name.
    pub signal: Option<String>,
}

impl From<&ExitFacts> for ExitStatus {
    fn from(facts: &ExitFacts) -> Self {
        // Windows codes are unsigned and only print as negative numbers.
        Self { exit_code: facts.exit_code.map(i32::cast_unsigned), signal: facts.signal.clone() }
    }
}

/// The result of `terminal/output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalOutput {
    /// The kept end of the output.
    pub output: String,
    /// Whether its beginning was dropped.
    pub truncated: bool,
    /// How the command ended, once it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<ExitStatus>,
}
