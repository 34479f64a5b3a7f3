//! Tool calls merged over their messages.

use acp_runtime::services::permission::{Category, Classification, ToolCallPatch, ToolCallTracker};
use proptest::prelude::*;
use serde_json::{Value, json};

fn apply(tracker: &mut ToolCallTracker, message: &Value) -> Value {
    let text = message.to_string();
    merge(tracker, &text)
}

fn merge(tracker: &mut ToolCallTracker, message: &str) -> Value {
    let patch = ToolCallPatch::decode(message).unwrap();
    tracker.apply(&patch);
    serde_json::from_str(tracker.view_in(None, patch.id()).unwrap().get()).unwrap()
}

#[test]
fn nothing_later_hides_an_earlier_command() {
    let mut tracker = ToolCallTracker::default();
    let command = json!({ "command": "rm -rf build" });
    apply(
        &mut tracker,
        &json!({ "toolCallId": "t", "title": "Clean", "kind": "execute", "rawInput": command,
        "content": [{ "type": "content" }], "locations": [{ "path": "/w/build" }] }),
    );
    for later in [
        json!({ "toolCallId": "t" }),
        json!({ "toolCallId": "t", "rawInput": null, "title": null, "kind": null, "content": null, "locations": null }),
        json!({ "toolCallId": "t", "rawInput": {}, "title": "", "kind": "" }),
        json!({ "toolCallId": "t", "title": "  \t", "kind": 5, "status": [] }),
    ] {
        let view = apply(&mut tracker, &later);
        assert_eq!(view["rawInput"], command, "{later}");
        assert_eq!((view["title"].as_str(), view["kind"].as_str()), (Some("Clean"), Some("execute")), "{later}");
        assert_eq!((&view["locations"][0]["path"], view["content"].as_array().unwrap().len()), (&json!("/w/build"), 1));
    }
    let view =
        apply(&mut tracker, &json!({ "toolCallId": "t", "rawInput": { "command": "ls" }, "status": "completed" }));
    assert_eq!((&view["rawInput"]["command"], &view["status"]), (&json!("ls"), &json!("completed")));
    assert_eq!(view["incomplete"], json!(false));
}

#[test]
fn arguments_that_arrive_late_replace_the_empty_ones() {
    let mut tracker = ToolCallTracker::default();
    apply(&mut tracker, &json!({ "toolCallId": "t", "title": "Terminal", "rawInput": {} }));
    let view = apply(&mut tracker, &json!({ "toolCallId": "t", "rawInput": { "command": "ls" } }));
    assert_eq!(view["rawInput"], json!({ "command": "ls" }));
}

#[test]
fn a_governed_call_stays_governed() {
    let mut tracker = ToolCallTracker::default();
    let mut class = |message: Value| {
        let text = message.to_string();
        let patch = ToolCallPatch::decode(&text).unwrap();
        tracker.apply(&patch);
        tracker.get(patch.id()).unwrap().classification()
    };
    let commands = Classification::Category(Category::CommandExecution);
    assert_eq!(class(json!({ "toolCallId": "t" })), Classification::Deny);
    assert_eq!(class(json!({ "toolCallId": "t", "kind": "read" })), Classification::Exempt);
    assert_eq!(class(json!({ "toolCallId": "t", "kind": "execute" })), commands);
    assert_eq!(class(json!({ "toolCallId": "t", "kind": "read" })), commands, "no way back to harmless");
    assert_eq!(class(json!({ "toolCallId": "t", "kind": "other" })), Classification::Deny);
    assert_eq!(class(json!({ "toolCallId": "u", "kind": "read" })), Classification::Exempt, "calls are separate");
}

#[test]
fn what_the_host_sees_is_clean() {
    let mut tracker = ToolCallTracker::default();
    let view = apply(
        &mut tracker,
        &json!({ "toolCallId": "t\u{7}", "title": "a\u{1b}[2Jb\u{0}", "kind": "exe\u{8}cute",
        "rawInput": { "command": "ls\u{1b}[8m; rm x", "k\u{7}": ["\u{9b}1m", 1, null] } }),
    );
    let text = view.to_string();
    assert!(!text.contains("\\u00") && !text.contains('\u{9b}'), "{text}");
    assert!(view["rawInput"]["command"].as_str().unwrap().ends_with("; rm x"));
}

