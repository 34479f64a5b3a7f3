//! The loop: reads, dispatches, writes, watches the clock, and notices the end.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::end::End;
use super::open_requests::Finished;
use super::state::State;
use super::{Command, Transport};
use crate::delivery::Outbox;
use crate::error::ExitFacts;
use crate::port::BoxFuture;
use crate::session::Session;
use crate::wire::{Line, LineSplitter};

/// After the process ended, how long its stdout may stay silent before it is given up: a descendant may hold it for ever
/// (field case P06).
const DRAIN_SILENCE: Duration = Duration::from_millis(250);
/// After the process ended, how long its stdout is read at all.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);
/// After stdout or stdin broke, how long the exit is waited for, which says more.
const EXIT_WAIT: Duration = Duration::from_millis(500);
/// After the agent closed its stdin, how long it may be silent while somebody waits for it. It can still answer what it has
/// read, but neither a cancel nor an answer of ours reaches it any more.
const DEAF_SILENCE: Duration = Duration::from_secs(10);
/// Output waiting for the agent above this stops reading from it, and taking answers for it, in bytes: it has to take what
/// there is first.
const MAX_OUT_BYTES: usize = 8 * 1024 * 1024;

/// Lines handled before clocks and the host have their turn, however many one read brought: each may be much work.
const MAX_BATCH_LINES: usize = 128;

const DEAF: &str = "the agent closed its stdin";

/// What the loop knows of the transport.
struct Ends {
    eof: bool,
    exit: Option<ExitFacts>,
    /// Why the connection is beyond use although the process lives.
    broken: Option<&'static str>,
    /// When an agent that closed its stdin has been silent for too long.
    deaf: Option<Instant>,
    /// When waiting for more is over.
    deadline: Option<Instant>,
    /// When draining is over, whatever still comes.
    drain_limit: Option<Instant>,
}

pub(super) async fn run(transport: Transport, mut commands: UnboundedReceiver<Command>, mut state: State) {
    let Transport { mut reader, writer, input_gone, process } = transport;
    let mut input = Some(Input { writer, gone: input_gone });
    let mut lines = LineSplitter::new(state.options.max_line_bytes);
    let mut exited = process.exited();
    let mut ends = Ends { eof: false, exit: None, broken: None, deaf: None, deadline: None, drain_limit: None };

    let end = loop {
        state.now = Instant::now();
        let more = decode(&mut state, &mut lines);
        if ends.eof && !more {
            match lines.take_rest() {
                Some(Line::Complete(rest)) => state.on_line(rest),
                Some(Line::Oversize { bytes, head, tail }) => state.on_oversize(bytes, head, tail),
                None => {}
            }
        }
        state.take_answers(&mut commands);
        state.publish_all();
        state.reconsider_blocked();
        close_input_when_wound(&mut state, &mut input, &mut ends).await;
        if let Some(error) = state.stop.take() {
            break End::Stopped(error);
        }
        // Not while there is more to take of what was read, be it that a slow host has no room.
        if !more && let Some(end) = ends.reached(&mut state) {
            break end;
        }

        let (has_output, others) = (state.has_output(), state.others_wait());
        let has_room = state.has_room();
        let goes_on = more && state.blocked.is_empty();
        let may_read = !ends.eof && !more && state.blocked.is_empty() && has_room;
        let ending = earliest(ends.deadline, ends.deaf.filter(|_| ends.exit.is_none() && state.waits()));
        let deadline = earliest(state.next_deadline(), ending.filter(|_| state.blocked.is_empty()));
        let (writer, gone) = match &mut input {
            Some(Input { writer, gone }) => (Some(&mut **writer), Some(gone).filter(|_| ends.deaf.is_none())),
            None => (None, None),
        };
        let may_go = gone.is_some();
        tokio::select! {
            command = commands.recv() => match command {
                Some(command) => {
                    state.now = Instant::now();
                    state.on_command(command);
                }
                None => break End::Abandoned,
            },
            // Times are taken after the wait, never before it.
            read = read_some(&mut *reader, &mut lines), if may_read => ends.on_read(&read, &state),
            written = write_some(writer, &state.out[state.written..]), if has_output => {
                on_written(&mut state, &mut input, &mut ends, &written);
            }
            () = hung_up(gone), if may_go => ends.deaf = Some(Instant::now() + DEAF_SILENCE),
            () = space(state.blocked.first().map(|outbox| &**outbox), others), if !state.blocked.is_empty() => state.on_space(),
            Some(finished) = state.inbound.next(), if has_room && !state.inbound.is_empty() => {
                state.now = Instant::now();
                state.on_answer_after(finished, &mut commands);
            }
            exit = &mut exited, if ends.exit.is_none() => ends.on_exit(exit, Instant::now()),
            () = std::future::ready(()), if goes_on => {
                state.now = Instant::now();
                state.take_commands(&mut commands);
                if state.next_deadline().is_some_and(|deadline| deadline <= state.now) {
                    state.on_timer();
                }
            }
            () = sleep_until(deadline.unwrap_or(state.now)), if deadline.is_some() => {
                state.now = Instant::now();
                state.on_timer();
            }
        }
    };

    state.stop_serving();
    let killed = matches!(end, End::Abandoned);
    if killed {
        process.kill();
    }
    let stderr_tail = process.stderr_tail().await;
    let facts = Arc::new(state.facts(end, stderr_tail, process.swept()));
    state.end(&facts, &mut commands);
    state.options.services.closed().await;
    tracing::debug!(target: "acp::connection", code = %facts.code, "connection ended");
}

