//! A host that does not keep up slows its own agent, and nobody else; nothing is lost.

use std::time::Duration;

use acp_runtime::connection::CancelState;
use acp_runtime::delivery::{Kind, Limits};
use acp_runtime::error::ErrorCode;
use acp_runtime::session::TurnOptions;
use serde_json::json;

use crate::support::{Listener, PATIENCE, Stage, begin, brisk, eventually, open, prompt, prompted};

const COUNT: u64 = 30_000;

fn small() -> Limits {
    Limits { bytes: 4096, items: 16 }
}

/// Waits until nothing more is read.
async fn stands(client: &acp_runtime::client::Client) -> u64 {
    let mut last = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(400)).await;
        let now = client.diagnostics().bytes_received;
        if now == last && now > 0 {
            return now;
        }
        last = now;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_host_stops_the_reading_and_loses_nothing() {
    let stage = Stage::new();
    let update =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": format!("{{i}}-{}", "x".repeat(200))});
    let script = prompted().flood(COUNT, update).prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let listener = Listener::slow(small());
    open(&client, &stage, &listener).await.unwrap();
    listener.take();
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    let turn = tokio::spawn(async move { turn.await.unwrap().unwrap() });
    let read = stands(&client).await;
    // More than 300 bytes each: far from all of it was read.
    assert!(read < COUNT * 150, "{read} bytes were read for a host that takes nothing");
    assert!(!turn.is_finished());

    // Another client does not notice.
    let other = Stage::new();
    let quick = other.launch(&prompted().text("quick").prompt_end("end_turn")).await;
    let heard = Listener::new();
    open(&quick, &other, &heard).await.unwrap();
    assert_eq!(prompt(&quick, "s1", &heard).await.unwrap().text, "quick");
    other.end(quick).await;
    assert!(!turn.is_finished());

    eventually("the end of the turn", || {
        listener.take();
        turn.is_finished()
    })
    .await;
    listener.take();
    let updates = listener.of(Kind::Update);
    assert_eq!(updates.len() as u64, COUNT);
    for (i, update) in updates.iter().enumerate() {
        assert!(update.contains(&format!("\"{i}-x")), "update {i} is {update}");
    }
    stage.end(client).await;
}

/// A host that never takes anything can still cancel and close, and hears of the end.
#[tokio::test(flavor = "multi_thread")]
async fn a_stuck_host_can_cancel_and_close() {
    let stage = Stage::new();
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x".repeat(100)}});
    let script = prompted().ignore_eof().flood(200_000, update).prompt_end("end_turn");
    let client = stage.launch(&script).await;
    let listener = Listener::slow(small());
    open(&client, &stage, &listener).await.unwrap();
    listener.take();
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    stands(&client).await;
    assert_eq!(client.connection().cancel("s1", Duration::from_millis(50)).await, CancelState::Forced);
    assert!(turn.await.unwrap().unwrap().forced);
    let (info, ended) = tokio::join!(client.close(brisk()), client.connection().ended());
    assert!(info.survivors.is_empty());
    assert_eq!(ended.code, ErrorCode::ClientClosed);
    stage.assert_empty();
    let call = acp_runtime::connection::CallOptions::plain(acp_runtime::error::Phase::Session).timeout(Some(PATIENCE));
    assert_eq!(client.connection().call("_x/y", None, call).await.unwrap_err().code(), ErrorCode::ClientClosed);
}
