//! What is read out of a `session/request_permission`, and what is not.

use acp_runtime::services::permission::{Decision, select_option};
use acp_runtime::services::permission::{DecodeError, OptionKind, PermissionRequest, Several};
use proptest::prelude::*;
use serde_json::{Value, json};

fn params(options: Value) -> String {
    json!({ "sessionId": "s", "toolCall": { "toolCallId": "t" }, "options": options }).to_string()
}

#[test]
fn options_are_kept_in_order_with_unknown_kinds_visible() {
    let params = params(json!([
        { "optionId": "a", "name": "Always", "kind": "allow_always", "_meta": { "x": 1 } },
        { "optionId": "b", "name": "This session", "kind": "allow_session" },
        { "optionId": "c", "name": "Once", "kind": "allow_once" },
    ]));
    let request = PermissionRequest::decode(&params).unwrap();
    let seen: Vec<_> =
        request.options.iter().map(|o| (o.option_id.as_str(), o.name.as_str(), o.kind.as_str())).collect();
    assert_eq!(
        seen,
        [("a", "Always", "allow_always"), ("b", "This session", "allow_session"), ("c", "Once", "allow_once")]
    );
    assert_eq!(request.options[1].kind, OptionKind::Other("allow_session".into()));
    assert_eq!((request.session_id.as_str(), request.tool_call.id(), request.skipped_options), ("s", "t", 0));
    let shown = serde_json::to_value(&request.options[1]).unwrap();
    assert_eq!(shown, json!({ "optionId": "b", "name": "This session", "kind": "allow_session" }));
}

#[test]
fn malformed_options_are_left_out_and_counted() {
    let options = json!([
        5, null, "allow_once", [], {}, ["a", "by position", "allow_once"],
        { "name": "no id", "kind": "allow_once" },
        { "optionId": 7, "name": "number", "kind": "allow_once" },
        { "optionId": "", "name": "empty", "kind": "allow_once" },
        { "optionId": "\u{7}", "name": "nothing visible", "kind": "allow_once" },
        { "optionId": "no-kind", "name": "x" },
        { "optionId": "null-kind", "name": "x", "kind": null },
        { "optionId": "x".repeat(5000), "name": "x", "kind": "allow_once" },
        { "optionId": "nameless", "kind": "reject_once" },
    ]);
    let params = params(options);
    let request = PermissionRequest::decode(&params).unwrap();
    assert_eq!(request.skipped_options, 13);
    assert_eq!((request.options[0].option_id.as_str(), request.options[0].name.as_str()), ("nameless", "nameless"));
    for (odd, skipped) in [(json!("x"), 1), (json!({}), 1), (json!(null), 0), (json!([]), 0)] {
        let params = self::params(odd);
        let request = PermissionRequest::decode(&params).unwrap();
        assert_eq!((request.options.len(), request.skipped_options), (0, skipped));
    }
}

#[test]
fn options_without_end_end() {
    let many: Vec<_> =
        (0..1000).map(|i| json!({ "optionId": i.to_string(), "name": "x", "kind": "allow_once" })).collect();
    let params = params(many.into());
    let request = PermissionRequest::decode(&params).unwrap();
    assert_eq!((request.options.len(), request.skipped_options), (100, 900));
}

#[test]
fn text_is_cleaned_for_the_host_and_ids_are_kept_for_the_agent() {
    let name = format!("\u{1b}]0;x\u{7}Allow\r{}", "y".repeat(5000));
    let params = params(json!([{ "optionId": "o\u{1b}[31mk", "name": name, "kind": "allow_once" }]));
    let request = PermissionRequest::decode(&params).unwrap();
    let option = &request.options[0];
    assert!(!option.option_id.contains('\u{1b}') && option.wire_id == "o\u{1b}[31mk");
    assert!(!option.name.contains(['\u{1b}', '\u{7}', '\r']) && option.name.encode_utf16().count() <= 1024);
}

#[test]
fn a_request_that_cannot_be_understood_is_an_error_and_not_an_answer() {
    for (bad, error) in [
        ("5", DecodeError::NotAnObject),
        ("[]", DecodeError::NotAnObject),
        (r#"{"toolCall":{"toolCallId":"t"},"options":[]}"#, DecodeError::SessionId),
        (r#"{"sessionId":5,"toolCall":{"toolCallId":"t"},"options":[]}"#, DecodeError::SessionId),
        (r#"{"sessionId":"s","options":[]}"#, DecodeError::ToolCallId),
        (r#"{"sessionId":"s","toolCall":{},"options":[]}"#, DecodeError::ToolCallId),
        (r#"{"sessionId":"s","toolCall":{"toolCallId":""},"options":[]}"#, DecodeError::ToolCallId),
        (r#"{"sessionId":"s","toolCall":"t","options":[]}"#, DecodeError::ToolCallId),
    ] {
        assert_eq!(PermissionRequest::decode(bad).unwrap_err(), error, "{bad}");
    }
}

proptest! {
    /// Any kind that is not exactly `allow_once` stays what it is.
    #[test]
    fn no_other_kind_is_taken_for_an_allowing_one(kind in "\\PC{0,16}|allow_once.|.allow_once|ALLOW_ONCE") {
        prop_assume!(kind != "allow_once");
        let params = params(json!([{ "optionId": "a", "name": "n", "kind": kind }]));
        let request = PermissionRequest::decode(&params).unwrap();
        prop_assert_eq!(select_option(Decision::Allow, &request.options, Several::TakeFirst).decision, Decision::Deny);
    }

    #[test]
    fn no_input_is_too_odd(text in "\\PC{0,200}") {
        let _ = PermissionRequest::decode(&text);
    }
}
