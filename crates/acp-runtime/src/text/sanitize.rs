//! Removes terminal control from the agent's text.
//!
//! What is removed and why: `docs/decisions/sanitising.md`. In short: escape sequences of ECMA-48 with their parameters
//! and payloads, C0 controls but `\n` and `\t`, DEL and C1 controls. Everything else passes unchanged.

use std::borrow::Cow;

use super::bound::{TRUNCATION_MARKER, TRUNCATION_MARKER_UTF16};
use super::utf16::{utf16_len, utf16_prefix};

const BEL: u8 = 0x07;
const LF: u8 = b'\n';
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
/// First UTF-8 byte of U+0080–U+00BF; the C1 controls are U+0080–U+009F.
const C1_LEAD: u8 = 0xc2;
const C1_CSI: u8 = 0x9b;
const C1_ST: u8 = 0x9c;

/// Where in a sequence the text so far ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Plain text.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and intermediate bytes.
    EscapeIntermediate,
    /// After U+009B, which is a sequence only when a parameter follows: damaged text has it before letters.
    C1Csi,
    /// In the parameters of a control sequence.
    CsiParameter,
    /// In the intermediate bytes of a control sequence.
    CsiIntermediate,
    /// In the payload of OSC, which BEL ends.
    OscString,
    /// In the payload of DCS, SOS, PM or APC.
    ControlString,
}

/// Sanitises one stream that arrives in chunks. Carries nothing but the state of the sequence that a chunk broke off
/// in, so the result does not depend on where the stream was split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitizer {
    state: State,
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// UTF-16 units appended.
    pub units: usize,
    /// Whether the limit cut it.
    pub cut: bool,
}

impl Sanitizer {
    /// A sanitiser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the stream is between sequences.
    pub fn is_ground(self) -> bool {
        self.state == State::Ground
    }

    /// Forgets a sequence that was broken off.
    pub fn reset(&mut self) {
        self.state = State::Ground;
    }

    /// Appends the next chunk to `out`, at most `max_utf16` UTF-16 units of it, and returns how many were appended. A
    /// longer chunk ends in [`TRUNCATION_MARKER`], inside the limit. Text before the chunk is not looked at.
    pub fn append(&mut self, out: &mut String, text: &str, max_utf16: usize) -> usize {
        self.append_telling(out, text, max_utf16).units
    }

    /// The same, and tells whether the chunk was cut at the limit.
    pub fn append_telling(&mut self, out: &mut String, text: &str, max_utf16: usize) -> Appended {
        if self.is_ground() && text.len() <= max_utf16 && is_clean(text) {
            out.push_str(text);
            return Appended { units: utf16_len(text), cut: false };
        }
        let mut bounded = Bounded::new(out, max_utf16);
        self.run(text, |clean| bounded.push(clean));
        let cut = bounded.over;
        Appended { units: bounded.finish(), cut }
    }

    /// The next chunk, sanitised. Borrows when there is nothing to remove.
    pub fn push<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        if self.is_ground() && is_clean(text) {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        self.append(&mut out, text, usize::MAX);
        Cow::Owned(out)
    }

    /// Passes the parts of `text` that stay to `emit`, in order.
    fn run(&mut self, text: &str, mut emit: impl FnMut(&str)) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match self.state {
                State::Ground => {
                    let clean = clean_len(&bytes[at..]);
                    if clean > 0 {
                        emit(&text[at..at + clean]);
                        at += clean;
                        continue;
                    }
                    at += self.control(byte, bytes.get(at + 1).copied());
                }
                State::OscString | State::ControlString => at += self.string(&bytes[at..]),
                state => {
                    let (next, consumed) = sequence(state, byte);
                    self.state = next;
                    at += usize::from(consumed);
                }
            }
        }
    }

    /// A byte in plain text that does not pass: returns how many bytes it takes.
    fn control(&mut self, byte: u8, next: Option<u8>) -> usize {
        match (byte, next) {
            (ESC, _) => self.state = State::Escape,
            (C1_LEAD, Some(C1_CSI)) => {
                self.state = State::C1Csi;
                return 2;
            }
            (C1_LEAD, _) => return 2,
            _ => {}
        }
        1
    }

    /// The payload of a control string: returns how many bytes of `bytes` belong to it.
    fn string(&mut self, bytes: &[u8]) -> usize {
        let Some(at) = bytes.iter().position(|&byte| byte < 0x20 || byte == C1_LEAD) else { return bytes.len() };
        let (end, consumed) = match bytes[at] {
            BEL if self.state == State::OscString => (Some(State::Ground), 1),
            CAN | SUB => (Some(State::Ground), 1),
            // A string that never ends costs the rest of its line, not the rest of the answer.
            LF => (Some(State::Ground), 0),
            // `ESC \` is the terminator; any other sequence cancels the string and counts itself.
            ESC => (Some(State::Escape), 1),
            C1_LEAD if bytes.get(at + 1) == Some(&C1_ST) => (Some(State::Ground), 2),
            C1_LEAD => (None, 2),
            _ => (None, 1),
        };
        self.state = end.unwrap_or(self.state);
        at + consumed
    }
}

