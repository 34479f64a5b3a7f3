//! Shell scripts as agents, and the truth about process ids.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use acp_runtime::process::{Ladder, LaunchSpec, OwnerId, Spawned, spawn};
use rustix::process::{Pid, test_kill_process};
use tempfile::TempDir;

/// Longer than any test waits, so that a forgotten process fails its test instead of ending by itself.
const PATIENCE: Duration = Duration::from_secs(20);

static OWNERS: AtomicU64 = AtomicU64::new(1000);

/// A directory where an agent notes the ids of its processes, one file each.
pub struct Stage {
    dir: TempDir,
    pub owner: OwnerId,
}

impl Stage {
    pub fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), owner: OwnerId(OWNERS.fetch_add(1, Ordering::Relaxed)) }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// `sh -c script` with `note NAME` (writes the shell's own id), `note NAME PID`, and `$SETSID`.
    pub fn spec(&self, script: &str) -> LaunchSpec {
        let mut spec = LaunchSpec::new("/bin/sh", self.path());
        // Written aside and renamed, so that a reader never sees half of it.
        let prelude = "note() { echo \"${2:-$$}\" >\".$1\"; mv \".$1\" \"$1\"; }\n";
        spec.args = vec!["-c".into(), format!("{prelude}{script}")];
        spec.env = vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("SETSID".into(), env!("CARGO_BIN_EXE_setsid-exec").into()),
            ("STAGE".into(), self.path().to_string_lossy().into_owned()),
        ];
        spec.owner = self.owner;
        spec
    }

    pub fn spawn(&self, script: &str) -> Spawned {
        spawn(&self.spec(script)).unwrap()
    }

    /// The id that was noted under `name`, waiting for it.
    pub async fn pid(&self, name: &str) -> i32 {
        let path: PathBuf = self.path().join(name);
        let until = Instant::now() + PATIENCE;
        loop {
            if let Ok(text) = std::fs::read_to_string(&path) {
                return text.trim().parse().unwrap();
            }
            assert!(Instant::now() < until, "no process noted its id as {name}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub async fn pids(&self, names: &[&str]) -> Vec<i32> {
        let mut pids = Vec::new();
        for name in names {
            pids.push(self.pid(name).await);
        }
        pids
    }
}

/// Short steps, so that the tests are quick; long enough that each step is really taken.
pub fn ladder() -> Ladder {
    Ladder {
        eof_grace: Duration::from_millis(200),
        term_grace: Duration::from_millis(200),
        orphan_grace: Duration::from_millis(100),
        kill_bound: Duration::from_secs(10),
    }
}

/// Whether a process exists and is more than an entry that waits to be collected.
pub fn alive(pid: i32) -> bool {
    if test_kill_process(Pid::from_raw(pid).unwrap()).is_err() {
        return false;
    }
    let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim().is_empty() && !state.trim_start().starts_with('Z')
}

#[track_caller]
pub fn assert_gone(pids: &[i32]) {
    for pid in pids {
        assert!(!alive(*pid), "process {pid} of {pids:?} is still alive");
    }
}

#[track_caller]
pub fn assert_alive(pids: &[i32]) {
    for pid in pids {
        assert!(alive(*pid), "process {pid} of {pids:?} is not alive");
    }
}

/// Ends a process that the test itself left alive on purpose.
pub fn put_down(pid: i32) {
    let _ = rustix::process::kill_process(Pid::from_raw(pid).unwrap(), rustix::process::Signal::KILL);
}
