//! One agent, as JavaScript holds it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use acp_runtime::client::{Client, SessionRequest};
use acp_runtime::connection::{CallOptions, session_id_of};
use acp_runtime::delivery::{Kind, Outbox};
use acp_runtime::error::{Error, ErrorCode, Phase};
use acp_runtime::pending::{Effect, Reply};
use acp_runtime::process::ProcessTree;
use acp_runtime::session::{SessionSpec, TurnOutcome, ViewKind};
use napi_derive::napi;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use crate::host::{Allow, Asks, BindingHost};
use crate::hub::{Hub, push};
use crate::options::{Close, Launch, Turn};
use crate::promise::Promise;
use crate::state::NativeSessionState;
use crate::{parse, runtime};

/// State behind the class, shared with the launch that is under way.
struct Slot {
    hub: Arc<Hub>,
    control_id: u32,
    control: Arc<Outbox>,
    /// The channel of the whole environment, for what is asked of a client that is over.
    common: Arc<Outbox>,
    host: OnceLock<Arc<BindingHost>>,
    tree: OnceLock<Arc<ProcessTree>>,
    client: OnceLock<Client>,
    /// Calls the launch off while it is under way.
    call_off: CancellationToken,
    /// Cancelled when the launch is over: there is a client, or nothing is left of the agent.
    launched: CancellationToken,
}

/// One agent. Dropping it without `close` kills the whole tree.
#[napi]
pub struct NativeClient(Arc<Slot>);

impl NativeClient {
    /// Starts a launch; the promise behind `token` settles on the client's own channel.
    pub fn launch(hub: &Arc<Hub>, common: &Arc<Outbox>, launch: Launch, token: u32) -> napi::Result<Self> {
        let (control_id, control) = hub.open();
        let slot = Arc::new(Slot {
            hub: Arc::clone(hub),
            control_id,
            control: Arc::clone(&control),
            common: Arc::clone(common),
            host: OnceLock::new(),
            tree: OnceLock::new(),
            client: OnceLock::new(),
            call_off: CancellationToken::new(),
            launched: CancellationToken::new(),
        });
        let asks = Asks {
            permission: launch.ask_permission,
            write: launch.ask_write,
            serve_read: launch.serve_read,
            serve_write: launch.serve_write,
            command: launch.ask_command,
            extension: launch.ask_extension,
        };
        let allow = Allow { write: !launch.ask_write, command: !launch.ask_command };
        let host = BindingHost::new(Arc::clone(hub), Arc::clone(&control), asks, allow);
        let _ = slot.host.set(Arc::clone(&host));
        let wire = launch.wire;
        let mut options = launch.into_core(hub.owner);
        if wire {
            let control = Arc::clone(&control);
            options.tap = Some(Arc::new(move |frame| {
                // A host that does not keep up loses frames of the tap, not memory.
                if !control.is_full() {
                    push(&control, Kind::Wire, &frame);
                }
            }));
        }
        options.call_off = slot.call_off.clone();
        let handle = runtime::handle()?;
        let launching = Arc::clone(&slot);
        let promise = Promise::new(&control, token);
        handle.spawn(async move {
            let _over = launching.launched.clone().drop_guard();
            let started = |tree: &Arc<ProcessTree>| drop(launching.tree.set(Arc::clone(tree)));
            match Client::launch_with(options, host, started).await {
                Ok(client) => {
                    // In place before JavaScript hears of it, which may call at once.
                    let client = launching.client.get_or_init(|| client);
                    promise.resolve(&Ready { pid: client.pid(), facts: client.facts() });
                    tell_closed(client, Arc::clone(&launching.control));
                }
                Err(error) => promise.reject(error),
            }
        });
        Ok(Self(slot))
    }

    fn client(&self) -> Option<&Client> {
        self.0.client.get()
    }

    /// A channel of the client; once it is forgotten, that of the environment.
    fn channel_or_common(&self, id: u32) -> Arc<Outbox> {
        self.0.hub.outbox(id).unwrap_or_else(|| Arc::clone(&self.0.common))
    }

    /// A promise that is settled on the client's own channel.
    fn promise(&self, token: u32) -> Promise {
        Promise::new(&self.channel_or_common(self.0.control_id), token)
    }
}

/// Tells JavaScript when the whole tree is gone. Does not hold the client.
fn tell_closed(client: &Client, control: Arc<Outbox>) {
    let closed = client.closed();
    tokio::spawn(async move {
        push(&control, Kind::Closed, &closed.await);
    });
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready<'a> {
    pid: u32,
    #[serde(flatten)]
    facts: &'a acp_runtime::client::AgentFacts,
}

fn not_launched() -> Error {
    Error::new(ErrorCode::ClientClosed, "the ACP client is not running")
}

#[napi]
impl NativeClient {
    /// The channel of what belongs to no session.
    #[napi(getter, catch_unwind)]
    pub fn channel(&self) -> u32 {
        self.0.control_id
    }

