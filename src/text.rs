//! Text: sanitising, bounding, redaction, JSON in prose, and notices to sign in.

use acp_runtime::text::{bound, json, redact, sanitize};
use acp_runtime::{ask, bridge};
use napi_derive::napi;

/// The text without control sequences.
#[napi(catch_unwind)]
#[must_use]
pub fn strip_control_sequences(text: String) -> String {
    sanitize::strip_control_sequences(&text).into_owned()
}

/// The text within `max` UTF-16 code units, the marker of a cut included.
#[napi(catch_unwind)]
#[must_use]
pub fn bound_string(text: String, max: u32) -> String {
    bound::bound_string(&text, max as usize).into_owned()
}

/// An agent's identifier, safe to show, to compare and to use in a name, within `max` UTF-16 code units.
#[napi(catch_unwind)]
#[must_use]
pub fn bound_identifier(id: String, max: u32) -> String {
    bound::bound_identifier(&id, max as usize)
}

/// The text with what looks like a secret replaced.
#[napi(catch_unwind)]
#[must_use]
pub fn redact_secrets(text: String) -> String {
    redact::redact_secrets(&text).into_owned()
}

/// The name under which a tool call is shown.
#[napi(catch_unwind)]
#[must_use]
pub fn tool_display_name(title: Option<String>, kind: Option<String>) -> String {
    bridge::tool_display_name(title.as_deref(), kind.as_deref())
}

/// The JSON texts found in prose, in their order.
#[napi(catch_unwind)]
#[must_use]
pub fn extract_json_texts(text: String) -> Vec<String> {
    json::extract_json_objects(&text).into_iter().map(str::to_owned).collect()
}

/// What to tell of a reply that is nothing but a notice to sign in. `null`: it is another reply.
#[napi(catch_unwind)]
#[must_use]
pub fn sign_in_notice(reply: String, auth_methods: Vec<String>) -> Option<String> {
    ask::sign_in_notice(&reply, &auth_methods)
}
