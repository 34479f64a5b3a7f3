//! The validator's verdict.

use acp_runtime::verdict::{self, VerdictStatus};
use napi::{Error, Result, Status};
use napi_derive::napi;
use serde_json::Value;

fn name(status: VerdictStatus) -> &'static str {
    match status {
        VerdictStatus::Pass => "pass",
        VerdictStatus::Fail => "fail",
        VerdictStatus::Blocked => "blocked",
        VerdictStatus::Error => "error",
    }
}

/// The status that a word stands for, if it is such a word.
#[napi(catch_unwind)]
#[must_use]
pub fn normalize_verdict_token(token: String) -> Option<&'static str> {
    verdict::normalize_verdict_token(&token).map(name)
}

/// The status that prose leaves no doubt about. Never `pass`.
#[napi(catch_unwind)]
#[must_use]
pub fn infer_verdict_from_prose(text: String) -> Option<&'static str> {
    verdict::infer_verdict_from_prose(&text).map(name)
}

/// Maps a parsed answer (as JSON) and its text to a verdict (as JSON).
#[napi(catch_unwind)]
pub fn map_parsed_to_verdict(parsed: String, text: String) -> Result<String> {
    let invalid = |e: serde_json::Error| Error::new(Status::InvalidArg, e.to_string());
    let parsed: Value = serde_json::from_str(&parsed).map_err(invalid)?;
    serde_json::to_string(&verdict::map_parsed_to_verdict(&parsed, &text)).map_err(invalid)
}
