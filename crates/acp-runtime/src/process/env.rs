//! The environment of the agent: an allow-list, never a copy of the host's.

use serde_json::json;

use crate::error::{Error, ErrorCode, Phase, Result};

/// Whether two variable names mean the same variable on this system (Windows ignores case).
pub(super) fn same_name(a: &str, b: &str) -> bool {
    if cfg!(windows) { a.eq_ignore_ascii_case(b) } else { a == b }
}

/// Picks the variables that `allow_list` names out of `source`, in the order of the list, each once. Names that `source`
/// lacks are left out. `required` names must be in the result, not merely in `source`.
///
/// Fails with [`ErrorCode::MissingEnv`], message `Missing required ACP environment variable(s): A, B`, extra
/// `{"missingKeys": [..]}`.
pub fn build_spawn_env(
    allow_list: &[String],
    required: &[String],
    source: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<(String, String)>> {
    let mut slots: Vec<Option<(String, String)>> = vec![None; allow_list.len()];
    for (name, value) in source {
        if let Some(at) = allow_list.iter().position(|allowed| same_name(allowed, &name)) {
            slots[at] = Some((name, value));
        }
    }
    let env: Vec<_> = slots.into_iter().flatten().collect();
    let missing: Vec<&str> = required
        .iter()
        .map(String::as_str)
        .filter(|needed| !env.iter().any(|(name, _)| same_name(name, needed)))
        .collect();
    if missing.is_empty() {
        return Ok(env);
    }
    let message = format!("Missing required ACP environment variable(s): {}", missing.join(", "));
    Err(Error::new(ErrorCode::MissingEnv, message).in_phase(Phase::Spawn).with_extra(json!({ "missingKeys": missing })))
}
