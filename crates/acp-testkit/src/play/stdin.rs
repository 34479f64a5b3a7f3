//! The thread that reads the client's lines.

use std::io;
use std::sync::{Condvar, Mutex, PoisonError};

use super::sys::{self, Wake};

/// Controls the thread that reads stdin.
#[derive(Debug)]
pub struct Stdin {
    wake: Wake,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    reader: Reader,
    paused: bool,
    closing: bool,
}

#[derive(Debug, Default, PartialEq)]
enum Reader {
    #[default]
    NotStarted,
    Running,
    Ended,
}

impl Stdin {
    /// Nothing is read yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self { wake: Wake::new()?, state: Mutex::default(), changed: Condvar::new() })
    }

    /// Says whether this call is the one that must start the thread with [`Self::read_lines`].
    pub fn start(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let first = state.reader == Reader::NotStarted && !state.closing;
        if first {
            state.reader = Reader::Running;
        }
        first
    }

    /// Whether [`Self::close`] was called.
    pub fn is_closed(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).closing
    }

    /// Stops or goes on reading.
    pub fn pause(&self, paused: bool) -> io::Result<()> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).paused = paused;
        self.changed.notify_all();
        self.wake.wake()
    }

    /// Closes the agent's end of stdin. When it returns the client's next write fails.
    pub fn close(&self) -> io::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closing = true;
        self.changed.notify_all();
        self.wake.wake()?;
        while state.reader == Reader::Running {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        sys::close_stdin()
    }

    /// Reads until the end and hands on each line, without its newline, and a last line without one.
    pub fn read_lines<E>(&self, mut each: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut buffer = vec![0; 64 * 1024];
        let mut partial = Vec::new();
        while let Some(length) = self.read(&mut buffer) {
            let mut rest = &buffer[..length];
            while let Some(newline) = memchr::memchr(b'\n', rest) {
                if partial.is_empty() {
                    each(&rest[..newline])?;
                } else {
                    partial.extend_from_slice(&rest[..newline]);
                    each(&partial)?;
                    partial.clear();
                }
                rest = &rest[newline + 1..];
            }
            partial.extend_from_slice(rest);
        }
        if partial.is_empty() { Ok(()) } else { each(&partial) }
    }

    fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            while state.paused && !state.closing {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closing {
                state.reader = Reader::Ended;
                self.changed.notify_all();
                return None;
            }
            drop(state);
            match sys::read_stdin(&self.wake, buffer) {
                Ok(None) => {}
                Ok(Some(length)) if length > 0 => return Some(length),
                Ok(Some(_)) | Err(_) => break,
            }
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner).reader = Reader::Ended;
        self.changed.notify_all();
        None
    }
}
