//! The terminal methods, one module per behaviour.

#[cfg(unix)]
mod lifecycle;
#[cfg(unix)]
mod output;
mod request;
#[cfg(unix)]
mod stubborn;
#[cfg(unix)]
mod support;
