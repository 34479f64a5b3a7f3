//! Processes that do not end, or end too early. After each of them nothing that the agent started may be alive.

use serde_json::json;

use super::{opened, prompted};
use crate::Script;
use crate::script::Grandchild;

/// The launcher of P01: a shell that stays between the client and the agent (the `:` keeps it from replacing itself).
pub fn shell_launcher(agent: &str, args: &[&str]) -> (String, Vec<String>) {
    let script = ["-c", "\"$0\" \"$@\" ; :", agent].into_iter().chain(args.iter().copied());
    ("sh".to_owned(), script.map(str::to_owned).collect())
}

/// Starts a grandchild, ignores the end of stdin, and works. Best launched through [`shell_launcher`]. The pids of agent and
/// grandchild are in `{{args.0}}`. Closing the client ends launcher, agent and grandchild.
pub fn p01_grandchild() -> Script {
    Script::new()
        .ignore_eof()
        .write_pid("{{args.0}}")
        .spawn_grandchild(noted())
        .then(prompted())
        .text("hi")
        .prompt_end("end_turn")
}

/// Answers one prompt, then ignores the end of stdin and lives on. Teardown escalates within its bound.
pub fn p03_ignores_eof() -> Script {
    Script::new().ignore_eof().then(prompted()).text("hi").prompt_end("end_turn")
}

/// A wrapper that ignores SIGTERM, SIGINT and SIGHUP, whose child with the same streams does the work and ignores them and the
/// end of stdin too. Pids of both are in `{{args.0}}`. Teardown kills both within its bound.
pub fn p04_wrapper_ignores_sigterm() -> Script {
    let stubborn = Script::new().ignore_sigterm().write_pid("{{args.0}}");
    let worker = stubborn.clone().ignore_eof().then(prompted()).text("hi").prompt_end("end_turn");
    stubborn.delegate(worker)
}

/// Answers `initialize` with an error and stays alive. The failed launch leaves no process.
pub fn p05_initialize_error() -> Script {
    let error = json!({"code": -32603, "message": "Internal error"});
    Script::new().ignore_eof().expect("initialize").respond_error("initialize", error)
}

/// Closes stdout instead of answering `initialize`, and stays alive. The failed launch leaves no process.
pub fn p05_stdout_closed() -> Script {
    Script::new().ignore_eof().expect("initialize").close_stdout()
}

/// Reads for ever and never answers. The failed launch leaves no process.
pub fn p05_never_answers() -> Script {
    Script::new().ignore_eof().expect("initialize")
}

/// Leaves a process behind that holds stdout and stderr open, and exits with 0 in the middle of a turn. Its pid is in
/// `{{args.0}}`. The client notices the exit by the process, after a bounded drain, and kills what is left.
pub fn p06_pipe_held() -> Script {
    let holder = Grandchild { hold_pipes: true, ..noted() };
    prompted().text("last words").spawn_grandchild(holder).exit(0)
}

/// Sends two chunks and is killed. Every pending call fails with `agent_exited`, the signal and the partial text; later calls
/// fail at once.
pub fn p08_dies_in_turn() -> Script {
    prompted().text("one ").text("two").stderr("about to die").kill_self("KILL")
}

/// Closes its stdin in the middle of a turn and stays alive. The client's writes fail; its host does not.
pub fn p09_stdin_closed() -> Script {
    prompted().close_stdin().text("deaf").ignore_eof()
}

/// Exits as soon as `initialize` is answered.
pub fn p09_exits_after_initialize() -> Script {
    Script::new().initialize().exit(0)
}

/// Reports progress on stderr `times` times, every `interval_ms` milliseconds, and only then answers `initialize`.
pub fn p17_slow_start(times: u64, interval_ms: u64) -> Script {
    let progress = Script::new().stderr("npm http fetch GET 200 package-{{i}}").sleep(interval_ms);
    Script::new()
        .deadline_ms(times * interval_ms + 60_000)
        .repeat(times, progress)
        .then(opened())
        .prompt_begin()
        .text("hi")
        .prompt_end("end_turn")
}

/// Reads until the end of stdin and says nothing. The error says that no bytes came, and names the command.
pub fn p18_silent_until_eof() -> Script {
    Script::new().expect_eof().exit(0)
}

fn noted() -> Grandchild {
    Grandchild { pid_file: Some("{{args.0}}".into()), ..Grandchild::default() }
}
