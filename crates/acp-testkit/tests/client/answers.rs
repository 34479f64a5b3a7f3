//! What an agent can make its client hold by asking: answers that it does not take, and questions that wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use acp_runtime::client::{Client, LaunchOptions};
use acp_runtime::port::{BoxFuture, DenyAll, Host, PermissionDecision, PermissionRequest, Services};
use acp_runtime::session::TurnOptions;
use acp_runtime::wire::encode::{self, Answer};
use acp_testkit::Script;
use acp_testkit::script::{Empty, Piece, Step};
use serde_json::json;
use serde_json::value::RawValue;

use crate::support::{Listener, Stage, begin, brisk, eventually, open, opened, prompt, prompted};

const MIB: usize = 1024 * 1024;

/// Answers every read with a mebibyte, and counts.
#[derive(Default)]
struct Large {
    served: Arc<AtomicUsize>,
}

impl Services for Large {
    fn request(&self, _: &str, method: &str, _: &RawValue, _: &Arc<dyn Host>) -> Option<BoxFuture<Answer>> {
        assert_eq!(method, "fs/read_text_file");
        let served = Arc::clone(&self.served);
        Some(Box::pin(async move {
            served.fetch_add(1, Ordering::SeqCst);
            Ok(encode::raw(&json!({ "content": "x".repeat(MIB) })).unwrap())
        }))
    }

    fn session_closed(&self, _: &str) {}

    fn closed(&self) -> BoxFuture<()> {
        Box::pin(std::future::ready(()))
    }
}

fn reading(stage: &Stage, script: &Script, served: &Arc<AtomicUsize>) -> LaunchOptions {
    let mut options = stage.options(script);
    options.offers.read_text_file = true;
    options.services = Arc::new(Large { served: Arc::clone(served) });
    options
}

/// An agent that reads two hundred files, and none of the answers.
fn greedy() -> Script {
    let request = |id| {
        let params = json!({ "sessionId": "s1", "path": "/f" });
        format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "fs/read_text_file", "params": params }))
    };
    let flood: String = (0..200).map(request).collect();
    prompted().push(Step::PauseStdin(Empty {})).raw(flood)
}

/// What fits into the output, and the large ones that wait for room there.
const MOST: usize = 8 + 4 + 2;

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_an_agent_does_not_take_are_not_made() {
    let stage = Stage::new();
    let served = Arc::default();
    let options = reading(&stage, &greedy().sleep(100_000), &served);
    let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    // Nothing that comes after the requests is waited for: the agent is not read while it does not take its answers.
    eventually("the first answers", || served.load(Ordering::SeqCst) > 8).await;
    // They stay as few as are held.
    let mut last = 0;
    while last != served.load(Ordering::SeqCst) {
        last = served.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let told = (client.stderr(), client.connection().end());
    assert!(last <= MOST && told.1.is_none(), "{last} answers of a mebibyte were made: {told:?}");
    client.close(brisk()).await;
    turn.await.unwrap().ok();
    stage.assert_empty();
}

/// Nor are those that it cannot take any more.
#[tokio::test(flavor = "multi_thread")]
async fn answers_for_an_agent_that_cannot_take_them_any_more_are_not_made() {
    for end in [Script::new().close_stdin().sleep(100_000), Script::new().kill_self("KILL")] {
        let stage = Stage::new();
        let served = Arc::default();
        let options = reading(&stage, &greedy().sleep(1000).then(end), &served);
        let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
        let listener = Listener::new();
        open(&client, &stage, &listener).await.unwrap();
        let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
        let end = client.connection().ended().await;
        let made = served.load(Ordering::SeqCst);
        assert!(made <= MOST, "{made} answers of a mebibyte were made: {end:?}");
        turn.await.unwrap().unwrap_err();
        client.close(brisk()).await;
        stage.assert_empty();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c07_an_agent_that_takes_its_answers_gets_them_all() {
    let stage = Stage::new();
    let names: Vec<String> = (0..40).map(|n| format!("read-{n}")).collect();
    let params = json!({ "sessionId": "s1", "path": "/f" });
    let mut script = prompted();
    for name in &names {
        script = script.request(name, "fs/read_text_file", params.clone());
    }
    for name in &names {
        script = script.expect_response(name, "answer");
    }
    let served = Arc::default();
    let client =
        Client::launch(reading(&stage, &script.prompt_end("end_turn"), &served), Arc::new(DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    prompt(&client, "s1", &listener).await.unwrap();
    assert_eq!(served.load(Ordering::SeqCst), names.len());
    stage.end(client).await;
}

/// Notes what it is asked, and never answers.
#[derive(Default)]
struct Silent {
    asked: Mutex<Vec<String>>,
}

impl Host for Silent {
    fn permission(&self, _: PermissionRequest) -> BoxFuture<PermissionDecision> {
        Box::pin(std::future::pending())
    }

    fn extension_request(&self, _: Option<&str>, method: &str, _: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
        self.asked.lock().unwrap().push(method.to_owned());
        Some(Box::pin(std::future::pending()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_that_wait_are_bounded_in_bytes() {
    let stage = Stage::new();
    let ask = |script: Script, id: u64, bytes: usize| {
        let head = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"_x/{id}\",\"params\":{{\"sessionId\":\"s1\",\"b\":\""
        );
        let chunks = vec![Piece::text(head), Piece::text("x").repeated(bytes as u64), Piece::text("\"}}\n")];
        script.raw_chunks(chunks, 0)
    };
    let mut script = prompted();
    for (id, bytes) in [(1, 30 * MIB), (2, 30 * MIB), (3, 10 * MIB), (4, MIB)] {
        script = ask(script, id, bytes);
    }
    script = script.notify("$/cancel_request", json!({ "requestId": 1 }));
    script = ask(script, 5, 10 * MIB).text("asked").sleep(100_000);
    let host = Arc::new(Silent::default());
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(acp_runtime::delivery::Kind::Text, "asked").await;
    assert_eq!(*host.asked.lock().unwrap(), ["_x/1", "_x/2", "_x/4", "_x/5"]);
    assert_eq!(client.diagnostics().refused_requests, 1);
    client.close(brisk()).await;
    turn.await.unwrap().ok();
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_method_that_cannot_be_shown_reaches_no_host() {
    let stage = Stage::new();
    let mut script = prompted();
    for method in ["_x/\u{1b}[31m", "_x/\n", "_x/\u{9b}", &format!("_{}", "x".repeat(300))] {
        script = script.notify(method, json!({})).request(method, method, json!({ "sessionId": "s1" }));
        script = script.expect_error(method, json!({ "code": -32601 }));
    }
    let host = Arc::new(Silent::default());
    let (client, listener) = opened(&stage, &script.prompt_end("end_turn"), host.clone()).await;
    prompt(&client, "s1", &listener).await.unwrap();
    assert!(host.asked.lock().unwrap().is_empty());
    stage.end(client).await;
}
