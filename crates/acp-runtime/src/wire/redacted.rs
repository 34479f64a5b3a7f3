//! Redaction of JSON that somebody else wrote: an escape (`\u0073`, `\/`) must not hide a secret.

use serde_json::Value;

/// `json` with secrets masked, in its strings as they read and in its text. May no longer be JSON afterwards.
pub(crate) fn redact_json_text(json: &str, redact: &dyn Fn(&str) -> String) -> String {
    if !json.contains('\\') {
        return redact(json);
    }
    if let Ok(mut value) = serde_json::from_str::<Value>(json)
        && mask(&mut value, redact)
    {
        return redact(&value.to_string());
    }
    redact(json)
}

/// Masks every string of a value. Returns whether something was masked.
fn mask(value: &mut Value, redact: &dyn Fn(&str) -> String) -> bool {
    match value {
        Value::String(text) => {
            let masked = redact(text);
            let changed = masked != *text;
            *text = masked;
            changed
        }
        Value::Array(items) => items.iter_mut().map(|item| mask(item, redact)).fold(false, std::ops::BitOr::bitor),
        Value::Object(members) => {
            let mut changed =
                members.values_mut().map(|member| mask(member, redact)).fold(false, std::ops::BitOr::bitor);
            if members.keys().any(|key| redact(key) != *key) {
                *members = std::mem::take(members).into_iter().map(|(key, member)| (redact(&key), member)).collect();
                changed = true;
            }
            changed
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_hides_no_secret_and_what_has_none_stays_as_it_was_written() {
        let redact = |text: &str| text.replace("a/b\"c", "[REDACTED]").replace("zz", "[REDACTED]");
        for hidden in [r#"{"k":["a\/b\"c"]}"#, r#"{"\u0061/b\"c":1}"#, r#"{"k":"\u007az"}"#] {
            let masked = redact_json_text(hidden, &redact);
            assert!(masked.contains("[REDACTED]"), "{masked}");
            serde_json::from_str::<Value>(&masked).unwrap();
        }
        let plain = r#"{ "n": 12345678901234567890123, "t":"a\nb" }"#;
        assert_eq!(redact_json_text(plain, &redact), plain);
        assert_eq!(redact_json_text("zz \\ no json", &redact), "[REDACTED] \\ no json");
    }
}
