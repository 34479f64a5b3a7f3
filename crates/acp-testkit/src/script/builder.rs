//! Building scripts in Rust: `Script::new().initialize().session_new("s1").prompt_begin().text("hi").prompt_end("end_turn")`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{
    Check, Empty, Eof, Exit, Expect, ExpectResponse, ExpectSilence, File, Flood, Grandchild, Initialize, KillSelf,
    Loop, Notify, On, OnSignal, Options, Permission, Piece, PromptBegin, PromptEnd, Raw, Request, Respond, Script,
    Send, SessionNew, Set, Sleep, Stderr, Step, Steps, Text, Until, Update,
};

impl Piece {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A piece of bytes.
    pub fn bytes(bytes: &[u8]) -> Self {
        Self { base64: Some(STANDARD.encode(bytes)), ..Self::default() }
    }

    /// A JSON value with its newline.
    pub fn json(value: Value) -> Self {
        Self { json: Some(value), ..Self::default() }
    }

    /// The same piece, `times` times.
    #[must_use]
    pub fn repeated(self, times: u64) -> Self {
        Self { repeat: Some(times), ..self }
    }
}

/// Each method appends one step and gives the script back; [`Script::push`] takes the steps that have no method here.
#[expect(missing_docs, reason = "each method is the step of the same name, documented there")]
impl Script {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Appends the steps of another script.
    pub fn then(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self
    }

    pub fn options(self, options: Options) -> Self {
        self.push(Step::Options(options))
    }

    pub fn deadline_ms(self, ms: u64) -> Self {
        self.options(Options { deadline_ms: Some(ms), ..Options::default() })
    }

    pub fn eof(self, eof: Eof) -> Self {
        self.options(Options { eof: Some(eof), ..Options::default() })
    }

    pub fn expect(self, method: &str) -> Self {
        self.push(Step::Expect(Expect { method: method.into(), ..Expect::default() }))
    }

    /// `expect` with a name.
    pub fn expect_as(self, method: &str, name: &str) -> Self {
        self.push(Step::Expect(Expect { method: method.into(), name: Some(name.into()), ..Expect::default() }))
    }

    /// `expect` with a pattern for the params.
    pub fn expect_params(self, method: &str, params: Value) -> Self {
        self.push(Step::Expect(Expect { method: method.into(), params: Some(params), ..Expect::default() }))
    }

    /// The answer to the request of that name, of any content; remembered as `into`.
    pub fn expect_response(self, to: &str, into: &str) -> Self {
        let step = ExpectResponse { to: Some(to.into()), into: Some(into.into()), ..ExpectResponse::default() };
        self.push(Step::ExpectResponse(step))
    }

    /// The answer to the request of that name must be a result like this.
    pub fn expect_result(self, to: &str, result: Value) -> Self {
        let step = ExpectResponse { to: Some(to.into()), result: Some(result), ..ExpectResponse::default() };
        self.push(Step::ExpectResponse(step))
    }

    /// The answer to the request of that name must be an error like this.
    pub fn expect_error(self, to: &str, error: Value) -> Self {
        let step = ExpectResponse { to: Some(to.into()), error: Some(error), ..ExpectResponse::default() };
        self.push(Step::ExpectResponse(step))
    }

    pub fn expect_silence(self, ms: u64) -> Self {
        self.push(Step::ExpectSilence(ExpectSilence { ms, method: None }))
    }

    pub fn expect_eof(self) -> Self {
        self.push(Step::ExpectEof(Empty {}))
    }

    pub fn check(self, value: Value, matches: Value) -> Self {
        self.push(Step::Check(Check { value, matches }))
    }

    pub fn respond(self, to: &str, result: Value) -> Self {
        self.push(Step::Respond(Respond { to: Some(to.into()), result: Some(result), error: None }))
    }

    pub fn respond_error(self, to: &str, error: Value) -> Self {
        self.push(Step::Respond(Respond { to: Some(to.into()), result: None, error: Some(error) }))
    }

