//! Golden transcripts: both directions of whole conversations, as the wire tap shows them.

use std::sync::{Arc, Mutex};

use acp_runtime::client::{Client, LaunchOptions};
use acp_runtime::connection::CancelState;
use acp_runtime::delivery::Kind;
use acp_runtime::port::DenyAll;
use acp_runtime::session::{TurnOptions, ViewKind};
use acp_runtime::trace::Direction;
use acp_testkit::Script;
use acp_testkit::cases::session::{Offer, s07_options};
use acp_testkit::transcript::{Normaliser, assert_golden};
use serde_json::json;

use crate::support::{Listener, PATIENCE, Stage, begin, open, open_by, prompt, prompted};

#[derive(Default)]
pub struct Transcript(Arc<Mutex<String>>);

impl Transcript {
    pub fn tap(&self, options: &mut LaunchOptions) {
        let lines = Arc::clone(&self.0);
        options.tap = Some(Arc::new(move |frame| {
            let from = if frame.direction == Direction::ToAgent { "client" } else { "agent" };
            assert!(!frame.truncated);
            lines.lock().unwrap().extend(["{\"from\":\"", from, "\",\"message\":", &frame.frame, "}\n"]);
        }));
    }

    pub fn assert_golden(&self, name: &str, stage: &Stage) {
        assert_golden(name, &self.normal(stage));
    }

    pub fn normal(&self, stage: &Stage) -> String {
        let path = stage.path().to_string_lossy().into_owned();
        Normaliser::new().replacing(path, "<dir>").normalise(&self.0.lock().unwrap()).unwrap()
    }
}

async fn launch(stage: &Stage, script: &Script) -> (Client, Transcript) {
    let transcript = Transcript::default();
    let mut options = stage.options(script);
    transcript.tap(&mut options);
    (Client::launch(options, Arc::new(DenyAll)).await.unwrap(), transcript)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask() {
    let stage = Stage::new();
    let transcript = Transcript::default();
    let script = prompted()
        .update(json!({"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}))
        .texts(2, "part {i} ")
        .prompt_end("end_turn");
    let mut options = stage.ask_options(&script);
    transcript.tap(&mut options.launch);
    assert_eq!(stage.ask_with(options).await.answer().unwrap().text, "part 0 part 1 ");
    transcript.assert_golden("ask", &stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_permission() {
    let stage = Stage::new();
    let (client, transcript) = launch(&stage, &s07_options(Offer::All)).await;
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    transcript.assert_golden("permission_denied", &stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel() {
    let stage = Stage::new();
    let script = prompted().text("working").expect("session/cancel").text(" stopped").prompt_end("cancelled");
    let (client, transcript) = launch(&stage, &script).await;
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "working").await;
    assert_eq!(client.connection().cancel("s1", PATIENCE).await, CancelState::Cancelled);
    turn.await.unwrap().unwrap();
    stage.end(client).await;
    transcript.assert_golden("cancel", &stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load() {
    let stage = Stage::new();
    let chunk = |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    let script = Script::new()
        .initialize_with(json!({"agentCapabilities": {"loadSession": true}}))
        .expect("session/load")
        .update_in("old", chunk("user_message_chunk", "old question"))
        .update_in("old", chunk("agent_message_chunk", "old answer"))
        .respond("session/load", json!({}))
        .prompt_begin()
        .text("new answer")
        .prompt_end("end_turn");
    let (client, transcript) = launch(&stage, &script).await;
    let listener = Listener::new();
    let request = stage.session_request();
    open_by(&client, "session/load", Some("old"), &request, &listener, ViewKind::Events).await.unwrap();
    prompt(&client, "old", &listener).await.unwrap();
    stage.end(client).await;
    transcript.assert_golden("load", &stage);
}
