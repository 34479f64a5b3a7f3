use serde_json::{Value, json};

use super::super::SessionState;
use super::super::testing::{agent, small, state, texts};

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn chunk(id: &str, words: &str) -> Value {
    json!({ "sessionUpdate": "compaction_summary_chunk", "compactionId": id, "content": text(words) })
}

fn update(id: &str, more: Value) -> Value {
    let mut update = json!({ "sessionUpdate": "compaction_update", "compactionId": id });
    update.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    update
}

#[test]
fn c39_chunks_append_and_a_summary_replaces_them() {
    let updates = [
        chunk("c", "1"),
        chunk("c", "2"),
        update("c", json!({ "status": "_odd", "summary": [text("A")], "error": "why" })),
        chunk("c", "3"),
    ];
    let shown = state(&updates);
    let expected = json!([{ "order": 0, "compactionId": "c", "status": "_odd", "error": "why", "summary": [text("A"), text("3")] }]);
    assert_eq!(shown["compactions"], expected);
    let cleared = update("c", json!({ "status": "completed", "summary": null, "error": null }));
    let shown = state(updates.iter().chain([&cleared]));
    assert_eq!(
        shown["compactions"],
        json!([{ "order": 0, "compactionId": "c", "status": "completed", "summary": [] }])
    );
}

#[test]
fn first_sight_fixes_the_place_and_a_chunk_begins_one_in_progress() {
    let shown =
        state(&[agent("a"), chunk("c", "1"), agent("b"), update("c", json!({ "status": "completed" })), agent("c")]);
    assert_eq!((&shown["compactions"][0]["order"], texts(&shown).len()), (&json!(1), 2));
    assert_eq!(state(&[chunk("c", "1")])["compactions"][0]["status"], "in_progress");
}

#[test]
fn compactions_are_bounded() {
    let updates: Vec<_> = ["a", "b", "c"].iter().flat_map(|id| vec![chunk(id, "0123456789"); 9]).collect();
    let shown = SessionState::new(small()).fed(&updates).shown();
    assert_eq!((shown["compactions"].as_array().unwrap().len(), &shown["dropped"]["compactions"]), (2, &json!(1)));
    assert!(shown["compactions"].to_string().len() < 600, "{shown}");
    assert!(shown["dropped"]["values"].as_u64().unwrap() > 0);
}