    pub fn send(self, value: Value) -> Self {
        self.push(Step::Send(Send { value }))
    }

    /// Exactly this text, in one write.
    pub fn raw(self, text: impl Into<String>) -> Self {
        self.push(Step::Raw(Raw { text: Some(text.into()), ..Raw::default() }))
    }

    /// Exactly these bytes, in one write.
    pub fn raw_bytes(self, bytes: &[u8]) -> Self {
        self.push(Step::Raw(Raw { base64: Some(STANDARD.encode(bytes)), ..Raw::default() }))
    }

    /// The pieces, each in its own write, with pauses between them.
    pub fn raw_chunks(self, chunks: Vec<Piece>, delay_ms: u64) -> Self {
        self.push(Step::Raw(Raw { chunks: Some(chunks), delay_ms: Some(delay_ms), ..Raw::default() }))
    }

    /// The pieces one after the other, cut into writes of `split_bytes` bytes, with pauses between them.
    pub fn raw_split(self, chunks: Vec<Piece>, split_bytes: usize, delay_ms: u64) -> Self {
        let (split_bytes, delay_ms) = (Some(split_bytes), Some(delay_ms));
        self.push(Step::Raw(Raw { chunks: Some(chunks), split_bytes, delay_ms, ..Raw::default() }))
    }

    pub fn notify(self, method: &str, params: Value) -> Self {
        self.push(Step::Notify(Notify { method: method.into(), params: Some(params) }))
    }

    /// A request with an id of the agent's choice.
    pub fn request(self, name: &str, method: &str, params: Value) -> Self {
        let step = Request { id: None, method: method.into(), params: Some(params), name: Some(name.into()) };
        self.push(Step::Request(step))
    }

    /// A request with exactly this id.
    pub fn request_id(self, name: &str, id: Value, method: &str, params: Value) -> Self {
        let step = Request { id: Some(id), method: method.into(), params: Some(params), name: Some(name.into()) };
        self.push(Step::Request(step))
    }

    pub fn initialize(self) -> Self {
        self.push(Step::Initialize(Initialize::default()))
    }

    /// `initialize` with changes to the default result.
    pub fn initialize_with(self, result: Value) -> Self {
        self.push(Step::Initialize(Initialize { result: Some(result), params: None }))
    }

    pub fn session_new(self, session_id: &str) -> Self {
        self.push(Step::SessionNew(SessionNew { session_id: session_id.into(), ..SessionNew::default() }))
    }

    pub fn prompt_begin(self) -> Self {
        self.push(Step::PromptBegin(PromptBegin::default()))
    }

    /// `prompt_begin` for one of several sessions, remembered as `name`.
    pub fn prompt_begin_in(self, session_id: &str, name: &str) -> Self {
        let step = PromptBegin { session_id: Some(session_id.into()), params: None, name: Some(name.into()) };
        self.push(Step::PromptBegin(step))
    }

    pub fn prompt_end(self, stop_reason: &str) -> Self {
        self.push(Step::PromptEnd(PromptEnd { stop_reason: Some(stop_reason.into()), ..PromptEnd::default() }))
    }

    /// `prompt_end` for one of several prompts.
    pub fn prompt_end_of(self, name: &str, stop_reason: &str) -> Self {
        let step = PromptEnd { stop_reason: Some(stop_reason.into()), to: Some(name.into()), result: None };
        self.push(Step::PromptEnd(step))
    }

    pub fn update(self, update: Value) -> Self {
        self.push(Step::Update(Update { session_id: None, update }))
    }

    pub fn update_in(self, session_id: &str, update: Value) -> Self {
        self.push(Step::Update(Update { session_id: Some(session_id.into()), update }))
    }

    /// One message chunk.
    pub fn text(self, text: &str) -> Self {
        self.push(Step::Text(Text { text: text.into(), ..Text::default() }))
    }

