//! Cancelling a turn (S04, S06, C43, C45–C48).

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::connection::CancelState;
use acp_runtime::delivery::Kind;
use acp_runtime::error::ErrorCode;
use acp_runtime::port::{DenyAll, PermissionDecision};
use acp_runtime::session::TurnOptions;
use acp_testkit::Script;
use serde_json::json;

use crate::support::{
    Decider, Listener, PATIENCE, Stage, assert_code, begin, case, eventually, open, opened, prompt, prompted,
};

#[tokio::test(flavor = "multi_thread")]
async fn s06_c43_c45_an_open_question_is_answered_and_late_text_is_taken() {
    let stage = Stage::new();
    let host = Decider::undecided();
    let (client, listener) = opened(&stage, &case("s06_permission_at_cancel"), host.clone()).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    eventually("the question", || host.asked() == 1).await;
    assert_eq!(client.connection().cancel("s1", PATIENCE).await, CancelState::Cancelled);
    let outcome = turn.await.unwrap().unwrap();
    assert_eq!((outcome.text.as_str(), outcome.stop_reason.as_deref()), ("askinglate", Some("cancelled")));
    assert!(outcome.cancel_requested && !outcome.forced);
    stage.end(client).await;
}

/// C43: all questions of that session, none of another; the host's late answers change nothing.
#[tokio::test(flavor = "multi_thread")]
async fn c43_c46_exactly_the_questions_of_the_session_are_answered() {
    let ask = |session: &str, id: &str| {
        let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
        json!({"sessionId": session, "toolCall": {"toolCallId": id}, "options": options})
    };
    let cancelled = json!({"outcome": {"$exact": {"outcome": "cancelled"}}});
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin_in("s1", "p1")
        .prompt_begin_in("s2", "p2")
        .request("a", "session/request_permission", ask("s1", "a"))
        .request("b", "session/request_permission", ask("s1", "b"))
        .request("c", "session/request_permission", ask("s2", "c"))
        .expect_params("session/cancel", json!({"sessionId": "s1"}))
        .expect_result("a", cancelled.clone())
        .expect_result("b", cancelled.clone())
        // C46: asked after the cancel.
        .request("d", "session/request_permission", ask("s1", "d"))
        .expect_result("d", cancelled)
        .expect_silence(200)
        .prompt_end_of("p1", "cancelled")
        .expect_result("c", json!({"outcome": {"optionId": "yes"}}))
        .prompt_end_of("p2", "end_turn");
    let stage = Stage::new();
    let (release, released) = tokio::sync::watch::channel(false);
    let host = Decider::new(move |_, _| {
        let mut released = released.clone();
        Box::pin(async move {
            let _ = released.wait_for(|released| *released).await;
            PermissionDecision::AllowOnce
        })
    });
    let client = stage.launch_for(&script, host.clone()).await;
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    open(&client, &stage, &listener).await.unwrap();
    let one = begin(&client, "s1", Some(&listener), TurnOptions::default());
    let two = begin(&client, "s2", Some(&listener), TurnOptions::default());
    eventually("three questions", || host.asked() == 3).await;
    assert_eq!(client.connection().cancel("s1", PATIENCE).await, CancelState::Cancelled);
    assert_eq!(one.await.unwrap().unwrap().stop_reason.as_deref(), Some("cancelled"));
    release.send(true).unwrap();
    assert_eq!(two.await.unwrap().unwrap().stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(host.asked(), 3, "the question after the cancel is not put to the host");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s04_an_ignored_cancel_is_forced_and_the_session_waits_for_what_it_is_owed() {
    let stage = Stage::new();
    let script = prompted()
        .text("working")
        .expect("session/cancel")
        .expect("_test/go")
        .text("still here")
        .prompt_end("cancelled")
        .prompt_begin()
        .text("new")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "working").await;
    assert_eq!(client.connection().cancel("s1", Duration::from_millis(50)).await, CancelState::Forced);
    let outcome = turn.await.unwrap().unwrap();
    assert!(outcome.forced && outcome.cancel_requested && outcome.result.is_none());
    assert_eq!((outcome.text.as_str(), outcome.stop_reason.as_deref()), ("working", Some("cancelled")));
    assert_code(&prompt(&client, "s1", &listener).await, ErrorCode::SessionUnusable);
    client.connection().notify("_test/go", None).unwrap();
    eventually("the response that was owed", || client.diagnostics().late_responses == 1).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "new");
    assert_eq!(listener.text(), "workingstill herenew", "late text is still delivered");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s04_c47_a_slow_cancel_and_an_early_one_are_waited_for() {
    let stage = Stage::new();
    let script = Script::new()
        .record(&stage.file("heard"))
        .then(prompted())
        .expect("session/cancel")
        .sleep(400)
        .prompt_end("cancelled")
        .prompt_begin()
        .expect_silence(200)
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    // At once, and three times: C47, at most one goes out.
    let connection = client.connection();
    let (a, b, c) = tokio::join!(
        connection.cancel("s1", PATIENCE),
        connection.cancel("s1", PATIENCE),
        connection.cancel("s1", PATIENCE)
    );
    assert_eq!([a, b, c], [CancelState::Cancelled; 3]);
    assert!(!turn.await.unwrap().unwrap().forced);
    assert_eq!(connection.cancel("s1", PATIENCE).await, CancelState::Idle);
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    let heard = std::fs::read_to_string(stage.file("heard")).unwrap();
    assert_eq!(heard.matches("session/cancel").count(), 1, "{heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn c45_what_comes_between_cancel_and_end_belongs_to_the_turn() {
    let script = prompted().text("0").expect("session/cancel").texts(5, "x{i}").prompt_end("cancelled");
    let stage = Stage::new();
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "0").await;
    client.connection().cancel("s1", PATIENCE).await;
    assert_eq!(turn.await.unwrap().unwrap().text, "0x0x1x2x3x4");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c48_an_error_after_a_cancel_is_a_cancelled_turn() {
    for error in [json!({"code": -32800, "message": "cancelled"}), json!({"code": -32603, "message": "aborted"})] {
        let stage = Stage::new();
        let script = prompted().text("some").expect("session/cancel").respond_error("prompt", error);
        let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
        let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
        listener.hears(Kind::Text, "some").await;
        assert_eq!(client.connection().cancel("s1", PATIENCE).await, CancelState::Cancelled);
        let outcome = turn.await.unwrap().unwrap();
        assert_eq!((outcome.stop_reason.as_deref(), outcome.text.as_str()), (Some("cancelled"), "some"));
        stage.end(client).await;
    }
}

/// A session that goes away while its turn is being cancelled leaves nobody waiting.
#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_session_ends_its_turn_and_its_cancel() {
    let stage = Stage::new();
    let script = prompted().text("working").expect("session/cancel").expect_eof().exit(0);
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "working").await;
    let cancelling = tokio::spawn({
        let client = client.clone();
        async move { client.connection().cancel("s1", PATIENCE).await }
    });
    // On the wire before the session is dropped.
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.connection().drop_session("s1");
    let error = turn.await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.details().partial_text.as_deref()), (ErrorCode::SessionUnusable, Some("working")));
    assert_eq!(cancelling.await.unwrap(), CancelState::Forced);
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_turn_at_a_time() {
    let stage = Stage::new();
    let script = prompted().expect("_test/go").prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    assert_code(&prompt(&client, "s1", &listener).await, ErrorCode::TurnInProgress);
    client.connection().notify("_test/go", None).unwrap();
    turn.await.unwrap().unwrap();
    stage.end(client).await;
}
