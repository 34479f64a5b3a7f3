//! Takes terminal control out of the strings of a JSON document.
//!
//! The document is walked as text: how deep it is makes no difference, numbers stay as they were written, and what holds
//! nothing to remove is not copied.

use std::borrow::Cow;

use super::jsonstr::{decoded, inner, string_end};
use super::sanitize::sanitized;

/// First UTF-8 byte of the C1 controls, U+0080–U+009F.
const C1_LEAD: u8 = 0xc2;

/// What is cleaned, and how.
#[derive(Clone, Copy, Debug)]
pub struct Cleaning<'a> {
    /// The most that a member's name holds, in UTF-16 code units. `None`: names stay as they are.
    pub names: Option<usize>,
    /// The most that any other string holds, in UTF-16 code units.
    pub values: usize,
    /// Names of members whose values stay as they are, on every level.
    pub data: &'a [&'a str],
}

/// Every string without terminal control, of any length.
pub const EVERY_STRING: Cleaning<'static> = Cleaning { names: Some(usize::MAX), values: usize::MAX, data: &[] };

/// `json`, a valid document, with the strings in it sanitised and bounded. Borrows when nothing changes. Linear in the length.
pub fn clean_json<'j>(json: &'j str, cleaning: &Cleaning<'_>) -> Cow<'j, str> {
    let bytes = json.as_bytes();
    if json.len() <= cleaning.values.min(cleaning.names.unwrap_or(usize::MAX)) && !is_suspect(bytes) {
        return Cow::Borrowed(json);
    }
    let mut out = String::new();
    // What is before it was written; what is before `at` was looked at.
    let (mut written, mut at) = (0, 0);
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]) {
        let start = at + quote;
        at = string_end(bytes, start);
        let raw = &json[start..at];
        let max = match value_of_member(bytes, at) {
            None => Some(cleaning.values),
            Some(value) => {
                if cleaning.data.contains(&inner(raw)) {
                    at = value_end(bytes, value);
                }
                cleaning.names
            }
        };
        if let Some(cleaned) = max.and_then(|max| cleaned(raw, max)) {
            out.push_str(&json[written..start]);
            out.push_str(&cleaned);
            written = start + raw.len();
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
    if raw.len() <= max && !is_suspect(raw.as_bytes()) {
        return None;
    }
    let text = decoded(raw);
    match sanitized(&text, max) {
        Cow::Borrowed(_) => None,
        Cow::Owned(clean) => Some(serde_json::to_string(&clean).unwrap_or_else(|_| "\"\"".to_owned())),
    }
}

/// Whether a part of a document may hold a control character: as an escape, or as itself where JSON allows that.
fn is_suspect(json: &[u8]) -> bool {
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'\\', 0x7f, C1_LEAD, &json[at..]) {
        at += found;
        match json[at..] {
            [b'\\', b'r' | b'b' | b'f', ..]
            | [b'\\', b'u', b'0', b'0', b'0' | b'1' | b'8' | b'9', ..]
            | [b'\\', b'u', b'0', b'0', b'7', b'f' | b'F', ..]
            | [0x7f, ..]
            | [C1_LEAD, 0x80..=0x9f, ..] => return true,
            [b'\\', _, ..] => at += 2,
            _ => at += 1,
        }
    }
    false
}

/// Where the value begins whose name the string before `at` is, if it is one.
fn value_of_member(bytes: &[u8], at: usize) -> Option<usize> {
    let colon = at + bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
    (bytes[colon] == b':').then_some(colon + 1)
}

