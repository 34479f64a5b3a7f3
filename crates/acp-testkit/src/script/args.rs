//! The arguments of the steps. An `Option` may be left out; an unknown argument is an error.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Step;

macro_rules! step_struct {
    ($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident : $type:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($(#[$field_meta])* pub $field: $type,)* }
    };
}

step_struct! {
    /// A step without arguments.
    Empty {}
}

step_struct! {
    /// How the script is played. What is absent stays as it is.
    Options {
        /// Milliseconds from now until the agent gives up with exit code 71. 60,000 from the start when never set.
        deadline_ms: Option<u64>,
        /// What the end of stdin means.
        eof: Option<Eof>,
        /// Whether `expect` steps without their own `strict` are strict.
        strict: Option<bool>,
        /// What happens after the last step.
        at_end: Option<AtEnd>,
    }
}

/// What the end of stdin means to the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Eof {
    /// A step that waits for the client fails (exit 70); after the last step the agent ends with 0.
    #[default]
    Fail,
    /// The agent ends with 0 at once, whatever step is played: a well-behaved agent.
    Exit,
    /// The agent does not care, nor does it care about a closed stdout: it lives until its deadline or a kill.
    Ignore,
}

/// What the agent does after the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// Keeps `on` handlers alive until the end of stdin, then exits with 0.
    #[default]
    WaitEof,
    /// Exits with 0 at once.
    Exit,
}

step_struct! {
    /// A message from the client to wait for.
    Expect {
        /// Method of the request or notification.
        method: String,
        /// Pattern for the params.
        params: Option<Value>,
        /// Name under which the message is remembered (`{{name.id}}`); the method when absent. Always also `last`.
        #[serde(rename = "as")]
        name: Option<String>,
        /// Whether the very next message must match; otherwise others stay queued for later steps.
        strict: Option<bool>,
        /// Milliseconds to wait before the script fails; the deadline when absent.
        timeout_ms: Option<u64>,
    }
}

step_struct! {
    /// An answer of the client to wait for.
    ExpectResponse {
        /// Name of a `request`, or the id itself; the latest request when absent.
        to: Option<Value>,
        /// Pattern for the result.
        result: Option<Value>,
        /// Pattern for the error.
        error: Option<Value>,
        /// Name under which the answer is remembered (`{{name.result}}`).
        into: Option<String>,
        /// Milliseconds to wait before the script fails; the deadline when absent.
        timeout_ms: Option<u64>,
    }
}

step_struct! {
    /// What must not arrive.
    ExpectSilence {
        /// Milliseconds to watch.
        ms: u64,
        /// Only this method counts; everything counts when absent, queued messages included.
        method: Option<String>,
    }
}

step_struct! {
    /// A comparison.
    Check {
        /// The value, usually `"{{name.path}}"`.
        value: Value,
        /// The pattern it must match.
        matches: Value,
    }
}

step_struct! {
    /// An answer to the client.
    Respond {
        /// Name of the request to answer; `last` when absent.
        to: Option<String>,
        /// The result; `null` when both are absent.
        result: Option<Value>,
        /// The error `{code, message, data?}`, instead of a result.
        error: Option<Value>,
    }
}

step_struct! {
    /// A JSON value to write.
    Send {
        /// The value, written as one line.
        value: Value,
    }
}

step_struct! {
    /// Bytes: one piece written here, or several under `chunks`.
    Raw {
        /// Text; variables are inserted as JSON text.
        text: Option<String>,
        /// Bytes that are no text.
        base64: Option<String>,
        /// A JSON value, written with its newline.
        json: Option<Value>,
        /// How many times the piece is repeated.
        repeat: Option<u64>,
        /// Several pieces. Each is one write unless `splitBytes` is given.
        chunks: Option<Vec<Piece>>,
        /// Writes of this many bytes each, wherever that cuts.
        split_bytes: Option<usize>,
        /// Milliseconds between two writes.
        delay_ms: Option<u64>,
        /// Leaves `{{…}}` as it is.
        literal: Option<bool>,
    }
}

step_struct! {
    /// One piece of bytes.
    Piece {
        /// Text; variables are inserted as JSON text.
        text: Option<String>,
        /// Bytes that are no text.
        base64: Option<String>,
        /// A JSON value, written with its newline.
        json: Option<Value>,
        /// How many times the piece is repeated.
        repeat: Option<u64>,
    }
}

step_struct! {
    /// A notification to send.
    Notify {
        /// Its method.
        method: String,
        /// Its params; left out when absent.
        params: Option<Value>,
    }
}

step_struct! {
    /// A request to send.
    Request {
        /// Its id, of any JSON type; a fresh string when absent.
        id: Option<Value>,
        /// Its method.
        method: String,
        /// Its params; left out when absent.
        params: Option<Value>,
        /// Name for `expect_response`; the method when absent. Always also `last_request`.
        #[serde(rename = "as")]
        name: Option<String>,
    }
}

step_struct! {
    /// How `initialize` is answered.
    Initialize {
        /// Merged into the default result; `null` removes a key.
        result: Option<Value>,
        /// Pattern for the client's params.
        params: Option<Value>,
    }
}

step_struct! {
    /// How `session/new` is answered.
    SessionNew {
        /// The new session's id, `s1` when empty. Updates go to it unless they say otherwise.
        #[serde(default)]
        session_id: String,
        /// Merged into the default result; `null` removes a key.
        result: Option<Value>,
        /// Pattern for the client's params.
        params: Option<Value>,
    }
}

