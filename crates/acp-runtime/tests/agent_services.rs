//! Files and terminals as a connection serves them: the gate, the answers, the end of a session.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use acp_runtime::port::Services;
use acp_runtime::port::{BoxFuture, Host};
use acp_runtime::services::agent::{AgentServices, TerminalPolicy};
use acp_runtime::services::fs::FsPolicy;
use acp_runtime::wire::encode::Answer;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// Answers every question the same way and remembers what it was asked.
struct Asked {
    allow: bool,
    questions: Mutex<Vec<String>>,
}

impl Host for Asked {
    fn allow_write(&self, session_id: &str, path: &str) -> BoxFuture<bool> {
        self.questions.lock().unwrap().push(format!("{session_id} writes {path}"));
        Box::pin(std::future::ready(self.allow))
    }

    fn allow_command(&self, session_id: &str, params: &RawValue) -> BoxFuture<bool> {
        let params: Value = serde_json::from_str(params.get()).unwrap();
        self.questions.lock().unwrap().push(format!("{session_id} runs {}", params["command"].as_str().unwrap()));
        Box::pin(std::future::ready(self.allow))
    }
}

struct Bench {
    _dir: tempfile::TempDir,
    cwd: PathBuf,
    services: AgentServices,
    host: Arc<Asked>,
}

impl Bench {
    fn new(allow: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().canonicalize().unwrap().join("cwd");
        std::fs::create_dir(&cwd).unwrap();
        let fs = FsPolicy { read: true, write: true, ..FsPolicy::default() };
        let env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let services = AgentServices::new(fs, Some(TerminalPolicy { env, ..TerminalPolicy::default() }));
        services.session_opened("s", &cwd);
        Self { _dir: dir, cwd, services, host: Arc::new(Asked { allow, questions: Mutex::default() }) }
    }