/// The index after the value that begins at `at`, white space before it included.
fn value_end(bytes: &[u8], mut at: usize) -> usize {
    let mut open = 0_usize;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(bytes, at);
                if open == 0 {
                    return at;
                }
                continue;
            }
            b'{' | b'[' => open += 1,
            b'}' | b']' if open <= 1 => return at + open,
            b'}' | b']' => open -= 1,
            b',' if open == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    use super::*;

    fn bounds(names: usize, values: usize) -> Cleaning<'static> {
        Cleaning { names: Some(names), values, data: &[] }
    }

    #[test]
    fn strings_are_cleaned_and_all_else_stays_as_it_was_written() {
        for same in [
            r#"{"a": [1.0, 1e400, -0, null, true], "b\n\t\"\\\/": "é\u00e9 \\u001b \\\\r"}"#,
            r#""""#,
            "12",
            r#"{"a":1,"a":2}"#,
        ] {
            assert!(matches!(clean_json(same, &EVERY_STRING), Cow::Borrowed(text) if text == same), "{same}");
        }
        for (dirty, clean) in [
            (r#"["\u001b[2Ja\rb", 1.0]"#, r#"["ab", 1.0]"#),
            (r#"{"\b\u0007k" : "v" , "x":"\u009b31mred"}"#, r#"{"k" : "v" , "x":"red"}"#),
            ("[\"a\u{7f}b\u{9b}1mc\"]", r#"["abc"]"#),
            (r#"["\ud800\u001b[31mx", "\udc00"]"#, r#"["�x", "\udc00"]"#),
            (r#""\u0000\"quoted\"""#, r#""\"quoted\"""#),
        ] {
            assert_eq!(clean_json(dirty, &EVERY_STRING), clean, "{dirty}");
        }
    }

    #[test]
    fn every_control_character_goes_however_it_is_written() {
        for code in (0..0x20).chain(0x7f..0xa0) {
            let control = char::from_u32(code).unwrap();
            let written = [
                serde_json::to_string(&control.to_string()).unwrap(),
                format!(r#""\u{code:04x}""#),
                format!(r#""\u{code:04X}""#),
            ];
            for json in written {
                let json = format!(r#"["a",{json}]"#);
                let shown = if matches!(control, '\n' | '\t') { json.clone() } else { r#"["a",""]"#.to_owned() };
                assert_eq!(clean_json(&json, &EVERY_STRING), shown, "{json} of U+{code:04X}");
            }
        }
    }

    #[test]
    fn names_and_values_have_bounds_of_their_own() {
        let (name, value) = ("n".repeat(60), "v".repeat(60));
        let json = format!(r#"{{"{name}" : "{value}"}}"#);
        let read = |max_name, max_value| -> Map<String, Value> {
            serde_json::from_str(&clean_json(&json, &bounds(max_name, max_value))).unwrap()
        };
        let (kept, shown) = read(40, 60).into_iter().next().unwrap();
        assert!(kept.chars().count() <= 40 && kept.starts_with("nn") && shown == value.as_str(), "{kept}");
        let (kept, shown) = read(60, 40).into_iter().next().unwrap();
        assert!(kept == name && shown.as_str().unwrap().chars().count() <= 40, "{shown}");
    }

    #[test]
    fn names_and_data_stay_where_that_is_asked_for() {
        let cleaning = Cleaning { names: None, values: usize::MAX, data: &["raw", "args"] };
        let dirty = |text: &str| text.replace('!', r"\u0007");
        for (json, shown) in [
            (r#"{"raw":"a!","b!":"c!"}"#, r#"{"raw":"a!","b!":"c"}"#),
            (
                r#"{"raw" : {"a":["!","]}",{}],"b":"\"}!"} , "x":"!"}"#,
                r#"{"raw" : {"a":["!","]}",{}],"b":"\"}!"} , "x":""}"#,
            ),
            (
                r#"[{"x":[{"args": [["!"]]}, "!"]}, "raw!", "raw", "!"]"#,
                r#"[{"x":[{"args": [["!"]]}, ""]}, "raw", "raw", ""]"#,
            ),
            (r#"{"raw":-1.5e3,"x":"!"}"#, r#"{"raw":-1.5e3,"x":""}"#),
            (r#"{"x":{"raw":null},"y":"!"}"#, r#"{"x":{"raw":null},"y":""}"#),
            (r#"{"raw":{},"y":"!"}"#, r#"{"raw":{},"y":""}"#),
            (r#"{"y":"!","raw":"!"}"#, r#"{"y":"","raw":"!"}"#),
        ] {
            assert_eq!(clean_json(&dirty(json), &cleaning), dirty(shown), "{json}");
        }
    }

    #[test]
    fn depth_makes_no_difference() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(clean_json(&deep(r#""\u001b[1mx""#), &EVERY_STRING), deep(r#""x""#));
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
                let shown: Value = serde_json::from_str(&clean_json(&json, &bounds(max_name, max_value))).unwrap();
                prop_assert_eq!(&shown, &by_value(&value, max_name, max_value));
            }
        }
    }
}
