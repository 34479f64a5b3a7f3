//! The file jail and its handlers, one module per behaviour.

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
