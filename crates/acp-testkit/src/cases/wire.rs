//! The wire: bytes and messages that are not as they should be.

use serde_json::{Value, json};

use super::prompted;
use crate::Script;
use crate::script::Piece;

const NOISE: &str = "[12:00:00] Using config\n\n\u{1b}[2K\u{1b}[1mready\u{1b}[0m\nWelcome back\n";

/// The text of [`w04_split_utf8`].
pub const SPLIT_TEXT: &str = "中文🚀 e\u{301} done";

/// The text of [`w05_bom_crlf_line_separator`].
pub const SEPARATOR_TEXT: &str = "one\u{2028}two\u{2029}three\u{85}four";

/// Log lines, an empty line and terminal colours before the answer to `initialize`, and a log line between two chunks.
/// The client skips and counts them; the turn's text is `one two`, nothing is written back.
pub fn w01_noise() -> Script {
    Script::new().raw(NOISE).then(prompted()).text("one ").raw("WARN: retrying\n").text("two").prompt_end("end_turn")
}

/// Only noise, never an answer. The client gives up at its handshake limit and quotes the noise.
pub fn w01_nothing_but_noise() -> Script {
    Script::new().raw(NOISE).expect("initialize")
}

/// Valid JSON that is no JSON-RPC message, while `initialize` is pending. The client treats it as noise and accepts the answer
/// that follows.
pub fn w02_json_that_is_not_json_rpc() -> Script {
    let lines = "null\n42\n\"ready\"\n[1,2]\n{}\n{\"level\":\"info\",\"msg\":\"boot\"}\n{\"level\":\"info\",\"id\":987654,\"msg\":\"x\"}\n";
    let initialize = Script::new().expect("initialize").raw(lines);
    let answered = initialize.respond("initialize", crate::play::default_initialize_result());
    answered.session_new("s1").prompt_begin().raw(lines).text("fine").prompt_end("end_turn")
}

/// A response to the pending prompt that is no valid response, and no other one afterwards: neither result nor error (0), a
/// wrong `jsonrpc` (1), both result and error (2), an error that is text (3). The client rejects that call and does not hang;
/// the connection lives.
pub fn w02_malformed_response(variant: usize) -> Script {
    let id = "{{prompt.id}}";
    let frame = match variant {
        0 => json!({"jsonrpc": "2.0", "id": id, "msg": "boot"}),
        1 => json!({"jsonrpc": "1.0", "id": id, "result": {}}),
        2 => json!({"jsonrpc": "2.0", "id": id, "result": {}, "error": {"code": -32603, "message": "both"}}),
        _ => json!({"jsonrpc": "2.0", "id": id, "error": "it failed"}),
    };
    prompted().text("half").send(frame)
}

/// A chunk written byte by byte, so that every character is cut. The client delivers [`SPLIT_TEXT`] exactly.
pub fn w04_split_utf8() -> Script {
    prompted().raw_split(vec![Piece::json(chunk(SPLIT_TEXT))], 1, 2).prompt_end("end_turn")
}

/// A byte order mark before the first message, CRLF at the end of each, and separators that are no newline inside a chunk.
/// The client delivers [`SEPARATOR_TEXT`] exactly.
pub fn w05_bom_crlf_line_separator() -> Script {
    let result = crate::play::default_initialize_result();
    Script::new()
        .expect("initialize")
        .raw(format!("\u{feff}{{\"jsonrpc\":\"2.0\",\"id\":{{{{initialize.id}}}},\"result\":{result}}}\r\n"))
        .expect("session/new")
        .raw("{\"jsonrpc\":\"2.0\",\"id\":{{session/new.id}},\"result\":{\"sessionId\":\"s1\"}}\r\n")
        .prompt_begin()
        .raw(format!("{}\r\n", chunk(SEPARATOR_TEXT)))
        .raw("{\"jsonrpc\":\"2.0\",\"id\":{{prompt.id}},\"result\":{\"stopReason\":\"end_turn\"}}\r\n")
}

/// One update of about `bytes` bytes on one line, then a small chunk and the end. The client takes it in linear time, or
/// discards exactly that line when it is above its limit; the small chunk arrives either way.
pub fn w06_huge_line(bytes: u64) -> Script {
    prompted().raw_split(huge_update(bytes), 1 << 20, 0).text("after").prompt_end("end_turn")
}

