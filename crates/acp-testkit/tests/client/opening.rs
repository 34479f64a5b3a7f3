//! What a session is opened with: said as it is, and only to agents that know it (C24–C26, C29, C63).

use std::sync::Arc;

use acp_runtime::ask;
use acp_runtime::client::{Client, SessionRequest};
use acp_runtime::delivery::Kind;
use acp_runtime::error::{ErrorCode, Result};
use acp_runtime::port::DenyAll;
use acp_runtime::session::{SessionSpec, ViewKind};
use acp_testkit::Script;
use acp_testkit::script::Options;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::{Listener, Stage, assert_code, open_by, prompt, prompted};

fn agent(capabilities: Value) -> Script {
    Script::new().initialize_with(json!({"agentCapabilities": capabilities}))
}

/// Opens sessions that must be refused here, each for its reason, with an agent that then hears nothing.
async fn refused(capabilities: Value, requests: Vec<(SessionRequest, ErrorCode)>) {
    let stage = Stage::new();
    // Strict: anything sent before that fails the script.
    let strict = Options { strict: Some(true), ..Options::default() };
    let script = Script::new().options(strict).then(agent(capabilities)).expect("_test/end");
    let client = stage.launch(&script).await;
    for (request, code) in requests {
        let opened: Result<_> = ask::open(&client, &request).await.map(drop);
        assert_code(&opened, code);
    }
    client.connection().notify("_test/end", None).unwrap();
    stage.end(client).await;
}

/// Opens sessions one after the other; the agent checks the params of each.
async fn accepted(capabilities: Value, requests: Vec<(&str, SessionRequest, Value)>) {
    let stage = Stage::new();
    let mut script = agent(capabilities);
    for (method, _, params) in &requests {
        script = script.expect_params(method, params.clone()).respond(method, json!({"sessionId": "s1"}));
    }
    let client = stage.launch(&script).await;
    for (method, request, _) in requests {
        let id = (method != "session/new").then_some("s1");
        open_by(&client, method, id, &request, &Listener::new(), ViewKind::Events).await.unwrap();
        client.connection().drop_session("s1");
    }
    stage.end(client).await;
}

fn request(change: impl FnOnce(&mut SessionRequest)) -> SessionRequest {
    let mut request = SessionRequest { timeout: Some(crate::support::PATIENCE), ..SessionRequest::new(CWD) };
    change(&mut request);
    request
}

#[cfg(unix)]
const CWD: &str = "/work";
#[cfg(windows)]
const CWD: &str = "C:\\work";

