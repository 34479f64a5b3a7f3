use super::*;
use proptest::prelude::*;

const BOTH: Modes = Modes { form: true, url: true };

#[expect(clippy::needless_pass_by_value, reason = "literals are passed")]
fn read(params: Value, modes: Modes) -> Result<Elicitation, AnswerError> {
    Elicitation::read(&encode::raw(&params).unwrap(), modes)
}

fn form(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[track_caller]
fn fits(property: Value, value: Value) -> bool {
    problems(&form(json!({ "p": property }), &[]), &json!({ "p": value })).unwrap().is_empty()
}

#[test]
fn c59_each_mode_is_open_only_where_it_was_advertised() {
    let asked = json!({ "message": "m", "mode": "form", "requestedSchema": form(json!({}), &[]), "sessionId": "s" });
    let link =
        json!({ "message": "m", "mode": "url", "elicitationId": "e", "url": "https://example.com/x", "requestId": 3 });
    for (form, url) in [(true, true), (true, false), (false, true), (false, false)] {
        let modes = Modes { form, url };
        assert_eq!(read(asked.clone(), modes).is_ok(), form);
        assert_eq!(read(link.clone(), modes).is_ok(), url);
    }
    for other in [json!("voice"), json!(null), json!(1)] {
        let error = read(json!({ "message": "m", "mode": other }), BOTH).unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
    }
    assert!(read(json!({ "message": "m" }), BOTH).is_err());
    let read = read(link, BOTH).unwrap();
    assert_eq!((read.session_id, read.request_id.as_deref()), (None, Some("3")));
}

#[test]
fn texts_are_cleaned_and_names_must_be_showable() {
    let schema = form(
        json!({ "p": { "type": "string", "title": "a\u{1b}[31mb", "oneOf": [{ "const": "x", "title": "\u{7}t" }] } }),
        &[],
    );
    let read =
        read(json!({ "message": "m\u{1b}]0;x\u{7}n", "mode": "form", "requestedSchema": schema }), BOTH).unwrap();
    let shown: Value = serde_json::from_str(read.shown.get()).unwrap();
    assert_eq!(shown["message"], "mn");
    let property = &shown["requestedSchema"]["properties"]["p"];
    assert_eq!((&property["title"], &property["oneOf"][0]["title"]), (&json!("ab"), &json!("t")));
    assert!(Form::read(&form(json!({ "\u{1b}[1mp": { "type": "string" } }), &[])).is_err());
    assert!(Form::read(&form(json!({ "": { "type": "string" } }), &[])).is_err());
}

#[test]
fn every_kind_of_value_is_checked() {
    let text = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
    for (value, good) in
        [(json!("é🚀"), true), (json!("a"), false), (json!("abcd"), false), (json!(12), false), (json!(null), false)]
    {
        assert_eq!(fits(text.clone(), value.clone()), good, "{value}");
    }
    assert!(fits(json!({ "type": "string", "enum": ["a", "b"] }), json!("b")));
    assert!(!fits(json!({ "type": "string", "enum": ["a", "b"] }), json!("c")));
    assert!(!fits(json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }] }), json!("A")));
    let number = json!({ "type": "number", "minimum": -1, "maximum": 2.5 });
    for (value, good) in [(json!(2.5), true), (json!(-1), true), (json!(2.6), false), (json!("1"), false)] {
        assert_eq!(fits(number.clone(), value.clone()), good, "{value}");
    }
    let whole = json!({ "type": "integer", "minimum": 0 });
    for (value, good) in
        [(json!(3), true), (json!(3.0), true), (json!(3.5), false), (json!(-1), false), (json!(true), false)]
    {
        assert_eq!(fits(whole.clone(), value.clone()), good, "{value}");
    }
    assert!(fits(json!({ "type": "boolean" }), json!(false)));
    assert!(!fits(json!({ "type": "boolean" }), json!("false")));
    let several = json!({ "type": "array", "minItems": 1, "maxItems": 2, "items": { "type": "string", "enum": ["a", "b", "c"] } });
    for (value, good) in [
        (json!(["a", "c"]), true),
        (json!([]), false),
        (json!(["a", "b", "c"]), false),
        (json!(["d"]), false),
        (json!([1]), false),
    ] {
        assert_eq!(fits(several.clone(), value.clone()), good, "{value}");
    }
    let titled = json!({ "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] } });
    assert!(fits(titled.clone(), json!(["a"])) && !fits(titled, json!(["A"])));
    // Unknown types are kept; only shapes that no answer has are refused.
    assert!(fits(json!({ "type": "colour" }), json!("red")));
    assert!(!fits(json!({ "type": "colour" }), json!({ "r": 1 })));
}

#[test]
fn required_and_unknown_properties() {
    let schema = form(json!({ "a": { "type": "string" }, "b": { "type": "boolean" } }), &["a"]);
    let names = |content: Value| -> Vec<String> {
        problems(&schema, &content).unwrap().into_iter().map(|p| p.property).collect()
    };
    assert!(names(json!({ "a": "x" })).is_empty());
    assert_eq!(names(json!({ "b": 1 })), ["a", "b"]);
    assert_eq!(names(json!({ "a": "x", "c": 1 })), ["c"]);
    assert_eq!(names(json!([])), [""]);
    assert!(Form::read(&form(json!({}), &["ghost"])).is_err());
    for bad in
        [json!(1), json!({ "type": "array" }), json!({ "properties": [] }), json!({ "properties": { "p": "string" } })]
    {
        assert!(Form::read(&bad).is_err(), "{bad}");
    }
}

#[test]
fn formats() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("email", &["a.b+c@example.com", "x@localhost"], &["a", "@b", "a@", "a b@c.d", "a@b..c", ".a@b.c", "a@-b.c"]),
        ("uri", &["https://x.y/z?q#f", "urn:a:b", "mailto:a@b"], &["x", "://x", "1a:b", "a:", "a:b c", "a:<b>"]),
        (
            "date",
            &["2024-02-29", "1999-12-31"],
            &["2023-02-29", "2024-13-01", "2024-1-1", "24-01-01", "2024-04-31", "2024-01-01T"],
        ),
        (
            "date-time",
            &["2024-02-29T23:59:60Z", "2024-01-01t00:00:00.25+02:30"],
            &[
                "2024-01-01",
                "2024-01-01T24:00:00Z",
                "2024-01-01T00:00:00",
                "2024-01-01T00:00:00.Z",
                "2024-01-01T00:00:00+2:00",
                "2024-01-01T00:00Z",
            ],
        ),
        ("made-up", &["anything"], &[]),
    ];
    for (format, good, bad) in cases {
        let property = json!({ "type": "string", "format": format });
        for text in *good {
            assert!(fits(property.clone(), json!(text)), "{text} is a {format}");
        }
        for text in *bad {
            assert!(!fits(property.clone(), json!(text)), "{text} is no {format}");
        }
    }
}

