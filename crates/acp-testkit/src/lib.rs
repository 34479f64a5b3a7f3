//! A scripted fake agent and the support that tests of an ACP client need around it.
//!
//! | module | what it is for |
//! |---|---|
//! | [`script`] | the script: its steps, a builder, reading and writing |
//! | [`play`] | the interpreter behind the `fake-agent` binary |
//! | [`flood`] | the pre-built updates behind the `flood-agent` binary |
//! | [`cases`] | ready scripts for faults seen in the field |
//! | [`raw_client`] | a client without any protocol logic, over raw pipes |
//! | [`process`] | who is alive, and who must not be |
//! | [`transcript`] | golden transcripts |
#![warn(missing_docs)]

pub mod cases;
pub mod flood;
pub mod play;
pub mod process;
pub mod raw_client;
pub mod script;
pub mod transcript;

pub use script::{Script, Step};
