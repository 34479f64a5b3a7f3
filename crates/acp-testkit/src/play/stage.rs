//! What all threads of the agent share.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::finish;
use super::inbox::Inbox;
use super::output::Output;
use super::player::Player;
use super::stdin::Stdin;
use super::stop::{DEADLINE, Stop};
use super::vars::Vars;
use crate::script::{AtEnd, Eof, Options};

/// How long a script may take when it does not say so itself: no test hangs on a fake agent.
const DEFAULT_DEADLINE: Duration = Duration::from_secs(60);

/// The shared state.
#[derive(Debug)]
pub struct Stage {
    /// Messages from the client.
    pub inbox: Inbox,
    /// Stdout and the notes of the wire.
    pub output: Output,
    /// The thread that reads.
    pub stdin: Stdin,
    vars: Mutex<Vars>,
    settings: Mutex<Settings>,
    next_id: AtomicU64,
}

#[derive(Debug)]
struct Settings {
    deadline: Instant,
    /// The same in milliseconds, as the script gave it.
    deadline_ms: u128,
    strict: bool,
    at_end: AtEnd,
    /// Where the main script is, for messages.
    place: String,
}

impl Stage {
    /// A stage on which nothing happened yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            inbox: Inbox::default(),
            output: Output::default(),
            stdin: Stdin::new()?,
            vars: Mutex::default(),
            settings: Mutex::new(Settings {
                deadline: Instant::now() + DEFAULT_DEADLINE,
                deadline_ms: DEFAULT_DEADLINE.as_millis(),
                strict: false,
                at_end: AtEnd::default(),
                place: "the start".to_owned(),
            }),
            next_id: AtomicU64::new(1),
        })
    }

    /// Variables for the steps of one thread.
    pub fn vars(&self) -> Vars {
        self.vars.lock().unwrap_or_else(PoisonError::into_inner).fork()
    }

    /// An id that no other request of the agent has.
    pub fn fresh_id(&self) -> Value {
        Value::from(format!("fake-{}", self.next_id.fetch_add(1, Ordering::Relaxed)))
    }

    /// Whether `expect` is strict where it does not say so itself.
    pub fn strict(&self) -> bool {
        self.settings().strict
    }

    /// Notes where the main script is.
    pub fn arrive_at(&self, place: &str) {
        place.clone_into(&mut self.settings().place);
    }

    /// Changes how the script is played.
    pub fn set_options(self: &Arc<Self>, options: &Options) {
        let mut settings = self.settings();
        if let Some(ms) = options.deadline_ms {
            settings.deadline = Instant::now() + Duration::from_millis(ms);
            settings.deadline_ms = ms.into();
        }
        settings.strict = options.strict.unwrap_or(settings.strict);
        settings.at_end = options.at_end.unwrap_or(settings.at_end);
        drop(settings);
        if let Some(eof) = options.eof {
            self.set_eof(eof);
        }
    }

    /// Changes what the end of stdin means.
    pub fn set_eof(self: &Arc<Self>, eof: Eof) {
        self.inbox.set_eof(eof);
        match eof {
            Eof::Fail => {}
            Eof::Exit => self.listen(),
            Eof::Ignore => self.output.ignore_broken_pipe(),
        }
    }

    /// Starts to read stdin, once.
    pub fn listen(self: &Arc<Self>) {
        if !self.stdin.start() {
            return;
        }
        let stage = Arc::clone(self);
        thread::spawn(move || {
            let result = stage.stdin.read_lines(|line| {
                stage.output.log.client(line)?;
                stage.hand_out(line)
            });
            if let Err(stop) = result {
                finish(&stop);
            }
            if stage.stdin.is_closed() {
                return;
            }
            if stage.inbox.eof() == Eof::Exit {
                finish(&Stop::wanted(0));
            }
            stage.inbox.end();
        });
    }

    /// Queues a line, or plays the handler that waits for it.
    fn hand_out(self: &Arc<Self>, line: &[u8]) -> Result<(), Stop> {
        let Some((handler, message)) = self.inbox.push(line)? else { return Ok(()) };
        let mut player = Player::new(Arc::clone(self), &format!("on {}, step", handler.method));
        player.vars.set_own("last", message.clone());
        player.vars.set_own(&handler.name, message);
        player.play_beside(handler.steps);
        Ok(())
    }

    /// Ends the process when the deadline has passed.
    pub fn watch_deadline(self: &Arc<Self>) {
        let stage = Arc::clone(self);
        thread::spawn(move || {
            loop {
                let settings = stage.settings();
                let left = settings.deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    let reason = format!("the deadline of {} ms passed at {}", settings.deadline_ms, settings.place);
                    finish(&Stop { code: DEADLINE, reason: Some(reason) });
                }
                drop(settings);
                thread::sleep(left.min(Duration::from_millis(100)));
            }
        });
    }

    /// What happens after the last step.
    pub fn after_last_step(self: &Arc<Self>) -> Stop {
        self.arrive_at("the end of the script, waiting for the end of stdin");
        if self.settings().at_end == AtEnd::WaitEof {
            self.listen();
            self.inbox.wait_end(None);
            while self.inbox.eof() == Eof::Ignore {
                thread::park();
            }
        }
        Stop::wanted(0)
    }

    fn settings(&self) -> std::sync::MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
