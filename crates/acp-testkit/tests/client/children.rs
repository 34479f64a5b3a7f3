//! Child sessions: their updates and questions go to the session that is known to own them, and nowhere else (C40, S23).
#![expect(clippy::similar_names, reason = "the state of a session, on the stage of a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_runtime::connection::CancelState;
use acp_runtime::delivery::Kind;
use acp_runtime::error::ErrorCode;
use acp_runtime::port::{DenyAll, PermissionDecision};
use acp_runtime::session::TurnOptions;
use acp_testkit::Script;
use acp_testkit::script::Options;
use serde_json::{Value, json};

use crate::state::of;
use crate::support::{
    Decider, Listener, PATIENCE, Stage, assert_code, begin, eventually, open, opened, prompt, prompted, shown,
};

fn announce(child: &str) -> Value {
    json!({"sessionUpdate": "subagent_update", "sessionId": child, "title": "Helper", "state": {"state": "running"}})
}

fn ask(session: &str) -> Value {
    let options = json!([
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    json!({"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": options})
}

fn selected(id: &str) -> Value {
    json!({"outcome": {"$exact": {"outcome": "selected", "optionId": id}}})
}

fn call(title: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": title})
}

#[tokio::test(flavor = "multi_thread")]
async fn c40_what_a_child_says_is_told_as_its_own_and_is_no_part_of_the_turns_text() {
    let stage = Stage::new();
    let script = prompted()
        .text("before ")
        .text_in("child", "too early")
        .update(announce("child"))
        .text_in("child", "inside")
        .update_in("child", call("child's"))
        .update_in("child", announce("grandchild"))
        .text_in("grandchild", "deep")
        .text("after")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "before after");
    let state = of(&client, "s1");
    let diagnostics = client.diagnostics();
    stage.end(client).await;

    let mut heard: Vec<_> = listener.heard();
    heard.retain(|(kind, _)| matches!(kind, Kind::Text | Kind::Child));
    let expected = [
        (Kind::Text, "before "),
        (Kind::Child, "child"),
        (Kind::Text, "inside"),
        (Kind::Child, "grandchild"),
        (Kind::Text, "deep"),
        (Kind::Child, ""),
        (Kind::Text, "after"),
    ];
    assert_eq!(heard, expected.map(|(kind, text)| (kind, text.to_owned())));
    assert_eq!(diagnostics.dropped_updates, 1, "what came before the announcement had no owner");
    assert_eq!(
        (&state["messages"][0]["content"][0]["text"], state["toolCalls"].as_array().unwrap().len()),
        (&json!("before after"), 0)
    );
    let [child, grandchild] = &state["subagents"].as_array().unwrap()[..] else { panic!("two children in {state}") };
    assert_eq!(
        (&child["title"], &child["session"]["messages"][0]["content"][0]["text"]),
        (&json!("Helper"), &json!("inside"))
    );
    assert_eq!(child["session"]["toolCalls"][0]["title"], "child's");
    assert_eq!(
        (&grandchild["parentSessionId"], &grandchild["session"]["messages"][0]["content"][0]["text"]),
        (&json!("child"), &json!("deep"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_asks_the_host_of_its_parent_with_what_was_said_of_its_own_call() {
    let stage = Stage::new();
    let script = prompted()
        .update(call("parent's"))
        .update(announce("child"))
        .update_in("child", call("child's"))
        .request("q", "session/request_permission", ask("child"))
        .expect_result("q", selected("yes"))
        .prompt_end("end_turn");
    let host = Decider::always(PermissionDecision::AllowOnce);
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    let asked = host.asked.lock().unwrap();
    assert_eq!((asked[0].session_id.as_str(), asked[0].child_session_id.as_deref()), ("s1", Some("child")));
    assert_eq!(shown(&asked[0])["title"], "child's");
}

/// Two sessions are open and both run a turn: a question that neither is known to own is put to neither.
#[tokio::test(flavor = "multi_thread")]
async fn s23_a_question_of_nobodys_child_is_denied_without_asking_anybody() {
    let reject = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let only_yes = json!({"sessionId": "stranger", "toolCall": {"toolCallId": "t"}, "options": reject});
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin_in("s1", "p1")
        .prompt_begin_in("s2", "p2")
        .request("q1", "session/request_permission", ask("stranger"))
        .expect_result("q1", selected("no"))
        .request("q2", "session/request_permission", only_yes)
        .expect_result("q2", json!({"outcome": {"$exact": {"outcome": "cancelled"}}}))
        // A reference in a tool call establishes nothing.
        .update_in(
            "s1",
            json!({"sessionUpdate": "tool_call", "toolCallId": "x", "title": "T",
            "content": [{"type": "session", "sessionId": "stranger"}]}),
        )
        .request("q3", "session/request_permission", ask("stranger"))
        .expect_result("q3", selected("no"))
        .prompt_end_of("p1", "end_turn")
        .prompt_end_of("p2", "end_turn");
    let stage = Stage::new();
    let host = Decider::always(PermissionDecision::AllowOnce);
    let client = stage.launch_for(&script, host.clone()).await;
    let (one, two) = (Listener::new(), Listener::new());
    open(&client, &stage, &one).await.unwrap();
    open(&client, &stage, &two).await.unwrap();
    let turns = ["s1", "s2"].map(|id| begin(&client, id, None, TurnOptions::default()));
    for turn in turns {
        turn.await.unwrap().unwrap();
    }
    assert_eq!((host.asked(), client.diagnostics().refused_requests), (0, 3));
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parent_named_in_meta_links_its_child_if_it_is_open() {
    let said = |parent: &str, text: &str| {
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text},
            "_meta": {"vendor": {"parentSessionId": parent}}})
    };
    let stage = Stage::new();
    let script = prompted()
        .update_in("lost", said("nobody", "x"))
        .update_in("found", said("s1", "hello "))
        .text_in("found", "again")
        .update_in("of-found", said("found", "deeper"))
        .request("q", "session/request_permission", ask("of-found"))
        .expect_result("q", selected("yes"))
        .prompt_end("end_turn");
    let host = Decider::always(PermissionDecision::AllowOnce);
    let (client, listener) = opened(&stage, &script, host).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "");
    let state = of(&client, "s1");
    assert_eq!(client.diagnostics().dropped_updates, 1);
    stage.end(client).await;
    let texts: Vec<_> = state["subagents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|child| child["session"]["messages"][0]["content"][0]["text"].clone())
        .collect();
    assert_eq!(texts, ["hello again", "deeper"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_the_host_opened_is_nobodys_child() {
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin_in("s1", "p1")
        .update_in("s1", announce("s2"))
        .text_in("s2", "mine")
        .request("q", "session/request_permission", ask("s2"))
        .expect_result("q", selected("no"))
        .prompt_end_of("p1", "end_turn");
    let stage = Stage::new();
    let host = Decider::always(PermissionDecision::Deny);
    let client = stage.launch_for(&script, host.clone()).await;
    let (one, two) = (Listener::new(), Listener::new());
    open(&client, &stage, &one).await.unwrap();
    open(&client, &stage, &two).await.unwrap();
    begin(&client, "s1", None, TurnOptions::default()).await.unwrap().unwrap();
    two.hears(Kind::Text, "mine").await;
    stage.end(client).await;
    assert_eq!((one.text(), one.of(Kind::Child)), (String::new(), Vec::<String>::new()));
    let asked = host.asked.lock().unwrap();
    assert_eq!((asked[0].session_id.as_str(), asked[0].child_session_id.as_deref()), ("s2", None));
}

#[tokio::test(flavor = "multi_thread")]
async fn c43_a_cancel_answers_the_questions_of_children_too() {
    let stage = Stage::new();
    let script = prompted()
        .update(announce("child"))
        .request("q", "session/request_permission", ask("child"))
        .expect_params("session/cancel", json!({"sessionId": "s1"}))
        .expect_result("q", json!({"outcome": {"$exact": {"outcome": "cancelled"}}}))
        .prompt_end("cancelled");
    let host = Decider::undecided();
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    eventually("the question", || host.asked() == 1).await;
    assert_eq!(client.connection().cancel("s1", PATIENCE).await, CancelState::Cancelled);
    turn.await.unwrap().unwrap();
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn children_end_with_their_session() {
    let stage = Stage::new();
    let script = prompted()
        .update(announce("child"))
        .prompt_end("end_turn")
        .expect("_test/dropped")
        .text_in("child", "for nobody")
        .request("q", "session/request_permission", ask("child"))
        .expect_result("q", selected("no"));
    let host = Decider::always(PermissionDecision::AllowOnce);
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    client.connection().drop_session("s1");
    client.connection().notify("_test/dropped", None).unwrap();
    eventually("the text", || client.diagnostics().dropped_updates == 1).await;
    stage.end(client).await;
    assert_eq!(host.asked(), 0);
}

fn cancellable(child: &str, capabilities: Value) -> Value {
    json!({"sessionUpdate": "subagent_update", "sessionId": child, "capabilities": capabilities, "state": {"state": "running"}})
}

fn cancelled() -> Value {
    json!({"outcome": {"$exact": {"outcome": "cancelled"}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn c40_a_child_that_offers_it_is_cancelled_alone() {
    let stage = Stage::new();
    let idle = json!({"sessionUpdate": "subagent_update", "sessionId": "child", "state": {"state": "idle"}});
    let told = |script: Script| script.expect_params("session/cancel", json!({"$exact": {"sessionId": "child"}}));
    let script = prompted()
        .update(call("parent's"))
        .update(cancellable("child", json!({"cancel": {}})))
        .update(announce("sibling"))
        .update_in("child", call("child's"))
        .request("q", "session/request_permission", ask("child"))
        .request("other", "session/request_permission", ask("sibling"));
    let script = told(script)
        .expect_result("q", cancelled())
        // What it asks before it has come to rest is cancelled at once, and it is told once.
        .request("late", "session/request_permission", ask("child"))
        .expect_result("late", cancelled())
        .update_in("child", idle)
        .request("new", "session/request_permission", ask("child"))
        .expect_result("new", selected("yes"))
        .text("rested");
    let script = told(script).prompt_end("end_turn").expect_result("other", cancelled());
    let host = Decider::new(|_, request| {
        let tool = request.child_session_id;
        Box::pin(async move {
            static FIRST: AtomicBool = AtomicBool::new(true);
            if tool.as_deref() == Some("sibling") || FIRST.swap(false, Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            PermissionDecision::AllowOnce
        })
    });
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    eventually("both questions", || host.asked() == 2).await;
    client.connection().cancel_child("s1", "child").await.unwrap();
    let state = of(&client, "s1");
    client.connection().cancel_child("s1", "child").await.unwrap();
    listener.hears(Kind::Text, "rested").await;
    client.connection().cancel_child("s1", "child").await.unwrap();
    assert!(!turn.await.unwrap().unwrap().cancel_requested);
    stage.end(client).await;
    assert_eq!(host.asked(), 3, "the late question reached nobody");
    assert_eq!(state["subagents"][0]["session"]["toolCalls"][0]["status"], "cancelled");
    assert_ne!(state["toolCalls"][0]["status"], "cancelled");
}

/// The agent is strict: nothing of what is refused here reaches it.
#[tokio::test(flavor = "multi_thread")]
async fn c40_a_child_that_does_not_offer_it_is_not_cancelled_alone() {
    let stage = Stage::new();
    let mut script = Script::new()
        .options(Options { strict: Some(true), ..Options::default() })
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin_in("s1", "p1")
        .update_in("s1", announce("said nothing"))
        .update_in("s1", cancellable("taken back", json!({"cancel": {}})))
        .update_in("s1", cancellable("taken back", Value::Null))
        .update_in("s1", cancellable("patched away", json!({"cancel": {}})))
        .update_in("s1", cancellable("patched away", json!({})));
    let wrong =
        [json!({}), json!({"cancel": null}), json!({"cancel": true}), json!({"cancel": []}), json!(true), json!([])];
    for (i, capabilities) in wrong.iter().enumerate() {
        script = script.update_in("s1", cancellable(&i.to_string(), capabilities.clone()));
    }
    let script = script
        .update_in("s1", cancellable("fine", json!({"cancel": {}})))
        // A session that the host opened is nobody's child.
        .update_in("s1", cancellable("s2", json!({"cancel": {}})))
        .prompt_end_of("p1", "end_turn")
        .expect("_test/end");
    let client = stage.launch(&script).await;
    let (one, two) = (Listener::new(), Listener::new());
    open(&client, &stage, &one).await.unwrap();
    open(&client, &stage, &two).await.unwrap();
    begin(&client, "s1", None, TurnOptions::default()).await.unwrap().unwrap();
    let refused = async |session: &str, child: &str, code| {
        assert_code(&client.connection().cancel_child(session, child).await, code);
    };
    for child in ["said nothing", "taken back", "patched away", "0", "1", "2", "3", "4", "5"] {
        refused("s1", child, ErrorCode::UnsupportedCapability).await;
    }
    for (session, child) in [("s1", "unknown"), ("s1", "s1"), ("s1", "s2"), ("s2", "fine")] {
        refused(session, child, ErrorCode::InvalidArgument).await;
    }
    refused("nowhere", "fine", ErrorCode::SessionUnusable).await;
    client.connection().drop_session("s1");
    refused("s1", "fine", ErrorCode::SessionUnusable).await;
    client.connection().notify("_test/end", None).unwrap();
    stage.end(client).await;
}
