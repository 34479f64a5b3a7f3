use serde_json::{Value, json};

use super::super::SessionState;
use super::super::testing::{call, raw, small, state, statuses, update};

fn said(id: &str, status: &str) -> (String, String) {
    (id.to_owned(), status.to_owned())
}

#[test]
fn c35_absent_and_null_leave_a_field_and_a_value_replaces_it_whole() {
    let full = json!({
        "title": "T", "name": "n", "kind": "edit", "status": "in_progress", "rawInput": { "a": 1, "b": 2 },
        "content": [{ "type": "content", "content": { "type": "text", "text": "x" } }],
        "locations": [{ "path": "/a" }, { "path": "/b" }], "rawOutput": 5, "_meta": { "k": 1 },
    });
    let null =
        full.as_object().unwrap().keys().map(|key| (key.clone(), Value::Null)).collect::<serde_json::Map<_, _>>();
    let mut expected = full.clone();
    expected
        .as_object_mut()
        .unwrap()
        .extend(json!({ "order": 0, "toolCallId": "t", "incomplete": false }).as_object().unwrap().clone());
    let state1 = state(&[call("t", full.clone()), update("t", json!({})), update("t", Value::Object(null))]);
    assert_eq!(state1["toolCalls"], json!([expected]));
    let replaced = json!({ "rawInput": { "c": 3 }, "content": [], "locations": [{ "path": "/c" }] });
    let state2 = state(&[call("t", full), update("t", replaced.clone())]);
    for (key, value) in replaced.as_object().unwrap() {
        assert_eq!(&state2["toolCalls"][0][key], value);
    }
    assert_eq!(state2["toolCalls"][0]["title"], "T");
}

#[test]
fn c37_an_unknown_id_and_a_second_announcement_are_merged() {
    let updates = [
        update("u", json!({ "title": "first" })),
        call("u", json!({ "kind": "read", "title": "second" })),
        call("u", json!({ "kind": "edit", "title": "third" })),
        call("", json!({})),
        json!({ "sessionUpdate": "tool_call" }),
        json!({ "sessionUpdate": "tool_call", "toolCallId": 5 }),
    ];
    let state = state(&updates);
    assert_eq!(statuses(&state), [said("u", "pending")]);
    assert_eq!((&state["toolCalls"][0]["kind"], &state["toolCalls"][0]["title"]), (&json!("edit"), &json!("third")));
}

#[test]
fn an_end_is_never_lost_nor_taken_back() {
    for end in ["completed", "failed", "cancelled"] {
        for later in ["pending", "in_progress", "strange"] {
            let again = [
                call("t", json!({ "status": end })),
                update("t", json!({ "status": later })),
                call("t", json!({ "status": later })),
            ];
            assert_eq!(statuses(&state(&again)), [said("t", end)], "{end} {later}");
        }
    }
    let corrected = [call("t", json!({ "status": "completed" })), update("t", json!({ "status": "failed" }))];
    assert_eq!(statuses(&state(&corrected)), [said("t", "failed")]);
    let unknown = [call("t", json!({ "status": "in_progress" })), update("t", json!({ "status": "strange" }))];
    assert_eq!(statuses(&state(&unknown)), [said("t", "in_progress")]);
}

#[test]
fn c44_what_runs_counts_as_cancelled_until_the_agent_says_how_it_ended() {
    let mut state = SessionState::default().fed(&[
        call("done", json!({ "status": "completed" })),
        call("runs", json!({ "status": "in_progress" })),
        call("waits", json!({})),
    ]);
    state.cancel_open_calls();
    let shown = state.shown();
    assert_eq!(statuses(&shown), [said("done", "completed"), said("runs", "cancelled"), said("waits", "cancelled")]);
    let local: Vec<_> =
        shown["toolCalls"].as_array().unwrap().iter().map(|call| call["cancelledLocally"] == true).collect();
    assert_eq!(local, [false, true, true]);
    let state = state
        .fed(&[update("runs", json!({ "status": "in_progress" })), update("waits", json!({ "status": "completed" }))]);
    let shown = state.shown();
    assert_eq!(statuses(&shown), [said("done", "completed"), said("runs", "cancelled"), said("waits", "completed")]);
    assert_eq!(shown["toolCalls"][2].get("cancelledLocally"), None);
}