fn reopening() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "fork": {}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn c24_the_sessions_own_directory_is_sent_however_it_is_opened() {
    let same = |method| (method, request(|_| {}), json!({"cwd": {"$exact": CWD}, "mcpServers": {"$exact": []}}));
    let methods = ["session/new", "session/load", "session/resume", "session/fork"];
    accepted(reopening(), methods.map(same).into()).await;
    for relative in ["", ".", "work", "../work", "~", "file:///work"] {
        let asked = request(|request| request.cwd = relative.to_owned());
        refused(reopening(), vec![(asked, ErrorCode::InvalidArgument)]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c25_more_directories_only_with_the_marker_and_the_whole_list_each_time() {
    let with = |list: &[&str]| {
        let list = list.iter().map(|&path| path.to_owned()).collect();
        request(|request| request.additional_directories = Some(list))
    };
    refused(json!({}), vec![(with(&[CWD]), ErrorCode::UnsupportedCapability)]).await;
    let able = json!({"sessionCapabilities": {"additionalDirectories": {}}});
    refused(able.clone(), vec![(with(&[CWD, "relative"]), ErrorCode::InvalidArgument)]).await;
    let list = |value: Value| json!({"additionalDirectories": value});
    let requests = vec![
        ("session/new", with(&[CWD]), list(json!({"$exact": [CWD]}))),
        ("session/new", with(&[]), list(json!({"$exact": []}))),
        // Not merged with an earlier list: not said is not sent.
        ("session/new", request(|_| {}), list(json!({"$absent": true}))),
    ];
    accepted(able, requests).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c26_mcp_servers_over_http_only_where_they_are_advertised() {
    let with = |server: &Value| request(|request| request.mcp_servers = vec![server.clone()]);
    let remote = |kind: &str| json!({"type": kind, "name": "n", "url": "https://example.org", "headers": []});
    let stdio = json!({"name": "n", "command": "c", "args": [], "env": []});
    for kind in ["http", "sse"] {
        for capabilities in
            [json!({}), json!({"mcpCapabilities": {kind: false}}), json!({"mcpCapabilities": {kind: {}}})]
        {
            refused(capabilities, vec![(with(&remote(kind)), ErrorCode::UnsupportedCapability)]).await;
        }
        let sent = json!({"mcpServers": {"$exact": [remote(kind)]}});
        accepted(json!({"mcpCapabilities": {kind: true}}), vec![("session/new", with(&remote(kind)), sent)]).await;
    }
    let sent = json!({"mcpServers": {"$exact": [stdio]}});
    accepted(json!({}), vec![("session/new", with(&stdio), sent)]).await;
    let served_here = json!({"type": "acp", "name": "n", "serverId": "x"});
    refused(json!({}), vec![(with(&served_here), ErrorCode::UnsupportedCapability)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c29_a_system_prompt_is_text_and_goes_to_agents_that_take_one() {
    let prompt = |mode: &str, content: Value| json!({"mode": mode, "content": content});
    let with = |prompt: &Value| request(|request| request.system_prompt = Some(prompt.clone()));
    let text = json!([{"type": "text", "text": "be brief"}]);
    let image = json!([{"type": "text", "text": "x"}, {"type": "image", "data": "", "mimeType": "image/png"}]);
    let append = prompt("append", text.clone());
    let over = prompt("override", text);
    refused(json!({}), vec![(with(&append), ErrorCode::UnsupportedCapability)]).await;
    let able = |mode: Value| json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "systemPrompt": {"mode": mode}}});
    let wrong = vec![
        (with(&over), ErrorCode::UnsupportedCapability),
        (with(&prompt("append", json!([]))), ErrorCode::InvalidArgument),
        (with(&prompt("append", image)), ErrorCode::InvalidArgument),
        (with(&prompt("append", json!("be brief"))), ErrorCode::InvalidArgument),
    ];
    refused(able(json!({})), wrong).await;
    let sent = |prompt: &Value| json!({"systemPrompt": {"$exact": prompt}});
    let methods = ["session/new", "session/load", "session/resume"];
    accepted(able(json!({})), methods.map(|method| (method, with(&append), sent(&append))).into()).await;
    accepted(able(json!({"override": {}})), vec![("session/new", with(&over), sent(&over))]).await;
}

/// Forks at cursors: those that the agent offers for it are sent, and nothing else reaches the agent, which is strict.
#[tokio::test(flavor = "multi_thread")]
async fn a_fork_at_a_cursor_is_asked_for_only_where_the_agent_offers_it() {
    let update = |id: &str, more: Value| {
        let mut update = json!({"sessionUpdate": "cursor_update", "cursorId": id});
        update.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        update
    };
    let anchor = json!({"type": "agent_message", "messageId": "m", "position": "after"});
    for state in [true, false] {
        let stage = Stage::new();
        let script = Script::new()
            .options(Options { strict: Some(true), ..Options::default() })
            .then(agent(json!({"sessionCapabilities": {"fork": {}}})))
            .session_new("s1")
            .prompt_begin()
            .update(update("good", json!({"anchor": anchor, "capabilities": {"fork": {}}})))
            .update(update("mute", json!({"anchor": anchor})))
            .update(update("gone", json!({"anchor": anchor, "capabilities": {"fork": {}}})))
            .update(update("gone", json!({"capabilities": null})))
            .update(update("nowhere", json!({"capabilities": {"fork": {}}})))
            .prompt_end("end_turn")
            .expect_params("session/fork", json!({"sessionId": "s1", "cursorId": {"$exact": "good"}}))
            .respond("session/fork", json!({"sessionId": "s2"}))
            .expect_params("session/fork", json!({"cursorId": {"$absent": true}}))
            .respond("session/fork", json!({"sessionId": "s3"}));
        let mut options = stage.options(&script);
        options.offers.unstable = true;
        let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
        let listener = Listener::new();
        let fork = async |from: &str, cursor: Option<&str>, method: &str| {
            let cursor_id = cursor.map(str::to_owned);
            let request = SessionRequest { cursor_id, ..stage.session_request() };
            let (sender, receiver) = oneshot::channel();
            let spec = SessionSpec { state, ..listener.spec(ViewKind::Events) };
            let reply = Box::new(|outcome: Result<_>| drop(sender.send(outcome.map(drop))));
            let from = (method != "session/new").then_some(from);
            client.open(method, from, &request, spec, reply);
            receiver.await.unwrap()
        };
        fork("", None, "session/new").await.unwrap();
        prompt(&client, "s1", &listener).await.unwrap();
        for cursor in ["mute", "gone", "nowhere", "unknown", ""] {
            assert_code(&fork("s1", Some(cursor), "session/fork").await, ErrorCode::UnsupportedCapability);
        }
        assert_code(&fork("s9", Some("good"), "session/fork").await, ErrorCode::InvalidArgument);
        assert_code(&fork("s1", Some("good"), "session/new").await, ErrorCode::InvalidArgument);
        fork("s1", Some("good"), "session/fork").await.unwrap();
        fork("s1", None, "session/fork").await.unwrap();
        stage.end(client).await;
    }
    // Without the switch no cursor is sent at all.
    let cursor = |request: &mut SessionRequest| request.cursor_id = Some("good".to_owned());
    let stage = Stage::new();
    let client = stage.launch(&agent(json!({"sessionCapabilities": {"fork": {}}}))).await;
    let forked =
        open_by(&client, "session/fork", Some("s1"), &request(cursor), &Listener::new(), ViewKind::Events).await;
    assert_code(&forked, ErrorCode::UnsupportedCapability);
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn c63_meta_passes_through_both_ways_as_it_is() {
    let meta = json!({"traceparent": "00-0af7-b7ad-01", "vendor": {"deep": [1, null, {"x": "ü"}]}, "n": 1.5});
    let asked = request(|request| request.meta = Some(meta.clone()));
    let sent = json!({"_meta": {"$exact": meta}, "traceparent": {"$absent": true}, "vendor": {"$absent": true}});
    accepted(json!({}), vec![("session/new", asked, sent)]).await;

    let stage = Stage::new();
    let update =
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}, "_meta": meta});
    let script = prompted().update(update).respond("prompt", json!({"stopReason": "end_turn", "_meta": meta}));
    let (client, listener) = crate::support::opened(&stage, &script, Arc::new(DenyAll)).await;
    let outcome = prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    let result: Value = serde_json::from_str(outcome.result.unwrap().get()).unwrap();
    assert_eq!((result["_meta"].clone(), outcome.text.as_str()), (meta.clone(), "hi"));
    let heard: Value = serde_json::from_str(&listener.of(Kind::Update)[0]).unwrap();
    assert_eq!(heard["_meta"], meta);
}
