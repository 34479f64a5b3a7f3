//! A process that never ends, for connections in memory.

use acp_runtime::connection::AgentProcess;
use acp_runtime::error::ExitFacts;
use acp_runtime::port::BoxFuture;

/// Lives for ever and says nothing beside the protocol.
pub struct Immortal;

impl AgentProcess for Immortal {
    fn exited(&self) -> BoxFuture<ExitFacts> {
        Box::pin(std::future::pending())
    }

    fn stderr_tail(&self) -> BoxFuture<Option<String>> {
        Box::pin(std::future::ready(None))
    }

    fn kill(&self) {}
}
