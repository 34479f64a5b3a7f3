//! MCP servers that the host serves over the connection: whose they are, what reaches them, and what comes back.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use acp_runtime::client::{Client, SessionRequest};
use acp_runtime::connection::CallOptions;
use acp_runtime::delivery::Kind;
use acp_runtime::error::{Error, ErrorCode, Phase};
use acp_runtime::port::{BoxFuture, Host, McpRequest};
use acp_runtime::session::{TurnOptions, ViewKind};
use acp_runtime::wire::encode::{Answer, AnswerError};
use acp_testkit::Script;
use acp_testkit::script::Options;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::support::{Listener, Stage, assert_code, begin, eventually, open_by, prompt};

/// What the servers were asked, and by which session; whether the agent is done.
#[derive(Default)]
struct Served(Mutex<Vec<(Option<String>, McpRequest)>>, AtomicBool);

impl Served {
    fn methods(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(_, request)| request.method.clone()).collect()
    }

    /// A client that closes answers nothing more: the agent says when it has all of its answers.
    async fn all_answered(&self) {
        eventually("the agent is done", || self.1.load(Ordering::SeqCst)).await;
    }
}

impl Host for Served {
    fn notification(&self, method: &str, _: Option<&RawValue>) {
        self.1.fetch_or(method == "_test/done", Ordering::SeqCst);
    }

    fn mcp_message(&self, session_id: Option<&str>, request: McpRequest) -> BoxFuture<Answer> {
        let method = request.method.clone();
        self.0.lock().unwrap().push((session_id.map(str::to_owned), request));
        Box::pin(async move {
            match method.as_str() {
                "null" => Ok(to_raw_value(&Value::Null).unwrap()),
                "fails" => Err(AnswerError { code: 7, message: "no".to_owned(), data: Some(json!([1])) }),
                "panics" => panic!("a fault of the host"),
                "never" => std::future::pending().await,
                "slow" => {
                    tokio::time::sleep(Duration::from_millis(3500)).await;
                    Ok(to_raw_value(&json!({})).unwrap())
                }
                _ => Ok(to_raw_value(&json!({"did": method})).unwrap()),
            }
        })
    }
}

fn able() -> Script {
    Script::new().initialize_with(json!({"agentCapabilities": {
        "loadSession": true, "mcpCapabilities": {"acp": true}, "sessionCapabilities": {"fork": {}},
    }}))
}

async fn launch(stage: &Stage, script: &Script, host: Arc<impl Host + 'static>) -> Client {
    let mut options = stage.options(script);
    options.offers.unstable = true;
    Client::launch(options, host).await.unwrap()
}

fn server(id: &str) -> Value {
    json!({"type": "acp", "name": "tools", "serverId": id})
}

fn with(stage: &Stage, ids: &[&str]) -> SessionRequest {
    SessionRequest { mcp_servers: ids.iter().map(|id| server(id)).collect(), ..stage.session_request() }
}

fn message(server: &str, request: &str, method: &str) -> Value {
    json!({"serverId": server, "requestId": request, "method": method})
}

fn ask(script: Script, name: &str, params: Value, result: Value) -> Script {
    script.request(name, "mcp/message", params).expect_result(name, result)
}

fn done(script: Script) -> Script {
    script.notify("_test/done", json!({}))
}

