//! Sessions and turns.

use serde_json::{Value, json};

use super::prompted;
use crate::Script;
use crate::script::Piece;

/// An update for the new session before its id is known. The client keeps it and delivers it once the session is there.
pub fn s01_update_before_session() -> Script {
    let commands = json!([{"name": "plan", "description": "Plan first"}]);
    Script::new()
        .initialize()
        .expect("session/new")
        .update_in("s1", json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}))
        .respond("session/new", json!({"sessionId": "s1"}))
        .prompt_begin()
        .text("hi")
        .prompt_end("end_turn")
}

/// Updates for a session that is never introduced. The client drops and counts them.
pub fn s01_update_for_nobody() -> Script {
    Script::new()
        .initialize()
        .expect("session/new")
        .text_in("ghost", "boo")
        .respond("session/new", json!({"sessionId": "s1"}))
        .prompt_begin()
        .text_in("ghost", "boo")
        .text("hi")
        .prompt_end("end_turn")
}

/// Asks for a permission and ends the turn only when `session/cancel` came and the question was answered. The client answers
/// `cancelled` by itself, with a result and not an error.
pub fn s06_permission_at_cancel() -> Script {
    prompted()
        .text("asking")
        .permission("asked", options(Offer::All))
        .expect_params("session/cancel", json!({"sessionId": "s1"}))
        .expect_result("asked", json!({"outcome": {"$exact": {"outcome": "cancelled"}}}))
        .text("late")
        .prompt_end("cancelled")
}

/// Which options a permission request offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Two ways to allow before two ways to reject.
    All,
    /// Only ways to allow.
    OnlyAllow,
    /// None at all.
    Nothing,
}

/// Asks for a permission and says the outcome as text. To deny means `reject_once`, else `reject_always`, else `cancelled`, and
/// never a way to allow; to allow means `allow_once` unless the host picks another offered option.
pub fn s07_options(offer: Offer) -> Script {
    let known = json!({"result": {"outcome": {"outcome": {"$type": "string"}}}});
    prompted()
        .permission("asked", options(offer))
        .expect_response("asked", "answer")
        .check(json!("{{answer}}"), known)
        .text("{{answer.result.outcome|json}}")
        .prompt_end("end_turn")
}

/// Ends the turn cleanly without any update. A one-shot ask does not call that a success.
pub fn s10_no_updates() -> Script {
    prompted().stderr("backend: empty completion").prompt_end("end_turn")
}

/// Stops for lack of tokens in the middle of a JSON object. Half an object is never parsed as a whole one.
pub fn s10_max_tokens() -> Script {
    prompted().text("{\"verdict\": \"pass\", \"notes\": \"al").prompt_end("max_tokens")
}

/// Ends with an abnormal stop reason after some text. The text and the reason are both reported.
pub fn s10_stop_reason(reason: &str) -> Script {
    prompted().text("I cannot go on").prompt_end(reason)
}

/// Answers the prompt with `{}`.
pub fn s10_no_stop_reason() -> Script {
    prompted().text("done").respond("prompt", json!({}))
}

/// A reply for [`s21_reply`].
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// Name of the case, after `s21_`.
    pub name: &'static str,
    /// The reply. Sent in one chunk unless `chunks` says otherwise.
    pub text: &'static str,
    /// How many chunks it is cut into.
    pub chunks: usize,
    /// The stop reason.
    pub stop_reason: &'static str,
    /// The last complete top-level object or array in it, which is what the client parses; `None` when there is none, or when the stop
    /// reason forbids to look.
    pub parsed: Option<&'static str>,
}

const fn reply(name: &'static str, text: &'static str, parsed: Option<&'static str>) -> Reply {
    Reply { name, text, chunks: 1, stop_reason: "end_turn", parsed }
}

