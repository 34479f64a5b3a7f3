//! The terminal methods, one module per behaviour.
#![expect(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "helpers of tests")]

#[cfg(unix)]
mod closing;
#[cfg(unix)]
mod lifecycle;
#[cfg(unix)]
mod output;
mod request;
#[cfg(unix)]
mod stubborn;
#[cfg(unix)]
mod support;
