//! The steps of a script, as they are written in JSON: `{"do": "<name>", …}`.
//!
//! `README.md` of this crate shows each of them in use. Every string in a step may hold variables such as `{{init.id}}`
//! (see [`crate::play::vars`]); patterns are matched in part (see [`crate::play::pattern`]).

use serde::{Deserialize, Serialize};

use super::{
    Check, Empty, EnvNames, Exit, Expect, ExpectResponse, ExpectSilence, File, Flood, Grandchild, Initialize, KillSelf,
    Loop, Notify, On, OnSignal, Options, Permission, PromptBegin, PromptEnd, Raw, Request, Respond, Send, SessionNew,
    Set, Sleep, Stderr, Steps, Text, Update,
};

/// One step of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Step {
    /// Changes how the rest of the script is played.
    Options(Options),
    /// Waits for a request or a notification from the client.
    Expect(Expect),
    /// Waits for the client's answer to a request of the agent.
    ExpectResponse(ExpectResponse),
    /// Fails when the client sends something for some time.
    ExpectSilence(ExpectSilence),
    /// Waits until the client closes the agent's stdin.
    ExpectEof(Empty),
    /// Compares values that the script knows.
    Check(Check),
    /// Answers a request of the client.
    Respond(Respond),
    /// Writes one JSON value as a line.
    Send(Send),
    /// Writes bytes exactly as given.
    Raw(Raw),
    /// Sends a notification.
    Notify(Notify),
    /// Sends a request.
    Request(Request),
    /// Waits for `initialize` and answers it.
    Initialize(Initialize),
    /// Waits for `session/new` and answers it.
    SessionNew(SessionNew),
    /// Waits for `session/prompt`.
    PromptBegin(PromptBegin),
    /// Answers the prompt.
    PromptEnd(PromptEnd),
    /// Sends a `session/update`.
    Update(Update),
    /// Sends text chunks.
    Text(Text),
    /// Sends `session/request_permission`.
    Permission(Permission),
    /// Sends many updates, built once and written in large pieces.
    Flood(Flood),
    /// Writes to stderr.
    Stderr(Stderr),
    /// Does nothing for a while.
    Sleep(Sleep),
    /// Closes the agent's end of stdout for good.
    CloseStdout(Empty),
    /// Closes the agent's end of stdin for good: the client's next write fails.
    CloseStdin(Empty),
    /// Closes the agent's end of stderr for good.
    CloseStderr(Empty),
    /// Stops reading stdin; what the client writes stays in the pipe.
    PauseStdin(Empty),
    /// Reads stdin again.
    ResumeStdin(Empty),
    /// Lives on after SIGTERM, SIGINT and SIGHUP.
    IgnoreSigterm(Empty),
    /// Plays steps when a signal arrives, instead of dying of it.
    OnSignal(OnSignal),
    /// Lives on after the end of stdin (short for the option `eof: "ignore"`).
    IgnoreEof(Empty),
    /// Starts a child that outlives the agent.
    SpawnGrandchild(Grandchild),
    /// Starts a child through an intermediate process that ends, so that it belongs to nobody, in its own session.
    DoubleForkDaemon(Grandchild),
    /// Plays steps in a child of the same program that inherits all three streams, and ends as the child ended.
    /// Must come before the first step that reads stdin.
    Delegate(Steps),
    /// Ends the agent.
    Exit(Exit),
    /// Ends the agent by a signal.
    KillSelf(KillSelf),
    /// Appends the agent's process id to a file.
    WritePid(File),
    /// Tells which environment variables exist, never their values.
    EchoEnvNames(EnvNames),
    /// Appends every line from the client to a file, byte for byte.
    Record(File),
    /// Writes both directions to a file, one `{"from": …, "message": …}` a line.
    Transcript(File),
    /// Repeats steps.
    Loop(Loop),
    /// Plays steps whenever a matching message arrives, beside the main script.
    On(On),
    /// Plays steps beside the main script, at once.
    Background(Steps),
    /// Gives a name to a value.
    Set(Set),
}
