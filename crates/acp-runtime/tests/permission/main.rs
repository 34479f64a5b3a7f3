//! The permission floor, one module per behaviour.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "helpers of tests")]

mod answers;
mod decoding;
mod floor;
mod tool_calls;
