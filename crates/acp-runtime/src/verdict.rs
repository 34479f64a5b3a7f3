//! Maps the answer of a validating agent to a verdict.
//!
//! The one rule that nothing may bend: prose never passes. Only a structured answer can.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::utf16::trim;

/// The outcome of a validation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictStatus {
    /// Every assertion holds.
    Pass,
    /// An assertion does not hold.
    Fail,
    /// The validation could not be carried out.
    Blocked,
    /// No verdict can be read from the answer.
    Error,
}

/// The judgement of one assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assertion {
    /// The assertion's identifier, as the agent wrote it.
    pub assertion_id: String,
    /// Whether it holds. Anything but a literal `true` is no.
    pub passed: bool,
    /// The agent's explanation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What a validation says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// The outcome.
    pub status: VerdictStatus,
    /// The judgements that name their assertion, in the agent's order.
    pub assertions: Vec<Assertion>,
    /// The agent's summary, else its reason, else its whole answer.
    pub summary: String,
    /// Why the validation is blocked; present with [`VerdictStatus::Blocked`] only, and not when prose said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
}

/// Reads a status from a word that agents use for it, in any case.
pub fn normalize_verdict_token(token: &str) -> Option<VerdictStatus> {
    match trim(token).to_lowercase().as_str() {
        "pass" | "passed" | "approve" | "approved" | "ok" | "success" => Some(VerdictStatus::Pass),
        "fail" | "failed" | "revise" | "reject" | "rejected" | "failure" => Some(VerdictStatus::Fail),
        "blocked" | "block" | "unavailable" => Some(VerdictStatus::Blocked),
        "error" | "errored" => Some(VerdictStatus::Error),
        _ => None,
    }
}

/// Reads a status from prose: [`VerdictStatus::Blocked`] or [`VerdictStatus::Fail`] where the wording leaves no doubt,
/// never [`VerdictStatus::Pass`].
pub fn infer_verdict_from_prose(text: &str) -> Option<VerdictStatus> {
    // Word boundaries of ASCII, as in JavaScript.
    static BLOCKED: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u:\b)blocked(?-u:\b)").ok());
    static FAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?-u:\b)(?:revise|revision requested|does not (?:pass|meet)|fail(?:s|ed)?(?-u:\b))").ok()
    });
    let text = text.to_lowercase();
    let says = |wording: &Option<Regex>| wording.as_ref().is_some_and(|wording| wording.is_match(&text));
    if says(&BLOCKED) {
        Some(VerdictStatus::Blocked)
    } else if says(&FAIL) {
        Some(VerdictStatus::Fail)
    } else {
        None
    }
}

/// Maps a parsed answer and the whole text around it. In order: a `blocked` flag; the first recognised word among
/// `verdict`, `status` and `result`; a boolean `passed`; prose; otherwise an error, never a pass.
pub fn map_parsed_to_verdict(parsed: &Value, text: &str) -> Verdict {
    let string = |key: &str| parsed.get(key).and_then(Value::as_str);
    let summary = ["summary", "reason"].into_iter().filter_map(string).find(|s| !s.is_empty()).unwrap_or(text);
    let or = |fallback: &str| if summary.is_empty() { fallback } else { summary }.to_owned();
    let verdict = |status, summary: String, blocked_reason| Verdict {
        status,
        assertions: assertions(parsed.get("assertions")),
        summary,
        blocked_reason,
    };

    if parsed.get("blocked") == Some(&Value::Bool(true)) {
        let reason = string("reason").map_or_else(|| or("blocked"), str::to_owned);
        return verdict(VerdictStatus::Blocked, or("Validation blocked"), Some(reason));
    }
    let token = ["verdict", "status", "result"].into_iter().filter_map(string).find_map(normalize_verdict_token);
    match (token, parsed.get("passed").and_then(Value::as_bool)) {
        (Some(VerdictStatus::Blocked), _) => {
            verdict(VerdictStatus::Blocked, or("Validation blocked"), Some(summary.to_owned()))
        }
        (Some(status), _) => verdict(status, summary.to_owned(), None),
        (None, Some(true)) => verdict(VerdictStatus::Pass, summary.to_owned(), None),
        (None, Some(false)) => verdict(VerdictStatus::Fail, summary.to_owned(), None),
        (None, None) => match infer_verdict_from_prose(text) {
            Some(status) => verdict(status, summary.to_owned(), None),
            None => verdict(VerdictStatus::Error, or("Validator produced no decodable verdict"), None),
        },
    }
}

fn assertions(raw: Option<&Value>) -> Vec<Assertion> {
    let items = raw.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| {
            let string = |key: &str| item.get(key).and_then(Value::as_str);
            let assertion_id = string("assertionId").or_else(|| string("id")).filter(|id| !id.is_empty())?;
            Some(Assertion {
                assertion_id: assertion_id.to_owned(),
                passed: item.get("passed") == Some(&Value::Bool(true)),
                message: string("message").map(str::to_owned),
            })
        })
        .collect()
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
