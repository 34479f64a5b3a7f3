//! The restricted, flat JSON Schema of a form, and what is wrong with the values given for it.

use regex::Regex;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{format, pattern};
use crate::text::sanitize::strip_control_sequences;
use crate::text::utf16::utf16_len;

/// Most properties of a form.
const MAX_PROPERTIES: usize = 100;
/// The longest name of a property, in UTF-16 code units.
const MAX_NAME_UNITS: usize = 256;

/// One thing that is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The property; empty for the answer as a whole.
    pub property: String,
    /// What is wrong, for people. Never has the value.
    pub message: String,
}

/// A form.
#[derive(Debug)]
pub struct Form {
    fields: Vec<Field>,
}

#[derive(Debug)]
struct Field {
    name: String,
    required: bool,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text {
        min: Option<u64>,
        max: Option<u64>,
        pattern: Option<Box<Regex>>,
        format: Option<String>,
        choices: Option<Vec<String>>,
    },
    Number {
        whole: bool,
        min: Option<f64>,
        max: Option<f64>,
    },
    Boolean,
    Several {
        min: Option<u64>,
        max: Option<u64>,
        choices: Option<Vec<String>>,
    },
    /// A type that this version does not know: only the shapes that an answer may have are checked.
    Unknown,
}

impl Form {
    /// Reads a `requestedSchema`.
    ///
    /// # Errors
    /// What about it cannot be shown or checked.
    pub fn read(schema: &Value) -> Result<Self, String> {
        let schema = schema.as_object().ok_or("requestedSchema is no object")?;
        if schema.get("type").is_some_and(|kind| kind != "object") {
            return Err("requestedSchema is not of type object".to_owned());
        }
        let none = Map::new();
        let properties = match schema.get("properties") {
            None | Some(Value::Null) => &none,
            Some(Value::Object(properties)) => properties,
            Some(_) => return Err("properties is no object".to_owned()),
        };
        if properties.len() > MAX_PROPERTIES {
            return Err(format!("the form has more than {MAX_PROPERTIES} properties"));
        }
        let required = match schema.get("required") {
            None | Some(Value::Null) => Vec::new(),
            Some(list) => strings(list).ok_or("required is no list of names")?,
        };
        if required.iter().any(|name| !properties.contains_key(name)) {
            return Err("required names a property that the form does not have".to_owned());
        }
        let mut fields = Vec::with_capacity(properties.len());
        for (name, property) in properties {
            if name.is_empty() || utf16_len(name) > MAX_NAME_UNITS || strip_control_sequences(name) != name.as_str() {
                return Err("a property has a name that cannot be shown".to_owned());
            }
            let kind = property.as_object().and_then(Kind::read);
            let kind = kind.ok_or_else(|| format!("the property {name} cannot be checked"))?;
            fields.push(Field { required: required.contains(name), name: name.clone(), kind });
        }
        Ok(Self { fields })
    }

