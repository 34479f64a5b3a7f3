//! The environment is built from an allow-list.

use acp_runtime::error::ErrorCode;
use acp_runtime::process::build_spawn_env;

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn source() -> Vec<(String, String)> {
    [("PATH", "/bin"), ("HOME", "/root"), ("API_KEY", "s3cret"), ("EMPTY", "")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}

fn built(allow: &[&str], required: &[&str]) -> Vec<(String, String)> {
    build_spawn_env(&strings(allow), &strings(required), source()).unwrap()
}

#[test]
fn nothing_passes_that_is_not_listed() {
    assert!(built(&[], &[]).is_empty());
    assert_eq!(
        built(&["HOME", "PATH", "HOME", "ABSENT"], &[]),
        [("HOME".into(), "/root".into()), ("PATH".into(), "/bin".into())]
    );
    assert_eq!(built(&["EMPTY"], &["EMPTY"]), [("EMPTY".into(), String::new())]);
}

#[test]
fn required_means_in_the_result() {
    let error = build_spawn_env(&strings(&["PATH"]), &strings(&["PATH", "HOME", "ABSENT"]), source()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::MissingEnv);
    assert_eq!(error.to_string(), "Missing required ACP environment variable(s): HOME, ABSENT");
    assert_eq!(error.details().extra, Some(serde_json::json!({ "missingKeys": ["HOME", "ABSENT"] })));
}

#[test]
fn names_differ_by_case_except_on_windows() {
    let path = build_spawn_env(&strings(&["Path"]), &[], source()).unwrap();
    assert_eq!(path.len(), usize::from(cfg!(windows)));
}
