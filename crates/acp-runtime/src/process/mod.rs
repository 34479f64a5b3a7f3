//! Launching the agent and owning its whole process tree.
//!
//! The agent is an untrusted program that starts others: wrappers, workers, tools in sessions of their own. A process
//! group is not the tree. This module finds the tree by parentage, by session and by a mark in the environment (on
//! Windows: by a job object), ends it step by step, and does not report the end before nothing is left.
//! `docs/decisions/process-ownership.md` weighs the alternatives.

mod env;
mod input;
mod lookup;
#[cfg(unix)]
mod mark;
pub mod registry;
mod spawn;
mod spec;
mod stderr;
mod tree;
#[cfg(unix)]
pub mod watchdog;

pub use env::build_spawn_env;
pub use input::input_gone;
pub use lookup::find_binary;
pub use spawn::{Spawned, spawn};
pub use spec::{DEFAULT_STDERR_BYTES, LaunchSpec, OwnerId, RedactFn};
pub use stderr::{DEFAULT_DRAIN_BOUND, StderrTail};
pub use tree::{Ladder, ProcessTree, Rung, ShutdownReport};
