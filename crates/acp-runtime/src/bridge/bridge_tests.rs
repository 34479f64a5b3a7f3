use proptest::prelude::*;

use super::*;
use crate::text::bound::{TRUNCATION_MARKER, TRUNCATION_MARKER_UTF16};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Event {
    Text(String),
    Thinking(String),
    Start(String, String),
    End(String, bool, Option<String>),
}

/// Records events the way a host sees them, and checks the lengths.
#[derive(Default)]
struct Recorder {
    slab: String,
    committed: usize,
    events: Vec<Event>,
}

impl BridgeSink for Recorder {
    fn text_buf(&mut self) -> &mut String {
        &mut self.slab
    }

    fn commit_text(&mut self, stream: TextStream, utf16_len: usize) {
        let delta = self.slab[self.committed..].to_owned();
        self.committed = self.slab.len();
        assert_eq!(delta.encode_utf16().count(), utf16_len);
        assert_ne!(utf16_len, 0);
        self.events.push(match stream {
            TextStream::Message => Event::Text(delta),
            TextStream::Thought => Event::Thinking(delta),
        });
    }

    fn tool_start(&mut self, name: &str, args: Option<&RawValue>) {
        self.events.push(start(name, args.map_or("{}", RawValue::get)));
    }

    fn tool_end(&mut self, name: &str, is_error: bool, result: Option<&RawValue>) {
        self.events.push(end(name, is_error, result.map(RawValue::get)));
    }
}

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

fn thinking(text: &str) -> Event {
    Event::Thinking(text.to_owned())
}

fn start(name: &str, args: &str) -> Event {
    Event::Start(name.to_owned(), args.to_owned())
}

fn end(name: &str, is_error: bool, result: Option<&str>) -> Event {
    Event::End(name.to_owned(), is_error, result.map(str::to_owned))
}

#[derive(Default)]
struct Session {
    bridge: EventBridge,
    sink: Recorder,
}

impl Session {
    fn handle(&mut self, input: BridgeInput<'_>) -> &mut Self {
        self.bridge.handle(input, &mut self.sink);
        self
    }

    fn texts(&mut self, chunks: &[&str]) -> &mut Self {
        for chunk in chunks {
            self.handle(BridgeInput::Text(chunk));
        }
        self
    }

    fn call(&mut self, id: &str, title: &str) -> &mut Self {
        self.handle(BridgeInput::ToolCall(ToolCallInput { id, title: Some(title), ..Default::default() }))
    }

    fn status(&mut self, id: &str, status: &str) -> &mut Self {
        self.handle(BridgeInput::ToolCallUpdate(ToolCallInput { id, status: Some(status), ..Default::default() }))
    }

    fn close(&mut self, why: CallsClosed) -> &mut Self {
        self.bridge.close_open_calls(why, &mut self.sink);
        self
    }

    fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.sink.events)
    }
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

#[test]
fn text_and_thinking_pass_in_order_sanitised() {
    let mut session = Session::default();
    session.texts(&["Hello", " world.", "", "\x1b]0;evil\x07\x07"]);
    session.handle(BridgeInput::Thought("\x1b[1mhm\x1b[0m\r\n")).handle(BridgeInput::Other);
    assert_eq!(session.events(), [text("Hello"), text(" world."), thinking("hm\n")]);
}

#[test]
fn a_sequence_split_over_chunks_does_not_show() {
    let mut session = Session::default();
    session.texts(&["a\x1b", "[31"]).handle(BridgeInput::Thought("31m stays")).texts(&["mb"]);
    assert_eq!(session.events(), [text("a"), thinking("31m stays"), text("b")]);
    // A new turn does not begin inside the sequence of the last.
    session.texts(&["x\x1b]0;"]).bridge.reset();
    session.texts(&["title"]);
    assert_eq!(session.events(), [text("x"), text("title")]);
}

#[test]
fn a_lost_space_between_sentences_is_put_back() {
    for (chunks, spaced) in [
        (["Done.", "Next"], true),
        (["Why?", "(because)"], true),
        (["Yes!", "\"quoted\""], true),
        (["v.", "2"], true),
        (["3!", "5"], true),
        (["3.", "A"], true),
        (["x.", "[link]"], true),
        (["3.", "5"], false),
        (["Done. ", "Next"], false),
        (["Done.", " Next"], false),
        (["example.", "org"], false),
        (["Done", "Next"], false),
        (["Done.", "École"], false),
        (["fin。", "Next"], false),
    ] {
        let mut session = Session::default();
        session.texts(&chunks);
        let second = if spaced { format!(" {}", chunks[1]) } else { chunks[1].to_owned() };
        assert_eq!(session.events(), [text(chunks[0]), text(&second)]);
    }
}

