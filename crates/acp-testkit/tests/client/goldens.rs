//! A golden transcript of each method and of each update, driven from the registry.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use acp_runtime::capabilities::registry::UPDATES;
use acp_runtime::capabilities::{INBOUND, OUTBOUND, Offers};
use acp_runtime::client::{Client, LaunchOptions};
use acp_runtime::connection::CallOptions;
use acp_runtime::error::Phase;
use acp_runtime::port::{BoxFuture, DenyAll, Host, McpRequest};
use acp_runtime::services::agent::{AgentServices, TerminalPolicy};
use acp_runtime::services::fs::FsPolicy;
use acp_runtime::session::{TurnOptions, ViewKind};
use acp_runtime::wire::encode::{Answer, AnswerError};
use acp_testkit::Script;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Listener, PATIENCE, Stage, eventually, open, open_by, prompt};
use crate::transcripts::Transcript;

/// An agent that can do everything.
fn able() -> Script {
    Script::new().initialize_with(json!({
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": true, "acp": true},
            "sessionCapabilities": {
                "list": {}, "delete": {}, "resume": {}, "close": {}, "fork": {}, "archive": {}, "status": {},
                "options": {}, "title": {}, "additionalDirectories": {}, "systemPrompt": {"mode": {"override": {}}},
            },
            "auth": {"logout": {}, "status": {}},
            "providers": {},
        },
        "authMethods": [{"id": "login", "name": "Login"}],
    }))
}

/// What a call of this method says, and what the agent answers. `None`: the method has a function of its own below.
fn call(method: &str) -> Option<(Value, Value)> {
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}]});
    let options = json!([{"id": "fast", "name": "Fast", "type": "boolean", "currentValue": true}]);
    let provider = json!({"providerId": "p", "supported": ["anthropic"], "required": false, "current": null});
    Some(match method {
        "authenticate" => (json!({"methodId": "login"}), json!({})),
        "logout" => (json!({}), json!({})),
        "auth/status" => {
            (json!({}), json!({"state": "authenticated", "accounts": [{"label": "work", "active": true}]}))
        }
        "session/list" => (
            json!({"cwd": "/w", "cursor": "c1"}),
            json!({"sessions": [{"sessionId": "s1", "cwd": "/w", "title": "A title"}], "nextCursor": "c2"}),
        ),
        "session/delete" | "session/close" | "session/archive" | "session/unarchive" => {
            (json!({"sessionId": "s1"}), json!({}))
        }
        "session/set_mode" => (json!({"sessionId": "s1", "modeId": "plan"}), json!({})),
        "session/set_config_option" => (
            json!({"sessionId": "s1", "configId": "fast", "type": "boolean", "value": true}),
            json!({"configOptions": options}),
        ),
        "session/status" => (json!({"sessionId": "s1"}), json!({"status": "open"})),
        "session/options" => (json!({"cwd": "/w"}), json!({"modes": modes, "configOptions": options})),
        "session/set_title" => (json!({"sessionId": "s1", "title": " A title "}), json!({"title": "A title"})),
        "providers/list" => (json!({}), json!({"providers": [provider]})),
        "providers/set" => {
            (json!({"providerId": "p", "apiType": "anthropic", "baseUrl": "https://example.org"}), json!({}))
        }
        "providers/disable" => (json!({"providerId": "p"}), json!({})),
        _ => return None,
    })
}

fn golden(method: &str) -> String {
    format!("methods/{}", method.trim_start_matches("$/").replace('/', "_"))
}

async fn launched(stage: &Stage, script: &Script, host: Arc<dyn Host>) -> (Client, Transcript) {
    let transcript = Transcript::default();
    let mut options = stage.options(script);
    transcript.tap(&mut options);
    everything(&mut options);
    (Client::launch(options, host).await.unwrap(), transcript)
}

