//! Reading the error object of a response.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Text;
use super::encode::code;
use crate::error::{Error, ErrorCode, RpcError};
use crate::text::bound::{TRUNCATION_MARKER, TRUNCATION_MARKER_UTF16, bound_string};
use crate::text::sanitize::strip_control_sequences;
use crate::text::utf16::{utf16_len, utf16_prefix};

/// The longest message kept, in UTF-16 code units.
const MAX_MESSAGE_UNITS: usize = 4096;
/// The longest rendering of `data` in a message, in UTF-16 code units.
const MAX_DATA_UNITS: usize = 500;
/// The longest `data` kept as JSON, in bytes.
const MAX_DATA_BYTES: usize = 64 * 1024;
/// What is looked at beyond the shown part of a text, in UTF-16 code units, so that a secret which begins in it is found
/// whole: twice the longest variable that Linux hands to a process.
const MARGIN_UNITS: usize = 256 * 1024;

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    code: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// The failure that a response's error object means. `auth_methods`: what the agent advertised, if it did yet.
pub fn read(raw: &RawValue, method: &str, auth_methods: Option<&Value>, redact: &dyn Fn(&str) -> String) -> Error {
    let malformed = || {
        Error::new(ErrorCode::MalformedResponse, format!("the agent's error response to {method} has no numeric code"))
    };
    let Ok(wire) = serde_json::from_str::<Wire<'_>>(raw.get()) else { return malformed() };
    let Some(rpc_code) = wire.code.and_then(|c| c.get().parse::<i64>().ok()) else { return malformed() };
    let clean = |text: &str, max| clean(text, max, redact);
    let message = wire.message.and_then(|m| serde_json::from_str::<String>(m.get()).ok()).unwrap_or_default();
    let message = clean(if message.is_empty() { "the agent gave no message" } else { &message }, MAX_MESSAGE_UNITS);
    let data = wire.data.filter(|d| d.get() != "null");
    // Redaction keeps JSON valid; were it not, the text would be kept as a string.
    let kept = data.filter(|d| d.get().len() <= MAX_DATA_BYTES).and_then(|d| {
        let redacted = super::redacted::redact_json_text(d.get(), redact);
        RawValue::from_string(redacted.clone()).or_else(|_| super::encode::raw(&redacted).map_err(|_| ())).ok()
    });

    let auth = rpc_code == code::AUTH_REQUIRED && wants_auth(&message, data, auth_methods);
    let error_code = if auth { ErrorCode::AuthRequired } else { ErrorCode::AgentError };
    let retryable = matches!(rpc_code, code::INTERNAL_ERROR | -32001 | -32003);
    let mut text = format!("{message} (acp rpc code {rpc_code}{})", if retryable { ", retryable" } else { "" });
    if let Some(shown) = data.and_then(shown_data) {
        text = format!("{text} [data: {}]", clean(&shown, MAX_DATA_UNITS));
    }
    let mut error = Error::new(error_code, text);
    if auth && let Some(methods) = auth_methods {
        error = error.with_extra(serde_json::json!({ "authMethods": methods }));
    }
    let details = error.details_mut();
    details.retryable = retryable;
    details.rpc = Some(RpcError { code: rpc_code, message, data: kept });
    error
}

/// The start of a text, clean and redacted, in at most `max` UTF-16 code units. The agent decides how long it is; redaction is
/// more work than a cut.
fn clean(text: &str, max: usize, redact: &dyn Fn(&str) -> String) -> String {
    let text = strip_control_sequences(text);
    let (start, _) = utf16_prefix(&text, max + MARGIN_UNITS);
    let shown = redact(&text[..start]);
    if start == text.len() {
        return bound_string(&shown, max).into_owned();
    }
    // The cut may have left the start of a secret, as long as the margin at most. Masks bring it forward.
    let safe = utf16_len(&shown).saturating_sub(MARGIN_UNITS);
    let (keep, _) = utf16_prefix(&shown, safe.min(max - TRUNCATION_MARKER_UTF16));
    [&shown[..keep], TRUNCATION_MARKER].concat()
}

/// −32000 is what ACP says for "authenticate first", and what many servers say for anything of their own (field case
/// W16): it counts where the agent advertised methods or the words say so.
fn wants_auth(message: &str, data: Option<&RawValue>, auth_methods: Option<&Value>) -> bool {
    if auth_methods.and_then(Value::as_array).is_some_and(|methods| !methods.is_empty()) {
        return true;
    }
    let words = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["auth", "log in", "login", "logged in", "sign in", "credential"].iter().any(|word| text.contains(word))
    };
    words(message) || data.is_some_and(|d| d.get().len() <= MAX_DATA_BYTES && words(d.get()))
}