#[test]
fn patterns_mean_what_they_mean_in_ecma_262_or_are_refused() {
    for (pattern, good, bad) in [
        (r"^\d{3}$", "123", "12a"),
        (r"\d", "a1b", "a٣b"),
        (r"^[\w.-]+$", "a_b.c-d", "é"),
        (r"^\S+$", "ab", "a\u{a0}b"),
        (r"^[[]$", "[", "]"),
        (r"^[a&&b]+$", "a&b", "c"),
        (r"^https:\/\/", "https://", "http://"),
        (r"^[^]$", "\n", ""),
        (r"\bfoo\b", "a foo b", "afoob"),
        (r"^\u0041$", "A", "B"),
        (r"^(?:ab|c)+$", "abc", "b"),
    ] {
        let property = json!({ "type": "string", "pattern": pattern });
        assert!(fits(property.clone(), json!(good)), "{pattern} takes {good:?}");
        assert!(!fits(property, json!(bad)), "{pattern} does not take {bad:?}");
    }
    let long = "a".repeat(2000);
    for pattern in [r"(a)\1", "(?=a)b", "(?<!a)b", "(", "[b-a]", "(?i)a", "(a{1000}){1000}", &*long] {
        assert!(Form::read(&form(json!({ "p": { "type": "string", "pattern": pattern } }), &[])).is_err(), "{pattern}");
    }
}

