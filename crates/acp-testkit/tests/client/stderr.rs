//! Stderr is always drained, and its end is kept (C3).

use std::sync::Arc;

use acp_runtime::client::Client;
#[cfg(unix)]
use acp_runtime::error::ErrorCode;
use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use acp_testkit::script::{Stderr, Step};
#[cfg(unix)]
use serde_json::json;

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

/// Stderr is another pipe than the answer; on Unix it is read before the failure is told, however busy the reading task is.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn w14_what_the_agent_wrote_before_an_empty_error_is_told_with_it() {
    const ROUNDS: usize = 60;
    let stage = Stage::new();
    let script = (0..ROUNDS).fold(Script::new().initialize().session_new("s1"), |script, round| {
        let error = json!({"code": -32603, "message": "Internal error", "data": {}});
        script.prompt_begin().stderr(&format!("reason {round}")).respond_error("prompt", error)
    });
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    for round in 0..ROUNDS {
        let error = prompt(&client, "s1", &listener).await.unwrap_err();
        let details = error.details();
        assert_eq!((details.code, &details.partial_text), (ErrorCode::AgentError, &None));
        let tail = details.stderr_tail.as_deref().unwrap_or_default();
        assert!(tail.trim_end().ends_with(&format!("reason {round}")), "round {round}: {tail}");
    }
    stage.end(client).await;
}
