//! Starting: versions, order, patience, sign-in (W10, W15, W16, W18, C10–C12, P05, P17, P18).

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::ask::AskReason;
use acp_runtime::client::{Authenticate, Client};
use acp_runtime::error::{Details, Error, ErrorCode, Phase};
use acp_runtime::port::DenyAll;
use acp_runtime::probe::{ProbeOptions, ProbeReason, ProbeStatus, probe};
use acp_testkit::Script;
use acp_testkit::cases::{process, wire};
use serde_json::{Value, json};

use crate::support::{Listener, Stage, case, open, prompt};

/// A launch that must fail, and leave nothing.
async fn refused(stage: &Stage, script: &Script, timeout: Option<Duration>) -> Error {
    let mut options = stage.options(script);
    if let Some(timeout) = timeout {
        options.handshake.timeout = timeout;
    }
    let launched = Client::launch(options, Arc::new(DenyAll)).await;
    stage.assert_empty();
    launched.map(|client| client.pid()).expect_err("the launch succeeded")
}

async fn probed(stage: &Stage, script: &Script, timeout: Option<Duration>, deep: bool) -> ProbeStatus {
    let mut launch = stage.options(script);
    if let Some(timeout) = timeout {
        launch.handshake.timeout = timeout;
    }
    let status = probe(ProbeOptions { launch, deep }).await;
    stage.assert_empty();
    status
}

