//! The end of a connection: how it is told apart, and who hears of it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc::UnboundedReceiver;

use super::inbound::guard;
use super::state::State;
use super::stop_reason::finish_turn;
use super::{CancelState, Command, EndFacts};
use crate::bridge::CallsClosed;
use crate::error::{Error, ErrorCode, ExitFacts, Phase};
use crate::process::registry::SWEPT;

/// Why the task stopped.
pub(super) enum End {
    /// The process ended; its output was read to the end, or for as long as a descendant's grip on it was worth waiting.
    Exited(ExitFacts),
    /// Its stdout ended, or its stdin broke, while the process lived on.
    Closed(&'static str),
    /// The host closed the client.
    Stopped(Error),
    /// The last handle is gone.
    Abandoned,
}

impl State {
    /// The facts of an end, before anything is failed with them. `swept`: the host ended all of its agents at once.
    pub(super) fn facts(&mut self, end: End, stderr_tail: Option<String>, swept: bool) -> EndFacts {
        let stderr_tail = stderr_tail.filter(|tail| !tail.trim().is_empty());
        let closing = self.shared.closing.load(Ordering::Acquire);
        let by_host = if closing { Some(CLOSED) } else { swept.then_some(SWEPT) };
        match (end, by_host) {
            // The host wanted it so, and how the agent took it is still told.
            (End::Exited(exit), Some(why)) => closed_by_host(why, Some(exit), stderr_tail),
            (End::Closed(_), Some(why)) => closed_by_host(why, None, stderr_tail),
            (End::Exited(exit), None) => EndFacts {
                code: ErrorCode::AgentExited,
                message: self.exit_message(&exit, stderr_tail.as_deref()),
                exit: Some(exit),
                stderr_tail,
            },
            (End::Closed(why), None) => EndFacts {
                code: ErrorCode::ConnectionClosed,
                message: format!("ACP connection closed: {why}{}", last_line(stderr_tail.as_deref())),
                exit: None,
                stderr_tail,
            },
            (End::Stopped(error), _) => {
                EndFacts { code: error.code(), message: error.to_string(), exit: None, stderr_tail }
            }
            (End::Abandoned, _) => EndFacts {
                code: ErrorCode::ClientClosed,
                message: "the ACP client was dropped".to_owned(),
                exit: None,
                stderr_tail,
            },
        }
    }

    fn exit_message(&mut self, exit: &ExitFacts, stderr_tail: Option<&str>) -> String {
        let mut pending: Vec<_> = self.pending.methods().into_iter().map(str::to_owned).collect();
        if self.sessions.iter_mut().any(|session| session.turn.is_some()) {
            pending.push("session/prompt".to_owned());
        }
        pending.sort_unstable();
        pending.dedup();
        let waiting =
            if pending.is_empty() { String::new() } else { format!(" while {} was pending", pending.join(", ")) };
        let silent = if self.shared.diagnostics.heard_anything() { "" } else { "; it wrote nothing to stdout" };
        format!("ACP agent exited ({exit}){waiting}{silent}{}", last_line(stderr_tail))
    }

    /// Ends the connection for everyone: who waits, who asked just now, and who comes later.
    pub(super) fn end(&mut self, facts: &Arc<EndFacts>, commands: &mut UnboundedReceiver<Command>) {
        self.fail_all(facts);
        // The reason first: whoever finds the inbox closed looks it up.
        self.shared.end.send_replace(Some(Arc::clone(facts)));
        commands.close();
        while let Ok(command) = commands.try_recv() {
            match command {
                Command::Call { options, reply, .. } => reply(Err(facts.error().in_phase(options.phase))),
                Command::Prompt { reply, .. } => reply(Err(facts.error().in_phase(Phase::Prompt))),
                Command::Cancel { done, .. } => drop(done.send(CancelState::Idle)),
                Command::CancelChild { done, .. } => drop(done.send(Err(facts.error()))),
                Command::Wind { done, .. } => drop(done.send(())),
                Command::Notify { .. }
                | Command::NotifyMcp { .. }
                | Command::Abandon { .. }
                | Command::DropSession { .. }
                | Command::Stop { .. } => {}
            }
        }
        let exit = facts.exit.clone().unwrap_or_default();
        let _ = guard(|| self.host.closed(&exit));
    }

    /// Fails everything that waits. Nobody is left hanging, nobody is told twice.
    fn fail_all(&mut self, facts: &Arc<EndFacts>) {
        for session_id in self.sessions.ids() {
            self.settle_halves_of_session(&session_id);
        }
        self.publish_all();
        for session_id in self.sessions.ids() {
            let Some(session) = self.sessions.get_mut(&session_id) else { continue };
            let turn = session.end_turn(CallsClosed::AgentGone, None);
            session.on_end();
            if let Some(mut turn) = turn {
                session.publish();
                // It was only waiting for stragglers, and none can come now.
                if let Some(result) = turn.take_result() {
                    finish_turn(turn, result);
                    continue;
                }
                let mut error = facts.error().in_phase(Phase::Prompt);
                error.details_mut().prompt_may_have_been_sent =
                    self.pending.get_mut(turn.call).is_none_or(|c| c.written);
                turn.fail(error);
            }
        }
        for mut waiting in self.pending.drain() {
            waiting.answer(Err(facts.error()));
        }
        for (_, done) in self.cancels.drain(..) {
            let _ = done.send(CancelState::Forced);
        }
        if let Some(winding) = self.winding.take() {
            let _ = winding.done.send(());
        }
    }
}

/// A task that dies of a fault of its own, or with its runtime, still answers everyone.
impl Drop for State {
    fn drop(&mut self) {
        if self.shared.end.borrow().is_some() {
            return;
        }
        let facts = Arc::new(EndFacts {
            code: ErrorCode::InternalError,
            message: "the ACP connection failed inside the runtime".to_owned(),
            exit: None,
            stderr_tail: None,
        });
        self.fail_all(&facts);
        self.shared.end.send_replace(Some(facts));
    }
}

const CLOSED: &str = "the ACP client was closed";

fn closed_by_host(why: &str, exit: Option<ExitFacts>, stderr_tail: Option<String>) -> EndFacts {
    EndFacts { code: ErrorCode::ClientClosed, message: why.to_owned(), exit, stderr_tail }
}

/// The last line of stderr that says something, for the message.
fn last_line(stderr_tail: Option<&str>) -> String {
    let line = stderr_tail.and_then(|tail| tail.lines().rev().find(|line| !line.trim().is_empty()));
    line.map_or_else(String::new, |line| format!(": {}", line.trim().chars().take(300).collect::<String>()))
}
