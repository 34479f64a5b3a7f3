//! The security floor: what a tool call is, what a policy says of it, which option may be chosen, and which variables an
//! agent inherits. Asking a person is the JavaScript side's part.

use std::collections::HashMap;

use acp_runtime::process;
use acp_runtime::services::permission::options::{OptionKind, PermissionOption, Several, select_option};
use acp_runtime::services::permission::{self, Category, Classification, Decision, Disposition};
use napi_derive::napi;

/// An option of a permission request, as far as the choice depends on it.
#[napi(object)]
pub struct OfferedOption {
    /// The agent's id.
    pub option_id: String,
    /// The kind.
    pub kind: String,
}

/// What was chosen.
#[napi(object)]
pub struct ChosenOption {
    /// Whether the call is allowed after the choice.
    pub allowed: bool,
    /// The place of the chosen option among the offered ones.
    pub index: Option<u32>,
}

/// An environment, or what it lacks.
#[napi(object)]
pub struct BuiltEnv {
    /// The variables.
    pub env: Option<HashMap<String, String>>,
    /// The failure as the JSON of `error::Details`.
    pub error: Option<String>,
}

/// Classifies a tool kind: a category, `exempt` or `deny`.
#[napi(catch_unwind)]
#[must_use]
pub fn classify_tool_kind(kind: Option<String>) -> &'static str {
    permission::classify_tool_kind(kind.as_deref()).as_str()
}

/// Chooses among the options of a request: only ever `allow_once` or `reject_once`.
#[napi(catch_unwind)]
#[must_use]
pub fn choose_option(allow: bool, options: Vec<OfferedOption>) -> ChosenOption {
    let options: Vec<_> = options
        .into_iter()
        .map(|OfferedOption { option_id, kind }| PermissionOption {
            wire_id: option_id.clone(),
            option_id,
            name: String::new(),
            kind: OptionKind::from_name(&kind).unwrap_or(OptionKind::Other(kind)),
        })
        .collect();
    let decision = if allow { Decision::Allow } else { Decision::Deny };
    let selection = select_option(decision, &options, Several::Refuse);
    let index = selection.option.and_then(|chosen| options.iter().position(|option| std::ptr::eq(option, chosen)));
    ChosenOption { allowed: selection.decision == Decision::Allow, index: index.and_then(|i| u32::try_from(i).ok()) }
}

/// The policy's plain word for a category or `exempt`.
#[napi(catch_unwind)]
#[must_use]
pub fn disposition_for(category: String, rule: Option<String>) -> &'static str {
    permission::disposition_for(classification(&category), rule_of(rule)).as_str()
}

/// The policy's word for an untrusted agent.
#[napi(catch_unwind)]
#[must_use]
pub fn effective_disposition(category: String, rule: Option<String>, allow_unrestricted: bool) -> &'static str {
    permission::effective_disposition(classification(&category), rule_of(rule), allow_unrestricted).as_str()
}

/// Picks the allowed variables out of `names` and `values`, which belong together.
#[napi(catch_unwind)]
#[must_use]
pub fn build_spawn_env(allow: Vec<String>, required: Vec<String>, names: Vec<String>, values: Vec<String>) -> BuiltEnv {
    match process::build_spawn_env(&allow, &required, names.into_iter().zip(values)) {
        Ok(env) => BuiltEnv { env: Some(env.into_iter().collect()), error: None },
        Err(error) => BuiltEnv { env: None, error: Some(serde_json::to_string(error.details()).unwrap_or_default()) },
    }
}

fn classification(category: &str) -> Classification {
    match category {
        "exempt" => Classification::Exempt,
        name => Category::from_name(name).map_or(Classification::Deny, Classification::Category),
    }
}

fn rule_of(rule: Option<String>) -> Option<Disposition> {
    rule.map(|rule| Disposition::from_rule(&rule))
}
