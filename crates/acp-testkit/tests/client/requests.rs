//! What the agent asks and tells: every request gets exactly one answer, every notification none (W09, W13, C5–C9, C49–C51).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use acp_runtime::connection::{CallOptions, CancelState};
use acp_runtime::error::{Error, ErrorCode, Phase};
use acp_runtime::port::{BoxFuture, DenyAll, Host, PermissionDecision, PermissionRequest};
use acp_runtime::session::TurnOptions;
use acp_runtime::wire::encode::Answer;
use acp_testkit::Script;
use serde_json::json;
use serde_json::value::RawValue;

use crate::support::{
    Decider, PATIENCE, Stage, begin, case, eventually, one_turn, opened, patient, prompt, prompted, shown,
};

#[tokio::test(flavor = "multi_thread")]
async fn w09_c06_ids_are_echoed_as_they_were_written() {
    let (outcome, _, diagnostics) = one_turn(&case("w09_agent_ids")).await;
    assert_eq!((outcome.text.as_str(), diagnostics.refused_requests), ("all answered", 7));
}

#[tokio::test(flavor = "multi_thread")]
async fn w09_our_ids_may_come_back_as_text() {
    let (outcome, _, diagnostics) = one_turn(&case("w09_answer_with_text_id")).await;
    assert_eq!((outcome.text.as_str(), diagnostics.quirks), ("fine", 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn w13_c14_what_is_not_offered_is_refused_at_once() {
    let (outcome, _, diagnostics) = one_turn(&case("w13_unanswered_request")).await;
    assert_eq!((outcome.text.as_str(), diagnostics.refused_requests), ("drained", 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn c09_unknown_requests_are_refused_and_unknown_notifications_ignored() {
    let stage = Stage::new();
    let mut script = prompted();
    for method in ["foo/bar", "_x/y", "$/unknown", "terminal/create", "fs/write_text_file", "elicitation/create"] {
        script = script
            .notify(method, json!({"sessionId": "s1"}))
            .request(method, method, json!({"sessionId": "s1"}))
            .expect_error(method, json!({"code": -32601, "data": {"method": method}}));
    }
    let host = Decider::undecided();
    let (client, listener) = opened(&stage, &script.prompt_end("end_turn"), host.clone()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    let notified = host.notified.lock().unwrap().clone();
    assert_eq!(notified, ["foo/bar", "_x/y", "terminal/create", "fs/write_text_file", "elicitation/create"]);
    eventually("the end, told to the host", || host.closed.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c05_a_malformed_notification_is_not_answered() {
    let update = |params: serde_json::Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    let script = prompted()
        .send(update(json!({})))
        .send(update(json!([1])))
        .send(update(json!({"sessionId": 5, "update": {}})))
        .send(update(json!({"sessionId": "s1"})))
        .send(json!({"jsonrpc": "2.0", "method": "session/update"}))
        .send(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": {}}}))
        .expect_silence(300)
        .text("quiet")
        .prompt_end("end_turn");
    let (outcome, _, diagnostics) = one_turn(&script).await;
    assert_eq!((outcome.text.as_str(), diagnostics.dropped_updates), ("quiet", 5));
}

/// A host whose code is broken in every way that the type system allows.
struct Broken {
    dropped: Arc<AtomicBool>,
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Host for Broken {
    fn permission(&self, request: PermissionRequest) -> BoxFuture<PermissionDecision> {
        assert!(shown(&request)["toolCallId"] != "at-once", "the host panics when it is called");
        Box::pin(async { panic!("the host panics when it is awaited") })
    }

    fn extension_request(&self, _: Option<&str>, method: &str, _: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
        assert!(method != "_x/panic", "the host panics when it is called");
        if method == "_x/late-panic" {
            return Some(Box::pin(async { panic!("the host panics when it is awaited") }));
        }
        let guard = SetOnDrop(Arc::clone(&self.dropped));
        Some(Box::pin(async move {
            let _guard = guard;
            std::future::pending().await
        }))
    }

    fn notification(&self, _: &str, _: Option<&RawValue>) {
        panic!("the host panics when it is told something");
    }

    fn closed(&self, _: &acp_runtime::error::ExitFacts) {
        panic!("the host panics at the end");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c07_a_broken_host_still_answers_once() {
    let stage = Stage::new();
    let dropped = Arc::new(AtomicBool::new(false));
    let host = Arc::new(Broken { dropped: Arc::clone(&dropped) });
    let ask = |name: &str| {
        let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
        json!({"sessionId": "s1", "toolCall": {"toolCallId": name}, "options": options})
    };
    let failed = json!({"code": -32603});
    // Without a way to reject, a denial is `cancelled`.
    let denied = json!({"outcome": {"$exact": {"outcome": "cancelled"}}});
    let script = prompted()
        .notify("_x/told", json!({}))
        .request("p1", "session/request_permission", ask("at-once"))
        .expect_result("p1", denied.clone())
        .request("p2", "session/request_permission", ask("later"))
        .expect_result("p2", denied)
        .request("e1", "_x/panic", json!({}))
        .expect_error("e1", failed.clone())
        .request("e2", "_x/late-panic", json!({}))
        .expect_error("e2", failed)
        // C49: never answered by the host, and taken back by the agent.
        .request("e3", "_x/never", json!({}))
        .notify("$/cancel_request", json!({"requestId": "{{e3.id}}"}))
        .expect_error("e3", json!({"code": -32800}))
        .notify("$/cancel_request", json!({"requestId": "{{e3.id}}"}))
        .expect_silence(200)
        .text("alive")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, host).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "alive");
    assert!(dropped.load(Ordering::SeqCst), "the host's work is dropped with the request");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c49_a_permission_request_that_is_taken_back_is_answered_cancelled() {
    let stage = Stage::new();
    let script = prompted()
        .permission("asked", json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]))
        .notify("$/cancel_request", json!({"requestId": "{{asked.id}}"}))
        .expect_result("asked", json!({"outcome": {"$exact": {"outcome": "cancelled"}}}))
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Decider::undecided()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
}

/// A host that answers nothing, ever.
struct Never;

impl Host for Never {
    fn permission(&self, _: PermissionRequest) -> BoxFuture<PermissionDecision> {
        Box::pin(std::future::pending())
    }

    fn extension_request(&self, _: Option<&str>, _: &str, _: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
        Some(Box::pin(std::future::pending()))
    }
}

/// C7, C50: what is open when the host closes is answered while the pipe is alive, and so is what comes after.
#[tokio::test(flavor = "multi_thread")]
async fn c50_closing_answers_what_is_open() {
    let stage = Stage::new();
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let script = prompted()
        .request("work", "_x/never", json!({}))
        .permission("asked", options.clone())
        .text("open")
        .expect("session/cancel")
        .expect_error("work", json!({"code": -32800}))
        .expect_result("asked", json!({"outcome": {"outcome": "cancelled"}}))
        .permission("again", options)
        .expect_result("again", json!({"outcome": {"outcome": "cancelled"}}))
        .request("more", "_x/never", json!({}))
        .expect_error("more", json!({"code": -32800}))
        .prompt_end("cancelled");
    let (client, listener) = opened(&stage, &script, Arc::new(Never)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(acp_runtime::delivery::Kind::Text, "open").await;
    let mut close = patient();
    close.turn_grace = PATIENCE;
    let info = client.close(close).await;
    assert_eq!(info.exit.exit_code, Some(0), "{}", client.stderr());
    let outcome = turn.await.unwrap().unwrap();
    assert_eq!((outcome.stop_reason.as_deref(), outcome.forced), (Some("cancelled"), false));
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread")]
async fn c51_a_call_that_was_given_up_leaves_its_late_answer_to_nobody() {
    let stage = Stage::new();
    let script = Script::new()
        .initialize()
        .expect("_x/slow")
        .expect_params("$/cancel_request", json!({"requestId": "{{_x/slow.id}}"}))
        .respond("_x/slow", json!({"late": true}))
        .expect("_x/timed")
        .expect_params("$/cancel_request", json!({"requestId": "{{_x/timed.id}}"}))
        .respond("_x/timed", json!({"late": true}))
        .expect("_x/next")
        .respond("_x/next", json!({"fine": true}));
    let client = stage.launch(&script).await;
    let connection = client.connection();
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let reply = Box::new(move |outcome| drop(sender.send(outcome)));
    let id = connection.call_with("_x/slow", None, CallOptions::plain(Phase::Session), reply);
    connection.abandon(id, Error::new(ErrorCode::Aborted, "enough"));
    assert_eq!(receiver.await.unwrap().unwrap_err().code(), ErrorCode::Aborted);
    let options = CallOptions::plain(Phase::Session).timeout(Some(Duration::from_millis(100)));
    assert_eq!(connection.call("_x/timed", None, options).await.unwrap_err().code(), ErrorCode::Timeout);
    let next = connection.call("_x/next", None, CallOptions::plain(Phase::Session)).await.unwrap();
    assert_eq!(next.get(), r#"{"fine":true}"#);
    eventually("the late answers", || client.diagnostics().late_responses == 2).await;
    stage.end(client).await;
}

/// A call to something that was not advertised, and one to a session that is not open, send nothing.
#[tokio::test(flavor = "multi_thread")]
async fn c08_c32_what_cannot_be_sent_is_refused_here() {
    let stage = Stage::new();
    let script = Script::new().initialize().expect_silence(300).expect_eof();
    let client = stage.launch(&script).await;
    let connection = client.connection();
    let plain = || CallOptions::plain(Phase::Session);
    let refused = connection.call("session/load", None, plain()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnsupportedCapability);
    assert_eq!(connection.call("made/up", None, plain()).await.unwrap_err().code(), ErrorCode::InvalidArgument);
    let turn = begin(&client, "nobody", None, TurnOptions::default());
    assert_eq!(turn.await.unwrap().unwrap_err().code(), ErrorCode::SessionUnusable);
    assert_eq!(connection.cancel("nobody", PATIENCE).await, CancelState::Idle);
    // C8, C32.
    let image = RawValue::from_string(r#"[{"type":"image","data":"","mimeType":"image/png"}]"#.into()).unwrap();
    let refused = acp_runtime::ask::prompt(&client, "s1", &image, TurnOptions::default()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnsupportedCapability);
    let mut request = stage.session_request();
    request.cwd = "relative".into();
    assert_eq!(acp_runtime::ask::open(&client, &request).await.unwrap_err().code(), ErrorCode::InvalidArgument);
    tokio::time::sleep(Duration::from_millis(300)).await;
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn denying_is_the_default() {
    let stage = Stage::new();
    let script = prompted()
        .permission("asked", json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]))
        .expect_result("asked", json!({"outcome": {"outcome": "cancelled"}}))
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
}

/// Whatever a session has asked is answered when it goes, each kind in its own way.
#[tokio::test(flavor = "multi_thread")]
async fn c07_what_a_session_has_asked_is_answered_when_it_goes() {
    struct Never;
    impl Host for Never {
        fn permission(&self, _: PermissionRequest) -> BoxFuture<PermissionDecision> {
            Box::pin(std::future::pending())
        }
        fn elicitation(&self, _: Option<&str>, _: &RawValue) -> BoxFuture<Answer> {
            Box::pin(std::future::pending())
        }
        fn extension_request(&self, _: Option<&str>, _: &str, _: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
            Some(Box::pin(std::future::pending()))
        }
    }
    let form = json!({"sessionId": "s1", "mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}});
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let permission = json!({"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": options});
    let stage = Stage::new();
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .request("permission", "session/request_permission", permission)
        .request("form", "elicitation/create", form)
        .request("other", "_x/ask", json!({"sessionId": "s1"}))
        .request("mine", "_x/ask", json!({"sessionId": "s2"}))
        .notify("_test/asked", json!({}))
        .expect_result("permission", json!({"outcome": {"outcome": "cancelled"}}))
        .expect_result("form", json!({"action": "cancel"}))
        .expect_error("other", json!({"code": -32800}))
        .expect("_test/dropped")
        .expect_silence(100);
    let mut launch = stage.options(&script);
    launch.offers.elicitation_form = true;
    let client = acp_runtime::client::Client::launch(launch, Arc::new(Never)).await.unwrap();
    let listener = crate::support::Listener::new();
    for _ in 0..2 {
        crate::support::open(&client, &stage, &listener).await.unwrap();
    }
    eventually("all questions", || client.diagnostics().messages_received >= 8).await;
    client.connection().drop_session("s1");
    client.connection().notify("_test/dropped", None).unwrap();
    // The other session's question waits on.
    client.close(patient()).await;
    stage.assert_empty();
}
