//! `pattern` of a form: an expression of ECMA-262, checked in linear time or not at all.

use std::fmt::Write;

use regex::{Regex, RegexBuilder};

/// The longest pattern, in bytes.
const MAX_BYTES: usize = 1000;
/// How large a compiled pattern may be, in bytes.
const MAX_COMPILED_BYTES: usize = 256 * 1024;
/// How deep groups may nest.
const MAX_DEPTH: u32 = 32;

/// Compiles a pattern. What needs more than linear time (references back, looking around) is refused.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    if pattern.len() > MAX_BYTES {
        return None;
    }
    RegexBuilder::new(&translate(pattern))
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .nest_limit(MAX_DEPTH)
        .build()
        .ok()
}

/// From the spelling of ECMA-262 to that of the library, where the same spelling means something else: classes are of
/// ASCII there, and inside brackets `[`, `&&`, `--` and `~~` are plain characters.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut bracket = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('d') => out.push_str("[0-9]"),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str("[A-Za-z0-9_]"),
                Some('W') => out.push_str("[^A-Za-z0-9_]"),
                Some('s') => out.push_str(
                    r"[\t-\r\x20\xa0\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}]",
                ),
                Some('S') => out.push_str(
                    r"[^\t-\r\x20\xa0\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}]",
                ),
                Some('b') if !bracket => out.push_str(r"(?-u:\b)"),
                Some('B') if !bracket => out.push_str(r"(?-u:\B)"),
                Some('b') => out.push_str(r"\x08"),
                Some('/') => out.push('/'),
                // Positions and classes that only the library has.
                Some(other @ ('A' | 'z' | 'a' | '<' | '>')) => {
                    // Writing to a string cannot fail.
                    let _ = write!(out, r"\x{{{:x}}}", u32::from(other));
                }
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' if bracket => out.push_str(r"\["),
            '[' => {
                bracket = true;
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                // The library takes a bracket that comes first as itself; ECMA-262 ends the class.
                if chars.next_if_eq(&']').is_some() {
                    bracket = false;
                    let any = out.ends_with('^');
                    out.truncate(out.len() - if any { 2 } else { 1 });
                    out.push_str(if any { r"[\s\S]" } else { r"[^\s\S]" });
                }
            }
            ']' if bracket => {
                bracket = false;
                out.push(']');
            }
            '&' | '~' if bracket => out.extend(['\\', c]),
            '-' if bracket && chars.peek() == Some(&'-') => out.push_str(r"\-"),
            // Flags, which ECMA-262 does not have in this place.
            '(' if !bracket && chars.peek() == Some(&'?') => {
                out.push('(');
                let mut ahead = chars.clone();
                ahead.next();
                if !matches!(ahead.peek(), Some(':' | '<' | '=' | '!')) {
                    // Cannot be compiled, on purpose.
                    out.push('(');
                }
            }
            _ => out.push(c),
        }
    }
    out
}
