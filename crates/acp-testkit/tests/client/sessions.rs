//! Loading and resuming (S11, C22, C23), and ids that an agent hands out twice.

use std::sync::Arc;

use acp_runtime::delivery::Kind;
use acp_runtime::error::ErrorCode;
use acp_runtime::port::DenyAll;
use acp_runtime::session::{TurnOptions, ViewKind};
use acp_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Listener, Stage, assert_code, begin, open, open_by, opened, prompt, prompted};

fn loading() -> Script {
    Script::new()
        .initialize_with(json!({"agentCapabilities": {"loadSession": true, "sessionCapabilities": {"resume": {}}}}))
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

fn replaying() -> Script {
    loading()
        .expect_params("session/load", json!({"sessionId": "old", "mcpServers": []}))
        .update_in("old", chunk("user_message_chunk", "old q"))
        .update_in("old", chunk("agent_message_chunk", "old a"))
        .respond("session/load", Value::Null)
        .prompt_begin()
        .text("new a")
        .prompt_end("end_turn")
}

#[tokio::test(flavor = "multi_thread")]
async fn s11_history_is_told_as_history_and_counts_for_no_turn() {
    let stage = Stage::new();
    let client = stage.launch(&replaying()).await;
    let listener = Listener::new();
    let request = stage.session_request();
    open_by(&client, "session/load", Some("old"), &request, &listener, ViewKind::Events).await.unwrap();
    assert_eq!(prompt(&client, "old", &listener).await.unwrap().text, "new a");
    stage.end(client).await;
    let places = [
        listener.position(Kind::Replay, "true"),
        listener.position(Kind::UserText, "old q"),
        listener.position(Kind::Text, "old a"),
        listener.position(Kind::Replay, "false"),
        listener.position(Kind::Reply, "opened"),
        listener.position(Kind::Turn, "true"),
        listener.position(Kind::Text, "new a"),
    ];
    assert!(places.is_sorted(), "{places:?} {:?}", listener.heard());
}

#[tokio::test(flavor = "multi_thread")]
async fn s11_callbacks_do_not_hear_history() {
    let stage = Stage::new();
    let client = stage.launch(&replaying()).await;
    let listener = Listener::new();
    let request = stage.session_request();
    open_by(&client, "session/load", Some("old"), &request, &listener, ViewKind::Callbacks).await.unwrap();
    assert_eq!(prompt(&client, "old", &listener).await.unwrap().text, "new a");
    stage.end(client).await;
    assert_eq!(listener.text(), "new a");
}

#[tokio::test(flavor = "multi_thread")]
async fn c22_c23_all_history_comes_before_the_load_ends_and_resuming_needs_none() {
    for result in [json!({}), Value::Null] {
        let stage = Stage::new();
        let mut script = loading().expect("session/load");
        for i in 0..500 {
            script = script.update_in("old", chunk("agent_message_chunk", &format!("{i} ")));
        }
        let script =
            script.respond("session/load", result).expect("session/resume").respond("session/resume", json!({}));
        let client = stage.launch(&script).await;
        let (listener, other) = (Listener::new(), Listener::new());
        let request = stage.session_request();
        open_by(&client, "session/load", Some("old"), &request, &listener, ViewKind::Events).await.unwrap();
        open_by(&client, "session/resume", Some("older"), &request, &other, ViewKind::Events).await.unwrap();
        stage.end(client).await;
        let heard = listener.heard();
        let opened = listener.position(Kind::Reply, "opened");
        assert_eq!(heard[..opened].iter().filter(|(kind, _)| *kind == Kind::Text).count(), 500);
        assert!(other.of(Kind::Replay).is_empty(), "{:?}", other.heard());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_fails_or_is_given_up_leaves_no_session() {
    let stage = Stage::new();
    let script = loading()
        .expect("session/load")
        .respond_error("session/load", json!({"code": -32002, "message": "no such session"}))
        .expect("session/load")
        .expect("$/cancel_request")
        .respond("session/load", json!({}))
        .expect("_test/done");
    let client = stage.launch(&script).await;
    let listener = Listener::new();
    let mut request = stage.session_request();
    let failed = open_by(&client, "session/load", Some("old"), &request, &listener, ViewKind::Events).await;
    assert_code(&failed, ErrorCode::AgentError);
    assert_code(&prompt(&client, "old", &listener).await, ErrorCode::SessionUnusable);
    request.timeout = Some(std::time::Duration::from_millis(100));
    let failed = open_by(&client, "session/load", Some("old"), &request, &listener, ViewKind::Events).await;
    assert_code(&failed, ErrorCode::Timeout);
    crate::support::eventually("the late answer", || client.diagnostics().messages_received >= 3).await;
    assert_code(&prompt(&client, "old", &listener).await, ErrorCode::SessionUnusable);
    client.connection().notify("_test/done", None).unwrap();
    stage.end(client).await;
}

/// An agent that gives the same id to two sessions, or a host that loads a session whose turn runs: nobody is left waiting.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_used_twice_leaves_nobody_waiting() {
    let stage = Stage::new();
    let script = prompted().text("one").session_new("s1").prompt_begin().text("two").prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "one").await;
    let other = Listener::new();
    assert_eq!(open(&client, &stage, &other).await.unwrap(), "s1");
    let error = turn.await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.details().partial_text.as_deref()), (ErrorCode::SessionUnusable, Some("one")));
    assert_eq!(prompt(&client, "s1", &other).await.unwrap().text, "two");
    stage.end(client).await;

    let script = loading().session_new("s1").prompt_begin().expect("_test/go").prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    let request = stage.session_request();
    let refused = open_by(&client, "session/load", Some("s1"), &request, &other, ViewKind::Events).await;
    assert_code(&refused, ErrorCode::TurnInProgress);
    client.connection().notify("_test/go", None).unwrap();
    turn.await.unwrap().unwrap();
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_id_must_be_one_that_can_be_sent_back() {
    let long = "x".repeat(2000);
    for result in [
        json!({}),
        json!({"sessionId": 5}),
        json!({"sessionId": ""}),
        json!({"sessionId": long}),
        json!([]),
        Value::Null,
    ] {
        let stage = Stage::new();
        let script = Script::new().initialize().expect("session/new").respond("session/new", result);
        let client = stage.launch(&script).await;
        assert_code(&open(&client, &stage, &Listener::new()).await, ErrorCode::MalformedResponse);
        stage.end(client).await;
    }
}
