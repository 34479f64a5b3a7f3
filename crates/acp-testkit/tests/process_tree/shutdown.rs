//! The ladder: whatever an agent and its descendants do at the end of input, none of them is left.

use crate::stage::{Stage, assert_alive, assert_gone, ladder};
use acp_runtime::error::ExitFacts;
use acp_runtime::process::{Rung, Spawned, registry};

fn ended(code: i32) -> ExitFacts {
    ExitFacts { exit_code: Some(code), signal: None }
}

fn killed_by(signal: &str) -> ExitFacts {
    ExitFacts { exit_code: None, signal: Some(signal.into()) }
}

#[tokio::test]
async fn c04_an_agent_that_ends_with_its_input_needs_no_signal() {
    let stage = Stage::new();
    let Spawned { stdin, stdout, tree } = stage.spawn("note agent; cat; exit 3");
    let agent = stage.pid("agent").await;
    assert_eq!(u32::try_from(agent).unwrap(), tree.pid());
    assert_eq!(registry::active_count(stage.owner), 1);
    drop(stdin);
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.exit, report.rung, report.survivors), (ended(3), Rung::EndOfInput, vec![]));
    assert_eq!(registry::active_count(stage.owner), 0);
    assert_gone(&[agent]);
    drop(stdout);
}

#[tokio::test]
async fn c04_a_wrapper_its_agent_and_a_grandchild_all_go() {
    // Field case P01: the wrapper stays in between, the agent ignores the end of its input.
    let stage = Stage::new();
    let script = "note wrapper; sh -c 'echo $$ >a; mv a agent; sleep 300 & echo $! >g; mv g grandchild; wait; wait'; :";
    let Spawned { stdin, tree, .. } = stage.spawn(script);
    let pids = stage.pids(&["wrapper", "agent", "grandchild"]).await;
    assert_alive(&pids);
    drop(stdin);
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.rung, report.survivors), (Rung::Terminated, vec![]));
    assert_gone(&pids);
}

#[tokio::test]
async fn an_agent_that_ignores_the_end_of_input_is_asked_to_end() {
    // Field case P03.
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } =
        stage.spawn("trap 'exit 143' TERM; cat >/dev/null; note idle; while :; do sleep 0.01; done");
    drop(stdin);
    let agent = stage.pid("idle").await;
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.exit, report.rung), (ended(143), Rung::Terminated));
    assert_gone(&[agent]);
}

#[tokio::test]
async fn a_wrapper_and_a_worker_that_ignore_every_request_are_killed() {
    // Field case P04: traps that do nothing, and a worker of the same kind that holds the pipes.
    let stage = Stage::new();
    let script = "trap '' TERM INT HUP; note wrapper
        sh -c 'echo $$ >w; mv w worker; while :; do sleep 0.05; done' &
        while :; do wait; sleep 0.05; done";
    let Spawned { stdin, tree, stdout } = stage.spawn(script);
    let pids = stage.pids(&["wrapper", "worker"]).await;
    drop(stdin);
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.exit, report.rung, report.survivors), (killed_by("SIGKILL"), Rung::Killed, vec![]));
    assert_gone(&pids);
    drop(stdout);
}

#[tokio::test]
async fn the_end_is_seen_although_a_descendant_holds_the_pipes() {
    // Field case P06.
    let stage = Stage::new();
    let Spawned { stdin, tree, stdout } = stage.spawn("sleep 60 & note sleeper $!; exit 5");
    let sleeper = stage.pid("sleeper").await;
    assert_eq!(tree.exited().await, ended(5));
    assert_eq!(tree.try_exit(), Some(ended(5)));
    assert_alive(&[sleeper]);
    assert!(!tree.stderr().drained(std::time::Duration::from_millis(50)).await, "the pipe is still held");
    assert_eq!(tree.survivors(), [u32::try_from(sleeper).unwrap()]);
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.exit, report.rung, report.survivors), (ended(5), Rung::Terminated, vec![]));
    assert_gone(&[sleeper]);
    assert!(tree.stderr().drained(std::time::Duration::from_secs(10)).await);
    drop((stdin, stdout));
}

#[tokio::test]
async fn a_descendant_that_finishes_in_its_own_time_is_not_signalled() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } =
        stage.spawn("sh -c 'trap \"echo >signalled\" TERM; sleep 0.1; echo >finished' & note tool $!; exit 0");
    let tool = stage.pid("tool").await;
    let patient = acp_runtime::process::Ladder { orphan_grace: std::time::Duration::from_secs(20), ..ladder() };
    drop(stdin);
    let report = tree.shutdown(patient).await;
    assert_eq!((report.exit, report.survivors), (ended(0), vec![]));
    assert!(report.rung < Rung::Terminated);
    assert!(stage.path().join("finished").exists() && !stage.path().join("signalled").exists());
    assert_gone(&[tool]);
}

#[tokio::test]
async fn a_stopped_agent_is_woken_to_end() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } =
        stage.spawn("trap 'exit 9' TERM; note agent; kill -STOP $$; while :; do sleep 0.01; done");
    let agent = stage.pid("agent").await;
    drop(stdin);
    let report = tree
        .shutdown(acp_runtime::process::Ladder { term_grace: std::time::Duration::from_secs(20), ..ladder() })
        .await;
    assert_eq!((report.exit, report.rung), (ended(9), Rung::Terminated));
    assert_gone(&[agent]);
}

#[tokio::test]
async fn all_callers_get_the_same_report_and_a_later_one_too() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } = stage.spawn("cat");
    drop(stdin);
    let (one, two) = tokio::join!(tree.shutdown(ladder()), tree.shutdown(ladder()));
    assert_eq!(one, two);
    assert_eq!(tree.shutdown(ladder()).await, one);
    assert!(tree.kill().is_empty());
}

#[tokio::test]
async fn an_abandoned_shutdown_can_be_taken_up_again() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } = stage.spawn("trap '' TERM; note agent; while :; do sleep 0.05; done");
    let agent = stage.pid("agent").await;
    let slow = acp_runtime::process::Ladder { eof_grace: std::time::Duration::from_secs(60), ..ladder() };
    assert!(tokio::time::timeout(std::time::Duration::from_millis(20), tree.shutdown(slow)).await.is_err());
    assert_eq!(registry::active_count(stage.owner), 1);
    assert_eq!(tree.shutdown(ladder()).await.rung, Rung::Killed);
    assert_gone(&[agent]);
    drop(stdin);
}

/// How many processes have this word in their command line.
#[cfg(target_os = "linux")]
fn running(word: &str) -> usize {
    let command_line = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    let commands = std::fs::read_dir("/proc").unwrap().flatten().filter_map(command_line);
    commands.filter(|command| String::from_utf8_lossy(command).split('\0').any(|arg| arg == word)).count()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_is_forked_while_the_tree_is_looked_at_goes_too() {
    // Asked to end, it starts another program and ends at once: between the list of ids and the look at each there is time.
    for at in 0..20 {
        let stage = Stage::new();
        let word = format!("3{}{at:03}", std::process::id());
        let script = format!("trap 'sleep {word} & exit 0' TERM; note agent; while :; do sleep 0.001; done");
        let ladder = acp_runtime::process::Ladder { eof_grace: std::time::Duration::ZERO, ..ladder() };
        let spawned = stage.spawn(&script);
        stage.pid("agent").await;
        let report = spawned.tree.shutdown(ladder).await;
        assert_eq!((report.survivors, running(&word)), (vec![], 0), "round {at}");
    }
}
