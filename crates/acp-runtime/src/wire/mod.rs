//! Bytes and JSON-RPC: framing, the envelope, and the one place that imports the schema crate.