step_struct! {
    /// The prompt to wait for.
    PromptBegin {
        /// Only a prompt for this session matches.
        session_id: Option<String>,
        /// Pattern for the client's params.
        params: Option<Value>,
        /// Name under which the request is remembered; `prompt` when absent.
        #[serde(rename = "as")]
        name: Option<String>,
    }
}

step_struct! {
    /// How the prompt is answered.
    PromptEnd {
        /// The stop reason, `end_turn` when absent.
        stop_reason: Option<String>,
        /// Merged into the result; `null` removes a key.
        result: Option<Value>,
        /// Name of the prompt to answer, `prompt` when absent.
        to: Option<String>,
    }
}

step_struct! {
    /// An update.
    Update {
        /// Its session; the latest one when absent.
        session_id: Option<String>,
        /// The update.
        update: Value,
    }
}

step_struct! {
    /// Text chunks.
    Text {
        /// The text of each chunk; `{i}` is its number.
        text: String,
        /// How many chunks, 1 when absent.
        n: Option<u64>,
        /// The kind of chunk, `agent_message_chunk` when absent.
        kind: Option<String>,
        /// The message that the chunks belong to.
        message_id: Option<String>,
        /// Their session; the latest one when absent.
        session_id: Option<String>,
    }
}

step_struct! {
    /// A permission request.
    Permission {
        /// Its id, of any JSON type; a fresh string when absent.
        id: Option<Value>,
        /// Its session; the latest one when absent.
        session_id: Option<String>,
        /// The tool call; a small one when absent.
        tool_call: Option<Value>,
        /// The options; `allow_once` and `reject_once` when absent.
        options: Option<Value>,
        /// Name for `expect_response`; `permission` when absent.
        #[serde(rename = "as")]
        name: Option<String>,
    }
}

step_struct! {
    /// Many updates.
    Flood {
        /// How many.
        count: u64,
        /// The update; `{i}` in it is its number.
        update: Value,
        /// Bytes of each write, 262,144 when absent.
        bytes_per_write: Option<usize>,
        /// Their session; the latest one when absent.
        session_id: Option<String>,
    }
}

step_struct! {
    /// Text for stderr.
    Stderr {
        /// The text; a newline follows unless it ends with one.
        text: String,
        /// How many times, 1 when absent.
        repeat: Option<u64>,
        /// Milliseconds between two of them.
        delay_ms: Option<u64>,
    }
}

step_struct! {
    /// A pause.
    Sleep {
        /// Milliseconds.
        ms: u64,
    }
}

step_struct! {
    /// What happens on a signal.
    OnSignal {
        /// `TERM`, `INT`, `HUP`, `USR1` or `USR2`.
        signal: String,
        /// Steps to play; none means that the signal is ignored.
        #[serde(default)]
        steps: Vec<Step>,
    }
}

step_struct! {
    /// A process that outlives the agent. The step ends when it runs and has written its pid.
    Grandchild {
        /// Whether it leads its own session.
        #[serde(default)]
        setsid: bool,
        /// Whether it inherits the agent's three streams and so holds the client's pipes open.
        #[serde(default)]
        hold_pipes: bool,
        /// File that its process id is appended to.
        pid_file: Option<String>,
        /// Whether it lives on after SIGTERM, SIGINT and SIGHUP.
        #[serde(default)]
        ignore_term: bool,
        /// Whether it gets an empty environment, so that no mark in it betrays where it came from.
        #[serde(default)]
        clear_env: bool,
        /// Milliseconds until it ends by itself, 120,000 when absent.
        lifetime_ms: Option<u64>,
    }
}

step_struct! {
    /// Steps.
    Steps {
        /// The steps.
        steps: Vec<Step>,
    }
}

step_struct! {
    /// An exit code.
    Exit {
        /// The code.
        code: i32,
    }
}

step_struct! {
    /// A signal for the agent itself.
    KillSelf {
        /// `KILL` when absent; also `TERM`, `SEGV`, `ABRT`, `INT`, `HUP`.
        signal: Option<String>,
    }
}

step_struct! {
    /// A file.
    File {
        /// Its path.
        file: String,
    }
}

step_struct! {
    /// Where the names of the environment variables go.
    EnvNames {
        /// A file, one name a line, sorted; the notification `_test/env_names` when absent.
        file: Option<String>,
    }
}

step_struct! {
    /// A loop.
    Loop {
        /// The steps; `{{i}}` is the round.
        steps: Vec<Step>,
        /// How many rounds; without end when absent.
        times: Option<u64>,
        /// Ends when such a message is queued; it stays queued for a later `expect`.
        until: Option<Until>,
        /// Milliseconds between two rounds.
        delay_ms: Option<u64>,
    }
}

step_struct! {
    /// A message that ends a loop.
    Until {
        /// Its method.
        method: String,
        /// Pattern for its params.
        params: Option<Value>,
    }
}

step_struct! {
    /// A handler. It sees a message before any `expect` does; the message is `last` and has its own name in its steps.
    On {
        /// Method to handle.
        method: String,
        /// Pattern for its params.
        params: Option<Value>,
        /// Name of the message in the steps; `it` when absent.
        #[serde(rename = "as")]
        name: Option<String>,
        /// How many times; always when absent.
        times: Option<u64>,
        /// The steps, played on a thread of their own.
        steps: Vec<Step>,
    }
}

step_struct! {
    /// A value with a name.
    Set {
        /// The name.
        name: String,
        /// The value.
        value: Value,
    }
}
