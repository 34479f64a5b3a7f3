//! An agent that ends too early, or stops listening (P06, P08, P09).

use std::sync::Arc;

use acp_runtime::client::Client;
use acp_runtime::connection::{CallOptions, CancelState};
use acp_runtime::delivery::Kind;
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::port::DenyAll;
use acp_runtime::process::registry;
use acp_runtime::session::TurnOptions;
use acp_testkit::Script;

use crate::support::{
    Decider, Listener, PATIENCE, Stage, assert_code, begin, brisk, case, eventually, open, opened, prompt, prompted,
};

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn p08_death_in_a_turn_fails_everything_once_and_at_once() {
    let stage = Stage::new();
    let host = Decider::undecided();
    let client = stage.launch_for(&case("p08_dies_in_turn"), host.clone()).await;
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    let plain = || CallOptions::plain(Phase::Session);
    let (turn, other) = {
        let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
        (turn, client.connection().call("_x/never", None, plain()))
    };
    let (turn, other) = tokio::join!(turn, other);
    let error = turn.unwrap().unwrap_err();
    let details = error.details();
    assert_eq!((details.code, details.phase), (ErrorCode::AgentExited, Some(Phase::Prompt)));
    assert_eq!(details.exit.as_ref().unwrap().signal.as_deref(), Some("SIGKILL"));
    assert_eq!(details.stderr_tail.as_deref().map(str::trim), Some("about to die"));
    assert_eq!(details.partial_text.as_deref(), Some("one two"));
    assert!(details.prompt_may_have_been_sent && details.retryable);
    for part in ["signal SIGKILL", "session/prompt", "was pending", "about to die"] {
        assert!(error.to_string().contains(part), "{part} in {error}");
    }
    assert_code(&other, ErrorCode::AgentExited);
    // What comes later fails at once, each in its own phase.
    let later = client.connection().call("_x/later", None, plain()).await.unwrap_err();
    assert_eq!((later.code(), later.details().phase), (ErrorCode::AgentExited, Some(Phase::Session)));
    let later = prompt(&client, "s1", &listener).await.unwrap_err();
    assert_eq!((later.code(), later.details().phase), (ErrorCode::AgentExited, Some(Phase::Prompt)));
    assert!(!later.details().prompt_may_have_been_sent);
    assert_code(&open(&client, &stage, &listener).await, ErrorCode::AgentExited);
    assert_eq!(client.connection().cancel("s1", PATIENCE).await, CancelState::Idle);
    assert_code(&client.connection().notify("_x/told", None), ErrorCode::AgentExited);
    let info = client.closed().await;
    assert_eq!(info.exit.signal.as_deref(), Some("SIGKILL"));
    stage.assert_empty();
    assert_eq!(client.close(brisk()).await.exit, info.exit);
    let told = || host.closed.load(std::sync::atomic::Ordering::SeqCst) == 1;
    eventually("the end, told to the host", told).await;
}

/// The host ends all of its agents at once, past their connections: that is why everything fails, not that an agent died.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_end_of_all_agents_is_the_hosts_doing_whatever_waits() {
    let stage = Stage::new();
    let (client, listener) = opened(&stage, &prompted().text("part"), Arc::new(DenyAll)).await;
    let launching = Client::launch(stage.options(&Script::new().expect("_test/never")), Arc::new(DenyAll));
    let launching = tokio::spawn(launching);
    eventually("both agents run", || registry::active_count(stage.owner) == 2).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "part").await;
    let call = client.connection().call("_x/never", None, CallOptions::plain(Phase::Session));
    let killed = tokio::task::spawn_blocking(move || registry::kill_all(stage.owner));
    let (turn, call, killed, launched) = tokio::join!(turn, call, killed, launching);
    assert_eq!(killed.unwrap(), 2);
    let errors = [turn.unwrap().unwrap_err(), call.unwrap_err(), launched.unwrap().map(|_| ()).unwrap_err()];
    for (error, phase) in errors.iter().zip([Phase::Prompt, Phase::Session, Phase::Initialize]) {
        let details = error.details();
        assert_eq!((details.code, details.phase, details.retryable), (ErrorCode::ClientClosed, Some(phase), false));
        assert_eq!(details.exit.as_ref().and_then(|exit| exit.signal.as_deref()), Some("SIGKILL"), "{error:?}");
        assert!(error.to_string().contains("the host ended all"), "{error}");
    }
    assert_eq!(errors[0].details().partial_text.as_deref(), Some("part"));
    let later = client.connection().call("_x/later", None, CallOptions::plain(Phase::Session)).await;
    assert_code(&later, ErrorCode::ClientClosed);
}

/// An agent that has died by itself has died by itself, whatever the host ends afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn an_end_of_all_agents_does_not_cover_up_a_death_before_it() {
    let stage = Stage::new();
    let script = Script::new().initialize().expect("_x/die").exit(3);
    let client = stage.launch(&script).await;
    let died = client.connection().call("_x/die", None, CallOptions::plain(Phase::Session)).await;
    assert_code(&died, ErrorCode::AgentExited);
    registry::kill_all(stage.owner);
    let later = client.connection().call("_x/later", None, CallOptions::plain(Phase::Session)).await;
    assert_code(&later, ErrorCode::AgentExited);
}

