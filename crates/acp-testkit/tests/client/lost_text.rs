//! Lines above the limit that may have been a piece of an answer: the answer that is not whole any more says so, and no other.

use std::sync::Arc;

use acp_runtime::client::Client;
use acp_runtime::port::DenyAll;
use acp_runtime::session::TurnOptions;
use acp_testkit::Script;
use acp_testkit::script::Piece;
use serde_json::json;

use crate::support::{Listener, Stage, begin, open, prompted};

const LIMIT: usize = 100_000;

/// A line above the limit, given its two ends.
fn long(script: Script, head: &str, tail: &str) -> Script {
    let pad = Piece::text("x").repeated(3 * LIMIT as u64);
    script.raw_chunks(vec![Piece::text(head), pad, Piece::text(format!("{tail}\n"))], 0)
}

const CHUNK: &str = r#""update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;

/// The ids of the sessions are such as lines are full of anyway.
#[tokio::test(flavor = "multi_thread")]
async fn a_lost_line_is_told_of_the_turn_that_it_was_of() {
    let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"#;
    let first = |more: &str| format!("{update}{more}{CHUNK}");
    let (one, two, both, none) = ((true, false), (false, true), (true, true), (false, false));
    let cases = [
        // The session is named at the start or at the end, by the member that says so.
        (first(r#""sessionId":"1","#), r#""}}}}"#, one),
        (first(r#""sessionId" : "2", "#), r#""}}}}"#, two),
        (first(""), r#""}},"sessionId":"1"}}"#, one),
        (first(""), r#""}} , "sessionId" : "2" } }"#, two),
        (format!(r#"{{"params":{{{CHUNK}"#), r#""}},"sessionId":"1"},"method":"session/update","jsonrpc":"2.0"}"#, one),
        // Where neither end names it beyond doubt it may have been any.
        (first(""), r#""}}}}"#, both),
        (first(r#""_meta":{"sessionId":"2"},"#), r#""}}}}"#, both),
        (first(""), r#""}},"_meta":{"sessionId":"2"}}}"#, both),
        (first(r#""sessionId":"1","#), r#""}},"sessionId":"2"}}"#, both),
        (first(r#""sessionId":"3","#), r#""}}}}"#, both),
        (r#"{"jsonrpc":"2.0","_meta":{"x":""#.to_owned(), r#""}}"#, both),
        // No piece of an answer.
        (r#"{"jsonrpc":"2.0","method":"_x/y","params":{"sessionId":"1","pad":""#.to_owned(), r#""}}"#, none),
        (format!(r#"{update}"sessionId":"1","update":{{"sessionUpdate":"plan","_meta":{{"x":""#), r#""}}}}"#, none),
        ("1 of 2: \"sessionId\":\"1\" ".to_owned(), "2", none),
        (r#"["session/update",""#.to_owned(), r#""]"#, none),
        // What a child says is no part of its parent's answer.
        (first(r#""sessionId":"child","#), r#""}}}}"#, none),
    ];
    for (head, tail, (one, two)) in cases {
        let stage = Stage::new();
        let script = Script::new().initialize().session_new("1").session_new("2");
        let script = script.prompt_begin_in("1", "first").prompt_begin_in("2", "second");
        let child = json!({"sessionUpdate": "subagent_update", "sessionId": "child", "state": {"state": "running"}});
        let script = long(script.update_in("1", child), &head, tail).text_in("1", "one").text_in("2", "two");
        let script = script.prompt_end_of("first", "end_turn").prompt_end_of("second", "end_turn");
        let mut options = stage.options(&script);
        options.max_line_bytes = LIMIT;
        let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
        let listener = Listener::new();
        assert_eq!(open(&client, &stage, &listener).await.unwrap(), "1");
        assert_eq!(open(&client, &stage, &listener).await.unwrap(), "2");
        let first = begin(&client, "1", None, TurnOptions::default());
        let second = begin(&client, "2", None, TurnOptions::default());
        let (first, second) = (first.await.unwrap().unwrap(), second.await.unwrap().unwrap());
        assert_eq!((first.text.as_str(), second.text.as_str()), ("one", "two"));
        assert_eq!(client.diagnostics().oversize_lines, 1, "{head}");
        assert_eq!((first.text_truncated, second.text_truncated), (one, two), "{head} … {tail}");
        stage.end(client).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_line_that_is_no_piece_of_the_answer_keeps_no_json_back() {
    let stage = Stage::new();
    let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","#;
    for (head, parsed) in [
        (r#"{"jsonrpc":"2.0","method":"_x/y","params":{"pad":""#.to_owned(), true),
        ("a log line ".to_owned(), true),
        (format!("{update}{CHUNK}"), false),
    ] {
        let script = long(prompted(), &head, r#""}}}}"#).text(r#"{"a": 1}"#).prompt_end("end_turn");
        let mut options = stage.ask_options(&script);
        options.launch.max_line_bytes = LIMIT;
        options.recover_json = true;
        let outcome = stage.ask_with(options).await;
        let answer = outcome.answer().unwrap();
        assert_eq!((answer.truncated, answer.parsed.is_some()), (!parsed, parsed), "{head}");
    }
}
