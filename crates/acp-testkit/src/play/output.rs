//! What the agent writes, and the files that note what went over the wire.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::stop::{BROKEN_PIPE, Stop};

/// The agent's stdout. A write of one step is never mixed with that of another.
#[derive(Debug, Default)]
pub struct Output {
    turn: Mutex<()>,
    deaf: AtomicBool,
    /// Notes of the wire.
    pub log: Log,
}

impl Output {
    /// From now on a closed stdout is no reason to end.
    pub fn ignore_broken_pipe(&self) {
        self.deaf.store(true, Ordering::Relaxed);
    }

    /// Writes a message as one line in one write.
    pub fn message(&self, message: &Value) -> Result<(), Stop> {
        let mut line = message.to_string();
        line.push('\n');
        let turn = self.turn();
        self.log.agent(message)?;
        let result = self.write(line.as_bytes());
        drop(turn);
        result
    }

    /// Writes pieces of bytes, each in its own write, with a pause between two of them.
    pub fn pieces<'a>(&self, pieces: impl Iterator<Item = &'a [u8]>, delay: Option<Duration>) -> Result<(), Stop> {
        let turn = self.turn();
        for (index, piece) in pieces.enumerate() {
            if let Some(delay) = delay.filter(|_| index > 0) {
                thread::sleep(delay);
            }
            self.write(piece)?;
        }
        drop(turn);
        Ok(())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Stop> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(()),
            Err(_) if self.deaf.load(Ordering::Relaxed) => Ok(()),
            Err(error) => Err(Stop { code: BROKEN_PIPE, reason: Some(format!("cannot write to stdout: {error}")) }),
        }
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Files that note what went over the wire.
#[derive(Debug, Default)]
pub struct Log {
    record: Mutex<Option<File>>,
    transcript: Mutex<Option<File>>,
}

impl Log {
    /// Begins to append the client's lines to a file.
    pub fn record_to(&self, path: &str) -> Result<(), Stop> {
        *lock(&self.record) = Some(append_to(path)?);
        Ok(())
    }

    /// Begins to append both directions to a file.
    pub fn transcribe_to(&self, path: &str) -> Result<(), Stop> {
        *lock(&self.transcript) = Some(append_to(path)?);
        Ok(())
    }

    /// Notes a line of the client, with or without its newline as it came.
    pub fn client(&self, line: &[u8]) -> Result<(), Stop> {
        let mut bytes = line.to_vec();
        bytes.push(b'\n');
        append(&self.record, &bytes)?;
        if lock(&self.transcript).is_some() {
            let message = serde_json::from_slice(line).unwrap_or_else(|_| json!(String::from_utf8_lossy(line)));
            self.note("client", &message)?;
        }
        Ok(())
    }

    /// Notes a message of the agent.
    pub fn agent(&self, message: &Value) -> Result<(), Stop> {
        if lock(&self.transcript).is_some() { self.note("agent", message) } else { Ok(()) }
    }

    fn note(&self, from: &str, message: &Value) -> Result<(), Stop> {
        append(&self.transcript, format!("{}\n", json!({"from": from, "message": message})).as_bytes())
    }
}

fn lock(file: &Mutex<Option<File>>) -> MutexGuard<'_, Option<File>> {
    file.lock().unwrap_or_else(PoisonError::into_inner)
}

fn append(file: &Mutex<Option<File>>, bytes: &[u8]) -> Result<(), Stop> {
    match lock(file).as_mut() {
        None => Ok(()),
        Some(file) => file.write_all(bytes).map_err(|e| Stop::unusable(format!("cannot write what was recorded: {e}"))),
    }
}

fn append_to(path: &str) -> Result<File, Stop> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.map_err(|e| Stop::unusable(format!("cannot open {path}: {e}")))
}

/// Appends one line to a file that several processes may share.
pub fn append_line(path: &str, line: &str) -> Result<(), Stop> {
    let mut file = append_to(path)?;
    file.write_all(format!("{line}\n").as_bytes()).map_err(|e| Stop::unusable(format!("cannot write {path}: {e}")))
}

/// Writes to stderr; a closed stderr does not matter.
pub fn complain(text: &str) {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
}