    /// One message chunk in one of several sessions.
    pub fn text_in(self, session_id: &str, text: &str) -> Self {
        self.push(Step::Text(Text { text: text.into(), session_id: Some(session_id.into()), ..Text::default() }))
    }

    /// `n` message chunks; `{i}` in the text is the number of the chunk.
    pub fn texts(self, n: u64, text: &str) -> Self {
        self.push(Step::Text(Text { text: text.into(), n: Some(n), ..Text::default() }))
    }

    /// A permission request with these options, remembered as `name`.
    pub fn permission(self, name: &str, options: Value) -> Self {
        let step = Permission { options: Some(options), name: Some(name.into()), ..Permission::default() };
        self.push(Step::Permission(step))
    }

    pub fn flood(self, count: u64, update: Value) -> Self {
        self.push(Step::Flood(Flood { count, update, bytes_per_write: None, session_id: None }))
    }

    pub fn stderr(self, text: &str) -> Self {
        self.push(Step::Stderr(Stderr { text: text.into(), ..Stderr::default() }))
    }

    pub fn sleep(self, ms: u64) -> Self {
        self.push(Step::Sleep(Sleep { ms }))
    }

    pub fn close_stdout(self) -> Self {
        self.push(Step::CloseStdout(Empty {}))
    }

    pub fn close_stdin(self) -> Self {
        self.push(Step::CloseStdin(Empty {}))
    }

    pub fn close_stderr(self) -> Self {
        self.push(Step::CloseStderr(Empty {}))
    }

    pub fn ignore_sigterm(self) -> Self {
        self.push(Step::IgnoreSigterm(Empty {}))
    }

    pub fn on_signal(self, signal: &str, script: Self) -> Self {
        self.push(Step::OnSignal(OnSignal { signal: signal.into(), steps: script.steps }))
    }

    pub fn ignore_eof(self) -> Self {
        self.push(Step::IgnoreEof(Empty {}))
    }

    pub fn spawn_grandchild(self, grandchild: Grandchild) -> Self {
        self.push(Step::SpawnGrandchild(grandchild))
    }

    pub fn double_fork_daemon(self, daemon: Grandchild) -> Self {
        self.push(Step::DoubleForkDaemon(daemon))
    }

    pub fn delegate(self, script: Self) -> Self {
        self.push(Step::Delegate(Steps { steps: script.steps }))
    }

    pub fn exit(self, code: i32) -> Self {
        self.push(Step::Exit(Exit { code }))
    }

    pub fn kill_self(self, signal: &str) -> Self {
        self.push(Step::KillSelf(KillSelf { signal: Some(signal.into()) }))
    }

    pub fn write_pid(self, file: &str) -> Self {
        self.push(Step::WritePid(File { file: file.into() }))
    }

    pub fn record(self, file: &str) -> Self {
        self.push(Step::Record(File { file: file.into() }))
    }

    pub fn transcript(self, file: &str) -> Self {
        self.push(Step::Transcript(File { file: file.into() }))
    }

    /// Repeats a script.
    pub fn repeat(self, times: u64, script: Self) -> Self {
        self.push(Step::Loop(Loop { steps: script.steps, times: Some(times), ..Loop::default() }))
    }

    /// Repeats a script until a message of this method arrives.
    pub fn repeat_until(self, method: &str, delay_ms: u64, script: Self) -> Self {
        let until = Some(Until { method: method.into(), params: None });
        self.push(Step::Loop(Loop { steps: script.steps, times: None, until, delay_ms: Some(delay_ms) }))
    }

    pub fn on(self, method: &str, script: Self) -> Self {
        self.push(Step::On(On { method: method.into(), steps: script.steps, ..On::default() }))
    }

    pub fn background(self, script: Self) -> Self {
        self.push(Step::Background(Steps { steps: script.steps }))
    }

    pub fn set(self, name: &str, value: Value) -> Self {
        self.push(Step::Set(Set { name: name.into(), value }))
    }
}
