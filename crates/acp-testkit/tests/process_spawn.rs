//! What the agent is given, and what the host is told when it cannot be started.
#![cfg(unix)]

mod process_support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use acp_runtime::error::{Error, ErrorCode, Phase};
use acp_runtime::process::{LaunchSpec, Spawned, registry, spawn};
use process_support::Stage;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn program(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

async fn output(spec: &LaunchSpec) -> String {
    let Spawned { stdin, mut stdout, tree } = spawn(spec).unwrap();
    drop(stdin);
    let mut text = String::new();
    stdout.read_to_string(&mut text).await.unwrap();
    tree.exited().await;
    text
}

fn refusal(spec: &LaunchSpec) -> Error {
    let error = spawn(spec).unwrap_err();
    assert_eq!(error.details().phase, Some(Phase::Spawn));
    assert_eq!(registry::active_count(spec.owner), 0);
    error
}

#[tokio::test]
async fn the_environment_is_exactly_the_given_one_and_the_mark() {
    let stage = Stage::new();
    let mut spec = LaunchSpec::new("/usr/bin/env", stage.path());
    spec.env = vec![("B".into(), "x=y z".into()), ("A".into(), "old".into()), ("A".into(), "new".into())];
    let text = output(&spec).await;
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines[..2], ["A=new", "B=x=y z"]);
    assert!(lines[2].starts_with("FUSION_ACP_TREE=") && lines.len() == 3, "{lines:?}");
}

#[tokio::test]
async fn arguments_and_directory_arrive_as_they_are() {
    let stage = Stage::new();
    let mut spec = stage.spec("pwd -P; for a; do printf '[%s]' \"$a\"; done");
    spec.args.extend(["sh", "a b", "", "$HOME;`x`", "\"'\n*", "ü"].map(String::from));
    let dir = stage.path().canonicalize().unwrap();
    assert_eq!(output(&spec).await, format!("{}\n[a b][][$HOME;`x`][\"'\n*][ü]", dir.display()));
}

#[tokio::test]
async fn the_agent_leads_its_own_session_with_default_signals_and_three_descriptors() {
    // Whatever the host ignores or leaves open must not reach the agent.
    let stage = Stage::new();
    let leak = std::fs::File::create(stage.path().join("leak")).unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    let script = "ps -o pid=,pgid=,sid= -p $$; grep -E '^Sig(Blk|Ign)' /proc/self/status; ls /proc/$$/fd";
    if !Path::new("/proc/self/status").exists() {
        return; // The facts are read from /proc; the call sequence is the same on every Unix.
    }
    let text = output(&stage.spec(script)).await;
    let lines: Vec<&str> = text.lines().collect();
    let ids: Vec<&str> = lines[0].split_whitespace().collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2], "{text}");
    assert_eq!(lines[1].split_whitespace().last(), Some("0000000000000000"), "{text}");
    // Bit n is signal n + 1. The C library keeps 32 and 33 to itself, and lets nobody set them.
    let ignored = u64::from_str_radix(lines[2].split_whitespace().last().unwrap(), 16).unwrap();
    assert_eq!(ignored & !(0b11 << 31), 0, "{text}");
    assert_eq!(lines[3..], ["0", "1", "2"], "{text}");
    drop(leak);
}

#[tokio::test]
async fn the_wire_works_both_ways() {
    let stage = Stage::new();
    let Spawned { mut stdin, mut stdout, tree } = stage.spawn("read line; echo \"got $line\"");
    stdin.write_all(b"hello\n").await.unwrap();
    let mut text = String::new();
    stdout.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "got hello\n");
    assert_eq!(tree.exited().await.exit_code, Some(0));
}

