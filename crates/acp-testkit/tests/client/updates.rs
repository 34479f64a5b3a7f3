//! What updates mean (C34, C35, C37, C38), and the end of an elicitation that nobody knows (C60).

use std::sync::Arc;

use acp_runtime::capabilities::Offers;
use acp_runtime::client::Client;
use acp_runtime::delivery::Kind;
use acp_runtime::port::PermissionDecision;
use acp_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Decider, Listener, Stage, one_turn, open, opened, prompt, prompted, shown};

fn text_of(message: Option<&str>, text: &str) -> Value {
    let mut update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    if let Some(id) = message {
        update["messageId"] = id.into();
    }
    update
}

#[tokio::test(flavor = "multi_thread")]
async fn c34_a_change_of_the_id_is_a_new_message() {
    let odd = "\u{1f600} b/../<id>";
    let pieces = [(Some("a"), "1"), (Some("a"), "2"), (Some(odd), "3"), (None, "4"), (Some(odd), "5")];
    let script = pieces.iter().fold(prompted(), |script, (id, text)| script.update(text_of(*id, text)));
    let (outcome, listener, _) = one_turn(&script.prompt_end("end_turn")).await;
    assert_eq!(outcome.text, "12345");
    let heard: Vec<_> = listener
        .heard()
        .into_iter()
        .filter(|(kind, _)| matches!(kind, Kind::Text | Kind::MessageId))
        .map(|(kind, text)| if kind == Kind::Text { text } else { format!("<{text}>") })
        .collect();
    assert_eq!(heard.concat(), format!("<a>12<{odd}>3<>4<{odd}>5"));
}

/// What the host knows of a tool call after these updates.
async fn known_of_the_call(updates: &[Value]) -> Value {
    let stage = Stage::new();
    let script = updates.iter().fold(prompted(), |script, update| script.update(update.clone()));
    let question = json!({"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": []});
    let script = script.request("asked", "session/request_permission", question).expect_result("asked", json!({}));
    let host = Decider::always(PermissionDecision::Deny);
    let (client, listener) = opened(&stage, &script.prompt_end("end_turn"), host.clone()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    assert_eq!(listener.of(Kind::Update).len(), updates.len(), "every one is told");
    let asked = host.asked.lock().unwrap();
    shown(&asked[0])
}

fn call(kind: &str, fields: Value) -> Value {
    let mut update = json!({"sessionUpdate": kind, "toolCallId": "t"});
    update.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    update
}

#[tokio::test(flavor = "multi_thread")]
async fn c35_absent_and_null_leave_a_tool_call_as_it_was() {
    let full = json!({
        "title": "Run", "name": "bash", "kind": "execute", "status": "pending",
        "content": [{"type": "content", "content": {"type": "text", "text": "old"}}],
        "locations": [{"path": "/w/a"}], "rawInput": {"command": "rm -r build"}, "rawOutput": "none",
    });
    let nothing = json!({
        "title": null, "name": null, "kind": null, "status": "in_progress",
        "content": null, "locations": null, "rawInput": null, "rawOutput": null,
    });
    let known = known_of_the_call(&[
        call("tool_call", full.clone()),
        call("tool_call_update", nothing),
        call("tool_call_update", json!({})),
    ])
    .await;
    let mut expected = full;
    expected["toolCallId"] = "t".into();
    expected["status"] = "in_progress".into();
    expected["incomplete"] = false.into();
    assert_eq!(known, expected);
    let replaced = json!({"content": [], "title": "Run it"});
    let known =
        known_of_the_call(&[call("tool_call", json!({"title": "Run"})), call("tool_call_update", replaced)]).await;
    assert_eq!(known["title"], "Run it");
}

#[tokio::test(flavor = "multi_thread")]
async fn c37_an_update_of_an_unknown_call_and_a_second_announcement_are_taken() {
    let known = known_of_the_call(&[call("tool_call_update", json!({"status": "completed", "title": "Late"}))]).await;
    assert_eq!((known["title"].as_str(), known["status"].as_str()), (Some("Late"), Some("completed")));
    let twice = [
        call("tool_call", json!({"title": "First", "kind": "read"})),
        call("tool_call", json!({"title": "Second", "status": "pending"})),
    ];
    let known = known_of_the_call(&twice).await;
    assert_eq!((known["title"].as_str(), known["kind"].as_str()), (Some("Second"), Some("read")));
}

#[tokio::test(flavor = "multi_thread")]
async fn c38_a_notice_is_shown_and_changes_nothing() {
    let notice = |severity: &str| json!({"sessionUpdate": "notice", "severity": severity, "title": "Something"});
    let script = prompted()
        .text("before")
        .update(notice("error"))
        .update(notice("_vendor"))
        .update(notice("info"))
        .text(" after")
        .prompt_end("end_turn");
    let (outcome, listener, diagnostics) = one_turn(&script).await;
    assert_eq!((outcome.text.as_str(), outcome.stop_reason.as_deref()), ("before after", Some("end_turn")));
    let shown: Vec<Value> = listener.of(Kind::Update).iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let severities: Vec<_> = shown.iter().map(|notice| notice["severity"].as_str().unwrap()).collect();
    assert_eq!((severities, diagnostics.dropped_updates), (vec!["error", "_vendor", "info"], 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn c60_the_end_of_an_elicitation_that_nobody_knows_is_nothing() {
    let complete = |script: Script, params: Value| script.notify("elicitation/complete", params);
    let script = complete(prompted(), json!({"elicitationId": "never-was"}));
    let script = complete(complete(script, json!({"elicitationId": 5})), json!({}));
    let stage = Stage::new();
    let mut options = stage.options(&script.expect_silence(200).text("fine").prompt_end("end_turn"));
    options.offers = Offers { elicitation_url: true, ..Offers::default() };
    let client = Client::launch(options, Arc::new(acp_runtime::port::DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "fine");
    stage.end(client).await;
}
