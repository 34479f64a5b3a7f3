//! The strings of JSON as they are written: where they end, how they read, and what JavaScript agents write into them that
//! strict parsers refuse.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr_iter;
use memchr::memmem::Finder;

/// How an escaped surrogate begins.
static LOWER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\ud"));
static UPPER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\uD"));

/// An escape `\uXXXX` in bytes.
const ESCAPE_LEN: usize = 6;
const REPLACEMENT: &[u8; ESCAPE_LEN] = b"\\ufffd";

/// Rewrites every unpaired surrogate escape (`\uD800`–`\uDFFF`) in a line of JSON to `\ufffd`, what a decoder of UTF-16
/// would show. `JSON.stringify` of a string that was cut inside a pair produces them. `None`: nothing to repair. The
/// result has the length of the input.
pub fn repair_lone_surrogates(line: &[u8]) -> Option<Vec<u8>> {
    // Most lines have neither: two searches without a branch for each escape.
    let surrogate = |finder: &LazyLock<Finder<'static>>| finder.find(line).is_some();
    memchr::memchr(b'\\', line)?;
    if !(surrogate(&LOWER) || surrogate(&UPPER)) {
        return None;
    }
    let mut repaired: Option<Vec<u8>> = None;
    // Where the escape that was looked at last ends: its second byte may be a backslash.
    let mut done = 0;
    for at in memchr_iter(b'\\', line) {
        if at < done {
            continue;
        }
        done = at + 2;
        let Some(unit) = escaped_unit(&line[at..]) else { continue };
        done = at + ESCAPE_LEN;
        match unit {
            0xd800..=0xdbff if matches!(escaped_unit(&line[done..]), Some(0xdc00..=0xdfff)) => done += ESCAPE_LEN,
            0xd800..=0xdfff => {
                repaired.get_or_insert_with(|| line.to_vec())[at..done].copy_from_slice(REPLACEMENT);
            }
            _ => {}
        }
    }
    repaired
}

/// The low half of a surrogate pair that a JSON string, quotes included, begins with: as the first thing in it, it is alone.
pub fn starts_with_low_surrogate(string: &str) -> Option<u16> {
    let unit = escaped_unit(string.as_bytes().strip_prefix(b"\"")?)?;
    u16::try_from(unit).ok().filter(|unit| matches!(unit, 0xdc00..=0xdfff))
}

/// The high half of a surrogate pair that a JSON string, quotes included, ends in: as the last thing in it, it is alone.
pub fn ends_in_high_surrogate(string: &str) -> Option<u16> {
    let inner = string.as_bytes().strip_suffix(b"\"")?;
    let at = inner.len().checked_sub(ESCAPE_LEN)?;
    let unit = escaped_unit(&inner[at..])?;
    // An even number of backslashes before it leaves its own to begin an escape.
    let before = inner[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
    u16::try_from(unit).ok().filter(|unit| matches!(unit, 0xd800..=0xdbff) && before % 2 == 0)
}

/// The UTF-16 unit that `bytes` starts with as `\uXXXX`.
fn escaped_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit * 16 + char::from(digit).to_digit(16)?))
}

/// What is between the quotes of a string.
pub(super) fn inner(raw: &str) -> &str {
    raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()
}

/// A string, quotes included, as it reads; an unpaired surrogate in it as a replacement character.
pub(super) fn decoded(raw: &str) -> Cow<'_, str> {
    let inner = inner(raw);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let repaired = repair_lone_surrogates(raw.as_bytes());
    let read = match &repaired {
        Some(bytes) => serde_json::from_slice(bytes),
        None => serde_json::from_str(raw),
    };
    read.map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// The index after a string that starts at `at`.
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn repaired(line: &str) -> Option<String> {
        repair_lone_surrogates(line.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn only_unpaired_surrogates_change() {
        for fine in [r#""plain""#, r#""\ud83d\ude80 \n \u00e9 \\ud800 \\\\ud800""#, "", "\\", r"\u", r"\ud8", r"\ud80x"]
        {
            assert_eq!(repaired(fine), None, "{fine}");
        }
        let cases = [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE80""#, r#""\ufffd""#),
            (r#""\ude80\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude80""#, r#""\ufffd\ud83d\ude80""#),
            (r#""\ud83dx\ude80""#, r#""\ufffdx\ufffd""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""\ud800\\udc00""#, r#""\ufffd\\udc00""#),
        ];
        for (line, expected) in cases {
            assert_eq!(repaired(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn halves_at_the_ends_of_a_string_are_found() {
        for (string, low, high) in [
            (r#""\ude80b""#, Some(0xde80), None),
            (r#""a\ud83d""#, None, Some(0xd83d)),
            (r#""\uDE80\uD83D""#, Some(0xde80), Some(0xd83d)),
            (r#""\ud83d""#, None, Some(0xd83d)),
            (r#""\\\ud83d""#, None, Some(0xd83d)),
            (r#""\\ud83d""#, None, None),
            (r#""\\\\ud83d""#, None, None),
            (r#""\ud83d\ude80""#, None, None),
            (r#""\ud83dx""#, None, None),
            (r#""xude80""#, None, None),
            (r#""""#, None, None),
            ("\"", None, None),
            ("", None, None),
        ] {
            assert_eq!((starts_with_low_surrogate(string), ends_in_high_surrogate(string)), (low, high), "{string}");
        }
    }

    proptest! {
        #[test]
        fn a_string_of_any_units_parses_to_what_javascript_shows(units in proptest::collection::vec(
            prop_oneof![0xd7f0u16..0xe010, 0x20u16..0x7f, Just(0x5c)], 0..30)) {
            // As `JSON.stringify` writes it: lone surrogates escaped, or here every unit.
            let mut line = String::from("\"");
            for unit in &units {
                match unit {
                    0x5c => line.push_str("\\\\"),
                    0x22 => line.push_str("\\\""),
                    0x20..=0x7f => line.push(char::from(u8::try_from(*unit).unwrap())),
                    _ => write!(line, "\\u{unit:04x}").unwrap(),
                }
            }
            line.push('"');
            let fixed = repaired(&line);
            let lossy = String::from_utf16_lossy(&units);
            prop_assert_eq!(fixed.is_some(), String::from_utf16(&units).is_err());
            let parsed: String = serde_json::from_str(fixed.as_deref().unwrap_or(&line)).unwrap();
            prop_assert_eq!(parsed, lossy);
        }
    }
}
