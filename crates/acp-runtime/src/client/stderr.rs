//! What the agent wrote to stderr, beside its failures: error objects often say nothing (field case W14), and the reason is
//! there.

use std::sync::{Arc, Weak};

use crate::error::{Error, ErrorCode, Result};
use crate::process::ProcessTree;

/// A reply, whose failures of the agent's own making get the end of stderr. It does not keep the tree alive.
pub(super) fn telling<T: 'static>(
    tree: &Arc<ProcessTree>,
    reply: Box<dyn FnOnce(Result<T>) + Send>,
) -> Box<dyn FnOnce(Result<T>) + Send> {
    let tree = Arc::downgrade(tree);
    Box::new(move |outcome| reply(outcome.map_err(|error| tell(&tree, error))))
}

/// Adds the end of stderr so far, if there is any and the failure has none.
pub(super) fn tell(tree: &Weak<ProcessTree>, mut error: Error) -> Error {
    if !is_the_agents(error.code()) || error.details().stderr_tail.is_some() {
        return error;
    }
    let tail = tree.upgrade().map(|tree| tree.stderr().tail());
    error.details_mut().stderr_tail = tail.filter(|tail| !tail.trim().is_empty());
    error
}

/// Whether the agent answered with a failure, or not at all. What the host did wrong, or wanted, says nothing of the agent.
fn is_the_agents(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::AgentError
            | ErrorCode::AuthRequired
            | ErrorCode::MalformedResponse
            | ErrorCode::Timeout
            | ErrorCode::TurnStalled
    )
}
