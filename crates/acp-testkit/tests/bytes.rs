//! Bytes exactly as the script gives them.

mod common;

use acp_testkit::Script;
use acp_testkit::script::{Piece, Raw, Step};
use common::play;
use serde_json::json;

#[test]
fn any_bytes() {
    let bytes = [0xef, 0xbb, 0xbf, 0xff, 0x00, 0xed, 0xa0, 0xbd, b'\r', b'\n'];
    let mut client = play(&Script::new().raw_bytes(&bytes).raw("\"\\ud83d\"\n").raw("{\"a\":\"\u{2028}\"}\r\n"));
    assert_eq!(client.line().unwrap(), bytes);
    assert_eq!(client.line().unwrap(), b"\"\\ud83d\"\n");
    assert_eq!(client.line().unwrap(), "{\"a\":\"\u{2028}\"}\r\n".as_bytes());
    client.assert_clean();
}

#[test]
fn pieces_repeats_and_splits_change_no_byte() {
    let pieces = vec![Piece::text("{\"t\":\""), Piece::text("中🚀").repeated(1000), Piece::bytes(b"\"}\n")];
    let expected = format!("{{\"t\":\"{}\"}}\n", "中🚀".repeat(1000));
    for script in [
        Script::new().raw_chunks(pieces.clone(), 1),
        Script::new().raw_split(pieces.clone(), 1, 0),
        Script::new().raw_split(pieces, 4096, 0),
    ] {
        let mut client = play(&script);
        assert_eq!(client.line().unwrap(), expected.as_bytes());
        client.assert_clean();
    }
}

#[test]
fn raw_text_takes_ids_as_json() {
    let mut client = play(&Script::new().expect("a").raw("{\"id\":{{a.id}},\"of\":{{a.method}}}\n"));
    for id in [json!("x\"y"), json!(0), json!(9_007_199_254_740_993_u64)] {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "a"})).unwrap();
        assert_eq!(client.message().unwrap(), json!({"id": id, "of": "a"}));
        client.assert_clean();
        client = play(&Script::new().expect("a").raw("{\"id\":{{a.id}},\"of\":{{a.method}}}\n"));
    }
}

#[test]
fn literal_text_keeps_its_braces() {
    let raw = Raw { text: Some("{{pid}}\n".into()), literal: Some(true), ..Raw::default() };
    let mut client = play(&Script::new().push(Step::Raw(raw)));
    assert_eq!(client.line().unwrap(), b"{{pid}}\n");
    client.assert_clean();
}

#[test]
fn a_flood_is_complete_and_in_order() {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "{i}"}});
    let mut client = play(&Script::new().flood(20_000, update).notify("end", json!({})));
    for index in 0..20_000 {
        let message = client.message().unwrap();
        assert_eq!(message["params"]["update"]["content"]["text"], index.to_string());
    }
    assert_eq!(client.message().unwrap()["method"], "end");
    client.assert_clean();
}

#[test]
fn frames_of_two_threads_never_mix() {
    let slow = Script::new().raw_split(vec![Piece::json(json!({"slow": "x".repeat(200)}))], 7, 1);
    let script = Script::new().background(slow).repeat(200, Script::new().notify("fast", json!({})));
    let mut client = play(&script);
    let messages: Vec<_> = (0..201).map(|_| client.message().unwrap()).collect();
    assert_eq!(messages.iter().filter(|message| message.get("slow").is_some()).count(), 1);
    client.assert_clean();
}

#[test]
fn a_large_line_from_the_client_is_taken() {
    let mut client = play(&Script::new().expect("a").notify("got", json!({"text": "{{a.params.text}}"})));
    let text = "é".repeat(1_000_000);
    client.notify("a", json!({"text": text})).unwrap();
    assert_eq!(client.message().unwrap()["params"]["text"], text);
    client.assert_clean();
}
