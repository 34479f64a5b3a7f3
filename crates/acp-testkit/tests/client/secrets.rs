//! A secret that an agent repeats is nowhere to be read (F04).

use std::sync::{Arc, Mutex};

use acp_runtime::client::Client;
use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use serde_json::json;

use crate::support::{Listener, Stage, eventually, everything, open, open_by, prompt, prompted};

/// One that only the host can know, with what JSON and URLs escape; one that looks like what it is; two of an MCP server.
const NAMED: &str = "corr\"ect/horse";
const PATTERN: &str = "sk-test-1234567890abcdef";
const MCP_ENV: &str = "hunter2-of-the-server";
const MCP_HEADER: &str = "opaque.header.value";

fn words() -> String {
    format!("{NAMED} {PATTERN} {MCP_ENV} {MCP_HEADER}")
}

#[track_caller]
fn assert_clean(what: &str, text: &str) {
    for secret in [NAMED, PATTERN, MCP_ENV, MCP_HEADER, "corr\\\"ect", "hunter2", "ect/horse", "ect\\/horse", "0abcdef"]
    {
        assert!(!text.contains(secret), "{secret} in {what}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f04_no_secret_in_errors_diagnostics_stderr_or_trace() {
    let stage = Stage::new();
    let data = json!({"env": words(), "list": [{"k": NAMED}], PATTERN: 1});
    // As another language would escape it.
    let escaped = "{\"jsonrpc\":\"2.0\",\"id\":{{prompt.id}},\"error\":{\"code\":-32603,\"message\":\"no: corr\\u0022ect\\/horse\",\"data\":\"\\u0068unter2-of-the-server corr\\\"ect\\/horse\"}}\n";
    let script = prompted()
        .stderr(&words())
        .raw(format!("a noise line with {}\n", words()))
        .raw(format!("cut \u{1b}[1mcorr\"ect\u{1b}[0m/horse {PATTERN}\n"))
        .respond_error("prompt", json!({"code": -32000, "message": format!("bad token {}", words()), "data": data}))
        .prompt_begin()
        .raw(escaped)
        .prompt_begin()
        .stderr(&format!("fatal: {}", words()))
        .exit(1);
    let mut options = stage.options(&script);
    options.spec.secrets = vec![NAMED.to_owned()];
    options.spec.env.push(("AGENT_TOKEN".into(), NAMED.into()));
    let frames = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&frames);
    options.tap = Some(Arc::new(move |frame| seen.lock().unwrap().push(frame.frame)));
    let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    let mut request = stage.session_request();
    request.mcp_servers = vec![json!({
        "name": "m", "command": "m", "args": [], "env": [{"name": "TOKEN", "value": MCP_ENV}],
    })];
    let listener = Listener::new();
    let view = acp_runtime::session::ViewKind::Events;
    open_by(&client, "session/new", None, &request, &listener, view).await.unwrap();
    // An HTTP server's header is a secret as soon as a session is asked for, even if the agent cannot take it.
    let mut http = stage.session_request();
    let headers = json!([{"name": "Authorization", "value": format!("Bearer {MCP_HEADER}")}]);
    http.mcp_servers = vec![json!({"type": "http", "name": "h", "url": "https://example.invalid", "headers": headers})];
    assert!(open_by(&client, "session/new", None, &http, &listener, view).await.is_err());

    for number in 0..3 {
        let error = prompt(&client, "s1", &listener).await.unwrap_err();
        assert_clean(&format!("error {number}"), &everything(&error));
        assert!(everything(&error).contains("[REDACTED]"), "{}", everything(&error));
    }
    client.close(crate::support::patient()).await;
    stage.assert_empty();
    let diagnostics = client.diagnostics();
    assert_eq!(diagnostics.noise_lines, 2);
    assert_clean("diagnostics", &serde_json::to_string(&diagnostics).unwrap());
    assert_clean("stderr", &client.stderr());
    assert!(client.stderr().contains("fatal: [REDACTED]"), "{}", client.stderr());
    let trace = frames.lock().unwrap().join("\n");
    assert_clean("the trace", &trace);
    assert!(trace.contains("[REDACTED]") && trace.contains("session/prompt"));
}

#[tokio::test(flavor = "multi_thread")]
async fn f04_a_failed_launch_tells_no_secret_either() {
    let stage = Stage::new();
    let script = Script::new().raw(format!("{}\n", words())).expect("initialize").stderr(&words()).exit(1);
    let mut options = stage.options(&script);
    options.spec.secrets = vec![NAMED.to_owned(), MCP_ENV.to_owned(), MCP_HEADER.to_owned()];
    let error = Client::launch(options, Arc::new(DenyAll)).await.map(|client| client.pid()).unwrap_err();
    assert_clean("the error", &everything(&error));
    assert!(error.details().stderr_tail.as_deref().unwrap().contains("[REDACTED]"));
    stage.assert_empty();
    let mut options = stage.options(&Script::new().raw(format!("{}\n", words())).expect("initialize"));
    options.spec.secrets = vec![NAMED.to_owned(), MCP_ENV.to_owned(), MCP_HEADER.to_owned()];
    options.handshake.timeout = std::time::Duration::from_secs(4);
    let error = Client::launch(options, Arc::new(DenyAll)).await.map(|client| client.pid()).unwrap_err();
    assert_clean("the error", &everything(&error));
    assert!(error.to_string().contains("stdout began with: [REDACTED]"), "{error}");
    stage.assert_empty();
}

/// The answer itself is what the agent wrote: masking it would change the work.
#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_a_turn_is_not_redacted() {
    let stage = Stage::new();
    let client = stage.launch(&prompted().text(PATTERN).prompt_end("end_turn")).await;
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, PATTERN);
    stage.end(client).await;
}

/// The ring of stderr holds what comes after the start of a secret that is longer than the usual slack.
#[tokio::test(flavor = "multi_thread")]
async fn a_secret_of_the_environment_is_not_shown_by_half_however_long_it_is() {
    let stage = Stage::new();
    for spelled in [str::to_owned, |secret: &str| serde_json::to_string(&secret).unwrap()] {
        let secret = (100_000..100_900).map(|n| n.to_string()).collect::<Vec<_>>().join("\".w");
        let script = Script::new().initialize().stderr(&format!("{} {}", spelled(&secret), "y\n".repeat(3000)));
        let mut options = stage.options(&script);
        options.spec.stderr_bytes = 8192;
        options.spec.env.push(("BIG_SECRET".into(), secret));
        let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
        eventually("the end of stderr", || client.stderr().ends_with("y\n")).await;
        let seen = client.stderr();
        assert!(!seen.contains(".w"), "{seen}");
        stage.end(client).await;
    }
}
