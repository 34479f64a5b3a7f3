//! Processes, signals and pipes.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of the tests below")]

mod common;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use acp_testkit::Script;
use acp_testkit::cases::process::{p04_wrapper_ignores_sigterm, shell_launcher};
use acp_testkit::process::{
    alive, assert_all_gone, assert_gone, pids_from, processes_with_env_mark, wait_for_pids, wait_until,
};
use acp_testkit::raw_client::RawClient;
use acp_testkit::script::{Empty, EnvNames, Grandchild, Step};
use common::{play, play_with};
use serde_json::json;

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

fn grandchild(file: &Path) -> Grandchild {
    Grandchild { pid_file: Some(file.to_str().unwrap().into()), ..Grandchild::default() }
}

/// Field of `/proc/<pid>/stat` after the name: 1 parent, 2 group, 3 session.
#[cfg(target_os = "linux")]
fn stat(pid: u32, field: usize) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(field).unwrap().parse().unwrap()
}

#[test]
fn a_grandchild_outlives_the_agent() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let mut client = play(&Script::new().write_pid(file.to_str().unwrap()).spawn_grandchild(grandchild(&file)).exit(0));
    assert!(client.wait_exit().success());
    let pids = pids_from(&file);
    assert_eq!(pids.len(), 2);
    assert_eq!(pids[0], client.pid());
    assert!(alive(pids[1]));
    signal("TERM", pids[1]);
    assert_all_gone(&pids);
}

#[cfg(target_os = "linux")]
#[test]
fn a_grandchild_may_lead_its_session_and_a_daemon_belongs_to_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let own_session = Grandchild { setsid: true, ..grandchild(&file) };
    let script = Script::new()
        .spawn_grandchild(grandchild(&file))
        .spawn_grandchild(own_session)
        .double_fork_daemon(grandchild(&file))
        .notify("ready", json!({}));
    let mut client = play(&script);
    client.message().unwrap();
    let pids = pids_from(&file);
    let [plain, leader, daemon] = pids[..] else { panic!("{pids:?}") };
    assert_eq!((stat(plain, 1), stat(plain, 3)), (client.pid(), stat(client.pid(), 3)));
    assert_eq!((stat(leader, 1), stat(leader, 3)), (client.pid(), leader));
    assert_ne!(stat(daemon, 1), client.pid());
    assert_eq!(stat(daemon, 3), daemon);
    for pid in &pids {
        signal("TERM", *pid);
    }
    client.assert_clean();
    assert_all_gone(&pids);
}

#[test]
fn a_stubborn_grandchild_must_be_killed() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let script = Script::new().spawn_grandchild(Grandchild { ignore_term: true, ..grandchild(&file) }).exit(0);
    play(&script).wait_exit();
    let pid = wait_for_pids(&file, 1)[0];
    signal("TERM", pid);
    thread::sleep(Duration::from_millis(50));
    assert!(alive(pid));
    signal("KILL", pid);
    assert_gone(pid);
}

#[test]
fn a_mark_in_the_environment_is_inherited_unless_it_is_cleared() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let mark = format!("ACP_KIT_TEST=mark-{}", std::process::id());
    let (name, value) = mark.split_once('=').unwrap();
    let hidden = Grandchild { clear_env: true, ..grandchild(&file) };
    let script =
        Script::new().double_fork_daemon(grandchild(&file)).spawn_grandchild(hidden).notify("ready", json!({}));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    let mut client = RawClient::spawn(command.arg("--script").arg(script.to_json()).env(name, value)).unwrap();
    client.message().unwrap();
    let pids = pids_from(&file);
    let mut marked = processes_with_env_mark(&mark);
    let mut expected = vec![client.pid(), pids[0]];
    marked.sort_unstable();
    expected.sort_unstable();
    assert_eq!(marked, expected);
    for pid in &pids {
        signal("KILL", *pid);
    }
    client.assert_clean();
    assert_all_gone(&pids);
}

#[test]
fn a_grandchild_can_hold_the_pipes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let script = Script::new().spawn_grandchild(Grandchild { hold_pipes: true, ..grandchild(&file) }).exit(0);
    let mut client = play(&script);
    assert!(client.wait_exit().success());
    let pid = wait_for_pids(&file, 1)[0];
    let waiting = thread::spawn(move || client.line());
    thread::sleep(Duration::from_millis(50));
    assert!(!waiting.is_finished(), "stdout ended although the grandchild holds it");
    signal("KILL", pid);
    assert_eq!(waiting.join().unwrap(), None);
}

#[test]
fn signals_kill_are_ignored_or_handled() {
    let mut client = play(&Script::new().notify("ready", json!({})));
    client.message().unwrap();
    signal("TERM", client.pid());
    assert_eq!(client.wait().0.signal(), Some(15));

    let goodbye = Script::new().notify("bye", json!({})).exit(143);
    let mut client = play(&Script::new().ignore_sigterm().on_signal("USR1", goodbye).notify("ready", json!({})));
    client.message().unwrap();
    for name in ["TERM", "INT", "HUP"] {
        signal(name, client.pid());
    }
    thread::sleep(Duration::from_millis(50));
    assert!(alive(client.pid()));
    signal("USR1", client.pid());
    assert_eq!(client.message().unwrap()["method"], "bye");
    assert_eq!(client.wait().0.code(), Some(143));
}

