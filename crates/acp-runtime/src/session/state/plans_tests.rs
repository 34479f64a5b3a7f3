use serde_json::{Value, json};

use super::super::SessionState;
use super::super::testing::{small, state};

fn entries(contents: &[&str]) -> Value {
    contents.iter().map(|content| json!({ "content": content, "priority": "high", "status": "pending" })).collect()
}

fn plan(contents: &[&str]) -> Value {
    json!({ "sessionUpdate": "plan", "entries": entries(contents) })
}

fn by_id(id: &str, contents: &[&str]) -> Value {
    json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "planId": id, "entries": entries(contents) } })
}

#[test]
fn c36_a_plan_replaces_the_whole_plan() {
    let shown = state(&[plan(&["a", "b"]), plan(&["c"])]);
    assert_eq!(shown["plans"], json!([{ "type": "items", "entries": entries(&["c"]) }]));
    let null = json!({ "sessionUpdate": "plan", "entries": null });
    assert_eq!(state(&[plan(&["a"]), null])["plans"], json!([{ "type": "items", "entries": [] }]));
    let nonsense = json!({ "sessionUpdate": "plan", "entries": 5 });
    assert_eq!(state(&[plan(&["a"]), nonsense])["plans"][0]["entries"], entries(&["a"]));
}

#[test]
fn c36_plans_by_id_are_apart_and_an_unknown_removal_is_ignored() {
    let removed = |id: &str| json!({ "sessionUpdate": "plan_removed", "planId": id });
    let text = json!({ "sessionUpdate": "plan_update", "plan": { "type": "markdown", "planId": "m", "content": "# A", "path": "/p" } });
    let old = json!({ "sessionUpdate": "plan_update", "plan": { "type": "items", "id": "old", "entries": [] } });
    let updates = [
        plan(&["own"]),
        by_id("a", &["1"]),
        by_id("b", &["2"]),
        by_id("a", &["3"]),
        text,
        old,
        removed("b"),
        removed("x"),
    ];
    let shown = state(&updates);
    let expected = json!([
        { "type": "items", "entries": entries(&["own"]) },
        { "planId": "a", "type": "items", "entries": entries(&["3"]) },
        { "planId": "m", "type": "markdown", "content": "# A", "path": "/p" },
        { "planId": "old", "type": "items", "entries": [] },
    ]);
    assert_eq!(shown["plans"], expected);
    let gone = json!({ "sessionUpdate": "plan_removed", "id": "old" });
    assert_eq!(state(updates.iter().chain([&gone]))["plans"].as_array().unwrap().len(), 3);
}

#[test]
fn plans_and_their_entries_are_bounded_and_cleaned() {
    let updates = [by_id("a", &["x"]), by_id("b", &["\u{1b}[1mx"]), by_id("c", &["1", "2", "3", "4"])];
    let shown = SessionState::new(small()).fed(&updates).shown();
    let ids: Vec<_> = shown["plans"].as_array().unwrap().iter().map(|plan| plan["planId"].clone()).collect();
    assert_eq!(ids, ["b", "c"]);
    assert_eq!(shown["plans"][0]["entries"][0]["content"], "x");
    let kept = shown["plans"][1]["entries"].as_array().unwrap().len() as u64;
    assert!(kept < 4);
    assert_eq!((&shown["dropped"]["plans"], shown["dropped"]["values"].as_u64()), (&json!(1), Some(4 - kept)));
}
