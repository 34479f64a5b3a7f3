//! The addon's own tokio runtime: started at first use, never shut down, shared by every Node environment of the process.
//!
//! Never shut down, because a Node environment that ends must not end the agents of another, and because a runtime that
//! goes away under a worker thread is what crashes addons.

use std::sync::OnceLock;

use tokio::runtime::{Builder, Handle, Runtime};

/// Two workers: one can wait for the kernel while the other reads. The work of a host with many agents is waiting.
const WORKERS: usize = 2;

static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

/// The runtime's handle, or why there is none: the system has no threads or descriptors left.
pub fn handle() -> napi::Result<&'static Handle> {
    RUNTIME
        .get_or_init(|| {
            crate::logging::init();
            Builder::new_multi_thread().worker_threads(WORKERS).thread_name("fusion-acp").enable_all().build().ok()
        })
        .as_ref()
        .map(Runtime::handle)
        .ok_or_else(|| napi::Error::from_reason("the ACP runtime could not start its threads"))
}
