//! Real commands and a way to see whether a process lives.

use std::sync::Arc;

use acp_runtime::services::terminal::{LocalLauncher, TerminalCommand, TerminalLimits, Terminals};

pub fn terminals() -> Terminals {
    Terminals::new(Arc::new(LocalLauncher), TerminalLimits::default())
}

pub fn sh(line: &str) -> TerminalCommand {
    TerminalCommand {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), line.into()],
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        cwd: std::env::temp_dir(),
    }
}

/// Polls until the terminal has printed something that the predicate accepts.
pub async fn output_until(terminals: &Terminals, id: &str, ready: impl Fn(&str) -> bool) -> String {
    loop {
        let output = terminals.output("s", id).unwrap().output;
        if ready(&output) {
            return output;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

/// Whether the process runs. One that ended but was not collected does not.
pub fn alive(pid: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    if rustix::process::test_kill_process(pid).is_err() {
        return false;
    }
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

/// Waits for the process to be gone; the signal was sent, but the kernel may take a moment.
pub async fn gone(pid: i32) {
    while alive(pid) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}
