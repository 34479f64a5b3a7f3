//! A host that is killed takes its agents with it.
#![cfg(unix)]

mod process_support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use acp_runtime::process::watchdog;
use process_support::{Stage, alive, assert_alive, assert_gone, ladder, put_down};
use rustix::process::{Pid, Signal};

/// Set for the process that plays the host: the directory where the agent notes its processes.
const ROLE: &str = "TREE_HOST_STAGE";

const AGENT: &str = "cd \"$NOTES\"; trap '' TERM; note agent
    sh -c 'sleep 302' & note child $!
    $SETSID env -i sh -c 'trap : TERM HUP; while :; do sleep 0.05; done' & note bare $!
    sh -c 'exec env -i sleep 303' & note plain $!
    ( $SETSID sh -c 'sh -c \"echo \\$\\$ >d; mv d daemon; trap : TERM; while :; do sleep 0.05; done\" & exit' & )
    while :; do sleep 0.05; done";

async fn play_the_host(notes: &str) {
    let stage = Stage::new();
    let mut spec = stage.spec(AGENT);
    spec.env.push(("NOTES".into(), notes.into()));
    let agent = acp_runtime::process::spawn(&spec).unwrap();
    while watchdog::pid().is_none() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    std::fs::write(format!("{notes}/w"), watchdog::pid().unwrap().to_string()).unwrap();
    std::fs::rename(format!("{notes}/w"), format!("{notes}/watchdog")).unwrap();
    tokio::time::sleep(Duration::from_secs(300)).await;
    drop(agent);
}

async fn until_gone(pids: &[i32]) {
    let until = Instant::now() + Duration::from_secs(20);
    while pids.iter().any(|pid| alive(*pid)) && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_killed_host_takes_its_agents_with_it() {
    if let Some(notes) = std::env::var_os(ROLE) {
        return play_the_host(notes.to_str().unwrap()).await;
    }
    let stage = Stage::new();
    let mut bystander = Command::new("sleep").arg("300").spawn().unwrap();
    // This very test is the host too, in a process of its own.
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_host_takes_its_agents_with_it", "--nocapture"])
        .env(ROLE, stage.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pids = stage.pids(&["agent", "child", "bare", "plain", "daemon", "watchdog"]).await;
    assert_alive(&pids);
    host.kill().unwrap();
    host.wait().unwrap();
    until_gone(&pids).await;
    let spared = alive(i32::try_from(bystander.id()).unwrap());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    assert_gone(&pids);
    assert!(spared);
}

#[tokio::test]
async fn the_watchdog_ends_with_the_last_tree_and_is_replaced_when_it_dies() {
    let stage = Stage::new();
    let spawned = stage.spawn("note agent; cat");
    let started = Instant::now();
    let running = || async {
        loop {
            if let Some(pid) = watchdog::pid() {
                return i32::try_from(pid).unwrap();
            }
            assert!(started.elapsed() < Duration::from_secs(20), "no watchdog");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let first = running().await;
    assert_alive(&[first]);
    rustix::process::kill_process(Pid::from_raw(first).unwrap(), Signal::KILL).unwrap();
    until_gone(&[first]).await;
    while watchdog::pid().is_some() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }

    // The next thing that it must be told finds out, and starts another.
    let other = stage.spawn("note other; cat");
    let second = running().await;
    assert_ne!(first, second);
    drop((spawned.stdin, other.stdin));
    let (one, two) = tokio::join!(spawned.tree.shutdown(ladder()), other.tree.shutdown(ladder()));
    assert!(one.survivors.is_empty() && two.survivors.is_empty());
    until_gone(&[second]).await;
    let left = alive(second);
    put_down(second);
    assert!(!left);
}
