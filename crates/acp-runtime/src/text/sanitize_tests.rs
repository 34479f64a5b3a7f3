use proptest::prelude::*;

use super::*;

#[test]
fn sequences_are_removed_with_their_parameters_and_payloads() {
    let cases = [
        ("\x1b[31mred\x1b[0m text", "red text"),
        ("before\x1b]0;malicious title\x07after", "beforeafter"),
        ("a\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1b[2Jb\x1b[Hc", "abc"),
        ("a\x1b[?25lb\x1b[1;31;48:2:1:2:3mc\x1b[0 qd", "abcd"),
        ("a\x1b(Bb\x1b#8c\x1b7d\x1bMe\x1b=f", "abcdef"),
        ("a\x1bPq#0;2;0;0;0\x1b\\b\x1b_Gf=100;AAAA\x1b\\c\x1b^x\x1b\\d\x1bXy\u{9c}e", "abcde"),
        ("\x1b\x1b[31mx", "x"),
    ];
    for (input, expected) in cases {
        assert_eq!(strip_control_sequences(input), expected, "{input:?}");
    }
}

#[test]
fn controls_are_dropped_and_line_feed_and_tab_kept() {
    assert_eq!(strip_control_sequences("line1\nline2\tend\x00\x07\x7f\u{9b}"), "line1\nline2\tend");
    assert_eq!(strip_control_sequences("a\r\nb\rc"), "a\nbc");
    assert_eq!(strip_control_sequences("a\u{80}b\u{85}c\u{9f}d"), "abcd");
    assert_eq!(strip_control_sequences("« 30 °C »\u{a0}中🚀\u{2028}"), "« 30 °C »\u{a0}中🚀\u{2028}");
    assert_eq!(strip_control_sequences(""), "");
}

#[test]
fn a_sequence_that_is_never_finished_leaves_nothing_of_itself() {
    let cases = [
        ("a\x1b]0;evil", "a"),
        ("a\x1b]0;evil\nnext line", "a\nnext line"),
        ("a\x1bPevil", "a"),
        ("a\x1b_evil\x1b[31mb", "ab"),
        ("a\x1b^evil\x18b\x1bXevil\x1ac", "abc"),
        ("a\x1b_bell\x07 does not end it\nb", "a\nb"),
        ("a\x1b[31", "a"),
        ("a\x1b[31\nb", "a\nb"),
        ("a\x1b[3é", "aé"),
        ("a\x1b", "a"),
        ("a\x1b(", "a"),
        ("a\x1b(é", "aé"),
        ("a\x1bé", "aé"),
    ];
    for (input, expected) in cases {
        assert_eq!(strip_control_sequences(input), expected, "{input:?}");
    }
}

#[test]
fn eight_bit_controls_never_swallow_text() {
    assert_eq!(strip_control_sequences("a\u{9b}31mb"), "ab");
    // "Û" and a closing quote, decoded twice: the second halves look like CSI and OSC.
    assert_eq!(strip_control_sequences("Ã\u{9b}ber â\u{80}\u{9d}quoted\u{90}x"), "Ãber âquotedx");
}

#[test]
fn clean_text_is_borrowed_and_appended_without_growth_beyond_it() {
    let text = "plain « text » with 中文\n\tand more";
    assert!(matches!(strip_control_sequences(text), Cow::Borrowed(same) if std::ptr::eq(same, text)));
    assert!(matches!(sanitized(text, 1_000), Cow::Borrowed(_)));
    let mut out = String::with_capacity(text.len());
    let before = out.as_ptr();
    assert_eq!(append_sanitized(&mut out, text, 1_000), text.encode_utf16().count());
    assert_eq!((out.as_str(), out.as_ptr()), (text, before));
}

