//! The end of the agent's stderr, and how much has come.

use std::collections::VecDeque;
#[cfg(unix)]
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, io};

#[cfg(unix)]
use tokio::net::unix::pipe::Receiver;
use tokio::process::ChildStderr;
use tokio::sync::watch;

use super::spec::RedactFn;
use crate::text::sanitize::strip_control_sequences;

/// How long the end of stderr is awaited after the agent ended: a descendant may hold the pipe open for ever.
pub const DEFAULT_DRAIN_BOUND: Duration = Duration::from_millis(250);

/// Kept in front of the tail, so that a secret cut by the ring's edge never shows its second half.
const SLACK: usize = 4096;
const READ_BYTES: usize = 16 * 1024;
/// How many reads a look at the tail does itself; together more than a pipe holds.
#[cfg(unix)]
const CATCH_UP_READS: usize = 8;

/// A bounded ring with the last bytes of stderr; redacted as a whole when read, so that a secret which came in two reads is
/// found.
pub struct StderrTail {
    ring: Mutex<VecDeque<u8>>,
    limit: usize,
    slack: AtomicUsize,
    seen: AtomicU64,
    ended: watch::Sender<bool>,
    redact: RedactFn,
    /// While it is read.
    #[cfg(unix)]
    pipe: Mutex<Weak<Receiver>>,
}

impl StderrTail {
    /// A tail of at most `limit` bytes. `secret_bytes` is the length of the longest literal secret that `redact` knows.
    pub fn new(limit: usize, secret_bytes: usize, redact: RedactFn) -> Self {
        Self {
            ring: Mutex::default(),
            limit,
            slack: AtomicUsize::new(SLACK.max(secret_bytes)),
            seen: AtomicU64::new(0),
            ended: watch::Sender::new(false),
            redact,
            #[cfg(unix)]
            pipe: Mutex::default(),
        }
    }

    /// From now on `redact` knows a secret of that length, too.
    pub fn expect(&self, secret_bytes: usize) {
        self.slack.fetch_max(secret_bytes, Ordering::Relaxed);
    }

    fn ring(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what came. Constant time per byte, whatever the limit.
    pub fn push(&self, bytes: &[u8]) {
        self.keep(&mut self.ring(), bytes);
    }

    fn keep(&self, ring: &mut VecDeque<u8>, bytes: &[u8]) {
        let keep = self.limit + self.slack.load(Ordering::Relaxed);
        let bytes_kept = &bytes[bytes.len().saturating_sub(keep)..];
        let excess = (ring.len() + bytes_kept.len()).saturating_sub(keep);
        ring.drain(..excess);
        ring.extend(bytes_kept);
        self.seen.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    /// The end of stderr, without terminal control and redacted; at most the limit, in bytes. In this order: a sequence in
    /// the middle of a secret, as colours are, would hide it.
    pub fn tail(&self) -> String {
        self.catch_up();
        let (raw, total) = {
            let ring = self.ring();
            (ring.iter().copied().collect::<Vec<u8>>(), self.seen.load(Ordering::Relaxed))
        };
        let cut = total > raw.len() as u64;
        let text = (self.redact)(&strip_control_sequences(&String::from_utf8_lossy(&raw)));
        // Masking shortens, and what is left of the slack is what goes.
        let slack = self.slack.load(Ordering::Relaxed).min(raw.len());
        let slack = if cut { &raw[..slack] } else { &[] };
        let mut from = (self.redact)(&strip_control_sequences(&String::from_utf8_lossy(slack))).len().min(text.len());
        from = from.max(text.len().saturating_sub(self.limit));
        while !text.is_char_boundary(from) {
            from += 1;
        }
        text[from..].to_owned()
    }

    /// How many bytes of stderr have come so far: a sign of life while a handshake is awaited.
    pub fn bytes_seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Waits for the end of stderr, at most for `bound` ([`DEFAULT_DRAIN_BOUND`]). Returns whether the end was reached.
    pub async fn drained(&self, bound: Duration) -> bool {
        let mut ended = self.ended.subscribe();
        tokio::time::timeout(bound, ended.wait_for(|ended| *ended)).await.is_ok_and(|end| end.is_ok())
    }

    /// Reads `source` to its end. Goes on reading when the tail is full: an agent must never block on its stderr.
    pub(super) async fn drain(&self, source: ChildStderr) {
        if let Err(error) = self.read_all(source).await {
            tracing::debug!(target: "acp::process", %error, "reading stderr failed");
        }
        self.ended.send_replace(true);
    }

    #[cfg(unix)]
    async fn read_all(&self, source: ChildStderr) -> io::Result<()> {
        let pipe = Arc::new(Receiver::from_owned_fd(source.into_owned_fd()?)?);
        *self.pipe.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&pipe);
        let mut buffer = vec![0u8; READ_BYTES];
        loop {
            pipe.readable().await?;
            match self.take(&mut buffer, |buffer| pipe.try_read(buffer)) {
                Ok(0) => return Ok(()),
                Err(error) if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                    return Err(error);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }

    #[cfg(not(unix))]
    async fn read_all(&self, mut source: ChildStderr) -> io::Result<()> {
        use tokio::io::AsyncReadExt;
        let mut buffer = vec![0u8; READ_BYTES];
        loop {
            match source.read(&mut buffer).await {
                Ok(0) => return Ok(()),
                Ok(read) => self.push(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads once, without waiting. Under the ring's lock, so that what two readers read stays in order.
    #[cfg(unix)]
    fn take(&self, buffer: &mut [u8], read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<usize> {
        let mut ring = self.ring();
        let read = read(buffer)?;
        self.keep(&mut ring, &buffer[..read]);
        Ok(read)
    }

    /// Takes what the agent has written by now: what it wrote before it answered is told with the answer, however late the
    /// reading task is.
    #[cfg(unix)]
    fn catch_up(&self) {
        let pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let Some(pipe) = pipe else { return };
        let mut buffer = vec![0u8; READ_BYTES];
        // An agent that writes without end does not hold the reader up.
        for _ in 0..CATCH_UP_READS {
            // Past the runtime, which may not have seen yet that there is something.
            match self.take(&mut buffer, |buffer| Ok(rustix::io::read(&*pipe, buffer)?)) {
                Ok(read) if read > 0 => {}
                _ => return,
            }
        }
    }

    #[cfg(not(unix))]
    fn catch_up(&self) {}
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StderrTail").field("seen", &self.bytes_seen()).finish_non_exhaustive()
    }
}

/// Replaces every secret literally; what is used when the host brings no redactor. The longest are replaced first, so that
/// one that contains another goes as a whole.
pub(super) fn literal_redactor(secrets: &[String]) -> RedactFn {
    let mut secrets: Vec<String> = secrets.iter().filter(|secret| !secret.is_empty()).cloned().collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    Arc::new(move |text| secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[REDACTED]")))
}