/// Calls that race with the end are answered, too: by closures, as the addon makes them.
#[tokio::test(flavor = "multi_thread")]
async fn p08_no_call_is_lost_in_the_moment_of_the_end() {
    for _ in 0..5 {
        let stage = Stage::new();
        let (client, _) =
            opened(&stage, &Script::new().initialize().session_new("s1").exit(0), Arc::new(DenyAll)).await;
        let mut answers = Vec::new();
        for round in 0..200 {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            let reply = Box::new(move |outcome| drop(sender.send(outcome)));
            client.connection().call_with("_x/y", None, CallOptions::plain(Phase::Session), reply);
            answers.push(receiver);
            if round % 20 == 0 {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        }
        for answer in answers {
            let error = answer.await.expect("every call is answered").unwrap_err();
            assert!(matches!(error.code(), ErrorCode::AgentExited | ErrorCode::ConnectionClosed), "{error}");
        }
        client.close(brisk()).await;
        stage.assert_empty();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn p06_an_exit_counts_although_a_descendant_holds_the_pipes() {
    let stage = Stage::new();
    let (client, listener) = opened(&stage, &case("p06_pipe_held"), Arc::new(DenyAll)).await;
    let error = prompt(&client, "s1", &listener).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::AgentExited);
    assert_eq!(error.details().exit.as_ref().unwrap().exit_code, Some(0));
    assert_eq!(error.details().partial_text.as_deref(), Some("last words"));
    assert_eq!(stage.pids().len(), 1);
    client.closed().await;
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread")]
async fn p09_an_agent_that_closed_its_ears_is_a_typed_failure() {
    let stage = Stage::new();
    let (client, listener) = opened(&stage, &case("p09_stdin_closed"), Arc::new(DenyAll)).await;
    let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
    listener.hears(Kind::Text, "deaf").await;
    let call = client.connection().call("_x/heard", None, CallOptions::plain(Phase::Session)).await.unwrap_err();
    assert_eq!((call.code(), call.details().phase), (ErrorCode::ConnectionClosed, Some(Phase::Session)));
    assert!(call.to_string().contains("closed its stdin"), "{call}");
    let error = turn.await.unwrap().unwrap_err();
    assert_eq!((error.code(), error.details().partial_text.as_deref()), (ErrorCode::ConnectionClosed, Some("deaf")));
    client.close(brisk()).await;
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread")]
async fn p09_an_agent_that_exits_after_the_handshake_fails_the_next_call() {
    let stage = Stage::new();
    let client = stage.launch(&case("p09_exits_after_initialize")).await;
    let error = open(&client, &stage, &Listener::new()).await.unwrap_err();
    assert_eq!((error.code(), error.details().phase), (ErrorCode::AgentExited, Some(Phase::Session)));
    client.closed().await;
    stage.assert_empty();
}

/// An answer that is still in the pipe when the agent ends counts.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_before_the_exit_is_not_lost() {
    let stage = Stage::new();
    for code in [0, 3] {
        let script = prompted().texts(2000, "{i} ").prompt_end("end_turn").exit(code);
        let outcome = stage.ask(&script).await;
        assert!(outcome.answer().unwrap().text.ends_with(" 1999 "));
    }
}

/// After an orderly close it is the host's doing that calls fail, not the agent's: those that wait, and those made later.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_when_the_host_closes_fails_because_of_that() {
    for kill in [false, true] {
        let stage = Stage::new();
        let client =
            stage.launch(&prompted().expect("_x/never").notify("_test/go", serde_json::json!({})).expect_eof()).await;
        let listener = Listener::new();
        open(&client, &stage, &listener).await.unwrap();
        let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
        let plain = || CallOptions::plain(Phase::Session);
        let connection = client.connection().clone();
        let call = tokio::spawn(async move { connection.call("_x/never", None, plain()).await });
        eventually("the call", || client.diagnostics().messages_received >= 3).await;
        if kill {
            client.kill();
        }
        let _ = client.close(brisk()).await;
        assert_code(&call.await.unwrap(), ErrorCode::ClientClosed);
        // The agent ends the turn without an answer to the cancel.
        match turn.await.unwrap() {
            Ok(outcome) => assert!(outcome.cancel_requested && !kill, "{outcome:?}"),
            Err(error) => assert_eq!(error.code(), ErrorCode::ClientClosed, "{error:?}"),
        }
        assert_eq!(client.connection().ended().await.code, ErrorCode::ClientClosed);
        assert_code(&client.connection().call("_x/later", None, plain()).await, ErrorCode::ClientClosed);
        assert_code(&prompt(&client, "s1", &listener).await, ErrorCode::ClientClosed);
    }
}