#[tokio::test(flavor = "multi_thread")]
async fn w10_c12_another_version_is_told_as_it_was_said_and_nothing_more_is_sent() {
    for version in
        [json!("1"), json!("2025-03-26"), json!(0), json!(2), json!(7), json!(65536), json!(1.5), Value::Null]
    {
        let stage = Stage::new();
        // A removed member and a null one are the same to the kit, and to the client.
        let script = Script::new().record(&stage.file("heard")).then(wire::w10_protocol_version(&version));
        let error = refused(&stage, &script, None).await;
        assert_eq!((error.code(), error.details().phase), (ErrorCode::IncompatibleProtocol, Some(Phase::Initialize)));
        assert_eq!(error.details().extra.as_ref().unwrap()["agentProtocolVersion"], version);
        assert!(error.to_string().contains(&version.to_string()), "{error}");
        let heard = std::fs::read_to_string(stage.file("heard")).unwrap();
        assert_eq!(heard.lines().count(), 1, "only initialize was sent: {heard}");
        let status = probed(&stage, &wire::w10_protocol_version(&version), None, false).await;
        assert_eq!((status.ok, status.reason, status.exit_code), (false, ProbeReason::IncompatibleProtocol, 1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c10_c11_initialize_comes_first_and_says_who_we_are() {
    let stage = Stage::new();
    let script = Script::new()
        .initialize()
        .check(
            json!("{{init.params}}"),
            json!({
                "protocolVersion": {"$exact": 1},
                "clientInfo": {"name": "fusion-acp-runtime", "version": {"$type": "string"}},
                "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": {"$absent": true}},
            }),
        )
        .session_new("s1")
        .check(json!("{{session_new.params.mcpServers}}"), json!({"$exact": []}));
    // Strict: the very next message must be the expected one.
    let strict = acp_testkit::script::Options { strict: Some(true), ..Default::default() };
    let client = stage.launch(&Script::new().options(strict).then(script)).await;
    open(&client, &stage, &Listener::new()).await.unwrap();
    stage.end(client).await;
}

/// What the error of an agent that ended early says.
fn ended(details: &Details) -> (ErrorCode, Option<Phase>, Option<i32>, Option<&str>, bool) {
    let exit = details.exit.clone().unwrap_or_default();
    let signal = details.exit.as_ref().and_then(|exit| exit.signal.as_deref());
    (details.code, details.phase, exit.exit_code, signal, details.prompt_may_have_been_sent)
}

#[tokio::test(flavor = "multi_thread")]
async fn w15_an_exit_tells_its_phase_its_status_and_its_last_words() {
    let stage = Stage::new();
    let error = refused(&stage, &wire::w15_exit_in_handshake(1), None).await;
    let gone = ErrorCode::AgentExited;
    assert_eq!(ended(error.details()), (gone, Some(Phase::Initialize), Some(1), None, false));
    assert_eq!(error.details().stderr_tail.as_deref().map(str::trim), Some("Error: Cannot find module 'x'"));
    for part in ["exit code 1", "initialize", "nothing to stdout", "Cannot find module 'x'"] {
        assert!(error.to_string().contains(part), "{part} in {error}");
    }
    let error = refused(&stage, &case("w15_silent_exit"), None).await;
    assert_eq!(ended(error.details()), (gone, Some(Phase::Initialize), Some(0), None, false));
    let outcome = stage.ask(&case("w15_exit_before_session")).await;
    let failure = outcome.failed().unwrap();
    assert_eq!(failure.reason, AskReason::CreateSessionFailed);
    assert_eq!(ended(&failure.error), (gone, Some(Phase::Session), Some(3), None, false));
    assert!(failure.error.stderr_tail.as_deref().unwrap().contains("fatal: no disk"));
    let status = probed(&stage, &wire::w15_exit_in_handshake(1), None, false).await;
    assert_eq!((status.reason, status.exit_code), (ProbeReason::SpawnError, 1));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn w15_a_signal_is_named() {
    let stage = Stage::new();
    let error = refused(&stage, &case("w15_killed"), None).await;
    assert_eq!(ended(error.details()), (ErrorCode::AgentExited, Some(Phase::Initialize), None, Some("SIGKILL"), false));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_binary_and_a_bad_directory_are_told_apart() {
    let stage = Stage::new();
    let mut options = stage.options(&Script::new());
    options.spec.command = "no-such-agent-anywhere".into();
    let status = probe(ProbeOptions { launch: options.clone(), deep: false }).await;
    assert_eq!((status.reason, status.exit_code), (ProbeReason::MissingBinary, 127));
    let error = Client::launch(options.clone(), Arc::new(DenyAll)).await.map(|client| client.pid()).unwrap_err();
    assert_eq!((error.code(), error.details().phase), (ErrorCode::MissingBinary, Some(Phase::Spawn)));
    options.spec.cwd = stage.path().join("missing");
    let error = Client::launch(options, Arc::new(DenyAll)).await.map(|client| client.pid()).unwrap_err();
    assert_eq!((error.code(), error.details().phase), (ErrorCode::InvalidArgument, Some(Phase::Spawn)));
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread")]
async fn w16_c19_an_agent_that_wants_a_login_says_how_and_works_after_it() {
    let stage = Stage::new();
    let client = stage.launch(&case("w16_auth_required")).await;
    let listener = Listener::new();
    let error = open(&client, &stage, &listener).await.unwrap_err();
    assert_eq!((error.code(), error.details().rpc.as_ref().unwrap().code), (ErrorCode::AuthRequired, -32000));
    assert_eq!(error.details().extra.as_ref().unwrap()["authMethods"], json!([{"id": "login", "name": "Login"}]));
    let chosen =
        client.authenticate(&Authenticate { method_id: Some("login".into()), ..Authenticate::default() }).await;
    assert_eq!(chosen.unwrap().as_deref(), Some("login"));
    open(&client, &stage, &listener).await.unwrap();
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "logged in");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn w16_the_same_code_for_something_else_is_an_agent_error() {
    let stage = Stage::new();
    let client = stage.launch(&case("w16_session_busy")).await;
    let error = open(&client, &stage, &Listener::new()).await.unwrap_err();
    assert_eq!((error.code(), error.details().rpc.as_ref().unwrap().code), (ErrorCode::AgentError, -32000));
    stage.end(client).await;
    let status = probed(&stage, &case("w16_session_busy"), None, true).await;
    assert_eq!((status.ok, status.reason), (false, ProbeReason::SpawnError));
    let wanted = Script::new()
        .initialize_with(json!({"authMethods": [{"id": "login", "name": "Login"}]}))
        .expect("session/new")
        .respond_error("session/new", json!({"code": -32000, "message": "Authentication required"}));
    let status = probed(&stage, &wanted, None, true).await;
    assert_eq!((status.reason, status.auth_required), (ProbeReason::Unauthenticated, Some(true)));
    let status = probed(&stage, &wanted, None, false).await;
    assert_eq!((status.ok, status.auth_required, status.protocol_version), (true, Some(true), Some(1)));
}

/// C16: a method for a person at a terminal is never called.
#[tokio::test(flavor = "multi_thread")]
async fn c16_a_terminal_method_is_not_called() {
    let stage = Stage::new();
    let methods = json!([{"id": "tui", "name": "TUI", "type": "terminal"}]);
    let script = Script::new().record(&stage.file("heard")).initialize_with(json!({"authMethods": methods}));
    let mut options = stage.options(&script);
    options.authenticate =
        Some(Authenticate { method_id: Some("tui".into()), require: true, ..Authenticate::default() });
    let error = Client::launch(options, Arc::new(DenyAll)).await.map(|client| client.pid()).unwrap_err();
    assert_eq!((error.code(), error.details().phase), (ErrorCode::AuthRequired, Some(Phase::Authenticate)));
    stage.assert_empty();
    assert_eq!(std::fs::read_to_string(stage.file("heard")).unwrap().lines().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn w18_a_reply_that_is_only_a_sign_in_notice_is_a_failure() {
    let script = |reply: &str| {
        Script::new()
            .initialize_with(json!({"authMethods": [{"id": "claude-login", "name": "Login"}]}))
            .session_new("s1")
            .prompt_begin()
            .text(reply)
            .prompt_end("end_turn")
    };
    let stage = Stage::new();
    let mut options = stage.ask_options(&script("Not logged in · Please run /login"));
    options.recover_json = true;
    let outcome = stage.ask_with(options).await;
    let failure = outcome.failed().unwrap();
    assert_eq!((failure.reason, failure.error.code), (AskReason::TurnFailed, ErrorCode::SignInRequired));
    assert_eq!(failure.text.as_deref(), Some("Not logged in · Please run /login"));
    assert!(failure.message.contains("claude-login"), "{}", failure.message);
    let quoting =
        "The tool printed `Not logged in · Please run /login`, so I looked for the credentials file. It exists.";
    assert_eq!(stage.ask(&script(quoting)).await.answer().unwrap().text, quoting);
}

#[tokio::test(flavor = "multi_thread")]
async fn p05_a_failed_start_leaves_nothing_however_often_it_is_tried() {
    let stage = Stage::new();
    for _ in 0..2 {
        let error = refused(&stage, &process::p05_initialize_error(), None).await;
        assert_eq!((error.code(), error.details().phase), (ErrorCode::AgentError, Some(Phase::Initialize)));
        let error = refused(&stage, &process::p05_stdout_closed(), None).await;
        assert_eq!((error.code(), error.details().phase), (ErrorCode::ConnectionClosed, Some(Phase::Initialize)));
        let error = refused(&stage, &process::p05_never_answers(), Some(Duration::from_millis(300))).await;
        assert_eq!((error.code(), error.details().phase), (ErrorCode::HandshakeTimeout, Some(Phase::Initialize)));
        let status = probed(&stage, &process::p05_initialize_error(), None, false).await;
        assert_eq!((status.reason, status.exit_code), (ProbeReason::SpawnError, 1));
        let outcome = stage.ask(&process::p05_stdout_closed()).await;
        assert_eq!(outcome.failed().unwrap().reason, AskReason::CreateSessionFailed);
    }
}

/// Whoever loses patience first, and drops the future, leaves nothing either.
#[tokio::test(flavor = "multi_thread")]
async fn a_launch_or_an_ask_that_is_dropped_leaves_nothing() {
    let stage = Stage::new();
    let noted = || Script::new().write_pid("{{args.0}}");
    let launch = Client::launch(stage.options(&noted().then(process::p05_never_answers())), Arc::new(DenyAll));
    let launch = tokio::spawn(launch);
    // The agent may run before its tree is known here.
    let known = || acp_runtime::process::registry::active_count(stage.owner) == 1;
    crate::support::eventually("the agent", || stage.pids().len() == 1 && known()).await;
    launch.abort();
    stage.empties().await;
    let silent = noted().ignore_eof().initialize().session_new("s1").prompt_begin();
    let ask = tokio::spawn(acp_runtime::ask::ask(stage.ask_options(&silent)));
    crate::support::eventually("the second agent", || stage.pids().len() == 2 && known()).await;
    ask.abort();
    stage.empties().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn p17_signs_of_life_extend_the_handshake_up_to_its_cap() {
    let stage = Stage::new();
    let mut options = stage.options(&process::p17_slow_start(20, 250));
    options.handshake.timeout = Duration::from_secs(3);
    options.handshake.extend_to = Some(crate::support::PATIENCE);
    let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    assert!(client.stderr().contains("package-19"));
    client.close(crate::support::brisk()).await;
    stage.assert_empty();
    let mut options = stage.options(&process::p17_slow_start(400, 50));
    options.handshake.timeout = Duration::from_secs(3);
    options.handshake.extend_to = Some(Duration::from_secs(4));
    let error = Client::launch(options, Arc::new(DenyAll)).await.map(|client| client.pid()).unwrap_err();
    stage.assert_empty();
    assert_eq!((error.code(), error.details().phase), (ErrorCode::HandshakeTimeout, Some(Phase::Initialize)));
    assert!(error.to_string().contains("after 4000ms"), "{error}");
    assert!(error.to_string().contains("last stderr line: npm http fetch GET 200 package-"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn p18_silence_is_told_as_silence_with_the_command() {
    let stage = Stage::new();
    let limit = Some(Duration::from_millis(400));
    let error = refused(&stage, &case("p18_silent_until_eof"), limit).await;
    assert_eq!(error.code(), ErrorCode::HandshakeTimeout);
    assert!(error.to_string().starts_with("ACP initialize handshake timed out after 400ms"), "{error}");
    for part in ["no bytes received on stdout", "fake-agent"] {
        assert!(error.to_string().contains(part), "{part} in {error}");
    }
    let status = probed(&stage, &case("p18_silent_until_eof"), limit, false).await;
    assert_eq!((status.reason, status.exit_code), (ProbeReason::HandshakeTimeout, 124));
    // A session that is never opened counts as no answer, too.
    let stuck = Script::new().initialize().expect("session/new").expect_eof().exit(0);
    let status = probed(&stage, &stuck, Some(Duration::from_secs(4)), true).await;
    assert_eq!((status.reason, status.exit_code), (ProbeReason::HandshakeTimeout, 124));
}
