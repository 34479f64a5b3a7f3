use std::fmt::Write as _;

use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::*;

#[test]
fn every_complete_top_level_object_is_found() {
    let cases: &[(&str, &[&str])] = &[
        ("", &[]),
        ("no JSON here", &[]),
        (r#"{"a":1}"#, &[r#"{"a":1}"#]),
        (r#"done {"verdict":"pass"} and more"#, &[r#"{"verdict":"pass"}"#]),
        ("```json\n{\"a\":1}\n```", &[r#"{"a":1}"#]),
        (r#"{"a":1}{"b":2}"#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
        (r#"first {"a":1}, then {"b":2}."#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
        (r#"{"a":"}{\"","b":{}} x"#, &[r#"{"a":"}{\"","b":{}}"#]),
        ("{}", &["{}"]),
        (r#"{"code":"```js\nfoo()\n```"}"#, &[r#"{"code":"```js\nfoo()\n```"}"#]),
        (r#"Result: [{"verdict":"pass"}]"#, &[r#"{"verdict":"pass"}"#]),
        (r#"see [1] and [the docs](x) for {"a":1}"#, &[r#"{"a":1}"#]),
        ("[12:00:01] {\"a\":1}\n[x] {\"b\":[]}\n[WIP] {\"c\":1}", &[r#"{"a":1}"#, r#"{"b":[]}"#, r#"{"c":1}"#]),
        (r#"f({"a":1})"#, &[r#"{"a":1}"#]),
    ];
    for (text, expected) in cases {
        assert_eq!(extract_json_objects(text), *expected, "{text}");
    }
}

#[test]
fn a_pretty_printed_object_is_one_object() {
    let verdict = "{\n  \"verdict\": \"fail\",\n  \"assertions\": [\n    {\"id\":\"a\",\"passed\":true}\n  ]\n}";
    assert_eq!(extract_json_objects(&format!("My verdict:\n```json\n{verdict}\n```\nDone.")), [verdict]);
}

#[test]
fn an_array_counts_when_it_has_its_lines_to_itself() {
    assert_eq!(extract_json_objects("x\n  [1, {\"a\":2}]  \r\ny"), ["[1, {\"a\":2}]"]);
    assert_eq!(last_json_object("{\"a\":1}\n[{\"b\":2}]"), Some("[{\"b\":2}]"));
    let pretty = "[\n  {\"a\":1},\n  {\"b\":2}\n]";
    assert_eq!(extract_json_objects(pretty), [pretty]);
    assert_eq!(extract_json_objects("[{\"a\":1}] trailing"), ["{\"a\":1}"]);
    assert_eq!(last_json_object("nothing"), None);
}

#[test]
fn nothing_from_inside_a_value_that_was_cut_off() {
    for text in [
        r#"{"verdict":"fail","assertions":[{"id":"a","passed":true},"#,
        r#"{"verdict":"fail","detail":{"passed":true}"#,
        r#"{"verdict":"fail","detail":{"passed":true},"s":"unfinis"#,
        "{\n \"verdict\": \"fail\",\n \"assertions\": [\n{\"id\":\"a\",\"passed\":true}\n",
        r#"[{"passed":true},"#,
        "[\n  {\"passed\":true},\n  {\"pas",
        r#"{"a":tru"#,
        r#"{"a":-"#,
        r#"{"a":1.5e"#,
        r#"{"a":"\u00"#,
        r#"{"a":"\"#,
        "{",
    ] {
        assert_eq!(extract_json_objects(text), [""; 0], "{text}");
    }
    // What came before stays.
    assert_eq!(extract_json_objects(r#"{"a":1} {"b":{"c":2},"#), [r#"{"a":1}"#]);
}

#[test]
fn nothing_from_inside_a_malformed_value() {
    for text in [
        r#"{"verdict":"fail","assertions":[{"id":"a","passed":true}],}"#,
        r#"{"verdict":"fail" "detail":{"passed":true}}"#,
        "{\n  \"summary\": \"bad \"quote\" here\",\n  \"assertions\": [\n    {\"id\":\"a\",\"passed\":true},\n    {\"id\":\"b\",\"passed\":true}\n  ],\n",
        "{\n  \"summary\": \"5\" tall\",\n  \"assertions\": [\n    {\"id\":\"a\",\"passed\":true}\n  ],\n  \"x\":\n  {\"passed\":true}\n}",
        r#"{verdict: "fail", detail: {"passed": true}}"#,
        r#"{'verdict': 'fail', 'detail': {"passed": true}}"#,
        "{{\"verdict\":\"pass\"}}",
        "[\n{\"id\":\"a\",\"passed\":true},\n{\"id\":\"b\" \"passed\":true}\n]",
        r#""{\"verdict\":\"pass\"}""#,
        "{\"a\":\"raw\nnewline\",\"b\":{\"passed\":true}}",
        r#"{"a":01,"b":{"passed":true}}"#,
        r#"{"a":"\x","b":{"passed":true}}"#,
        r#"{"a":[1},"b":{"passed":true}}"#,
    ] {
        assert_eq!(extract_json_objects(text), [""; 0], "{text}");
    }
}

#[test]
fn braces_in_prose_do_not_hide_the_answer() {
    let answer = r#"{"verdict":"pass"}"#;
    for text in [
        "Uses {braces} in text: {\"verdict\":\"pass\"}",
        "fn main() { if x { y(); } }\n{\"verdict\":\"pass\"}",
        "Expected `{\"verdict\": ...}` and so:\n\n{\"verdict\":\"pass\"}\n",
        "It fails on input `{\"a\":1` because of the quote.\n\n{\"verdict\":\"pass\"}",
        "An open { brace in prose.\n```json\n{\"verdict\":\"pass\"}\n```",
        "Template {{name}} was \"5\" wide\n{\"verdict\":\"pass\"}",
        "{don't} {\"verdict\":\"pass\"}",
        "an open { brace.\n[WIP] note\n{\"verdict\":\"pass\"}",
    ] {
        assert_eq!(last_json_object(text), Some(answer), "{text}");
    }
}

#[test]
fn deep_values_are_skipped_and_the_rest_is_found() {
    let nested = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let (fits, deep) = (nested(MAX_DEPTH), nested(MAX_DEPTH + 1));
    assert!(serde_json::from_str::<Value>(&fits).is_ok());
    assert!(serde_json::from_str::<Value>(&deep).is_err());
    assert_eq!(extract_json_objects(&format!("{fits} {deep} {{}}")), [fits.as_str(), "{}"]);
    let very_deep = nested(200_000);
    assert_eq!(extract_json_objects(&format!("{very_deep}\n{{\"b\":2}}")), [r#"{"b":2}"#]);
}

#[test]
fn the_work_is_linear_in_hostile_text() {
    let units: &[&str] = &[
        "{",
        "[",
        "}",
        "{\"",
        "{\"{",
        "[[",
        "[\n",
        "{\n",
        "{\"a\":",
        "{\"a\":{\"b\"x",
        "{\"a\"x ",
        "{\"a\"x\n",
        "{\"a\":[",
        "\"{",
        "{\"a\":\"\\",
        " \n",
        "   {",
        "   [",
        "\n   {",
        "[1]   ",
        "\n[1] x",
        "\n[[1]] {\"a\":1}",
        "\n[[\n[",
        "[\"",
        "{\"a\":1e",
        "\n\":  {",
        "{\"a\":1}",
        "\n{\"a\" {\n",
        "{x}\n[\"a\", {\"b\":1} x",
        "\n[{\"a\":[1,2]} x\n",
    ];
    for unit in units {
        for tail in ["", "x", "}", "\"", "\n{\"a\":1}"] {
            let text = format!("{}{tail}", unit.repeat(200_000 / unit.len()));
            let mut scanner = Scanner::new(&text);
            scanner.run();
            assert!(scanner.steps <= 4 * text.len() + 16, "{unit:?} {tail:?}: {} steps", scanner.steps);
        }
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[{}\\[\\]\",:\\\\`\n a-zé🚀]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[{}\\[\"a-z]{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    proptest::collection::btree_map("[{}\\[\"a-z]{0,4}", json(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

proptest! {
    #[test]
    fn embedded_objects_are_found_exactly(parts in proptest::collection::vec(
        // Prose has anything but braces; a line does not begin with a bracket, which could make it an array.
        (object(), any::<bool>(), "([a-z\"':,`.\\\\)é🚀]|\n[a-z`]| \\[|\\]){0,12}"), 0..5)) {
        let mut text = String::from("- ");
        let mut expected = Vec::new();
        for (value, pretty, prose) in &parts {
            let written = if *pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.unwrap();
            write!(text, "{prose}{written}").unwrap();
            expected.push(written);
        }
        prop_assert_eq!(extract_json_objects(&text), expected);
    }

    #[test]
    fn what_is_found_is_valid_and_in_order(text in "([{}\\[\\]\",:\\\\ \n0-9eE.+-]|\"a\"|true|null|\\\\u00e9|\\{\"a\":){0,60}") {
        let mut from = 0;
        for found in extract_json_objects(&text) {
            prop_assert!(serde_json::from_str::<IgnoredAny>(found).is_ok(), "{}", found);
            from += text[from..].find(found).unwrap() + found.len();
        }
    }

    #[test]
    fn the_grammar_agrees_with_serde(value in object(), at in 0usize..200, with in "[{}\\[\\]\",:\\\\ 0-9eE.+-]?", remove in any::<bool>()) {
        let mut text = value.to_string();
        // The brace that opens it stays.
        let at = 1 + at % text.chars().count();
        let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
        if remove && at < text.len() {
            text.remove(at);
        }
        text.insert_str(at, &with);
        let (outcome, _) = grammar(text.as_bytes(), 0, &mut Vec::new());
        let whole = matches!(outcome, Outcome::Complete { end, .. } if end == text.trim_end().len());
        prop_assert_eq!(whole, serde_json::from_str::<IgnoredAny>(&text).is_ok(), "{}", text);
    }

    #[test]
    fn a_value_cut_anywhere_yields_nothing(value in object(), pretty in any::<bool>(), keep in 0.0f64..1.0) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a position in the text")]
        let mut cut = (text.len() as f64 * keep) as usize;
        while !text.is_char_boundary(cut) { cut -= 1; }
        prop_assert_eq!(extract_json_objects(&text[..cut]), [""; 0]);
    }
}
