//! Questions that nobody takes: the agent that asks them is not read any further.

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::capabilities::Offers;
use acp_runtime::client::Client;
use acp_runtime::delivery::{Kind, Limits, Outbox};
use acp_runtime::port::{BoxFuture, Host, McpRequest, PermissionDecision, PermissionRequest};
use acp_runtime::services::agent::AgentServices;
use acp_runtime::services::fs::FsPolicy;
use acp_runtime::session::{TurnOptions, ViewKind};
use acp_runtime::wire::encode::Answer;
use acp_testkit::Script;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::support::{Listener, Stage, begin, eventually, open_by};

const COUNT: usize = 1000;
const BYTES: usize = 10_000;

/// Queues what it is asked, as the addon does, and never answers.
struct Queue {
    session: Arc<Outbox>,
    own: Arc<Outbox>,
}

impl Queue {
    fn ask<T: Send + 'static>(&self, session_id: Option<&str>, what: &str) -> BoxFuture<T> {
        let outbox = if session_id == Some("s1") { &self.session } else { &self.own };
        outbox.push(Kind::Request, what);
        Box::pin(std::future::pending())
    }
}

impl Host for Queue {
    fn permission(&self, request: PermissionRequest) -> BoxFuture<PermissionDecision> {
        self.ask(Some(&request.session_id), request.tool_call.get())
    }

    fn serve_file(&self, session_id: &str, _: &str, params: &RawValue) -> Option<BoxFuture<Answer>> {
        Some(self.ask(Some(session_id), params.get()))
    }

    fn elicitation(&self, session_id: Option<&str>, params: &RawValue) -> BoxFuture<Answer> {
        self.ask(session_id, params.get())
    }

    fn extension_request(&self, id: Option<&str>, _: &str, params: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
        Some(self.ask(id, params.map(RawValue::get).unwrap_or_default()))
    }

    fn mcp_message(&self, session_id: Option<&str>, request: McpRequest) -> BoxFuture<Answer> {
        self.ask(session_id, request.params.as_deref().map(RawValue::get).unwrap_or_default())
    }

    fn outbox(&self) -> Option<Arc<Outbox>> {
        Some(Arc::clone(&self.own))
    }
}

/// Everything that an agent can ask, in a session and outside of any.
fn questions() -> Vec<(&'static str, Value)> {
    let pad = "x".repeat(BYTES);
    let form = json!({"type": "object", "properties": {"a": {"type": "string", "description": pad}}});
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    vec![
        ("_x/ask", json!({"sessionId": "s1", "pad": pad})),
        ("_x/ask", json!({"pad": pad})),
        ("_x/ask", json!({"sessionId": "unknown", "pad": pad})),
        ("elicitation/create", json!({"sessionId": "s1", "mode": "form", "message": "m", "requestedSchema": form})),
        ("elicitation/create", json!({"requestId": 4711, "mode": "form", "message": "m", "requestedSchema": form})),
        ("fs/read_text_file", json!({"sessionId": "s1", "path": format!("/{pad}")})),
        ("mcp/message", json!({"serverId": "m1", "requestId": "{i}", "method": "m", "params": {"pad": pad}})),
        (
            "session/request_permission",
            json!({"sessionId": "s1", "toolCall": {"toolCallId": "t", "rawInput": {"pad": pad}}, "options": options}),
        ),
    ]
}

/// Asks, takes it back, and asks again.
fn flood(method: &str, params: &Value) -> Script {
    let ask = json!({"jsonrpc": "2.0", "id": "q{i}", "method": method, "params": params});
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "q{i}"}});
    let capabilities = json!({"agentCapabilities": {"mcpCapabilities": {"acp": true}}});
    let mut script = Script::new().initialize_with(capabilities).session_new("s1").prompt_begin();
    for from in (0..COUNT).step_by(100) {
        let lines: String =
            (from..from + 100).map(|i| format!("{ask}\n{cancel}\n").replace("{i}", &i.to_string())).collect();
        script = script.raw(lines);
    }
    script.prompt_end("end_turn")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_not_read_while_nobody_takes_its_questions_and_nothing_is_lost() {
    for (method, params) in questions() {
        let stage = Stage::new();
        let (listener, own) = (Listener::slow(small()), Listener::slow(small()));
        let mut options = stage.options(&flood(method, &params));
        options.offers = Offers { read_text_file: true, elicitation_form: true, unstable: true, ..Offers::default() };
        let fs = FsPolicy { read: true, ..FsPolicy::default() };
        options.services = Arc::new(AgentServices::new(fs, None));
        let session = Arc::clone(listener.outbox());
        let host = Queue { session, own: Arc::clone(own.outbox()) };
        let client = Client::launch(options, Arc::new(host)).await.unwrap();
        let mut request = stage.session_request();
        request.mcp_servers = vec![json!({"type": "acp", "name": "m", "serverId": "m1"})];
        open_by(&client, "session/new", None, &request, &listener, ViewKind::Events).await.unwrap();
        listener.take();
        let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
        let turn = tokio::spawn(async move { turn.await.unwrap().unwrap() });
        let mut read = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(400)).await;
            let now = client.diagnostics().bytes_received;
            if now == read && now > BYTES as u64 || turn.is_finished() {
                break;
            }
            read = now;
        }
        assert!(!turn.is_finished(), "{method} {}: all was read", params["sessionId"]);
        assert!(read < (COUNT * BYTES / 2) as u64, "{method} {}: {read} bytes were read", params["sessionId"]);
        eventually("the end of the turn", || {
            listener.take();
            own.take();
            turn.is_finished()
        })
        .await;
        // Nothing was refused on the way: whatever was asked was put to the host, or taken back before it was.
        assert_eq!(client.diagnostics().refused_requests, 0, "{method}");
        stage.end(client).await;
    }
}

fn small() -> Limits {
    Limits { bytes: 64 * 1024, items: 1000 }
}
