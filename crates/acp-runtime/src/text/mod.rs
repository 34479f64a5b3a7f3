//! Text from the agent: sanitising, bounding, redaction, recovery of JSON from prose.

pub mod bound;
pub mod clean_json;
pub mod json;
pub mod jsonstr;
mod known;
pub mod notice;
pub mod redact;
pub mod redact_json;
pub mod sanitize;
pub mod utf16;
