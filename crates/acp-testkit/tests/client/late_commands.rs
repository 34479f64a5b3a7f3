//! A command that the host allows when everything has ended does not start.

use std::sync::{Arc, Mutex};

use acp_runtime::client::Client;
use acp_runtime::port::{BoxFuture, Host};
use acp_runtime::process::registry::{self, Order};
use acp_runtime::services::agent::{AgentServices, TerminalPolicy};
use acp_runtime::services::fs::FsPolicy;
use acp_runtime::services::terminal::LocalLauncher;
use acp_runtime::session::TurnOptions;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::support::{Listener, Stage, begin, brisk, eventually, open, prompted};

/// Allows a command when it is told to.
#[derive(Default)]
struct Hesitant {
    asked: Mutex<Vec<oneshot::Sender<bool>>>,
}

impl Host for Hesitant {
    fn allow_command(&self, _: &str, _: &RawValue) -> BoxFuture<bool> {
        let (allow, allowed) = oneshot::channel();
        self.asked.lock().unwrap().push(allow);
        Box::pin(async { allowed.await.unwrap_or(false) })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_allowed_after_the_end_does_not_start() {
    for end in ["kill", "kill all", "close", "exit"] {
        for _ in 0..10 {
            let stage = Stage::new();
            let late = stage.file("late");
            let command =
                json!({"sessionId": "s1", "command": "/bin/sh", "args": ["-c", format!("echo x > {late}; sleep 300")]});
            let script = prompted().request("late", "terminal/create", command);
            let script = if end == "exit" { script.expect("_test/exit").exit(0) } else { script.sleep(100_000) };
            let mut options = stage.options(&script);
            options.offers.terminal = true;
            let launcher = LocalLauncher { owner: stage.owner, order: Some(Order::now(stage.owner)) };
            let terminal = TerminalPolicy { launcher: Arc::new(launcher), ..TerminalPolicy::default() };
            options.services = Arc::new(AgentServices::new(FsPolicy::default(), Some(terminal)));
            let host = Arc::new(Hesitant::default());
            let client = Client::launch(options, Arc::<Hesitant>::clone(&host)).await.unwrap();
            let listener = Listener::new();
            open(&client, &stage, &listener).await.unwrap();
            let turn = begin(&client, "s1", Some(&listener), TurnOptions::default());
            eventually("the question", || !host.asked.lock().unwrap().is_empty()).await;
            match end {
                "kill" => client.kill(),
                "kill all" => drop(registry::kill_all(stage.owner)),
                "close" => drop(client.close(brisk()).await),
                _ => {
                    client.connection().notify("_test/exit", None).unwrap();
                    client.connection().ended().await;
                }
            }
            for allow in host.asked.lock().unwrap().drain(..) {
                let _ = allow.send(true);
            }
            drop(turn.await);
            client.connection().ended().await;
            client.close(brisk()).await;
            stage.empties().await;
            assert!(!std::path::Path::new(&late).exists(), "{end}: the command has run");
        }
    }
}
