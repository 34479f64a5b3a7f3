//! Waiting for the end of a child.
//!
//! No signal handler is involved: libuv has its own for SIGCHLD, and two of them disturb each other.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, waitpid};

use super::os::pid_of;
use crate::error::ExitFacts;

type Exit = Pin<Box<dyn Future<Output = ExitFacts> + Send>>;

/// Resolves when the child `pid` has ended, and collects it.
pub(super) fn for_exit(pid: u32) -> Exit {
    let Some(pid) = pid_of(pid) else { return Box::pin(async { ExitFacts::default() }) };
    match by_handle(pid).or_else(|_| by_thread(pid)) {
        Ok(exit) => exit,
        Err(_) => Box::pin(by_asking(pid)),
    }
}

/// Linux 5.3: a descriptor that becomes readable.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn by_handle(pid: Pid) -> io::Result<Exit> {
    use rustix::process::{PidfdFlags, pidfd_open};
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    // SAFETY: an owned descriptor that is moved in: it stays open and the same until the `AsyncFd` is dropped.
    let handle = unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) }.map_err(io::Error::from)?;
    Ok(Box::pin(async move {
        while let Ok(mut ready) = handle.readable().await {
            if let Some(facts) = collect(pid) {
                return facts;
            }
            ready.clear_ready();
        }
        // Only when the runtime ends.
        ExitFacts::default()
    }))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn by_handle(_pid: Pid) -> io::Result<Exit> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Elsewhere: a thread that sleeps in the kernel.
fn by_thread(pid: Pid) -> io::Result<Exit> {
    let (ended, exit) = tokio::sync::oneshot::channel();
    std::thread::Builder::new().name("acp-wait".into()).stack_size(128 * 1024).spawn(move || {
        let facts = loop {
            match waitpid(Some(pid), WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) | Ok(None) => {}
                Ok(Some((_, status))) => break facts(status),
                Err(_) => break ExitFacts::default(),
            }
        };
        let _ = ended.send(facts);
    })?;
    Ok(Box::pin(async { exit.await.unwrap_or_default() }))
}

/// When there is neither a descriptor nor a thread left to be had.
async fn by_asking(pid: Pid) -> ExitFacts {
    loop {
        if let Some(facts) = collect(pid) {
            return facts;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The status of an ended child; nothing is known of one that somebody else has collected.
fn collect(pid: Pid) -> Option<ExitFacts> {
    match waitpid(Some(pid), WaitOptions::NOHANG) {
        Ok(ended) => ended.map(|(_, status)| facts(status)),
        Err(rustix::io::Errno::INTR) => None,
        Err(_) => Some(ExitFacts::default()),
    }
}

fn facts(status: WaitStatus) -> ExitFacts {
    ExitFacts { exit_code: status.exit_status(), signal: status.terminating_signal().map(signal_name) }
}

/// The name of a signal, as a shell spells it.
fn signal_name(number: i32) -> String {
    const NAMES: &[(Signal, &str)] = &[
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let known = NAMES.iter().find(|(signal, _)| signal.as_raw() == number);
    known.map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned())
}
