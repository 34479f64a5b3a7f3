//! Errors that the agent answers with (W14, C41).

use acp_runtime::ask::AskReason;
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::port::DenyAll;
use acp_testkit::cases::wire;
use serde_json::{Value, json};

use crate::support::{Stage, opened, prompt};

#[tokio::test(flavor = "multi_thread")]
async fn w14_the_data_of_an_error_is_kept_and_shown() {
    let shown = [
        (Some(json!({"details": "model not found: x"})), r#" [data: {"details":"model not found: x"}]"#),
        (Some(json!("model not found: x")), " [data: model not found: x]"),
        (Some(json!(["model not found: x"])), r#" [data: ["model not found: x"]]"#),
        (Some(json!({})), ""),
        (Some(Value::Null), ""),
        (None, ""),
    ];
    let stage = Stage::new();
    for (data, suffix) in shown {
        let outcome = stage.ask(&wire::w14_error_data(data.clone())).await;
        let failure = outcome.failed().unwrap();
        assert_eq!((failure.reason, failure.error.code), (AskReason::TurnFailed, ErrorCode::AgentError));
        assert_eq!(failure.message, format!("Internal error (acp rpc code -32603, retryable){suffix}"));
        let rpc = failure.error.rpc.as_ref().unwrap();
        assert_eq!((rpc.code, rpc.message.as_str()), (-32603, "Internal error"));
        let kept: Option<Value> = rpc.data.as_ref().map(|data| serde_json::from_str(data.get()).unwrap());
        assert_eq!(kept, data.filter(|data| !data.is_null()));
        assert_eq!(failure.error.stderr_tail.as_deref().map(str::trim), Some("backend: 500"));
        assert!(failure.error.retryable && failure.error.prompt_may_have_been_sent);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c41_an_error_ends_the_turn_once_and_the_session_lives() {
    let stage = Stage::new();
    let error = json!({"code": -32603, "message": "Internal error", "data": {"x": 1}});
    let script = crate::support::prompted()
        .text("half")
        .respond_error("prompt", error.clone())
        // A second answer to the same prompt is nobody's.
        .respond_error("prompt", error)
        .prompt_begin()
        .text("alive")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, std::sync::Arc::new(DenyAll)).await;
    let failed = prompt(&client, "s1", &listener).await.unwrap_err();
    assert_eq!((failed.details().phase, failed.details().partial_text.as_deref()), (Some(Phase::Prompt), Some("half")));
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "alive");
    assert_eq!(client.diagnostics().unknown_responses, 1);
    stage.end(client).await;
}
