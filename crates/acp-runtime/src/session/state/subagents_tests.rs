use serde_json::{Value, json};

use super::super::SessionState;
use super::super::testing::{agent, call, raw, small, state, statuses, texts};
use crate::wire::update;

fn announce(id: &str, more: Value) -> Value {
    let mut update = json!({ "sessionUpdate": "subagent_update", "sessionId": id });
    update.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    update
}

impl SessionState {
    fn heard(mut self, child: &str, update: &Value) -> Self {
        let raw = raw(update);
        self.on_child_update(child, &update::peek(&raw).unwrap(), (&*raw).into());
        self
    }
}

#[test]
fn c40_what_a_parent_says_of_a_child_is_patched() {
    let first = announce(
        "c",
        json!({ "title": "T", "description": "D", "state": { "state": "running" }, "capabilities": { "cancel": {} } }),
    );
    let shown = state(&[first, announce("c", json!({ "title": null, "state": { "state": "unknown" } }))]);
    let child = &shown["subagents"][0];
    assert_eq!((&child["sessionId"], child.get("title"), &child["description"]), (&json!("c"), None, &json!("D")));
    assert_eq!((&child["state"], &child["capabilities"]), (&json!({ "state": "unknown" }), &json!({ "cancel": {} })));
    assert_eq!(state(&[announce("", json!({}))])["subagents"], json!([]));
}

#[test]
fn a_child_has_a_state_of_its_own_and_its_children_are_listed_beside_it() {
    let shown = SessionState::default()
        .fed(&[agent("parent"), call("same", json!({ "title": "parent's" })), announce("c", json!({}))])
        .heard("c", &agent("child"))
        .heard("c", &call("same", json!({ "title": "child's" })))
        .heard("c", &announce("g", json!({ "title": "G" })))
        .heard("g", &agent("grandchild"))
        .shown();
    assert_eq!(texts(&shown)[0].2, "parent");
    let children = shown["subagents"].as_array().unwrap();
    assert_eq!(texts(&children[0]["session"])[0].2, "child");
    assert_eq!(
        (&shown["toolCalls"][0]["title"], &children[0]["session"]["toolCalls"][0]["title"]),
        (&json!("parent's"), &json!("child's"))
    );
    assert_eq!((&children[1]["sessionId"], &children[1]["parentSessionId"]), (&json!("g"), &json!("c")));
    assert_eq!(
        (texts(&children[1]["session"])[0].2.as_str(), &children[0]["session"]["subagents"]),
        ("grandchild", &json!([]))
    );
}

#[test]
fn calls_of_an_idle_child_do_not_run_and_a_turn_of_the_parent_does_not_end_them() {
    let mut state = SessionState::default().fed([&announce("c", json!({}))]).heard("c", &call("t", json!({})));
    let status = |state: &SessionState| statuses(&state.shown()["subagents"][0]["session"])[0].1.clone();
    state.begin_turn();
    state.end_turn(None);
    assert_eq!(status(&state), "pending");
    let idle = announce("c", json!({ "state": { "state": "idle", "stopReason": "end_turn" } }));
    assert_eq!(status(&state.fed([&idle])), "cancelled");
}

#[test]
fn with_the_agent_gone_nothing_runs_and_no_activity_is_confirmed() {
    let running = announce("c", json!({ "state": { "state": "running" } }));
    let mut state = SessionState::default().fed([&running]).heard("c", &call("t", json!({})));
    state.end();
    let child = &state.shown()["subagents"][0];
    assert_eq!((child.get("state"), statuses(&child["session"])[0].1.as_str()), (None, "cancelled"));
}

#[test]
fn children_are_bounded_in_number_and_together_in_bytes() {
    let mut state = SessionState::new(small());
    for child in ["a", "b", "c", "d", "e"] {
        for n in 0..40 {
            state = state.heard(child, &call(&n.to_string(), json!({ "rawOutput": "0123456789" })));
            state = state.heard(child, &agent("0123456789"));
            assert!(state.bytes() <= 4096 + 64, "{}", state.bytes());
        }
    }
    let shown = state.shown();
    assert_eq!(shown["subagents"].as_array().unwrap().len(), 3);
    assert!(shown["dropped"]["subagents"].as_u64().unwrap() >= 2);
    assert!(!statuses(&shown["subagents"][2]["session"]).is_empty(), "the one that speaks is there");
}
