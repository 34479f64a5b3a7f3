//! Processes that the agent starts: all of them are this same program in another mode.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::output::append_line;
use super::stop::Stop;
use super::sys;
use crate::script::{Grandchild, Script};

/// First argument of a process that only lives on.
pub const AS_SLEEPER: &str = "--as-sleeper";
/// First argument of a process that starts a sleeper and ends.
pub const AS_DAEMON: &str = "--as-daemon";

const DEFAULT_LIFETIME: Duration = Duration::from_secs(120);
const START_LIMIT: Duration = Duration::from_secs(20);

/// Starts a grandchild and waits until it runs.
pub fn spawn_grandchild(spec: &Grandchild) -> Result<(), Stop> {
    let ready = ready_file();
    // Not waited for: it is meant to outlive this process, which is too short-lived to mind a zombie.
    sleeper_command(AS_SLEEPER, spec, &ready)
        .and_then(|mut command| command.spawn())
        .map_err(|e| failed("start", &e))?;
    await_ready(&ready)
}

/// Starts a grandchild that is nobody's child, and waits until it runs.
pub fn spawn_daemon(spec: &Grandchild) -> Result<(), Stop> {
    let ready = ready_file();
    let spec = Grandchild { setsid: true, ..spec.clone() };
    let status = sleeper_command(AS_DAEMON, &spec, &ready).and_then(|mut command| command.status());
    match status {
        Ok(status) if status.success() => await_ready(&ready),
        Ok(status) => Err(Stop::unusable(format!("the intermediate process ended with {status}"))),
        Err(error) => Err(failed("start", &error)),
    }
}

/// Plays a script in a child that inherits all streams; gives back the exit code to end with.
pub fn delegate(script: &Script, args: &Value) -> Result<i32, Stop> {
    let args = args.as_array().into_iter().flatten().filter_map(Value::as_str);
    let status = env::current_exe()
        .and_then(|exe| Command::new(exe).arg("--script").arg(script.to_json()).args(args).status())
        .map_err(|e| failed("start", &e))?;
    Ok(exit_code(status))
}

/// The mode behind [`AS_DAEMON`]: starts the sleeper and ends.
pub fn run_daemon(spec: &str, ready: &str) -> Result<(), Stop> {
    let spec = parse(spec)?;
    sleeper_command(AS_SLEEPER, &spec, &PathBuf::from(ready))
        .and_then(|mut command| command.spawn())
        .map(drop)
        .map_err(|e| failed("start", &e))
}

/// The mode behind [`AS_SLEEPER`]: lives on until its time is over or it is killed.
pub fn run_sleeper(spec: &str, ready: &str) -> Result<(), Stop> {
    let spec = parse(spec)?;
    if spec.setsid {
        sys::set_sid().map_err(|e| failed("lead a session", &e))?;
    }
    if spec.ignore_term {
        for signal in ["TERM", "INT", "HUP"] {
            sys::ignore_signal(signal).map_err(|e| failed("ignore a signal", &e))?;
        }
    }
    if let Some(file) = &spec.pid_file {
        append_line(file, &std::process::id().to_string())?;
    }
    fs::write(ready, "").map_err(|e| failed("say that it runs", &e))?;
    thread::sleep(spec.lifetime_ms.map_or(DEFAULT_LIFETIME, Duration::from_millis));
    Ok(())
}

fn sleeper_command(mode: &str, spec: &Grandchild, ready: &std::path::Path) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(mode).arg(serde_json::to_string(spec)?).arg(ready);
    if spec.clear_env {
        command.env_clear();
    }
    if !spec.hold_pipes {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    Ok(command)
}

fn parse(spec: &str) -> Result<Grandchild, Stop> {
    serde_json::from_str(spec).map_err(|e| Stop::unusable(format!("not a grandchild: {e}")))
}

fn ready_file() -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("fake-agent-ready-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    env::temp_dir().join(name)
}

fn await_ready(ready: &std::path::Path) -> Result<(), Stop> {
    let until = Instant::now() + START_LIMIT;
    while fs::remove_file(ready).is_err() {
        if Instant::now() > until {
            return Err(Stop::unusable("the grandchild did not start in time"));
        }
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn exit_code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

fn failed(what: &str, error: &io::Error) -> Stop {
    Stop::unusable(format!("a grandchild cannot {what}: {error}"))
}
