//! Finds the secrets whose values are known, in every spelling that they take in logs.

use std::borrow::Cow;
use std::fmt::Write as _;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use memchr::memmem::Finder;
use serde_json::Value;

use super::redact::REDACTED;

/// Shortest value, in bytes, that counts. Shorter ones are in every other word.
pub const SECRET_MIN_BYTES: usize = 4;

/// The longest spelling that is searched for together with all others. An automaton takes many times the bytes of what it
/// finds: keys and certificates, which are few, are searched for one by one.
const TOGETHER_MAX_BYTES: usize = 256;

/// The shortest string inside a JSON secret that counts as one itself, in bytes.
const PART_MIN_BYTES: usize = 8;

/// Bytes of such strings that count. A service account has about three thousand.
const MAX_PARTS_BYTES: usize = 32 * 1024;

/// The known values.
#[derive(Clone, Default)]
pub(super) enum Known {
    #[default]
    Nothing,
    Values(Box<Values>),
    /// The values do not fit into one automaton: nothing may be shown.
    Everything,
}

#[derive(Clone)]
pub(super) struct Values {
    short: AhoCorasick,
    long: Vec<Finder<'static>>,
    /// The length of the longest, in bytes.
    longest: usize,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the values.
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Values(_) => "Values",
            Self::Everything => "Everything",
        })
    }
}

impl Known {
    pub(super) fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut spellings: Vec<String> = Vec::new();
        let mut room = MAX_PARTS_BYTES;
        for secret in secrets {
            let secret = secret.as_ref().trim();
            // A mask that an environment was given instead of a secret is none.
            if secret.len() >= SECRET_MIN_BYTES && !REDACTED.contains(secret) {
                spell(secret, &mut spellings);
            }
            if secret.starts_with(['{', '['])
                && let Ok(document) = serde_json::from_str(secret)
            {
                spell_parts(&document, &mut spellings, &mut room);
            }
        }
        spellings.sort_unstable();
        spellings.dedup();
        let Some(longest) = spellings.iter().map(String::len).max() else { return Self::Nothing };
        let (short, long): (Vec<_>, Vec<_>) =
            spellings.into_iter().partition(|spelling| spelling.len() <= TOGETHER_MAX_BYTES);
        let Ok(short) = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(&short) else {
            return Self::Everything;
        };
        let long = long.iter().map(|spelling| Finder::new(spelling).into_owned()).collect();
        Self::Values(Box::new(Values { short, long, longest }))
    }

    pub(super) fn longest(&self) -> usize {
        match self {
            Self::Values(values) => values.longest,
            Self::Nothing | Self::Everything => 0,
        }
    }

    #[cfg(test)]
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Values(values) => {
                values.short.memory_usage() + values.long.iter().map(|finder| finder.needle().len()).sum::<usize>()
            }
            Self::Nothing | Self::Everything => 0,
        }
    }

    /// `text` with every known value masked. Borrows when there is nothing.
    pub(super) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let found = match self {
            Self::Nothing => return Cow::Borrowed(text),
            Self::Everything => return Cow::Borrowed(REDACTED),
            Self::Values(values) => values.find(text),
        };
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        let mut done = 0;
        for (start, end) in found {
            out.push_str(&text[done..start]);
            out.push_str(REDACTED);
            done = end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }
}

impl Values {
    /// Where values stand, in order. Overlapping ones are one: half a secret is still a secret.
    fn find(&self, text: &str) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> = Vec::new();
        // They come ordered by their end.
        for next in self.short.find_overlapping_iter(text) {
            let mut start = next.start();
            while let Some((earlier, _)) = found.pop_if(|(_, end)| *end > start) {
                start = start.min(earlier);
            }
            found.push((start, next.end()));
        }
        for finder in &self.long {
            let length = finder.needle().len();
            found.extend(finder.find_iter(text.as_bytes()).map(|start| (start, start + length)));
        }
        found.sort_unstable();
        found.dedup_by(|next, last| {
            let overlap = next.0 < last.1;
            if overlap {
                last.1 = last.1.max(next.1);
            }
            overlap
        });
        found
    }
}

fn spell(secret: &str, spellings: &mut Vec<String>) {
    spellings.extend([
        secret.to_owned(),
        json_escaped(secret),
        percent_encoded(secret, b"0123456789ABCDEF"),
        percent_encoded(secret, b"0123456789abcdef"),
        percent_encoded(secret, b"0123456789ABCDEF").replace("%20", "+"),
        json_escaped(&json_escaped(secret)),
        hex(secret, |out, byte| write!(out, "{byte:02x}")),
        hex(secret, |out, byte| write!(out, "{byte:02X}")),
    ]);
    spellings.extend((0..3).flat_map(|before| base64_inside(secret.as_bytes(), before)));
}

fn hex(secret: &str, digits: impl Fn(&mut String, u8) -> std::fmt::Result) -> String {
    let mut out = String::with_capacity(2 * secret.len());
    for byte in secret.bytes() {
        // Writing into a string does not fail.
        let _ = digits(&mut out, byte);
    }
    out
}

/// Characters of base64 that must be sure: fewer stand in other texts, too.
const BASE64_MIN: usize = 8;

/// What base64 has of `secret` where `before` more bytes (modulo three) stand in front of it, whatever they are and whatever
/// follows; with either alphabet. `Basic` credentials have a secret so.
fn base64_inside(secret: &[u8], before: usize) -> Vec<String> {
    const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    // A character is six bits; only those whose bits are all the secret's are sure.
    let bits = |at: usize| secret.get(at / 8).map(|byte| byte >> (7 - at % 8) & 1);
    let first = (6 - before * 8 % 6) % 6;
    let sure: Vec<usize> = (first..)
        .step_by(6)
        .map_while(|at| (at..at + 6).try_fold(0, |value, at| Some(value << 1 | usize::from(bits(at)?))))
        .collect();
    if sure.len() < BASE64_MIN {
        return Vec::new();
    }
    let standard: String = sure.iter().map(|value| char::from(STANDARD[*value])).collect();
    let url = standard.replace('+', "-").replace('/', "_");
    vec![standard, url]
}

/// `room`: bytes of parts that may still be added.
fn spell_parts(document: &Value, spellings: &mut Vec<String>, room: &mut usize) {
    match document {
        Value::String(part) => {
            let part = part.trim();
            if part.len() >= PART_MIN_BYTES && part.len() <= *room {
                *room -= part.len();
                spell(part, spellings);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| spell_parts(item, spellings, room)),
        Value::Object(members) => members.values().for_each(|member| spell_parts(member, spellings, room)),
        _ => {}
    }
}

/// The inside of the JSON string for `secret`.
pub(super) fn json_escaped(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(secret).to_owned()
}

/// `encodeURIComponent`, with the given digits.
pub(super) fn percent_encoded(secret: &str, digits: &[u8; 16]) -> String {
    let mut out = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |nibble: u8| char::from(digits[usize::from(nibble)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
    out
}
