//! Characters that an agent cut in half, where a session ends or updates are unusual. How halves are joined is shown by the
//! JavaScript tests.

use std::sync::Arc;

use acp_runtime::delivery::Kind;
use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use serde_json::json;

use crate::support::{Listener, Stage, eventually, open, opened, prompt, prompted};

const HIGH: &str = "\\ud83d";
const LOW: &str = "\\ude80";

/// A line with a text chunk, the text as JSON has it.
fn chunk(session: &str, text: &str) -> String {
    let update = format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#);
    let params = format!(r#"{{"sessionId":"{session}","update":{update}}}"#);
    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#) + "\n"
}

/// As many children as one session can have each leave a half behind, and then their session ends or is given away.
#[tokio::test(flavor = "multi_thread")]
async fn halves_of_children_end_with_their_session() {
    for given_away in [false, true] {
        let stage = Stage::new();
        let children: Vec<_> = (0..64).map(|n| format!("child {n}")).collect();
        let mut script = prompted();
        for child in &children {
            script = script.update(json!({"sessionUpdate": "subagent_update", "sessionId": child, "title": "C"}));
        }
        script = script.prompt_end("end_turn");
        for child in &children {
            script = script.raw(chunk(child, &format!("a{HIGH}")));
        }
        let next = if given_away { "s1" } else { "s2" };
        let script = script.session_new(next).prompt_begin();
        let script = script.raw(chunk(next, &format!("b{HIGH}")) + &chunk(next, &format!("{LOW}c")));
        let (client, listener) = opened(&stage, &script.prompt_end("end_turn"), Arc::new(DenyAll)).await;
        prompt(&client, "s1", &listener).await.unwrap();
        eventually("the halves", || client.diagnostics().repaired_lines == 64).await;
        if !given_away {
            client.connection().drop_session("s1");
        }
        let listener = Listener::new();
        assert_eq!(open(&client, &stage, &listener).await.unwrap(), next);
        assert_eq!(prompt(&client, next, &listener).await.unwrap().text, "b🚀c");
        stage.end(client).await;
    }
}

/// However an update is written: with or without a version, and wherever in its line the method is.
#[tokio::test(flavor = "multi_thread")]
async fn a_half_that_stays_alone_is_told_before_any_update() {
    let update = r#""params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}}"#;
    let method = r#""method":"session/update""#;
    let pad = format!(r#""_meta":"{}""#, "x".repeat(600));
    for line in [
        format!("{{{method},{update}}}\n"),
        format!("{{{pad},{method},{update}}}\n"),
        format!("{{{update},{pad},{method}}}\n"),
        format!("{{{method},{pad},{update}}}\n"),
    ] {
        let stage = Stage::new();
        let script: Script = prompted().raw(chunk("s1", &format!("a{HIGH}")) + &line).prompt_end("end_turn");
        let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
        assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "a\u{fffd}");
        stage.end(client).await;
        let (half, tool) = (listener.position(Kind::Text, "\u{fffd}"), listener.position(Kind::Update, "toolCallId"));
        assert!(half < tool, "{line}");
    }
}
