//! The one place where the services clean text that came from the agent.

use crate::text::sanitize::sanitized;

/// Removes terminal control and bounds the text to `max` UTF-16 code units.
pub(super) fn clean(text: &str, max: usize) -> String {
    sanitized(text, max).into_owned()
}