/// Replies from which a one-shot ask recovers JSON, or must not.
pub const S21_REPLIES: &[Reply] = &[
    reply("fenced", "```json\n{\"ok\": true}\n```", Some("{\"ok\": true}")),
    reply("prose", "Here it is: {\"ok\": true} Hope that helps {and more}.", Some("{\"ok\": true}")),
    reply("two_objects", "Example: {\"ok\": false}\nReal: {\"ok\": true}", Some("{\"ok\": true}")),
    reply("adjacent", "{\"a\":1}{\"b\":2}", Some("{\"b\":2}")),
    reply(
        "braces_in_strings",
        "{\"text\": \"a } b { c \\\" }\", \"ok\": true}",
        Some("{\"text\": \"a } b { c \\\" }\", \"ok\": true}"),
    ),
    reply(
        "fence_in_string",
        "{\"md\": \"```json\\n{\\\"no\\\": 1}\\n```\"}",
        Some("{\"md\": \"```json\\n{\\\"no\\\": 1}\\n```\"}"),
    ),
    reply("array", "[1, 2, 3]", Some("[1, 2, 3]")),
    reply("prompt_echo", "You asked for {\"ok\": \"boolean\"}. Answer: {\"ok\": true}", Some("{\"ok\": true}")),
    Reply {
        chunks: 40,
        ..reply(
            "many_chunks",
            "{\"first\": \"some longer text\", \"second\": [1, 2, {\"x\": \"é🚀\"}]}",
            Some("{\"first\": \"some longer text\", \"second\": [1, 2, {\"x\": \"é🚀\"}]}"),
        )
    },
    Reply { stop_reason: "max_tokens", ..reply("truncated", "{\"ok\": true, \"notes\": \"unfin", None) },
    Reply { stop_reason: "max_tokens", ..reply("whole_but_cut_short", "{\"ok\": true} and then", None) },
];

/// A turn with this reply.
pub fn s21_reply(reply: &Reply) -> Script {
    let mut script = prompted();
    for chunk in cut(reply.text, reply.chunks) {
        script = script.text(&chunk);
    }
    script.prompt_end(reply.stop_reason)
}

/// A reply of `bytes` opening braces. The client finds no JSON in it, in linear time.
pub fn s21_open_braces(bytes: u64) -> Script {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "<>"}});
    let params = json!({"sessionId": "s1", "update": update});
    let line = format!("{}\n", json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    let (head, tail) = line.split_once("<>").unwrap_or((&line, ""));
    let pieces = vec![Piece::text(head), Piece::text("{").repeated(bytes), Piece::text(tail)];
    prompted().raw_split(pieces, 1 << 16, 0).prompt_end("end_turn")
}

/// Text in `count` parts of whole characters, as even as possible; fewer when it is shorter than that.
fn cut(text: &str, count: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let count = count.clamp(1, chars.len().max(1));
    let edge = |part: usize| part * chars.len() / count;
    (0..count).map(|part| chars[edge(part)..edge(part + 1)].iter().collect()).collect()
}

fn options(offer: Offer) -> Value {
    let allow = [("always", "allow_always"), ("once", "allow_once")];
    let reject = [("no", "reject_once"), ("never", "reject_always")];
    let offered: Vec<(&str, &str)> = match offer {
        Offer::All => allow.into_iter().chain(reject).collect(),
        Offer::OnlyAllow => allow.to_vec(),
        Offer::Nothing => Vec::new(),
    };
    offered.into_iter().map(|(id, kind)| json!({"optionId": id, "name": kind, "kind": kind})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_loses_nothing() {
        for count in [1, 2, 3, 7, 100] {
            let parts = cut("aé🚀bcdef", count);
            assert_eq!(parts.concat(), "aé🚀bcdef");
            assert_eq!(parts.len(), count.min(8));
        }
        assert_eq!(cut("", 3), [""]);
    }

    #[test]
    fn what_shall_be_parsed_is_json() {
        for reply in S21_REPLIES {
            if let Some(parsed) = reply.parsed {
                let value: Value = serde_json::from_str(parsed).unwrap();
                assert!(value.is_object() || value.is_array(), "{}", reply.name);
                assert!(reply.text.contains(parsed), "{}", reply.name);
            }
        }
    }
}
