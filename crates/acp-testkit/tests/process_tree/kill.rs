//! Killing without a runtime: exit hooks, dropped handles, owners.

use crate::stage::{Stage, assert_alive, assert_gone};
use acp_runtime::error::ErrorCode;
use acp_runtime::process::{OwnerId, Spawned, registry, spawn};

const STUBBORN: &str =
    "trap '' TERM INT HUP; note agent; sleep 300 & note child $!; while :; do wait; sleep 0.05; done";

#[test]
fn a_thread_without_a_runtime_kills_the_tree() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let stage = Stage::new();
    let (spawned, pids) = runtime.block_on(async {
        let spawned = stage.spawn(STUBBORN);
        (spawned, stage.pids(&["agent", "child"]).await)
    });
    assert_alive(&pids);
    assert!(spawned.tree.kill().is_empty());
    assert_gone(&pids);
    assert!(spawned.tree.is_finished());
    assert_eq!(registry::active_count(stage.owner), 0);
    let exit = runtime.block_on(spawned.tree.exited());
    assert_eq!(exit.signal.as_deref(), Some("SIGKILL"));
}

#[test]
fn the_last_handle_takes_the_tree_with_it_even_after_the_runtime_is_gone() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let stage = Stage::new();
    let (tree, pids) = runtime.block_on(async {
        let Spawned { tree, .. } = stage.spawn(STUBBORN);
        (tree, stage.pids(&["agent", "child"]).await)
    });
    drop(runtime);
    let second = std::sync::Arc::clone(&tree);
    drop(tree);
    assert_alive(&pids);
    drop(second);
    assert_gone(&pids);
    assert_eq!(registry::active_count(stage.owner), 0);
}

#[tokio::test]
async fn an_owner_ends_its_own_trees_and_no_others() {
    let (mine, other) = (Stage::new(), Stage::new());
    let (a, b, c) = (mine.spawn(STUBBORN), mine.spawn("note second; sleep 300"), other.spawn(STUBBORN));
    let mut own = mine.pids(&["agent", "child", "second"]).await;
    let foreign = other.pids(&["agent", "child"]).await;
    assert_eq!((registry::active_count(mine.owner), registry::active_count(other.owner)), (2, 1));
    assert_eq!(registry::kill_all(mine.owner), 2);
    assert_gone(&own);
    assert_alive(&foreign);
    assert_eq!((registry::active_count(mine.owner), registry::active_count(other.owner)), (0, 1));
    assert_eq!(registry::kill_all(mine.owner), 0);
    assert_eq!(registry::kill_all(OwnerId(u64::MAX)), 0);
    assert_eq!(registry::kill_all(other.owner), 1);
    own.extend(foreign);
    assert_gone(&own);
    drop((a, b, c));
}

#[tokio::test]
async fn what_was_asked_for_before_all_were_killed_starts_no_more() {
    let (mine, other) = (Stage::new(), Stage::new());
    let mut ordered = mine.spec("note late; sleep 300");
    ordered.order = Some(registry::Order::now(mine.owner));
    let mut foreign = other.spec("note foreign; sleep 300");
    foreign.order = Some(registry::Order::now(other.owner));
    registry::kill_all(mine.owner);
    let refused = spawn(&ordered).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ClientClosed);
    assert!(!mine.path().join("late").exists());
    // Others, and what is asked for afterwards, are not meant.
    let (foreign, again) = (spawn(&foreign).unwrap(), mine.spawn("note again; sleep 300"));
    let pids = [other.pid("foreign").await, mine.pid("again").await];
    assert_alive(&pids);
    drop((foreign, again));
    assert_gone(&pids);
}

#[test]
fn a_kill_at_any_moment_of_a_launch_ends_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let _guard = runtime.enter();
    for round in 0..40 {
        let stage = Stage::new();
        let mut spec = stage.spec("note agent; sleep 300");
        spec.order = Some(registry::Order::now(stage.owner));
        let killer = std::thread::spawn({
            let owner = stage.owner;
            move || {
                std::thread::sleep(std::time::Duration::from_micros(round * 50));
                registry::kill_all(owner)
            }
        });
        let spawned = spawn(&spec);
        killer.join().unwrap();
        // Not started, or on its way out: nothing asks again.
        if let Ok(spawned) = spawned {
            let exit = runtime.block_on(spawned.tree.exited());
            assert_eq!(exit.signal.as_deref(), Some("SIGKILL"), "round {round}");
        }
    }
}

#[tokio::test]
async fn failed_attempts_leave_nothing() {
    // Field case P05: the host gives up on an agent that answers wrongly, closes its output or says nothing.
    let stage = Stage::new();
    let mut all = Vec::new();
    for (round, script) in ["echo '{\"error\":1}'; sleep 300", "exec >&-; sleep 300", "cat >/dev/null; sleep 300"]
        .iter()
        .cycle()
        .take(12)
        .enumerate()
    {
        let spawned = stage.spawn(&format!("note agent{round}; {script}"));
        all.push(stage.pid(&format!("agent{round}")).await);
        drop(spawned);
    }
    assert_gone(&all);
    assert_eq!(registry::active_count(stage.owner), 0);
}