#[test]
fn an_agent_kills_itself() {
    for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11)] {
        let (status, stderr) = play(&Script::new().kill_self(name)).wait();
        assert_eq!(status.signal(), Some(number), "{name}: {stderr}");
    }
}

#[test]
fn a_closed_stdin_fails_the_next_write() {
    for before in [Script::new(), Script::new().expect("a")] {
        let waits = !before.steps.is_empty();
        let mut client = play(&before.close_stdin().notify("closed", json!({})));
        if waits {
            client.notify("a", json!({})).unwrap();
        }
        assert_eq!(client.message().unwrap()["method"], "closed");
        // Not the first one for certain: while another test starts a process, that one holds a copy of our end for a moment.
        let mut error = None;
        assert!(wait_until(|| {
            error = client.notify("b", json!({})).err();
            error.is_some()
        }));
        assert_eq!(error.unwrap().kind(), std::io::ErrorKind::BrokenPipe);
        assert!(alive(client.pid()), "the agent lives on");
    }
}

#[test]
fn closed_outputs_end_while_the_agent_lives() {
    let mut client = play(&Script::new().notify("last", json!({})).close_stderr().close_stdout());
    assert_eq!(client.message().unwrap()["method"], "last");
    assert_eq!(client.line(), None);
    assert!(alive(client.pid()));
    client.assert_clean();
}

#[test]
fn a_paused_stdin_fills_the_pipe() {
    let script = Script::new().expect("a").push(Step::PauseStdin(Empty {})).notify("paused", json!({})).sleep(50);
    let script = script.push(Step::ResumeStdin(Empty {})).expect("b").notify("got b", json!({}));
    let mut client = play(&script);
    client.notify("a", json!({})).unwrap();
    client.message().unwrap();
    client.notify("b", json!({"text": "x".repeat(1_000_000)})).unwrap();
    assert_eq!(client.message().unwrap()["method"], "got b");
    client.assert_clean();
}

#[test]
fn a_wrapper_and_its_worker_share_the_streams() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let mut client = play_with(&p04_wrapper_ignores_sigterm(), &[file.to_str().unwrap()]);
    client.open().unwrap();
    let id = client.prompt("hi").unwrap();
    assert_eq!(client.until_response(id).len(), 2);
    let pids = wait_for_pids(&file, 2);
    for pid in &pids {
        signal("TERM", *pid);
    }
    client.close_stdin();
    thread::sleep(Duration::from_millis(50));
    assert!(pids.iter().all(|pid| alive(*pid)));
    for pid in pids.iter().rev() {
        signal("KILL", *pid);
    }
    client.wait_exit();
    assert_all_gone(&pids);
}

#[test]
fn a_delegate_hands_on_the_exit_code() {
    assert_eq!(play(&Script::new().delegate(Script::new().exit(5))).wait().0.code(), Some(5));
    assert_eq!(play(&Script::new().delegate(Script::new().kill_self("KILL"))).wait().0.code(), Some(137));
}

#[test]
fn a_shell_stays_between_launcher_and_agent() {
    let (command, args) = shell_launcher(
        env!("CARGO_BIN_EXE_fake-agent"),
        &[
            "--script",
            "[{\"do\":\"notify\",\"method\":\"{{pid}}\"},{\"do\":\"notify\",\"method\":\"x\",\"params\":{\"pid\":\"{{pid}}\"}}]",
        ],
    );
    let mut client = RawClient::spawn(Command::new(command).args(args)).unwrap();
    client.message().unwrap();
    let pid = client.message().unwrap()["params"]["pid"].as_u64().unwrap();
    assert_ne!(pid, u64::from(client.pid()));
    client.assert_clean();
}

#[test]
fn environment_names_without_values() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("names");
    let to_file = Step::EchoEnvNames(EnvNames { file: Some(file.to_str().unwrap().into()) });
    let script = Script::new().push(to_file).push(Step::EchoEnvNames(EnvNames::default()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-agent"));
    command.env_clear().env("B_KEY", "secret").env("A_KEY", "secret").arg("--script").arg(script.to_json());
    let mut client = RawClient::spawn(&mut command).unwrap();
    assert_eq!(client.message().unwrap()["params"]["names"], json!(["A_KEY", "B_KEY"]));
    client.assert_clean();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "A_KEY\nB_KEY\n");
}

#[test]
fn stderr_can_be_flooded() {
    let flood = Step::Stderr(acp_testkit::script::Stderr { text: "x".repeat(999), repeat: Some(5000), delay_ms: None });
    let (status, stderr) = play(&Script::new().push(flood).exit(0)).wait();
    assert!(status.success());
    assert_eq!(stderr.len(), 5_000_000);
}
