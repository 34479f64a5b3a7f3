//! Launching agents and owning their process trees, one module for each behaviour.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod env;
mod escape;
mod input;
mod kill;
mod namespace;
mod shutdown;
mod spawn;
mod stage;
mod stderr;
mod watchdog;