fn unknown(script: Script, name: &str, server: &str) -> Script {
    script.request(name, "mcp/message", message(server, name, "ping")).expect_error(name, json!({"code": -32002}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_answers_from_the_call_that_opens_its_session_to_the_sessions_end() {
    for (method, id) in [("session/new", None), ("session/load", Some("s1")), ("session/fork", Some("s0"))] {
        let stage = Stage::new();
        let script = unknown(able(), "early", "a").expect(method);
        let script = ask(
            script,
            "opening",
            message("a", "1", "tools/list"),
            json!({"$exact": {"result": {"did": "tools/list"}}}),
        );
        let script = script.respond(method, json!({"sessionId": "s1"})).prompt_begin();
        let script = ask(script, "null", message("a", "1", "null"), json!({"$exact": {"result": null}}));
        let error = json!({"$exact": {"error": {"code": 7, "message": "no", "data": [1]}}});
        let script = ask(script, "error", message("a", "1", "fails"), error);
        // A server that is broken was not reached.
        let script = script
            .request("panic", "mcp/message", message("a", "1", "panics"))
            .expect_error("panic", json!({"code": -32603}))
            .request("open", "mcp/message", message("a", "2", "never"))
            .prompt_end("end_turn")
            .expect_error("open", json!({"code": -32800}));
        let host = Arc::new(Served::default());
        let client = launch(&stage, &done(unknown(script, "late", "a")), host.clone()).await;
        eventually("the early question", || client.diagnostics().refused_requests == 1).await;
        let listener = Listener::new();
        open_by(&client, method, id, &with(&stage, &["a"]), &listener, ViewKind::Events).await.unwrap();
        prompt(&client, "s1", &listener).await.unwrap();
        client.connection().drop_session("s1");
        host.all_answered().await;
        stage.end(client).await;
        assert_eq!(host.methods(), ["tools/list", "null", "fails", "panics", "never"], "{method}");
    }
}

/// However an opening ends without a session, its servers end with it, and their ids are free again.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_an_opening_that_came_to_nothing_is_gone() {
    for (method, id) in [("session/new", None), ("session/load", Some("s1"))] {
        let stage = Stage::new();
        let script = able().expect(method).respond_error(method, json!({"code": -32603, "message": "no"}));
        let script = unknown(script, "failed", "a").notify("_test/failed", json!({})).expect(method);
        let script = script.request("open", "mcp/message", message("a", "1", "never"));
        let script = script.expect("$/cancel_request").expect_error("open", json!({"code": -32800}));
        let script = unknown(script, "left", "a").expect(method).respond(method, json!({"sessionId": "s1"}));
        let script = ask(script, "third", message("a", "1", "ping"), json!({"result": {"did": "ping"}}));
        let host = Arc::new(Served::default());
        let client = launch(&stage, &done(script), host.clone()).await;
        let request = with(&stage, &["a"]);
        let listener = Listener::new();
        let failed = open_by(&client, method, id, &request, &listener, ViewKind::Events).await;
        assert_code(&failed, ErrorCode::AgentError);
        eventually("the refusal", || client.diagnostics().refused_requests == 1).await;
        let (sender, receiver) = oneshot::channel();
        let reply = Box::new(|outcome| drop(sender.send(outcome)));
        let call = client.open(method, id, &request, listener.spec(ViewKind::Events), reply);
        eventually("the request", || host.methods().len() == 1).await;
        client.connection().abandon(call, Error::new(ErrorCode::Aborted, "let go"));
        assert_code(&receiver.await.unwrap(), ErrorCode::Aborted);
        eventually("the second refusal", || client.diagnostics().refused_requests == 2).await;
        open_by(&client, method, id, &request, &listener, ViewKind::Events).await.unwrap();
        host.all_answered().await;
        stage.end(client).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_is_that_of_one_server() {
    let stage = Stage::new();
    let script = Script::new().options(Options { strict: Some(true), ..Options::default() }).then(able());
    let script = script.session_new("s1").session_new("s2").session_new("s3").expect("_test/end");
    let client = launch(&stage, &script, Arc::<Served>::default()).await;
    let listener = Listener::new();
    let open = async |ids: &[&str]| {
        open_by(&client, "session/new", None, &with(&stage, ids), &listener, ViewKind::Events).await
    };
    assert_code(&open(&["a", "a"]).await, ErrorCode::InvalidArgument);
    open(&["a", "b"]).await.unwrap();
    assert_code(&open(&["c", "b"]).await, ErrorCode::InvalidArgument);
    let load = open_by(&client, "session/load", Some("x"), &with(&stage, &["a"]), &listener, ViewKind::Events).await;
    assert_code(&load, ErrorCode::InvalidArgument);
    open(&["c"]).await.unwrap();
    client.connection().drop_session("s1");
    open(&["a", "b"]).await.unwrap();
    client.connection().notify("_test/end", None).unwrap();
    stage.end(client).await;
}

/// The agent is strict: nothing of what is refused here reaches it.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_host_is_given_only_to_agents_that_take_one() {
    let plain = || json!({"agentCapabilities": {"mcpCapabilities": {"http": true}}});
    let able = || json!({"agentCapabilities": {"mcpCapabilities": {"acp": true}}});
    for (capabilities, unstable, server, code) in [
        (plain(), true, server("a"), ErrorCode::UnsupportedCapability),
        (able(), false, server("a"), ErrorCode::UnsupportedCapability),
        (able(), true, json!({"type": "acp", "name": "tools"}), ErrorCode::InvalidArgument),
        (able(), true, server(""), ErrorCode::InvalidArgument),
        (able(), true, server(&"x".repeat(1025)), ErrorCode::InvalidArgument),
        (able(), true, json!({"type": "acp", "serverId": "a"}), ErrorCode::InvalidArgument),
    ] {
        let stage = Stage::new();
        let strict = Options { strict: Some(true), ..Options::default() };
        let script =
            Script::new().options(strict).then(Script::new().initialize_with(capabilities)).expect("_test/end");
        let mut options = stage.options(&script);
        options.offers.unstable = unstable;
        let client = Client::launch(options, Arc::new(Served::default())).await.unwrap();
        let request = SessionRequest { mcp_servers: vec![server], ..stage.session_request() };
        let opened = open_by(&client, "session/new", None, &request, &Listener::new(), ViewKind::Events).await;
        assert_code(&opened, code);
        // What one side only tells is no call.
        let called = client.connection().call("mcp/message", None, CallOptions::plain(Phase::Session)).await;
        assert_code(&called, ErrorCode::InvalidArgument);
        client.connection().notify("_test/end", None).unwrap();
        stage.end(client).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_none_is_refused_and_without_the_switch_all_are() {
    let wrong = [
        json!({}),
        json!({"serverId": "a", "requestId": "1"}),
        json!({"serverId": "a", "requestId": 1, "method": "ping"}),
        message("a", "", "ping"),
        message("a", "1", ""),
        message("a", &"x".repeat(1025), "ping"),
        message("a", "1", &"x".repeat(1025)),
        message("a", "1\n", "ping"),
        message("a", "1", "ping\u{1b}[2J"),
        message("a", "\u{0}", "ping"),
        message("a", "1", "p\u{85}ng"),
        json!({"serverId": "a", "requestId": "1", "method": "ping", "params": [1]}),
        json!({"serverId": "a", "requestId": "1", "method": "ping", "params": "x"}),
    ];
    let stage = Stage::new();
    let mut script = able().session_new("s1");
    for (i, params) in wrong.iter().enumerate() {
        let name = format!("wrong {i}");
        script = script.request(&name, "mcp/message", params.clone()).expect_error(&name, json!({"code": -32602}));
    }
    // While a request is open its id is taken, for its server alone.
    let script = script.request("open", "mcp/message", message("a", "1", "never"));
    let script = script
        .request("twice", "mcp/message", message("a", "1", "ping"))
        .expect_error("twice", json!({"code": -32602}));
    let script = ask(script, "other", message("b", "1", "ping"), json!({"result": {"did": "ping"}}))
        .notify("$/cancel_request", json!({"requestId": "{{open.id}}"}))
        .expect_error("open", json!({"code": -32800}));
    let mut full = message("a", "1", "call");
    full["params"] = json!({"x": [1, null]});
    full["_meta"] = json!({"trace": 1});
    let script = ask(script, "again", full, json!({"result": {"did": "call"}}));
    let host = Arc::new(Served::default());
    let client = launch(&stage, &done(script), host.clone()).await;
    open_by(&client, "session/new", None, &with(&stage, &["a", "b"]), &Listener::new(), ViewKind::Events)
        .await
        .unwrap();
    host.all_answered().await;
    stage.end(client).await;
    {
        let asked = host.0.lock().unwrap();
        assert_eq!(asked.iter().map(|(id, _)| id.as_deref()).collect::<Vec<_>>(), [Some("s1"); 3]);
        assert_eq!(asked[2].1.params.as_ref().unwrap().get(), r#"{"x":[1,null]}"#);
    }

    let stage = Stage::new();
    let script = Script::new().initialize().session_new("s1").request("q", "mcp/message", message("a", "1", "ping"));
    let host = Arc::new(Served::default());
    let client = stage.launch_for(&done(script.expect_error("q", json!({"code": -32601}))), host.clone()).await;
    crate::support::open(&client, &stage, &Listener::new()).await.unwrap();
    host.all_answered().await;
    stage.end(client).await;
}

/// What a server tells goes out while its request is open, and never after.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_tells_things_about_requests_that_are_open() {
    let stage = Stage::new();
    let progress = json!({"$exact": {"serverId": "a", "requestId": "1", "method": "progress", "params": {"n": 1}}});
    let script = able()
        .session_new("s1")
        .request("open", "mcp/message", message("a", "1", "never"))
        .expect_params("mcp/message", progress)
        .notify("$/cancel_request", json!({"requestId": "{{open.id}}"}))
        .expect_error("open", json!({"code": -32800}))
        .notify("_test/closed", json!({}))
        .expect_silence(200);
    let host = Arc::new(Served::default());
    let client = launch(&stage, &script, host.clone()).await;
    open_by(&client, "session/new", None, &with(&stage, &["a"]), &Listener::new(), ViewKind::Events).await.unwrap();
    eventually("the request", || host.methods().len() == 1).await;
    let tell = |server: &str, request: &str| {
        let params = to_raw_value(&json!({"n": 1})).unwrap();
        client.connection().notify_mcp(server, request, "progress", Some(params));
    };
    tell("a", "2");
    tell("b", "1");
    tell("a", "1");
    eventually("the end of the request", || client.diagnostics().messages_received >= 5).await;
    tell("a", "1");
    stage.end(client).await;
}

/// Reports progress, and has its answer at once.
#[derive(Default)]
struct Reporting(OnceLock<Client>, AtomicBool);

impl Host for Reporting {
    fn notification(&self, method: &str, _: Option<&RawValue>) {
        self.1.fetch_or(method == "_test/done", Ordering::SeqCst);
    }

    fn mcp_message(&self, _: Option<&str>, request: McpRequest) -> BoxFuture<Answer> {
        let client = self.0.get().unwrap().clone();
        Box::pin(async move {
            let params = to_raw_value(&json!({"n": 1})).unwrap();
            client.connection().notify_mcp("a", &request.request_id, "progress", Some(params));
            Ok(to_raw_value(&json!({})).unwrap())
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_tells_before_it_answers_comes_before_the_answer() {
    let stage = Stage::new();
    // In one piece: what the host says and answers meanwhile is found together.
    let request = |n: usize| {
        let params = message("a", &format!("r{n}"), "report");
        format!("{}\n", json!({"jsonrpc": "2.0", "id": n, "method": "mcp/message", "params": params}))
    };
    let script = able().session_new("s1").raw((0..100).map(request).collect::<String>());
    let script = (0..100).fold(script, |script, _| script.expect("mcp/message"));
    let script = done(script);
    let host = Arc::new(Reporting::default());
    let client = launch(&stage, &script, host.clone()).await;
    assert!(host.0.set(client.clone()).is_ok());
    open_by(&client, "session/new", None, &with(&stage, &["a"]), &Listener::new(), ViewKind::Events).await.unwrap();
    eventually("everything was told", || host.1.load(Ordering::SeqCst)).await;
    stage.end(client).await;
}

/// The agent waits for the server of the host: neither its silence nor its time is its own.
#[tokio::test(flavor = "multi_thread")]
async fn s09_clocks_stand_while_a_server_of_the_host_works() {
    let stage = Stage::new();
    let limit = Duration::from_secs(2);
    let script = able().expect("session/new");
    let script = ask(script, "opening", message("a", "1", "slow"), json!({"result": {}}));
    let script = script.respond("session/new", json!({"sessionId": "s1"})).prompt_begin();
    let script =
        ask(script, "turn", message("a", "1", "slow"), json!({"result": {}})).text("done").prompt_end("end_turn");
    let client = launch(&stage, &script, Arc::<Served>::default()).await;
    let listener = Listener::new();
    let request = SessionRequest { timeout: Some(limit), ..with(&stage, &["a"]) };
    open_by(&client, "session/new", None, &request, &listener, ViewKind::Events).await.unwrap();
    let options = TurnOptions { idle_timeout: Some(limit), ..TurnOptions::default() };
    begin(&client, "s1", Some(&listener), options).await.unwrap().unwrap();
    stage.end(client).await;
    assert_eq!(listener.of(Kind::Text), ["done"]);
}
