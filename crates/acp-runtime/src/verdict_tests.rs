use proptest::prelude::*;
use serde_json::json;

use super::*;

#[track_caller]
fn maps(parsed: &Value, text: &str, expected: &Value) {
    assert_eq!(serde_json::to_value(map_parsed_to_verdict(parsed, text)).unwrap(), *expected, "{parsed} {text}");
}

#[test]
fn words_map_to_statuses() {
    for (words, status) in [
        ("pass passed approve approved ok success PASS Approved", VerdictStatus::Pass),
        ("fail failed revise reject rejected failure REVISE", VerdictStatus::Fail),
        ("blocked block unavailable", VerdictStatus::Blocked),
        ("error errored", VerdictStatus::Error),
    ] {
        for word in words.split(' ') {
            assert_eq!(normalize_verdict_token(&format!("\t{word} \u{feff}\n")), Some(status), "{word}");
        }
    }
    for word in ["", "nonsense", "passing", "not ok", "pass|fail"] {
        assert_eq!(normalize_verdict_token(word), None, "{word}");
    }
}

#[test]
fn prose_says_blocked_or_fail_but_never_pass() {
    for (text, status) in [
        ("Validation BLOCKED by missing credentials; it failed.", Some(VerdictStatus::Blocked)),
        ("This fails because the build is red.", Some(VerdictStatus::Fail)),
        ("It failed", Some(VerdictStatus::Fail)),
        ("Please revise.", Some(VerdictStatus::Fail)),
        ("Revised and done.", Some(VerdictStatus::Fail)),
        ("Revision requested", Some(VerdictStatus::Fail)),
        ("It does not meet the bar", Some(VerdictStatus::Fail)),
        ("All assertions pass.", None),
        ("unblocked, no failures, failing", None),
        ("", None),
    ] {
        assert_eq!(infer_verdict_from_prose(text), status, "{text}");
    }
}

#[test]
fn the_order_is_flag_word_boolean_prose_error() {
    maps(
        &json!({"blocked": true, "verdict": "pass", "reason": "needs creds"}),
        "",
        &json!({"status": "blocked", "assertions": [], "summary": "needs creds", "blockedReason": "needs creds"}),
    );
    maps(
        &json!({"blocked": true}),
        "",
        &json!({"status": "blocked", "assertions": [], "summary": "Validation blocked", "blockedReason": "blocked"}),
    );
    maps(
        &json!({"blocked": true, "reason": ""}),
        "text",
        &json!({"status": "blocked", "assertions": [], "summary": "text", "blockedReason": ""}),
    );
    maps(
        &json!({"verdict": 7, "status": "nonsense", "result": "blocked"}),
        "",
        &json!({"status": "blocked", "assertions": [], "summary": "Validation blocked", "blockedReason": ""}),
    );
    maps(
        &json!({"verdict": "pass", "passed": false}),
        "it failed",
        &json!({"status": "pass", "assertions": [], "summary": "it failed"}),
    );
    maps(
        &json!({"passed": false, "summary": "missing X", "reason": "r"}),
        "",
        &json!({"status": "fail", "assertions": [], "summary": "missing X"}),
    );
    maps(&json!({"passed": true, "summary": ""}), "t", &json!({"status": "pass", "assertions": [], "summary": "t"}));
    maps(&json!({}), "it fails", &json!({"status": "fail", "assertions": [], "summary": "it fails"}));
    maps(
        &json!({"irrelevant": 1, "blocked": "yes", "passed": "true"}),
        "",
        &json!({"status": "error", "assertions": [], "summary": "Validator produced no decodable verdict"}),
    );
    maps(
        &json!({"result": "crashed"}),
        "All assertions pass.",
        &json!({"status": "error", "assertions": [], "summary": "All assertions pass."}),
    );
}

#[test]
fn assertions_need_an_identifier_and_a_literal_true() {
    maps(
        &json!({"status": "fail", "assertions": [
            {"assertionId": "a1", "passed": true},
            {"id": "a2", "passed": "true", "message": "nope"},
            {"assertionId": "", "id": "a3", "passed": true},
            {"passed": true}, "a4", null, ["a5"], {"id": 6}
        ]}),
        "",
        &json!({"status": "fail", "summary": "", "assertions": [
            {"assertionId": "a1", "passed": true},
            {"assertionId": "a2", "passed": false, "message": "nope"},
        ]}),
    );
    maps(
        &json!({"passed": true, "assertions": {"id": "a"}}),
        "",
        &json!({"status": "pass", "assertions": [], "summary": ""}),
    );
}

#[test]
fn something_else_than_an_object_is_no_verdict() {
    for parsed in [json!([{"verdict": "pass"}]), json!("pass"), json!(null), json!(true)] {
        assert_eq!(map_parsed_to_verdict(&parsed, "").status, VerdictStatus::Error, "{parsed}");
    }
}

proptest! {
    #[test]
    fn prose_alone_never_passes(text in "(pass|passed|ok|approved|blocked|fail|all| |\\PC){0,20}") {
        let verdict = map_parsed_to_verdict(&json!({}), &text);
        prop_assert_ne!(verdict.status, VerdictStatus::Pass);
        prop_assert_ne!(infer_verdict_from_prose(&text), Some(VerdictStatus::Pass));
    }

    #[test]
    fn a_verdict_survives_its_own_json(word in "pass|fail|blocked|error|x", text in "\\PC{0,20}") {
        let verdict = map_parsed_to_verdict(&json!({"verdict": word, "assertions": [{"id": "a"}]}), &text);
        let json = serde_json::to_string(&verdict).unwrap();
        prop_assert_eq!(serde_json::from_str::<Verdict>(&json).unwrap(), verdict);
    }
}
