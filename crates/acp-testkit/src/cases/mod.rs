//! Faults seen in the field, as scripts. The numbers are those of the project's list of field cases.
//!
//! `fake-agent --case NAME` plays them by name; what a case needs from its test (a file for process ids) is `{{args.0}}`.

use crate::Script;

pub mod process;
pub mod session;
pub mod wire;

/// A case: its name, and how its script is made.
pub type Case = (&'static str, fn() -> Script);

/// Every case that needs no argument, by name.
pub const ALL: &[Case] = &[
    ("w01_noise", wire::w01_noise),
    ("w01_nothing_but_noise", wire::w01_nothing_but_noise),
    ("w02_json_that_is_not_json_rpc", wire::w02_json_that_is_not_json_rpc),
    ("w02_no_result_no_error", || wire::w02_malformed_response(0)),
    ("w02_wrong_version", || wire::w02_malformed_response(1)),
    ("w02_result_and_error", || wire::w02_malformed_response(2)),
    ("w02_error_is_text", || wire::w02_malformed_response(3)),
    ("w04_split_utf8", wire::w04_split_utf8),
    ("w05_bom_crlf_line_separator", wire::w05_bom_crlf_line_separator),
    ("w06_huge_line", || wire::w06_huge_line(20_000_000)),
    ("w06_endless_line", || wire::w06_endless_line(200_000_000)),
    ("w07_small_writes", || wire::w07_small_writes(16_000_000)),
    ("w09_agent_ids", wire::w09_agent_ids),
    ("w09_answer_with_text_id", wire::w09_answer_with_text_id),
    ("w10_version_text", || wire::w10_protocol_version(&"1".into())),
    ("w10_version_date", || wire::w10_protocol_version(&"2025-03-26".into())),
    ("w10_version_two", || wire::w10_protocol_version(&2.into())),
    ("w10_version_absent", || wire::w10_protocol_version(&serde_json::Value::Null)),
    ("w12_unknown_values", wire::w12_unknown_values),
    ("w12_unknown_stop_reason", wire::w12_unknown_stop_reason),
    ("w13_unanswered_request", wire::w13_unanswered_request),
    ("w14_error_data_object", || wire::w14_error_data(Some(serde_json::json!({"details": "model not found: x"})))),
    ("w14_error_data_text", || wire::w14_error_data(Some("model not found: x".into()))),
    ("w14_error_data_list", || wire::w14_error_data(Some(serde_json::json!(["model not found: x"])))),
    ("w14_error_data_empty", || wire::w14_error_data(Some(serde_json::json!({})))),
    ("w14_error_data_null", || wire::w14_error_data(Some(serde_json::Value::Null))),
    ("w15_exit_before_initialize", || wire::w15_exit_in_handshake(1)),
    ("w15_silent_exit", wire::w15_silent_exit),
    ("w15_killed", wire::w15_killed),
    ("w15_exit_before_session", wire::w15_exit_before_session),
    ("w16_auth_required", wire::w16_auth_required),
    ("w16_session_busy", wire::w16_session_busy),
    ("p01_grandchild", process::p01_grandchild),
    ("p03_ignores_eof", process::p03_ignores_eof),
    ("p04_wrapper_ignores_sigterm", process::p04_wrapper_ignores_sigterm),
    ("p05_initialize_error", process::p05_initialize_error),
    ("p05_stdout_closed", process::p05_stdout_closed),
    ("p05_never_answers", process::p05_never_answers),
    ("p06_pipe_held", process::p06_pipe_held),
    ("p08_dies_in_turn", process::p08_dies_in_turn),
    ("p09_stdin_closed", process::p09_stdin_closed),
    ("p09_exits_after_initialize", process::p09_exits_after_initialize),
    ("p17_slow_start", || process::p17_slow_start(40, 1000)),
    ("p18_silent_until_eof", process::p18_silent_until_eof),
    ("s01_update_before_session", session::s01_update_before_session),
    ("s01_update_for_nobody", session::s01_update_for_nobody),
    ("s06_permission_at_cancel", session::s06_permission_at_cancel),
    ("s07_allow_and_reject", || session::s07_options(session::Offer::All)),
    ("s07_only_allow", || session::s07_options(session::Offer::OnlyAllow)),
    ("s07_no_options", || session::s07_options(session::Offer::Nothing)),
    ("s10_no_updates", session::s10_no_updates),
    ("s10_max_tokens", session::s10_max_tokens),
    ("s10_refusal", || session::s10_stop_reason("refusal")),
    ("s10_max_turn_requests", || session::s10_stop_reason("max_turn_requests")),
    ("s10_no_stop_reason", session::s10_no_stop_reason),
    ("s21_open_braces", || session::s21_open_braces(10_000_000)),
];

/// The script of a case of [`ALL`], or of `s21_<reply>`.
pub fn script(name: &str) -> Option<Script> {
    if let Some((_, make)) = ALL.iter().find(|(known, _)| *known == name) {
        return Some(make());
    }
    let reply = name.strip_prefix("s21_")?;
    session::S21_REPLIES.iter().find(|known| known.name == reply).map(session::s21_reply)
}

/// The names that [`script`] knows.
pub fn names() -> Vec<String> {
    let replies = session::S21_REPLIES.iter().map(|reply| format!("s21_{}", reply.name));
    ALL.iter().map(|(name, _)| (*name).to_owned()).chain(replies).collect()
}

/// `initialize` and `session/new` for session `s1`.
fn opened() -> Script {
    Script::new().initialize().session_new("s1")
}

/// The same, and the first prompt.
fn prompted() -> Script {
    opened().prompt_begin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_script_that_can_be_read() {
        let names = names();
        for name in &names {
            let made = script(name).unwrap();
            assert!(!made.steps.is_empty(), "{name}");
            assert_eq!(Script::parse(&made.to_jsonl()).as_ref(), Ok(&made), "{name}");
        }
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert_eq!(script("nothing"), None);
    }
}
