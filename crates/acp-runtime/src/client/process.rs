//! The process tree, as the connection sees it.

use std::sync::Arc;

use crate::connection::AgentProcess;
use crate::error::ExitFacts;
use crate::port::BoxFuture;
use crate::process::{DEFAULT_DRAIN_BOUND, ProcessTree};

pub(super) struct Adapter(pub Arc<ProcessTree>);

impl AgentProcess for Adapter {
    fn exited(&self) -> BoxFuture<ExitFacts> {
        Box::pin(self.0.exited())
    }

    fn stderr_tail(&self) -> BoxFuture<Option<String>> {
        let tree = Arc::clone(&self.0);
        Box::pin(async move {
            // While it lives its stderr does not end: what is there is all there is.
            if tree.try_exit().is_some() {
                tree.stderr().drained(DEFAULT_DRAIN_BOUND).await;
            }
            Some(tree.stderr().tail())
        })
    }

    fn swept(&self) -> bool {
        self.0.was_swept()
    }

    fn kill(&self) {
        self.0.kill();
    }
}
