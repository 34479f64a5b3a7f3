//! Unix.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGKILL, SIGSEGV, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;

/// Wakes a thread that waits for stdin.
#[derive(Debug)]
pub struct Wake {
    reader: OwnedFd,
    writer: OwnedFd,
}

impl Wake {
    /// A new one.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = rustix::pipe::pipe()?;
        Ok(Self { reader, writer })
    }

    /// Wakes the thread that waits in [`read_stdin`], now or the next time.
    pub fn wake(&self) -> io::Result<()> {
        rustix::io::write(&self.writer, b"!").map(drop).map_err(io::Error::from)
    }
}

/// Reads from stdin; `None` when woken instead. A thread that sits in `read` would keep the pipe's end open after it was
/// closed, so the wait happens in `poll`.
pub fn read_stdin(wake: &Wake, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    let stdin = rustix::stdio::stdin();
    loop {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&wake.reader, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if fds[1].revents().contains(PollFlags::IN) {
            let mut byte = [0];
            rustix::io::read(&wake.reader, &mut byte[..])?;
            return Ok(None);
        }
        match rustix::io::read(stdin, &mut *buffer) {
            Ok(length) => return Ok(Some(length)),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Gives up the pipe behind stdin. No thread may be in [`read_stdin`].
pub fn close_stdin() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdin(File::open("/dev/null")?)?)
}

/// Gives up the pipe behind stdout.
pub fn close_stdout() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(File::options().write(true).open("/dev/null")?)?)
}

/// Gives up the pipe behind stderr.
pub fn close_stderr() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stderr(File::options().write(true).open("/dev/null")?)?)
}

/// Becomes the leader of a new session.
pub fn set_sid() -> io::Result<()> {
    rustix::process::setsid().map(drop).map_err(io::Error::from)
}

/// Lives on after a signal.
pub fn ignore_signal(name: &str) -> io::Result<()> {
    signal_hook::flag::register(number(name)?, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Runs something whenever a signal arrives.
pub fn on_signal(name: &str, mut run: impl FnMut() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([number(name)?])?;
    thread::Builder::new().name(format!("on {name}")).spawn(move || signals.forever().for_each(|_| run()))?;
    Ok(())
}

/// Ends this process by a signal.
pub fn kill_self(name: &str) -> io::Result<()> {
    let number = number(name)?;
    let signal = Signal::from_named_raw(number).ok_or_else(|| io::Error::other(format!("no signal {name}")))?;
    // More than once: the handler that detects stack overflows swallows the first SIGSEGV that was sent by hand.
    for _ in 0..100 {
        kill_process(getpid(), signal)?;
        thread::sleep(Duration::from_millis(20));
    }
    Err(io::Error::other(format!("survived {name}")))
}

fn number(name: &str) -> io::Result<i32> {
    Ok(match name {
        "TERM" => SIGTERM,
        "INT" => SIGINT,
        "HUP" => SIGHUP,
        "USR1" => SIGUSR1,
        "USR2" => SIGUSR2,
        "KILL" => SIGKILL,
        "SEGV" => SIGSEGV,
        "ABRT" => SIGABRT,
        _ => return Err(io::Error::other(format!("no signal {name:?}"))),
    })
}