/// `bytes` bytes without any newline, then nothing. The client keeps its memory bounded and never hangs.
pub fn w06_endless_line(bytes: u64) -> Script {
    let kilobytes = bytes / 1024;
    let some = Script::new().push(crate::Step::Raw(crate::script::Raw {
        text: Some("x".repeat(64)),
        repeat: Some(16 * 1024),
        ..Default::default()
    }));
    prompted().text("before").repeat(kilobytes / 1024, some).expect_eof()
}

/// One update of about `bytes` bytes in writes of 4 KiB. The client scans only what is new each time.
pub fn w07_small_writes(bytes: u64) -> Script {
    prompted().raw_split(huge_update(bytes), 4096, 0).text("after").prompt_end("end_turn")
}

/// Requests of the agent whose ids are a UUID, 0, -1, 2^53+1, and then `"1"`, `1` and `1.0` at the same time. The client echoes
/// each id with its JSON type; its own ids have nothing to do with them.
pub fn w09_agent_ids() -> Script {
    let ids = [json!("7f3a-uuid"), json!(0), json!(-1), json!(9_007_199_254_740_993_u64)];
    let mut script = prompted();
    for (index, id) in ids.into_iter().enumerate() {
        let name = format!("ask{index}");
        script = script.request_id(&name, id, "_vendor/ask", json!({})).expect_error(&name, json!({"code": -32601}));
    }
    for (name, id) in [("text", json!("1")), ("int", json!(1)), ("float", json!(1.0))] {
        script = script.request_id(name, id, "_vendor/ask", json!({}));
    }
    for name in ["float", "int", "text"] {
        script = script.expect_error(name, json!({"code": -32601}));
    }
    script.text("all answered").prompt_end("end_turn")
}

/// The answers to the client's numeric ids carry them as text. The client accepts that where it is unambiguous, and counts it.
pub fn w09_answer_with_text_id() -> Script {
    let answer = |id: &str, result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    Script::new()
        .expect("initialize")
        .send(answer("{{initialize.id|string}}", crate::play::default_initialize_result()))
        .expect("session/new")
        .send(answer("{{session/new.id|string}}", json!({"sessionId": "s1"})))
        .prompt_begin()
        .text("fine")
        .send(answer("{{prompt.id|string}}", json!({"stopReason": "end_turn"})))
}

/// `initialize` insists on the integer 1 and answers with another `protocolVersion`, or with none for `null`. The client compares
/// integers: anything but 1, the text `"1"` included, is an incompatible protocol that names the raw value, and the agent is gone.
pub fn w10_protocol_version(version: &Value) -> Script {
    let params = json!({"protocolVersion": {"$exact": 1}});
    let script = Script::new().push(crate::Step::Initialize(crate::script::Initialize {
        result: Some(json!({"protocolVersion": version})),
        params: Some(params),
    }));
    script.session_new("s1").prompt_begin().text("fine").prompt_end("end_turn")
}

/// An unknown update, an unknown content block, an unknown permission option and an unknown tool status. Nothing throws, the
/// turn's text is `before after`, unknown things are visible to the host, and the unknown option is never chosen.
pub fn w12_unknown_values() -> Script {
    prompted()
        .text("before ")
        .update(json!({"sessionUpdate": "x_future_update", "foo": 1}))
        .update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram", "data": "?"}}))
        .update(json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "T", "kind": "dance", "status": "paused"}))
        .permission(
            "asked",
            json!([
                {"optionId": "p", "name": "Persist", "kind": "allow_persistent"},
                {"optionId": "n", "name": "No", "kind": "reject_once"},
            ]),
        )
        .expect_response("asked", "answer")
        .check(json!("{{answer}}"), json!({"result": {"$not": {"outcome": {"optionId": "p"}}}}))
        .text("after")
        .prompt_end("end_turn")
}

/// A stop reason that does not exist. The client reports it verbatim and as abnormal.
pub fn w12_unknown_stop_reason() -> Script {
    prompted().text("some").send(json!({
        "jsonrpc": "2.0", "id": "{{prompt.id}}", "result": {"stopReason": "error", "transcriptPath": "/t"},
    }))
}

