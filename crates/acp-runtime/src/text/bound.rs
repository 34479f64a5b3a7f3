//! Length limits for strings from the agent, in UTF-16 code units.

use std::borrow::Cow;

use super::sanitize::strip_control_sequences;
use super::utf16::utf16_prefix;

/// Default limit of an identifier from the agent (session id, tool call id), in UTF-16 units.
pub const DEFAULT_IDENTIFIER_MAX: usize = 256;

/// What a string that was cut ends in.
pub const TRUNCATION_MARKER: &str = "…[truncated]";

/// Length of [`TRUNCATION_MARKER`] in UTF-16 units.
pub const TRUNCATION_MARKER_UTF16: usize = 12;

/// `text` in at most `max_utf16` UTF-16 units. A longer one ends in [`TRUNCATION_MARKER`], inside the limit; a limit
/// without room for more than the marker cuts hard. A character is never split: the result may be a unit shorter.
pub fn bound_string(text: &str, max_utf16: usize) -> Cow<'_, str> {
    let (fits, _) = utf16_prefix(text, max_utf16);
    if fits == text.len() || max_utf16 <= TRUNCATION_MARKER_UTF16 {
        return Cow::Borrowed(&text[..fits]);
    }
    let (keep, _) = utf16_prefix(text, max_utf16 - TRUNCATION_MARKER_UTF16);
    Cow::Owned([&text[..keep], TRUNCATION_MARKER].concat())
}

/// An identifier from the agent as a flat token of at most `max_utf16` UTF-16 units (0: [`DEFAULT_IDENTIFIER_MAX`]),
/// safe as a map key and as one path component: no controls, no separators, no `..`.
pub fn bound_identifier(id: &str, max_utf16: usize) -> String {
    identifier(id, max_utf16).into_owned()
}

/// [`bound_identifier`], borrowing the usual identifier that needs no change.
pub fn identifier(id: &str, max_utf16: usize) -> Cow<'_, str> {
    let max = if max_utf16 == 0 { DEFAULT_IDENTIFIER_MAX } else { max_utf16 };
    let mut clean = strip_control_sequences(id);
    if clean.contains(['/', '\\', '\n', '\t']) || clean.contains("..") {
        clean = Cow::Owned(flatten(&clean));
    }
    let (keep, _) = utf16_prefix(&clean, max);
    match clean {
        Cow::Borrowed(clean) => Cow::Borrowed(&clean[..keep]),
        Cow::Owned(mut clean) => {
            clean.truncate(keep);
            Cow::Owned(clean)
        }
    }
}

/// Each separator and each run of two or more dots becomes an underscore; line feeds and tabs go.
fn flatten(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    let mut rest = id.chars().filter(|c| !matches!(c, '\n' | '\t')).peekable();
    while let Some(c) = rest.next() {
        match c {
            '/' | '\\' => out.push('_'),
            '.' => {
                let mut dots = 1;
                while rest.next_if_eq(&'.').is_some() {
                    dots += 1;
                }
                out.push(if dots == 1 { '.' } else { '_' });
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::utf16::utf16_len;

    #[test]
    fn strings_are_cut_with_the_marker_inside_the_limit() {
        assert_eq!(utf16_len(TRUNCATION_MARKER), TRUNCATION_MARKER_UTF16);
        assert!(matches!(bound_string("short", 100), Cow::Borrowed("short")));
        assert_eq!(bound_string(&"a".repeat(100), 50), format!("{}{TRUNCATION_MARKER}", "a".repeat(38)));
        assert_eq!(bound_string("abcdefgh", 3), "abc");
        assert_eq!(bound_string(&"a".repeat(13), 12), "a".repeat(12));
        assert_eq!(bound_string(&"a".repeat(14), 13), format!("a{TRUNCATION_MARKER}"));
        assert_eq!(bound_string("abc", 0), "");
        assert_eq!(bound_string("", 10), "");
    }

    #[test]
    fn a_pair_is_dropped_rather_than_split() {
        assert_eq!(bound_string("a🚀b", 2), "a");
        assert_eq!(bound_string(&"🚀".repeat(10), 13), TRUNCATION_MARKER);
        assert_eq!(bound_identifier("a🚀", 2), "a");
    }

    #[test]
    fn identifiers_are_flat() {
        let cases = [
            ("../../etc/passwd", "____etc_passwd"),
            ("..\\..\\windows", "____windows"),
            ("..", "_"),
            ("a...b", "a_b"),
            ("a.b", "a.b"),
            (".", "."),
            ("sess\x00ion\x1b[31mid", "sessionid"),
            ("sess-1234-abcd", "sess-1234-abcd"),
            ("one\ntwo\t.\n.", "onetwo_"),
            ("", ""),
        ];
        for (input, expected) in cases {
            assert_eq!(bound_identifier(input, DEFAULT_IDENTIFIER_MAX), expected, "{input:?}");
        }
        assert_eq!(bound_identifier(&"s".repeat(10_000), 0).len(), DEFAULT_IDENTIFIER_MAX);
        assert_eq!(bound_identifier("abcdefgh", 4), "abcd");
        assert!(matches!(identifier("call_1.a", 0), Cow::Borrowed("call_1.a")));
    }

    proptest! {
        #[test]
        fn bounded_strings_fit_and_say_that_they_were_cut(text in "[a-zé中🚀]{0,80}", max in 0usize..100) {
            let bounded = bound_string(&text, max);
            prop_assert!(utf16_len(&bounded) <= max);
            prop_assert_eq!(bounded == text, utf16_len(&text) <= max);
            prop_assert!(bounded == text || max <= TRUNCATION_MARKER_UTF16 || bounded.ends_with(TRUNCATION_MARKER));
        }

        #[test]
        fn identifiers_are_safe_and_stable(id in "[a./\\\\\\x00-\\x1f\u{1b}\\[🚀]{0,60}", max in 1usize..40) {
            let bounded = bound_identifier(&id, max);
            prop_assert!(utf16_len(&bounded) <= max);
            prop_assert!(!bounded.contains(['/', '\\']) && !bounded.contains(".."));
            prop_assert!(!bounded.chars().any(char::is_control));
            prop_assert_eq!(bound_identifier(&bounded, max), bounded);
        }
    }
}
