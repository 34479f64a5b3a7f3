//! Nothing that an agent started outlives its client (P01, P03, P04).

use std::sync::Arc;

use acp_runtime::ask::AskReason;
use acp_runtime::client::{Client, CloseOptions};
use acp_runtime::port::DenyAll;
use acp_runtime::process::registry;
use acp_testkit::Script;
use acp_testkit::cases::process::{self, shell_launcher};
use acp_testkit::process::alive;
use acp_testkit::script::Grandchild;

use crate::support::{Listener, Stage, brisk, case, open, opened, patient, prompt, prompted};

#[track_caller]
fn assert_gone_now(pids: &[u32], expected: usize) {
    assert_eq!(pids.len(), expected, "{pids:?}");
    for pid in pids {
        assert!(!alive(*pid), "process {pid} of {pids:?} is alive");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn p01_launcher_agent_and_grandchild_are_gone_when_close_resolves() {
    let stage = Stage::new();
    let mut options = stage.options(&process::p01_grandchild());
    let args: Vec<&str> = options.spec.args.iter().map(String::as_str).collect();
    let (command, args) = shell_launcher(&options.spec.command, &args);
    (options.spec.command, options.spec.args) = (command, args);
    let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    let listener = Listener::new();
    open(&client, &stage, &listener).await.unwrap();
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "hi");
    let mut pids = stage.pids();
    pids.push(client.pid());
    client.close(brisk()).await;
    assert_gone_now(&pids, 3);
    stage.assert_empty();
}

/// In a session of their own, or orphaned through an intermediate process; the agent itself ends as it should.
#[tokio::test(flavor = "multi_thread")]
async fn close_waits_for_descendants_in_sessions_of_their_own() {
    let noted = || Grandchild { pid_file: Some("{{args.0}}".into()), ..Grandchild::default() };
    let own = || Grandchild { setsid: true, ignore_term: true, ..noted() };
    let stage = Stage::new();
    let script =
        Script::new().spawn_grandchild(own()).double_fork_daemon(noted()).then(prompted().prompt_end("end_turn"));
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    prompt(&client, "s1", &listener).await.unwrap();
    let pids = stage.pids();
    assert!(pids.iter().all(|pid| alive(*pid)));
    let mut close = patient();
    close.ladder.orphan_grace = brisk().ladder.orphan_grace;
    close.ladder.term_grace = brisk().ladder.term_grace;
    let (info, second) = tokio::join!(client.close(close), client.close(CloseOptions::default()));
    assert_gone_now(&pids, 2);
    assert_eq!((info.exit.exit_code, second.exit.exit_code), (Some(0), Some(0)));
    stage.assert_empty();
}

#[tokio::test(flavor = "multi_thread")]
async fn p03_p04_stubborn_agents_are_killed_within_bounds() {
    for (script, pids) in [(case("p03_ignores_eof"), 0), (process::p04_wrapper_ignores_sigterm(), 2)] {
        let stage = Stage::new();
        let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
        assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "hi");
        let info = client.close(brisk()).await;
        assert!(info.exit.signal.is_some() && info.survivors.is_empty(), "{info:?}");
        assert_gone_now(&stage.pids(), pids);
        stage.assert_empty();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_last_handle_kills_the_tree() {
    let stage = Stage::new();
    let script = Script::new()
        .ignore_sigterm()
        .write_pid("{{args.0}}")
        .spawn_grandchild(Grandchild { setsid: true, pid_file: Some("{{args.0}}".into()), ..Grandchild::default() })
        .ignore_eof()
        .then(prompted().prompt_end("end_turn"));
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    prompt(&client, "s1", &listener).await.unwrap();
    let second = client.clone();
    drop(client);
    assert!(stage.pids().iter().all(|pid| alive(*pid)), "a clone keeps it alive");
    assert_eq!(registry::active_count(stage.owner), 1);
    drop(second);
    stage.empties().await;
    assert_gone_now(&stage.pids(), 2);
}

/// An agent that ends by itself leaves nothing behind either, with nobody closing the client.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_ends_by_itself_is_swept_up_after() {
    let stage = Stage::new();
    let script = Script::new()
        .spawn_grandchild(Grandchild { setsid: true, pid_file: Some("{{args.0}}".into()), ..Grandchild::default() })
        .then(prompted().prompt_end("end_turn").exit(0));
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    prompt(&client, "s1", &listener).await.unwrap();
    stage.empties().await;
    assert_gone_now(&stage.pids(), 1);
    drop(client);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_leaves_nothing_whatever_happens() {
    let grandchild = || Grandchild { setsid: true, pid_file: Some("{{args.0}}".into()), ..Grandchild::default() };
    let busy = || Script::new().spawn_grandchild(grandchild()).ignore_eof();
    let cases = [
        (busy().then(prompted()).text("hi").prompt_end("end_turn"), None),
        (busy().then(prompted()).prompt_end("refusal"), Some(AskReason::AbnormalStop)),
        (busy().then(prompted()).respond_error("prompt", serde_json::json!({"code": 1})), Some(AskReason::TurnFailed)),
        (busy().then(prompted()).kill_self("KILL"), Some(AskReason::TurnFailed)),
        (busy().then(prompted()).close_stdout(), Some(AskReason::TurnFailed)),
        (busy().then(prompted()), Some(AskReason::Timeout)),
        (busy().initialize().expect("session/new").exit(1), Some(AskReason::CreateSessionFailed)),
        (busy().expect("initialize").exit(1), Some(AskReason::CreateSessionFailed)),
    ];
    for (script, reason) in cases {
        let stage = Stage::new();
        let mut options = stage.ask_options(&script);
        options.close = brisk();
        if reason == Some(AskReason::Timeout) {
            options.timeout = Some(std::time::Duration::from_millis(500));
        }
        let outcome = stage.ask_with(options).await;
        assert_eq!(outcome.failed().map(|failure| failure.reason), reason, "{outcome:?}");
        assert_gone_now(&stage.pids(), 1);
    }
}
