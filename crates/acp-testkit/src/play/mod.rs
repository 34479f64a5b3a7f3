//! The interpreter: plays a script over the process's own stdin and stdout.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process;
use std::sync::Arc;

use crate::script::Script;

mod children;
mod inbox;
mod messages;
mod output;
pub mod pattern;
mod player;
mod stage;
mod stdin;
mod stop;
mod sys;
pub mod vars;

pub use children::{AS_DAEMON, AS_SLEEPER, run_daemon, run_sleeper};
pub use messages::initialize_result as default_initialize_result;
pub use stop::{BROKEN_PIPE, DEADLINE, MISMATCH, Stop, UNUSABLE};

/// Plays a script, which knows `args` by that name, and ends the process: with 0 at the end of the script, with the script's own code, or with
/// [`MISMATCH`], [`DEADLINE`], [`BROKEN_PIPE`] or [`UNUSABLE`] and the reason on stderr.
pub fn run(script: &Script, args: &[&str]) -> ! {
    let stage = match stage::Stage::new() {
        Ok(stage) => Arc::new(stage),
        Err(error) => finish(&Stop::unusable(format!("cannot prepare: {error}"))),
    };
    stage.watch_deadline();
    let mut player = player::Player::new(Arc::clone(&stage), "step");
    player.vars.set("args", args.into());
    let stop = player.play(&script.steps).err().unwrap_or_else(|| stage.after_last_step());
    finish(&stop)
}

/// Ends the process.
pub fn finish(stop: &Stop) -> ! {
    if let Some(reason) = &stop.reason {
        let mut text = String::new();
        for line in reason.lines() {
            let _ = writeln!(text, "fake-agent: {line}");
        }
        output::complain(&text);
    }
    drop(io::stdout().flush());
    process::exit(stop.code)
}
