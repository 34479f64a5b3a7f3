//! An agent that falls silent in its turn (S09).

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::ask;
use acp_runtime::capabilities::Offers;
use acp_runtime::client::{Authenticate, Client, SessionRequest};
use acp_runtime::delivery::{Kind, Limits};
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::port::{BoxFuture, DenyAll, Host, PermissionDecision, PermissionRequest};
use acp_runtime::services::agent::{AgentServices, TerminalPolicy};
use acp_runtime::services::fs::FsPolicy;
use acp_runtime::session::{TurnOptions, ViewKind};
use acp_runtime::wire::encode::Answer;
use acp_testkit::Script;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::support::{
    Decider, Listener, Stage, assert_code, begin, eventually, open, open_by, opened, prompt, prompted,
};

fn idle(limit: Duration) -> TurnOptions {
    TurnOptions { idle_timeout: Some(limit), ..TurnOptions::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_silence_is_a_typed_failure_and_chatter_elsewhere_does_not_count() {
    let stage = Stage::new();
    let chatter = Script::new().stderr("still alive").raw("a log line\n").text_in("s2", "elsewhere");
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .session_new("s2")
        .prompt_begin()
        .text("part")
        .repeat_until("session/cancel", 50, chatter)
        .expect("session/cancel")
        .prompt_end("cancelled")
        .prompt_begin()
        .text("again")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    open(&client, &stage, &Listener::new()).await.unwrap();
    let error = begin(&client, "s1", Some(&listener), idle(Duration::from_secs(2))).await.unwrap().unwrap_err();
    let details = error.details();
    assert_eq!((details.code, details.phase), (ErrorCode::TurnStalled, Some(Phase::Prompt)));
    assert_eq!(details.partial_text.as_deref(), Some("part"));
    assert!(details.prompt_may_have_been_sent && details.retryable);
    assert!(error.to_string().contains("2000 ms"), "{error}");
    // The agent was told; when it has answered the session works again.
    eventually("the response that was owed", || client.diagnostics().late_responses == 1).await;
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "again");
    stage.end(client).await;
}

/// A host that takes longer for everything than any limit of these tests.
struct Slow;

const LIMIT: Duration = Duration::from_secs(2);

fn slowly<T: Send + 'static>(answer: T) -> BoxFuture<T> {
    Box::pin(async {
        tokio::time::sleep(Duration::from_millis(3500)).await;
        answer
    })
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

impl Host for Slow {
    fn permission(&self, _: PermissionRequest) -> BoxFuture<PermissionDecision> {
        slowly(PermissionDecision::AllowOnce)
    }

    fn serve_file(&self, _: &str, _: &str, _: &RawValue) -> Option<BoxFuture<Answer>> {
        Some(slowly(Ok(raw(&json!({"content": "x"})))))
    }

    fn allow_command(&self, _: &str, _: &RawValue) -> BoxFuture<bool> {
        slowly(false)
    }

    fn elicitation(&self, _: Option<&str>, _: &RawValue) -> BoxFuture<Answer> {
        slowly(Ok(raw(&json!({"action": "decline"}))))
    }

    fn extension_request(&self, _: Option<&str>, _: &str, _: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
        Some(slowly(Ok(raw(&json!({"ok": true})))))
    }
}

/// Everything that an agent can ask in a session. `{{about.id}}` is the call that it is about.
fn questions() -> Vec<(&'static str, Value)> {
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let form = json!({"mode": "form", "message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
    let form_of = |name: &str, value: &str| {
        let mut form = form.clone();
        form[name] = json!(value);
        form
    };
    vec![
        ("session/request_permission", json!({"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": options})),
        ("elicitation/create", form_of("sessionId", "s1")),
        ("elicitation/create", form_of("requestId", "{{about.id}}")),
        ("fs/read_text_file", json!({"sessionId": "s1", "path": "/x"})),
        ("terminal/create", json!({"sessionId": "s1", "command": "true"})),
        ("_x/ask", json!({"sessionId": "s1"})),
    ]
}

async fn launch_slow(stage: &Stage, script: &Script) -> Client {
    let mut options = stage.options(script);
    options.offers = Offers { read_text_file: true, terminal: true, elicitation_form: true, ..Offers::default() };
    let fs = FsPolicy { read: true, ..FsPolicy::default() };
    options.services = Arc::new(AgentServices::new(fs, Some(TerminalPolicy::default())));
    Client::launch(options, Arc::new(Slow)).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_the_idle_clock_stands_while_the_host_is_asked_whatever_is_asked() {
    let mut tests = JoinSet::new();
    for (method, params) in questions() {
        tests.spawn(async move {
            let stage = Stage::new();
            let script = Script::new()
                .initialize()
                .session_new("s1")
                .expect_as("session/prompt", "about")
                .request("asked", method, params)
                .expect_response("asked", "answer")
                .text("answered")
                .respond("about", json!({"stopReason": "end_turn"}));
            let client = launch_slow(&stage, &script).await;
            let listener = Listener::new();
            open(&client, &stage, &listener).await.unwrap();
            let outcome = begin(&client, "s1", Some(&listener), idle(LIMIT)).await.unwrap();
            assert_eq!(outcome.unwrap().text, "answered", "{method}");
            stage.end(client).await;
        });
    }
    tests.join_all().await;
}

/// The limit of a call measures the agent: while it waits for the host about that call it stands, and runs on after it.
#[tokio::test(flavor = "multi_thread")]
async fn s09_the_limit_of_a_call_stands_while_the_host_is_asked_about_it() {
    let mut tests = JoinSet::new();
    for (method, params) in questions() {
        for answers in [true, false] {
            let params = params.clone();
            tests.spawn(async move {
                let stage = Stage::new();
                let script = Script::new()
                    .initialize_with(json!({"agentCapabilities": {"loadSession": true}}))
                    .expect_as("session/load", "about")
                    .request("asked", method, params)
                    .expect_response("asked", "answer");
                let script =
                    if answers { script.respond("about", json!({})) } else { script.expect("$/cancel_request") };
                let client = launch_slow(&stage, &script).await;
                let request = SessionRequest { timeout: Some(LIMIT), ..stage.session_request() };
                let listener = Listener::new();
                let opened = open_by(&client, "session/load", Some("s1"), &request, &listener, ViewKind::Events).await;
                if answers {
                    opened.unwrap();
                } else {
                    assert_code(&opened, ErrorCode::Timeout);
                }
                stage.end(client).await;
            });
        }
    }
    tests.join_all().await;
}

/// Signing in asks a person, about a call of no session.
#[tokio::test(flavor = "multi_thread")]
async fn s09_a_person_who_signs_in_may_take_longer_than_the_agent() {
    let stage = Stage::new();
    let form = questions().remove(2).1;
    let script = Script::new()
        .initialize_with(json!({"authMethods": [{"id": "login", "name": "Login"}]}))
        .expect_as("authenticate", "about")
        .request("asked", "elicitation/create", form.clone())
        .expect_result("asked", json!({"action": "decline"}))
        .respond("about", json!({}))
        .expect_as("authenticate", "about")
        // About another call, which is none of ours.
        .request("other", "elicitation/create", json!({"requestId": 4711, "mode": form["mode"], "message": "x", "requestedSchema": form["requestedSchema"]}))
        .expect("$/cancel_request");
    let client = launch_slow(&stage, &script).await;
    let timeout_ms = Some(u64::try_from(LIMIT.as_millis()).unwrap());
    let wanted = Authenticate { method_id: Some("login".into()), timeout_ms, ..Authenticate::default() };
    assert_eq!(client.authenticate(&wanted).await.unwrap().as_deref(), Some("login"));
    assert_code(&client.authenticate(&wanted).await, ErrorCode::Timeout);
    stage.end(client).await;
}

/// A command of the agent's own is its own time.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_a_call_does_not_stand_for_a_command_of_the_agent() {
    struct Willing;
    impl Host for Willing {
        fn allow_command(&self, _: &str, _: &RawValue) -> BoxFuture<bool> {
            Box::pin(std::future::ready(true))
        }
    }
    let stage = Stage::new();
    let script = Script::new()
        .initialize_with(json!({"agentCapabilities": {"loadSession": true}}))
        .expect("session/load")
        .request("made", "terminal/create", json!({"sessionId": "s1", "command": "/bin/sleep", "args": ["60"]}))
        .expect_response("made", "terminal")
        .request(
            "wait",
            "terminal/wait_for_exit",
            json!({"sessionId": "s1", "terminalId": "{{terminal.result.terminalId}}"}),
        )
        .expect("$/cancel_request");
    let mut options = stage.options(&script);
    options.offers = Offers { terminal: true, ..Offers::default() };
    options.services = Arc::new(AgentServices::new(FsPolicy::default(), Some(TerminalPolicy::default())));
    let client = Client::launch(options, Arc::new(Willing)).await.unwrap();
    let request = SessionRequest { timeout: Some(LIMIT), ..stage.session_request() };
    let opened = open_by(&client, "session/load", Some("s1"), &request, &Listener::new(), ViewKind::Events).await;
    assert_code(&opened, ErrorCode::Timeout);
    stage.end(client).await;
}

/// The limit of the whole turn is one that nothing moves: it counts the time of the host, too.
#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_a_whole_turn_runs_on_while_the_host_is_asked() {
    let stage = Stage::new();
    let script = prompted()
        .request("asked", "session/request_permission", questions().remove(0).1)
        .expect("session/cancel")
        .expect_result("asked", json!({"outcome": {"outcome": "cancelled"}}))
        .prompt_end("cancelled");
    let host = Decider::undecided();
    let (client, listener) = opened(&stage, &script, host.clone()).await;
    let limits = TurnOptions { timeout: Some(LIMIT), ..idle(Duration::from_millis(500)) };
    let turn = begin(&client, "s1", Some(&listener), limits);
    assert_code(&turn.await.unwrap(), ErrorCode::Timeout);
    assert_eq!(host.asked(), 1);
    stage.end(client).await;
}

/// An answer to a question of an earlier turn does not start the clock of a turn whose own question is still open.
#[tokio::test(flavor = "multi_thread")]
async fn s09_an_answer_for_an_earlier_turn_moves_no_clock() {
    struct Late(Arc<Notify>);
    impl Host for Late {
        fn extension_request(&self, _: Option<&str>, method: &str, _: Option<&RawValue>) -> Option<BoxFuture<Answer>> {
            let first = method == "_x/first";
            let go = Arc::clone(&self.0);
            Some(Box::pin(async move {
                if first {
                    go.notified().await;
                } else {
                    tokio::time::sleep(Duration::from_millis(3500)).await;
                }
                Ok(raw(&json!({})))
            }))
        }
    }
    let stage = Stage::new();
    let script = prompted()
        .request("first", "_x/first", json!({"sessionId": "s1"}))
        .prompt_end("end_turn")
        .prompt_begin()
        .request("second", "_x/second", json!({"sessionId": "s1"}))
        .text("asked")
        .expect_response("first", "late")
        .expect_response("second", "answer")
        .prompt_end("end_turn");
    let go = Arc::new(Notify::new());
    let (client, listener) = opened(&stage, &script, Arc::new(Late(Arc::clone(&go)))).await;
    prompt(&client, "s1", &listener).await.unwrap();
    let turn = begin(&client, "s1", Some(&listener), idle(LIMIT));
    listener.hears(Kind::Text, "asked").await;
    go.notify_one();
    turn.await.unwrap().unwrap();
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_a_slow_host_is_not_a_silent_agent() {
    let stage = Stage::new();
    let client = stage.launch(&prompted().texts(2000, "{i} ").prompt_end("end_turn")).await;
    let listener = Listener::slow(Limits { bytes: 64, items: 4 });
    open(&client, &stage, &listener).await.unwrap();
    listener.take();
    let turn = begin(&client, "s1", Some(&listener), idle(Duration::from_secs(2)));
    let turn = tokio::spawn(async move { turn.await.unwrap().unwrap() });
    tokio::time::sleep(Duration::from_millis(3500)).await;
    eventually("the end of the turn", || {
        listener.take();
        turn.is_finished()
    })
    .await;
    listener.take();
    assert_eq!(turn.await.unwrap().text, listener.text());
    assert_eq!(listener.of(Kind::Text).len(), 2000);
    stage.end(client).await;
}

/// A connection that was idle for longer than any limit: the clocks of what comes next start then.
#[tokio::test(flavor = "multi_thread")]
async fn clocks_start_with_what_they_measure() {
    let stage = Stage::new();
    let script = prompted().expect("_x/call").respond("_x/call", json!({})).text("fine").prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    let limit = Duration::from_secs(3);
    tokio::time::sleep(limit + Duration::from_secs(1)).await;
    let turn = TurnOptions { timeout: Some(limit), ..idle(limit) };
    let turn = begin(&client, "s1", Some(&listener), turn);
    let options = acp_runtime::connection::CallOptions::plain(Phase::Session).timeout(Some(limit));
    client.connection().call("_x/call", None, options).await.unwrap();
    assert_eq!(turn.await.unwrap().unwrap().text, "fine");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_takes_too_long_in_all_is_given_up_with_its_text() {
    let stage = Stage::new();
    let script = prompted()
        .repeat_until("session/cancel", 20, Script::new().text("x"))
        .expect("session/cancel")
        .expect_eof()
        .exit(0);
    let mut options = stage.ask_options(&script);
    options.timeout = Some(Duration::from_secs(2));
    let outcome = stage.ask_with(options).await;
    let failure = outcome.failed().unwrap();
    assert_eq!((failure.reason, failure.error.code), (ask::AskReason::Timeout, ErrorCode::Timeout));
    assert_eq!(failure.message, "ACP prompt timed out after 2000ms");
    assert!(failure.text.as_deref().unwrap().starts_with('x'));
}

#[tokio::test(flavor = "multi_thread")]
async fn s09_an_ask_ends_when_the_agent_falls_silent() {
    let stage = Stage::new();
    let mut options = stage.ask_options(&prompted().text("part").expect("session/cancel"));
    options.idle_timeout = Some(Duration::from_millis(700));
    let outcome = stage.ask_with(options).await;
    let json = serde_json::to_value(&outcome).unwrap();
    assert_eq!((&json["ok"], &json["reason"], &json["text"]), (&json!(false), &json!("timeout"), &json!("part")));
    assert_eq!(json["message"], "ACP prompt timed out after 700ms without anything from the agent");
    assert_eq!(json["error"]["code"], "turn_stalled");
}

/// The clock is put forward when the agent has been asked, so that the whole limit passes at once.
#[tokio::test]
async fn an_ask_never_waits_for_a_session_for_ever() {
    let stage = Stage::new();
    let asked = stage.file("asked");
    let mut options = stage.ask_options(&Script::new().initialize().expect("session/new").write_pid(&asked));
    options.session.timeout = None;
    let asking = tokio::spawn(ask::ask(options));
    eventually("the agent is asked for a session", || std::path::Path::new(&asked).exists()).await;
    tokio::time::pause();
    tokio::time::advance(ask::DEFAULT_SESSION_TIMEOUT).await;
    tokio::time::resume();
    let outcome = asking.await.unwrap();
    let failure = outcome.failed().unwrap();
    assert_eq!((failure.reason, failure.error.code), (ask::AskReason::CreateSessionFailed, ErrorCode::Timeout));
    assert_eq!(failure.error.phase, Some(Phase::Session));
    stage.assert_empty();
}
