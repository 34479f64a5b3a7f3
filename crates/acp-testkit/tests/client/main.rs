//! The client against the fake agent, one module per behaviour. Names such as W01 are those of the list of field cases,
//! C33 those of the protocol's rules for clients.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what fails in a helper fails its test")]

mod answers;
mod backpressure;
mod cancel;
mod children;
mod deaf;
mod endings;
mod failures;
mod gates;
mod goldens;
mod halves;
mod handshake;
#[path = "../common/immortal.rs"]
mod immortal;
mod json_recovery;
mod late_commands;
mod lines;
mod lost_text;
mod mcp;
mod noise;
mod opening;
mod order;
mod parking;
mod permissions;
mod questions;
mod requests;
mod secrets;
mod sessions;
mod signing_in;
mod silence;
mod state;
mod stderr;
mod stop_reasons;
mod support;
mod transcripts;
#[cfg(unix)]
mod trees;
mod updates;
mod values;
