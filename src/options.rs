//! The options of JavaScript, as they cross: one JSON object each.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use acp_runtime::capabilities::Offers;
use acp_runtime::client::{Authenticate, CloseOptions, HandshakeOptions, LaunchOptions, SessionRequest};
use acp_runtime::process::registry::Order;
use acp_runtime::process::{DEFAULT_STDERR_BYTES, Ladder, LaunchSpec, OwnerId};
use acp_runtime::services::agent::{AgentServices, TerminalPolicy};
use acp_runtime::services::fs::{DEFAULT_READ_MAX_BYTES, DEFAULT_WRITE_MAX_BYTES, FsPolicy, RelativePaths};
use acp_runtime::services::permission::Floor;
use acp_runtime::services::terminal::{LocalLauncher, TerminalLimits};
use acp_runtime::session::TurnOptions;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// How to launch. `lib/native/options.js` has checked the types.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the host")]
pub struct Launch {
    command: String,
    args: Vec<String>,
    cwd: PathBuf,
    env: Vec<(String, String)>,
    host_path: Option<String>,
    secrets: Vec<String>,
    stderr_bytes: Option<usize>,
    client_info: Option<Value>,
    offers: JsOffers,
    capabilities_meta: Option<Value>,
    initialize_timeout_ms: Option<u64>,
    initialize_max_ms: Option<u64>,
    authenticate: Option<Authenticate>,
    any_offered_option: bool,
    max_message_bytes: Option<usize>,
    /// Whether frames are wanted.
    pub wire: bool,
    /// Ceiling of a read, in bytes.
    pub read_max_bytes: Option<usize>,
    /// Ceiling of a write, in bytes.
    pub write_max_bytes: Option<usize>,
    /// Whether JavaScript wants to be asked before a write.
    pub ask_write: bool,
    /// Whether JavaScript serves reads itself.
    pub serve_read: bool,
    /// Whether JavaScript serves writes itself.
    pub serve_write: bool,
    /// Whether relative paths are resolved below the session's directory. The protocol demands absolute ones.
    relative_paths: bool,
    /// Whether JavaScript wants to be asked before a command.
    pub ask_command: bool,
    /// Whether JavaScript answers permission questions.
    pub ask_permission: bool,
    /// Whether JavaScript answers extension requests.
    pub ask_extension: bool,
    /// Ceiling of a terminal's output, in bytes.
    pub terminal_output_bytes: Option<u64>,
    /// Most terminals of a connection.
    pub max_terminals: Option<usize>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_excessive_bools, reason = "mirrors the core's switches")]
struct JsOffers {
    read_text_file: bool,
    write_text_file: bool,
    terminal: bool,
    elicitation_form: bool,
    elicitation_url: bool,
    auth_terminal: bool,
    rich_updates: bool,
    unstable: bool,
}

