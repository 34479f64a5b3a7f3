//! The Rust end of a JavaScript promise.

use std::sync::Arc;

use acp_runtime::delivery::{Kind, Outbox, Slab};
use acp_runtime::error::{Details, Error, ErrorCode};
use acp_runtime::pending::Reply;
use acp_runtime::session::TurnOutcome;
use serde::Serialize;

use crate::hub::push;

/// Settles exactly once, whatever happens to its holder: a task that dies of a fault of its own drops it, and the promise
/// is rejected instead of left hanging.
pub struct Promise {
    outbox: Arc<Outbox>,
    token: u32,
    settled: bool,
}

#[derive(Serialize)]
struct Settlement<'a, T: Serialize> {
    token: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ok: Option<&'a T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Details>,
}

impl Promise {
    /// The promise that JavaScript keeps under `token`; it is settled on `outbox`, after everything queued there before.
    pub fn new(outbox: &Arc<Outbox>, token: u32) -> Self {
        Self { outbox: Arc::clone(outbox), token, settled: false }
    }

    pub fn settle<T: Serialize>(self, outcome: Result<T, Error>) {
        match outcome {
            Ok(value) => self.resolve(&value),
            Err(error) => self.reject(error),
        }
    }

    pub fn resolve<T: Serialize>(mut self, value: &T) {
        self.push(&Settlement { token: self.token, ok: Some(value), error: None });
    }

    pub fn reject(mut self, error: Error) {
        self.push(&Settlement::<()> { token: self.token, ok: None, error: Some(&error.into_details()) });
    }

    fn push<T: Serialize>(&mut self, settlement: &Settlement<'_, T>) {
        push(&self.outbox, Kind::Reply, settlement);
        self.settled = true;
    }

    /// The end of a turn: its text goes ahead of the reply, in one piece with it.
    pub fn settle_turn(mut self, outcome: Result<TurnOutcome, Error>) {
        match outcome {
            Ok(outcome) => {
                let settlement = Settlement { token: self.token, ok: Some(&outcome), error: None };
                match serde_json::to_string(&settlement) {
                    Ok(json) => {
                        let mut slab = Slab::default();
                        slab.push(Kind::TurnText, &outcome.text);
                        slab.push(Kind::Reply, &json);
                        self.outbox.publish(&mut slab);
                        self.settled = true;
                    }
                    // Dropped unsettled, which rejects it.
                    Err(error) => tracing::error!(target: "acp::binding", %error, "a turn could not be encoded"),
                }
            }
            Err(error) => self.reject(error),
        }
    }

    /// As the reply of a call.
    pub fn into_reply(self) -> Reply {
        Box::new(move |outcome| self.settle(outcome))
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if !self.settled {
            let fault = Error::new(ErrorCode::InternalError, "the ACP runtime failed").into_details();
            self.push(&Settlement::<()> { token: self.token, ok: None, error: Some(&fault) });
        }
    }
}
