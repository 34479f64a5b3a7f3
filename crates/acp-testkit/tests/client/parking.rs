//! Sessions of one agent share its pipe: one whose host stands still holds up itself, and the others only once the budget
//! is used up.

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::connection::{CallOptions, CancelState};
use acp_runtime::delivery::{Budget, Kind, Limits};
use acp_runtime::error::Phase;
use acp_runtime::session::TurnOptions;
use acp_testkit::Script;
use serde_json::{Value, json};

use crate::support::{Listener, PATIENCE, Stage, begin, eventually, open, prompt};

const COUNT: u64 = 20_000;

fn update() -> Value {
    json!({"sessionUpdate": "tool_call_update", "toolCallId": "{i}", "title": "x".repeat(200)})
}

/// `slow` floods its host, then `quick` answers; at the end both turns end.
fn script() -> Script {
    Script::new()
        .initialize()
        .session_new("slow")
        .session_new("quick")
        .prompt_begin()
        .flood(COUNT, update())
        .prompt_end("end_turn")
        .prompt_begin()
        .text("quick")
        .prompt_end("end_turn")
}

fn limits() -> Limits {
    Limits { bytes: 4096, items: 16 }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_stands_still_stops_no_other_while_the_budget_has_room() {
    let stage = Stage::new();
    let client = stage.launch(&script()).await;
    let budget = Budget::new(64 * 1024 * 1024);
    let (slow, quick) = (Listener::slow_on(limits(), Arc::clone(&budget)), Listener::new());
    assert_eq!(open(&client, &stage, &slow).await.unwrap(), "slow");
    assert_eq!(open(&client, &stage, &quick).await.unwrap(), "quick");
    slow.take();
    let turn = begin(&client, "slow", Some(&slow), TurnOptions::default());
    // The slow session's turn is over, too, while its host has taken nothing of it.
    assert_eq!(prompt(&client, "quick", &quick).await.unwrap().text, "quick");
    assert!(turn.await.unwrap().is_ok());
    assert!(budget.used() > usize::try_from(COUNT).unwrap() * 200, "{}", budget.used());
    slow.take();
    let ids = slow.of(Kind::Update);
    assert_eq!(ids.len() as u64, COUNT);
    for (i, update) in ids.iter().enumerate() {
        assert!(update.contains(&format!("\"{i}\"")), "update {i} is {update}");
    }
    stage.end(client).await;
    drop(slow);
    assert_eq!(budget.used(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_budget_the_agent_is_slowed_down_and_nothing_is_lost() {
    let stage = Stage::new();
    let client = stage.launch(&script()).await;
    let budget = Budget::new(512 * 1024);
    let (slow, quick) = (Listener::slow_on(limits(), Arc::clone(&budget)), Listener::new());
    open(&client, &stage, &slow).await.unwrap();
    open(&client, &stage, &quick).await.unwrap();
    slow.take();
    let turn = begin(&client, "slow", Some(&slow), TurnOptions::default());
    let other = begin(&client, "quick", Some(&quick), TurnOptions::default());
    let mut last = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(400)).await;
        let now = client.diagnostics().bytes_received;
        if now == last && now > 512 * 1024 {
            break;
        }
        last = now;
    }
    assert!(last < COUNT * 150, "{last} bytes were read for a host that takes nothing");
    assert!(budget.used() <= 512 * 1024);
    let turns = tokio::spawn(async move { (turn.await.unwrap().unwrap(), other.await.unwrap().unwrap()) });
    eventually("the end of both turns", || {
        slow.take();
        turns.is_finished()
    })
    .await;
    assert_eq!(turns.await.unwrap().1.text, "quick");
    slow.take();
    assert_eq!(slow.of(Kind::Update).len() as u64, COUNT);
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_gets_through_a_pipe_that_one_session_holds_up() {
    let stage = Stage::new();
    let script = Script::new()
        .initialize()
        .session_new("slow")
        .prompt_begin()
        .flood(COUNT, update())
        .expect("_test/ask")
        .respond("_test/ask", json!(7))
        .prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let slow = Listener::slow_on(limits(), Budget::new(64 * 1024 * 1024));
    open(&client, &stage, &slow).await.unwrap();
    slow.take();
    let turn = begin(&client, "slow", Some(&slow), TurnOptions::default());
    let call = CallOptions::plain(Phase::Session).timeout(Some(PATIENCE));
    assert_eq!(client.connection().call("_test/ask", None, call).await.unwrap().get(), "7");
    eventually("the end of the turn", || {
        slow.take();
        slow.of(Kind::Update).len() as u64 == COUNT
    })
    .await;
    turn.await.unwrap().unwrap();
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_gets_its_answer_through_a_pipe_that_its_own_session_holds_up() {
    let stage = Stage::new();
    let script = Script::new()
        .initialize()
        .session_new("slow")
        .prompt_begin()
        .flood(COUNT, update())
        .expect("session/cancel")
        .prompt_end("cancelled")
        .prompt_begin()
        .prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let slow = Listener::slow_on(limits(), Budget::new(64 * 1024 * 1024));
    open(&client, &stage, &slow).await.unwrap();
    slow.take();
    let turn = begin(&client, "slow", Some(&slow), TurnOptions::default());
    // Long after the pipe and the outbox are full.
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(client.connection().cancel("slow", PATIENCE).await, CancelState::Cancelled);
    assert_eq!(turn.await.unwrap().unwrap().stop_reason.as_deref(), Some("cancelled"));
    slow.take();
    assert_eq!(slow.of(Kind::Update).len() as u64, COUNT, "nothing is lost");
    prompt(&client, "slow", &slow).await.unwrap();
    stage.end(client).await;
}
