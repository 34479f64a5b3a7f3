//! Tolerant decoding of `session/request_permission`.
//!
//! Only what a safe answer needs is required: the session and the tool call's id. A malformed option is left out and
//! counted, an option of unknown kind stays visible. Nothing that fails to decode can become an approval.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::options::{OptionKind, PermissionOption};
use super::tool_calls::{ToolCallPatch, string_of};
use crate::services::clean::clean;
use crate::services::decode;

/// Options beyond this number are left out and counted.
pub const MAX_OPTIONS: usize = 100;
/// Longest option id shown to the host, in UTF-16 code units.
pub const MAX_OPTION_ID: usize = 256;
/// Longest option id accepted from the agent, in bytes: it has to be kept to be sent back.
pub const MAX_WIRE_OPTION_ID_BYTES: usize = 4096;
/// Longest option name shown, in UTF-16 code units.
pub const MAX_OPTION_NAME: usize = 1024;
/// Longest unknown kind shown, in UTF-16 code units.
pub const MAX_KIND: usize = 64;

/// Why a permission request cannot be answered with an outcome; the answer is the JSON-RPC error −32602.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The params are not an object that can be read.
    #[error("params are not a readable object")]
    NotAnObject,
    /// `sessionId` is missing or not a string.
    #[error("sessionId is missing or not a string")]
    SessionId,
    /// `toolCall.toolCallId` is missing, empty, too long or not a string.
    #[error("toolCall.toolCallId is missing or not acceptable")]
    ToolCallId,
}

/// A decoded permission request.
#[derive(Debug)]
pub struct PermissionRequest<'a> {
    /// The session, exactly as the agent named it.
    pub session_id: String,
    /// What the request says about the tool call; merge it into the session's tracker for the whole picture.
    pub tool_call: ToolCallPatch<'a>,
    /// The readable options, in the agent's order.
    pub options: Vec<PermissionOption>,
    /// How many options were left out.
    pub skipped_options: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow, default)]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    options: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawOption<'a> {
    #[serde(borrow, default)]
    option_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    kind: Option<&'a RawValue>,
}

impl<'a> PermissionRequest<'a> {
    /// Decodes the params of the request.
    pub fn decode(params: &'a str) -> Result<Self, DecodeError> {
        let params: Params<'a> = decode::object(params).ok_or(DecodeError::NotAnObject)?;
        let session_id = string_of(params.session_id).ok_or(DecodeError::SessionId)?;
        let tool_call = params.tool_call.map(RawValue::get).and_then(ToolCallPatch::decode);
        let (options, skipped_options) = decode_options(params.options);
        Ok(Self { session_id, tool_call: tool_call.ok_or(DecodeError::ToolCallId)?, options, skipped_options })
    }
}

fn decode_options(raw: Option<&RawValue>) -> (Vec<PermissionOption>, usize) {
    let Some(raw) = raw else { return (Vec::new(), 0) };
    let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { return (Vec::new(), 1) };
    let options: Vec<_> = entries.iter().take(MAX_OPTIONS).filter_map(|entry| decode_option(entry)).collect();
    let skipped = entries.len() - options.len();
    (options, skipped)
}

fn decode_option(raw: &RawValue) -> Option<PermissionOption> {
    let option: RawOption<'_> = decode::object(raw.get())?;
    let wire_id = string_of(option.option_id).filter(|id| id.len() <= MAX_WIRE_OPTION_ID_BYTES)?;
    let option_id = clean(&wire_id, MAX_OPTION_ID);
    // An id of nothing but control characters could not be told from an absent one.
    if option_id.is_empty() {
        return None;
    }
    let kind = string_of(option.kind)?;
    let kind = OptionKind::from_name(&kind).unwrap_or_else(|| OptionKind::Other(clean(&kind, MAX_KIND)));
    // A missing name is shown as the id: the option can still be chosen.
    let name = string_of(option.name).map_or_else(|| option_id.clone(), |name| clean(&name, MAX_OPTION_NAME));
    Some(PermissionOption { option_id, wire_id, name, kind })
}
