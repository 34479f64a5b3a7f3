//! Whether anybody is left to read an agent's input.

use std::time::Duration;

use crate::stage::{Stage, assert_gone};
use acp_runtime::process::{Ladder, Spawned, input_gone};

#[cfg(any(target_os = "linux", target_os = "android"))]
#[tokio::test]
async fn p09_a_closed_stdin_is_noticed_without_a_write() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } = stage.spawn("exec 0<&-; note agent; while :; do sleep 1; done");
    stage.pid("agent").await;
    tokio::time::timeout(Duration::from_secs(20), input_gone(&stdin)).await.unwrap();
    assert!(tree.try_exit().is_none());
    tree.shutdown(Ladder::IMMEDIATE).await;
}

#[tokio::test]
async fn an_input_that_a_descendant_still_has_is_open() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } =
        stage.spawn("exec 3<&0; cat >/dev/null <&3 & exec 3<&- 0<&-; note agent; while :; do sleep 1; done");
    stage.pid("agent").await;
    let gone = tokio::time::timeout(Duration::from_millis(200), input_gone(&stdin)).await;
    assert!(gone.is_err());
    tree.shutdown(Ladder::IMMEDIATE).await;
}

#[tokio::test]
async fn whoever_watches_an_input_ends_it_with_the_input() {
    let stage = Stage::new();
    let Spawned { stdin, tree, .. } = stage.spawn("note agent; cat >/dev/null");
    let pid = stage.pid("agent").await;
    let mut gone = input_gone(&stdin);
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut gone).await.is_err());
    drop((stdin, gone));
    tokio::time::timeout(Duration::from_secs(20), tree.exited()).await.unwrap();
    assert_gone(&[pid]);
}
