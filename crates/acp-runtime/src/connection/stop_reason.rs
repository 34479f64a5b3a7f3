//! How a turn's result says that it ended.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::{prompt_error, sent};
use crate::error::{ErrorCode, Result};
use crate::session::Turn;
use crate::text::bound::DEFAULT_IDENTIFIER_MAX;
use crate::text::sanitize::sanitized;

/// Ends a turn by its result.
pub(super) fn finish_turn(turn: Turn, result: Box<RawValue>) {
    match stop_reason_of(&result) {
        Ok(stop_reason) => turn.finish(stop_reason, Some(result), false),
        Err(error) => turn.fail(sent(error)),
    }
}

/// A result that does not say how the turn ended must not pass for a clean end of it.
pub(super) fn checked_result(result: Box<RawValue>) -> Result<Box<RawValue>> {
    stop_reason_of(&result).map(|_| result)
}

/// The stop reason of a result of `session/prompt`. Absent in an object it is none, which Fusion's contract takes for a
/// clean stop; anything but one string that says something is no answer to the call.
fn stop_reason_of(result: &RawValue) -> Result<Option<String>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct PromptResult {
        // A derived reader refuses a second member of the name.
        #[serde(default, deserialize_with = "present")]
        stop_reason: Option<String>,
    }
    // `null` is present, too.
    fn present<'de, D: serde::Deserializer<'de>>(value: D) -> std::result::Result<Option<String>, D::Error> {
        String::deserialize(value).map(Some)
    }
    let malformed = |why: &str| {
        let message = format!("the agent's response to session/prompt is malformed: {why}");
        prompt_error(ErrorCode::MalformedResponse, &message)
    };
    // The derived reader takes an array for a struct, too.
    if !result.get().trim_start().starts_with('{') {
        return Err(malformed("it is not an object"));
    }
    let Ok(PromptResult { stop_reason }) = serde_json::from_str(result.get()) else {
        return Err(malformed("its stopReason is not one string"));
    };
    let reason = stop_reason.map(|reason| sanitized(&reason, DEFAULT_IDENTIFIER_MAX).into_owned());
    // Hosts read an empty one as none.
    if reason.as_deref() == Some("") { Err(malformed("its stopReason is empty")) } else { Ok(reason) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::error::Phase;

    fn read(json: &str) -> Result<Option<String>> {
        stop_reason_of(&RawValue::from_string(json.to_owned()).unwrap())
    }

    #[test]
    fn one_string_or_none_at_all_is_how_a_turn_ended() {
        assert_eq!(read(r#"{"stopReason":"end_turn","usage":5}"#).unwrap().as_deref(), Some("end_turn"));
        assert_eq!(read(r#" {"stop\u0052eason":"x","_meta":1,"_meta":2}"#).unwrap().as_deref(), Some("x"));
        assert_eq!(read("{}").unwrap(), None);
        for malformed in [
            "null",
            "[]",
            "[\"end_turn\"]",
            "\"end_turn\"",
            r#"{"stopReason":null}"#,
            r#"{"stopReason":""}"#,
            r#"{"stopReason":"\u0007"}"#,
            r#"{"stopReason":"end_turn","stopReason":"max_tokens"}"#,
            r#"{"stopReason":"max_tokens","stop\u0052eason":"end_turn"}"#,
            r#"{"stopReason":null,"stopReason":"end_turn"}"#,
        ] {
            let error = read(malformed).unwrap_err();
            let details = error.details();
            assert_eq!(
                (details.code, details.phase),
                (ErrorCode::MalformedResponse, Some(Phase::Prompt)),
                "{malformed}"
            );
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            "[a-z_]{0,3}".prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Into::into),
                prop::collection::btree_map("[a-z]{0,4}|stopReason", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn nothing_but_a_string_is_a_stop_reason(value in json()) {
            let result = json!({ "stopReason": value });
            match value.as_str().filter(|reason| !reason.is_empty()) {
                Some(reason) => prop_assert_eq!(read(&result.to_string()).unwrap(), Some(reason.to_owned())),
                None => prop_assert!(read(&result.to_string()).is_err()),
            }
        }

        #[test]
        fn a_result_is_an_object(value in json()) {
            let reason = match value.as_object() {
                Some(members) => match members.get("stopReason") {
                    None => Some(None),
                    Some(Value::String(reason)) if !reason.is_empty() => Some(Some(reason.clone())),
                    Some(_) => None,
                },
                None => None,
            };
            prop_assert_eq!(read(&value.to_string()).ok(), reason);
        }
    }
}
