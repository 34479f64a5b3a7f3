//! The merged state of a session: read at any time, filled by a replay, right after a cancel and after the end (C22, C35, C44).
#![expect(clippy::similar_names, reason = "the state of a session, on the stage of a test")]

use std::sync::Arc;

use acp_runtime::client::Client;
use acp_runtime::connection::{CallOptions, CancelState};
use acp_runtime::delivery::Kind;
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::port::DenyAll;
use acp_runtime::session::{Scope, SharedState, Source, TurnOptions, ViewKind};
use acp_testkit::Script;
use serde_json::{Value, json};

use crate::support::{
    Listener, PATIENCE, Stage, assert_code, begin, brisk, eventually, open_by, opened, prompt, prompted,
};

pub fn shown(state: &SharedState) -> Value {
    serde_json::from_str(&state.read(None).unwrap().unwrap()).unwrap()
}

pub fn of(client: &Client, session_id: &str) -> Value {
    shown(&client.session_state(session_id).unwrap())
}

fn call(status: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Look", "status": status})
}

fn status(state: &Value) -> (Value, bool) {
    let call = &state["toolCalls"][0];
    (call["status"].clone(), call["cancelledLocally"] == true)
}

#[tokio::test(flavor = "multi_thread")]
async fn c35_everything_that_was_said_is_in_the_state_when_the_turn_has_ended() {
    let stage = Stage::new();
    let modes = json!({"currentModeId": "a", "availableModes": [{"id": "a", "name": "A"}, {"id": "b", "name": "B"}]});
    let usage = json!({"usage": {"inputTokens": 5, "totalTokens": 9}, "stopReason": "end_turn"});
    let script = Script::new()
        .initialize()
        .expect("session/new")
        .respond("session/new", json!({"sessionId": "s1", "modes": modes}))
        .prompt_begin()
        .text("one ")
        .text("\u{1b}[31mtwo")
        .update(call("in_progress"))
        .update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": null, "rawOutput": {"x": 1}}))
        .update(json!({"sessionUpdate": "plan", "entries": [{"content": "p", "priority": "low", "status": "pending"}]}))
        .update(json!({"sessionUpdate": "usage_update", "used": 7, "size": 70}))
        .text("three")
        .respond("prompt", usage)
        .expect("session/set_mode")
        .respond("session/set_mode", json!({}));
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let handle = client.session_state("s1").unwrap();
    assert_eq!(shown(&handle)["currentModeId"], "a");
    let outcome = prompt(&client, "s1", &listener).await.unwrap();
    let state = shown(&handle);
    let text = |message: usize| state["messages"][message]["content"][0]["text"].clone();
    assert_eq!((text(0), text(1), &state["messages"][2]), (json!("one two"), json!("three"), &Value::Null));
    // The agent never said how it ended, and the turn is over.
    assert_eq!(status(&state), (json!("cancelled"), true));
    assert_eq!(
        (&state["toolCalls"][0]["title"], &state["toolCalls"][0]["rawOutput"]),
        (&json!("Look"), &json!({"x": 1}))
    );
    assert_eq!((&state["plans"][0]["entries"][0]["content"], &state["context"]["used"]), (&json!("p"), &json!(7)));
    assert_eq!(state["availableModes"], modes["availableModes"]);
    let usage = outcome.usage.unwrap();
    assert_eq!((usage.tokens.input_tokens, usage.tokens.output_tokens), (Some(5), None));
    assert_eq!((usage.source, usage.scope), (Source::PromptResult, Scope::Unknown));
    assert_eq!(state["usage"], serde_json::to_value(&usage).unwrap());
    let params = serde_json::value::to_raw_value(&json!({"sessionId": "s1", "modeId": "b"})).unwrap();
    client.connection().call("session/set_mode", Some(params), CallOptions::plain(Phase::Session)).await.unwrap();
    assert_eq!(shown(&handle)["currentModeId"], "b");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c22_a_replay_fills_the_state_and_no_turn() {
    let stage = Stage::new();
    let chunk = |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    let script = Script::new()
        .initialize_with(json!({"agentCapabilities": {"loadSession": true}}))
        .expect("session/load")
        .update_in("old", chunk("user_message_chunk", "old q"))
        .update_in("old", chunk("agent_message_chunk", "old a"))
        .update_in("old", call("in_progress"))
        .update_in("old", json!({"sessionUpdate": "usage_update", "used": 7, "size": 70}))
        .respond("session/load", json!({"configOptions": [{"id": "x"}]}))
        .prompt_begin()
        .text_in("old", "new a")
        .prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let listener = Listener::new();
    open_by(&client, "session/load", Some("old"), &stage.session_request(), &listener, ViewKind::Events).await.unwrap();
    let state = of(&client, "old");
    let roles: Vec<_> =
        state["messages"].as_array().unwrap().iter().map(|m| (m["role"].clone(), m["replay"].clone())).collect();
    assert_eq!(roles, [(json!("user"), json!(true)), (json!("agent"), json!(true))]);
    assert_eq!((status(&state), &state["configOptions"]), ((json!("cancelled"), true), &json!([{"id": "x"}])));
    let outcome = prompt(&client, "old", &listener).await.unwrap();
    assert_eq!((outcome.text.as_str(), outcome.usage), ("new a", None));
    let state = of(&client, "old");
    assert_eq!(
        (&state["messages"][2]["content"][0]["text"], state["messages"][2].get("replay")),
        (&json!("new a"), None)
    );
    assert_eq!((&state["context"], state.get("usage")), (&json!({"used": 7, "size": 70}), None));
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c44_a_cancel_marks_what_runs_before_the_agent_does_anything() {
    let stage = Stage::new();
    let done = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"});
    let script = prompted()
        .update(call("in_progress"))
        .expect("session/cancel")
        .expect("_test/seen")
        .update(done)
        .prompt_end("cancelled");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Update, "in_progress").await;
    assert_eq!(status(&of(&client, "s1")), (json!("in_progress"), false));
    let cancel = tokio::spawn({
        let connection = client.connection().clone();
        async move { connection.cancel("s1", PATIENCE).await }
    });
    eventually("the mark", || status(&of(&client, "s1")) == (json!("cancelled"), true)).await;
    client.connection().notify("_test/seen", None).unwrap();
    assert_eq!(cancel.await.unwrap(), CancelState::Cancelled);
    turn.await.unwrap().unwrap();
    assert_eq!(status(&of(&client, "s1")), (json!("completed"), false), "the agent's own word counts");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_outlives_the_agent_and_the_session() {
    let stage = Stage::new();
    let script = prompted().text("last words").update(call("in_progress")).exit(3);
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    assert_code(&prompt(&client, "s1", &listener).await, ErrorCode::AgentExited);
    let state = of(&client, "s1");
    assert_eq!(
        (status(&state), &state["messages"][0]["content"][0]["text"]),
        ((json!("cancelled"), true), &json!("last words"))
    );
    client.close(brisk()).await;
    stage.assert_empty();

    let (client, listener) = opened(
        &stage,
        &prompted().text("x").update(call("pending")).prompt_end("end_turn").text("late"),
        Arc::new(DenyAll),
    )
    .await;
    prompt(&client, "s1", &listener).await.unwrap();
    listener.hears(Kind::Text, "late").await;
    let handle = client.session_state("s1").unwrap();
    client.connection().drop_session("s1");
    eventually("the session is gone", || client.session_state("s1").is_none()).await;
    assert_eq!(shown(&handle)["messages"][1]["content"][0]["text"], "late");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_state_is_kept_unless_it_is_asked_for() {
    let stage = Stage::new();
    let client = stage.launch(&prompted().text("x").prompt_end("end_turn")).await;
    let listener = Listener::new();
    // The callbacks' view has none.
    open_by(&client, "session/new", None, &stage.session_request(), &listener, ViewKind::Callbacks).await.unwrap();
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "x");
    assert!(client.session_state("s1").is_none() && client.session_state("s2").is_none());
    stage.end(client).await;
}

/// Chunks with more than their text, and text that the sanitiser holds back, give the message that the events gave.
#[tokio::test(flavor = "multi_thread")]
async fn messages_are_the_text_of_the_events() {
    let rich = json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "_meta": {"k": 1}, "content": {"type": "text", "text": "rich"}});
    let script = prompted()
        .send(json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update":
            {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "a\u{1b}[3"}}}}))
        .send(json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update":
            {"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": {"type": "text", "text": "1mb"}}}}))
        .update(rich)
        .prompt_end("end_turn");
    let stage = Stage::new();
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "abrich");
    let state = of(&client, "s1");
    assert_eq!(
        (&state["messages"][0]["content"], &state["messages"][1]),
        (&json!([{"type": "text", "text": "abrich"}]), &Value::Null)
    );
    stage.end(client).await;
}
