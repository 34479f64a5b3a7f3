//! Lines that are no messages: skipped, counted, never answered (W01, W02, C2).

use std::time::Duration;

use acp_runtime::error::ErrorCode;
use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use acp_testkit::cases::wire;
use serde_json::json;

use crate::support::{Stage, assert_code, case, one_turn, opened, prompt, prompted};

#[tokio::test(flavor = "multi_thread")]
async fn w01_c02_logs_and_colours_are_skipped_counted_and_not_answered() {
    let stage = Stage::new();
    let script = Script::new().record(&stage.file("heard")).then(case("w01_noise"));
    let (client, listener) = opened(&stage, &script, std::sync::Arc::new(DenyAll)).await;
    let outcome = prompt(&client, "s1", &listener).await.unwrap();
    assert_eq!(outcome.text, "one two");
    let diagnostics = client.diagnostics();
    // Three lines of the banner and one between the chunks; the empty line is a keep-alive.
    assert_eq!((diagnostics.noise_lines, diagnostics.noise_samples.len()), (4, 4), "{diagnostics:?}");
    assert!(diagnostics.noise_samples.iter().all(|sample| !sample.contains('\u{1b}')), "{diagnostics:?}");
    stage.end(client).await;
    let heard = std::fs::read_to_string(stage.file("heard")).unwrap();
    assert_eq!(heard.lines().count(), 3, "initialize, session/new and the prompt, nothing else: {heard}");
}

#[tokio::test(flavor = "multi_thread")]
async fn w01_nothing_but_noise_is_a_handshake_timeout_that_quotes_it() {
    let stage = Stage::new();
    let mut options = stage.options(&case("w01_nothing_but_noise"));
    options.handshake.timeout = Duration::from_secs(4);
    let error = acp_runtime::client::Client::launch(options, std::sync::Arc::new(DenyAll)).await.map(drop).unwrap_err();
    stage.assert_empty();
    assert_eq!(error.code(), ErrorCode::HandshakeTimeout);
    assert!(error.to_string().contains("stdout began with: [12:00:00] Using config"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn w02_json_that_is_no_message_is_noise() {
    let (outcome, _, diagnostics) = one_turn(&case("w02_json_that_is_not_json_rpc")).await;
    assert_eq!(outcome.text, "fine");
    assert_eq!(diagnostics.noise_lines, 14, "{diagnostics:?}");
}

/// A log line that happens to carry the id of a waiting call decides nothing.
#[tokio::test(flavor = "multi_thread")]
async fn w02_a_log_line_with_the_id_of_a_call_is_noise() {
    let script = prompted()
        .send(json!({"level": "info", "id": "{{prompt.id}}", "msg": "boot"}))
        .send(json!({"level": "error", "id": "{{prompt.id}}", "error": "boom"}))
        .text("fine")
        .prompt_end("end_turn");
    let (outcome, _, diagnostics) = one_turn(&script).await;
    assert_eq!((outcome.text.as_str(), diagnostics.noise_lines), ("fine", 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn w02_a_malformed_response_fails_its_call_and_the_connection_lives() {
    for variant in 0..4 {
        let stage = Stage::new();
        let script = wire::w02_malformed_response(variant).prompt_begin().text("alive").prompt_end("end_turn");
        let (client, listener) = opened(&stage, &script, std::sync::Arc::new(DenyAll)).await;
        let failed = prompt(&client, "s1", &listener).await;
        assert_code(&failed, ErrorCode::MalformedResponse);
        assert_eq!(failed.unwrap_err().details().partial_text.as_deref(), Some("half"));
        assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "alive");
        stage.end(client).await;
    }
}
