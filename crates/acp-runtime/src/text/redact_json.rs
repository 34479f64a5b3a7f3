//! Redaction of JSON documents: what was valid stays valid, with the same members and items.
//!
//! The document is walked as text, so that everything which holds no secret stays as it was written: the order of members,
//! repeated names, numbers of any size, escapes that decode to no text.

use serde::de::IgnoredAny;

use super::jsonstr::{decoded, string_end};
use super::redact::{REDACTED, SecretName, secret_name};

/// The mask, as a JSON string.
const MASK: &str = "\"[REDACTED]\"";

/// Members that name a thing of the protocol. Agents that write a UUID without hyphens must not lose which is which.
const IDS: [&str; 9] = [
    "sessionId",
    "toolCallId",
    "messageId",
    "optionId",
    "terminalId",
    "planId",
    "compactionId",
    "elicitationId",
    "requestId",
];

/// `json` with secrets masked: every string as it reads (an escape hides nothing), every number, and every string and
/// number below a member whose name says that it is a secret, however deep: `{"api_key": {"value": …}}` holds one as well as
/// `{"api_key": …}`, and no rule tells its parts from harmless ones. `true`, `false` and `null` stay. `None`: not a JSON
/// document that could hold a secret. Linear in the length.
pub fn redact_json(json: &str, redact: &dyn Fn(&str) -> String) -> Option<String> {
    if !is_document(json) {
        return None;
    }
    let mut walk = Walk { json, redact, out: String::with_capacity(json.len()), levels: Vec::new() };
    walk.run();
    Some(walk.out)
}

/// Whether a text is a JSON document that could hold a secret.
pub(super) fn is_document(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// An open array or object.
#[derive(Default)]
struct Level {
    object: bool,
    /// Whether the next string is a member's name.
    name_next: bool,
    /// Whether all of it belongs to a secret.
    secret: bool,
    member: Member,
    /// The object's `name` member is the name of a secret: its `value` is one (environment variables, headers).
    named: SecretName,
}

/// What is known of a member from its name.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Member {
    #[default]
    Plain,
    /// `name`
    Name,
    /// `value`
    Value,
    /// An identifier of the protocol.
    Id,
    Secret(SecretName),
}

struct Walk<'j> {
    json: &'j str,
    redact: &'j dyn Fn(&str) -> String,
    out: String,
    levels: Vec<Level>,
}

impl Walk<'_> {
    /// The document is valid: every token ends, every level closes.
    fn run(&mut self) {
        let bytes = self.json.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let start = at;
            match bytes[at] {
                b'"' => {
                    at = string_end(bytes, at);
                    self.string(&self.json[start..at]);
                    continue;
                }
                b'-' | b'0'..=b'9' => {
                    at = number_end(bytes, at);
                    self.number(&self.json[start..at]);
                    continue;
                }
                open @ (b'{' | b'[') => {
                    let object = open == b'{';
                    let secret = self.secret() != SecretName::No;
                    self.levels.push(Level { object, name_next: object, secret, ..Level::default() });
                }
                b'}' | b']' => drop(self.levels.pop()),
                b',' => {
                    if let Some(level) = self.levels.last_mut() {
                        level.name_next = level.object;
                    }
                }
                _ => {}
            }
            // Punctuation, space and the letters of `true`, `false` and `null`: all of them ASCII.
            self.out.push(char::from(bytes[at]));
            at += 1;
        }
    }

    /// Whether the value that comes is a secret, and of which kind.
    fn secret(&self) -> SecretName {
        match self.levels.last() {
            Some(Level { member: Member::Secret(kind), .. }) => *kind,
            Some(level) if level.member == Member::Value && level.named != SecretName::No => level.named,
            Some(Level { secret: true, .. }) => SecretName::Value,
            _ => SecretName::No,
        }
    }

    fn string(&mut self, raw: &str) {
        let text = decoded(raw);
        let secret = self.secret();
        if let Some(level) = self.levels.last_mut().filter(|level| level.name_next) {
            level.name_next = false;
            level.member = match (&*text, secret_name(&text)) {
                ("name", _) => Member::Name,
                ("value", _) => Member::Value,
                (name, SecretName::No) if IDS.contains(&name) => Member::Id,
                (_, SecretName::No) => Member::Plain,
                (_, kind) => Member::Secret(kind),
            };
            self.masked(raw, &text);
            return;
        }
        if let Some(level) = self.levels.last_mut().filter(|level| level.member == Member::Name) {
            level.named = secret_name(&text);
        }
        let id = self.levels.last().is_some_and(|level| level.member == Member::Id);
        match secret {
            SecretName::No if id && self.is_plain_id(&text) => self.out.push_str(raw),
            SecretName::No => self.masked(raw, &text),
            SecretName::Value => self.out.push_str(MASK),
            SecretName::Authorization => {
                let scheme = super::redact::authorization_scheme(&text);
                self.quoted(&format!("{scheme}{REDACTED}"));
            }
        }
    }

    fn number(&mut self, raw: &str) {
        if self.secret() != SecretName::No || (self.redact)(raw) != raw {
            self.out.push_str(MASK);
        } else {
            self.out.push_str(raw);
        }
    }

    /// Whether an identifier is nothing but digits of a number, which only looks like a key. Underscores make it part of a
    /// longer word, which no rule for looks applies to; the secrets that are known are found in it all the same.
    fn is_plain_id(&self, text: &str) -> bool {
        let part = format!("_{text}_");
        text.bytes().all(|byte| byte.is_ascii_hexdigit()) && (self.redact)(&part) == part
    }

    fn masked(&mut self, raw: &str, text: &str) {
        let shown = (self.redact)(text);
        if shown == text {
            self.out.push_str(raw);
        } else {
            self.quoted(&shown);
        }
    }

    fn quoted(&mut self, text: &str) {
        // A string always has a JSON form.
        self.out.push_str(&serde_json::to_string(text).unwrap_or_else(|_| MASK.to_owned()));
    }
}

/// The index after a number that starts at `at`.
fn number_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && matches!(bytes[at], b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
        at += 1;
    }
    at
}

#[cfg(test)]
#[path = "redact_json_tests.rs"]
mod tests;
