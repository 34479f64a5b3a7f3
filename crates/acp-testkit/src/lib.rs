//! Scripted fake agents.
