//! The permission floor, one module per behaviour.

mod answers;
mod decoding;
mod floor;
mod tool_calls;
