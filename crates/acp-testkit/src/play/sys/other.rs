//! Systems without POSIX signals and descriptors: what cannot be done there is an error of the script.

use std::io::{self, Read};

/// Wakes nobody: stdin cannot be waited for with something else.
#[derive(Debug)]
pub struct Wake;

impl Wake {
    /// A new one.
    pub fn new() -> io::Result<Self> {
        Ok(Self)
    }

    /// Does nothing.
    pub fn wake(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads from stdin.
pub fn read_stdin(_wake: &Wake, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    io::stdin().lock().read(buffer).map(Some)
}

/// Not available.
pub fn close_stdin() -> io::Result<()> {
    unavailable("close_stdin")
}

/// Not available.
pub fn close_stdout() -> io::Result<()> {
    unavailable("close_stdout")
}

/// Not available.
pub fn close_stderr() -> io::Result<()> {
    unavailable("close_stderr")
}

/// There are no sessions to lead; a grandchild is detached enough without.
pub fn set_sid() -> io::Result<()> {
    Ok(())
}

/// There is no such signal, so it is ignored by nature.
pub fn ignore_signal(_name: &str) -> io::Result<()> {
    Ok(())
}

/// Not available.
pub fn on_signal(_name: &str, _run: impl FnMut() + Send + 'static) -> io::Result<()> {
    unavailable("on_signal")
}

/// Not available, except that `ABRT` aborts.
pub fn kill_self(name: &str) -> io::Result<()> {
    if name == "ABRT" { std::process::abort() } else { unavailable("kill_self") }
}

fn unavailable(step: &str) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, format!("{step} is not available on this system")))
}
