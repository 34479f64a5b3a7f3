//! A fake agent that plays a script: `fake-agent SCRIPT.jsonl`, `fake-agent --script JSON`, `fake-agent --case NAME`, or
//! `FAKE_AGENT_SCRIPT=JSON-or-path fake-agent`. What follows on the command line is `{{args}}` in the script.

use std::env;
use std::fs;
use std::io::{self, Write};

use acp_testkit::play::{self, AS_DAEMON, AS_SLEEPER, Stop};
use acp_testkit::{Script, cases};

const USAGE: &str = "usage: fake-agent SCRIPT.jsonl | --script JSON | --case NAME | --list-cases [ARGUMENT…], \
or FAKE_AGENT_SCRIPT=JSON-or-path fake-agent";

fn main() {
    let args: Vec<String> = env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [AS_SLEEPER, spec, ready] => end(play::run_sleeper(spec, ready)),
        [AS_DAEMON, spec, ready] => end(play::run_daemon(spec, ready)),
        ["--list-cases"] => list_cases(),
        ["--script", json, rest @ ..] => start(Script::parse(json), rest),
        ["--case", name, rest @ ..] => start(cases::script(name).ok_or(format!("there is no case {name}")), rest),
        ["--script" | "--case"] => play::finish(&Stop::unusable(USAGE)),
        [path, rest @ ..] if !path.starts_with('-') => start(read(path).and_then(|text| Script::parse(&text)), rest),
        rest => start(from_environment().and_then(|text| Script::parse(&text)), rest),
    }
}

fn start(script: Result<Script, String>, args: &[&str]) {
    match script {
        Ok(script) => play::run(&script, args),
        Err(reason) => play::finish(&Stop::unusable(reason)),
    }
}

fn from_environment() -> Result<String, String> {
    match env::var("FAKE_AGENT_SCRIPT") {
        Ok(script) if script.trim_start().starts_with(['[', '{']) => Ok(script),
        Ok(path) => read(&path),
        Err(_) => Err(USAGE.to_owned()),
    }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read the script {path}: {error}"))
}

fn list_cases() {
    let names = cases::names().join("\n") + "\n";
    drop(io::stdout().write_all(names.as_bytes()));
}

fn end(result: Result<(), Stop>) {
    if let Err(stop) = result {
        play::finish(&stop);
    }
}