#[test]
fn spacing_looks_at_what_was_shown_in_its_own_stream() {
    let mut session = Session::default();
    // The digit came a chunk earlier; an empty delta changes nothing; the sequence before the capital is not shown.
    session.texts(&["3", ".", "\x1b[0m", "5.", "\x1b[1mNow"]);
    session.handle(BridgeInput::Thought("No."));
    session.texts(&["Then"]);
    assert_eq!(session.events(), [text("3"), text("."), text("5."), text(" Now"), thinking("No."), text("Then")]);
    session.texts(&["End."]).bridge.reset();
    session.texts(&["Start."]);
    assert_eq!(session.events(), [text("End."), text("Start.")]);
}

#[test]
fn one_chunk_is_bounded() {
    let mut session = Session::default();
    session.texts(&[".", &"Z".repeat(PER_CHUNK_CAP_CHARS * 4)]);
    let expected = format!(" {}{TRUNCATION_MARKER}", "Z".repeat(PER_CHUNK_CAP_CHARS - 12));
    assert_eq!(session.events(), [text("."), text(&expected)]);
}

#[test]
fn a_turn_is_bounded_and_says_so_once() {
    let mut session = Session::default();
    let chunk = "é".repeat(50_000);
    for _ in 0..99 {
        session.texts(&[&chunk]);
    }
    session.handle(BridgeInput::Thought(&chunk[..chunk.len() - 2]));
    assert_eq!(session.events().len(), 100);
    // One unit short: the next chunk passes whole and crosses the limit.
    session.texts(&["last one", "never"]).handle(BridgeInput::Thought("never"));
    session.handle(BridgeInput::Plan(&[PlanEntry::default()]));
    session.call("t", "Still shown").status("t", "completed");
    assert_eq!(
        session.events(),
        [
            text("last one"),
            thinking(OUTPUT_TRUNCATED_NOTICE),
            start("Still shown", "{}"),
            end("Still shown", false, None),
        ]
    );
    session.bridge.reset();
    session.texts(&["after reset"]);
    assert_eq!(session.events(), [text("after reset")]);
}