#[tokio::test]
async fn names_are_looked_up_in_the_agents_path_then_in_the_hosts() {
    let stage = Stage::new();
    let (own, host) = (stage.path().join("own"), stage.path().join("host"));
    std::fs::create_dir_all(&own).unwrap();
    std::fs::create_dir_all(&host).unwrap();
    program(&own.join("agent-x"), "#!/bin/sh\necho own\n", 0o755);
    program(&host.join("agent-x"), "#!/bin/sh\necho host\n", 0o755);
    program(&stage.path().join("agent-y"), "#!/bin/sh\necho cwd\n", 0o755);
    let text = |path: &Path| path.to_str().unwrap().to_owned();

    let mut spec = LaunchSpec::new("agent-x", stage.path());
    spec.host_path = Some(host.clone().into());
    assert_eq!(output(&spec).await, "host\n");
    spec.env = vec![("PATH".into(), text(&own))];
    assert_eq!(output(&spec).await, "own\n");
    // What cannot be executed is passed over when a later place has it.
    std::fs::set_permissions(own.join("agent-x"), std::fs::Permissions::from_mode(0o644)).unwrap();
    spec.env = vec![("PATH".into(), format!("{}:{}", text(&own), text(&host)))];
    assert_eq!(output(&spec).await, "host\n");

    // A relative or empty entry would let the working directory choose.
    let mut spec = LaunchSpec::new("agent-y", stage.path());
    spec.env = vec![("PATH".into(), format!("::.:{}", text(&own)))];
    let error = refusal(&spec);
    assert_eq!(error.code(), ErrorCode::MissingBinary);
    assert_eq!(error.to_string(), "ACP agent binary not found: agent-y");
    assert_eq!(error.details().extra.as_ref().unwrap()["searched"], serde_json::json!([text(&own.join("agent-y"))]));
    // Named as a path it is meant.
    for command in ["./agent-y".to_owned(), text(&stage.path().join("agent-y"))] {
        spec.command = command;
        assert_eq!(output(&spec).await, "cwd\n");
    }
}

#[tokio::test]
async fn the_list_of_searched_places_is_bounded() {
    let stage = Stage::new();
    let mut spec = LaunchSpec::new("no-such-agent", stage.path());
    let long = "x".repeat(5000);
    spec.env = vec![("PATH".into(), (0..500).map(|n| format!("/none/{n}/{long}")).collect::<Vec<_>>().join(":"))];
    let error = refusal(&spec);
    let extra = error.details().extra.as_ref().unwrap();
    assert_eq!(extra["searchedCount"], 500);
    assert!(extra.to_string().len() < 32 * 300);
}

#[tokio::test]
async fn what_exists_but_cannot_run_is_a_spawn_error_that_says_why() {
    let stage = Stage::new();
    let at = |name: &str| stage.path().join(name);
    program(&at("plain"), "#!/bin/sh\n", 0o644);
    program(&at("no-interpreter"), "#!/no/such/interpreter\r\n", 0o755);
    program(&at("no-format"), "just text\n", 0o755);
    std::fs::create_dir(at("dir")).unwrap();
    for (name, why) in [
        ("plain", "not marked as executable"),
        ("no-interpreter", "its interpreter does not exist: /no/such/interpreter\\r"),
        ("no-format", "not a program for this system"),
        ("dir", "it is a directory"),
    ] {
        let error = refusal(&LaunchSpec::new(at(name).to_str().unwrap(), stage.path()));
        assert_eq!(error.code(), ErrorCode::SpawnError, "{name}");
        assert!(error.to_string().contains(why), "{error}");
    }
    let mut spec = stage.spec(":");
    spec.args.push("x".repeat(64 << 20));
    let error = refusal(&spec);
    assert_eq!(error.code(), ErrorCode::SpawnError);
    assert!(error.to_string().contains("too large"), "{error}");
}

#[tokio::test]
async fn a_bad_request_is_refused_before_anything_starts() {
    let stage = Stage::new();
    let file = stage.path().join("file");
    std::fs::write(&file, "").unwrap();
    let broken = |change: &dyn Fn(&mut LaunchSpec)| {
        let mut spec = stage.spec(":");
        change(&mut spec);
        refusal(&spec)
    };
    let errors = [
        broken(&|spec| spec.cwd = "relative".into()),
        broken(&|spec| spec.cwd = stage.path().join("missing")),
        broken(&|spec| spec.cwd.clone_from(&file)),
        broken(&|spec| spec.command.clear()),
        broken(&|spec| spec.command = "a\0b".into()),
        broken(&|spec| spec.args.push("a\0b".into())),
        broken(&|spec| spec.env.push(("A=B".into(), String::new()))),
        broken(&|spec| spec.env.push((String::new(), String::new()))),
        broken(&|spec| spec.env.push(("A".into(), "secret\0".into()))),
    ];
    for error in &errors {
        assert_eq!(error.code(), ErrorCode::InvalidArgument, "{error}");
        assert!(!error.to_string().contains("secret"));
    }
}

#[test]
fn nothing_secret_is_in_the_debug_form() {
    let mut spec = LaunchSpec::new("agent", "/");
    spec.args = vec!["--token=hunter2".into()];
    spec.env = vec![("API_KEY".into(), "hunter2".into())];
    spec.secrets = vec!["hunter2".into()];
    let shown = format!("{spec:?}");
    assert!(shown.contains("API_KEY") && !shown.contains("hunter2"), "{shown}");
}