impl Ends {
    fn on_read(&mut self, read: &std::io::Result<usize>, state: &State) {
        match read {
            Ok(0) | Err(_) => {
                self.eof = true;
                self.broken.get_or_insert("the agent closed its stdout");
                self.wait(Instant::now() + EXIT_WAIT);
            }
            Ok(bytes) => {
                state.shared.diagnostics.received_bytes(*bytes as u64);
                if let Some(deaf) = &mut self.deaf {
                    *deaf = Instant::now() + DEAF_SILENCE;
                }
                if let Some(limit) = self.drain_limit {
                    self.deadline = Some((Instant::now() + DRAIN_SILENCE).min(limit));
                }
            }
        }
    }

    fn on_exit(&mut self, exit: ExitFacts, now: Instant) {
        self.exit = Some(exit);
        self.drain_limit = Some(now + DRAIN_LIMIT);
        self.deadline = Some(now + DRAIN_SILENCE);
    }

    fn on_broken_input(&mut self, now: Instant) {
        self.broken.get_or_insert(DEAF);
        self.wait(now + EXIT_WAIT);
    }

    fn wait(&mut self, until: Instant) {
        self.deadline.get_or_insert(until);
    }

    /// Whether the connection is over. Not while a slow host has yet to take what was read.
    fn reached(&self, state: &mut State) -> Option<End> {
        if !state.blocked.is_empty() {
            return None;
        }
        let passed = |deadline: Option<Instant>| deadline.is_some_and(|deadline| deadline <= state.now);
        let over = passed(self.deadline);
        if self.exit.is_none() && passed(self.deaf) && state.waits() {
            return Some(End::Closed(DEAF));
        }
        match &self.exit {
            Some(exit) if self.eof || over => Some(End::Exited(exit.clone())),
            None if over => self.broken.map(End::Closed),
            _ => None,
        }
    }
}

impl State {
    fn has_output(&self) -> bool {
        self.written < self.out.len()
    }

    /// Whether the agent takes what it gets.
    fn has_room(&self) -> bool {
        self.out.len() - self.written < MAX_OUT_BYTES
    }

    /// Takes what the handlers that have finished say: one batch of lines may start, and take back, many.
    fn take_answers(&mut self, commands: &mut UnboundedReceiver<Command>) {
        while self.has_room()
            && let Some(finished) = self.inbound.try_next()
        {
            self.on_answer_after(finished, commands);
        }
    }

