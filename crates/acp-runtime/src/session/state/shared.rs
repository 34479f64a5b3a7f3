//! A session's state where others can read it while the connection writes it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::SessionState;

/// The state of one session. The connection's task takes the lock once per update, and nobody else takes it but a reader.
#[derive(Debug, Default)]
pub struct SharedState(Mutex<SessionState>);

impl SharedState {
    /// The state of a session that nothing is known of.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The state as JSON, unless nothing changed since the reader saw `known`. It stays readable after the session ended.
    ///
    /// # Errors
    ///
    /// When it cannot be written as JSON, which has not been seen.
    pub fn read(&self, known: Option<u64>) -> serde_json::Result<Option<String>> {
        let state = self.lock();
        if known == Some(state.version()) {
            return Ok(None);
        }
        serde_json::to_string(&*state).map(Some)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, SessionState> {
        // No code panics while holding the lock; if it did, the state is still consistent between its statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
