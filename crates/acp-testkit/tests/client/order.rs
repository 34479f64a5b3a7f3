//! The order of what a host hears (S01, S02, S03, C31, C33).

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::connection::CancelState;
use acp_runtime::delivery::{Kind, Limits};
use acp_runtime::port::DenyAll;
use acp_runtime::session::{TurnOptions, ViewKind};
use acp_testkit::Script;
use serde_json::json;

use crate::support::{
    Listener, PATIENCE, Stage, begin, brisk, case, eventually, open, open_by, opened, prompt, prompted,
};

#[tokio::test(flavor = "multi_thread")]
async fn s01_c31_what_comes_before_its_session_is_kept_and_what_has_none_is_dropped() {
    let stage = Stage::new();
    let (client, listener) = opened(&stage, &case("s01_update_before_session"), Arc::new(DenyAll)).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "hi");
    assert_eq!(client.diagnostics().dropped_updates, 0);
    let (introduced, told) =
        (listener.position(Kind::Reply, "opened"), listener.position(Kind::Update, "available_commands_update"));
    assert!(introduced < told && told < listener.position(Kind::Turn, "true"), "{:?}", listener.heard());
    stage.end(client).await;

    let (client, listener) = opened(&stage, &case("s01_update_for_nobody"), Arc::new(DenyAll)).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "hi");
    assert_eq!((client.diagnostics().dropped_updates, listener.text().as_str()), (2, "hi"));
    stage.end(client).await;
}

fn commands(name: &str) -> serde_json::Value {
    let update =
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": name, "description": ""}]});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}})
}

#[tokio::test(flavor = "multi_thread")]
async fn s02_updates_right_after_the_answer_and_between_turns_are_delivered_in_order() {
    let stage = Stage::new();
    let both = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{{{{session/new.id}}}},\"result\":{{\"sessionId\":\"s1\"}}}}\n{}\n",
        commands("first")
    );
    let script = Script::new()
        .initialize()
        .expect("session/new")
        .raw(both)
        .sleep(200)
        .send(commands("second"))
        .prompt_begin()
        .prompt_end("end_turn")
        .send(commands("third"));
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    listener.hears(Kind::Update, "second").await;
    prompt(&client, "s1", &listener).await.unwrap();
    listener.hears(Kind::Update, "third").await;
    let places = [
        listener.position(Kind::Reply, "opened"),
        listener.position(Kind::Update, "first"),
        listener.position(Kind::Update, "second"),
        listener.position(Kind::Turn, "true"),
        listener.position(Kind::Turn, "false"),
        listener.position(Kind::Reply, "ended"),
        listener.position(Kind::Update, "third"),
    ];
    assert!(places.is_sorted(), "{places:?} {:?}", listener.heard());
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s03_late_text_is_delivered_but_belongs_to_no_turn() {
    let stage = Stage::new();
    let script = prompted()
        .text("now")
        .prompt_end("end_turn")
        .sleep(30)
        .texts(2, " late{i}")
        .update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed"}))
        .prompt_begin()
        .text("second")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "now");
    listener.hears(Kind::Update, "completed").await;
    assert!(listener.position(Kind::Turn, "false") < listener.position(Kind::Text, " late0"));
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "second");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s03_an_ask_can_wait_until_it_is_quiet() {
    let stage = Stage::new();
    let script = prompted().text("now").prompt_end("end_turn").sleep(30).texts(2, " late{i}");
    let mut options = stage.ask_options(&script);
    options.settle = Duration::from_secs(2);
    assert_eq!(stage.ask_with(options).await.answer().unwrap().text, "now late0 late1");
    // An agent that ends has nothing more to say: its answer is not lost, and not waited for.
    let script = prompted().text("now").prompt_end("end_turn").text(" last").exit(0);
    let mut options = stage.ask_options(&script);
    options.settle = Duration::from_secs(600);
    assert_eq!(stage.ask_with(options).await.answer().unwrap().text, "now last");
    // A cancel of a turn that the agent has ended says nothing to the agent.
    let script = prompted().text("now").prompt_end("end_turn").expect_silence(300).text("silent").expect("_test/done");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let options = TurnOptions { settle: Duration::from_secs(600), ..TurnOptions::default() };
    let turn = begin(&client, "s1", Some(&listener), options);
    listener.hears(Kind::Text, "now").await;
    eventually("the response", || client.diagnostics().messages_received >= 4).await;
    client.connection().cancel("s1", PATIENCE).await;
    assert_eq!(turn.await.unwrap().unwrap().stop_reason.as_deref(), Some("end_turn"));
    listener.hears(Kind::Text, "silent").await;
    client.connection().notify("_test/done", None).unwrap();
    stage.end(client).await;
}

