//! Values that the protocol does not know yet (W12, C42).

use acp_runtime::ask::AskReason;
use acp_runtime::delivery::Kind;
use acp_runtime::error::ErrorCode;
use acp_runtime::port::PermissionDecision;
use acp_runtime::services::permission::OptionKind;

use crate::support::{Decider, Stage, case, opened, prompt};

#[tokio::test(flavor = "multi_thread")]
async fn w12_c42_unknown_values_are_shown_and_never_chosen() {
    for decision in [PermissionDecision::Deny, PermissionDecision::AllowOnce, PermissionDecision::Select("p".into())] {
        let stage = Stage::new();
        let host = Decider::always(decision);
        let (client, listener) = opened(&stage, &case("w12_unknown_values"), host.clone()).await;
        let outcome = prompt(&client, "s1", &listener).await.unwrap();
        assert_eq!((outcome.text.as_str(), outcome.stop_reason.as_deref()), ("before after", Some("end_turn")));
        stage.end(client).await;
        let updates = listener.of(Kind::Update);
        assert_eq!(updates.len(), 3, "{updates:?}");
        for (update, part) in updates.iter().zip(["x_future_update", "hologram", "dance"]) {
            assert!(update.contains(part), "{part} in {update}");
        }
        let asked = host.asked.lock().unwrap();
        let kinds: Vec<_> = asked[0].options.iter().map(|option| option.kind.clone()).collect();
        assert_eq!(kinds, [OptionKind::Other("allow_persistent".into()), OptionKind::RejectOnce]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn w12_c42_an_unknown_stop_reason_is_abnormal_and_told_verbatim() {
    let stage = Stage::new();
    let outcome = stage.ask(&case("w12_unknown_stop_reason")).await;
    let failure = outcome.failed().unwrap();
    assert_eq!((failure.reason, failure.error.code), (AskReason::AbnormalStop, ErrorCode::AbnormalStop));
    assert_eq!((failure.stop_reason.as_deref(), failure.text.as_deref()), (Some("error"), Some("some")));
    assert_eq!(failure.message, "ACP prompt ended with stopReason=error");
    let (client, listener) = opened(&stage, &case("w12_unknown_stop_reason"), Decider::undecided()).await;
    let outcome = prompt(&client, "s1", &listener).await.unwrap();
    assert!(outcome.result.unwrap().get().contains("transcriptPath"));
    assert_eq!(outcome.stop_reason.as_deref(), Some("error"));
    stage.end(client).await;
}
