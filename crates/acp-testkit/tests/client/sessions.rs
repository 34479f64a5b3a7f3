//! Loading and resuming (S11, C22, C23), and ids that an agent hands out twice.

use std::sync::Arc;

use acp_runtime::client::Client;
use acp_runtime::delivery::Kind;
use acp_runtime::error::{Error, ErrorCode, Result};
use acp_runtime::port::DenyAll;
use acp_runtime::session::{SessionSpec, TurnOptions, ViewKind};
use acp_testkit::Script;
use acp_testkit::script::Options;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::state::of;
use crate::support::{
    Decider, Listener, Stage, assert_code, begin, eventually, open, open_by, opened, prompt, prompted,
};

fn loading() -> Script {
    Script::new().initialize_with(
        json!({"agentCapabilities": {"loadSession": true, "sessionCapabilities": {"resume": {}, "fork": {}}}}),
    )
}

/// Knows the session only when it is asked a second time.
fn failing_once() -> Script {
    loading()
        .expect("session/load")
        .respond_error("session/load", json!({"code": -32002, "message": "no such session"}))
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

/// Each way to reopen a session.
const WAYS: [&str; 3] = ["session/load", "session/resume", "session/fork"];

fn replaying(method: &str) -> Script {
    loading()
        .expect_params(method, json!({"sessionId": "old", "mcpServers": []}))
        .update_in("old", chunk("user_message_chunk", "old q"))
        .update_in("old", chunk("agent_message_chunk", "old a"))
        .respond(method, json!({"sessionId": "old"}))
        .prompt_begin()
        .text("new a")
        .prompt_end("end_turn")
}

#[tokio::test(flavor = "multi_thread")]
async fn s11_history_is_told_as_history_and_counts_for_no_turn() {
    for method in WAYS {
        let stage = Stage::new();
        let client = stage.launch(&replaying(method)).await;
        let listener = Listener::new();
        let request = stage.session_request();
        open_by(&client, method, Some("old"), &request, &listener, ViewKind::Events).await.unwrap();
        assert_eq!(prompt(&client, "old", &listener).await.unwrap().text, "new a");
        let shown = of(&client, "old");
        stage.end(client).await;
        let places = [
            listener.position(Kind::Replay, "true"),
            listener.position(Kind::UserText, "old q"),
            listener.position(Kind::Text, "old a"),
            listener.position(Kind::Replay, "false"),
            listener.position(Kind::Turn, "true"),
            listener.position(Kind::Text, "new a"),
        ];
        assert!(places.is_sorted(), "{method}: {places:?} {:?}", listener.heard());
        // A fork's history can only be told once its id is known.
        let told = listener.position(Kind::Reply, "opened");
        let expected = if method == "session/fork" { 0 } else { places[3] + 1 };
        assert_eq!(told, expected, "{method}: {:?}", listener.heard());
        let replayed: Vec<_> = shown["messages"].as_array().unwrap().iter().map(|m| m["replay"] == true).collect();
        assert_eq!(replayed, [true, true, false], "{method}: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s11_history_is_left_out_where_it_is_not_wanted_and_how_the_session_stands_is_not() {
    for method in WAYS {
        let stage = Stage::new();
        let mode = json!({"sessionUpdate": "current_mode_update", "currentModeId": "b"});
        let script =
            loading().expect(method).update_in("old", mode).update_in("old", chunk("agent_message_chunk", "old a"));
        let script =
            script.respond(method, json!({"sessionId": "old"})).prompt_begin().text("new a").prompt_end("end_turn");
        let client = stage.launch(&script).await;
        let listener = Listener::new();
        let (sender, receiver) = oneshot::channel();
        let spec = SessionSpec { discard_replay: true, ..listener.spec(ViewKind::Events) };
        client.open(
            method,
            Some("old"),
            &stage.session_request(),
            spec,
            Box::new(|outcome| drop(sender.send(outcome))),
        );
        receiver.await.unwrap().unwrap();
        assert_eq!(prompt(&client, "old", &listener).await.unwrap().text, "new a");
        stage.end(client).await;
        assert_eq!((listener.text().as_str(), listener.of(Kind::Update).len()), ("new a", 1), "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s11_callbacks_do_not_hear_history() {
    for method in WAYS {
        let stage = Stage::new();
        let client = stage.launch(&replaying(method)).await;
        let listener = Listener::new();
        let request = stage.session_request();
        open_by(&client, method, Some("old"), &request, &listener, ViewKind::Callbacks).await.unwrap();
        assert_eq!(prompt(&client, "old", &listener).await.unwrap().text, "new a");
        stage.end(client).await;
        assert_eq!(listener.text(), "new a", "{method}");
    }
}

/// What a new session says before its answer is no history.
#[tokio::test(flavor = "multi_thread")]
async fn c31_what_a_new_session_says_early_is_new() {
    let stage = Stage::new();
    let script = Script::new()
        .initialize()
        .expect("session/new")
        .update_in("s1", chunk("agent_message_chunk", "welcome"))
        .respond("session/new", json!({"sessionId": "s1"}));
    let client = stage.launch(&script).await;
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    listener.hears(Kind::Text, "welcome").await;
    stage.end(client).await;
    assert!(listener.of(Kind::Replay).is_empty(), "{:?}", listener.heard());
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
        let told: Vec<_> = other.heard().into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(told, [Kind::Replay, Kind::Replay, Kind::Reply]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_fails_or_is_given_up_leaves_no_session() {
    let stage = Stage::new();
    let script = failing_once()
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
    eventually("the late answer", || client.diagnostics().messages_received >= 3).await;
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
    assert_code(&refused, ErrorCode::SessionAlreadyOpen);
    client.connection().notify("_test/go", None).unwrap();
    turn.await.unwrap().unwrap();
    stage.end(client).await;
}

/// What the old session asked is answered, what it has of the rest ends, too: nothing of it reaches the new one.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_used_twice_ends_all_that_the_old_session_had() {
    let stage = Stage::new();
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let ask = json!({"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": options});
    let cut = |text: &str| {
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "?"}});
        let line =
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}});
        format!("{line}\n").replace('?', text)
    };
    let script = prompted()
        .raw(cut("one\\ud83d"))
        .request("asked", "session/request_permission", ask)
        .session_new("s1")
        .expect_result("asked", json!({"outcome": {"outcome": "cancelled"}}))
        .prompt_begin()
        .raw(cut("\\ude00two"))
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Decider::undecided()).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "one").await;
    let other = Listener::new();
    assert_eq!(open(&client, &stage, &other).await.unwrap(), "s1");
    assert_code(&turn.await.unwrap(), ErrorCode::SessionUnusable);
    assert_eq!(prompt(&client, "s1", &other).await.unwrap().text, "\u{fffd}two");
    stage.end(client).await;
}