impl Launch {
    /// The core's options.
    pub fn into_core(self, owner: OwnerId) -> LaunchOptions {
        let mut spec = LaunchSpec::new(self.command, self.cwd);
        spec.args = self.args;
        spec.env = self.env;
        spec.host_path = self.host_path.map(OsString::from);
        spec.secrets = self.secrets;
        spec.stderr_bytes = self.stderr_bytes.unwrap_or(DEFAULT_STDERR_BYTES);
        spec.owner = owner;
        // Asked for now; it starts on another thread.
        let order = Some(Order::now(owner));
        spec.order.clone_from(&order);
        let mut options = LaunchOptions::new(spec);
        if let Some(info) = self.client_info {
            options.client_info = info;
        }
        options.offers = Offers {
            read_text_file: self.offers.read_text_file,
            write_text_file: self.offers.write_text_file,
            terminal: self.offers.terminal,
            elicitation_form: self.offers.elicitation_form,
            elicitation_url: self.offers.elicitation_url,
            auth_terminal: self.offers.auth_terminal,
            rich_updates: self.offers.rich_updates,
            unstable: self.offers.unstable,
        };
        let fs = FsPolicy {
            read: options.offers.read_text_file,
            write: options.offers.write_text_file,
            read_max_bytes: self.read_max_bytes.unwrap_or(DEFAULT_READ_MAX_BYTES),
            write_max_bytes: self.write_max_bytes.unwrap_or(DEFAULT_WRITE_MAX_BYTES),
            relative: if self.relative_paths { RelativePaths::Resolve } else { RelativePaths::Refuse },
            ..FsPolicy::default()
        };
        let default = TerminalLimits::default();
        let limits = TerminalLimits {
            output_ceiling: self
                .terminal_output_bytes
                .map_or(default.output_ceiling, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX)),
            max_terminals: self.max_terminals.unwrap_or(default.max_terminals),
        };
        // Commands get what the agent got.
        let terminal = options.offers.terminal.then(|| TerminalPolicy {
            env: options.spec.env.clone(),
            limits,
            launcher: Arc::new(LocalLauncher { owner, order }),
            ..TerminalPolicy::default()
        });
        if fs.read || fs.write || terminal.is_some() {
            options.services = Arc::new(AgentServices::new(fs, terminal));
        }
        options.capabilities_meta = self.capabilities_meta;
        let default = HandshakeOptions::default();
        options.handshake = HandshakeOptions {
            timeout: self.initialize_timeout_ms.map_or(default.timeout, Duration::from_millis),
            extend_to: self.initialize_max_ms.map(Duration::from_millis),
        };
        options.authenticate = self.authenticate;
        options.floor = if self.any_offered_option { Floor::AnyOffered } else { Floor::OnceOnly };
        if let Some(bytes) = self.max_message_bytes {
            options.max_line_bytes = bytes;
        }
        options
    }
}

/// Limits of a turn.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Turn {
    timeout_ms: u64,
    idle_timeout_ms: u64,
    settle_ms: u64,
    #[serde(rename = "_meta")]
    meta: Option<Box<RawValue>>,
}

impl Turn {
    /// The core's options, where 0 means no limit, and `_meta` of the request.
    pub fn into_core(self) -> (TurnOptions, Option<Box<RawValue>>) {
        let limit = |ms: u64| (ms > 0).then(|| Duration::from_millis(ms));
        let options = TurnOptions {
            timeout: limit(self.timeout_ms),
            idle_timeout: limit(self.idle_timeout_ms),
            settle: Duration::from_millis(self.settle_ms),
            ..TurnOptions::default()
        };
        (options, self.meta)
    }
}

/// How to close.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::struct_field_names, reason = "the names that JavaScript uses, with their unit")]
pub struct Close {
    grace_ms: Option<u64>,
    term_grace_ms: Option<u64>,
    turn_grace_ms: Option<u64>,
}

impl Close {
    /// The core's options.
    pub fn into_core(self) -> CloseOptions {
        let default = CloseOptions::default();
        let or = |ms: Option<u64>, default| ms.map_or(default, Duration::from_millis);
        CloseOptions {
            turn_grace: or(self.turn_grace_ms, default.turn_grace),
            ladder: Ladder {
                eof_grace: or(self.grace_ms, default.ladder.eof_grace),
                term_grace: or(self.term_grace_ms, default.ladder.term_grace),
                ..default.ladder
            },
        }
    }
}

/// One question.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ask {
    /// The agent.
    pub launch: Launch,
    /// The session.
    pub session: SessionRequest,
    /// How long `session/new` may take; 0 means the core's limit.
    #[serde(default)]
    pub session_timeout_ms: u64,
    /// Content blocks.
    pub prompt: Box<RawValue>,
    /// The turn's limits.
    #[serde(default)]
    pub turn: Turn,
    /// Recover the last JSON object.
    #[serde(default)]
    pub recover_json: bool,
    /// How to end.
    #[serde(default)]
    pub close: Close,
}

/// One probe.
#[derive(Deserialize)]
pub struct Probe {
    /// The agent.
    pub launch: Launch,
    /// Also open a session.
    #[serde(default)]
    pub deep: bool,
}
