use std::path::Path;
use std::time::Instant;

use super::*;

/// Set for the process that plays the host: where it notes its agent's id.
const NOTE: &str = "WATCHDOG_HOST_NOTE";
/// How many trees that host has, and what is the first thing that its second watchdog is started for.
const CASE: &str = "WATCHDOG_HOST_CASE";
/// Longer than anything takes: it bounds a failing test and measures nothing.
const PATIENCE: Duration = Duration::from_secs(30);

fn eventually(condition: impl Fn() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    condition()
}

/// Whether a process is more than an entry that waits to be collected.
fn alive(pid: Pid) -> bool {
    let shown = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8(shown.stdout).unwrap();
    !state.trim().is_empty() && !state.trim_start().starts_with('Z')
}

fn raw(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

/// A tree that no process belongs to: no system gives out such ids.
fn tree(number: u32) -> (u32, u64) {
    (i32::MAX.unsigned_abs() - number, 1)
}

fn begin(number: u32) {
    let (session, started) = tree(number);
    start().begun(session, started);
}

fn end(number: u32) {
    let (session, started) = tree(number);
    remove(session, started);
}

/// A process as those of trees are: it carries the host's mark.
fn agent() -> Child {
    let token = mark::host_token().unwrap();
    Command::new("sleep").arg("300").env(mark::NAME, format!("{token}.1")).spawn().unwrap()
}

/// This process plays the host in a test that nothing else may have a watchdog beside.
fn this_test(name: &str) -> Command {
    let mut host = Command::new(std::env::current_exe().unwrap());
    host.args(["--exact", &format!("process::watchdog::tests::{name}")]).stdin(Stdio::null()).stdout(Stdio::null());
    host
}

/// A host whose watchdog died while it had trees, and which has none any more when it is killed, but starts an agent.
fn play_the_host(note: &Path, case: &str) {
    let (trees, told) = case.split_once(' ').unwrap();
    let trees: u32 = trees.parse().unwrap();
    (1..=trees).for_each(begin);
    let other = start();
    let first = pid().unwrap();
    kill_process(raw(first), Signal::KILL).unwrap();
    assert!(eventually(|| pid().is_none()));
    let left = match told {
        "s" => Some((start(), other)),
        "f" => {
            drop(other);
            None
        }
        "+" => {
            let (session, started) = tree(0);
            other.begun(session, started);
            None
        }
        _ => {
            end(1);
            Some((start(), other))
        }
    };
    assert!(pid().is_some_and(|second| second != first));
    let starting = start();
    drop(left);
    (0..=trees).for_each(end);
    let mut agent = agent();
    let aside = note.with_extension("aside");
    std::fs::write(&aside, agent.id().to_string()).unwrap();
    std::fs::rename(aside, note).unwrap();
    agent.wait().unwrap();
    drop(starting);
}

#[test]
fn a_watchdog_that_came_later_counts_as_the_first_one_did() {
    if let (Some(note), Ok(case)) = (std::env::var_os(NOTE), std::env::var(CASE)) {
        return play_the_host(Path::new(&note), &case);
    }
    for (case, told) in [(0, "s"), (1, "s"), (3, "s"), (1, "f"), (3, "f"), (1, "+"), (3, "+"), (1, "-"), (3, "-")] {
        let dir = tempfile::tempdir().unwrap();
        let note = dir.path().join("agent");
        let case = format!("{case} {told}");
        let mut host = this_test("a_watchdog_that_came_later_counts_as_the_first_one_did");
        let mut host = host.env(NOTE, &note).env(CASE, &case).spawn().unwrap();
        let noted = eventually(|| note.exists());
        host.kill().unwrap();
        host.wait().unwrap();
        assert!(noted, "{case}: there is no agent");
        let agent = Pid::from_raw(std::fs::read_to_string(&note).unwrap().parse().unwrap()).unwrap();
        let gone = eventually(|| !alive(agent));
        let _ = kill_process(agent, Signal::KILL);
        assert!(gone, "{case}: the agent is left");
    }
}

#[test]
fn a_watchdog_that_was_stopped_and_replaced_ends_nothing_when_it_goes_on() {
    if std::env::var_os(CASE).is_none() {
        let mut host = this_test("a_watchdog_that_was_stopped_and_replaced_ends_nothing_when_it_goes_on");
        assert!(host.env(CASE, "").status().unwrap().success());
        return;
    }
    begin(1);
    let mut agent = agent();
    let first = pid().unwrap();
    kill_process(raw(first), Signal::STOP).unwrap();
    // Until its pipe is full.
    while pid() == Some(first) {
        drop(start());
    }
    let _ = kill_process(raw(first), Signal::CONT);
    let ended = eventually(|| !alive(raw(first)));
    let spared = agent.try_wait().unwrap().is_none();
    agent.kill().unwrap();
    agent.wait().unwrap();
    end(1);
    assert!(ended && spared);
}