#[test]
fn urls_are_web_addresses_that_look_like_what_they_are() {
    for good in [
        "https://example.com",
        "HTTPS://example.com:443/a?b=c#d",
        "http://localhost:8080/cb",
        "http://[::1]:1/",
        "https://bücher.example/",
    ] {
        assert!(url::check(good).is_ok(), "{good}");
    }
    for bad in [
        "example.com",
        "javascript://x",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https:///x",
        "https://bank.example@evil.example/",
        "https://a b/",
        "https://a\n/",
        "https://a\\b/",
        "https://x:y/",
        "https://x:99999/",
        "https://a\u{202e}b/",
        "https://[zz]/",
        "data:text/html,x",
    ] {
        assert!(url::check(bad).is_err(), "{bad}");
    }
    assert!(url::check(&format!("https://x/{}", "a".repeat(9000))).is_err());
}

fn answered(ask: &Ask, answer: Value) -> Value {
    serde_json::from_str(ask.answer(Ok(encode::raw(&answer).unwrap())).unwrap().get()).unwrap()
}

#[test]
fn only_what_fits_is_accepted() {
    let schema = form(json!({ "a": { "type": "string" } }), &["a"]);
    let ask = Ask::Form(Form::read(&schema).unwrap());
    let accept = json!({ "action": "accept", "content": { "a": "x" }, "_meta": { "k": 1 }, "other": 2 });
    assert_eq!(answered(&ask, accept), json!({ "action": "accept", "content": { "a": "x" }, "_meta": { "k": 1 } }));
    for content in [json!({}), json!({ "a": 1 }), json!(null), json!("x"), json!({ "a": "x", "b": "y" })] {
        assert_eq!(answered(&ask, json!({ "action": "accept", "content": content }))["action"], "cancel");
    }
    assert_eq!(answered(&ask, json!({ "action": "decline", "content": { "a": "x" } })), json!({ "action": "decline" }));
    for nonsense in [json!({}), json!("accept"), json!({ "action": "maybe" }), json!(null)] {
        assert_eq!(answered(&ask, nonsense), json!({ "action": "cancel" }));
    }
    let link = Ask::Url { id: "e".to_owned() };
    assert_eq!(answered(&link, json!({ "action": "accept", "content": { "a": 1 } })), json!({ "action": "accept" }));
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "type",
        "string",
        "object",
        "array",
        "properties",
        "required",
        "items",
        "enum",
        "oneOf",
        "const",
        "pattern",
        "minLength",
        "mode",
        "form",
        "url",
        "message",
        "requestedSchema",
        "elicitationId",
        "https://a",
        "integer",
        "minimum",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        let key = prop_oneof![words.clone().prop_map(str::to_owned), ".{0,4}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..8).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever the agent asks and the host answers: no panic, and what is accepted fits the form.
    #[test]
    fn nothing_that_does_not_fit_goes_out(params in any_json(), schema in any_json(), content in any_json()) {
        let _ = Elicitation::read(&encode::raw(&params).unwrap(), BOTH);
        let Ok(form) = Form::read(&schema) else { return Ok(()) };
        let good = form.problems(&content).is_empty();
        let told = answered(&Ask::Form(form), json!({ "action": "accept", "content": content }));
        // No content at all is an empty one.
        let empty_fits = content.is_null() && told["action"] == "accept";
        prop_assert_eq!(told["action"] == "accept", good || empty_fits);
    }

    #[test]
    fn any_pattern_compiles_or_is_refused(pattern in r"[\[\](){}\\^$|.*+?a-z0-9:<=!&~,-]{0,40}") {
        if let Some(regex) = pattern::compile(&pattern) {
            let _ = regex.is_match("some text");
        }
    }
}
