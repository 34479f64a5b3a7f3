//! What the tests of the kit share.

use std::path::Path;

use acp_testkit::Script;
use acp_testkit::raw_client::RawClient;

/// Starts the fake agent with a script; `args` are `{{args}}` in it.
#[expect(clippy::unwrap_used, reason = "a test that cannot start its agent has failed")]
pub fn play_with(script: &Script, args: &[&str]) -> RawClient {
    RawClient::play(Path::new(env!("CARGO_BIN_EXE_fake-agent")), script, args).unwrap()
}

/// Starts the fake agent with a script.
pub fn play(script: &Script) -> RawClient {
    play_with(script, &[])
}