    /// Calls a method; the promise behind `token` settles with the raw result. `options`: JSON `{phase, timeoutMs}`.
    /// Returns the call's number for `abandon`.
    #[napi(catch_unwind)]
    pub fn call(&self, token: u32, method: String, params: Option<String>, options: String) -> napi::Result<f64> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Options {
            phase: Phase,
            #[serde(default)]
            timeout_ms: u64,
            /// The session that the call closes when it succeeds.
            close_session: Option<String>,
            /// Values in the parameters that are shown nowhere.
            #[serde(default)]
            secrets: Vec<String>,
        }
        let promise = self.promise(token);
        let Some(client) = self.client() else {
            promise.reject(not_launched());
            return Ok(0.0);
        };
        let options: Options = parse(&options)?;
        let params = params.map(|json| parse::<Box<RawValue>>(&json)).transpose()?;
        if !options.secrets.is_empty() {
            client.mask(options.secrets);
        }
        let timeout = (options.timeout_ms > 0).then(|| Duration::from_millis(options.timeout_ms));
        let mut call = CallOptions::plain(options.phase).timeout(timeout);
        if let Some(session) = options.close_session {
            call.effect = Effect::CloseSession(session);
        }
        let id = client.call_with(&method, params, call, promise.into_reply());
        Ok(number(id))
    }

    /// Opens a session on a channel of its own; the promise behind `token` settles there, before anything else that the
    /// session says. `request`: JSON of the session's parameters, `timeoutMs`, `state`, `discardReplay` and
    /// `takeOver`.
    #[napi(catch_unwind)]
    pub fn open_session(
        &self,
        token: u32,
        method: String,
        session_id: Option<String>,
        request: String,
        callbacks: bool,
    ) -> napi::Result<Opening> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Request {
            #[serde(flatten)]
            session: SessionRequest,
            #[serde(default)]
            timeout_ms: u64,
            #[serde(default)]
            state: bool,
            #[serde(default)]
            discard_replay: bool,
            #[serde(default)]
            take_over: bool,
        }
        let Request { mut session, timeout_ms, state, discard_replay, take_over } = parse(&request)?;
        session.timeout = (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms));
        let (channel, outbox) = self.0.hub.open();
        let promise = Promise::new(&outbox, token);
        let Some(client) = self.client() else {
            promise.reject(not_launched());
            return Ok(Opening { channel, call: 0.0 });
        };
        let host = self.0.host.get().map(Arc::clone);
        // A fork names its own; the others are the session that was asked for.
        let known = session_id.clone().filter(|_| method != "session/fork");
        let view = if callbacks { ViewKind::Callbacks } else { ViewKind::Events };
        let spec = SessionSpec { view, outbox: Some(Arc::clone(&outbox)), state, cwd: None, discard_replay, take_over };
        let settle: Reply = Box::new(move |outcome| {
            if let (Ok(raw), Some(host)) = (&outcome, &host)
                && let Some(id) = known.or_else(|| session_id_of(raw).ok())
            {
                host.add_session(&id, &outbox);
            }
            promise.settle(outcome);
        });
        let call = client.open(&method, session_id.as_deref(), &session, spec, settle);
        Ok(Opening { channel, call: number(call) })
    }

    /// Starts a turn; the promise behind `token` settles on the session's channel, after everything that the turn said.
    #[napi(catch_unwind)]
    pub fn prompt(
        &self,
        token: u32,
        channel: u32,
        session_id: String,
        blocks: String,
        options: String,
    ) -> napi::Result<()> {
        let outbox = self.channel_or_common(channel);
        let promise = Promise::new(&outbox, token);
        let Some(client) = self.client() else {
            promise.reject(not_launched().in_phase(Phase::Prompt));
            return Ok(());
        };
        let blocks: Box<RawValue> = parse(&blocks)?;
        let (options, meta) = parse::<Turn>(&options)?.into_core();
        let hub = Arc::clone(&self.0.hub);
        let settle = Box::new(move |outcome: Result<TurnOutcome, Error>| {
            let early = outcome.as_ref().map_or(true, |outcome| outcome.cancel_requested);
            promise.settle_turn(outcome);
            // A limit, a cancel: it must not wait behind events that nobody takes. JavaScript pauses again after it.
            if early {
                hub.set_paused(channel, false);
            }
        });
        client.prompt_with_meta(&session_id, &blocks, meta.as_deref(), options, settle);
        Ok(())
    }

    /// Cancels the session's turn; the promise behind `token` settles with `cancelled`, `forced` or `idle`.
    #[napi(catch_unwind)]
    pub fn cancel(&self, token: u32, session_id: String, grace_ms: u32) -> napi::Result<()> {
        let promise = self.promise(token);
        let Some(client) = self.client().cloned() else {
            promise.resolve(&"idle");
            return Ok(());
        };
        runtime::handle()?.spawn(async move {
            let grace = Duration::from_millis(grace_ms.into());
            let connection = client.connection().clone();
            drop(client);
            promise.resolve(&connection.cancel(&session_id, grace).await);
        });
        Ok(())
    }

    /// Cancels what a child session does; the promise behind `token` settles when the agent has been told.
    #[napi(catch_unwind)]
    pub fn cancel_child(&self, token: u32, session_id: String, child: String) -> napi::Result<()> {
        let promise = self.promise(token);
        let Some(client) = self.client() else {
            promise.reject(not_launched().in_phase(Phase::Session));
            return Ok(());
        };
        let connection = client.connection().clone();
        runtime::handle()?.spawn(async move {
            match connection.cancel_child(&session_id, &child).await {
                Ok(()) => promise.resolve(&()),
                Err(error) => promise.reject(error.in_phase(Phase::Session)),
            }
        });
        Ok(())
    }

    /// Lets the caller of a call go.
    #[napi(catch_unwind)]
    pub fn abandon(&self, call: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number this class handed out")]
        if let (Some(client), true) = (self.client(), call >= 1.0) {
            client.connection().abandon(call as u64, Error::new(ErrorCode::Aborted, "the call was aborted"));
        }
    }

    /// Sends a notification. Returns the failure as JSON, if it could not be sent.
    #[napi(catch_unwind)]
    pub fn notify(&self, method: String, params: Option<String>) -> napi::Result<Option<String>> {
        let params = params.map(|json| parse::<Box<RawValue>>(&json)).transpose()?;
        let sent = self.client().ok_or_else(not_launched).and_then(|c| c.connection().notify(&method, params));
        sent.err().map(|error| json(&error.into_details())).transpose()
    }

    /// Sends what an MCP server of the host tells of a request that it has not answered yet.
    #[napi(catch_unwind)]
    pub fn notify_mcp(
        &self,
        server_id: String,
        request_id: String,
        method: String,
        params: Option<String>,
    ) -> napi::Result<()> {
        let params = params.map(|json| parse::<Box<RawValue>>(&json)).transpose()?;
        if let Some(client) = self.client() {
            client.connection().notify_mcp(&server_id, &request_id, &method, params);
        }
        Ok(())
    }

    /// What is known of an open session; `null` where `openSession` did not ask for it.
    #[napi(catch_unwind)]
    pub fn session_state(&self, session_id: String) -> Option<NativeSessionState> {
        self.client()?.session_state(&session_id).map(NativeSessionState)
    }

    /// Forgets a session. The end of a turn that runs still comes on its channel, which the caller closes then.
    #[napi(catch_unwind)]
    pub fn drop_session(&self, channel: u32, session_id: String) {
        // A channel that is gone belonged to an agent that is gone.
        let Some(outbox) = self.0.hub.outbox(channel) else { return };
        if let Some(host) = self.0.host.get() {
            host.remove_session(&session_id, &outbox);
        }
        if let Some(client) = self.client() {
            client.connection().drop_session_of(&session_id, outbox);
        }
    }

    /// The end of stderr so far, redacted.
    #[napi(catch_unwind)]
    pub fn stderr(&self) -> String {
        self.0.tree.get().map(|tree| tree.stderr().tail()).unwrap_or_default()
    }

    /// Counters and samples, as JSON.
    #[napi(catch_unwind)]
    pub fn diagnostics(&self) -> napi::Result<String> {
        json(&self.client().map(Client::diagnostics).unwrap_or_default())
    }

    /// Ends the agent; the promise behind `token` settles when the whole tree is gone.
    #[napi(catch_unwind)]
    pub fn close(&self, token: u32, options: String) -> napi::Result<()> {
        let options = parse::<Close>(&options)?.into_core();
        let slot = Arc::clone(&self.0);
        let promise = self.promise(token);
        runtime::handle()?.spawn(async move {
            // A launch under way is cut short, however far it is; its own promise says so.
            slot.call_off.cancel();
            slot.launched.cancelled().await;
            match slot.client.get() {
                Some(client) => promise.resolve(&client.close(options).await),
                None => promise.resolve(&serde_json::json!({ "exitCode": null, "signal": null })),
            }
        });
        Ok(())
    }

    /// Kills the whole tree, synchronously.
    #[napi(catch_unwind)]
    pub fn kill(&self) {
        self.0.call_off.cancel();
        match (self.client(), self.0.tree.get()) {
            (Some(client), _) => client.kill(),
            (None, Some(tree)) => drop(tree.kill()),
            (None, None) => {}
        }
    }
}

/// A session that is being opened.
#[napi(object)]
pub struct Opening {
    /// Its channel.
    pub channel: u32,
    /// The call's number for `abandon`.
    pub call: f64,
}

fn json(value: &impl Serialize) -> napi::Result<String> {
    serde_json::to_string(value).map_err(|e| napi::Error::from_reason(e.to_string()))
}

#[expect(clippy::cast_precision_loss, reason = "calls are counted from 1; nobody makes 2^53 of them")]
fn number(id: u64) -> f64 {
    id as f64
}
