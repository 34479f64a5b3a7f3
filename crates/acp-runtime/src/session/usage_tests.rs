use serde_json::json;

use super::*;

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn turn(session: &mut SessionUsage, result: &Value) -> Value {
    session.begin_turn();
    serde_json::to_value(session.end_turn(Some(&raw(result)))).unwrap()
}

#[test]
fn every_known_place_is_read_and_named() {
    let counts = json!({ "input_tokens": 3, "output_tokens": 4 });
    for (result, source, scope) in [
        (json!({ "usage": { "inputTokens": 3, "outputTokens": 4 } }), "prompt_result", "unknown"),
        (json!({ "_meta": { "quota": { "token_count": counts } } }), "meta_quota", "turn"),
        (json!({ "_meta": { "quota": counts } }), "meta_quota", "turn"),
        (json!({ "_meta": { "field_meta": { "usage": counts } } }), "meta_field_meta", "unknown"),
        (json!({ "_meta": { "field_meta": counts } }), "meta_field_meta", "unknown"),
        (json!({ "_meta": { "usage": { "prompt_tokens": 3, "completion_tokens": 4 } } }), "meta_usage", "unknown"),
        // What is said in the protocol's own place counts.
        (
            json!({ "usage": { "inputTokens": 3, "outputTokens": 4 }, "_meta": { "usage": { "total_tokens": 9 } } }),
            "prompt_result",
            "unknown",
        ),
    ] {
        let expected = json!({ "inputTokens": 3, "outputTokens": 4, "source": source, "scope": scope });
        assert_eq!(turn(&mut SessionUsage::default(), &result), expected, "{result}");
    }
}

#[test]
fn absent_is_not_zero_and_nonsense_is_absent() {
    let mut session = SessionUsage::default();
    for nothing in [
        json!({}),
        json!(null),
        json!({ "usage": null }),
        json!({ "usage": {} }),
        json!({ "usage": 5 }),
        json!({ "usage": { "inputTokens": -1, "outputTokens": "3", "totalTokens": 1.5, "thoughtTokens": null } }),
    ] {
        assert_eq!(turn(&mut session, &nothing), json!(null), "{nothing}");
    }
    let zero = json!({ "usage": { "inputTokens": 0, "totalTokens": 2.0, "outputTokens": null } });
    let expected = json!({ "inputTokens": 0, "totalTokens": 2, "source": "prompt_result", "scope": "unknown" });
    assert_eq!(turn(&mut session, &zero), expected);
}

#[test]
fn counts_that_fall_are_no_sums_of_the_session() {
    let mut session = SessionUsage::default();
    let scopes: Vec<_> = [5, 7, 6, 90]
        .map(|total| turn(&mut session, &json!({ "usage": { "totalTokens": total } }))["scope"].clone())
        .into();
    assert_eq!(scopes, ["unknown", "unknown", "turn", "turn"]);
}

#[test]
fn a_usage_update_alone_is_a_report_and_a_late_one_is_not_the_next_turns() {
    let mut session = SessionUsage::default();
    session.begin_turn();
    session.update(&raw(&json!({ "used": 10, "size": 100, "cost": { "amount": 0.5, "currency": "U\u{1b}[1mSD" } })));
    session.update(&raw(&json!({ "used": 20, "size": "big" })));
    let expected = json!({
        "source": "usage_update", "scope": "session",
        "context": { "used": 20, "size": 100 }, "cost": { "amount": 0.5, "currency": "USD" },
    });
    assert_eq!(serde_json::to_value(session.end_turn(None)).unwrap(), expected);
    session.update(&raw(&json!({ "used": 30, "size": 100 })));
    session.begin_turn();
    assert_eq!(session.end_turn(None), None);
}

#[test]
fn counts_and_context_come_together() {
    let mut session = SessionUsage::default();
    session.begin_turn();
    session.update(&raw(&json!({ "used": 10, "size": 100, "cost": null })));
    let usage = session.end_turn(Some(&raw(&json!({ "usage": { "outputTokens": 1 } }))));
    let expected = json!({
        "outputTokens": 1, "source": "prompt_result", "scope": "unknown", "context": { "used": 10, "size": 100 },
    });
    assert_eq!(serde_json::to_value(usage).unwrap(), expected);
}

#[test]
fn what_stands_beside_the_counts_may_be_large_and_they_may_not() {
    let pad = "x".repeat(2 * MAX_COUNTS_BYTES);
    let beside = json!({ "_meta": { "log": &pad, "quota": { "token_count": { "input_tokens": 3 } } }, "more": &pad });
    assert_eq!(turn(&mut SessionUsage::default(), &beside)["inputTokens"], 3);
    let within = json!({ "usage": { "inputTokens": 3, "log": &pad } });
    assert_eq!(turn(&mut SessionUsage::default(), &within), json!(null));
    let mut context = Context::default();
    assert!(context.update(&raw(&json!({ "cost": { "amount": 2, "currency": "EUR", "log": [&pad] } }))));
    assert_eq!(context.cost, Some((2.0, "EUR".to_owned())));
    assert!(!context.update(&raw(&json!({ "cost": { "amount": 2 } }))));
}
