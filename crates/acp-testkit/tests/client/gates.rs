//! Nothing is called that the agent did not advertise, and nothing of the attempt reaches the wire (C13, C15, C21).

use acp_runtime::capabilities::{Gate, OUTBOUND};
use acp_runtime::client::Client;
use acp_runtime::connection::CallOptions;
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use acp_testkit::script::Options;
use proptest::prelude::*;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::support::{PATIENCE, Stage};

/// What an agent may say of a capability. `None`: nothing.
fn said() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        Just(None),
        Just(Some(json!({}))),
        Just(Some(json!(true))),
        prop::sample::select(vec![Value::Null, json!(false), json!({"x": 1}), json!("yes"), json!([]), json!(1)])
            .prop_map(Some),
    ]
}

fn gated() -> Vec<(&'static str, Gate, &'static str)> {
    let gated = OUTBOUND.iter().filter(|method| method.request).filter_map(|method| match method.gate {
        Gate::Flag(pointer) | Gate::Marker(pointer) => Some((method.name, method.gate, pointer)),
        Gate::Baseline | Gate::Session => None,
    });
    gated.collect()
}

fn insert(capabilities: &mut Value, pointer: &str, value: Value) {
    let mut at = capabilities;
    let mut parts = pointer.trim_start_matches('/').split('/').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            at[part] = value;
            return;
        }
        if at[part].is_null() {
            at[part] = json!({});
        }
        at = &mut at[part];
    }
}

/// Calls every gated method of an agent that says this of its capabilities. The agent is strict: a message that it does not expect
/// is the end of it.
async fn check(said: &[(&str, Option<Value>)]) {
    let mut capabilities = json!({});
    for (pointer, value) in said {
        if let Some(value) = value {
            insert(&mut capabilities, pointer, value.clone());
        }
    }
    let open = |gate: Gate, pointer: &str| match (gate, capabilities.pointer(pointer)) {
        (Gate::Flag(_), Some(value)) => value == &json!(true),
        (Gate::Marker(_), Some(value)) => value.is_object(),
        _ => false,
    };
    // What the kit says by itself is taken out again.
    let mut shown = capabilities.clone();
    if shown.get("loadSession").is_none() {
        shown["loadSession"] = Value::Null;
    }
    let mut script = Script::new()
        .options(Options { strict: Some(true), ..Options::default() })
        .initialize_with(json!({"agentCapabilities": shown}));
    for (method, gate, pointer) in gated() {
        if open(gate, pointer) {
            script = script.expect(method).respond(method, json!({}));
        }
    }
    let stage = Stage::new();
    let mut options = stage.options(&script.expect("_test/end"));
    // What stays closed without the switch for the unstable part is shown where the switch is.
    options.offers.unstable = true;
    let client = Client::launch(options, std::sync::Arc::new(DenyAll)).await.unwrap();
    for (method, gate, pointer) in gated() {
        let options = CallOptions::plain(Phase::Session).timeout(Some(PATIENCE));
        let params = to_raw_value(&json!({"sessionId": "s1"})).unwrap();
        let called = client.connection().call(method, Some(params), options).await;
        if open(gate, pointer) {
            assert!(called.is_ok(), "{method} with {capabilities}: {called:?}");
        } else {
            let error = called.expect_err(method);
            assert_eq!(error.code(), ErrorCode::UnsupportedCapability, "{method} with {capabilities}: {error}");
        }
    }
    client.connection().notify("_test/end", None).unwrap();
    stage.end(client).await;
}

fn on_a_runtime(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(test);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn c13_c15_c21_what_is_not_advertised_is_not_called_in_any_combination(
        values in proptest::collection::vec(said(), gated().len()),
    ) {
        let said: Vec<_> = gated().into_iter().zip(values).map(|((_, _, pointer), value)| (pointer, value)).collect();
        on_a_runtime(check(&said));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c13_an_agent_that_advertises_nothing_and_one_that_advertises_all() {
    check(&[]).await;
    let all: Vec<_> = gated()
        .into_iter()
        .map(|(_, gate, pointer)| (pointer, Some(if matches!(gate, Gate::Flag(_)) { json!(true) } else { json!({}) })))
        .collect();
    check(&all).await;
}
