use serde_json::json;

use super::super::SessionState;
use super::super::testing::{raw, small, state};

#[test]
fn each_update_replaces_the_whole_of_what_it_speaks_of() {
    let updates = [
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [{ "name": "a", "description": "A" }] }),
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": [{ "name": "b", "description": "B\u{1b}[1m" }] }),
        json!({ "sessionUpdate": "config_option_update", "configOptions": [{ "id": "x" }, { "id": "y" }] }),
        json!({ "sessionUpdate": "config_option_update", "configOptions": [{ "id": "y" }, { "id": "x", "type": "slider" }] }),
        json!({ "sessionUpdate": "prompt_suggestions_update", "suggestions": [{ "prompt": [] }] }),
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": "ask" }),
        json!({ "sessionUpdate": "current_mode_update", "currentModeId": 7 }),
    ];
    let shown = state(&updates);
    assert_eq!(shown["availableCommands"], json!([{ "name": "b", "description": "B" }]));
    assert_eq!(
        shown["configOptions"],
        json!([{ "id": "y" }, { "id": "x", "type": "slider" }]),
        "order and the unknown kept"
    );
    assert_eq!((&shown["promptSuggestions"], &shown["currentModeId"]), (&json!([{ "prompt": [] }]), &json!("ask")));
    let withdrawn = json!({ "sessionUpdate": "prompt_suggestions_update", "suggestions": [] });
    assert_eq!(state(updates.iter().chain([&withdrawn]))["promptSuggestions"], json!([]));
}

#[test]
fn a_title_that_is_left_out_stays_and_null_clears_it() {
    let info = |more: serde_json::Value| {
        let mut update = json!({ "sessionUpdate": "session_info_update" });
        update.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        update
    };
    let set = info(json!({ "title": "T\u{7}", "updatedAt": "2026-01-01T00:00:00Z" }));
    let shown = state(&[set.clone(), info(json!({ "updatedAt": null }))]);
    assert_eq!((&shown["title"], shown.get("updatedAt")), (&json!("T"), None));
    assert_eq!(state(&[set, info(json!({ "title": 5 }))])["title"], "T");
}

#[test]
fn results_of_calls_are_taken_and_what_is_unset_is_absent() {
    let mut state = SessionState::default();
    assert_eq!(state.shown().get("currentModeId"), None);
    let modes =
        json!({ "currentModeId": "a", "availableModes": [{ "id": "a", "name": "A" }, { "id": "b", "name": "B" }] });
    state.on_result(&raw(&json!({ "sessionId": "s", "modes": modes, "configOptions": null })));
    state.on_mode(&raw(&json!("b")));
    let shown = state.shown();
    assert_eq!((&shown["currentModeId"], &shown["availableModes"]), (&json!("b"), &modes["availableModes"]));
    assert_eq!(shown["configOptions"], json!([]));
    state.on_result(&raw(&json!(null)));
    assert_eq!(state.shown(), shown, "nothing said, nothing changed");
}

#[test]
fn context_and_cost_are_the_last_ones_said() {
    let updates = [
        json!({ "sessionUpdate": "usage_update", "used": 1, "size": 100, "cost": { "amount": 0.1, "currency": "USD" } }),
        json!({ "sessionUpdate": "usage_update", "used": 2, "size": 200 }),
        json!({ "sessionUpdate": "usage_update", "used": "?", "size": -1 }),
    ];
    let shown = state(&updates);
    assert_eq!(
        (&shown["context"], &shown["cost"]),
        (&json!({ "used": 2, "size": 200 }), &json!({ "amount": 0.1, "currency": "USD" }))
    );
}

#[test]
fn notices_and_unknown_updates_change_nothing() {
    let mut state = SessionState::default();
    for update in [
        json!({ "sessionUpdate": "notice", "severity": "error", "title": "t" }),
        json!({ "sessionUpdate": "_vendor", "messages": [] }),
        json!({ "noTag": 1 }),
        json!([1]),
    ] {
        state.apply(&raw(&update));
    }
    assert_eq!((state.version(), state.shown()), (0, SessionState::default().shown()));
}

#[test]
fn lists_are_bounded() {
    let commands: Vec<_> = (0..9).map(|n| json!({ "name": n.to_string() })).collect();
    let update = json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands });
    let shown = SessionState::new(small()).fed([&update]).shown();
    assert_eq!((shown["availableCommands"].as_array().unwrap().len(), &shown["dropped"]["values"]), (3, &json!(6)));
}
