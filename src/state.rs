//! What is known of a session, as JavaScript reads it.

use std::sync::Arc;

use acp_runtime::session::SharedState;
use napi_derive::napi;

/// The merged state of one session. It stays readable after the session ended.
#[napi]
pub struct NativeSessionState(pub(crate) Arc<SharedState>);

#[napi]
impl NativeSessionState {
    /// The state as JSON, or `null` if it is still at the version `known`.
    #[napi(catch_unwind)]
    pub fn read(&self, known: f64) -> napi::Result<Option<String>> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number that a read gave out")]
        let known = (known >= 0.0).then_some(known as u64);
        self.0.read(known).map_err(|error| napi::Error::from_reason(error.to_string()))
    }
}
