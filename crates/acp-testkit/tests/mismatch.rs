//! A test must fail loudly, never hang: every way in which a client can disappoint a script.

mod common;

use std::process::Command;

use acp_testkit::Script;
use acp_testkit::play::{BROKEN_PIPE, DEADLINE, MISMATCH, UNUSABLE};
use acp_testkit::raw_client::RawClient;
use acp_testkit::script::{Eof, Expect, Step};
use common::play;
use serde_json::json;

#[test]
fn a_message_that_never_comes() {
    let expect = Expect { method: "b".into(), timeout_ms: Some(50), ..Expect::default() };
    let mut client = play(&Script::new().push(Step::Expect(expect)));
    client.notify("a", json!({})).unwrap();
    client.assert_failed(MISMATCH, "step 1 (expect b): nothing came in time; 1 messages wait");
}

#[test]
fn stdin_ends_too_early() {
    let mut client = play(&Script::new().initialize());
    client.close_stdin();
    client.assert_failed(MISMATCH, "step 1 (initialize): stdin ended");
}

#[test]
fn params_that_do_not_match() {
    let mut client = play(&Script::new().expect_params("a", json!({"x": {"y": 1}})));
    client.notify("a", json!({"x": {"y": 2}})).unwrap();
    client.close_stdin();
    client.assert_failed(MISMATCH, "$.x.y is 2, expected 1");
}

#[test]
fn the_wrong_order_when_it_matters() {
    let expect = Expect { method: "b".into(), strict: Some(true), ..Expect::default() };
    let mut client = play(&Script::new().push(Step::Expect(expect)));
    client.notify("a", json!({})).unwrap();
    client.notify("b", json!({})).unwrap();
    client.assert_failed(MISMATCH, "a is not b");
}

#[test]
fn a_line_that_is_no_message() {
    for line in ["hello\n", "\n", "[]\n", "{\"method\":\"a\"}\n", "{\"jsonrpc\":\"2.0\",\"id\":1}\n"] {
        let mut client = play(&Script::new().expect("a"));
        client.write(line.as_bytes()).unwrap();
        client.assert_failed(MISMATCH, "the client wrote");
    }
}

#[test]
fn a_line_without_its_end() {
    let mut client = play(&Script::new().expect("a"));
    client.write(br#"{"jsonrpc":"2.0","method":"a"#).unwrap();
    client.close_stdin();
    client.assert_failed(MISMATCH, "not JSON");
}

#[test]
fn two_answers_to_one_request() {
    let mut client =
        play(&Script::new().request_id("r", json!(1), "x", json!({})).expect_response("r", "a").expect("never"));
    client.message().unwrap();
    for _ in 0..2 {
        client.send(&json!({"jsonrpc": "2.0", "id": 1, "result": {}})).unwrap();
    }
    client.assert_failed(MISMATCH, "second response");
}

#[test]
fn an_answer_of_the_wrong_kind_or_content() {
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": {"x": 1}});
    let asked = || Script::new().request_id("r", json!(1), "x", json!({}));
    for (script, why) in [
        (asked().expect_error("r", json!({"code": -32601})), "no error in"),
        (asked().expect_result("r", json!({"x": 2})), "result: $.x is 1, expected 2"),
    ] {
        let mut client = play(&script);
        client.message().unwrap();
        client.send(&answer).unwrap();
        client.assert_failed(MISMATCH, why);
    }
}

#[test]
fn silence_that_is_broken() {
    let mut client = play(&Script::new().expect_silence(10_000));
    client.notify("a", json!({})).unwrap();
    client.assert_failed(MISMATCH, "expected silence");
    let mut quiet = play(&Script::new().expect_silence(20).notify("done", json!({})));
    assert_eq!(quiet.message().unwrap()["method"], "done");
    quiet.assert_clean();
}

#[test]
fn a_deadline_ends_everything() {
    for script in [
        Script::new().deadline_ms(50).sleep(60_000),
        Script::new().deadline_ms(50).expect("a"),
        Script::new().deadline_ms(50).ignore_eof(),
    ] {
        play(&script).assert_failed(DEADLINE, "the deadline of 50 ms passed");
    }
}

#[test]
fn a_check_that_fails() {
    let client = play(&Script::new().set("x", json!([1])).check(json!("{{x}}"), json!([2])));
    client.assert_failed(MISMATCH, "$.0 is 1, expected 2");
}

#[test]
fn a_failure_beside_the_main_script_counts() {
    let mut client = play(&Script::new().on("a", Script::new().check(json!(1), json!(2))).expect("never"));
    client.notify("a", json!({})).unwrap();
    client.assert_failed(MISMATCH, "on a, step 1 (check)");
}

#[test]
fn a_script_that_cannot_be_played() {
    for (script, why) in [
        (Script::new().text("{{nobody}}"), "no variable {{nobody}}"),
        (Script::new().prompt_end("end_turn"), "\"prompt\" is not the name of a request"),
        (Script::new().raw_chunks(vec![acp_testkit::script::Piece::default()], 0), "a piece needs exactly one"),
    ] {
        play(&script).assert_failed(UNUSABLE, why);
    }
    for args in
        [&["--script", "[{\"do\":\"dance\"}]"][..], &["--case", "nothing"], &["/no/such/file"], &["--script"], &[]]
    {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
        RawClient::spawn(command.args(args)).unwrap().assert_failed(UNUSABLE, "fake-agent: ");
    }
}

#[test]
fn a_client_that_does_not_read() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    command.args(["--script", "[{\"do\":\"notify\",\"method\":\"a\"}]"]).stdout(writer);
    let output = command.stderr(std::process::Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(BROKEN_PIPE));
}

#[test]
fn a_well_behaved_agent_leaves_at_the_end_of_stdin() {
    play(&Script::new().eof(Eof::Exit).sleep(60_000)).assert_clean();
    play(&Script::new().eof(Eof::Exit).expect("never")).assert_clean();
    play(&Script::new().expect_eof()).assert_clean();
}
