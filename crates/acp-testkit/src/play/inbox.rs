//! What the client sent and no step has taken yet.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::pattern;
use super::stop::Stop;
use crate::script::{Eof, Step};

/// A handler that sees messages before the queue does.
#[derive(Clone, Debug)]
pub struct Handler {
    /// Method that it handles.
    pub method: String,
    /// Pattern for the params.
    pub params: Option<Value>,
    /// Name of the message in its steps.
    pub name: String,
    /// How many more times it runs; without end when absent.
    pub left: Option<u64>,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// Messages in the order of their arrival.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    queue: VecDeque<Value>,
    handlers: Vec<Handler>,
    ended: bool,
    eof: Eof,
    /// Answers still owed for each of the agent's request ids (its JSON text).
    owed: HashMap<String, i64>,
}

/// What to wait for.
#[derive(Debug)]
pub enum Wanted<'a> {
    /// A request or notification.
    Method(&'a str, Option<&'a Value>),
    /// The answer to the request with this id.
    Response(&'a Value),
}

impl Wanted<'_> {
    fn check(&self, message: &Value) -> Result<(), String> {
        match self {
            Self::Method(method, params) => {
                let found = message.get("method").and_then(Value::as_str).unwrap_or("a response");
                if found != *method {
                    return Err(format!("{found} is not {method}"));
                }
                params.map_or(Ok(()), |params| pattern::matches(params, message.get("params").unwrap_or(&Value::Null)))
            }
            Self::Response(id) => {
                if message.get("method").is_none() && message.get("id") == Some(id) {
                    return Ok(());
                }
                Err(format!("not a response to {id}"))
            }
        }
    }
}

impl Inbox {
    /// Takes a line from the client. Gives back the handler that must run for it, if there is one.
    pub fn push(&self, line: &[u8]) -> Result<Option<(Handler, Value)>, Stop> {
        let message = parse(line)?;
        let mut state = self.lock();
        if message.get("method").is_none() {
            state.settle(&message)?;
        }
        let handler = state.handler_for(&message);
        if handler.is_none() {
            state.queue.push_back(message.clone());
        }
        drop(state);
        self.changed.notify_all();
        Ok(handler.map(|handler| (handler, message)))
    }

    /// Notes the end of stdin.
    pub fn end(&self) {
        self.lock().ended = true;
        self.changed.notify_all();
    }

    /// What the end of stdin means from now on.
    pub fn set_eof(&self, eof: Eof) {
        self.lock().eof = eof;
        self.changed.notify_all();
    }

    /// What the end of stdin means.
    pub fn eof(&self) -> Eof {
        self.lock().eof
    }

    /// Adds a handler. Messages that already wait are not handed to it.
    pub fn add_handler(&self, handler: Handler) {
        self.lock().handlers.push(handler);
    }

    /// Notes that the agent sent a request, so that a second answer to it is recognised.
    pub fn owe(&self, id: &Value) {
        *self.lock().owed.entry(id.to_string()).or_default() += 1;
    }

