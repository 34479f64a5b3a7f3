//! A client without any protocol logic: bytes in, bytes out. For tests of the kit itself, and as a yardstick.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::wait_until;
use crate::script::Script;

/// How long anything may take. Generous: it bounds a failing test, it measures nothing.
const PATIENCE: Duration = Duration::from_secs(20);

/// An agent and the pipes to it. Dropping it kills the agent.
#[derive(Debug)]
pub struct RawClient {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Option<JoinHandle<String>>,
    next_id: u64,
    /// Removed with the client; the agent may read it late.
    script: Option<tempfile::TempPath>,
}

impl RawClient {
    /// Starts an agent that plays a script. `args` are `{{args}}` in it.
    pub fn play(fake_agent: &Path, script: &Script, args: &[&str]) -> io::Result<Self> {
        let file = script.to_temp_file()?;
        let mut command = Command::new(fake_agent);
        command.arg(&file).args(args);
        let mut client = Self::spawn(&mut command)?;
        client.script = Some(file);
        Ok(client)
    }

    /// Starts any agent.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("a pipe is missing");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let mut stderr = child.stderr.take().ok_or_else(missing)?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let mut reader = BufReader::with_capacity(256 * 1024, stdout);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            drop(stderr.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, lines, stderr: Some(stderr), next_id: 0, script: None })
    }

    /// The agent's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or_else(|| io::Error::other("stdin is closed"))?;
        stdin.write_all(bytes).and_then(|()| stdin.flush())
    }

    /// Writes a message.
    pub fn send(&mut self, message: &Value) -> io::Result<()> {
        self.write(format!("{message}\n").as_bytes())
    }

    /// Sends a request and gives back its id.
    #[expect(clippy::needless_pass_by_value, reason = "callers build the params in place")]
    pub fn request(&mut self, method: &str, params: Value) -> io::Result<u64> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        Ok(id)
    }

    /// Sends a notification.
    #[expect(clippy::needless_pass_by_value, reason = "callers build the params in place")]
    pub fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// The next line with its newline; `None` at the end of stdout.
    ///
    /// # Panics
    ///
    /// When nothing comes for a long time.
    pub fn line(&mut self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the agent {} says nothing", self.child.id()),
        }
    }

    /// The next message; `None` at the end of stdout.
    ///
    /// # Panics
    ///
    /// When the next line is no JSON, or nothing comes for a long time.
    pub fn message(&mut self) -> Option<Value> {
        let line = self.line()?;
        let message = serde_json::from_slice(&line);
        Some(message.unwrap_or_else(|error| panic!("{error} in {:?}", String::from_utf8_lossy(&line))))
    }

    /// All messages until the response to a request, that included.
    ///
    /// # Panics
    ///
    /// When stdout ends before, a line is no JSON, or nothing comes for a long time.
    pub fn until_response(&mut self, id: u64) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            let message = self.message().unwrap_or_else(|| panic!("no response to {id}, only {messages:?}"));
            let done = message.get("method").is_none() && message["id"] == id;
            messages.push(message);
            if done {
                return messages;
            }
        }
    }

    /// Opens session `s1`: `initialize` and `session/new`; gives back everything that came.
    ///
    /// # Panics
    ///
    /// As [`Self::until_response`].
    pub fn open(&mut self) -> io::Result<Vec<Value>> {
        let id = self.request("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}))?;
        let mut messages = self.until_response(id);
        let id = self.request("session/new", json!({"cwd": "/", "mcpServers": []}))?;
        messages.extend(self.until_response(id));
        Ok(messages)
    }

    /// Sends a prompt to `s1` and gives back its id.
    pub fn prompt(&mut self, text: &str) -> io::Result<u64> {
        self.request("session/prompt", json!({"sessionId": "s1", "prompt": [{"type": "text", "text": text}]}))
    }

    /// Closes the agent's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the end of the agent's process, whoever still holds its pipes.
    ///
    /// # Panics
    ///
    /// When it does not end for a long time.
    pub fn wait_exit(&mut self) -> ExitStatus {
        let mut status = None;
        let ended = wait_until(|| {
            status = self.child.try_wait().ok().flatten();
            status.is_some()
        });
        assert!(ended, "the agent {} does not end", self.child.id());
        status.unwrap_or_default()
    }

    /// Waits for the agent's end: how it ended, and what it wrote to stderr.
    ///
    /// # Panics
    ///
    /// When it does not end for a long time.
    pub fn wait(mut self) -> (ExitStatus, String) {
        let status = self.wait_exit();
        let stderr = self.stderr.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        (status, stderr)
    }

    /// Closes stdin and waits for the agent's end.
    ///
    /// # Panics
    ///
    /// When it does not end for a long time.
    pub fn finish(mut self) -> (ExitStatus, String) {
        self.close_stdin();
        self.wait()
    }

    /// Closes stdin; the script must have ended as it should.
    ///
    /// # Panics
    ///
    /// When the agent ends with another code than 0, or does not end for a long time.
    pub fn assert_clean(self) {
        let (status, stderr) = self.finish();
        assert!(status.success(), "{status}: {stderr}");
    }

    /// The script must have ended with this code, and said why.
    ///
    /// # Panics
    ///
    /// When it ended otherwise, or does not end for a long time.
    pub fn assert_failed(self, code: i32, why: &str) {
        let (status, stderr) = self.wait();
        assert_eq!(status.code(), Some(code), "{stderr}");
        assert!(stderr.contains(why), "{why:?} is not in {stderr:?}");
    }
}

/// The text of all chunks among some messages.
pub fn text_of(messages: &[Value]) -> String {
    messages.iter().filter_map(|message| message["params"]["update"]["content"]["text"].as_str()).collect()
}

impl Drop for RawClient {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
