//! Sessions and turns played from a script.

mod common;

use acp_testkit::Script;
use acp_testkit::raw_client::text_of;
use acp_testkit::transcript::{Normaliser, assert_golden};
use common::play;
use serde_json::json;

#[test]
fn a_whole_turn_in_order() {
    let script = Script::new().initialize().session_new("s1").prompt_begin().texts(3, "<{i}>").prompt_end("end_turn");
    let mut client = play(&script);
    let opened = client.open().unwrap();
    assert_eq!(opened[0]["result"]["protocolVersion"], 1);
    assert_eq!(opened[1]["result"]["sessionId"], "s1");
    let id = client.prompt("hi").unwrap();
    let messages = client.until_response(id);
    assert_eq!(text_of(&messages), "<0><1><2>");
    assert_eq!(messages.last().unwrap()["result"], json!({"stopReason": "end_turn"}));
    client.assert_clean();
}

#[test]
fn results_are_merged_and_keys_removed() {
    let change = json!({"protocolVersion": null, "agentCapabilities": {"loadSession": true, "mcpCapabilities": null}});
    let mut client = play(&Script::new().initialize_with(change));
    let id = client.request("initialize", json!({})).unwrap();
    let result = &client.until_response(id)[0]["result"];
    assert_eq!(result.get("protocolVersion"), None);
    assert_eq!(result["agentCapabilities"]["loadSession"], true);
    assert_eq!(result["agentCapabilities"].get("mcpCapabilities"), None);
    assert_eq!(result["agentCapabilities"]["promptCapabilities"]["image"], false);
    client.assert_clean();
}

#[test]
fn two_sessions_interleave() {
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin_in("s1", "one")
        .prompt_begin_in("s2", "two")
        .text_in("s1", "a")
        .text_in("s2", "b")
        .text_in("s1", "c")
        .prompt_end_of("two", "end_turn")
        .prompt_end_of("one", "cancelled");
    let mut client = play(&script);
    client.open().unwrap();
    let id = client.request("session/new", json!({"cwd": "/", "mcpServers": []})).unwrap();
    client.until_response(id);
    let one = client.prompt("one").unwrap();
    let two = client.request("session/prompt", json!({"sessionId": "s2", "prompt": []})).unwrap();
    let messages = client.until_response(two);
    let order: Vec<_> = messages.iter().filter_map(|message| message["params"]["sessionId"].as_str()).collect();
    assert_eq!(order, ["s1", "s2", "s1"]);
    assert_eq!(client.until_response(one)[0]["result"]["stopReason"], "cancelled");
    client.assert_clean();
}

#[test]
fn variables_reach_the_wire() {
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .prompt_begin()
        .set("greeting", json!({"word": "hello"}))
        .text("{{greeting.word}} {{prompt.params.prompt.0.text}} in {{session_new.params.cwd}}")
        .update(json!({"sessionUpdate": "x", "id": "{{prompt.id}}", "pid": "{{pid}}", "same": "{{greeting}}"}))
        .prompt_end("end_turn");
    let mut client = play(&script);
    client.open().unwrap();
    let id = client.prompt("world").unwrap();
    let messages = client.until_response(id);
    assert_eq!(text_of(&messages), "hello world in /");
    let update = &messages[1]["params"]["update"];
    assert_eq!(update["id"], id);
    assert_eq!(update["pid"], client.pid());
    assert_eq!(update["same"], json!({"word": "hello"}));
    client.assert_clean();
}

#[test]
fn what_the_client_wrote_is_recorded_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lines");
    let mut client = play(&Script::new().record(file.to_str().unwrap()).expect("a").expect("b"));
    let lines = "{\"jsonrpc\":\"2.0\", \"method\":\"a\",\"x\":\"\\u00e9\"}\n{\"method\":\"b\",\"jsonrpc\":\"2.0\"}\n";
    client.write(lines.as_bytes()).unwrap();
    client.assert_clean();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), lines);
}

#[test]
fn both_directions_match_the_golden_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("transcript");
    let script = Script::new()
        .transcript(file.to_str().unwrap())
        .initialize()
        .session_new("some-session-id")
        .prompt_begin()
        .text("file at {{session_new.params.cwd}}/a.txt")
        .permission("asked", json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}]))
        .expect_response("asked", "answer")
        .prompt_end("end_turn");
    let mut client = play(&script);
    let id = client
        .request("initialize", json!({"protocolVersion": 1, "clientInfo": {"name": "raw", "version": "9"}}))
        .unwrap();
    client.until_response(id);
    let id = client.request("session/new", json!({"cwd": dir.path(), "mcpServers": []})).unwrap();
    client.until_response(id);
    client.request("session/prompt", json!({"sessionId": "some-session-id", "prompt": []})).unwrap();
    client.message().unwrap();
    let asked = client.message().unwrap();
    let outcome = json!({"outcome": {"outcome": "selected", "optionId": "y"}});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": outcome})).unwrap();
    assert_eq!(client.message().unwrap()["result"]["stopReason"], "end_turn");
    client.assert_clean();
    let mut normaliser = Normaliser::new().replacing(dir.path().to_str().unwrap(), "<dir>");
    let transcript = std::fs::read_to_string(&file).unwrap();
    assert_golden("kit_permission_turn", &normaliser.normalise(&transcript).unwrap());
}
