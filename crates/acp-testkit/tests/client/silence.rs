//! An agent that falls silent in its turn (S09).

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::ask;
use acp_runtime::delivery::{Kind, Limits};
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::port::{DenyAll, PermissionDecision};
use acp_runtime::session::TurnOptions;
use acp_testkit::Script;
use serde_json::json;

use crate::support::{Decider, Listener, Stage, begin, eventually, open, opened, prompt, prompted};

fn idle(limit: Duration) -> TurnOptions {
    TurnOptions { idle_timeout: Some(limit), ..TurnOptions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_silence_is_a_typed_failure_and_chatter_elsewhere_does_not_count() {
    let stage = Stage::new();
    let chatter = Script::new().stderr("still alive").raw("a log line\n").text_in("s2", "elsewhere");
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin()
        .text("part")
        .repeat_until("session/cancel", 50, chatter)
        .expect("session/cancel")
        .prompt_end("cancelled")
        .prompt_begin()
        .text("again")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    open(&client, &stage, &Listener::new()).await.unwrap();
    let error = begin(&client, "s1", Some(&listener), idle(Duration::from_secs(2))).await.unwrap().unwrap_err();
    let details = error.details();
    assert_eq!((details.code, details.phase), (ErrorCode::TurnStalled, Some(Phase::Prompt)));
    assert_eq!(details.partial_text.as_deref(), Some("part"));
    assert!(details.prompt_may_have_been_sent && details.retryable);
    assert!(error.to_string().contains("2000 ms"), "{error}");
    // The agent was told; when it has answered the session works again.
    eventually("the response that was owed", || client.diagnostics().late_responses == 1).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "again");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_the_clock_stands_while_the_host_is_asked() {
    let stage = Stage::new();
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let script = prompted()
        .permission("asked", options)
        .expect_result("asked", json!({"outcome": {"optionId": "yes"}}))
        .text("allowed")
        .prompt_end("end_turn");
    let host = Decider::new(|_, _| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(3500)).await;
            PermissionDecision::AllowOnce
        })
    });
    let (client, listener) = opened(&stage, &script, host).await;
    let outcome = begin(&client, "s1", Some(&listener), idle(Duration::from_secs(2))).await.unwrap().unwrap();
    assert_eq!(outcome.text, "allowed");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_a_slow_host_is_not_a_silent_agent() {
    let stage = Stage::new();
    let client = stage.launch(&prompted().texts(2000, "{i} ").prompt_end("end_turn")).await;
    let listener = Listener::slow(Limits { bytes: 64, items: 4 });
    open(&client, &stage, &listener).await.unwrap();
    listener.take();
    let turn = begin(&client, "s1", Some(&listener), idle(Duration::from_secs(2)));
    let turn = tokio::spawn(async move { turn.await.unwrap().unwrap() });
    tokio::time::sleep(Duration::from_millis(3500)).await;
    eventually("the end of the turn", || {
        listener.take();
        turn.is_finished()
    })
    .await;
    listener.take();
    assert_eq!(turn.await.unwrap().text, listener.text());
    assert_eq!(listener.of(Kind::Text).len(), 2000);
    stage.end(client).await;
}

/// A connection that was idle for longer than any limit: the clocks of what comes next start then.
#[tokio::test(flavor = "multi_thread")]
async fn clocks_start_with_what_they_measure() {
    let stage = Stage::new();
    let script = prompted().expect("_x/call").respond("_x/call", json!({})).text("fine").prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let limit = Duration::from_secs(3);
    tokio::time::sleep(limit + Duration::from_secs(1)).await;
    let turn = TurnOptions { timeout: Some(limit), ..idle(limit) };
    let turn = begin(&client, "s1", Some(&listener), turn);
    let options = acp_runtime::connection::CallOptions::plain(Phase::Session).timeout(Some(limit));
    client.connection().call("_x/call", None, options).await.unwrap();
    assert_eq!(turn.await.unwrap().unwrap().text, "fine");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_takes_too_long_in_all_is_given_up_with_its_text() {
    let stage = Stage::new();
    let script = prompted()
        .repeat_until("session/cancel", 20, Script::new().text("x"))
        .expect("session/cancel")
        .expect_eof()
        .exit(0);
    let mut options = stage.ask_options(&script);
    options.timeout = Some(Duration::from_secs(2));
    let outcome = stage.ask_with(options).await;
    let failure = outcome.failed().unwrap();
    assert_eq!((failure.reason, failure.error.code), (ask::AskReason::Timeout, ErrorCode::Timeout));
    assert_eq!(failure.message, "ACP prompt timed out after 2000ms");
    assert!(failure.text.as_deref().unwrap().starts_with('x'));
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_an_ask_ends_when_the_agent_falls_silent() {
    let stage = Stage::new();
    let mut options = stage.ask_options(&prompted().text("part").expect("session/cancel"));
    options.idle_timeout = Some(Duration::from_millis(700));
    let outcome = stage.ask_with(options).await;
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!((&json["ok"], &json["reason"], &json["text"]), (&json!(false), &json!("timeout"), &json!("part")));
    assert_eq!(json["message"], "ACP prompt timed out after 700ms without anything from the agent");
    assert_eq!(json["error"]["code"], "turn_stalled");
}

/// The clock is put forward when the agent has been asked, so that the whole limit passes at once.
#[tokio::test]
async fn an_ask_never_waits_for_a_session_for_ever() {
    let stage = Stage::new();
    let asked = stage.file("asked");
    let mut options = stage.ask_options(&Script::new().initialize().expect("session/new").write_pid(&asked));
    options.session.timeout = None;
    let asking = tokio::spawn(ask::ask(options));
    eventually("the agent is asked for a session", || std::path::Path::new(&asked).exists()).await;
    tokio::time::pause();
    tokio::time::advance(ask::DEFAULT_SESSION_TIMEOUT).await;
    tokio::time::resume();
    let outcome = asking.await.unwrap();
    let failure = outcome.failed().unwrap();
    assert_eq!((failure.reason, failure.error.code), (ask::AskReason::CreateSessionFailed, ErrorCode::Timeout));
    assert_eq!(failure.error.phase, Some(Phase::Session));
    stage.assert_empty();
}
