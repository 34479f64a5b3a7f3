//! Questions of the agent for the person at the host: `elicitation/create` (schema 1.20.0, rules C59 and C60).
//!
//! A request is read before the host sees it: its mode must be one that was advertised, its texts are cleaned and bounded,
//! a form is flat, and a URL is one that can be shown. The host's answer is read before the agent sees it: what is accepted
//! fits the form, whatever the host's code did. Nothing here opens a URL.

mod format;
mod pattern;
mod schema;
mod url;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::text::sanitize::sanitized;
use crate::wire::encode::{self, Answer, AnswerError, code};

pub use schema::{Form, Problem};

/// The longest request accepted, in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// The longest message shown, in UTF-16 code units.
const MAX_MESSAGE_UNITS: usize = 10_000;
/// The longest title or description shown, in UTF-16 code units.
const MAX_LABEL_UNITS: usize = 2_000;
/// The longest id of a URL elicitation, in bytes.
const MAX_ID_BYTES: usize = 1024;

/// Which modes were advertised.
#[derive(Clone, Copy, Debug, Default)]
pub struct Modes {
    /// `elicitation.form`
    pub form: bool,
    /// `elicitation.url`
    pub url: bool,
}

/// What is asked for.
#[derive(Debug)]
pub enum Ask {
    /// Values for a form.
    Form(Form),
    /// Consent to open a URL.
    Url {
        /// How `elicitation/complete` will name it.
        id: String,
    },
}

/// One request, read and cleaned.
#[derive(Debug)]
pub struct Elicitation {
    /// The session that it belongs to.
    pub session_id: Option<String>,
    /// Otherwise the request of this client that it belongs to, in JSON.
    pub request_id: Option<String>,
    /// What is asked for.
    pub ask: Ask,
    /// The parameters as the host sees them.
    pub shown: Box<RawValue>,
}

fn refused(why: impl Into<String>) -> AnswerError {
    AnswerError::new(code::INVALID_PARAMS, why)
}

impl Elicitation {
    /// Reads the parameters of a request.
    ///
    /// # Errors
    /// −32602 for a mode that was not advertised, and for parameters that cannot be shown or checked.
    pub fn read(params: &RawValue, modes: Modes) -> Result<Self, AnswerError> {
        if params.get().len() > MAX_BYTES {
            return Err(refused("the elicitation is longer than the client accepts"));
        }
        let mut params: Map<String, Value> =
            serde_json::from_str(params.get()).map_err(|_| refused("the params are no object"))?;
        let Some(Value::String(message)) = params.get_mut("message") else {
            return Err(refused("message is missing"));
        };
        *message = sanitized(message, MAX_MESSAGE_UNITS).into_owned();
        let ask = match params.get("mode").and_then(Value::as_str) {
            Some("form") if modes.form => {
                let schema = params.get_mut("requestedSchema").ok_or_else(|| refused("requestedSchema is missing"))?;
                let form = Form::read(schema).map_err(refused)?;
                clean_labels(schema);
                Ask::Form(form)
            }
            Some("url") if modes.url => {
                let id = params.get("elicitationId").and_then(Value::as_str).filter(|id| !id.is_empty());
                let id = id.filter(|id| id.len() <= MAX_ID_BYTES).ok_or_else(|| refused("elicitationId is missing"))?;
                let url = params.get("url").and_then(Value::as_str).ok_or_else(|| refused("url is missing"))?;
                url::check(url).map_err(refused)?;
                Ask::Url { id: id.to_owned() }
            }
            _ => return Err(refused("the client does not offer this mode of elicitation")),
        };
        let session_id = params.get("sessionId").and_then(Value::as_str).map(str::to_owned);
        let request_id = params.get("requestId").filter(|id| id.is_u64() || id.is_string()).map(Value::to_string);
        let shown = encode::raw(&params).map_err(|e| AnswerError::new(code::INTERNAL_ERROR, e.to_string()))?;
        Ok(Self { session_id, request_id, ask, shown })
    }

    /// The id of a URL elicitation.
    pub fn url_id(&self) -> Option<&str> {
        match &self.ask {
            Ask::Url { id } => Some(id),
            Ask::Form(_) => None,
        }
    }
}

impl Ask {
    /// What the agent is told of the host's answer. An answer that does not fit is `cancel`.
    pub fn answer(&self, answer: Answer) -> Answer {
        let raw = answer?;
        let told: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
        let mut reply = json!({ "action": "cancel" });
        match told.get("action").and_then(Value::as_str) {
            Some("decline") => reply["action"] = json!("decline"),
            Some("accept") => match self {
                // Consent, and nothing else.
                Self::Url { .. } => reply["action"] = json!("accept"),
                Self::Form(form) => {
                    let content = told.get("content").filter(|content| !content.is_null());
                    let content = content.cloned().unwrap_or_else(|| json!({}));
                    let problems = form.problems(&content);
                    if problems.is_empty() {
                        reply["action"] = json!("accept");
                        reply["content"] = content;
                    } else {
                        // Not the values: they are the person's.
                        let names: Vec<_> = problems.iter().map(|p| p.property.as_str()).collect();
                        tracing::warn!(target: "acp::elicitation", ?names, "the host's answer does not fit the form");
                    }
                }
            },
            _ => {}
        }
        if let Some(meta @ Value::Object(_)) = told.get("_meta") {
            reply["_meta"] = meta.clone();
        }
        encode::raw(&reply).map_err(|e| AnswerError::new(code::INTERNAL_ERROR, e.to_string()))
    }
}

/// Whether the agent was told that the person accepted.
pub fn accepted(answer: &Answer) -> bool {
    #[derive(serde::Deserialize)]
    struct Action<'a> {
        #[serde(borrow)]
        action: std::borrow::Cow<'a, str>,
    }
    let action = |raw: &RawValue| serde_json::from_str::<Action<'_>>(raw.get()).is_ok_and(|a| a.action == "accept");
    answer.as_ref().is_ok_and(|raw| action(raw))
}

/// Titles and descriptions, at any depth of a schema that is flat but for its options.
fn clean_labels(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if matches!(name.as_str(), "title" | "description") => {
                        *text = sanitized(text, MAX_LABEL_UNITS).into_owned();
                    }
                    other => clean_labels(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean_labels),
        _ => {}
    }
}

/// What is wrong with these values for this form, for hosts that want to know before they answer.
///
/// # Errors
/// Why the form itself cannot be checked.
pub fn problems(schema: &Value, content: &Value) -> Result<Vec<Problem>, String> {
    Form::read(schema).map(|form| form.problems(content))
}

#[cfg(test)]
mod tests;
