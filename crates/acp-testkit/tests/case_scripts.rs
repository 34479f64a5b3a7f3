//! Every ready case is played by a client that does what the case asks for, or as far as it goes.
#![expect(clippy::unwrap_used, reason = "helpers of the tests below")]

mod common;

use std::path::Path;
use std::process::Command;

use acp_testkit::cases::session::{Offer, S21_REPLIES, s06_permission_at_cancel, s07_options, s21_reply};
use acp_testkit::cases::{self, process, wire};
use acp_testkit::raw_client::{RawClient, text_of};
use common::{play, play_with};
use serde_json::{Value, json};

/// Answers every request of the agent with −32601, and permissions with `cancelled`, until the response comes.
fn until_response(client: &mut RawClient, id: u64) -> Vec<Value> {
    let mut messages = Vec::new();
    while let Some(message) = next_json(client) {
        if message.get("method").is_some() && message.get("id").is_some() {
            let answer = if message["method"] == "session/request_permission" {
                json!({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": {"outcome": "cancelled"}}})
            } else {
                json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            };
            client.send(&answer).unwrap();
        }
        let own = message["id"] == id || message["id"].as_str().and_then(|text| text.parse().ok()) == Some(id);
        let done = message.get("method").is_none() && message["jsonrpc"] == "2.0" && own;
        messages.push(message);
        if done {
            break;
        }
    }
    messages
}

/// The next line that is a JSON object; noise is skipped.
fn next_json(client: &mut RawClient) -> Option<Value> {
    loop {
        let line = client.line()?;
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        if let Ok(message @ Value::Object(_)) = serde_json::from_slice(line) {
            return Some(message);
        }
    }
}

/// Opens a session and prompts; everything that came after the prompt.
fn turn(client: &mut RawClient) -> Vec<Value> {
    let id = client.request("initialize", json!({"protocolVersion": 1})).unwrap();
    until_response(client, id);
    let id = client.request("session/new", json!({"cwd": "/", "mcpServers": []})).unwrap();
    until_response(client, id);
    let id = client.prompt("go").unwrap();
    until_response(client, id)
}

#[test]
fn whole_turns() {
    for (name, text) in [
        ("w01_noise", "one two"),
        ("w02_json_that_is_not_json_rpc", "fine"),
        ("w04_split_utf8", wire::SPLIT_TEXT),
        ("w05_bom_crlf_line_separator", wire::SEPARATOR_TEXT),
        ("w09_agent_ids", "all answered"),
        ("w09_answer_with_text_id", "fine"),
        ("w10_version_date", "fine"),
        ("w10_version_absent", "fine"),
        ("w12_unknown_values", "before after"),
        ("w12_unknown_stop_reason", "some"),
        ("w13_unanswered_request", "drained"),
        ("w14_error_data_object", ""),
        ("w14_error_data_null", ""),
        ("s01_update_before_session", "hi"),
        ("s07_only_allow", "{\"outcome\":\"cancelled\"}"),
        ("s10_no_updates", ""),
        ("s10_max_tokens", "{\"verdict\": \"pass\", \"notes\": \"al"),
        ("s10_refusal", "I cannot go on"),
        ("s10_no_stop_reason", "done"),
    ] {
        let mut client = play(&cases::script(name).unwrap());
        let messages = turn(&mut client);
        assert_eq!(text_of(&messages), text, "{name}");
        assert!(messages.last().unwrap().get("id").is_some(), "{name}");
        client.assert_clean();
    }
}

#[test]
fn large_lines() {
    for script in
        [wire::w06_huge_line(3_000_000), wire::w07_small_writes(300_000), cases::session::s21_open_braces(300_000)]
    {
        let mut client = play(&script);
        assert!(turn(&mut client).iter().any(|message| message.to_string().len() > 300_000));
        client.assert_clean();
    }
    let mut client = play(&wire::w06_endless_line(2 << 20));
    let id = client.request("initialize", json!({"protocolVersion": 1})).unwrap();
    client.until_response(id);
    let id = client.request("session/new", json!({"cwd": "/", "mcpServers": []})).unwrap();
    client.until_response(id);
    client.prompt("go").unwrap();
    assert_eq!(text_of(&[client.message().unwrap()]), "before");
    client.close_stdin();
    assert_eq!(client.line().unwrap().len(), 2 << 20);
    client.assert_clean();
}

#[test]
fn a_version_that_is_no_integer_is_refused() {
    let mut client = play(&wire::w10_protocol_version(&"1".into()));
    client.request("initialize", json!({"protocolVersion": "1"})).unwrap();
    client.close_stdin();
    client.assert_failed(70, "expected $exact 1");
}

#[test]
fn malformed_responses_are_the_last_word() {
    for variant in 0..4 {
        let mut client = play(&wire::w02_malformed_response(variant));
        client.open().unwrap();
        let id = client.prompt("go").unwrap();
        assert_eq!(text_of(&[client.message().unwrap()]), "half");
        assert_eq!(client.message().unwrap()["id"], id);
        client.assert_clean();
    }
}

#[test]
fn ends_before_the_session() {
    for (name, code, stderr) in [
        ("w15_exit_before_initialize", Some(1), "Cannot find module"),
        ("w15_silent_exit", Some(0), ""),
        ("w15_exit_before_session", Some(3), "fatal: no disk"),
    ] {
        let mut client = play(&cases::script(name).unwrap());
        let id = client.request("initialize", json!({"protocolVersion": 1})).unwrap();
        if name == "w15_exit_before_session" {
            client.until_response(id);
            client.request("session/new", json!({"cwd": "/", "mcpServers": []})).unwrap();
        }
        let (status, written) = client.wait();
        assert_eq!(status.code(), code, "{name}");
        assert!(written.contains(stderr), "{name}: {written}");
    }
}

#[test]
fn a_login_opens_the_session() {
    let mut client = play(&wire::w16_auth_required());
    let id = client.request("initialize", json!({"protocolVersion": 1})).unwrap();
    assert_eq!(client.until_response(id)[0]["result"]["authMethods"][0]["id"], "login");
    let id = client.request("session/new", json!({"cwd": "/", "mcpServers": []})).unwrap();
    assert_eq!(client.until_response(id)[0]["error"]["code"], -32000);
    let id = client.request("authenticate", json!({"methodId": "login"})).unwrap();
    assert_eq!(client.until_response(id)[0]["result"], json!({}));
    let id = client.request("session/new", json!({"cwd": "/", "mcpServers": []})).unwrap();
    assert_eq!(client.until_response(id)[0]["result"]["sessionId"], "s1");
    let id = client.prompt("go").unwrap();
    assert_eq!(text_of(&client.until_response(id)), "logged in");
    client.assert_clean();
}

#[test]
fn a_permission_is_open_until_it_is_cancelled() {
    let mut client = play(&s06_permission_at_cancel());
    client.open().unwrap();
    let prompt = client.prompt("go").unwrap();
    client.message().unwrap();
    let asked = client.message().unwrap();
    client.notify("session/cancel", json!({"sessionId": "s1"})).unwrap();
    client
        .send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "cancelled"}}}))
        .unwrap();
    assert_eq!(client.until_response(prompt).last().unwrap()["result"]["stopReason"], "cancelled");
    client.assert_clean();
}