    /// What the host said before it answered goes out before the answer.
    fn on_answer_after(&mut self, finished: Finished, commands: &mut UnboundedReceiver<Command>) {
        self.take_commands(commands);
        self.on_answer(finished);
    }

    fn take_commands(&mut self, commands: &mut UnboundedReceiver<Command>) {
        while let Ok(command) = commands.try_recv() {
            self.on_command(command);
        }
    }

    /// Whether the agent owes an answer that somebody waits for.
    fn waits(&mut self) -> bool {
        let runs = |session: &mut Session| session.turn.as_ref().is_some_and(|turn| turn.held_result().is_none());
        self.pending.awaited() || self.sessions.iter_mut().any(runs)
    }

    /// Nobody takes an answer any more: nothing that was asked for is done any more either.
    fn stop_serving(&mut self) {
        self.input_closed = true;
        self.options.services.closing();
        self.refuse_open_requests();
    }
}

/// Handles what was read, a batch of it at most. Gives back whether there may be more.
fn decode(state: &mut State, lines: &mut LineSplitter) -> bool {
    for _ in 0..MAX_BATCH_LINES {
        if !state.blocked.is_empty() {
            break;
        }
        match lines.next_line() {
            Some(Line::Complete(line)) => state.on_line(line),
            Some(Line::Oversize { bytes, head, tail }) => state.on_oversize(bytes, head, tail),
            None => return false,
        }
    }
    true
}

async fn read_some(reader: &mut (dyn AsyncRead + Send + Unpin), lines: &mut LineSplitter) -> std::io::Result<usize> {
    reader.read_buf(lines.read_buffer()).await
}

async fn write_some(
    writer: Option<&mut (dyn AsyncWrite + Send + Unpin + 'static)>,
    bytes: &[u8],
) -> std::io::Result<usize> {
    match writer {
        Some(writer) => writer.write(bytes).await,
        None => Ok(bytes.len()),
    }
}

async fn space(blocked: Option<&Outbox>, park: bool) {
    if let Some(outbox) = blocked {
        outbox.space(park).await;
    }
}

/// The agent's stdin. Both hold it open.
struct Input {
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    gone: BoxFuture<()>,
}

async fn hung_up(gone: Option<&mut BoxFuture<()>>) {
    match gone {
        Some(gone) => gone.await,
        None => std::future::pending().await,
    }
}

fn on_written(state: &mut State, input: &mut Option<Input>, ends: &mut Ends, written: &std::io::Result<usize>) {
    match written {
        Ok(bytes) if *bytes > 0 => {
            state.written += *bytes;
            let written = state.written;
            let sent = state.unwritten.iter().take_while(|(_, end)| *end <= written).count();
            for (call, _) in state.unwritten.drain(..sent) {
                if let Some(call) = state.pending.get_mut(call) {
                    call.written = true;
                }
            }
            if state.written == state.out.len() {
                state.out.clear();
                state.written = 0;
                state.out.shrink_to(64 * 1024);
            }
        }
        // The agent closed its stdin: a typed failure of what waits, never a crash (field case P09).
        _ => {
            *input = None;
            state.input_closed = true;
            // There is room for answers now, and nobody to take them.
            state.refuse_open_requests();
            state.out.clear();
            state.written = 0;
            ends.on_broken_input(Instant::now());
        }
    }
}

/// Closes the agent's stdin once a teardown's turns have ended and its output is written, or its grace is over.
async fn close_input_when_wound(state: &mut State, input: &mut Option<Input>, ends: &mut Ends) {
    let Some(winding) = &state.winding else { return };
    let idle = !state.has_output() && state.sessions.iter_mut().all(|s| s.turn.is_none());
    if !(idle || winding.deadline <= state.now || ends.exit.is_some() || ends.broken.is_some() || ends.deaf.is_some()) {
        return;
    }
    state.input_closed = true;
    if let Some(mut input) = input.take() {
        let _ = input.writer.shutdown().await;
    }
    if let Some(winding) = state.winding.take() {
        let _ = winding.done.send(());
    }
}

fn earliest(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
