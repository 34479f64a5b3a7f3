//! Create, wait, kill, release: what stays valid and what ends (rules C56 and C58).

use std::sync::Arc;

use acp_runtime::services::terminal::{
    ExitStatus, LocalLauncher, TerminalCommand, TerminalError, TerminalLimits, Terminals,
};

use crate::support::{alive, gone, output_until, sh, terminals};

fn code(code: u32) -> ExitStatus {
    ExitStatus { exit_code: Some(code), signal: None }
}

fn killed() -> ExitStatus {
    ExitStatus { exit_code: None, signal: Some("SIGKILL".into()) }
}

#[tokio::test]
async fn c56_create_returns_before_the_end_and_calls_do_not_block_each_other() {
    let terminals = terminals();
    let id = terminals.create("s", sh("echo ready; sleep 300"), None).unwrap();
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let (terminals, id) = (terminals.clone(), id.clone());
            tokio::spawn(async move { terminals.wait_for_exit("s", &id).await.unwrap() })
        })
        .collect();
    assert_eq!(output_until(&terminals, &id, |text| !text.is_empty()).await, "ready\n");
    assert_eq!(terminals.output("s", &id).unwrap().exit_status, None);
    assert!(waiting.iter().all(|task| !task.is_finished()));
    terminals.kill("s", &id).await.unwrap();
    for task in waiting {
        assert_eq!(task.await.unwrap(), killed());
    }
}

#[tokio::test]
async fn the_exit_code_and_the_whole_output_are_there_when_the_wait_ends() {
    let terminals = terminals();
    let id = terminals.create("s", sh("echo one; echo two >&2; exit 3"), None).unwrap();
    assert_eq!(terminals.wait_for_exit("s", &id).await.unwrap(), code(3));
    let output = terminals.output("s", &id).unwrap();
    assert_eq!((output.output.as_str(), output.exit_status), ("one\ntwo\n", Some(code(3))));
    assert_eq!(terminals.wait_for_exit("s", &id).await.unwrap(), code(3), "and again");
}

#[tokio::test]
async fn c58_a_killed_terminal_stays_and_a_released_one_does_not() {
    let terminals = terminals();
    let id = terminals.create("s", sh("echo text; sleep 300"), None).unwrap();
    output_until(&terminals, &id, |text| !text.is_empty()).await;
    terminals.kill("s", &id).await.unwrap();
    terminals.kill("s", &id).await.unwrap();
    let output = terminals.output("s", &id).unwrap();
    assert_eq!((output.output.as_str(), output.exit_status), ("text\n", Some(killed())));
    let last = terminals.release("s", &id).await.unwrap();
    assert_eq!(last.output, "text\n", "a host can keep showing it");
    let errors = [
        terminals.output("s", &id).map(drop).unwrap_err(),
        terminals.wait_for_exit("s", &id).await.map(drop).unwrap_err(),
        terminals.kill("s", &id).await.unwrap_err(),
        terminals.release("s", &id).await.map(drop).unwrap_err(),
        terminals.output("s", "never-was").map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.rpc_code(), -32002, "{error}");
    }
    assert!(terminals.is_empty());
}

#[tokio::test]
async fn release_ends_the_whole_tree_and_the_waiting() {
    let terminals = terminals();
    let id = terminals.create("s", sh("sleep 300 & echo $!; wait"), None).unwrap();
    let grandchild: i32 = output_until(&terminals, &id, |text| text.ends_with('\n')).await.trim().parse().unwrap();
    assert!(alive(grandchild));
    let waiting = {
        let (terminals, id) = (terminals.clone(), id.clone());
        tokio::spawn(async move { terminals.wait_for_exit("s", &id).await })
    };
    while !waiting.is_finished() && terminals.len() == 1 {
        tokio::task::yield_now().await;
        terminals.release("s", &id).await.unwrap();
    }
    if let Ok(status) = waiting.await.unwrap() {
        assert_eq!(status, killed());
    }
    gone(grandchild).await;
}

#[tokio::test]
async fn what_a_command_leaves_behind_does_not_hold_up_its_end_and_does_not_survive_it() {
    let terminals = terminals();
    let id = terminals.create("s", sh("sleep 300 & echo $!"), None).unwrap();
    assert_eq!(terminals.wait_for_exit("s", &id).await.unwrap(), code(0));
    let left_behind: i32 = terminals.output("s", &id).unwrap().output.trim().parse().unwrap();
    gone(left_behind).await;
}

#[tokio::test]
async fn a_session_owns_its_terminals() {
    let terminals = terminals();
    let mine = terminals.create("s", sh("sleep 300"), None).unwrap();
    let other = terminals.create("other", sh("sleep 300"), None).unwrap();
    assert!(matches!(terminals.output("other", &mine), Err(TerminalError::Unknown(_))));
    assert!(matches!(terminals.kill("s", &other).await, Err(TerminalError::Unknown(_))));
    terminals.release_all("s").await;
    assert!(terminals.output("s", &mine).is_err());
    assert_eq!(terminals.output("other", &other).unwrap().exit_status, None, "untouched");
    terminals.close().await;
    assert!(terminals.is_empty());
}

#[tokio::test]
async fn dropping_the_registry_kills_everything() {
    let terminals = terminals();
    let id = terminals.create("s", sh("echo $$; exec sleep 300"), None).unwrap();
    let pid: i32 = output_until(&terminals, &id, |text| text.ends_with('\n')).await.trim().parse().unwrap();
    assert!(alive(pid));
    drop(terminals);
    gone(pid).await;
}

#[tokio::test]
async fn a_command_that_does_not_start_takes_no_place() {
    let limits = TerminalLimits { max_terminals: 1, ..TerminalLimits::default() };
    let terminals = Terminals::new(Arc::new(LocalLauncher::default()), limits);
    let missing = TerminalCommand { program: "/no/such/program".into(), ..sh("") };
    let error = terminals.create("s", missing, None).unwrap_err();
    assert!(matches!(error, TerminalError::Start(_)), "{error}");
    let id = terminals.create("s", sh("exit 0"), None).unwrap();
    let error = terminals.create("s", sh("exit 0"), None).unwrap_err();
    assert!(matches!(error, TerminalError::TooMany));
    terminals.release("s", &id).await.unwrap();
    let next = terminals.create("s", sh("exit 0"), None).unwrap();
    assert_ne!(id, next, "an id is never used twice");
    terminals.close().await;
}