    fn path(&self, below: &str) -> String {
        self.cwd.join(below).to_str().unwrap().to_owned()
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, i64> {
        let params = to_raw_value(&params).unwrap();
        let host: Arc<dyn Host> = Arc::<Asked>::clone(&self.host);
        let answer = self.services.request("s", method, &params, &host).unwrap().await;
        answer.map(|raw| serde_json::from_str(raw.get()).unwrap()).map_err(|error| error.code)
    }

    fn questions(&self) -> Vec<String> {
        std::mem::take(&mut *self.host.questions.lock().unwrap())
    }
}

#[tokio::test]
async fn a_write_is_asked_for_after_the_checks_and_before_the_file() {
    let bench = Bench::new(true);
    let write = |path: String| json!({ "sessionId": "s", "path": path, "content": "text" });
    assert_eq!(bench.ask("fs/write_text_file", write(bench.path("a.txt"))).await, Ok(json!({})));
    assert_eq!(bench.questions(), [format!("s writes {}", bench.path("a.txt"))]);
    let read = json!({ "sessionId": "s", "path": bench.path("a.txt") });
    assert_eq!(bench.ask("fs/read_text_file", read).await, Ok(json!({ "content": "text" })));
    for refused in [bench.path(".env"), bench.path(".git/config"), bench.path("../x"), "a.txt".into()] {
        assert_eq!(bench.ask("fs/write_text_file", write(refused)).await, Err(-32602));
    }
    assert!(bench.questions().is_empty(), "nobody is asked about what is refused anyway");
}

/// Serves files out of its own head.
struct Buffers;

impl Host for Buffers {
    fn serve_file(&self, session_id: &str, method: &str, params: &RawValue) -> Option<BoxFuture<Answer>> {
        let answer = json!({ "content": format!("{session_id} {method} {params}") });
        Some(Box::pin(std::future::ready(Ok(to_raw_value(&answer).unwrap()))))
    }
}

#[tokio::test]
async fn a_host_that_serves_files_itself_gets_what_is_enabled_and_as_it_came() {
    let host: Arc<dyn Host> = Arc::new(Buffers);
    let params = RawValue::from_string(r#"{"sessionId":"s","path":"untitled:1","line":2}"#.into()).unwrap();
    let services = AgentServices::new(FsPolicy { read: true, ..FsPolicy::default() }, None);
    services.session_opened("s", &std::env::temp_dir());
    let read = services.request("s", "fs/read_text_file", &params, &host).unwrap().await.unwrap();
    let expected = json!({ "content": format!("s fs/read_text_file {params}") });
    assert_eq!(serde_json::from_str::<Value>(read.get()).unwrap(), expected);
    assert!(services.request("s", "fs/write_text_file", &params, &host).is_none(), "writes are off");
}

#[tokio::test]
async fn without_permission_nothing_happens() {
    let bench = Bench::new(false);
    let write = json!({ "sessionId": "s", "path": bench.path("a.txt"), "content": "text" });
    assert_eq!(bench.ask("fs/write_text_file", write).await, Err(-32602));
    let create = json!({ "sessionId": "s", "command": "touch", "args": [bench.path("b.txt")] });
    assert_eq!(bench.ask("terminal/create", create).await, Err(-32602));
    assert_eq!(bench.questions().len(), 2);
    assert_eq!(std::fs::read_dir(&bench.cwd).unwrap().count(), 0);
}

#[tokio::test]
async fn what_is_off_is_not_handled() {
    let services = AgentServices::new(FsPolicy::default(), None);
    services.session_opened("s", &std::env::temp_dir());
    let host: Arc<dyn Host> = Arc::new(Asked { allow: true, questions: Mutex::default() });
    for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/output", "fs/other"] {
        assert!(services.request("s", method, RawValue::NULL, &host).is_none(), "{method}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_runs_in_the_sessions_directory_and_ends_with_the_session() {
    let bench = Bench::new(true);
    let create = json!({ "sessionId": "s", "command": "pwd; sleep 300" });
    let terminal = bench.ask("terminal/create", create).await.unwrap();
    let reference = json!({ "sessionId": "s", "terminalId": terminal["terminalId"] });
    let expected = format!("{}\n", bench.cwd.display());
    loop {
        let output = bench.ask("terminal/output", reference.clone()).await.unwrap();
        if output["output"] == json!(expected) {
            assert_eq!(output, json!({ "output": expected, "truncated": false }));
            break;
        }
        assert_eq!(output["output"], json!(""));
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(bench.ask("terminal/kill", reference.clone()).await, Ok(json!({})));
    let status = json!({ "exitCode": null, "signal": "SIGKILL" });
    assert_eq!(bench.ask("terminal/wait_for_exit", reference.clone()).await, Ok(status));
    bench.services.closed().await;
    assert_eq!(bench.ask("terminal/output", reference).await, Err(-32002));
}

#[tokio::test]
async fn a_command_starts_inside_or_not_at_all() {
    let bench = Bench::new(true);
    for (cwd, code) in [("/".to_owned(), -32602), ("sub".into(), -32602), (bench.path("none"), -32002)] {
        let create = json!({ "sessionId": "s", "command": "true", "args": ["x"], "cwd": cwd });
        assert_eq!(bench.ask("terminal/create", create).await, Err(code), "{cwd}");
    }
    let missing = json!({ "sessionId": "s", "command": "no-such-program-anywhere" });
    assert_eq!(bench.ask("terminal/create", missing).await, Err(-32603));
}

#[tokio::test]
async fn a_session_that_closed_has_no_files() {
    let bench = Bench::new(true);
    bench.services.session_closed("s");
    let read = json!({ "sessionId": "s", "path": bench.path("a.txt") });
    assert_eq!(bench.ask("fs/read_text_file", read).await, Err(-32002));
    let create = json!({ "sessionId": "s", "command": "true" });
    assert_eq!(bench.ask("terminal/create", create).await, Err(-32002));
}
