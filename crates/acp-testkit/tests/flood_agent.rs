//! The flood agent over raw pipes.
#![expect(clippy::unwrap_used, reason = "helpers of the tests below")]

use std::process::Command;

use acp_testkit::raw_client::{RawClient, text_of};
use serde_json::{Value, json};

fn flood(args: &[&str]) -> RawClient {
    RawClient::spawn(Command::new(env!("CARGO_BIN_EXE_flood-agent")).args(args)).unwrap()
}

#[test]
fn each_prompt_gets_its_flood() {
    let mut client = flood(&["--count", "10000"]);
    client.open().unwrap();
    for _ in 0..2 {
        let id = client.prompt("go").unwrap();
        let messages = client.until_response(id);
        assert_eq!(messages.len(), 10_001);
        assert_eq!(messages[10_000]["result"]["stopReason"], "end_turn");
        assert!(text_of(&messages[9_999..]).starts_with("00009999 "));
    }
    client.assert_clean();
}

#[test]
fn each_session_gets_its_own_updates() {
    let mut client = flood(&["--kind", "tools", "--count", "2"]);
    client.open().unwrap();
    let id = client.request("session/new", json!({"cwd": "/", "mcpServers": []})).unwrap();
    assert_eq!(client.until_response(id)[0]["result"]["sessionId"], "s2");
    let id = client.request("session/prompt", json!({"sessionId": "s2", "prompt": []})).unwrap();
    let messages = client.until_response(id);
    assert_eq!(messages.len(), 5);
    assert!(messages[..4].iter().all(|message| message["params"]["sessionId"] == "s2"));
    client.assert_clean();
}

#[test]
fn unknown_requests_are_refused_with_their_id() {
    let mut client = flood(&[]);
    client.send(&json!({"jsonrpc": "2.0", "id": "x", "method": "_vendor/y"})).unwrap();
    let answer: Value = client.message().unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("x"), &json!(-32601)));
    client.assert_clean();
}

#[test]
fn a_cancel_ends_the_flood() {
    let mut client = flood(&["--count", "50000000"]);
    client.open().unwrap();
    let id = client.prompt("go").unwrap();
    client.message().unwrap();
    client.notify("session/cancel", json!({"sessionId": "s1"})).unwrap();
    // Counted, not kept: some of the flood is on its way already.
    let reason = loop {
        let message = client.message().unwrap();
        if message["id"] == id {
            break message["result"]["stopReason"].clone();
        }
    };
    assert_eq!(reason, "cancelled");
    client.assert_clean();
}

#[test]
fn a_client_that_leaves_ends_it() {
    let mut client = flood(&["--count", "50000000"]);
    client.open().unwrap();
    client.prompt("go").unwrap();
    client.message().unwrap();
    let pid = client.pid();
    drop(client);
    acp_testkit::process::assert_gone(pid);
}

#[test]
fn wrong_arguments_are_refused() {
    let (status, stderr) = flood(&["--speed", "1"]).wait();
    assert_eq!(status.code(), Some(64));
    assert!(stderr.contains("unknown option --speed"));
}
