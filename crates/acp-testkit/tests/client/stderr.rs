//! Stderr is always drained, and its end is kept (C3).

use std::sync::Arc;

use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use acp_testkit::script::{Stderr, Step};

use crate::support::{Stage, opened, prompt};

#[tokio::test(flavor = "multi_thread")]
async fn c03_a_flood_on_stderr_blocks_nothing() {
    let stage = Stage::new();
    let flood = |last: &str| {
        let many = Stderr { text: "noise ".repeat(1000), repeat: Some(900), ..Stderr::default() };
        Script::new().push(Step::Stderr(many)).stderr(last)
    };
    let script = flood("before initialize")
        .initialize()
        .session_new("s1")
        .prompt_begin()
        .then(flood("in the turn"))
        .text("fine")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "fine");
    stage.end(client.clone()).await;
    let tail = client.stderr();
    assert!(tail.trim_end().ends_with("in the turn"));
    assert!(tail.len() <= acp_runtime::process::DEFAULT_STDERR_BYTES, "{}", tail.len());
}