/// An extension request that must be refused before the agent goes on, an extension notification and a `$/cancel_request` for
/// nothing. The client answers −32601 with the same id and ignores the rest.
pub fn w13_unanswered_request() -> Script {
    prompted()
        .notify("_vendor/changed", json!({"x": 1}))
        .notify("$/cancel_request", json!({"requestId": "nothing"}))
        .request_id("drain", json!("d1"), "_vendor/drain", json!({}))
        .expect_error("drain", json!({"code": -32601}))
        .request("read", "fs/read_text_file", json!({"sessionId": "s1", "path": "/nowhere"}))
        .expect_error("read", json!({"code": {"$type": "number"}}))
        .text("drained")
        .prompt_end("end_turn")
}

/// The prompt fails with an internal error whose data tells why. The client's error has code and data, and its message shows
/// data unless that is empty.
pub fn w14_error_data(data: Option<Value>) -> Script {
    let mut error = json!({"code": -32603, "message": "Internal error"});
    if let Some(data) = data {
        error["data"] = data;
    }
    prompted().stderr("backend: 500").respond_error("prompt", error)
}

/// Complains on stderr and exits before `initialize` is answered. The error has the phase, the exit code and the complaint.
pub fn w15_exit_in_handshake(code: i32) -> Script {
    Script::new().expect("initialize").stderr("Error: Cannot find module 'x'").exit(code)
}

/// Exits with 0 and without a word before `initialize` is answered.
pub fn w15_silent_exit() -> Script {
    Script::new().expect("initialize").exit(0)
}

/// Is killed by a signal before `initialize` is answered.
pub fn w15_killed() -> Script {
    Script::new().expect("initialize").kill_self("KILL")
}

/// Exits after `initialize`, before `session/new` is answered. The phase is that of the session, and no prompt was sent.
pub fn w15_exit_before_session() -> Script {
    Script::new().initialize().expect("session/new").stderr("fatal: no disk").exit(3)
}

/// Wants a login: `session/new` fails with −32000 until `authenticate` succeeded. The client's error is `auth_required` with the
/// advertised methods; it runs none of them by itself.
pub fn w16_auth_required() -> Script {
    let error = json!({"code": -32000, "message": "Authentication required"});
    Script::new()
        .initialize_with(json!({"authMethods": [{"id": "login", "name": "Login"}]}))
        .expect("session/new")
        .respond_error("session/new", error)
        .expect_params("authenticate", json!({"methodId": "login"}))
        .respond("authenticate", json!({}))
        .session_new("s1")
        .prompt_begin()
        .text("logged in")
        .prompt_end("end_turn")
}

/// The same code for something else, and no authentication methods: an ordinary agent error with its code.
pub fn w16_session_busy() -> Script {
    Script::new()
        .initialize()
        .expect("session/new")
        .respond_error("session/new", json!({"code": -32000, "message": "Session busy"}))
}

fn chunk(text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}})
}

/// A completed tool call with about `bytes` bytes of output, as pieces of one line.
fn huge_update(bytes: u64) -> Vec<Piece> {
    let content = json!([{"type": "content", "content": {"type": "text", "text": "<>"}}]);
    let update =
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "status": "completed", "content": content});
    let message =
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}});
    let line = format!("{message}\n");
    let (head, tail) = line.split_once("<>").unwrap_or((&line, ""));
    vec![Piece::text(head), Piece::text("x").repeated(bytes), Piece::text(tail)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::vars::Vars;

    #[test]
    fn the_pieces_of_a_huge_update_are_one_line_of_json() {
        let text: String = huge_update(5)
            .iter()
            .map(|piece| piece.text.clone().unwrap().repeat(usize::try_from(piece.repeat.unwrap_or(1)).unwrap()))
            .collect();
        let message: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(message["params"]["update"]["content"][0]["content"]["text"], "xxxxx");
        assert_eq!(text.matches('\n').count(), 1);
        // No accident makes a variable of it.
        assert_eq!(Vars::default().fill_json_text(&text).unwrap(), text);
    }
}
