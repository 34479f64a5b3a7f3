use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::text::redact::{Redactor, redact_secrets};

#[test]
fn a_secret_of_any_shape_is_masked_in_place() {
    let cases = [
        (r#"{"token":[1,2]}"#, r#"{"token":["[REDACTED]","[REDACTED]"]}"#),
        (
            r#"{"token":{"a":"x","b":[true,null,-1.5e3]}}"#,
            r#"{"token":{"a":"[REDACTED]","b":[true,null,"[REDACTED]"]}}"#,
        ),
        // The secret may be any part of it, so a harmless part is masked, too.
        (r#"{"api_key":{"value":"plain words"}}"#, r#"{"api_key":{"value":"[REDACTED]"}}"#),
        (
            r#"{"token":{"kind":"x","parts":[{"text":"y"}]}}"#,
            r#"{"token":{"kind":"[REDACTED]","parts":[{"text":"[REDACTED]"}]}}"#,
        ),
        (r#"{"_meta":{"api-key":{"provider":"google"}}}"#, r#"{"_meta":{"api-key":{"provider":"[REDACTED]"}}}"#),
        (r#"{ "api_key" : 12 , "n":1}"#, r#"{ "api_key" : "[REDACTED]" , "n":1}"#),
        (r#"{"password":"a\"b","next":"c"}"#, r#"{"password":"[REDACTED]","next":"c"}"#),
        (r#"{"authorization":"Token abc.def"}"#, r#"{"authorization":"Token [REDACTED]"}"#),
        (r#"{"Set-Cookie":"a=b"}"#, r#"{"Set-Cookie":"[REDACTED]"}"#),
        (
            r#"[{"name":"API_KEY","value":"abc"},{"name":"HOME","value":"/h"}]"#,
            r#"[{"name":"API_KEY","value":"[REDACTED]"},{"name":"HOME","value":"/h"}]"#,
        ),
        (r#"{"\u0074oken":"abc"}"#, r#"{"\u0074oken":"[REDACTED]"}"#),
        (r#"{"rawInput":"{\"token\":[1]}"}"#, r#"{"rawInput":"{\"token\":[\"[REDACTED]\"]}"}"#),
        (r#"{"a":"\ud83d token=abcdef"}"#, r#"{"a":"� token=[REDACTED]"}"#),
        (
            r#"{"n":12345678901234567890123,"n":1,"t":"a\u00e9"}"#,
            r#"{"n":12345678901234567890123,"n":1,"t":"a\u00e9"}"#,
        ),
        (r#"{"used":5,"totalTokens":7,"key":null}"#, r#"{"used":5,"totalTokens":7,"key":null}"#),
        (r#""password=abc""#, r#""password=[REDACTED]""#),
        // A plain value after a secret one, and a plain sibling of a secret array.
        (r#"[{"secret":["a"],"b":"c"},"d"]"#, r#"[{"secret":["[REDACTED]"],"b":"c"},"d"]"#),
    ];
    for (json, expected) in cases {
        assert_eq!(redact_secrets(json), expected, "{json}");
    }
    for text in ["", "12", "{\"token\":[1,2]", "[x]", "no json", "\"a\" b"] {
        assert_eq!(redact_json(text, &|text: &str| text.to_owned()), None, "{text}");
    }
}

#[test]
fn a_secret_that_is_json_itself_is_known_by_its_parts() {
    let redactor = Redactor::new([r#"{"type":"sa","material":"very-private-words"}"#]);
    let json = r#"{"got":{ "material": "very-private-words", "type": "sa" }}"#;
    assert_eq!(redactor.redact(json), r#"{"got":{ "material": "[REDACTED]", "type": "sa" }}"#);
}

/// A document's shape: its punctuation, its literals, and that there is a value.
fn shape(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut shape = String::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            b'-' | b'0'..=b'9' => at = number_end(bytes, at),
            other => {
                shape.push(char::from(other));
                at += 1;
                continue;
            }
        }
        shape.push('v');
    }
    shape
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "(api_|my )?(key|token|password|cookie|Authorization|name|value|secret)",
        "(token|key|Bearer|authorization)[=: \"'\\[{]{1,3}[a-z0-9\\[{\"]{0,12}",
        "\\PC{0,12}",
        "[0-9a-f]{30,40}",
        "sk-[a-z0-9]{8,20}",
        Just("known/\"value".to_owned()),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((text(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_document_stays_a_document_of_the_same_shape(document in document(), pretty in any::<bool>()) {
        let json = if pretty { serde_json::to_string_pretty(&document) } else { serde_json::to_string(&document) }.unwrap();
        let redactor = Redactor::new(["known/\"value", "4242"]);
        for shown in [redact_secrets(&json).into_owned(), redactor.redact(&json).into_owned()] {
            if matches!(document, Value::Array(_) | Value::Object(_)) {
                prop_assert!(serde_json::from_str::<Value>(&shown).is_ok(), "{shown}");
                prop_assert_eq!(shape(&shown), shape(&json));
                let once = redactor.redact(&shown).into_owned();
                prop_assert_eq!(redactor.redact(&once), once.as_str());
            }
        }
        prop_assert!(!redactor.redact(&json).contains("known/\\\"value"));
    }
}

#[test]
fn identifiers_of_the_protocol_stay_unless_they_are_a_known_secret() {
    let id = "0123456789abcdef0123456789ABCDEF";
    let frame = format!(r#"{{"sessionId":"{id}","toolCall":{{"toolCallId":"{id}","title":"{id}"}}}}"#);
    let shown = format!(r#"{{"sessionId":"{id}","toolCall":{{"toolCallId":"{id}","title":"[REDACTED]"}}}}"#);
    assert_eq!(redact_secrets(&frame), shown);
    let known = |text: &str| redact_secrets(&text.replace(id, REDACTED)).into_owned();
    assert!(!redact_json(&frame, &known).unwrap().contains(id));
    for other in [format!("sk-{id}"), format!("{id}:{id}"), format!("Bearer {id}")] {
        assert!(!redact_secrets(&format!(r#"{{"sessionId":"{other}"}}"#)).contains(&other), "{other}");
    }
}
