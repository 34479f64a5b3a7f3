//! A host inside of a process namespace: a container, or a shell that was let into one.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "says why a test had nothing to test")]

use std::process::{Command, Output};

use crate::stage::{Stage, assert_alive, assert_gone, ladder};
use rustix::process::{Pid, WaitOptions, test_kill_process};

/// Set for the process inside of the namespace.
const INSIDE: &str = "TREE_NAMESPACE";

/// Runs the test `name` again in a new process namespace. `None`, with the reason printed, where none can be made: the tests
/// of this file then say nothing.
fn inside(name: &str, flags: &[&str]) -> Option<Output> {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--pid", "--fork"]).args(flags);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", name, "--nocapture"]).env(INSIDE, "1");
    match command.output() {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("running 1 test") => Some(output),
        Ok(output) => {
            println!("not tested, no namespace here: {}", String::from_utf8_lossy(&output.stderr));
            None
        }
        Err(error) => {
            println!("not tested, no unshare here: {error}");
            None
        }
    }
}

#[track_caller]
fn assert_passed(output: &Output) {
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[tokio::test]
async fn a_host_whose_session_has_no_id_owns_its_trees() {
    if std::env::var_os(INSIDE).is_none() {
        let name = "namespace::a_host_whose_session_has_no_id_owns_its_trees";
        return inside(name, &["--mount-proc"]).iter().for_each(assert_passed);
    }
    let itself = std::fs::read_to_string("/proc/self/stat").unwrap();
    let session = itself.rsplit(')').next().unwrap().split_whitespace().nth(3);
    assert_eq!(session, Some("0"), "the leader of the session is outside");
    let stage = Stage::new();
    let agent = stage.spawn("cd \"$STAGE\"; note agent; $SETSID sh -c 'sleep 301' & note tool $!; cat");
    let pids = stage.pids(&["agent", "tool"]).await;
    assert_alive(&pids);
    agent.tree.shutdown(ladder()).await;
    assert_gone(&pids);
}

#[tokio::test]
async fn a_process_table_of_another_namespace_is_not_believed() {
    if std::env::var_os(INSIDE).is_none() {
        let name = "namespace::a_process_table_of_another_namespace_is_not_believed";
        return inside(name, &[]).iter().for_each(assert_passed);
    }
    // `ps` would speak of the other namespace too: only signals tell.
    let exists = |pid: i32| test_kill_process(Pid::from_raw(pid).unwrap()).is_ok();
    let stage = Stage::new();
    let agent =
        stage.spawn("cd \"$STAGE\"; note agent; sleep 301 & note child $!; trap '' TERM; while :; do sleep 0.05; done");
    let pids = stage.pids(&["agent", "child"]).await;
    assert!(pids.iter().all(|pid| exists(*pid)));
    agent.tree.shutdown(ladder()).await;
    assert!(!exists(pids[0]), "the agent is still there");
    // The child was left to this process, the first of its namespace, and is an entry that nobody collected, or gone.
    let _ = rustix::process::waitpid(Pid::from_raw(pids[1]), WaitOptions::NOHANG);
    assert!(!exists(pids[1]), "the child is still there");
}
