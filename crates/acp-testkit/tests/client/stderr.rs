//! Stderr is always drained, and its end is kept (C3).

use std::sync::Arc;

use acp_runtime::client::Client;
use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use acp_testkit::script::{Stderr, Step};

use crate::support::{Listener, Stage, everything, open, opened, prompt, prompted};

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

#[tokio::test(flavor = "multi_thread")]
async fn f04_terminal_control_in_a_secret_does_not_hide_it_and_does_not_reach_the_host() {
    let stage = Stage::new();
    let script = prompted().stderr("\u{1b}[31mhun\u{1b}[0mter2-and-\u{7}more\u{9b}2J end\n").exit(3);
    let mut options = stage.options(&script);
    options.spec.secrets = vec!["hunter2-and-more".to_owned()];
    let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    let error = prompt(&client, "s1", &listener).await.unwrap_err();
    assert_eq!(error.details().stderr_tail.as_deref(), Some("[REDACTED] end\n"));
    let all = everything(&error);
    assert!(
        !all.contains("hunter2") && !all.contains(['\u{1b}', '\u{7}', '\u{9b}']) && all.contains("[REDACTED]"),
        "{all}"
    );
    assert_eq!(client.stderr(), "[REDACTED] end\n");
    client.close(crate::support::brisk()).await;
    stage.assert_empty();
}