    /// Waits for a message and takes it from the queue.
    pub fn take(&self, wanted: &Wanted<'_>, strict: bool, timeout: Option<Duration>) -> Result<Value, Stop> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.lock();
        loop {
            let found = state.queue.iter().position(|message| wanted.check(message).is_ok());
            if strict && let Some(first) = state.queue.front() {
                wanted.check(first).map_err(|why| Stop::mismatch(format!("{why}, in {}", pattern::short(first))))?;
            }
            if let Some(message) = found.and_then(|index| state.queue.remove(index)) {
                return Ok(message);
            }
            if state.ended && state.eof != Eof::Ignore {
                return Err(Stop::mismatch(format!("stdin ended; {}", state.describe(wanted))));
            }
            state = match until {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return Err(Stop::mismatch(format!("nothing came in time; {}", state.describe(wanted))));
                    }
                    self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Whether such a message waits in the queue.
    pub fn has(&self, wanted: &Wanted<'_>) -> bool {
        self.lock().queue.iter().any(|message| wanted.check(message).is_ok())
    }

    /// Waits until stdin has ended, at most until the time is over; says whether it ended.
    pub fn wait_end(&self, timeout: Option<Duration>) -> bool {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.lock();
        while !state.ended {
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) if left.is_zero() => return false,
                Some(left) => self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        true
    }

    /// Fails when a message is there, or comes before the time is over. With a method only that one counts.
    pub fn silence(&self, time: Duration, method: Option<&str>) -> Result<(), Stop> {
        let until = Instant::now() + time;
        let counts = |message: &&Value| {
            method.is_none_or(|method| message.get("method").and_then(Value::as_str) == Some(method))
        };
        let mut state = self.lock();
        loop {
            if let Some(message) = state.queue.iter().find(counts) {
                return Err(Stop::mismatch(format!("expected silence, got {}", pattern::short(message))));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || state.ended {
                return Ok(());
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Every request gets exactly one answer (JSON-RPC 2.0, section 5). Ids that the script wrote as raw bytes are not known here.
    fn settle(&mut self, response: &Value) -> Result<(), Stop> {
        let id = response.get("id").unwrap_or(&Value::Null).to_string();
        match self.owed.get_mut(&id) {
            Some(0) => Err(Stop::mismatch(format!("a second response to {id}: {}", pattern::short(response)))),
            Some(owed) => {
                *owed -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn handler_for(&mut self, message: &Value) -> Option<Handler> {
        let handler = self.handlers.iter_mut().find(|handler| {
            handler.left != Some(0) && Wanted::Method(&handler.method, handler.params.as_ref()).check(message).is_ok()
        })?;
        handler.left = handler.left.map(|left| left - 1);
        Some(handler.clone())
    }

    fn describe(&self, wanted: &Wanted<'_>) -> String {
        let mut text = format!("{} messages wait", self.queue.len());
        for message in self.queue.iter().take(5) {
            let why = wanted.check(message).err().unwrap_or_default();
            let _ = write!(text, "\n  {} ({why})", pattern::short(message));
        }
        text
    }
}

/// One line of the client as a JSON-RPC message. A client writes nothing else (ACP, transports).
fn parse(line: &[u8]) -> Result<Value, Stop> {
    let wrong = |why: &str| {
        let line = String::from_utf8_lossy(&line[..line.len().min(400)]);
        Stop::mismatch(format!("the client wrote {why}: {line:?}"))
    };
    let text = str::from_utf8(line).map_err(|_| wrong("a line that is not UTF-8"))?;
    let message: Value = serde_json::from_str(text).map_err(|_| wrong("a line that is not JSON"))?;
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(wrong("a line without \"jsonrpc\":\"2.0\""));
    }
    let has = |key| message.get(key).is_some();
    let valid = match message.get("method") {
        Some(method) => method.is_string() && !has("result") && !has("error"),
        None => has("id") && has("result") != has("error"),
    };
    if valid { Ok(message) } else { Err(wrong("a line that is neither request, notification nor response")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn inbox(lines: &[&str]) -> Inbox {
        let inbox = Inbox::default();
        for line in lines {
            inbox.push(line.as_bytes()).unwrap();
        }
        inbox
    }

    #[test]
    fn takes_the_first_match_and_keeps_the_rest() {
        let inbox =
            inbox(&[r#"{"jsonrpc":"2.0","method":"a"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"b","params":{"x":1}}"#]);
        let b = inbox.take(&Wanted::Method("b", Some(&json!({"x": 1}))), false, None).unwrap();
        assert_eq!(b["id"], 1);
        assert!(inbox.has(&Wanted::Method("a", None)));
    }

    #[test]
    fn strict_fails_on_the_wrong_next_message() {
        let inbox = inbox(&[r#"{"jsonrpc":"2.0","method":"a"}"#, r#"{"jsonrpc":"2.0","method":"b"}"#]);
        let stop = inbox.take(&Wanted::Method("b", None), true, None).unwrap_err();
        assert!(stop.reason.unwrap().contains("a is not b"));
    }

    #[test]
    fn end_and_time_end_the_wait() {
        let inbox = inbox(&[r#"{"jsonrpc":"2.0","method":"a"}"#]);
        let timed_out = inbox.take(&Wanted::Method("b", None), false, Some(Duration::from_millis(1))).unwrap_err();
        assert!(timed_out.reason.unwrap().contains("1 messages wait"));
        inbox.end();
        assert!(inbox.take(&Wanted::Method("b", None), false, None).unwrap_err().reason.unwrap().contains("ended"));
    }

    #[test]
    fn a_second_answer_is_a_mismatch() {
        let inbox = Inbox::default();
        inbox.owe(&json!("x"));
        let answer = br#"{"jsonrpc":"2.0","id":"x","result":null}"#;
        inbox.push(answer).unwrap();
        assert!(inbox.push(answer).unwrap_err().reason.unwrap().contains("second response"));
    }

    #[test]
    fn only_json_rpc_is_accepted() {
        for line in [
            "",
            "hello",
            "[]",
            "{}",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"method":"a"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a","result":1}"#,
        ] {
            assert_eq!(parse(line.as_bytes()).unwrap_err().code, super::super::stop::MISMATCH, "{line}");
        }
        assert!(parse(b"\xff{}").is_err());
    }

    #[test]
    fn handlers_go_first_and_run_out() {
        let inbox = Inbox::default();
        let (method, name, left) = ("a".to_owned(), "it".to_owned(), Some(1));
        inbox.add_handler(Handler { method, params: None, name, left, steps: Vec::new() });
        let line = br#"{"jsonrpc":"2.0","method":"a"}"#;
        assert!(inbox.push(line).unwrap().is_some());
        assert!(inbox.push(line).unwrap().is_none());
        assert!(inbox.has(&Wanted::Method("a", None)));
    }
}