#[test]
fn json_that_is_no_value_is_shown_clean_too() {
    let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(1000), "]".repeat(1000));
    let call = |input: &str| format!(r#"{{"toolCallId":"t","rawInput":{input}}}"#);
    for (said, shown) in [
        (deep(r#""rm\u001b[2J""#), deep(r#""rm""#)),
        (r#"{"command":"rm \ud800\u0007x"}"#.to_owned(), r#"{"command":"rm �x"}"#.to_owned()),
    ] {
        let mut tracker = ToolCallTracker::default();
        let message = call(&said);
        let patch = ToolCallPatch::decode(&message).unwrap();
        tracker.apply(&patch);
        let view = tracker.view_in(None, patch.id()).unwrap();
        assert!(view.get().contains(&format!(r#""rawInput":{shown}"#)), "{}", view.get());
        assert!(view.get().contains(r#""incomplete":false"#));
    }
}

#[test]
fn what_was_shown_is_not_cleaned_again_until_it_is_said_anew() {
    let mut tracker = ToolCallTracker::default();
    let fat = |text: &str| json!({ "toolCallId": "t", "rawInput": vec![text; 10_000] });
    apply(&mut tracker, &fat("a\u{1b}[2Jb"));
    // What was cleaned is kept in place of what was said: the memory is the same one, and counted.
    let kept = |tracker: &ToolCallTracker| tracker.get("t").unwrap().raw_input.as_ref().unwrap().get().as_ptr();
    let (clean, bytes) = (kept(&tracker), tracker.bytes());
    assert_eq!(tracker.get("t").unwrap().raw_input.as_ref().unwrap().get().len(), 10_000 * 5 + 1);
    assert!((50_000..51_000).contains(&bytes), "{bytes}");
    for again in [json!({ "toolCallId": "t" }), json!({ "toolCallId": "t", "title": "x", "rawInput": {} })] {
        let view = apply(&mut tracker, &again);
        assert_eq!((&view["rawInput"][9_999], kept(&tracker)), (&json!("ab"), clean), "{again}");
    }
    assert_eq!(apply(&mut tracker, &fat("c\u{7}d"))["rawInput"][0], json!("cd"), "what is new is cleaned");
}

#[test]
fn memory_is_bounded_and_the_least_recent_goes_first() {
    let mut tracker = ToolCallTracker::default();
    apply(&mut tracker, &json!({ "toolCallId": "kept", "title": "kept" }));
    for i in 0..2000 {
        apply(&mut tracker, &json!({ "toolCallId": format!("c{i}") }));
        if i % 500 == 0 {
            apply(&mut tracker, &json!({ "toolCallId": "kept" }));
        }
    }
    assert_eq!(tracker.len(), 1000);
    assert_eq!(tracker.get("kept").unwrap().title.as_deref(), Some("kept"));
    assert!(tracker.get("c0").is_none() && tracker.get("c1999").is_some());
    let large = "x".repeat(200_000);
    for i in 0..500 {
        apply(&mut tracker, &json!({ "toolCallId": format!("big{i}"), "rawInput": large }));
    }
    assert!(tracker.bytes() <= 16 * 1024 * 1024 && tracker.len() < 300);
    assert!(tracker.get("big499").is_some());
    tracker.clear();
    assert_eq!((tracker.len(), tracker.bytes()), (0, 0));
}

#[test]
fn a_value_too_large_to_keep_is_owned_up_to() {
    let mut tracker = ToolCallTracker::default();
    apply(&mut tracker, &json!({ "toolCallId": "t", "rawInput": { "command": "rm x" } }));
    let view = apply(&mut tracker, &json!({ "toolCallId": "t", "rawInput": { "pad": "x".repeat(300_000) } }));
    assert_eq!((&view["rawInput"]["command"], &view["incomplete"]), (&json!("rm x"), &json!(true)));
}

#[test]
fn unusable_ids_are_not_tracked() {
    for bad in ["{}", r#"{"toolCallId":5}"#, r#"{"toolCallId":""}"#, "[]", "x", r#"["t"]"#] {
        assert!(ToolCallPatch::decode(bad).is_none(), "{bad}");
    }
    let long = json!({ "toolCallId": "x".repeat(5000) }).to_string();
    assert!(ToolCallPatch::decode(&long).is_none());
}

proptest! {
    /// Against a plain model: the last value that says something wins.
    #[test]
    fn the_last_value_that_says_something_wins(
        updates in prop::collection::vec((0usize..3, 0usize..5), 1..40),
    ) {
        let inputs = [None, Some(json!(null)), Some(json!({})), Some(json!({ "command": "a" })), Some(json!({ "command": "b" }))];
        let mut tracker = ToolCallTracker::default();
        let mut model: [Option<Value>; 3] = Default::default();
        for (id, input) in updates {
            let mut message = json!({ "toolCallId": id.to_string() });
            if let Some(input) = &inputs[input] {
                message["rawInput"] = input.clone();
            }
            let view = apply(&mut tracker, &message);
            match &inputs[input] {
                None | Some(Value::Null) => {}
                Some(empty) if *empty == json!({}) => { model[id].get_or_insert(json!({})); }
                Some(value) => model[id] = Some(value.clone()),
            }
            prop_assert_eq!(view.get("rawInput"), model[id].as_ref());
        }
    }
}