#[test]
fn chunks_are_bounded_after_stripping() {
    let mut out = String::from("kept ");
    assert_eq!(append_sanitized(&mut out, &format!("\x1b[1m{}", "z".repeat(200)), 100), 100);
    assert_eq!(out, format!("kept {}{TRUNCATION_MARKER}", "z".repeat(88)));
    // Exactly at the limit once the sequence is gone: not cut.
    out.clear();
    assert_eq!(append_sanitized(&mut out, &format!("\x1b[1m{}", "z".repeat(100)), 100), 100);
    assert_eq!(out, "z".repeat(100));
    out.clear();
    assert_eq!(append_sanitized(&mut out, "abcdef", 3), 3);
    assert_eq!(out, "abc");
    out.clear();
    assert_eq!(append_sanitized(&mut out, "abcdef", 0), 0);
    assert_eq!(out, "");
}

#[test]
fn cutting_never_reaches_the_text_before_the_chunk() {
    let mut out = String::from("before");
    assert_eq!(append_sanitized(&mut out, "🚀🚀🚀🚀🚀🚀🚀🚀", 13), 12);
    assert_eq!(out, format!("before{TRUNCATION_MARKER}"));
}

#[test]
fn a_sequence_split_over_chunks_does_not_leak() {
    let mut stream = Sanitizer::new();
    let mut out = String::new();
    for chunk in ["a\x1b", "[31", "mb\x1b]0;ti", "tle", "\x07c\x1b", "\\d"] {
        stream.append(&mut out, chunk, usize::MAX);
    }
    assert_eq!(out, "abcd");
    assert!(stream.is_ground());
    stream.append(&mut out, "\x1b]0;", usize::MAX);
    assert!(!stream.is_ground());
    stream.reset();
    stream.append(&mut out, "e", usize::MAX);
    assert_eq!(out, "abcde");
}

/// Text in which sequences, broken sequences and ordinary characters are all likely.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9 ;:?\\[\\]()\\\\]{0,6}",
        "[\\x00-\\x1f\\x7f]",
        "[\\u{80}-\\u{bf}]",
        Just("\x1b".to_owned()),
        Just("\x1b[".to_owned()),
        Just("\x1b]".to_owned()),
        Just("\x1bP".to_owned()),
        Just("\x1b\\".to_owned()),
        Just("\u{9c}".to_owned()),
        "\\PC{0,3}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// What is left of `text` when only single characters are dropped: the most that may stay.
fn without_controls(text: &str) -> String {
    text.chars().filter(|&c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|c| whole.any(|w| w == c))
}

proptest! {
    #[test]
    fn output_has_no_controls_invents_nothing_and_is_stable(text in hostile()) {
        let once = strip_control_sequences(&text).into_owned();
        prop_assert!(!once.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        prop_assert!(is_subsequence(&once, &without_controls(&text)));
        prop_assert_eq!(strip_control_sequences(&once), once.as_str());
        // A line feed is never part of a sequence.
        prop_assert_eq!(once.matches('\n').count(), text.matches('\n').count());
    }

    #[test]
    fn text_without_controls_is_unchanged(text in "(\\PC|\n|\t){0,200}") {
        prop_assert_eq!(strip_control_sequences(&text), without_controls(&text));
    }

    #[test]
    fn a_stream_reads_the_same_however_it_is_split(text in hostile(), cuts in proptest::collection::vec(0usize..400, 0..8)) {
        let mut stream = Sanitizer::new();
        let mut out = String::new();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.char_indices().nth(cut).map_or(text.len(), |(at, _)| at)).collect();
        cuts.sort_unstable();
        let mut from = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            stream.append(&mut out, &text[from..cut], usize::MAX);
            from = cut;
        }
        prop_assert_eq!(out.as_str(), strip_control_sequences(&text));
    }

    #[test]
    fn bounding_while_appending_equals_stripping_then_bounding(text in hostile(), max in 0usize..60) {
        let mut out = String::from("x");
        let units = append_sanitized(&mut out, &text, max);
        let stripped = strip_control_sequences(&text);
        prop_assert_eq!(&out[1..], super::super::bound::bound_string(&stripped, max));
        prop_assert_eq!(units, utf16_len(&out[1..]));
    }
}
