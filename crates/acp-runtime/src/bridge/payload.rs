//! Arguments and results of tool calls: the agent's own JSON, within a limit.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::PER_CHUNK_CAP_CHARS;
use crate::text::sanitize::sanitized;

/// Largest JSON of arguments or of a result that is passed on, in bytes.
pub const TOOL_PAYLOAD_MAX_BYTES: usize = 256 * 1024;

/// JSON of the agent, or what stands for it.
pub(super) enum Payload<'a> {
    Given(&'a RawValue),
    Cut(Box<RawValue>),
}

impl Deref for Payload<'_> {
    type Target = RawValue;

    fn deref(&self) -> &RawValue {
        match self {
            Self::Given(raw) => raw,
            Self::Cut(raw) => raw,
        }
    }
}

/// Stands for arguments that are too large: still an object.
#[derive(Serialize)]
struct CutArgs<'a> {
    truncated: Cow<'a, str>,
}

/// Whether this is the JSON of an object.
pub fn is_plain_object(raw: &RawValue) -> bool {
    raw.get().trim_start().starts_with('{')
}

/// The arguments of a call: a JSON object; `None` stands for `{}`, which is also what anything but an object becomes.
/// An object beyond the limit becomes `{"truncated": "…"}`.
pub(super) fn bounded_args(raw: Option<&RawValue>) -> Option<Payload<'_>> {
    let raw = raw.filter(|raw| is_plain_object(raw))?;
    if raw.get().len() <= TOOL_PAYLOAD_MAX_BYTES {
        return Some(Payload::Given(raw));
    }
    let truncated = cut("arguments", raw);
    to_raw_value(&CutArgs { truncated: truncated.into() }).ok().map(Payload::Cut)
}

/// The result of a call: any JSON. Beyond the limit it becomes a JSON string that says so and shows the beginning.
pub(super) fn bounded_result(raw: &RawValue) -> Payload<'_> {
    if raw.get().len() <= TOOL_PAYLOAD_MAX_BYTES {
        return Payload::Given(raw);
    }
    message(&cut("result", raw)).map_or(Payload::Given(RawValue::NULL), Payload::Cut)
}

/// A text as JSON.
pub(super) fn message(text: &str) -> Option<Box<RawValue>> {
    to_raw_value(text).ok()
}

fn cut(what: &str, raw: &RawValue) -> String {
    let json = raw.get();
    format!("[{what} of {} bytes cut]\n{}", json.len(), sanitized(json, PER_CHUNK_CAP_CHARS))
}