    /// What is wrong with these values; nothing, if they may be sent.
    pub fn problems(&self, content: &Value) -> Vec<Problem> {
        let Some(content) = content.as_object() else {
            return vec![Problem { property: String::new(), message: "is no object".to_owned() }];
        };
        let mut problems = Vec::new();
        for field in &self.fields {
            let wrong = match content.get(&field.name) {
                None if field.required => Some("is required".to_owned()),
                None => None,
                Some(value) => field.kind.wrong(value),
            };
            problems.extend(wrong.map(|message| Problem { property: field.name.clone(), message }));
        }
        for name in content.keys().filter(|name| !self.fields.iter().any(|f| f.name == **name)) {
            problems.push(Problem { property: name.clone(), message: "was not asked for".to_owned() });
        }
        problems
    }
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

/// `enum`, or the constants of `oneOf` or `anyOf`. `Err`: neither can be read.
fn choices(schema: &Map<String, Value>) -> Result<Option<Vec<String>>, ()> {
    if let Some(list) = schema.get("enum").filter(|list| !list.is_null()) {
        return strings(list).map(Some).ok_or(());
    }
    for name in ["oneOf", "anyOf"] {
        if let Some(list) = schema.get(name).filter(|list| !list.is_null()) {
            let constants = list.as_array().ok_or(())?.iter().map(|item| item["const"].as_str().map(str::to_owned));
            return constants.collect::<Option<_>>().map(Some).ok_or(());
        }
    }
    Ok(None)
}

impl Kind {
    /// `None`: it cannot be checked.
    fn read(schema: &Map<String, Value>) -> Option<Self> {
        let count = |name: &str| match schema.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_u64().map(Some),
        };
        let limit = |name: &str| match schema.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_f64().map(Some),
        };
        Some(match schema.get("type")?.as_str()? {
            "string" => {
                let pattern = match schema.get("pattern") {
                    None | Some(Value::Null) => None,
                    Some(text) => Some(Box::new(pattern::compile(text.as_str()?)?)),
                };
                Self::Text {
                    min: count("minLength")?,
                    max: count("maxLength")?,
                    pattern,
                    format: schema.get("format").and_then(Value::as_str).map(str::to_owned),
                    choices: choices(schema).ok()?,
                }
            }
            kind @ ("number" | "integer") => {
                Self::Number { whole: kind == "integer", min: limit("minimum")?, max: limit("maximum")? }
            }
            "boolean" => Self::Boolean,
            "array" => {
                let items = schema.get("items")?.as_object()?;
                Self::Several { min: count("minItems")?, max: count("maxItems")?, choices: choices(items).ok()? }
            }
            _ => Self::Unknown,
        })
    }

    /// What is wrong with a value.
    fn wrong(&self, value: &Value) -> Option<String> {
        match self {
            Self::Text { min, max, pattern, format, choices } => {
                let Some(text) = value.as_str() else { return Some("is no string".to_owned()) };
                let length = text.chars().count() as u64;
                between(length, *min, *max, "characters").or_else(|| {
                    if choices.as_ref().is_some_and(|choices| !choices.iter().any(|c| c == text)) {
                        Some("is none of the choices".to_owned())
                    } else if pattern.as_ref().is_some_and(|pattern| !pattern.is_match(text)) {
                        Some("does not match the pattern".to_owned())
                    } else {
                        let format = format.as_deref().filter(|format| !format::fits(format, text));
                        format.map(|format| format!("is no {format}"))
                    }
                })
            }
            Self::Number { whole, min, max } => {
                let Some(number) = value.as_f64() else { return Some("is no number".to_owned()) };
                if *whole && number.fract() != 0.0 {
                    Some("is no whole number".to_owned())
                } else if min.is_some_and(|min| number < min) {
                    Some(format!("is less than {}", min.unwrap_or_default()))
                } else if max.is_some_and(|max| number > max) {
                    Some(format!("is more than {}", max.unwrap_or_default()))
                } else {
                    None
                }
            }
            Self::Boolean => (!value.is_boolean()).then(|| "is neither true nor false".to_owned()),
            Self::Several { min, max, choices } => {
                let Some(items) = strings(value) else { return Some("is no list of strings".to_owned()) };
                between(items.len() as u64, *min, *max, "items").or_else(|| {
                    let known = |item: &String| choices.as_ref().is_none_or(|choices| choices.contains(item));
                    (!items.iter().all(known)).then(|| "has an item that is none of the choices".to_owned())
                })
            }
            Self::Unknown => {
                let fits = value.is_string() || value.is_number() || value.is_boolean() || strings(value).is_some();
                (!fits).then(|| "is no value that an answer can have".to_owned())
            }
        }
    }
}

fn between(n: u64, min: Option<u64>, max: Option<u64>, what: &str) -> Option<String> {
    match (min, max) {
        (Some(min), _) if n < min => Some(format!("has fewer than {min} {what}")),
        (_, Some(max)) if n > max => Some(format!("has more than {max} {what}")),
        _ => None,
    }
}