/// Whatever else ends a turn ends one that waits for quiet, too: with the response that it holds.
#[tokio::test(flavor = "multi_thread")]
async fn s03_an_agent_that_never_falls_quiet_holds_no_turn_open() {
    let chatty =
        || prompted().text("now").prompt_end("end_turn").repeat_until("_test/done", 5, Script::new().text("."));
    let settle = Duration::from_secs(3);
    let settling = TurnOptions { settle, ..TurnOptions::default() };
    let limited = TurnOptions { timeout: Some(Duration::from_secs(3)), ..settling };
    for (options, how) in [(limited, "limit"), (settling, "cancel"), (settling, "drop"), (settling, "close")] {
        let stage = Stage::new();
        let (client, listener) = opened(&stage, &chatty().expect("_test/done"), Arc::new(DenyAll)).await;
        let turn = begin(&client, "s1", Some(&listener), options);
        listener.hears(Kind::Text, ".").await;
        match how {
            "cancel" => assert_eq!(client.connection().cancel("s1", PATIENCE).await, CancelState::Cancelled),
            "drop" => client.connection().drop_session("s1"),
            "close" => drop(client.close(brisk()).await),
            _ => {}
        }
        let outcome = turn.await.unwrap().unwrap();
        assert_eq!((outcome.stop_reason.as_deref(), outcome.forced), (Some("end_turn"), false), "{how}");
        assert_eq!(outcome.cancel_requested, matches!(how, "cancel" | "close"), "{how}");
        assert!(outcome.text.starts_with("now.") && outcome.result.is_some(), "{how}: {outcome:?}");
        if how != "close" {
            client.connection().notify("_test/done", None).unwrap();
            stage.end(client).await;
        }
    }
    let stage = Stage::new();
    let mut options = stage.ask_options(&chatty().ignore_eof());
    (options.settle, options.timeout, options.close) = (settle, limited.timeout, brisk());
    assert!(stage.ask_with(options).await.answer().unwrap().text.starts_with("now"));
}

/// C33: a thousand chunks and the result in one write, for a host that reads all along and one that only starts late.
#[tokio::test(flavor = "multi_thread")]
async fn c33_a_turn_ends_after_everything_it_said() {
    let mut burst: String = (0..1000)
        .map(|i| {
            let update =
                json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": format!("{i} ")}});
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}})
        })
        .flat_map(|message| [message.to_string(), "\n".to_owned()])
        .collect();
    burst.push_str("{\"jsonrpc\":\"2.0\",\"id\":{{prompt.id}},\"result\":{\"stopReason\":\"end_turn\"}}\n");
    let expected: String = (0..1000).flat_map(|i| [i.to_string(), " ".to_owned()]).collect();
    for listener in [Listener::new(), Listener::slow(Limits { bytes: 256, items: 8 })] {
        let stage = Stage::new();
        let client = stage.launch(&prompted().raw(burst.clone())).await;
        open(&client, &stage, &listener).await.unwrap();
        let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
        let turn = tokio::spawn(async move { turn.await.unwrap().unwrap() });
        tokio::time::sleep(Duration::from_millis(200)).await;
        eventually("the end of the turn", || {
            listener.take();
            turn.is_finished()
        })
        .await;
        listener.take();
        assert_eq!(turn.await.unwrap().text, expected);
        assert_eq!((listener.of(Kind::Text).len(), listener.text()), (1000, expected.clone()));
        let last = listener.heard().iter().rposition(|(kind, _)| *kind == Kind::Text).unwrap();
        assert!(last < listener.position(Kind::Turn, "false"));
        assert!(listener.position(Kind::Turn, "false") < listener.position(Kind::Reply, "ended"));
        stage.end(client).await;
    }
}

/// The view of the callbacks: the same order, text and tools only.
#[tokio::test(flavor = "multi_thread")]
async fn callbacks_hear_text_thought_and_tools_in_order() {
    let stage = Stage::new();
    let script = prompted()
        .update(json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}))
        .update(json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Read", "kind": "read", "status": "pending", "rawInput": {"p": 1}}))
        .update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "rawOutput": "ok"}))
        .text("done")
        .prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let listener = Listener::new();
    open_by(&client, "session/new", None, &stage.session_request(), &listener, ViewKind::Callbacks).await.unwrap();
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    let kinds: Vec<_> = listener.heard().into_iter().map(|(kind, _)| kind).collect();
    let expected =
        [Kind::Reply, Kind::Turn, Kind::Thought, Kind::ToolStart, Kind::ToolEnd, Kind::Text, Kind::Turn, Kind::Reply];
    assert_eq!(kinds, expected, "{:?}", listener.heard());
}
