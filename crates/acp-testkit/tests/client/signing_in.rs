//! Signing in and out (C17, C19).

use std::sync::Arc;

use acp_runtime::capabilities::Offers;
use acp_runtime::client::{Authenticate, Client};
use acp_runtime::connection::CallOptions;
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::port::DenyAll;
use acp_testkit::Script;
use serde_json::json;

use crate::support::{Stage, opened, prompt};

#[tokio::test(flavor = "multi_thread")]
async fn c17_signing_in_on_a_terminal_is_offered_only_by_a_host_that_has_one() {
    for (auth_terminal, auth) in [(false, json!({"$absent": true})), (true, json!({"$exact": {"terminal": true}}))] {
        let stage = Stage::new();
        let script =
            Script::new().initialize().check(json!("{{init.params.clientCapabilities}}"), json!({"auth": auth}));
        let mut options = stage.options(&script);
        options.offers = Offers { auth_terminal, ..Offers::default() };
        let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
        stage.end(client).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn c19_who_is_signed_out_in_between_is_told_and_can_sign_in_again() {
    let stage = Stage::new();
    let methods = json!([{"id": "login", "name": "Login"}]);
    let script = Script::new()
        .initialize_with(json!({"agentCapabilities": {"auth": {"logout": {}}}, "authMethods": methods}))
        .session_new("s1")
        .expect("logout")
        .respond("logout", json!(null))
        .prompt_begin()
        .respond_error("prompt", json!({"code": -32000, "message": "Authentication required"}))
        .expect_params("authenticate", json!({"methodId": "login"}))
        .respond("authenticate", json!({}))
        .prompt_begin()
        .text("back")
        .prompt_end("end_turn");
    let (client, listener) = opened(&stage, &script, Arc::new(DenyAll)).await;
    client.connection().call("logout", None, CallOptions::plain(Phase::Authenticate)).await.unwrap();
    let error = prompt(&client, "s1", &listener).await.unwrap_err();
    assert_eq!((error.code(), error.details().phase), (ErrorCode::AuthRequired, Some(Phase::Prompt)));
    assert_eq!(error.details().extra.as_ref().unwrap()["authMethods"], methods);
    let login = Authenticate { method_id: Some("login".into()), ..Authenticate::default() };
    assert_eq!(client.authenticate(&login).await.unwrap().as_deref(), Some("login"));
    assert_eq!(prompt(&client, "s1", &listener).await.unwrap().text, "back");
    stage.end(client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_zero_is_none() {
    let stage = Stage::new();
    let script = Script::new()
        .initialize_with(json!({"authMethods": [{"id": "login", "name": "Login"}]}))
        .expect("authenticate")
        .sleep(50)
        .respond("authenticate", json!({}));
    let mut options = stage.options(&script);
    options.authenticate =
        Some(Authenticate { method_id: Some("login".into()), timeout_ms: Some(0), ..Authenticate::default() });
    let client = Client::launch(options, Arc::new(DenyAll)).await.unwrap();
    stage.end(client).await;
}