#[test]
fn an_id_that_is_used_again_in_a_later_turn_is_another_call() {
    let mut state = SessionState::default();
    for title in ["one", "two"] {
        state.begin_turn();
        state = state.fed(&[call("g1", json!({ "title": title })), update("g1", json!({ "status": "completed" }))]);
        state.end_turn(None);
    }
    let shown = state.shown();
    assert_eq!(statuses(&shown), [said("g1", "completed"), said("g1", "completed")]);
    assert_eq!((&shown["toolCalls"][0]["title"], &shown["toolCalls"][1]["title"]), (&json!("one"), &json!("two")));
    // A straggler concerns the newest.
    let shown = state.fed([&update("g1", json!({ "rawOutput": 1 }))]).shown();
    assert_eq!((shown["toolCalls"][0].get("rawOutput"), &shown["toolCalls"][1]["rawOutput"]), (None, &json!(1)));
}

#[test]
fn a_replay_has_turns_too_and_leaves_nothing_running() {
    let user = json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "go" } });
    let mut state = SessionState::default();
    state.set_replaying(true);
    let turn = [user, call("g1", json!({ "status": "completed" })), call("g2", json!({}))];
    state = state.fed(&turn).fed(&turn);
    state.set_replaying(false);
    let shown = state.shown();
    let expected = [said("g1", "completed"), said("g2", "cancelled"), said("g1", "completed")];
    // The second `g2` is the first, which had not ended.
    assert_eq!(statuses(&shown), expected);
    assert!(shown["toolCalls"].as_array().unwrap().iter().all(|call| call["replay"] == true));
}

#[test]
fn a_question_alone_makes_no_call_but_is_remembered_for_one() {
    let asked = json!({ "toolCallId": "q", "title": "Write", "rawInput": { "path": "/x" } });
    let mut state = SessionState::default();
    let question = raw(&json!({ "toolCall": asked }));
    state.on_question(&crate::wire::update::asked_tool_call(&question).unwrap());
    assert_eq!(state.shown()["toolCalls"], json!([]));
    let shown = state.fed([&update("q", json!({ "status": "completed" }))]).shown();
    assert_eq!(
        (&shown["toolCalls"][0]["title"], &shown["toolCalls"][0]["status"]),
        (&json!("Write"), &json!("completed"))
    );
}

#[test]
fn finished_calls_go_first_the_one_touched_longest_ago() {
    let updates = [
        call("runs", json!({})),
        call("old", json!({ "status": "completed" })),
        call("new", json!({ "status": "completed" })),
        update("old", json!({ "rawOutput": 1 })),
        call("next", json!({})),
    ];
    let state = SessionState::new(small()).fed(&updates);
    assert_eq!(statuses(&state.shown()), [said("runs", "pending"), said("old", "completed"), said("next", "pending")]);
    let state = state.fed(&[call("a", json!({})), call("b", json!({ "status": "failed" }))]);
    let shown = state.shown();
    assert_eq!(statuses(&shown), [said("next", "pending"), said("a", "pending"), said("b", "failed")]);
    assert_eq!(shown["dropped"]["toolCalls"], 3);
}

#[test]
fn a_value_too_large_leaves_the_earlier_one_and_says_so() {
    let updates = [call("t", json!({ "rawOutput": "small" })), update("t", json!({ "rawOutput": "x".repeat(100) }))];
    let shown = SessionState::new(small()).fed(&updates).shown();
    assert_eq!(
        (&shown["toolCalls"][0]["rawOutput"], &shown["toolCalls"][0]["incomplete"]),
        (&json!("small"), &json!(true))
    );
}

#[test]
fn parents_are_named_and_strings_are_cleaned() {
    let meta = json!({ "claudeCode": { "parentToolUseId": "task" } });
    let shown = state(&[call(
        "t\u{7}",
        json!({ "title": "a\u{1b}[2Jb", "rawInput": { "c\u{0}": ["\u{9b}31md"] }, "_meta": meta }),
    )]);
    let call = &shown["toolCalls"][0];
    assert_eq!(
        (&call["toolCallId"], &call["title"], &call["rawInput"]),
        (&json!("t"), &json!("ab"), &json!({ "c": ["d"] }))
    );
    assert_eq!((&call["parentToolCallId"], &call["_meta"]), (&json!("task"), &meta_of()));
}

fn meta_of() -> Value {
    json!({ "claudeCode": { "parentToolUseId": "task" } })
}

#[test]
fn what_is_counted_is_what_is_held() {
    let mut state = SessionState::new(small());
    for n in 0..300_usize {
        let status = ["pending", "completed", "in_progress"][n % 3];
        let more = json!({ "rawOutput": "x".repeat(n % 70), "status": status });
        state.apply(&raw(&call(&(n % 7).to_string(), more)));
        if n % 11 == 0 {
            state.end_turn(None);
            state.begin_turn();
        }
        let calls = &state.tool_calls;
        let held: usize = calls.open.iter().chain(&calls.ended).map(|(_, call)| call.weight()).sum();
        assert_eq!((calls.bytes(), calls.len() <= 3), (held, true));
        assert!(calls.index.len() <= calls.len());
    }
}
