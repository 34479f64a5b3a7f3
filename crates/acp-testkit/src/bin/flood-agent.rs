//! A minimal agent that answers each prompt with a flood: `flood-agent --kind text|tools|line|cumulative --count N
//! --write-bytes B --text-chars C` (see `acp_testkit::flood`). It shares the machine with the client that is measured, so it
//! does as little as it can.

use std::env;
use std::io::{self, BufRead, Write};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use acp_testkit::flood::Options;
use acp_testkit::play::default_initialize_result;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What matters in a message of the client.
#[derive(Deserialize)]
struct Message {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Params>,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "sessionId")]
    session_id: Option<String>,
}

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let options = Options::parse(&args).unwrap_or_else(|reason| fail(64, &reason));
    let cancelled = Arc::new(AtomicBool::new(false));
    let (sender, requests) = mpsc::channel();
    let flag = Arc::clone(&cancelled);
    thread::spawn(move || read(&sender, &flag));
    // A client that is gone is no fault.
    if let Err(error) = serve(&options, &requests, &cancelled)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        fail(1, &error.to_string());
    }
}

/// Reads messages beside the flood, so that a cancel is noticed in the middle of it.
fn read(requests: &Sender<Message>, cancelled: &AtomicBool) {
    for line in io::stdin().lock().split(b'\n') {
        let Ok(line) = line else { return };
        let message: Message = serde_json::from_slice(&line).unwrap_or_else(|error| fail(70, &error.to_string()));
        match message.method.as_deref() {
            Some("session/cancel") => cancelled.store(true, Ordering::Relaxed),
            // Here and not where the flood begins: a cancel may be read before that.
            Some("session/prompt") => cancelled.store(false, Ordering::Relaxed),
            _ => {}
        }
        if requests.send(message).is_err() {
            return;
        }
    }
}

fn serve(options: &Options, requests: &Receiver<Message>, cancelled: &AtomicBool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut sessions = 0_u64;
    for message in requests {
        let (Some(method), Some(id)) = (message.method, message.id) else { continue };
        let body = match method.as_str() {
            "initialize" => format!("\"result\":{}", default_initialize_result()),
            "authenticate" => "\"result\":{}".to_owned(),
            "session/new" => {
                sessions += 1;
                format!("\"result\":{{\"sessionId\":\"s{sessions}\"}}")
            }
            "session/prompt" => {
                let session = message.params.and_then(|params| params.session_id).unwrap_or_else(|| "s1".to_owned());
                let complete = options.write(&session, &mut out, cancelled)?;
                let reason = if complete { "end_turn" } else { "cancelled" };
                format!("\"result\":{{\"stopReason\":\"{reason}\"}}")
            }
            _ => "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}".to_owned(),
        };
        out.write_all(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{body}}}\n").as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

fn fail(code: i32, reason: &str) -> ! {
    drop(io::stderr().write_all(format!("flood-agent: {reason}\n").as_bytes()));
    process::exit(code)
}
