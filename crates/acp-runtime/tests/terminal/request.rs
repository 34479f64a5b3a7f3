//! What the agent may ask for, and what is run for it.

use std::path::PathBuf;

use acp_runtime::services::terminal::{
    CreateRequest, ExitStatus, MAX_COMMAND_BYTES, Shell, TerminalOutput, TerminalRef,
};
use serde_json::{Value, json};

fn decode(more: Value) -> Result<CreateRequest, i64> {
    let mut params = json!({ "sessionId": "s", "command": "cargo", "args": ["test"] });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    CreateRequest::decode(&params.to_string()).map_err(|error| error.rpc_code())
}

#[test]
fn optional_fields_may_be_absent_or_null() {
    let request = decode(json!({})).unwrap();
    assert_eq!((request.session_id.as_str(), request.command.as_str()), ("s", "cargo"));
    let request = decode(json!({ "args": null, "env": null, "cwd": null, "outputByteLimit": null })).unwrap();
    assert_eq!((request.args.len(), request.env.len(), request.cwd, request.output_byte_limit), (0, 0, None, None));
}

#[test]
fn limits_of_any_size_are_understood() {
    let limit = |number: Value| decode(json!({ "outputByteLimit": number })).unwrap().output_byte_limit;
    assert_eq!(limit(json!(0)), Some(0));
    assert_eq!(limit(json!(1000)), Some(1000));
    assert_eq!(limit(json!(1u64 << 53)), Some(1 << 53));
    assert_eq!(limit(json!(1e300)), Some(u64::MAX));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for bad in [
        json!({ "command": "" }),
        json!({ "command": 5 }),
        json!({ "command": "a\0b" }),
        json!({ "command": "x".repeat(200_000) }),
        json!({ "args": ["ok", 5] }),
        json!({ "args": ["a\0"] }),
        json!({ "env": [{ "name": "", "value": "x" }] }),
        json!({ "env": [{ "name": "A=B", "value": "x" }] }),
        json!({ "env": [{ "name": "A" }] }),
        json!({ "env": { "A": "B" } }),
        json!({ "env": [["A", "by position"]] }),
        json!({ "cwd": "relative/dir" }),
        json!({ "outputByteLimit": -1 }),
        json!({ "outputByteLimit": "many" }),
    ] {
        assert_eq!(decode(bad.clone()), Err(-32602), "{bad}");
    }
    assert_eq!(TerminalRef::decode(r#"{"sessionId":"s"}"#).unwrap_err().rpc_code(), -32602);
    let reference = TerminalRef::decode(r#"{"sessionId":"s","terminalId":"t"}"#).unwrap();
    assert_eq!((reference.session_id.as_str(), reference.terminal_id.as_str()), ("s", "t"));
}

#[test]
fn the_agents_variables_come_on_top() {
    let variable = |name: &str, value: &str| json!({ "name": name, "value": value });
    let request = decode(json!({ "env": [variable("A", "x"), variable("B", ""), variable("A", "agent")] })).unwrap();
    let base = [("PATH".to_owned(), "/bin".to_owned()), ("A".to_owned(), "host".to_owned())];
    let command = request.to_command(PathBuf::from("/w"), &base, Shell::default());
    let env: Vec<_> = command.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(env, ["PATH=/bin", "A=agent", "B="]);
    assert_eq!(command.cwd, PathBuf::from("/w"));
}

#[test]
fn variables_count_as_part_of_the_command_line() {
    let total = |count: usize, name: usize, value: usize| {
        let env: Vec<_> =
            (0..count).map(|i| json!({ "name": format!("{i:0name$}"), "value": "v".repeat(value) })).collect();
        decode(json!({ "args": [], "env": env })).map(|request| request.env.len())
    };
    let room = MAX_COMMAND_BYTES - "cargo".len();
    assert_eq!(total(1, 1, room - 3), Ok(1));
    assert_eq!(total(1, 1, room - 2), Err(-32602));
    // Many small ones, and names alone.
    assert_eq!(total(room / 10, 7, 1), Ok(room / 10));
    assert_eq!(total(room / 10 + 1, 7, 1), Err(-32602));
    assert_eq!(total(room, 1, 0), Err(-32602));
}

#[test]
fn many_variables_are_merged_in_linear_work() {
    // Eight times the variables: linear takes eight times as long, quadratic 64 times.
    let merge = |count: usize| {
        let base: Vec<_> = (0..count).map(|i| (format!("B{i}"), String::new())).collect();
        let env = (0..count).map(|i| (format!("B{}", i * 2), "agent".to_owned())).collect();
        let request = CreateRequest { env, ..decode(json!({})).unwrap() };
        let took = (0..3)
            .map(|_| {
                let start = std::time::Instant::now();
                let command = request.to_command(PathBuf::from("/"), &base, Shell::Never);
                assert_eq!(command.env.len(), count + count / 2);
                start.elapsed()
            })
            .min();
        took.unwrap()
    };
    let (few, many) = (merge(2_000), merge(16_000));
    assert!(many < few * 32, "{few:?} for 2000, {many:?} for 16000");
}

#[test]
fn a_line_without_arguments_goes_to_the_shell() {
    let command = |command: &str, args: &[&str], shell| {
        let request = decode(json!({ "command": command, "args": args })).unwrap();
        let command = request.to_command(PathBuf::from("/"), &[], shell);
        (command.program, command.args)
    };
    let shell = if cfg!(windows) { "cmd.exe" } else { "/bin/sh" };
    for line in ["npm test", "a && b", "echo $HOME", "ls|wc", "'x'"] {
        let (program, args) = command(line, &[], Shell::WhenNoArgs);
        assert_eq!((program.as_str(), args.last().unwrap().as_str()), (shell, line));
        assert_eq!(command(line, &[], Shell::Never), (line.to_owned(), vec![]));
    }
    assert_eq!(command("ls", &[], Shell::WhenNoArgs), ("ls".to_owned(), vec![]));
    assert_eq!(command("./a-b_c.sh", &[], Shell::WhenNoArgs), ("./a-b_c.sh".to_owned(), vec![]));
    assert_eq!(command("my tool", &["x"], Shell::WhenNoArgs), ("my tool".to_owned(), vec!["x".to_owned()]));
}

#[test]
fn results_have_the_protocols_shape() {
    let status = ExitStatus { exit_code: Some(0), signal: None };
    let output = TerminalOutput { output: "x".into(), truncated: false, exit_status: Some(status.clone()) };
    assert_eq!(serde_json::to_value(&status).unwrap(), json!({ "exitCode": 0, "signal": null }));
    assert_eq!(
        serde_json::to_value(&output).unwrap(),
        json!({ "output": "x", "truncated": false, "exitStatus": { "exitCode": 0, "signal": null } })
    );
    let running = TerminalOutput { exit_status: None, ..output };
    assert_eq!(serde_json::to_value(&running).unwrap(), json!({ "output": "x", "truncated": false }));
    serde_json::from_str::<agent_client_protocol_schema::v1::WaitForTerminalExitResponse>(
        &serde_json::to_string(&status).unwrap(),
    )
    .unwrap();
    serde_json::from_str::<agent_client_protocol_schema::v1::TerminalOutputResponse>(
        &serde_json::to_string(&running).unwrap(),
    )
    .unwrap();
}