/// How `data` is shown: a string as it is, an empty object not at all, and of what is too large or too deep its size. (The
/// start of a document that is not read to its end may hide a secret in escapes.)
fn shown_data(data: &RawValue) -> Option<Cow<'_, str>> {
    let json = data.get();
    if let Ok(Text(text)) = serde_json::from_str(json) {
        return Some(text);
    }
    let read = (json.len() <= MAX_DATA_BYTES).then(|| serde_json::from_str::<Value>(json).ok()).flatten();
    match read {
        Some(Value::Object(members)) if members.is_empty() => None,
        Some(value) => Some(Cow::Owned(value.to_string())),
        None => Some(Cow::Owned(format!("{} bytes", json.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::redact::Redactor;
    use serde_json::json;

    fn error(json: Value, methods: Option<Value>) -> Error {
        read(&super::super::encode::raw(&json).unwrap(), "session/prompt", methods.as_ref(), &|t| {
            t.replace("sk-1", "[REDACTED]")
        })
    }

    #[test]
    fn code_message_and_data_are_kept_and_shown() {
        let e = error(
            json!({"code": -32603, "message": "Internal error", "data": {"details": "model sk-1 not found"}}),
            None,
        );
        assert_eq!(
            e.to_string(),
            r#"Internal error (acp rpc code -32603, retryable) [data: {"details":"model [REDACTED] not found"}]"#
        );
        let details = e.details();
        assert!(details.retryable && details.code == ErrorCode::AgentError);
        assert_eq!(
            details.rpc.as_ref().unwrap().data.as_ref().unwrap().get(),
            r#"{"details":"model [REDACTED] not found"}"#
        );
        for nothing in [json!({}), json!(null)] {
            let e = error(json!({"code": -1, "message": "m", "data": nothing}), None);
            assert_eq!(e.to_string(), "m (acp rpc code -1)");
        }
        assert_eq!(
            error(json!({"code": 5, "message": "m", "data": "why"}), None).to_string(),
            "m (acp rpc code 5) [data: why]"
        );
        assert_eq!(
            error(json!({"code": 5, "message": "m", "data": [1]}), None).to_string(),
            "m (acp rpc code 5) [data: [1]]"
        );
    }

    #[test]
    fn of_data_too_large_or_too_deep_to_be_read_the_size_is_told() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        let large = json!({ "log": "x".repeat(MAX_DATA_BYTES), "key": "sk-1" }).to_string();
        for data in [deep, large] {
            let wire = format!(r#"{{"code":5,"message":"m","data":{data}}}"#);
            let e = read(&RawValue::from_string(wire).unwrap(), "session/prompt", None, &str::to_owned);
            assert_eq!(e.to_string(), format!("m (acp rpc code 5) [data: {} bytes]", data.len()));
        }
        let long = error(json!({"code": 5, "message": "m", "data": "w".repeat(2 * MAX_DATA_BYTES)}), None).to_string();
        assert!(long.contains("[data: wwww") && long.len() < 600, "{long}");
    }

    #[test]
    fn auth_required_is_told_from_another_use_of_its_code() {
        let methods = json!([{ "id": "login" }]);
        let advertised = error(json!({"code": -32000, "message": "no"}), Some(methods.clone()));
        assert_eq!(advertised.code(), ErrorCode::AuthRequired);
        assert_eq!(advertised.details().extra, Some(json!({ "authMethods": methods })));
        assert!(!advertised.details().retryable);
        assert_eq!(
            error(json!({"code": -32000, "message": "Authentication required"}), None).code(),
            ErrorCode::AuthRequired
        );
        assert_eq!(
            error(json!({"code": -32000, "message": "Session busy"}), Some(json!([]))).code(),
            ErrorCode::AgentError
        );
        assert_eq!(error(json!({"code": -32001, "message": "log in"}), None).code(), ErrorCode::AgentError);
    }

    #[test]
    fn a_cut_shows_no_part_of_a_secret_and_says_that_it_cut() {
        let secret = "s3cret-".repeat(18_000);
        let redactor = Redactor::new([secret.as_str()]);
        let redact = |text: &str| redactor.redact(text).into_owned();
        for text in
            [secret.repeat(3), format!("why: {} {}", "token=abc ".repeat(26_000), secret), "long ".repeat(100_000)]
        {
            for raw in [json!({ "code": 1, "message": text }), json!({ "code": 1, "message": "m", "data": text })] {
                let raw = super::super::encode::raw(&raw).unwrap();
                let shown = read(&raw, "x", None, &redact).to_string();
                assert!(shown.contains(TRUNCATION_MARKER), "{shown}");
                assert!(!shown.contains("s3cret-"), "{shown}");
            }
        }
    }

    #[test]
    fn an_error_without_a_code_is_malformed() {
        for broken in [json!({}), json!({"code": "x"}), json!({"code": 1.5}), json!({"message": "m"})] {
            assert_eq!(error(broken, None).code(), ErrorCode::MalformedResponse);
        }
    }
}
