//! Recovering JSON from the answer of an ask (S21): objects and arrays, as the plugin's extraction has it.

use acp_testkit::cases::session::{S21_REPLIES, s21_reply};
use serde_json::Value;

use crate::support::{Stage, case};

#[tokio::test(flavor = "multi_thread")]
async fn s21_the_last_whole_object_of_a_clean_answer_is_parsed_and_nothing_is_guessed() {
    let stage = Stage::new();
    for reply in S21_REPLIES {
        for recover_json in [true, false] {
            let mut options = stage.ask_options(&s21_reply(reply));
            options.recover_json = recover_json;
            let outcome = stage.ask_with(options).await;
            let json = serde_json::to_value(&outcome).unwrap();
            assert_eq!(json["text"], reply.text, "{}", reply.name);
            let parsed: Option<Value> = reply.parsed.map(|parsed| serde_json::from_str(parsed).unwrap());
            assert_eq!(json.get("parsed"), parsed.as_ref().filter(|_| recover_json), "{}", reply.name);
            assert_eq!(json["ok"], reply.stop_reason == "end_turn", "{}", reply.name);
            if reply.parsed.is_none() {
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s21_ten_million_open_braces_are_no_object() {
    let stage = Stage::new();
    let mut options = stage.ask_options(&case("s21_open_braces"));
    options.recover_json = true;
    let outcome = stage.ask_with(options).await;
    let answer = outcome.answer().unwrap();
    assert!(answer.parsed.is_none() && answer.text.starts_with("{{{"));
}
