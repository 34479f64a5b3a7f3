//! The file jail and its handlers, one module per behaviour.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "helpers of tests")]

mod handlers;
#[cfg(unix)]
mod links;
mod paths;
#[cfg(unix)]
mod property;
#[cfg(unix)]
mod race;
mod secrets;
mod support;
mod write;
