//! What a connection saw that nobody asked about: counters and samples for bug reports.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// Noise lines kept as samples.
const MAX_SAMPLES: usize = 8;
/// Characters kept of each sample.
const SAMPLE_CHARS: usize = 200;

/// Counters of one connection; cheap to bump from its task, readable at any time.
#[derive(Debug, Default)]
pub struct Diagnostics {
    bytes_received: AtomicU64,
    messages_received: AtomicU64,
    noise_lines: AtomicU64,
    oversize_lines: AtomicU64,
    repaired_lines: AtomicU64,
    quirks: AtomicU64,
    unknown_responses: AtomicU64,
    late_responses: AtomicU64,
    dropped_updates: AtomicU64,
    refused_requests: AtomicU64,
    samples: Mutex<Vec<String>>,
}

macro_rules! counters {
    ($($(#[$doc:meta])* $method:ident => $field:ident),+ $(,)?) => {
        impl Diagnostics {
            $($(#[$doc])* pub fn $method(&self, by: u64) { self.$field.fetch_add(by, Ordering::Relaxed); })+
        }
    };
}

counters! {
    /// Bytes read from the agent's stdout.
    received_bytes => bytes_received,
    /// JSON-RPC messages read.
    received_messages => messages_received,
    /// Lines longer than the limit.
    oversize => oversize_lines,
    /// Lines with invalid UTF-8 or lone surrogates, repaired.
    repaired => repaired_lines,
    /// Tolerated deviations: ids of another type, a missing `jsonrpc`.
    quirk => quirks,
    /// Responses that answer no call.
    unknown_response => unknown_responses,
    /// Responses that came after their caller was gone.
    late_response => late_responses,
    /// Updates for sessions that do not exist.
    dropped_update => dropped_updates,
    /// Requests answered with an error because nothing handles them.
    refused_request => refused_requests,
}

impl Diagnostics {
    /// A line that is not JSON-RPC; `sample` is already redacted and free of control characters.
    pub fn noise(&self, sample: impl FnOnce() -> String) {
        self.noise_lines.fetch_add(1, Ordering::Relaxed);
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.len() < MAX_SAMPLES {
            samples.push(sample().chars().take(SAMPLE_CHARS).collect());
        }
    }

    /// Whether the agent said anything at all on stdout.
    pub fn heard_anything(&self) -> bool {
        self.bytes_received.load(Ordering::Relaxed) > 0
    }

    /// Bytes read so far.
    pub fn bytes(&self) -> u64 {
        self.bytes_received.load(Ordering::Relaxed)
    }

    /// The first noise line seen.
    pub fn first_noise(&self) -> Option<String> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    /// A copy of everything.
    pub fn snapshot(&self) -> Snapshot {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Snapshot {
            bytes_received: load(&self.bytes_received),
            messages_received: load(&self.messages_received),
            noise_lines: load(&self.noise_lines),
            noise_samples: self.samples.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            oversize_lines: load(&self.oversize_lines),
            repaired_lines: load(&self.repaired_lines),
            quirks: load(&self.quirks),
            unknown_responses: load(&self.unknown_responses),
            late_responses: load(&self.late_responses),
            dropped_updates: load(&self.dropped_updates),
            refused_requests: load(&self.refused_requests),
        }
    }
}

/// The counters at one moment.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Snapshot {
    /// Bytes read from the agent's stdout.
    pub bytes_received: u64,
    /// JSON-RPC messages read.
    pub messages_received: u64,
    /// Lines that were no JSON-RPC.
    pub noise_lines: u64,
    /// The first of them, redacted and cut.
    pub noise_samples: Vec<String>,
    /// Lines longer than the limit, dropped.
    pub oversize_lines: u64,
    /// Lines with invalid UTF-8 or lone surrogates, repaired.
    pub repaired_lines: u64,
    /// Tolerated deviations from JSON-RPC.
    pub quirks: u64,
    /// Responses that answered no call.
    pub unknown_responses: u64,
    /// Responses whose caller was gone.
    pub late_responses: u64,
    /// Updates of sessions that do not exist.
    pub dropped_updates: u64,
    /// Requests answered with an error because nothing handles them.
    pub refused_requests: u64,
}