/// One byte inside an escape or control sequence: the next state, and whether the byte belongs to the sequence. A byte
/// that cannot continue the sequence ends it and is looked at again as plain text.
fn sequence(state: State, byte: u8) -> (State, bool) {
    use State::{C1Csi, CsiIntermediate, CsiParameter, Escape, EscapeIntermediate};
    match (state, byte) {
        (Escape | EscapeIntermediate, 0x20..=0x2f) => (EscapeIntermediate, true),
        (Escape, b'[') | (C1Csi | CsiParameter, 0x30..=0x3f) => (CsiParameter, true),
        (Escape, b']') => (State::OscString, true),
        (Escape, b'P' | b'X' | b'^' | b'_') => (State::ControlString, true),
        (CsiParameter | CsiIntermediate, 0x20..=0x2f) => (CsiIntermediate, true),
        (Escape | EscapeIntermediate, 0x30..=0x7e) | (CsiParameter | CsiIntermediate, 0x40..=0x7e) => {
            (State::Ground, true)
        }
        _ => (State::Ground, false),
    }
}

/// Whether a byte can start something that is removed.
const fn suspect(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7f || byte == C1_LEAD
}

/// Bytes looked at together.
const BLOCK: usize = 32;

/// Whether a block has a suspect byte. Without a branch per byte, so that it vectorises.
fn block_is_suspect(block: &[u8; BLOCK]) -> bool {
    block.iter().fold(0, |any, &byte| any | u8::from(suspect(byte))) != 0
}

/// How many bytes pass unchanged from the start of `bytes`.
fn clean_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(block) = bytes[at..].first_chunk::<BLOCK>() {
        if block_is_suspect(block)
            && let Some(stop) = first_control(bytes, at, at + BLOCK)
        {
            return stop;
        }
        at += BLOCK;
    }
    // The rest: as one block with bytes that were looked at already, or with harmless ones.
    let rest = &bytes[at..];
    let suspect = if let Some(last) = bytes.last_chunk::<BLOCK>() {
        !rest.is_empty() && block_is_suspect(last)
    } else {
        let mut filled = [b' '; BLOCK];
        filled[..rest.len()].copy_from_slice(rest);
        block_is_suspect(&filled)
    };
    if suspect { first_control(bytes, at, bytes.len()).unwrap_or(bytes.len()) } else { bytes.len() }
}

/// Position of the first byte in `from..to` at which something is removed. The lead byte of the C1 controls also starts
/// ordinary characters (U+00A0–U+00BF).
fn first_control(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    (from..to)
        .find(|&at| suspect(bytes[at]) && !(bytes[at] == C1_LEAD && bytes.get(at + 1).is_some_and(|&next| next > 0x9f)))
}

fn is_clean(text: &str) -> bool {
    clean_len(text.as_bytes()) == text.len()
}

/// Appends up to a limit, then replaces the end by the marker.
struct Bounded<'o> {
    out: &'o mut String,
    max: usize,
    units: usize,
    over: bool,
}

impl<'o> Bounded<'o> {
    fn new(out: &'o mut String, max: usize) -> Self {
        Self { out, max, units: 0, over: false }
    }

    fn push(&mut self, text: &str) {
        if self.over {
            return;
        }
        let (bytes, units) = utf16_prefix(text, self.max - self.units);
        self.out.push_str(&text[..bytes]);
        self.units += units;
        self.over = bytes < text.len();
    }

    fn finish(mut self) -> usize {
        if self.over && self.max > TRUNCATION_MARKER_UTF16 {
            let keep = self.max - TRUNCATION_MARKER_UTF16;
            while self.units > keep {
                self.units -= self.out.pop().map_or(self.units, char::len_utf16);
            }
            self.out.push_str(TRUNCATION_MARKER);
            self.units += TRUNCATION_MARKER_UTF16;
        }
        self.units
    }
}

/// Removes escape sequences and control characters from a complete text. Borrows when there is nothing to remove.
pub fn strip_control_sequences(text: &str) -> Cow<'_, str> {
    sanitized(text, usize::MAX)
}

/// [`strip_control_sequences`], then [`bound_string`](super::bound::bound_string). Borrows when nothing changes.
pub fn sanitized(text: &str, max_utf16: usize) -> Cow<'_, str> {
    if text.len() <= max_utf16 && is_clean(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    append_sanitized(&mut out, text, max_utf16);
    Cow::Owned(out)
}

/// Appends a complete text to `out`, sanitised and bounded to `max_utf16` UTF-16 units; returns the units appended. A
/// copy of memory when there is nothing to remove.
pub fn append_sanitized(out: &mut String, text: &str, max_utf16: usize) -> usize {
    Sanitizer::new().append(out, text, max_utf16)
}

#[cfg(test)]
#[path = "sanitize_tests.rs"]
mod tests;