#[test]
fn a_tool_call_starts_and_ends_once() {
    let args = raw(r#"{"command":"pnpm  test"}"#);
    let result = raw(r#"{ "exitCode": 1 }"#);
    let mut session = Session::default();
    session.handle(BridgeInput::ToolCall(ToolCallInput {
        id: "t1",
        title: Some("  \x1b[31mRun\x1b[0m\x07 tests\x00 "),
        kind: Some("execute"),
        status: Some("pending"),
        raw_input: Some(&args),
        ..Default::default()
    }));
    session.status("t1", "in_progress").status("t1", "something_new");
    session.handle(BridgeInput::ToolCallUpdate(ToolCallInput {
        id: "t1",
        status: Some("failed"),
        raw_output: Some(&result),
        content: Some(&args),
        ..Default::default()
    }));
    session.status("t1", "completed").call("t1", "Run tests").close(CallsClosed::TurnEnded);
    assert_eq!(
        session.events(),
        [
            // The agent's own bytes.
            start("Run tests", r#"{"command":"pnpm  test"}"#),
            end("Run tests", true, Some(r#"{ "exitCode": 1 }"#)),
        ]
    );
}

#[test]
fn a_repeated_announcement_completes_what_is_known() {
    let mut session = Session::default();
    session.call("t", "Bash").call("t", "Bash: ls").status("t", "completed");
    assert_eq!(session.events(), [start("Bash", "{}"), end("Bash: ls", false, None)]);
}

#[test]
fn a_call_that_arrives_finished_starts_and_ends() {
    let content = raw(r#"[{"type":"content"}]"#);
    let mut session = Session::default();
    for (id, status) in [("a", "completed"), ("b", "failed")] {
        session.handle(BridgeInput::ToolCall(ToolCallInput {
            id,
            kind: Some("read"),
            status: Some(status),
            content: Some(&content),
            ..Default::default()
        }));
    }
    assert_eq!(
        session.events(),
        [
            start("Read", "{}"),
            end("Read", false, Some(content.get())),
            start("Read", "{}"),
            end("Read", true, Some(content.get())),
        ]
    );
}

#[test]
fn an_update_of_an_unknown_call_ends_it_without_a_start() {
    let mut session = Session::default();
    session.handle(BridgeInput::ToolCallUpdate(ToolCallInput {
        id: "orphan",
        kind: Some("edit"),
        status: Some("completed"),
        ..Default::default()
    }));
    session.status("other", "failed").status("other", "failed").call("other", "Too late");
    // Announced after its first update: started then, with what the update said.
    session.status("late", "in_progress").call("late", "Late");
    session.status("never announced", "in_progress").close(CallsClosed::Cancelled);
    assert_eq!(
        session.events(),
        [
            end("Edit", false, None),
            end("tool", true, None),
            start("Late", "{}"),
            end("Late", true, Some(r#""tool call not finished: the turn was cancelled""#)),
        ]
    );
}

#[test]
fn open_calls_are_closed_in_the_order_of_their_starts() {
    for why in [CallsClosed::TurnEnded, CallsClosed::Cancelled, CallsClosed::AgentGone] {
        let mut session = Session::default();
        session.call("a", "A").call("b", "B").call("c", "C").status("b", "completed").status("a", "in_progress");
        session.events();
        session.close(why).close(why).status("a", "completed");
        let result = format!("\"{}\"", why.result());
        assert_eq!(session.events(), [end("A", true, Some(&result)), end("C", true, Some(&result))]);
    }
}

#[test]
fn identifiers_are_matched_in_their_bounded_form() {
    let mut session = Session::default();
    session.call("../../evil/id", "Sneaky").status("..\\..\\evil\\id", "completed");
    session.call("", "none").call("\x07", "none").status("", "completed");
    assert_eq!(session.events(), [start("Sneaky", "{}"), end("Sneaky", false, None)]);
}

#[test]
fn the_call_not_touched_longest_is_forgotten_first() {
    let mut session = Session::default();
    for i in 0..TOOL_CALL_MAP_CAP {
        session.call(&format!("c{i}"), &format!("T{i}"));
    }
    session.status("c0", "in_progress").call("one more", "More");
    assert_eq!(session.events().len(), TOOL_CALL_MAP_CAP + 1);
    session.status("c0", "completed").status("c1", "completed").status("c999", "completed");
    assert_eq!(session.events(), [end("T0", false, None), end("tool", false, None), end("T999", false, None)]);
}

#[test]
fn a_flood_of_long_titles_is_forgotten_by_size() {
    let mut session = Session::default();
    let title = "t".repeat(PER_CHUNK_CAP_CHARS);
    for i in 0..200 {
        session.call(&format!("c{i}"), &title);
    }
    session.events();
    session.status("c0", "completed").status("c199", "completed");
    assert_eq!(session.events(), [end("tool", false, None), end(&title, false, None)]);
}

#[test]
fn arguments_are_an_object_and_bounded() {
    let mut session = Session::default();
    for (id, json) in [("a", "null"), ("b", "\"x\""), ("c", "[1]"), ("d", "42")] {
        let input = raw(json);
        session.handle(BridgeInput::ToolCall(ToolCallInput { id, raw_input: Some(&input), ..Default::default() }));
    }
    assert_eq!(session.events(), vec![start("tool", "{}"); 4]);
    let fits = raw(&format!("{{\"a\":\"{}\"}}", "x".repeat(TOOL_PAYLOAD_MAX_BYTES - 8)));
    let large = raw(&format!("{{\"a\":\"{}\"}}", "🚀".repeat(TOOL_PAYLOAD_MAX_BYTES)));
    for (id, input) in [("e", &fits), ("f", &large)] {
        session.handle(BridgeInput::ToolCall(ToolCallInput {
            id,
            status: Some("completed"),
            raw_input: Some(input),
            raw_output: Some(input),
            ..Default::default()
        }));
    }
    let events = session.events();
    assert_eq!(events[..2], [start("tool", fits.get()), end("tool", false, Some(fits.get()))]);
    let [_, _, Event::Start(_, args), Event::End(_, _, Some(result))] = &events[..] else { panic!("{}", events.len()) };
    let args: serde_json::Value = serde_json::from_str(args).unwrap();
    let result: serde_json::Value = serde_json::from_str(result).unwrap();
    for (what, shown) in [("arguments", &args["truncated"]), ("result", &result)] {
        let shown = shown.as_str().unwrap();
        let notice = format!("[{what} of {} bytes cut]\n{{\"a\":\"🚀", large.get().len());
        assert!(shown.starts_with(&notice), "{}", &shown[..60]);
        assert!(shown.ends_with(TRUNCATION_MARKER));
        assert!(shown.len() < TOOL_PAYLOAD_MAX_BYTES);
    }
}

#[test]
fn names_come_from_title_kind_or_nothing() {
    for (title, kind, expected) in [
        (Some("Run tests"), Some("execute"), "Run tests"),
        (None, Some("execute"), "Execute"),
        (None, Some("switch_mode"), "Switch Mode"),
        (None, Some("other"), "Tool"),
        (Some(" \u{feff}\t "), Some("edit"), "Edit"),
        (Some("\x1b[0m"), Some("fetch"), "Fetch"),
        (None, None, "tool"),
        (None, Some("constructor"), "tool"),
        (Some(""), Some("mystery"), "tool"),
    ] {
        assert_eq!(tool_display_name(title, kind), expected);
    }
    assert_eq!(tool_display_name(Some(&"x".repeat(100_000)), None).len(), PER_CHUNK_CAP_CHARS + 2);
}

#[test]
fn a_plan_is_one_line_of_thinking() {
    let mut session = Session::default();
    let entries = [
        PlanEntry { content: "Step \x1b[31mA", status: Some("completed\x07") },
        PlanEntry { content: "Step B", status: None },
    ];
    session.handle(BridgeInput::Plan(&entries)).handle(BridgeInput::Plan(&entries[1..])).handle(BridgeInput::Plan(&[]));
    assert_eq!(
        session.events(),
        [
            thinking("Plan:\n- [completed] Step A\n- [pending] Step B"),
            thinking("Plan:\n- [pending] Step B"),
            thinking("Plan:\n"),
        ]
    );
    // Plans do not count as thinking for spacing.
    session.handle(BridgeInput::Thought("No.")).handle(BridgeInput::Plan(&[])).handle(BridgeInput::Thought("Yes"));
    assert_eq!(session.events()[2], thinking(" Yes"));
}

#[test]
fn plans_are_bounded_in_entries_and_size() {
    let mut session = Session::default();
    let entries = vec![PlanEntry { content: "step", status: None }; MAX_PLAN_ENTRIES + 50];
    session.handle(BridgeInput::Plan(&entries[..MAX_PLAN_ENTRIES])).handle(BridgeInput::Plan(&entries));
    let all = format!("Plan:{}", "\n- [pending] step".repeat(MAX_PLAN_ENTRIES));
    assert_eq!(session.events(), [thinking(&all), thinking(&format!("{all}\n- … 50 more entries truncated"))]);

    let huge = "p".repeat(200_000);
    let entries = vec![PlanEntry { content: &huge, status: None }; MAX_PLAN_ENTRIES];
    for _ in 0..100 {
        session.handle(BridgeInput::Plan(&entries));
    }
    let events = session.events();
    let begin = "Plan:\n- [pending] ";
    let shown = "p".repeat(PER_CHUNK_CAP_CHARS - begin.len() - TRUNCATION_MARKER_UTF16);
    assert!(events[0] == thinking(&format!("{begin}{shown}{TRUNCATION_MARKER}")));
    // 79 plans of 64,000 units reach 5,000,000.
    assert_eq!((events.len(), events.last().unwrap()), (80, &thinking(OUTPUT_TRUNCATED_NOTICE)));
}

fn update() -> impl Strategy<Value = (u8, String, String, Option<&'static str>)> {
    let status = prop_oneof![Just(None), Just(Some("pending")), Just(Some("completed")), Just(Some("failed"))];
    (0u8..6, "[a-c]", "([A-Z.!?0-9 (é🚀]|\x1b|\\[|[\\x00-\\x1f]){0,8}", status)
}

proptest! {
    #[test]
    fn every_start_has_one_end_and_every_delta_is_clean(updates in proptest::collection::vec(update(), 0..60)) {
        let mut session = Session::default();
        for (kind, id, text, status) in &updates {
            let call = ToolCallInput { id, title: (*kind == 3).then_some(text), status: *status, ..Default::default() };
            let plan = [PlanEntry { content: text, status: *status }];
            session.handle(match kind {
                0 => BridgeInput::Text(text),
                1 => BridgeInput::Thought(text),
                2 | 3 => BridgeInput::ToolCall(call),
                4 => BridgeInput::ToolCallUpdate(call),
                _ => BridgeInput::Plan(&plan),
            });
        }
        session.close(CallsClosed::AgentGone);
        let (mut starts, mut ends) = (0, 0);
        for event in session.events() {
            match event {
                Event::Text(text) | Event::Thinking(text) => {
                    prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
                }
                Event::Start(..) => starts += 1,
                Event::End(..) => ends += 1,
            }
        }
        // Three ids: at most three of each; an end without a start is one of a call never announced.
        prop_assert!(starts <= ends && ends <= 3, "{starts} {ends}");
    }
}
