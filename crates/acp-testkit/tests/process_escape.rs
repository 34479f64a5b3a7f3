//! Descendants that leave the group, the session and the family are found again; strangers are left alone.
#![cfg(unix)]

mod process_support;

use acp_runtime::process::{Rung, Spawned};
use process_support::{Stage, alive, assert_alive, assert_gone, ladder, put_down};

#[tokio::test]
async fn a_tool_in_its_own_session_goes_with_the_agent() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } =
        stage.spawn("note agent; $SETSID sh -c 'echo $$ >t; mv t tool; sleep 300 & echo $! >s; mv s sub; wait' & wait");
    let pids = stage.pids(&["agent", "tool", "sub"]).await;
    drop(stdin);
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.rung, report.survivors), (Rung::Terminated, vec![]));
    assert_gone(&pids);
}

#[tokio::test]
async fn a_daemon_whose_parents_are_all_dead_goes_by_its_mark() {
    let stage = Stage::new();
    let script =
        "( $SETSID sh -c 'sh -c \"echo \\$\\$ >d; mv d daemon; trap : TERM; while :; do sleep 0.05; done\" & exit' & )
        while [ ! -e daemon ]; do sleep 0.01; done; exit 0";
    let Spawned { stdin, tree, .. } = stage.spawn(script);
    let daemon = stage.pid("daemon").await;
    tree.exited().await;
    assert_alive(&[daemon]);
    drop(stdin);
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.rung, report.survivors), (Rung::Killed, vec![]));
    assert_gone(&[daemon]);
}

#[tokio::test]
async fn a_tool_with_an_empty_environment_goes_by_its_session_and_family() {
    let stage = Stage::new();
    let script = "note agent; sh -c 'exec env -i sleep 301' & note plain $!
        $SETSID env -i sh -c 'echo $$ >o; mv o own; while :; do sleep 0.05; done' & wait";
    let Spawned { stdin, tree, .. } = stage.spawn(script);
    let pids = stage.pids(&["agent", "plain", "own"]).await;
    drop(stdin);
    assert!(tree.shutdown(ladder()).await.survivors.is_empty());
    assert_gone(&pids);
}

#[tokio::test]
async fn who_was_seen_in_the_family_is_known_after_leaving_it_without_a_mark() {
    // Without a mark, in a session of its own, and its parent dies with the end of input: only the look at the start of the
    // shutdown, when the family was together, can tell whose it was.
    let stage = Stage::new();
    let script = "$SETSID env -i sh -c 'echo $$ >o; mv o own; trap : TERM HUP; while :; do sleep 0.05; done' & read x; sleep 0.05; exit 0";
    let Spawned { stdin, tree, .. } = stage.spawn(script);
    let own = stage.pid("own").await;
    drop(stdin);
    let report = tree.shutdown(ladder()).await;
    assert_eq!((report.rung, report.survivors), (Rung::Killed, vec![]));
    assert_gone(&[own]);
}

#[tokio::test]
async fn forks_during_the_kill_are_caught() {
    // Every generation starts the next one and dies; each is in a session of its own.
    let stage = Stage::new();
    std::fs::write(
        stage.path().join("hydra"),
        "echo $$ >h.$$; mv h.$$ hydra.$$; sleep 0.01; $SETSID sh \"$STAGE/hydra\" & sleep 0.01\n",
    )
    .unwrap();
    let Spawned { stdin, tree, .. } = stage.spawn("sh hydra & sh hydra & note agent; wait; sleep 300");
    stage.pid("agent").await;
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    assert!(tree.kill().is_empty());
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    let heads: Vec<i32> = std::fs::read_dir(stage.path())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_prefix("hydra.")?.parse().ok())
        .collect();
    assert!(heads.len() > 2, "the hydra did not grow: {heads:?}");
    assert_gone(&heads);
    drop(stdin);
}

#[tokio::test]
async fn strangers_and_other_trees_are_left_alone() {
    let stage = Stage::new();
    let mut stranger = std::process::Command::new("sleep").arg("300").spawn().unwrap();
    let one = stage.spawn("note one; cat; sleep 300");
    let two = stage.spawn("note two; cat; sleep 300");
    let mut younger = std::process::Command::new("sleep").arg("300").spawn().unwrap();
    let pids = stage.pids(&["one", "two"]).await;
    assert!(one.tree.kill().is_empty());
    assert_gone(&pids[..1]);
    assert_alive(&pids[1..]);
    for sleeper in [&mut stranger, &mut younger] {
        assert!(alive(i32::try_from(sleeper.id()).unwrap()));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
    assert!(two.tree.kill().is_empty());
    assert_gone(&pids);
}

#[tokio::test]
async fn a_tree_inside_a_tree_carries_both_marks() {
    // What an agent that is itself a host would do: the outer value, a colon, and its own.
    let stage = Stage::new();
    let script = "( FUSION_ACP_TREE=\"$FUSION_ACP_TREE:0123456789abcdef.1\" $SETSID sh -c 'sh -c \"echo \\$\\$ >i; mv i inner; sleep 300\" & exit' & )
        while [ ! -e inner ]; do sleep 0.01; done";
    let Spawned { stdin, tree, .. } = stage.spawn(script);
    let inner = stage.pid("inner").await;
    tree.exited().await;
    assert_alive(&[inner]);
    assert!(tree.kill().is_empty());
    let left = alive(inner);
    put_down(inner);
    assert!(!left);
    drop(stdin);
}
