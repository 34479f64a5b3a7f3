//! The wire tap: every frame with its direction and time, bounded and redacted.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::wire::redacted::redact_json_text;

/// The longest part of a frame that a tap sees, in bytes.
pub const MAX_FRAME_BYTES: usize = 64 * 1024;

/// Where a frame went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the client to the agent.
    ToAgent,
    /// From the agent to the client.
    FromAgent,
}

/// One frame.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TracedFrame {
    /// Milliseconds since the Unix epoch.
    pub time: u64,
    /// Where it went.
    pub direction: Direction,
    /// The line, redacted, cut to [`MAX_FRAME_BYTES`].
    pub frame: String,
    /// Whether it was cut.
    pub truncated: bool,
}

/// Receives frames on the connection's task. Must not block.
pub type Tap = Arc<dyn Fn(TracedFrame) + Send + Sync>;

/// Shows a line to a tap.
pub fn show(tap: &Tap, redact: &dyn Fn(&str) -> String, direction: Direction, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    // Redacted before the cut, so that no secret is cut in half.
    let redacted = redact_json_text(text.trim_end_matches(['\n', '\r']), redact);
    let truncated = redacted.len() > MAX_FRAME_BYTES;
    let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    tap(TracedFrame {
        time: u64::try_from(time).unwrap_or(u64::MAX),
        direction,
        frame: cut_str(&redacted, MAX_FRAME_BYTES).to_owned(),
        truncated,
    });
}

/// At most `max` bytes of a text, cut at a character.
pub(crate) fn cut_str(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
