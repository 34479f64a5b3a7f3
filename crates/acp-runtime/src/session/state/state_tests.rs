//! Any sequence of updates.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::testing::{announce_any, chunk, raw, small};
use super::*;

#[derive(Clone, Debug)]
enum Event {
    Update(Value),
    Child(String, Value),
    Begin,
    End,
    Cancel,
    Replay(bool),
    Gone,
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]", "[a-zé🚀\u{1b}\u{7f}\r\n\\[]{0,12}", Just("x".repeat(90))]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        word().prop_map(Value::from)
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((word(), inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn status() -> impl Strategy<Value = Value> {
    proptest::sample::select(vec!["pending", "in_progress", "completed", "failed", "cancelled", "odd"])
        .prop_map(Value::from)
}

/// Updates of every kind, with members that fit and members that do not.
fn update() -> impl Strategy<Value = Value> {
    let id = || proptest::sample::select(vec!["a", "b", "c", "d", "e"]);
    let chunks = (
        proptest::sample::select(vec!["agent_message", "agent_thought", "user_message"]),
        proptest::option::of(id()),
        word(),
    )
        .prop_map(|(role, id, text)| chunk(role, id, &text));
    let calls = (any::<bool>(), id(), proptest::option::of(status()), value())
        .prop_map(|(first, id, status, value)| {
            let tag = if first { "tool_call" } else { "tool_call_update" };
            json!({ "sessionUpdate": tag, "toolCallId": id, "status": status, "title": value, "rawInput": value, "content": value })
        });
    let others = (
        proptest::sample::select(vec![
            "agent_message_chunk",
            "plan",
            "plan_update",
            "plan_removed",
            "compaction_update",
            "compaction_summary_chunk",
            "available_commands_update",
            "current_mode_update",
            "config_option_update",
            "session_info_update",
            "prompt_suggestions_update",
            "usage_update",
            "notice",
            "subagent_update",
            "session_message",
            "session_message_chunk",
            "_x",
        ]),
        id(),
        value(),
    )
        .prop_map(|(tag, id, value)| announce_any(tag, id, &value));
    prop_oneof![3 => chunks, 3 => calls, 3 => others]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        12 => update().prop_map(Event::Update),
        4 => (proptest::sample::select(vec!["k1", "k2", "k3", "k4"]), update()).prop_map(|(id, update)| Event::Child(id.to_owned(), update)),
        1 => Just(Event::Begin),
        1 => Just(Event::End),
        1 => Just(Event::Cancel),
        1 => any::<bool>().prop_map(Event::Replay),
        1 => Just(Event::Gone),
    ]
}

fn feed(state: &mut SessionState, event: &Event) {
    match event {
        Event::Update(update) => state.apply(&raw(update)),
        Event::Child(child, update) => {
            let raw = raw(update);
            state.on_child_update(child, &update::peek(&raw).unwrap(), (&*raw).into());
        }
        Event::Begin => state.begin_turn(),
        Event::End => state.end_turn(None),
        Event::Cancel => state.cancel_open_calls(),
        Event::Replay(replaying) => state.set_replaying(*replaying),
        Event::Gone => state.end(),
    }
}

/// Places and statuses of calls that have ended.
fn ended(state: &Value) -> Vec<(u64, bool)> {
    let calls = state["toolCalls"].as_array().unwrap().iter();
    calls
        .map(|call| {
            let status = call["status"].as_str().unwrap();
            (call["order"].as_u64().unwrap(), !matches!(status, "pending" | "in_progress"))
        })
        .collect()
}

proptest! {
    #[test]
    fn any_sequence_is_bounded_clean_and_keeps_ends(events in proptest::collection::vec(event(), 0..120)) {
        let limits = small();
        let mut state = SessionState::new(limits);
        let mut before: Vec<(u64, bool)> = Vec::new();
        let mut version = 0;
        for event in &events {
            feed(&mut state, event);
            prop_assert!(state.version() >= version);
            version = state.version();
            let shown = state.shown();
            let count = |list: &str| shown[list].as_array().unwrap().len();
            prop_assert!(count("messages") <= limits.messages && state.tool_calls.len() <= limits.tool_calls);
            prop_assert!(count("plans") <= limits.plans && count("compactions") <= limits.compactions);
            prop_assert!(count("subagents") <= limits.subagents);
            prop_assert!(state.messages.bytes() <= limits.messages_bytes && state.tool_calls.bytes() <= limits.tool_bytes);
            prop_assert!(state.bytes() < 16 * 1024, "{}", state.bytes());
            let now = ended(&shown);
            for (order, was_ended) in before {
                let still = now.iter().find(|(other, _)| *other == order);
                prop_assert!(!was_ended || still.is_none_or(|(_, ended)| *ended), "{event:?}");
            }
            before = now;
        }
        let text = serde_json::to_string(&state).unwrap();
        for control in ["\\u001b", "\u{7f}", "\\r", "\\u0007"] {
            prop_assert!(!text.contains(control), "{text}");
        }
    }

    #[test]
    fn the_same_sequence_gives_the_same_state(events in proptest::collection::vec(event(), 0..80)) {
        let shown = || {
            let mut state = SessionState::new(small());
            for event in &events {
                feed(&mut state, event);
            }
            serde_json::to_string(&state).unwrap()
        };
        prop_assert_eq!(shown(), shown());
    }

    #[test]
    fn text_split_anywhere_gives_the_same_messages(
        pieces in proptest::collection::vec((0usize..3, proptest::option::of("[ab]"), "[a-zé🚀]{1,40}"), 1..12),
        cuts in proptest::collection::vec(0usize..40, 12),
    ) {
        const ROLES: [&str; 3] = ["agent_message", "agent_thought", "user_message"];
        let mut whole = SessionState::new(small());
        let mut split = SessionState::new(small());
        for ((role, id, text), cut) in pieces.iter().zip(cuts) {
            whole.apply(&raw(&chunk(ROLES[*role], id.as_deref(), text)));
            let cut = (0..=cut.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            for part in [&text[..cut], &text[cut..]] {
                split.apply(&raw(&chunk(ROLES[*role], id.as_deref(), part)));
            }
        }
        let (whole, split) = (whole.shown(), split.shown());
        prop_assert_eq!(&whole["messages"], &split["messages"]);
        prop_assert_eq!(&whole["dropped"], &split["dropped"]);
    }
}

#[test]
fn a_reader_hears_only_of_changes() {
    let shared = SharedState::new();
    let first = shared.read(None).unwrap().unwrap();
    let version = serde_json::from_str::<Value>(&first).unwrap()["version"].as_u64();
    assert_eq!(shared.read(version).unwrap(), None);
    shared.lock().apply(&raw(&chunk("agent_message", None, "x")));
    assert!(shared.read(version).unwrap().is_some_and(|json| json.contains("\"x\"")));
}

#[test]
fn json_that_is_deep_or_odd_is_still_shown() {
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let line =
        format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"t","rawInput":{deep},"rawOutput":"\u0007{}"}}"#, "x");
    let update: &RawValue = serde_json::from_str(&line).unwrap();
    let mut state = SessionState::default();
    state.apply(update);
    let deep_and_dirty = format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"u","rawInput":["\u001b[1m",{deep}]}}"#);
    state.apply(serde_json::from_str(&deep_and_dirty).unwrap());
    let text = serde_json::to_string(&state).unwrap();
    assert!(text.contains(&deep) && !text.contains("\\u0007"));
    assert!(text.contains(&format!(r#""rawInput":["",{deep}]"#)) && !text.contains("u001b"));
}
