//! Patterns: values that describe a part of another value.
//!
//! An object matches when each of its keys matches; an array when it has the same length and each item matches; anything
//! else when it is equal, numbers by their JSON form (`1` is not `1.0`). An object with one key that begins with `$` is a rule:
//! `{"$any": true}`, `{"$absent": true}` (only as the value of a key), `{"$type": "string"}`, `{"$contains": x}` (part of a
//! string, or some item of an array), `{"$exact": x}` (equal, nothing more), `{"$not": pattern}`, `{"$length": n}`.

use serde_json::Value;

/// Explains why `value` does not match; `Ok` when it does.
pub fn matches(pattern: &Value, value: &Value) -> Result<(), String> {
    at("$", pattern, Some(value))
}

fn at(path: &str, pattern: &Value, value: Option<&Value>) -> Result<(), String> {
    if let Some((rule, argument)) = rule(pattern) {
        return apply(path, rule, argument, value);
    }
    let Some(value) = value else { return Err(format!("{path} is absent, expected {pattern}")) };
    match (pattern, value) {
        (Value::Object(wanted), Value::Object(found)) => {
            wanted.iter().try_for_each(|(key, inner)| at(&format!("{path}.{key}"), inner, found.get(key)))
        }
        (Value::Array(wanted), Value::Array(found)) => {
            if wanted.len() != found.len() {
                return Err(format!("{path} has {} items, expected {}", found.len(), wanted.len()));
            }
            let mut pairs = wanted.iter().zip(found).enumerate();
            pairs.try_for_each(|(index, (wanted, found))| at(&format!("{path}.{index}"), wanted, Some(found)))
        }
        _ if pattern == value => Ok(()),
        _ => Err(format!("{path} is {}, expected {pattern}", short(value))),
    }
}

fn rule(pattern: &Value) -> Option<(&str, &Value)> {
    let fields = pattern.as_object().filter(|fields| fields.len() == 1)?;
    fields.iter().next().filter(|(key, _)| key.starts_with('$')).map(|(key, argument)| (key.as_str(), argument))
}

fn apply(path: &str, rule: &str, argument: &Value, value: Option<&Value>) -> Result<(), String> {
    if rule == "$absent" {
        return match value {
            None => Ok(()),
            Some(value) => Err(format!("{path} is {}, expected nothing", short(value))),
        };
    }
    let Some(value) = value else { return Err(format!("{path} is absent, expected {rule} {argument}")) };
    let holds = match rule {
        "$any" => true,
        "$exact" => argument == value,
        "$type" => argument == kind(value),
        "$not" => at(path, argument, Some(value)).is_err(),
        "$length" => {
            let length = match value {
                Value::Array(items) => Some(items.len()),
                Value::Object(fields) => Some(fields.len()),
                Value::String(text) => Some(text.len()),
                _ => None,
            };
            length.is_some_and(|length| argument.as_u64() == u64::try_from(length).ok())
        }
        "$contains" => match value {
            Value::String(text) => argument.as_str().is_some_and(|part| text.contains(part)),
            Value::Array(items) => items.iter().any(|item| at(path, argument, Some(item)).is_ok()),
            _ => false,
        },
        _ => return Err(format!("{path}: there is no rule {rule}")),
    };
    if holds { Ok(()) } else { Err(format!("{path} is {}, expected {rule} {argument}", short(value))) }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value as text for a message, cut to a length that can be read.
pub fn short(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(400) {
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pattern_is_a_part() {
        let value = json!({"a": 1, "b": {"c": ["x", 2], "d": null}, "s": "hello"});
        for pattern in [
            json!({}),
            json!({"a": 1}),
            json!({"b": {"c": ["x", 2]}}),
            json!({"b": {"d": null}}),
            json!({"z": {"$absent": true}}),
            json!({"s": {"$contains": "ell"}, "b": {"c": {"$contains": 2}}}),
            json!({"b": {"c": {"$length": 2}}, "a": {"$type": "number"}}),
            json!({"a": {"$not": 2}, "s": {"$any": true}}),
        ] {
            assert_eq!(matches(&pattern, &value), Ok(()), "{pattern}");
        }
        for (pattern, place) in [
            (json!({"a": 2}), "$.a"),
            (json!({"a": 1.0}), "$.a"),
            (json!({"a": "1"}), "$.a"),
            (json!({"b": {"c": ["x"]}}), "$.b.c"),
            (json!({"b": {"$exact": {}}}), "$.b"),
            (json!({"z": null}), "$.z"),
            (json!({"a": {"$absent": true}}), "$.a"),
            (json!({"a": {"$nonsense": true}}), "$.a"),
        ] {
            let reason = matches(&pattern, &value).unwrap_err();
            assert!(reason.starts_with(place), "{pattern}: {reason}");
        }
    }
}