/// Everything that a client can offer.
fn everything(options: &mut LaunchOptions) {
    options.offers = Offers {
        read_text_file: true,
        write_text_file: true,
        terminal: true,
        elicitation_form: true,
        elicitation_url: true,
        auth_terminal: true,
        rich_updates: true,
        unstable: true,
    };
    let fs = FsPolicy { read: true, write: true, ..FsPolicy::default() };
    let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    options.services = Arc::new(AgentServices::new(fs, Some(TerminalPolicy { env, ..TerminalPolicy::default() })));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_call_is_on_record() {
    for method in OUTBOUND.iter().map(|method| method.name) {
        let Some((params, result)) = call(method) else { continue };
        let stage = Stage::new();
        let script = able().expect_params(method, json!({"$exact": params})).respond(method, result.clone());
        let (client, transcript) = launched(&stage, &script, Arc::new(DenyAll)).await;
        let options = CallOptions::plain(Phase::Session).timeout(Some(PATIENCE));
        let answer = client.connection().call(method, Some(to_raw_value(&params).unwrap()), options).await.unwrap();
        assert_eq!(serde_json::from_str::<Value>(answer.get()).unwrap(), result, "{method}");
        stage.end(client).await;
        transcript.assert_golden(&golden(method), &stage);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_to_open_a_session_is_on_record() {
    for method in ["session/new", "session/load", "session/resume", "session/fork"] {
        let stage = Stage::new();
        let (id, result) = match method {
            "session/new" => (None, json!({"sessionId": "s1"})),
            "session/fork" => (Some("s0"), json!({"sessionId": "s1"})),
            _ => (Some("s1"), json!({})),
        };
        let mut script = able().expect(method);
        if method == "session/load" {
            let said =
                |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
            script = script
                .update_in("s1", said("user_message_chunk", "a question"))
                .update_in("s1", said("agent_message_chunk", "an answer"));
        }
        let (client, transcript) = launched(&stage, &script.respond(method, result), Arc::new(DenyAll)).await;
        let mut request = stage.session_request();
        request.additional_directories = Some(vec![request.cwd.clone()]);
        request.system_prompt = Some(json!({"mode": "append", "content": [{"type": "text", "text": "be brief"}]}));
        request.mcp_servers = vec![json!({"name": "tools", "command": "tools", "args": ["--all"], "env": []})];
        request.meta = Some(json!({"traceparent": "00-0af7651916cd43dd-b7ad6b7169203331-01"}));
        open_by(&client, method, id, &request, &Listener::new(), ViewKind::Events).await.unwrap();
        stage.end(client).await;
        transcript.assert_golden(&golden(method), &stage);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_of_every_content_block_is_on_record() {
    let stage = Stage::new();
    let blocks = json!([
        {"type": "text", "text": "look"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///w/a.txt", "name": "a.txt"},
        {"type": "resource", "resource": {"uri": "file:///w/b.txt", "text": "b", "mimeType": "text/plain"}},
    ]);
    let usage = json!({"inputTokens": 10, "outputTokens": 5, "totalTokens": 15});
    let script = able()
        .session_new("s1")
        .expect_params("session/prompt", json!({"prompt": {"$exact": blocks}}))
        .text("seen")
        .respond("session/prompt", json!({"stopReason": "end_turn", "usage": usage}));
    let (client, transcript) = launched(&stage, &script, Arc::new(DenyAll)).await;
    open(&client, &stage, &Listener::new()).await.unwrap();
    let blocks = to_raw_value(&blocks).unwrap();
    let outcome = acp_runtime::ask::prompt(&client, "s1", &blocks, TurnOptions::default()).await.unwrap();
    assert_eq!(outcome.text, "seen");
    stage.end(client).await;
    transcript.assert_golden(&golden("session/prompt"), &stage);
}

/// Says yes to everything.
#[derive(Default)]
struct Agreeable(Arc<Notify>);

impl Host for Agreeable {
    fn allow_write(&self, _: &str, _: &str) -> BoxFuture<bool> {
        Box::pin(std::future::ready(true))
    }

    fn allow_command(&self, _: &str, _: &RawValue) -> BoxFuture<bool> {
        Box::pin(std::future::ready(true))
    }

    fn elicitation(&self, _: Option<&str>, params: &RawValue) -> BoxFuture<Answer> {
        let params: Value = serde_json::from_str(params.get()).unwrap();
        let answer = match params["mode"].as_str() {
            Some("form") => json!({"action": "accept", "content": {"name": "Ada"}}),
            _ => json!({"action": "accept"}),
        };
        Box::pin(std::future::ready(Ok(to_raw_value(&answer).unwrap())))
    }

    fn mcp_message(&self, _: Option<&str>, request: McpRequest) -> BoxFuture<Answer> {
        if request.method != "tools/list" {
            return Box::pin(std::future::ready(Err(AnswerError::method_not_found(&request.method))));
        }
        let told = Arc::clone(&self.0);
        Box::pin(async move {
            told.notified().await;
            Ok(to_raw_value(&json!({"tools": []})).unwrap())
        })
    }

    /// Never done, until the agent takes it back.
    fn extension_request(&self, _: Option<&str>, _: &str, _: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
        Some(Box::pin(std::future::pending()))
    }
}

/// A turn in which the agent asks for this.
async fn asked(name: &str, script: Script, stage: &Stage) {
    let script = able().session_new("s1").prompt_begin().then(script).prompt_end("end_turn");
    let (client, transcript) = launched(stage, &script, Arc::new(Agreeable::default())).await;
    let listener = Listener::new();
    open(&client, stage, &listener).await.unwrap();
    prompt(&client, "s1", &listener).await.unwrap();
    stage.end(client).await;
    transcript.assert_golden(&golden(name), stage);
}

fn ask(script: Script, method: &str, mut params: Value, result: Value) -> Script {
    params["sessionId"] = "s1".into();
    script.request(method, method, params).expect_result(method, result)
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_on_record() {
    let stage = Stage::new();
    let path = stage.path().canonicalize().unwrap().join("a.txt").to_string_lossy().into_owned();
    let script = ask(
        Script::new(),
        "fs/write_text_file",
        json!({"path": path, "content": "one\ntwo\nthree\n"}),
        json!({"$exact": {}}),
    );
    let script =
        ask(script, "fs/read_text_file", json!({"path": path, "line": 2, "limit": 1}), json!({"content": "two"}));
    asked("fs", script, &stage).await;
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn terminals_are_on_record() {
    let stage = Stage::new();
    let command = json!({"command": "printf", "args": ["hi"], "outputByteLimit": 100});
    let script = ask(Script::new(), "terminal/create", command, json!({"terminalId": "term-1"}));
    let terminal = || json!({"terminalId": "term-1"});
    let script = ask(script, "terminal/wait_for_exit", terminal(), json!({"exitCode": 0}));
    let script = ask(script, "terminal/output", terminal(), json!({"output": "hi", "truncated": false}));
    let script = ask(script, "terminal/kill", terminal(), json!({}));
    asked("terminal", ask(script, "terminal/release", terminal(), json!({})), &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn elicitations_are_on_record() {
    let stage = Stage::new();
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let form = json!({"mode": "form", "message": "Who are you?", "requestedSchema": schema});
    let accepted = json!({"action": "accept", "content": {"name": "Ada"}});
    let script = ask(Script::new(), "elicitation/create", form, accepted);
    let url = json!({"mode": "url", "message": "Sign in", "elicitationId": "e1", "url": "https://example.org/in"});
    let script = ask(script, "elicitation/create", url, json!({"action": "accept"}));
    asked("elicitation", script.notify("elicitation/complete", json!({"elicitationId": "e1"})), &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_a_server_of_the_host_are_on_record() {
    let stage = Stage::new();
    let message =
        |id: &str, method: &str| json!({"serverId": "tools-1", "requestId": id, "method": method, "params": {}});
    let script = able()
        .session_new("s1")
        .request("list", "mcp/message", message("r1", "tools/list"))
        .expect("mcp/message")
        .expect_result("list", json!({"$exact": {"result": {"tools": []}}}))
        .request("other", "mcp/message", message("r2", "resources/list"))
        .expect_result("other", json!({"error": {"code": -32601}}))
        .notify("_example/done", json!({}));
    let host = Agreeable::default();
    let go = Arc::clone(&host.0);
    let (client, transcript) = launched(&stage, &script, Arc::new(host)).await;
    let mut request = stage.session_request();
    request.mcp_servers = vec![json!({"type": "acp", "name": "tools", "serverId": "tools-1"})];
    open_by(&client, "session/new", None, &request, &Listener::new(), ViewKind::Events).await.unwrap();
    eventually("the request", || client.diagnostics().messages_received >= 3).await;
    let progress = to_raw_value(&json!({"progressToken": "r1", "progress": 1})).unwrap();
    client.connection().notify_mcp("tools-1", "r1", "notifications/progress", Some(progress));
    go.notify_one();
    eventually("the end", || client.diagnostics().messages_received >= 5).await;
    stage.end(client).await;
    transcript.assert_golden(&golden("mcp/message"), &stage);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_authentication_is_on_record() {
    let stage = Stage::new();
    let accounts = json!([{"label": "work", "active": true}]);
    let script = Script::new().notify("auth/status_update", json!({"state": "authenticated", "accounts": accounts}));
    asked("auth/status_update", script, &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_taken_back_is_on_record() {
    let stage = Stage::new();
    let script = Script::new()
        .request("work", "_example/work", json!({"sessionId": "s1"}))
        .notify("$/cancel_request", json!({"requestId": "{{work.id}}"}))
        .expect_error("work", json!({"code": -32800}));
    asked("$/cancel_request", script, &stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_update_is_on_record_with_what_the_host_hears_of_it() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/update-examples.json");
    let examples: Value = serde_json::from_str(&std::fs::read_to_string(examples).unwrap()).unwrap();
    for name in UPDATES.iter().map(|known| known.name) {
        let mut update = json!({"sessionUpdate": name});
        update.as_object_mut().unwrap().extend(examples[name].as_object().unwrap().clone());
        let stage = Stage::new();
        let script = able().session_new("s1").prompt_begin().update(update).prompt_end("end_turn");
        let (client, transcript) = launched(&stage, &script, Arc::new(DenyAll)).await;
        let listener = Listener::new();
        open(&client, &stage, &listener).await.unwrap();
        prompt(&client, "s1", &listener).await.unwrap();
        stage.end(client).await;
        let normal = transcript.normal(&stage);
        let mut record = String::new();
        for line in normal.lines().filter(|line| line.contains("\"session/update\"")) {
            record.extend([line, "\n"]);
        }
        for (kind, text) in listener.heard() {
            let heard = serde_json::from_str(&text).unwrap_or(Value::String(text));
            let _ = writeln!(record, "{}", json!({"from": "host", "heard": format!("{kind:?}"), "message": heard}));
        }
        acp_testkit::transcript::assert_golden(&format!("updates/{name}"), &record);
    }
}

fn golden_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(golden_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    files
}

#[test]
fn every_method_and_every_update_of_the_registry_has_a_golden() {
    let mut seen = BTreeSet::new();
    for file in golden_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")) {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let entry: Value = serde_json::from_str(line).unwrap();
            let (from, message) = (entry["from"].as_str().unwrap(), &entry["message"]);
            if let Some(method) = message["method"].as_str() {
                seen.insert(format!("{from} {method}"));
            }
            if let Some(update) = message.pointer("/params/update/sessionUpdate").and_then(Value::as_str) {
                seen.insert(format!("update {update}"));
            }
        }
    }
    let methods = OUTBOUND.iter().map(|method| format!("client {}", method.name));
    let methods = methods.chain(INBOUND.iter().map(|method| format!("agent {}", method.name)));
    let wanted: BTreeSet<_> = methods.chain(UPDATES.iter().map(|known| format!("update {}", known.name))).collect();
    let missing: Vec<_> = wanted.difference(&seen).collect();
    assert!(missing.is_empty(), "no golden transcript has {missing:?}");
}
