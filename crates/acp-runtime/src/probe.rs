//! Readiness: is there an agent, does it start, does it speak the protocol, and would it take a session?
//!
//! Readiness is the handshake itself; there is no version flag. A probe never fails otherwise than by its status and
//! leaves no process behind.

use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;

use crate::ask;
use crate::client::{AgentFacts, Client, CloseOptions, LaunchOptions, SessionRequest};
use crate::error::{Details, ErrorCode};
use crate::port::DenyAll;
use crate::process::Ladder;

/// What to probe.
#[derive(Clone)]
pub struct ProbeOptions {
    /// The agent; `handshake.timeout` is the probe's limit.
    pub launch: LaunchOptions,
    /// Also open a session, which tells an agent that wants to be signed in from one that is. Off by default: some
    /// agents take seconds for it, and some create files.
    pub deep: bool,
}

/// The taxonomy of Fusion's contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeReason {
    /// The handshake completed.
    Ok,
    /// The binary was not found (127).
    MissingBinary,
    /// It could not be started, or ended before the handshake.
    SpawnError,
    /// It did not answer in time (124).
    HandshakeTimeout,
    /// It speaks another version.
    IncompatibleProtocol,
    /// It wants to be signed in.
    Unauthenticated,
}

/// What a probe found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProbeStatus {
    /// Whether the agent is ready.
    pub ok: bool,
    /// Why, or why not.
    pub reason: ProbeReason,
    /// For people; absent when all is well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The shell's code for the reason: 0, 1, 124 or 127.
    pub exit_code: u8,
    /// The negotiated version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<u16>,
    /// Whether the agent advertises ways to sign in. It may be signed in all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_required: Option<bool>,
    /// What the agent said in `initialize`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentFacts>,
    /// How long the probe took, in milliseconds, teardown not counted.
    pub elapsed_ms: u64,
    /// The end of the agent's stderr, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// Everything known of the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Details>,
}

/// Probes.
pub async fn probe(options: ProbeOptions) -> ProbeStatus {
    let started = Instant::now();
    let elapsed = move || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut launch = options.launch.clone();
    launch.offers = crate::capabilities::Offers::default();
    let cwd = launch.spec.cwd.to_string_lossy().into_owned();
    let limit = launch.handshake.timeout;
    let command = launch.spec.command.clone();
    let client = match Client::launch(launch, std::sync::Arc::new(DenyAll)).await {
        Ok(client) => client,
        Err(error) => return failed(error.into_details(), &command, None, elapsed()),
    };
    let facts = client.facts().clone();
    let deep = if options.deep { Some(open_session(&client, cwd, limit).await) } else { None };
    let elapsed = elapsed();
    let stderr_tail = Some(client.stderr()).filter(|tail| !tail.trim().is_empty());
    let ladder = Ladder { eof_grace: Duration::from_millis(300), ..Ladder::default() };
    client.close(CloseOptions { ladder, ..CloseOptions::default() }).await;
    match deep {
        Some(Err(mut details)) => {
            details.stderr_tail = details.stderr_tail.or(stderr_tail);
            failed(details, &command, Some(facts), elapsed)
        }
        _ => ProbeStatus {
            ok: true,
            reason: ProbeReason::Ok,
            detail: None,
            exit_code: 0,
            protocol_version: Some(facts.protocol_version),
            auth_required: Some(!facts.auth_methods.is_empty()),
            agent: Some(facts),
            elapsed_ms: elapsed,
            stderr_tail,
            error: None,
        },
    }
}

async fn open_session(client: &Client, cwd: String, limit: Duration) -> Result<(), Details> {
    let request = SessionRequest { timeout: Some(limit), ..SessionRequest::new(cwd) };
    ask::open(client, &request).await.map(drop).map_err(crate::error::Error::into_details)
}

fn failed(details: Details, command: &str, facts: Option<AgentFacts>, elapsed_ms: u64) -> ProbeStatus {
    let reason = match details.code {
        ErrorCode::MissingBinary => ProbeReason::MissingBinary,
        // A deep probe's session counts as part of the handshake.
        ErrorCode::HandshakeTimeout | ErrorCode::Timeout => ProbeReason::HandshakeTimeout,
        ErrorCode::IncompatibleProtocol => ProbeReason::IncompatibleProtocol,
        ErrorCode::AuthRequired => ProbeReason::Unauthenticated,
        _ => ProbeReason::SpawnError,
    };
    let detail = match reason {
        ProbeReason::MissingBinary => format!("ACP agent binary not found: {command}"),
        _ => details.message.clone(),
    };
    ProbeStatus {
        ok: false,
        reason,
        detail: Some(detail),
        exit_code: match reason {
            ProbeReason::MissingBinary => 127,
            ProbeReason::HandshakeTimeout => 124,
            _ => 1,
        },
        protocol_version: facts.as_ref().map(|f| f.protocol_version),
        auth_required: facts.as_ref().map(|f| !f.auth_methods.is_empty()),
        agent: facts,
        elapsed_ms,
        stderr_tail: details.stderr_tail.clone(),
        error: Some(details),
    }
}
