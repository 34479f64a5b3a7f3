use proptest::prelude::*;

use super::super::known::{json_escaped, percent_encoded};
use super::*;

#[test]
fn the_rules_compile() {
    assert!(Rules::compile().is_ok());
}

#[test]
fn what_looks_like_a_secret_is_masked() {
    let cases = [
        ("Authorization: Bearer sk-live-ABCDEFG1234567890abcdef", "Authorization: Bearer [REDACTED]"),
        ("authorization=abc, next", "authorization=[REDACTED], next"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [REDACTED]"),
        (r#"{"authorization":"Token abc.def"}"#, r#"{"authorization":"Token [REDACTED]"}"#),
        (r#"{\"Authorization\": \"Bearer abc\"}"#, r#"{\"Authorization\": \"Bearer [REDACTED]\"}"#),
        ("bearer abc.def-ghi", "bearer [REDACTED]"),
        ("api_key=abcdef0123456789 token=ZZZ987654321", "api_key=[REDACTED] token=[REDACTED]"),
        (r#"client_secret="topsecretvalue123" x"#, r#"client_secret="[REDACTED]" x"#),
        (r#"password: "two words \" three", x"#, r#"password: "[REDACTED]", x"#),
        ("pwd='a b'", "pwd='[REDACTED]'"),
        (r#"{"apiKey":"abc","x":1}"#, r#"{"apiKey":"[REDACTED]","x":1}"#),
        (r#"{\"refresh_token\":\"abc\"}"#, r#"{\"refresh_token\":\"[REDACTED]\"}"#),
        ("OPENAI_API_KEY=abc", "OPENAI_API_KEY=[REDACTED]"),
        ("X-Api-Key: abc", "X-Api-Key: [REDACTED]"),
        ("accessToken = abc", "accessToken = [REDACTED]"),
        ("password=\"cut off", "password=\"[REDACTED] off"),
        ("ghp_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "[REDACTED]"),
        ("x sk-ant-api03-abcdefgh y", "x [REDACTED] y"),
        ("AKIAIOSFODNN7EXAMPLE xoxb-12345678-abc github_pat_abcdefgh1", "[REDACTED] [REDACTED] [REDACTED]"),
        ("eyJhbGciOiJI.eyJzdWIi.c2ln-_ end", "[REDACTED] end"),
        ("https://user:pass@example.org/x", "https://[REDACTED]@example.org/x"),
        ("Set-Cookie: a=b; Path=/\nnext", "Set-Cookie: [REDACTED]\nnext"),
        ("value 0123456789abcdef0123456789abcdef done", "value [REDACTED] done"),
        ("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaA==", "[REDACTED]=="),
    ];
    for (text, expected) in cases {
        assert_eq!(redact_secrets(text), expected, "{text}");
    }
}

#[test]
fn ordinary_text_is_borrowed() {
    for text in [
        "",
        "hello world",
        "Error: Cannot find module './src/tools/monkey.js'",
        "at Object.<anonymous> (/home/me/project/lib/index.js:10:5)",
        "max_tokens reached; tokens used 512",
        "task-force risk-assessment",
        "commit 1a2b3c4d5e6f on main",
        "mail me@example.org",
        "spawn claude ENOENT",
    ] {
        assert!(
            matches!(redact_secrets(text), Cow::Borrowed(same) if same == text),
            "{text}: {}",
            redact_secrets(text)
        );
    }
}

#[test]
fn a_commit_id_and_a_long_plain_path_are_masked_knowingly() {
    assert_eq!(redact_secrets("commit 8fe69ac5c8f2b1d0a7e6f5c4b3a29180f7e6d5c4"), "commit [REDACTED]");
    assert_eq!(redact_secrets("/usr/local/share/applications/runtime/cache/entry"), "/[REDACTED]");
}

#[test]
fn known_values_are_masked_in_every_spelling() {
    let redactor = Redactor::new(["p\"w/ ü1", "abc", "longer-value", "longer"]);
    for spelling in ["p\"w/ ü1", "p\\\"w/ ü1", "p%22w%2F%20%C3%BC1", "p%22w%2f%20%c3%bc1", "p%22w%2F+%C3%BC1"] {
        assert_eq!(redactor.redact(&format!("<{spelling}>")), "<[REDACTED]>", "{spelling}");
    }
    assert_eq!(redactor.redact("longer-value longer abc"), "[REDACTED] [REDACTED] abc");
    assert!(matches!(redactor.redact("nothing"), Cow::Borrowed("nothing")));
    assert_eq!(redactor.redact("longer token=x"), "[REDACTED] token=[REDACTED]");
    assert_eq!(redactor.redact_known("longer token=x"), "[REDACTED] token=x");
    assert!(!format!("{redactor:?}").contains("longer"));
    assert_eq!(Redactor::new(["[REDACTED]", "REDACTED"]).redact("token=x"), "token=[REDACTED]");
}

#[test]
fn overlapping_values_leave_no_part() {
    let redactor = Redactor::new(["abcd", "cdef", "fghi"]);
    assert_eq!(redactor.redact("xabcdefghix abcd"), "x[REDACTED]x [REDACTED]");
    assert_eq!(Redactor::new(["aaaa"]).redact("aaaaaaa b"), "[REDACTED] b");
    // A long value that contains shorter ones is one mask.
    assert_eq!(Redactor::new(["1234", "6789", "0123456789x"]).redact("0123456789x"), "[REDACTED]");
}

#[test]
fn no_secrets_means_patterns_only() {
    let redactor = Redactor::new(["", "abc", "   "]);
    assert_eq!(redactor.redact("abc token=x"), "abc token=[REDACTED]");
}

#[test]
fn what_a_mask_joins_is_looked_at_again() {
    let base64 = "AAAAAAAAAAAAAAAAAAAA/AAAAAAAAAAAAAAAAAAA";
    for (text, expected) in [
        ("://key://@;@", "://[REDACTED]@"),
        (&format!("https://me:{base64}@example.org"), "https://[REDACTED]@example.org"),
        ("https://me:token=a/b,hunter2@example.org", "https://[REDACTED]@example.org"),
        ("0123456789abcdef0123456789abcdef\u{1b}[msk-abcdefgh", "[REDACTED][REDACTED]"),
    ] {
        assert_eq!(redact_secrets(text), expected, "{text}");
    }
    // Each address is whole only when the one inside it is masked; what goes on so is not shown at all.
    let nested = |depth: usize| format!("{}{}", "://key:/".repeat(depth), ";@".repeat(depth));
    assert!(redact_secrets(&nested(2)).ends_with('@'), "{}", redact_secrets(&nested(2)));
    for depth in 0..64 {
        let once = redact_secrets(&nested(depth)).into_owned();
        assert_eq!(redact_secrets(&once), once, "{depth}");
    }
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing(text in "((api_)?key|token|password|[Bb]earer|Authorization|([Ss]et-)?[Cc]ookie|[=: \"',;/?#\\\\\r\n{}\\[\\]]|sk-|ghp_|eyJ|[a-z0-9]{1,12}|[0-9a-f]{32}|[A-Za-z0-9+/]{40}|://|@|\u{1b}\\[0?m?|\u{7}|REDACTED|\\[REDACTED\\]){0,24}") {
        let once = redact_secrets(&text).into_owned();
        prop_assert_eq!(redact_secrets(&once), once.as_str());
    }

    #[test]
    fn a_known_value_never_survives(secret in "[a-z\"/é&][a-z\"/ é&]{2,10}[a-z\"/é&]", before in "\\PC{0,20}", after in "\\PC{0,20}") {
        let redactor = Redactor::new([&secret]);
        let text = format!("{before}{secret}{after}");
        let json = serde_json::to_string(&text).unwrap();
        let shown = [redactor.redact_known(&text), redactor.redact_known(&json)].map(|shown| shown.replace(REDACTED, "\u{1}"));
        for spelling in [secret.trim().to_owned(), json_escaped(secret.trim())] {
            prop_assert!(shown.iter().all(|shown| !shown.contains(&spelling)), "{:?}", shown);
        }
    }

    #[test]
    fn secrets_of_each_kind_never_survive(token in "[A-Za-z0-9]{12,30}", before in "( |\n|\"|,){0,2}", name in "token|api_key|API_KEY|MY_SECRET|password|clientSecret", sep in "=|: |\":\"|\" : \"|='") {
        let text = format!("{before}{name}{sep}{token}\n");
        let shown = redact_secrets(&text);
        prop_assert!(!shown.contains(&token), "{}", shown);
    }
}

#[test]
fn terminal_control_hides_no_secret() {
    let redactor = Redactor::new(["hunter2-and-more"]);
    for control in ["\u{1b}[0m", "\u{1b}]0;x\u{7}", "\u{7}", "\u{9b}1m", "\0", "\r"] {
        for at in 1..16 {
            let mut text = "hunter2-and-more".to_owned();
            text.insert_str(at, control);
            assert_eq!(redactor.redact(&format!("is {text}!")), "is [REDACTED]!", "{control:?} at {at}");
            let json = serde_json::json!({ "m": [format!("is {text}!")] }).to_string();
            assert_eq!(redactor.redact(&json), r#"{"m":["is [REDACTED]!"]}"#, "{control:?} at {at}");
        }
        assert_eq!(redact_secrets(&format!("ghp_ABCDEFGH{control}IJKLMNOP")), "[REDACTED]");
        let harmless = format!("no{control}thing");
        assert_eq!(redactor.redact(&harmless), harmless, "what has no secret stays as it was");
    }
}

#[test]
fn the_work_is_linear_however_deep_documents_and_control_are_nested() {
    let looked_at = std::cell::Cell::new(0);
    // Every rule looks at what is looked at.
    let counting = |text: &str| -> String {
        looked_at.set(looked_at.get() + text.len());
        redact_patterns(text).into_owned()
    };
    for between in ["\r", "\n", "\u{1b}[0m", "\r\u{7f}"] {
        for secret in ["nothing", "token=abc", "\u{1b}[0mno", "gh\u{1b}[0mp_ABCDEFGH"] {
            let mut text = secret.to_owned();
            for _ in 0..MAX_NESTED {
                text = format!("{between}{}", serde_json::to_string(&text).unwrap());
            }
            looked_at.set(0);
            let shown = settled(&text, |text| Cow::Owned(counting(text)), 0);
            assert_eq!(shown == text, ["nothing", "\u{1b}[0mno"].contains(&secret), "{secret:?} {between:?}");
            assert!(looked_at.get() < 40 * text.len(), "{} for {} bytes: {between:?}", looked_at.get(), text.len());
        }
    }
}

/// A string that holds this text, with escapes that grow by a few bytes a level where the usual ones double.
fn quoted_sparsely(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\u005c").replace('"', "\\u0022"))
}

#[test]
fn documents_in_documents_are_masked_whole_from_some_depth_on_and_never_outgrow_what_came() {
    let redactor = Redactor::new(["known-value"]);
    for secret in ["token=abc", "known-value", "nothing \"here\""] {
        for quote in [quoted_sparsely, |text: &str| serde_json::to_string(text).unwrap()] {
            let mut text = secret.to_owned();
            for depth in 1..=16 {
                text = quote(&text);
                let shown = redactor.redact(&text);
                assert!(shown.len() <= 4 * text.len() + 64, "{} for {} at {depth}", shown.len(), text.len());
                assert!(!shown.contains("abc") && !shown.contains("known"), "{shown}");
                assert!(serde_json::from_str::<serde_json::Value>(&shown).is_ok(), "{shown}");
                assert_eq!(redactor.redact(&shown), shown);
                assert_eq!(shown.contains("here"), secret.contains("here") && depth <= MAX_NESTED + 1, "{shown}");
            }
        }
    }
    // Nor does depth take the stack. Only this spelling makes much of it in a few bytes.
    let mut text = "token=abc".to_owned();
    for _ in 0..1200 {
        text = quoted_sparsely(&text);
    }
    assert!(redact_secrets(&text).len() < 1000);
}

#[test]
fn a_long_secret_is_known_whole_and_takes_no_more_room_than_its_spellings() {
    let key: String = (0..4000u32).map(|i| char::from(b' ' + (i * i % 95) as u8)).collect();
    let key = format!("k{key}e");
    let redactor = Redactor::new([key.as_str(), "a-short-one"]);
    for spelling in [key.clone(), json_escaped(&key), percent_encoded(&key, b"0123456789abcdef")] {
        assert_eq!(redactor.redact_known(&format!("<{spelling} a-short-one>")), "<[REDACTED] [REDACTED]>");
    }
    assert!(redactor.longest() >= percent_encoded(&key, b"0123456789abcdef").len());
    // Half of it is not known, so it must never be shown; whoever cuts text asks for `longest`.
    assert!(!redactor.redact_known(&key[1..]).contains(REDACTED));
    let many: Vec<String> = (0..100).map(|i| format!("{i:040}")).collect();
    assert!(Redactor::new(many).known.memory_bytes() < 100 * 1024 * 14);
}

proptest! {
    #[test]
    fn a_known_value_is_found_in_base64_and_hex(
        secret in "[ -~]{12,40}", before in proptest::collection::vec(any::<u8>(), 0..6),
        after in proptest::collection::vec(any::<u8>(), 0..6),
    ) {
        let secret = secret.trim();
        prop_assume!(secret.len() >= 12);
        let whole = [&before, secret.as_bytes(), &after].concat();
        let redactor = Redactor::new([secret]);
        // Twelve bytes of a secret never stand there as a whole: at most the characters at its ends remain.
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bits: Vec<u8> = whole.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
        let base64: String = bits
            .chunks(6)
            .map(|six| six.iter().chain(std::iter::repeat(&0)).take(6).fold(0usize, |v, bit| v << 1 | usize::from(*bit)))
            .map(|value| char::from(alphabet[value]))
            .collect();
        for text in [base64.clone(), base64.replace('+', "-").replace('/', "_")] {
            let shown = redactor.redact_known(&text);
            prop_assert!(shown.contains(REDACTED), "{text} {shown}");
        }
        let hex = whole.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let shown = redactor.redact_known(&hex);
        prop_assert!(shown.contains(REDACTED), "{hex} {shown}");
    }
}
