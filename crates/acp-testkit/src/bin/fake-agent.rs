//! A fake agent that plays a script: `fake-agent SCRIPT.jsonl`, `fake-agent --script JSON`, or `FAKE_AGENT_SCRIPT=JSON`.

use std::env;
use std::fs;

use acp_testkit::Script;
use acp_testkit::play::{self, AS_DAEMON, AS_SLEEPER, Stop};

const USAGE: &str = "usage: fake-agent SCRIPT.jsonl | fake-agent --script JSON | FAKE_AGENT_SCRIPT=JSON-or-path fake-agent";

fn main() {
    let args: Vec<String> = env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [AS_SLEEPER, spec, ready] => end(play::run_sleeper(spec, ready)),
        [AS_DAEMON, spec, ready] => end(play::run_daemon(spec, ready)),
        _ => match load(&args).and_then(|text| Script::parse(&text)) {
            Ok(script) => play::run(&script),
            Err(reason) => play::finish(&Stop::unusable(reason)),
        },
    }
}

/// The script's text. Arguments after it are free: they are what `{{args}}` holds.
fn load(args: &[&str]) -> Result<String, String> {
    match args {
        ["--script", json, ..] => Ok((*json).to_owned()),
        ["--script"] => Err(USAGE.to_owned()),
        [path, ..] if !path.starts_with('-') => read(path),
        _ => match env::var("FAKE_AGENT_SCRIPT") {
            Ok(script) if script.trim_start().starts_with(['[', '{']) => Ok(script),
            Ok(path) => read(&path),
            Err(_) => Err(USAGE.to_owned()),
        },
    }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read the script {path}: {error}"))
}

fn end(result: Result<(), Stop>) {
    if let Err(stop) = result {
        play::finish(&stop);
    }
}
