//! Bytes and JSON-RPC: framing, the envelope, and the one place that imports the schema crate.
//!
//! Decoding is tolerant in three steps: the envelope here, which keeps ids, params and results as raw JSON; the official
//! schema type, where one is needed ([`schema`]); and the raw value, which the host still gets when the type does not fit.
//! Nothing in this module does I/O.

mod around;
pub mod chunk;
pub mod chunk_reader;
pub mod encode;
pub mod envelope;
pub mod frame;
mod object;
pub mod oversize;
pub(crate) mod redacted;
pub mod rpc_error;
pub mod schema;
mod text;
pub mod update;
pub mod update_reader;
mod values;

pub use envelope::{Frame, Message, Noise};
pub use frame::{Line, LineSplitter};
pub use text::Text;

/// The most JSON values in a line that is accepted: reading one takes tens of bytes, and it may take only two on the wire.
pub const MAX_LINE_VALUES: usize = 1_000_000;
/// The longest line accepted by default, in bytes (32 MiB).
pub const DEFAULT_MAX_LINE_BYTES: usize = 32 * 1024 * 1024;
