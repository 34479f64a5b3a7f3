use serde_json::json;

use super::super::SessionState;
use super::super::testing::{agent, call, chunk, raw, small, state, texts, update};

fn seen(role: &str, id: &str, text: &str) -> (String, String, String) {
    (role.to_owned(), id.to_owned(), text.to_owned())
}

#[test]
fn c34_chunks_of_one_id_are_one_message_and_ids_are_opaque() {
    let ids = [Some("a"), Some("a"), Some("b"), None, Some("b"), Some("A"), Some("")];
    let chunks: Vec<_> = ids.iter().enumerate().map(|(n, id)| chunk("agent_message", *id, &n.to_string())).collect();
    let expected = [
        seen("agent", "a", "01"),
        seen("agent", "b", "24"),
        seen("agent", "", "3"),
        seen("agent", "A", "5"),
        seen("agent", "", "6"),
    ];
    assert_eq!(texts(&state(&chunks)), expected);
}

#[test]
fn without_ids_a_message_ends_where_something_else_begins() {
    let updates = [
        agent("a"),
        agent("b"),
        chunk("agent_thought", None, "c"),
        agent("d"),
        call("t", json!({})),
        // Only the beginning of a call is something else.
        agent("e"),
        update("t", json!({ "status": "completed" })),
        agent("f"),
        chunk("user_message", None, "g"),
    ];
    let expected = [
        seen("agent", "", "ab"),
        seen("thought", "", "c"),
        seen("agent", "", "d"),
        seen("agent", "", "ef"),
        seen("user", "", "g"),
    ];
    let state = state(&updates);
    assert_eq!(texts(&state), expected);
    let orders: Vec<_> = state["messages"].as_array().unwrap().iter().map(|m| m["order"].as_u64().unwrap()).collect();
    assert_eq!((orders, state["toolCalls"][0]["order"].as_u64()), (vec![0, 1, 2, 4, 5], Some(3)));
}

#[test]
fn a_turn_begins_a_message() {
    let mut state = SessionState::default().fed([&agent("a")]);
    state.begin_turn();
    assert_eq!(texts(&state.fed([&agent("b")]).shown()), [seen("agent", "", "a"), seen("agent", "", "b")]);
}

#[test]
fn one_id_in_two_streams_is_two_messages() {
    let updates = [
        chunk("agent_message", Some("x"), "a"),
        chunk("agent_thought", Some("x"), "b"),
        chunk("agent_message", Some("x"), "c"),
    ];
    assert_eq!(texts(&state(&updates)), [seen("agent", "x", "ac"), seen("thought", "x", "b")]);
}

#[test]
fn other_blocks_are_kept_between_the_text() {
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    let noted = json!({ "type": "text", "text": "n", "annotations": { "priority": 1 } });
    let block = |content: &serde_json::Value| json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let state = state(&[agent("a"), agent("b"), block(&image), block(&noted), agent("c"), block(&json!("no block"))]);
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(state["messages"][0]["content"], json!([text("ab"), image, noted, text("c")]));
}

#[test]
fn text_and_blocks_are_cleaned() {
    let dirty = json!({ "sessionUpdate": "agent_message_chunk", "content": {
        "type": "resource_link", "uri": "file:///a", "name": "a\u{1b}[31mb\u{7f}\u{9b}1mc\r\n" } });
    let state = state(&[agent("x\u{1b}[31my\u{7}"), dirty]);
    assert_eq!(state["messages"][0]["content"][0]["text"], "xy");
    assert_eq!(state["messages"][0]["content"][1]["name"], "abc\n");
}

#[test]
fn words_of_a_subagent_in_its_parents_session_are_messages_of_their_own() {
    let mut inner = agent("inner");
    inner["_meta"] = json!({ "claudeCode": { "parentToolUseId": "task" } });
    let state = state(&[agent("a"), inner.clone(), inner, agent("b")]);
    let expected = [seen("agent", "", "a"), seen("agent", "", "innerinner"), seen("agent", "", "b")];
    assert_eq!(texts(&state), expected);
    assert_eq!(state["messages"][1]["parentToolCallId"], "task");
}

#[test]
fn a_long_message_is_cut_once_at_a_character() {
    let updates = [agent(&"é".repeat(31)), agent("€€"), agent("x")];
    let state = SessionState::new(small()).fed(&updates).shown();
    assert_eq!(texts(&state), [seen("agent", "", &"é".repeat(31))]);
    assert_eq!((&state["messages"][0]["truncated"], &state["dropped"]["messageBytes"]), (&json!(true), &json!(7)));
}

#[test]
fn blocks_of_a_message_are_bounded() {
    let block = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "x" } });
    let huge = json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "y".repeat(100) } });
    for updates in [vec![block.clone(); 5], vec![block, huge]] {
        let state = SessionState::new(small()).fed(&updates).shown();
        assert_eq!(state["messages"][0]["truncated"], true);
        assert!(state["messages"][0]["content"].as_array().unwrap().len() <= 3);
        assert!(state["dropped"]["messageBytes"].as_u64().unwrap() > 0);
    }
}

#[test]
fn the_oldest_messages_go_first_and_their_ids_with_them() {
    let updates: Vec<_> = (0..7).map(|n| chunk("agent_message", Some(&n.to_string()), "x")).collect();
    let state = SessionState::new(small()).fed(&updates).fed([&chunk("agent_message", Some("0"), "again")]);
    let shown = state.shown();
    let ids: Vec<_> = texts(&shown).into_iter().map(|(_, id, text)| (id, text)).collect();
    let expected =
        [("4", "x"), ("5", "x"), ("6", "x"), ("0", "again")].map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!((ids.as_slice(), &shown["dropped"]["messages"]), (&expected[..], &json!(4)));
}

#[test]
fn messages_between_sessions_are_patched() {
    let message = |more: serde_json::Value| {
        let mut update = json!({ "sessionUpdate": "session_message", "messageId": "m" });
        update.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        update
    };
    let text = |text: &str| json!({ "type": "text", "text": text });
    let chunk = json!({ "sessionUpdate": "session_message_chunk", "messageId": "m", "content": text("c") });
    let updates = [
        chunk.clone(),
        message(json!({ "senderSessionId": "s1", "recipientSessionId": "s2", "senderMessageId": "x" })),
        chunk.clone(),
        message(json!({ "recipientSessionId": null })),
    ];
    let before = state(&updates);
    assert_eq!(
        before["messages"],
        json!([{ "order": 0, "role": "session", "messageId": "m", "content": [text("cc")], "truncated": false,
            "senderSessionId": "s1", "senderMessageId": "x" }])
    );
    let all: Vec<_> = updates.into_iter().chain([message(json!({ "content": [text("new")] })), chunk]).collect();
    assert_eq!(state(&all)["messages"][0]["content"], json!([text("new"), text("c")]));
}

#[test]
fn what_is_counted_is_what_is_held() {
    let mut state = SessionState::new(small());
    for n in 0..200 {
        let id = (n % 3 == 0).then(|| (n % 13).to_string());
        state.apply(&raw(&chunk(
            if n % 5 == 0 { "user_message" } else { "agent_message" },
            id.as_deref(),
            "0123456789",
        )));
        let held: usize = state.messages.list.iter().map(super::Message::weight).sum();
        assert_eq!(state.messages.bytes(), held);
    }
}
