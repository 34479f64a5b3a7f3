//! Bytes into lines (W04, W05, W06, W07) and out of them (C1).

use std::sync::Arc;

use acp_runtime::ask;
use acp_runtime::delivery::Kind;
use acp_runtime::error::ErrorCode;
use acp_runtime::port::DenyAll;
use acp_runtime::session::TurnOptions;
use acp_testkit::Script;
use acp_testkit::cases::wire::{self, SEPARATOR_TEXT, SPLIT_TEXT};
use acp_testkit::script::Piece;
use serde_json::{Value, json};

use crate::support::{Listener, Stage, assert_code, begin, case, eventually, one_turn, open, opened, prompt, prompted};

#[tokio::test(flavor = "multi_thread")]
async fn w04_characters_survive_any_cut() {
    let (outcome, listener, diagnostics) = one_turn(&case("w04_split_utf8")).await;
    assert_eq!((outcome.text.as_str(), listener.text().as_str()), (SPLIT_TEXT, SPLIT_TEXT));
    assert_eq!(diagnostics.repaired_lines, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn w05_only_a_newline_ends_a_line() {
    let (outcome, _, diagnostics) = one_turn(&case("w05_bom_crlf_line_separator")).await;
    assert_eq!(outcome.text.replace('\u{85}', ""), SEPARATOR_TEXT.replace('\u{85}', ""));
    assert_eq!(diagnostics.noise_lines, 0);
}

/// JavaScript agents cut strings between the halves of a surrogate pair; others write bytes that are no UTF-8.
#[tokio::test(flavor = "multi_thread")]
async fn broken_text_is_repaired_and_its_line_is_kept() {
    let head = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"#;
    let script = prompted()
        .raw(format!("{head}\"a\\ud83d \"}}}}}}}}\n"))
        .raw_chunks(vec![Piece::text(head), Piece::bytes(b"\"b\xff\"}}}}\n")], 0)
        .prompt_end("end_turn");
    let (outcome, _, diagnostics) = one_turn(&script).await;
    assert_eq!((outcome.text.as_str(), diagnostics.repaired_lines), ("a\u{fffd} b\u{fffd}", 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn w06_w07_a_huge_line_is_taken_whole_however_it_is_written() {
    for script in [wire::w06_huge_line(20_000_000), wire::w07_small_writes(16_000_000)] {
        let (outcome, listener, diagnostics) = one_turn(&script).await;
        assert_eq!((outcome.text.as_str(), diagnostics.oversize_lines), ("after", 0));
        let updates = listener.of(Kind::Update);
        assert!(updates.len() == 1 && updates[0].len() > 16_000_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn w06_a_line_above_the_limit_is_dropped_alone() {
    let stage = Stage::new();
    let mut options = stage.options(&wire::w06_huge_line(5_000_000));
    options.max_line_bytes = 1_000_000;
    let client = acp_runtime::client::Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "after");
    assert_eq!((client.diagnostics().oversize_lines, listener.of(Kind::Update).len()), (1, 0));
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w06_a_line_without_an_end_fills_nothing_and_holds_nothing_up() {
    let stage = Stage::new();
    let mut options = stage.options(&wire::w06_endless_line(50_000_000));
    options.max_line_bytes = 1_000_000;
    let client = acp_runtime::client::Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    eventually("the bytes", || client.diagnostics().bytes_received > 45_000_000).await;
    stage.end(client.clone()).await;
    assert!(turn.await.unwrap().unwrap().forced);
    // The line is counted when it ends, which it need not do before the client has left; it was never kept as a message.
    assert_eq!(client.diagnostics().noise_lines, 0);
}

/// A call whose answer was too long must not wait for ever, on either side.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_or_a_request_above_the_limit_is_told_to_who_waits() {
    let stage = Stage::new();
    let huge = || Piece::text("x").repeated(300_000);
    let script = prompted()
        .request_id("write", json!("w-1"), "_x/small", json!({}))
        .expect_error("write", json!({"code": -32601}))
        .set("big", json!({"id": "w-2"}))
        .raw_chunks(
            vec![
                Piece::text("{\"jsonrpc\":\"2.0\",\"id\":\"w-2\",\"method\":\"_x/big\",\"params\":\""),
                huge(),
                Piece::text("\"}\n"),
            ],
            0,
        )
        .expect_error("big", json!({"code": -32600}))
        .text("half")
        .raw_chunks(
            vec![
                Piece::text(
                    "{\"jsonrpc\":\"2.0\",\"id\":{{prompt.id}},\"result\":{\"stopReason\":\"end_turn\",\"x\":\"",
                ),
                huge(),
                Piece::text("\"}}\n"),
            ],
            0,
        )
        .prompt_begin()
        .text("alive")
        .prompt_end("end_turn");
    let mut options = stage.options(&script);
    options.max_line_bytes = 100_000;
    let client = acp_runtime::client::Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    let failed = prompt(&client, "s1", &listener).await;
    assert_code(&failed, ErrorCode::MalformedResponse);
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "alive");
    assert_eq!(client.diagnostics().oversize_lines, 2);
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c01_one_message_is_one_line_of_utf8() {
    let stage = Stage::new();
    let text = "a\nb\r\u{2028}\u{85}é🚀\u{0}";
    let script = Script::new()
        .record(&stage.file("heard"))
        .initialize()
        .session_new("s1")
        .prompt_begin()
        .check(json!("{{prompt.params.prompt.0.text}}"), json!(text))
        .prompt_end("end_turn");
    let (client, _) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let blocks = ask::text_blocks(text).unwrap();
    ask::prompt(&client, "s1", &blocks, TurnOptions::default()).await.unwrap();
    stage.end(client).await;
    let heard = std::fs::read(stage.file("heard")).unwrap();
    let lines: Vec<Value> = String::from_utf8(heard)
        .unwrap()
        .split_terminator('\n')
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let methods: Vec<_> = lines.iter().map(|message| message["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["initialize", "session/new", "session/prompt"]);
    assert!(lines.iter().all(|message| message["jsonrpc"] == "2.0"));
}
