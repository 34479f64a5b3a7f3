//! Deciding about permissions (S07, S08, C52, C53).

use acp_runtime::delivery::Kind;
use acp_runtime::port::PermissionDecision::{self, AllowOnce, Cancel, Deny, Select};
use acp_runtime::services::permission::{Floor, OptionKind};
use acp_testkit::Script;
use acp_testkit::cases::session::{Offer, s07_options};
use serde_json::{Value, json};

use crate::support::{Decider, Listener, Stage, open, opened, prompt, prompted, shown};

/// The outcome that the agent saw.
async fn seen(offer: Offer, decision: PermissionDecision, floor: Floor) -> Value {
    let stage = Stage::new();
    let mut options = stage.options(&s07_options(offer));
    options.floor = floor;
    let client = acp_runtime::client::Client::launch(options, Decider::always(decision)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    let outcome = prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    serde_json::from_str(&outcome.text).unwrap()
}

fn selected(id: &str) -> Value {
    json!({"outcome": "selected", "optionId": id})
}

fn cancelled() -> Value {
    json!({"outcome": "cancelled"})
}

#[tokio::test(flavor = "multi_thread")]
async fn s07_c52_a_denial_never_becomes_an_approval_and_nothing_lasts() {
    use Floor::{AnyOffered, OnceOnly};
    use Offer::{All, Nothing, OnlyAllow};
    let cases = [
        (All, Deny, OnceOnly, selected("no")),
        (OnlyAllow, Deny, OnceOnly, cancelled()),
        (Nothing, Deny, OnceOnly, cancelled()),
        (All, AllowOnce, OnceOnly, selected("once")),
        (Nothing, AllowOnce, OnceOnly, cancelled()),
        (All, Cancel, OnceOnly, cancelled()),
        (All, Select("never".into()), OnceOnly, selected("no")),
        (All, Select("always".into()), OnceOnly, selected("no")),
        (All, Select("always".into()), AnyOffered, selected("always")),
        // C52: an option that was not offered.
        (All, Select("made-up".into()), AnyOffered, cancelled()),
    ];
    for (offer, decision, floor, expected) in cases {
        let shown = format!("{offer:?} {decision:?} {floor:?}");
        assert_eq!(seen(offer, decision, floor).await, expected, "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s08_several_ways_to_allow_are_shown_and_none_is_picked_by_itself() {
    let options: Vec<Value> =
        ["A", "B", "C", "D"].iter().map(|id| json!({"optionId": id, "name": id, "kind": "allow_once"})).collect();
    let script = prompted()
        .permission("first", json!(options))
        .expect_result("first", json!({"outcome": {"$exact": cancelled()}}))
        .permission("second", json!(options))
        .expect_result("second", json!({"outcome": {"$exact": selected("C")}}))
        .prompt_end("end_turn");
    let stage = Stage::new();
    let host = Decider::new(|number, _| {
        Box::pin(std::future::ready(if number == 0 { AllowOnce } else { Select("C".into()) }))
    });
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    let asked = host.asked.lock().unwrap();
    let ids: Vec<_> = asked[0].options.iter().map(|option| option.option_id.as_str()).collect();
    assert_eq!(ids, ["A", "B", "C", "D"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn c53_a_request_that_cannot_be_read_is_no_approval() {
    let tool = json!({"toolCallId": "t"});
    let unknown = json!([{"optionId": "s", "name": "Session", "kind": "allow_session"}, {"optionId": 5}, "x"]);
    let script = prompted()
        .request("a", "session/request_permission", json!({"sessionId": "s1"}))
        .expect_error("a", json!({"code": -32602}))
        .request("b", "session/request_permission", json!({"sessionId": 1, "toolCall": tool, "options": []}))
        .expect_error("b", json!({"code": -32602}))
        .request("c", "session/request_permission", json!({"sessionId": "ghost", "toolCall": tool, "options": []}))
        // Readable, but of a session that nobody has: denied, and nobody is asked.
        .expect_result("c", json!({"outcome": {"$exact": cancelled()}}))
        .request("d", "session/request_permission", json!({"sessionId": "s1", "toolCall": tool, "options": unknown}))
        .expect_result("d", json!({"outcome": {"$exact": cancelled()}}))
        .prompt_end("end_turn");
    let stage = Stage::new();
    let host = Decider::always(AllowOnce);
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    let asked = host.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].options[0].kind, OptionKind::Other("allow_session".into()));
}

/// The host sees everything that came before the question, and the whole tool call.
#[tokio::test(flavor = "multi_thread")]
async fn a_question_comes_after_what_was_said_before_it() {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "call-1", "title": "Delete", "kind": "delete", "status": "pending"});
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let tool_call = json!({"toolCallId": "call-1", "rawInput": {"path": "/x"}});
    let script = prompted()
        .text("before")
        .update(call)
        .request(
            "asked",
            "session/request_permission",
            json!({"sessionId": "s1", "toolCall": tool_call, "options": options}),
        )
        .expect_result("asked", json!({"outcome": {"$exact": selected("yes")}}))
        .prompt_end("end_turn");
    let stage = Stage::new();
    let listener = Listener::new();
    let heard = std::sync::Arc::clone(&listener);
    let host = Decider::new(move |_, request| {
        let complete = heard.text() == "before" && heard.of(Kind::Update).len() == 1;
        let call = shown(&request);
        let merged = call["title"] == "Delete" && call["rawInput"]["path"] == "/x";
        Box::pin(std::future::ready(if complete && merged { AllowOnce } else { Deny }))
    });
    let client = stage.launch_for(&script, host).await;
    open(&client, &stage, &listener).await.unwrap();
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
}

/// S23: two sessions at once, character by character; a cancel concerns one of them.
#[tokio::test(flavor = "multi_thread")]
async fn s23_nothing_is_routed_to_the_wrong_session() {
    let mut script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin_in("s1", "p1")
        .prompt_begin_in("s2", "p2");
    for (one, two) in "first".chars().zip("other".chars()) {
        script = script.text_in("s1", &one.to_string()).text_in("s2", &two.to_string());
    }
    let ask = |session: &str| {
        let options = json!([{"optionId": format!("yes-{session}"), "name": "Yes", "kind": "allow_once"}]);
        json!({"sessionId": session, "toolCall": {"toolCallId": "same"}, "options": options})
    };
    let script = script
        .request("q1", "session/request_permission", ask("s1"))
        .request("q2", "session/request_permission", ask("s2"))
        .expect_params("session/cancel", json!({"sessionId": "s1"}))
        .expect_result("q1", json!({"outcome": {"$exact": cancelled()}}))
        .prompt_end_of("p1", "cancelled")
        .expect_result("q2", json!({"outcome": {"$exact": selected("yes-s2")}}))
        .text_in("s2", "!")
        .prompt_end_of("p2", "end_turn");
    let stage = Stage::new();
    let (release, released) = tokio::sync::watch::channel(false);
    let host = Decider::new(move |_, _| {
        let mut released = released.clone();
        Box::pin(async move {
            let _ = released.wait_for(|released| *released).await;
            AllowOnce
        })
    });
    let client = stage.launch_for(&script, host.clone()).await;
    let (one, two) = (Listener::new(), Listener::new());
    assert_eq!(open(&client, &stage, &one).await.unwrap(), "s1");
    assert_eq!(open(&client, &stage, &two).await.unwrap(), "s2");
    let options = acp_runtime::session::TurnOptions::default();
    let first = crate::support::begin(&client, "s1", Some(&one), options);
    let second = crate::support::begin(&client, "s2", Some(&two), options);
    crate::support::eventually("both questions", || host.asked() == 2).await;
    let cancel = client.connection().cancel("s1", crate::support::PATIENCE).await;
    assert_eq!(cancel, acp_runtime::connection::CancelState::Cancelled);
    let first = first.await.unwrap().unwrap();
    assert_eq!((first.text.as_str(), first.stop_reason.as_deref()), ("first", Some("cancelled")));
    release.send(true).unwrap();
    let second = second.await.unwrap().unwrap();
    assert_eq!((second.text.as_str(), second.stop_reason.as_deref()), ("other!", Some("end_turn")));
    stage.end(client).await;
    assert_eq!((one.text().as_str(), two.text().as_str()), ("first", "other!"));
}
