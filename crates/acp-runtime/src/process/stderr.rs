//! The end of the agent's stderr, and how much has come.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;

use super::spec::RedactFn;
use crate::text::sanitize::strip_control_sequences;

/// How long the end of stderr is awaited after the agent ended: a descendant may hold the pipe open for ever.
pub const DEFAULT_DRAIN_BOUND: Duration = Duration::from_millis(250);

/// Kept in front of the tail, so that a secret cut by the ring's edge never shows its second half.
const SLACK: usize = 4096;
const READ_BYTES: usize = 16 * 1024;

/// A bounded ring with the last bytes of stderr; redacted as a whole when read, so that a secret which came in two reads is
/// found.
pub struct StderrTail {
    ring: Mutex<VecDeque<u8>>,
    limit: usize,
    slack: usize,
    seen: AtomicU64,
    ended: watch::Sender<bool>,
    redact: RedactFn,
}

impl StderrTail {
    /// A tail of at most `limit` bytes. `secret_bytes` is the length of the longest literal secret that `redact` knows.
    pub fn new(limit: usize, secret_bytes: usize, redact: RedactFn) -> Self {
        Self {
            ring: Mutex::default(),
            limit,
            slack: SLACK.max(secret_bytes),
            seen: AtomicU64::new(0),
            ended: watch::Sender::new(false),
            redact,
        }
    }

    fn ring(&self) -> MutexGuard<'_, VecDeque<u8>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what came. Constant time per byte, whatever the limit.
    pub fn push(&self, bytes: &[u8]) {
        let keep = self.limit + self.slack;
        let bytes_kept = &bytes[bytes.len().saturating_sub(keep)..];
        let mut ring = self.ring();
        let excess = (ring.len() + bytes_kept.len()).saturating_sub(keep);
        ring.drain(..excess);
        ring.extend(bytes_kept);
        drop(ring);
        self.seen.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    /// The end of stderr, without terminal control and redacted; at most the limit, in bytes. In this order: a sequence in
    /// the middle of a secret, as colours are, would hide it.
    pub fn tail(&self) -> String {
        let (raw, total) = {
            let ring = self.ring();
            (ring.iter().copied().collect::<Vec<u8>>(), self.seen.load(Ordering::Relaxed))
        };
        let cut = total > raw.len() as u64;
        let text = (self.redact)(&strip_control_sequences(&String::from_utf8_lossy(&raw)));
        // Masking shortens, and what is left of the slack is what goes.
        let slack = if cut { &raw[..self.slack.min(raw.len())] } else { &[] };
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
    pub(super) async fn drain(&self, mut source: impl AsyncRead + Unpin) {
        let mut buffer = vec![0u8; READ_BYTES];
        loop {
            match source.read(&mut buffer).await {
                Ok(0) => break,
                Ok(read) => self.push(&buffer[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::debug!(target: "acp::process", %error, "reading stderr failed");
                    break;
                }
            }
        }
        self.ended.send_replace(true);
    }
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
    std::sync::Arc::new(move |text| {
        secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "[REDACTED]"))
    })
}
