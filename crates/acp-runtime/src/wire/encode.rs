//! Outgoing messages: one JSON object per line, appended to the connection's output buffer.
//!
//! `serde_json` writes no raw control characters and no newline inside a value, so one message is always one line (rule
//! C1). Raw JSON from the host is validated before it gets here ([`RawValue`]).

use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::{Error, ErrorCode, Result};

/// JSON-RPC and ACP error codes that this client answers with (schema `ErrorCode`).
pub mod code {
    /// The message is not a valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown or not offered.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The client failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The request was cancelled before it was done.
    pub const REQUEST_CANCELLED: i64 = -32800;
    /// The agent wants authentication.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// The file, session or terminal does not exist.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
}

#[derive(Serialize)]
struct Call<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

/// Appends a request.
pub fn request(out: &mut Vec<u8>, id: u64, method: &str, params: Option<&RawValue>) {
    line(out, &Call { jsonrpc: "2.0", id: Some(id), method, params });
}

/// Appends a notification.
pub fn notification(out: &mut Vec<u8>, method: &str, params: Option<&RawValue>) {
    line(out, &Call { jsonrpc: "2.0", id: None, method, params });
}

/// Appends the answer to a request of the agent, whose id is echoed as it was written.
pub fn response(out: &mut Vec<u8>, id: &str, answer: &Answer) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    match answer {
        Ok(result) => {
            out.extend_from_slice(br#","result":"#);
            out.extend_from_slice(single_line(result.get()).as_bytes());
        }
        Err(error) => {
            out.extend_from_slice(br#","error":"#);
            write(out, error);
        }
    }
    out.extend_from_slice(b"}\n");
}

/// What a request of the agent is answered with.
pub type Answer = std::result::Result<Box<RawValue>, AnswerError>;

/// The error object of an answer (JSON-RPC 2.0 §5.1).
#[derive(Clone, Debug, Serialize)]
pub struct AnswerError {
    /// One of [`code`], or a code of the host's own.
    pub code: i64,
    /// A short sentence; the agent sees it.
    pub message: String,
    /// Machine-readable detail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<serde_json::Value>,
}

impl AnswerError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The method is unknown, or the client did not offer it.
    pub fn method_not_found(method: &str) -> Self {
        Self {
            code: code::METHOD_NOT_FOUND,
            message: "Method not found".to_owned(),
            data: Some(serde_json::json!({ "method": method })),
        }
    }
}

/// A value as raw JSON. Fails only on values that JSON cannot hold.
pub fn raw(value: &impl Serialize) -> Result<Box<RawValue>> {
    serde_json::value::to_raw_value(value)
        .map_err(|e| Error::new(ErrorCode::InternalError, format!("cannot encode a message: {e}")))
}

fn line(out: &mut Vec<u8>, message: &Call<'_>) {
    let start = out.len();
    write(out, message);
    // Raw parameters come from the host, whose JSON may be pretty-printed.
    if message.params.is_some() && memchr::memchr2(b'\n', b'\r', &out[start..]).is_some() {
        for byte in &mut out[start..] {
            if matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    out.push(b'\n');
}

/// Raw JSON on one line: line breaks can only stand between tokens, where a space means the same.
fn single_line(json: &str) -> std::borrow::Cow<'_, str> {
    if json.contains(['\n', '\r']) { json.replace(['\n', '\r'], " ").into() } else { json.into() }
}

fn write(out: &mut Vec<u8>, value: &impl Serialize) {
    // Writing these types to memory cannot fail: every key is a string and no serializer of ours returns an error.
    if let Err(error) = serde_json::to_writer(&mut *out, value) {
        tracing::error!(target: "acp::wire", %error, "a message could not be encoded");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_is_one_line_whatever_the_host_passes() {
        let params = RawValue::from_string("{\n  \"text\": \"a\\nb\u{2028}\"\r\n}".to_owned()).unwrap();
        let mut out = Vec::new();
        request(&mut out, 7, "session/prompt", Some(&params));
        notification(&mut out, "session/cancel", None);
        response(&mut out, "\"7f3a\"", &Ok(params));
        response(&mut out, "1.0", &Err(AnswerError::method_not_found("a\nb")));
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[0]["params"]["text"], "a\nb\u{2028}");
        assert_eq!(lines[1], serde_json::json!({"jsonrpc": "2.0", "method": "session/cancel"}));
        assert_eq!(lines[2]["id"], "7f3a");
        assert!(text.contains(r#""id":1.0,"error":{"code":-32601"#));
    }
}
