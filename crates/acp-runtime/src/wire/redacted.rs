//! Redaction of JSON that somebody else wrote: an escape (`\u0073`, `\/`) must not hide a secret, and JSON stays JSON.

use crate::text::redact_json::redact_json;

/// `json` with secrets masked, in its strings as they read. Valid JSON stays valid; anything else is masked as text.
pub(crate) fn redact_json_text(json: &str, redact: &dyn Fn(&str) -> String) -> String {
    redact_json(json, redact).unwrap_or_else(|| redact(json))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

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
