//! Takes terminal control out of the strings of a JSON document.
//!
//! The document is walked as text: how deep it is makes no difference, numbers stay as they were written, and what holds
//! nothing to remove is not copied.

use std::borrow::Cow;

use super::jsonstr::{decoded, string_end};
use super::sanitize::sanitized;

/// `json`, a valid document, with every string in it sanitised and bounded: names of members to `max_name` UTF-16 code units,
/// values to `max_value`. Borrows when nothing changes. Linear in the length.
pub fn clean_json(json: &str, max_name: usize, max_value: usize) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    // What is before it was written; what is before `at` was looked at.
    let (mut written, mut at) = (0, 0);
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]) {
        let start = at + quote;
        at = string_end(bytes, start);
        let raw = &json[start..at];
        let max = if is_name(&bytes[at..]) { max_name } else { max_value };
        if let Some(cleaned) = cleaned(raw, max) {
            out.push_str(&json[written..start]);
            out.push_str(&cleaned);
            written = at;
        }
    }
    if written == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[written..]);
    Cow::Owned(out)
}

/// What a string, quotes included, is to be replaced by.
fn cleaned(raw: &str, max: usize) -> Option<String> {
    let plain = !has_control_escape(raw.as_bytes());
    if plain && raw.len() <= max && matches!(sanitized(raw, usize::MAX), Cow::Borrowed(_)) {
        return None;
    }
    let text = decoded(raw);
    match sanitized(&text, max) {
        Cow::Borrowed(_) => None,
        Cow::Owned(clean) => Some(serde_json::to_string(&clean).unwrap_or_else(|_| "\"\"".to_owned())),
    }
}

/// Whether a string has an escape that may stand for a control character.
fn has_control_escape(raw: &[u8]) -> bool {
    let mut at = 0;
    while let Some(backslash) = memchr::memchr(b'\\', &raw[at..]) {
        if matches!(raw.get(at + backslash + 1), Some(b'u' | b'b' | b'f' | b'r')) {
            return true;
        }
        at = (at + backslash + 2).min(raw.len());
    }
    false
}

/// Whether the string before `rest` is the name of a member.
fn is_name(rest: &[u8]) -> bool {
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    #[test]
    fn strings_are_cleaned_and_all_else_stays_as_it_was_written() {
        for same in [
            r#"{"a": [1.0, 1e400, -0, null, true], "b\n\t\"\\\/": "é\u00e9 \\u001b \\\\r"}"#,
            r#""""#,
            "12",
            r#"{"a":1,"a":2}"#,
        ] {
            assert!(matches!(clean_json(same, 100, 100), Cow::Borrowed(text) if text == same), "{same}");
        }
        for (dirty, clean) in [
            (r#"["\u001b[2Ja\rb", 1.0]"#, r#"["ab", 1.0]"#),
            (r#"{"\b\u0007k" : "v" , "x":"\u009b31mred"}"#, r#"{"k" : "v" , "x":"red"}"#),
            ("[\"a\u{7f}b\u{9b}1mc\"]", r#"["abc"]"#),
            (r#"["\ud800\u001b[31mx", "\udc00"]"#, r#"["�x", "\udc00"]"#),
            (r#""\u0000\"quoted\"""#, r#""\"quoted\"""#),
        ] {
            assert_eq!(clean_json(dirty, 100, 100), clean, "{dirty}");
        }
    }

    #[test]
    fn names_and_values_have_bounds_of_their_own() {
        let (name, value) = ("n".repeat(60), "v".repeat(60));
        let json = format!(r#"{{"{name}" : "{value}"}}"#);
        let read = |max_name, max_value| -> Map<String, Value> {
            serde_json::from_str(&clean_json(&json, max_name, max_value)).unwrap()
        };
        let (kept, shown) = read(40, 60).into_iter().next().unwrap();
        assert!(kept.chars().count() <= 40 && kept.starts_with("nn") && shown == value.as_str(), "{kept}");
        let (kept, shown) = read(60, 40).into_iter().next().unwrap();
        assert!(kept == name && shown.as_str().unwrap().chars().count() <= 40, "{shown}");
    }

    #[test]
    fn depth_makes_no_difference() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(clean_json(&deep(r#""\u001b[1mx""#), 9, 9), deep(r#""x""#));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let text = || proptest::string::string_regex("[\\x00-\\x1f\\x7f-\\u{9f}\\[\\]a-c\"\\\\;é🚀]{0,8}").unwrap();
        let leaf = prop_oneof![text().prop_map(Value::String), any::<i32>().prop_map(Value::from), Just(Value::Null)];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::vec((text(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn by_value(value: &Value, max_name: usize, max_value: usize) -> Value {
        match value {
            Value::String(text) => sanitized(text, max_value).into(),
            Value::Array(items) => items.iter().map(|item| by_value(item, max_name, max_value)).collect(),
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(k, v)| (sanitized(k, max_name).into_owned(), by_value(v, max_name, max_value)))
                    .collect(),
            ),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn it_reads_as_if_each_string_had_been_cleaned(value in any_json(), max_name in 16usize..20, max_value in 16usize..20) {
            for json in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let shown: Value = serde_json::from_str(&clean_json(&json, max_name, max_value)).unwrap();
                prop_assert_eq!(&shown, &by_value(&value, max_name, max_value));
            }
        }
    }
}
