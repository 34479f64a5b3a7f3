//! Requests of the agent, handlers, and loops.

mod common;

use acp_testkit::Script;
use acp_testkit::raw_client::text_of;
use acp_testkit::script::{On, Request, Step};
use common::play;
use serde_json::{Value, json};

#[test]
fn ids_of_every_type_are_kept_apart() {
    let ids = [json!("1"), json!(1), json!(1.0), json!(-1), json!(9_007_199_254_740_993_u64), json!("7f3a-uuid")];
    let mut script = Script::new();
    for (index, id) in ids.iter().enumerate() {
        script = script.request_id(&format!("r{index}"), id.clone(), "ask", json!({}));
    }
    for index in (0..ids.len()).rev() {
        script = script.expect_result(&format!("r{index}"), json!({"index": index}));
    }
    let mut client = play(&script);
    for (index, id) in ids.iter().enumerate() {
        let request = client.message().unwrap();
        assert_eq!(&request["id"], id);
        client.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"index": index}})).unwrap();
    }
    client.assert_clean();
}

#[test]
fn requests_without_an_id_get_different_ones() {
    let ask = || Step::Request(Request { method: "ask".into(), ..Request::default() });
    let mut client = play(&Script::new().push(ask()).push(ask()));
    let (first, second) = (client.message().unwrap(), client.message().unwrap());
    assert!(first["id"].is_string() && first["id"] != second["id"], "{first} {second}");
    assert_eq!(first.get("params"), None);
    client.assert_clean();
}

#[test]
fn the_outcome_of_a_permission_can_be_said_as_text() {
    let options = json!([{"optionId": "n", "name": "No", "kind": "reject_once"}]);
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .prompt_begin()
        .permission("asked", options.clone())
        .expect_response("asked", "answer")
        .text("{{answer.result.outcome|json}}")
        .prompt_end("end_turn");
    let mut client = play(&script);
    client.open().unwrap();
    let prompt = client.prompt("go").unwrap();
    let asked = client.message().unwrap();
    assert_eq!(asked["method"], "session/request_permission");
    assert_eq!(asked["params"]["sessionId"], "s1");
    assert_eq!(asked["params"]["options"], options);
    let outcome = json!({"outcome": "selected", "optionId": "n"});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": outcome}})).unwrap();
    let said: Value = serde_json::from_str(&text_of(&client.until_response(prompt))).unwrap();
    assert_eq!(said, outcome);
    client.assert_clean();
}

#[test]
fn a_handler_answers_while_the_main_script_is_busy() {
    let script = Script::new()
        .on("ask", Script::new().respond("it", json!({"you": "{{it.params.name}}"})))
        .expect("go")
        .sleep(30)
        .notify("done", json!({}));
    let mut client = play(&script);
    let first = client.request("ask", json!({"name": "a"})).unwrap();
    assert_eq!(client.until_response(first)[0]["result"]["you"], "a");
    client.notify("go", json!({})).unwrap();
    let second = client.request("ask", json!({"name": "b"})).unwrap();
    let answer = client.until_response(second);
    assert_eq!(answer.last().unwrap()["result"]["you"], "b");
    if answer.len() == 1 {
        assert_eq!(client.message().unwrap()["method"], "done");
    }
    client.assert_clean();
}

#[test]
fn a_handler_for_some_messages_leaves_the_others() {
    let once = On {
        method: "ask".into(),
        params: Some(json!({"kind": "x"})),
        times: Some(1),
        steps: Script::new().respond("last", json!("handler")).steps,
        ..On::default()
    };
    let main = Script::new().expect("ask").respond("ask", json!("main"));
    let mut client = play(&Script::new().push(Step::On(once)).then(main.clone()).then(main));
    for (kind, answered_by) in [("y", "main"), ("x", "handler"), ("x", "main")] {
        let id = client.request("ask", json!({"kind": kind})).unwrap();
        assert_eq!(client.until_response(id)[0]["result"], answered_by, "{kind}");
    }
    client.assert_clean();
}

#[test]
fn a_loop_goes_on_until_a_message_comes() {
    let script = Script::new()
        .initialize()
        .session_new("s1")
        .prompt_begin()
        .repeat_until("session/cancel", 1, Script::new().text("{{i}} "))
        .expect("session/cancel")
        .prompt_end("cancelled");
    let mut client = play(&script);
    client.open().unwrap();
    let prompt = client.prompt("stream").unwrap();
    let mut streamed = vec![client.message().unwrap(), client.message().unwrap()];
    client.notify("session/cancel", json!({"sessionId": "s1"})).unwrap();
    streamed.extend(client.until_response(prompt));
    assert_eq!(streamed.last().unwrap()["result"]["stopReason"], "cancelled");
    let text = text_of(&streamed);
    let numbers: Vec<usize> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    client.assert_clean();
}

#[test]
fn messages_out_of_turn_wait_for_their_step() {
    let script = Script::new().expect_as("b", "second").expect("a").notify("got", json!({"n": "{{second.params.n}}"}));
    let mut client = play(&script);
    client.notify("a", json!({})).unwrap();
    client.notify("b", json!({"n": 1})).unwrap();
    client.notify("b", json!({"n": 2})).unwrap();
    assert_eq!(client.message().unwrap()["params"]["n"], 1);
    client.assert_clean();
}
