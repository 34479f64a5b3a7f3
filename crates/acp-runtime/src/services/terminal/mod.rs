//! Terminals.
