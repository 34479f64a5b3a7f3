//! The Node binding: converts, calls the core, converts back. It holds no decisions.
//!
//! JavaScript calls are synchronous; whatever takes time settles a promise later, through the environment's [`hub`].

pub mod bridge;
pub mod client;
pub mod elicitation;
pub mod files;
pub mod floor;
pub mod host;
pub mod hub;
pub mod logging;
pub mod options;
pub mod promise;
pub mod runtime;
pub mod state;
pub mod text;
pub mod verdict;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use acp_runtime::ask::{self, AskOptions};
use acp_runtime::delivery::Outbox;
use acp_runtime::probe::{self, ProbeOptions};
use acp_runtime::process::{OwnerId, registry};
use napi::bindgen_prelude::{Function, Uint32ArraySlice};
use napi::{Env, Error, JsString, Result, Status};
use napi_derive::napi;
use serde::de::DeserializeOwned;

use client::NativeClient;
use hub::Hub;
use promise::Promise;

/// Every environment owns its own agents: a worker thread that ends takes none of another's.
static NEXT_OWNER: AtomicU64 = AtomicU64::new(1);

/// The environment's meeting point with the runtime. `lib/native/hub.js` makes one.
#[napi]
pub struct NativeHub {
    hub: Arc<Hub>,
    /// The channel of one-shot calls.
    control: (u32, Arc<Outbox>),
}

#[napi]
impl NativeHub {
    /// `wake` is called, without arguments, when there is something to drain.
    #[napi(constructor, catch_unwind)]
    pub fn new(env: Env, wake: Function<(), ()>) -> Result<Self> {
        let owner = OwnerId(NEXT_OWNER.fetch_add(1, Ordering::Relaxed));
        let wake = wake.build_threadsafe_function::<()>().weak::<true>().build()?;
        let hub = Hub::new(owner, wake);
        // Runs when a worker ends and when the main environment runs dry; `process.exit` is the exit hook's part.
        let ending = Arc::clone(&hub);
        env.add_env_cleanup_hook((), move |()| {
            registry::kill_all(ending.owner);
            ending.shut();
        })?;
        let control = hub.open();
        Ok(Self { hub, control })
    }

    /// The channel of one-shot calls.
    #[napi(getter, catch_unwind)]
    pub fn channel(&self) -> u32 {
        self.control.0
    }

    /// Takes the next slice: returns its text, and fills `table` as `lib/native/hub.js` reads it. `null`: nothing is left.
    #[napi(catch_unwind)]
    pub fn drain<'env>(&self, env: &'env Env, mut table: Uint32ArraySlice<'env>) -> Result<Option<JsString<'env>>> {
        // SAFETY: the table belongs to the caller on this thread, and nothing else reads or writes it during the call.
        let table = unsafe { table.as_mut() };
        if table.len() < 4 {
            return Err(Error::new(Status::InvalidArg, "the table is too small"));
        }
        let text = |text: &str| if text.is_ascii() { env.create_string_latin1(text) } else { env.create_string(text) };
        self.hub.drain(table, text).transpose()
    }

    /// Launches an agent; the promise behind `token` settles on the client's channel.
    #[napi(catch_unwind)]
    pub fn launch(&self, options: String, token: u32) -> Result<NativeClient> {
        NativeClient::launch(&self.hub, &self.control.1, parse(&options)?, token)
    }

    /// Asks once; the promise behind `token` settles with the outcome.
    #[napi(catch_unwind)]
    pub fn ask(&self, options: String, token: u32) -> Result<()> {
        let options: options::Ask = parse(&options)?;
        let mut session = options.session;
        session.timeout = (options.session_timeout_ms > 0).then(|| Duration::from_millis(options.session_timeout_ms));
        let (turn, _) = options.turn.into_core();
        let ask = AskOptions {
            launch: options.launch.into_core(self.hub.owner),
            session,
            prompt: options.prompt,
            timeout: turn.timeout,
            idle_timeout: turn.idle_timeout,
            recover_json: options.recover_json,
            settle: turn.settle,
            close: options.close.into_core(),
        };
        let promise = Promise::new(&self.control.1, token);
        runtime::handle()?.spawn(async move { promise.resolve(&ask::ask(ask).await) });
        Ok(())
    }

    /// Probes; the promise behind `token` settles with the status.
    #[napi(catch_unwind)]
    pub fn probe(&self, options: String, token: u32) -> Result<()> {
        let options: options::Probe = parse(&options)?;
        let probe = ProbeOptions { launch: options.launch.into_core(self.hub.owner), deep: options.deep };
        let promise = Promise::new(&self.control.1, token);
        runtime::handle()?.spawn(async move { promise.resolve(&probe::probe(probe).await) });
        Ok(())
    }

    /// Answers a question of the runtime.
    #[napi(catch_unwind)]
    pub fn answer(&self, request: u32, answer: String) {
        self.hub.answer(request, answer);
    }

    /// Pauses or resumes a channel: the host has more than it can take.
    #[napi(catch_unwind)]
    pub fn set_paused(&self, channel: u32, paused: bool) {
        self.hub.set_paused(channel, paused);
    }

    /// Forgets a channel on which nothing follows, at once or when it is drained. Returns whether it is gone.
    #[napi(catch_unwind)]
    pub fn retire_channel(&self, channel: u32) -> bool {
        self.hub.retire(channel)
    }

    /// Closes a channel.
    #[napi(catch_unwind)]
    pub fn close_channel(&self, channel: u32) {
        self.hub.close(channel);
    }

    /// Kills every agent of this environment, synchronously; returns how many there were.
    #[napi(catch_unwind)]
    pub fn kill_all(&self) -> u32 {
        count(registry::kill_all(self.hub.owner))
    }

    /// How many agents of this environment live.
    #[napi(catch_unwind)]
    pub fn active_count(&self) -> u32 {
        count(registry::active_count(self.hub.owner))
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Reads an argument. JavaScript has checked its shape, so a failure is a fault of the package.
fn parse<T: DeserializeOwned>(json: &str) -> Result<T> {
    serde_json::from_str(json).map_err(|e| Error::new(Status::InvalidArg, format!("invalid native argument: {e}")))
}
