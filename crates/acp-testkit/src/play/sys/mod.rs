//! What depends on the operating system: the streams' real ends, signals, sessions.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::*;
#[cfg(unix)]
pub use unix::*;
