//! Forms of the agent, for hosts that check an answer before they give it.

use acp_runtime::services::elicitation;
use napi::Result;
use napi_derive::napi;
use serde_json::Value;

use crate::parse;

/// What is wrong with these values (JSON) for this `requestedSchema` (JSON): a JSON list of `{property, message}`.
#[napi(catch_unwind)]
pub fn elicitation_problems(schema: String, content: String) -> Result<String> {
    let (schema, content): (Value, Value) = (parse(&schema)?, parse(&content)?);
    let problems = elicitation::problems(&schema, &content).map_err(napi::Error::from_reason)?;
    serde_json::to_string(&problems).map_err(|e| napi::Error::from_reason(e.to_string()))
}