/// Starts to reopen `old`; the call's number, and its end.
fn reopen(
    client: &Client,
    stage: &Stage,
    method: &str,
    listener: &Arc<Listener>,
) -> (u64, oneshot::Receiver<Result<Box<RawValue>>>) {
    let (sender, receiver) = oneshot::channel();
    let reply = Box::new(|outcome| drop(sender.send(outcome)));
    let spec = listener.spec(ViewKind::Events);
    (client.open(method, Some("old"), &stage.session_request(), spec, reply), receiver)
}

fn abandoned() -> Error {
    Error::new(ErrorCode::Aborted, "let go")
}

/// Whoever comes second is refused at once; the agent, which is strict, hears nothing of it, and the first one loses nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_open_or_being_opened_is_not_opened_again() {
    for (first, second) in [("session/load", "session/resume"), ("session/resume", "session/load")] {
        let stage = Stage::new();
        let script = Script::new()
            .options(Options { strict: Some(true), ..Options::default() })
            .then(loading())
            .expect(first)
            .update_in("old", chunk("agent_message_chunk", "old a"))
            .expect("_test/go")
            .respond(first, json!({}))
            .prompt_begin()
            .text("new a")
            .prompt_end("end_turn")
            .prompt_begin()
            .prompt_end("end_turn");
        let client = stage.launch(&script).await;
        let (listener, other) = (Listener::new(), Listener::new());
        let (_, opened) = reopen(&client, &stage, first, &listener);
        listener.hears(Kind::Text, "old a").await;
        for method in [first, second] {
            let refused = reopen(&client, &stage, method, &other).1.await.unwrap();
            assert_code(&refused, ErrorCode::SessionAlreadyOpen);
            assert!(refused.unwrap_err().to_string().contains("being opened"));
        }
        client.connection().notify("_test/go", None).unwrap();
        opened.await.unwrap().unwrap();
        assert_eq!(prompt(&client, "old", &listener).await.unwrap().text, "new a");
        for method in [first, second] {
            let refused = reopen(&client, &stage, method, &other).1.await.unwrap();
            assert_code(&refused, ErrorCode::SessionAlreadyOpen);
        }
        // Nor does the end of the refused calls, or of whoever made them, take it away.
        client.connection().drop_session_of("old", Arc::clone(other.outbox()));
        prompt(&client, "old", &listener).await.unwrap();
        stage.end(client).await;
        assert!(other.heard().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_opening_failed_or_was_let_go_or_that_was_dropped_is_opened_anew() {
    let stage = Stage::new();
    let script = failing_once()
        .expect("session/load")
        .expect("$/cancel_request")
        .expect("session/load")
        .respond("session/load", json!({}))
        .expect("session/load")
        .respond("session/load", json!({}))
        .prompt_begin()
        .prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let listener = Listener::new();
    assert_code(&reopen(&client, &stage, "session/load", &listener).1.await.unwrap(), ErrorCode::AgentError);
    let (call, given_up) = reopen(&client, &stage, "session/load", &listener);
    client.connection().abandon(call, abandoned());
    assert_code(&given_up.await.unwrap(), ErrorCode::Aborted);
    reopen(&client, &stage, "session/load", &listener).1.await.unwrap().unwrap();
    client.connection().drop_session("old");
    reopen(&client, &stage, "session/load", &listener).1.await.unwrap().unwrap();
    prompt(&client, "old", &listener).await.unwrap();
    stage.end(client).await;
}

/// A host whose sessions have no owner but their id opens one anew that is idle; where that fails it still has the old one.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_makes_way_is_there_again_when_the_opening_fails() {
    let stage = Stage::new();
    let script = loading()
        .expect("session/load")
        .respond("session/load", json!({}))
        .expect("session/load")
        .update_in("old", chunk("agent_message_chunk", "history"))
        .respond_error("session/load", json!({"code": -32603, "message": "no"}))
        .expect("session/load")
        .expect("$/cancel_request")
        .prompt_begin()
        .text("first")
        .prompt_end("end_turn")
        .expect("session/load")
        .respond("session/load", json!({}))
        .prompt_begin()
        .text("second")
        .prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let (old, new) = (Listener::new(), Listener::new());
    let taking_over = |listener: &Arc<Listener>| {
        let spec = SessionSpec { take_over: true, ..listener.spec(ViewKind::Events) };
        let (reply, opened) = oneshot::channel();
        let request = stage.session_request();
        let call =
            client.open("session/load", Some("old"), &request, spec, Box::new(|outcome| drop(reply.send(outcome))));
        (call, opened)
    };
    taking_over(&old).1.await.unwrap().unwrap();
    assert_code(&taking_over(&new).1.await.unwrap(), ErrorCode::AgentError);
    let (call, given_up) = taking_over(&new);
    assert_code(&taking_over(&new).1.await.unwrap(), ErrorCode::SessionAlreadyOpen);
    client.connection().abandon(call, abandoned());
    assert_code(&given_up.await.unwrap(), ErrorCode::Aborted);
    assert_eq!(prompt(&client, "old", &old).await.unwrap().text, "first");
    old.hears(Kind::Text, "first").await;
    taking_over(&new).1.await.unwrap().unwrap();
    // Whoever had it has it no more, and takes it from nobody.
    client.connection().drop_session_of("old", Arc::clone(old.outbox()));
    assert_eq!(prompt(&client, "old", &new).await.unwrap().text, "second");
    new.hears(Kind::Text, "second").await;
    assert!(!old.of(Kind::Text).iter().any(|text| text == "second"));
    stage.end(client).await;
}

/// The agent gives the id that is being opened to a new session: the end of the opening is not the end of that one.
#[tokio::test(flavor = "multi_thread")]
async fn an_id_given_away_while_it_is_opened_stays_with_its_new_owner() {
    for (fails, code) in [(true, ErrorCode::AgentError), (false, ErrorCode::SessionUnusable)] {
        let stage = Stage::new();
        let script = loading().expect("session/load").session_new("old");
        let script = if fails {
            script.respond_error("session/load", json!({"code": -32002, "message": "no such session"}))
        } else {
            script.respond("session/load", json!({}))
        };
        let client = stage.launch(&script.prompt_begin().text("mine").prompt_end("end_turn")).await;
        let (listener, other) = (Listener::new(), Listener::new());
        let (_, opened) = reopen(&client, &stage, "session/load", &other);
        assert_eq!(open(&client, &stage, &listener).await.unwrap(), "old");
        assert_code(&opened.await.unwrap(), code);
        assert_eq!(prompt(&client, "old", &listener).await.unwrap().text, "mine");
        stage.end(client).await;
        assert_eq!((listener.text(), other.text()), ("mine".to_owned(), String::new()));
    }
}

/// A session opened for a caller who had left stays open while somebody else opens it. If he fails or leaves, too, it is closed.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_opened_for_nobody_is_closed_whoever_tried_again() {
    for leaves in [false, true] {
        let stage = Stage::new();
        let capabilities = json!({"agentCapabilities": {"loadSession": true, "sessionCapabilities": {"close": {}}}});
        let failure = json!({"code": -32603, "message": "no"});
        let mut script = Script::new()
            .options(Options { strict: Some(true), ..Options::default() })
            .then(Script::new().initialize_with(capabilities))
            .expect_as("session/load", "one")
            .expect("$/cancel_request")
            .expect_as("session/load", "two")
            .respond("one", json!({}))
            .notify("_test/opened", json!({}));
        if leaves {
            script = script.expect("$/cancel_request");
        }
        let script = script.respond_error("two", failure);
        let script =
            script.expect_params("session/close", json!({"sessionId": "old"})).respond("session/close", json!({}));
        let client = stage.launch(&script.expect("_test/end")).await;
        let listener = Listener::new();
        let (one, first) = reopen(&client, &stage, "session/load", &listener);
        client.connection().abandon(one, abandoned());
        assert_code(&first.await.unwrap(), ErrorCode::Aborted);
        let (two, second) = reopen(&client, &stage, "session/load", &listener);
        if leaves {
            eventually("the late answer", || client.diagnostics().late_responses == 1).await;
            client.connection().abandon(two, abandoned());
        }
        assert_code(&second.await.unwrap(), if leaves { ErrorCode::Aborted } else { ErrorCode::AgentError });
        eventually("the answer to the close", || client.diagnostics().messages_received >= 5).await;
        client.connection().notify("_test/end", None).unwrap();
        stage.end(client).await;
    }
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
