//! Who is alive, and who must not be.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// How long a process may take to disappear after it was told to. Generous: it bounds a failing test, it measures nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether a process runs. One that has ended and was only not collected by its parent does not count as alive: who
/// inherits it may be a container's first process that never collects.
pub fn alive(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}

/// Whether a process exists at all, also as an uncollected one. For children of the code under test, which must collect them.
pub fn exists(pid: u32) -> bool {
    state(pid).is_some()
}

/// The state letter of a process as `ps` gives it; `None` when there is no such process.
fn state(pid: u32) -> Option<char> {
    if cfg!(target_os = "linux") {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name in parentheses may hold anything, so the state is looked for after the last of them.
        return stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    }
    if cfg!(windows) {
        let filter = format!("PID eq {pid}");
        let output = Command::new("tasklist").args(["/NH", "/FO", "CSV", "/FI", &filter]).output().ok()?;
        return String::from_utf8_lossy(&output.stdout).contains(&format!("\"{pid}\"")).then_some('R');
    }
    let output = Command::new("ps").args(["-o", "state=", "-p", &pid.to_string()]).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().chars().next()
}

/// Waits until something is true; says whether it became true in time.
pub fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() > until {
            return false;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until a process is gone.
///
/// # Panics
///
/// When it is still there after a while; the message holds its command line.
pub fn assert_gone(pid: u32) {
    assert!(wait_until(|| !alive(pid)), "process {pid} is still alive: {}", command_line(pid));
}

/// Waits until all processes are gone.
///
/// # Panics
///
/// When there are none to look at, which would prove nothing, or when one is still there after a while.
pub fn assert_all_gone(pids: &[u32]) {
    assert!(!pids.is_empty(), "no process ids to look at");
    pids.iter().copied().for_each(assert_gone);
}

/// The process ids in a file, one a line, as `write_pid` and `pidFile` write them. Empty when there is no file yet.
pub fn pids_from(file: &Path) -> Vec<u32> {
    fs::read_to_string(file).unwrap_or_default().lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// Waits until a file holds that many process ids.
///
/// # Panics
///
/// When it does not after a while.
pub fn wait_for_pids(file: &Path, count: usize) -> Vec<u32> {
    assert!(wait_until(|| pids_from(file).len() >= count), "{} does not hold {count} pids", file.display());
    pids_from(file)
}

/// The processes whose environment holds `mark` (`NAME=value`), this one excepted. A process that cleared its environment is
/// not found. On Linux from `/proc`, on other Unix systems from `ps`, which shows only the user's own.
///
/// # Panics
///
/// On Windows, where a foreign environment cannot be read.
pub fn processes_with_env_mark(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    marked(mark).into_iter().filter(|pid| *pid != own && alive(*pid)).collect()
}

#[cfg(target_os = "linux")]
fn marked(mark: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let has_mark = |environ: Vec<u8>| environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
    pids.filter(|pid: &u32| fs::read(format!("/proc/{pid}/environ")).is_ok_and(has_mark)).collect()
}

#[cfg(all(unix, not(target_os = "linux")))]
fn marked(mark: &str) -> Vec<u32> {
    let output = Command::new("ps").args(["-axEww", "-o", "pid=,command="]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let lines = text.lines().filter(|line| line.split_whitespace().any(|word| word == mark));
    lines.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

#[cfg(not(unix))]
fn marked(mark: &str) -> Vec<u32> {
    panic!("the environment of a foreign process cannot be read on this system, so nobody can be asked for {mark}")
}

fn command_line(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_living() {
        assert!(alive(std::process::id()));
        assert!(exists(std::process::id()));
        // Above every limit of process ids.
        assert!(!exists(0x7fff_fff0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_uncollected_child_exists_but_does_not_live() {
        let mut child = Command::new("true").spawn().unwrap();
        assert_gone(child.id());
        assert!(exists(child.id()));
        child.wait().unwrap();
        assert!(!exists(child.id()));
    }

    #[cfg(unix)]
    #[test]
    fn finds_marked_processes() {
        let mark = format!("ACP_TESTKIT_MARK={}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let mut child = Command::new("sleep").arg("60").env(name, value).spawn().unwrap();
        assert!(wait_until(|| processes_with_env_mark(&mark) == [child.id()]));
        assert!(processes_with_env_mark(&mark[..mark.len() - 1]).is_empty(), "only the whole mark counts");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(processes_with_env_mark(&mark).is_empty());
    }
}