#[test]
fn an_error_instead_of_an_outcome_is_noticed() {
    let mut client = play(&s07_options(Offer::All));
    client.open().unwrap();
    client.prompt("go").unwrap();
    let asked = client.message().unwrap();
    let kinds: Vec<_> = asked["params"]["options"].as_array().unwrap().iter().map(|option| &option["kind"]).collect();
    assert_eq!(kinds, ["allow_always", "allow_once", "reject_once", "reject_always"]);
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": 1, "message": "no"}})).unwrap();
    client.assert_failed(70, "$.result is absent");
}

#[test]
fn replies_arrive_whole() {
    for reply in S21_REPLIES {
        let mut client = play(&s21_reply(reply));
        let messages = turn(&mut client);
        assert_eq!(text_of(&messages), reply.text, "{}", reply.name);
        assert_eq!(messages.len(), reply.chunks + 1, "{}", reply.name);
        assert_eq!(messages.last().unwrap()["result"]["stopReason"], reply.stop_reason);
        client.assert_clean();
    }
}

#[test]
fn a_slow_start_reports_progress() {
    let mut client = play(&process::p17_slow_start(3, 5));
    turn(&mut client);
    let (status, stderr) = client.finish();
    assert!(status.success());
    assert_eq!(stderr.lines().count(), 3, "{stderr}");
    assert!(stderr.contains("package-2"));
}

#[cfg(unix)]
#[test]
fn processes_are_left_behind_as_the_case_says() {
    use acp_testkit::process::{alive, assert_all_gone, pids_from};

    let dir = tempfile::tempdir().unwrap();
    for (name, pids) in [("p01_grandchild", 2), ("p06_pipe_held", 1)] {
        let file = dir.path().join(name);
        let mut client = play_with(&cases::script(name).unwrap(), &[file.to_str().unwrap()]);
        if name == "p06_pipe_held" {
            client.open().unwrap();
            client.prompt("go").unwrap();
            assert!(client.wait_exit().success());
        } else {
            assert_eq!(text_of(&turn(&mut client)), "hi");
        }
        let found = pids_from(&file);
        assert_eq!(found.len(), pids, "{name}");
        assert!(found.iter().all(|pid| alive(*pid)), "{name}");
        for pid in &found {
            assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
        }
        client.wait_exit();
        assert_all_gone(&found);
    }
}

#[cfg(unix)]
#[test]
fn an_agent_dies_in_its_turn() {
    use std::os::unix::process::ExitStatusExt;

    let mut client = play(&process::p08_dies_in_turn());
    let messages = turn(&mut client);
    assert_eq!(text_of(&messages), "one two");
    let (status, stderr) = client.wait();
    assert_eq!(status.signal(), Some(9));
    assert!(stderr.contains("about to die"));
}

#[test]
fn cases_are_played_by_name() {
    let agent = Path::new(env!("CARGO_BIN_EXE_fake-agent"));
    let mut client = RawClient::spawn(Command::new(agent).args(["--case", "s21_fenced"])).unwrap();
    assert!(text_of(&turn(&mut client)).starts_with("```json"));
    client.assert_clean();
    let listed = Command::new(agent).arg("--list-cases").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.lines().all(|name| cases::script(name).is_some()));
    assert!(listed.lines().any(|name| name == "s21_fenced") && listed.lines().any(|name| name == "p01_grandchild"));
}
