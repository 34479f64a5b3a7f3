//! How a turn ended, and what an ask makes of it (S10).

use acp_runtime::ask::AskReason;
use acp_runtime::error::ErrorCode;
use acp_testkit::Script;

use crate::support::{Stage, case};

async fn ask(script: &Script) -> acp_runtime::ask::AskOutcome {
    let stage = Stage::new();
    let mut options = stage.ask_options(script);
    options.recover_json = true;
    stage.ask_with(options).await
}

#[tokio::test(flavor = "multi_thread")]
async fn s10_only_a_clean_stop_is_an_answer() {
    let abnormal = [
        ("s10_max_tokens", "max_tokens", "{\"verdict\": \"pass\", \"notes\": \"al"),
        ("s10_refusal", "refusal", "I cannot go on"),
        ("s10_max_turn_requests", "max_turn_requests", "I cannot go on"),
    ];
    for (name, stop_reason, text) in abnormal {
        let outcome = ask(&case(name)).await;
        let failure = outcome.failed().unwrap();
        assert_eq!((failure.reason, failure.error.code), (AskReason::AbnormalStop, ErrorCode::AbnormalStop));
        assert_eq!((failure.stop_reason.as_deref(), failure.text.as_deref()), (Some(stop_reason), Some(text)));
        let json = serde_json::to_value(&outcome).unwrap();
        assert!(json["ok"] == false && json["reason"] == "abnormal_stop" && json.get("parsed").is_none(), "{json}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s10_an_agent_that_gives_no_reason_is_taken_at_its_word() {
    let outcome = ask(&case("s10_no_stop_reason")).await;
    let answer = outcome.answer().unwrap();
    assert_eq!((answer.text.as_str(), answer.stop_reason.as_deref()), ("done", None));
    assert_eq!(serde_json::to_value(&outcome).unwrap().get("stopReason"), None);
}

/// Fusion's contract calls it a success; its empty text says the rest.
#[tokio::test(flavor = "multi_thread")]
async fn s10_an_empty_reply_is_an_empty_answer() {
    let outcome = ask(&case("s10_no_updates")).await;
    let json = serde_json::to_value(&outcome).unwrap();
    assert!(json["ok"] == true && json["text"] == "" && json["stopReason"] == "end_turn", "{json}");
    assert!(json.get("parsed").is_none());
}
