//! What one read brings is handled in batches, and nothing of it is lost.

use std::sync::{Mutex, OnceLock};

use serde_json::value::RawValue;

use super::super::{AgentProcess, CallOptions, Connection, Options};
use super::*;
use crate::capabilities::Offers;
use crate::error::Phase;
use crate::port::{Host, NoServices};
use crate::services::permission::Floor;

/// A process that has ended already; its stdout can still be read.
struct Ended;

impl AgentProcess for Ended {
    fn exited(&self) -> BoxFuture<ExitFacts> {
        Box::pin(std::future::ready(ExitFacts { exit_code: Some(0), signal: None }))
    }

    fn stderr_tail(&self) -> BoxFuture<Option<String>> {
        Box::pin(std::future::ready(None))
    }

    fn kill(&self) {}
}

/// Calls the agent, with no time for an answer, when it hears the first notification.
#[derive(Default)]
struct Caller {
    connection: OnceLock<Connection>,
    heard: Mutex<Vec<String>>,
    heard_at_timeout: OnceLock<usize>,
}

struct Shared(Arc<Caller>);

impl Host for Shared {
    fn notification(&self, method: &str, _: Option<&RawValue>) {
        let first = {
            let mut heard = self.0.heard.lock().unwrap();
            heard.push(method.to_owned());
            heard.len() == 1
        };
        if first {
            let caller = Arc::clone(&self.0);
            let options = CallOptions::plain(Phase::Prompt).timeout(Some(Duration::ZERO));
            let reply = Box::new(move |result: crate::error::Result<Box<RawValue>>| {
                assert!(result.is_err());
                let _ = caller.heard_at_timeout.set(caller.heard.lock().unwrap().len());
            });
            self.0.connection.get().unwrap().call_with("_x/late", None, options, reply);
        }
    }
}

#[tokio::test]
async fn commands_and_clocks_have_their_turn_within_what_one_read_brought() {
    for count in [1, MAX_BATCH_LINES, MAX_BATCH_LINES + 1, 8 * MAX_BATCH_LINES, 40 * MAX_BATCH_LINES] {
        let methods: Vec<_> = (0..count).map(|i| format!("_x/{i}")).collect();
        let lines: Vec<_> = methods.iter().map(|m| format!(r#"{{"jsonrpc":"2.0","method":"{m}"}}"#)).collect();
        // The last line has no newline.
        let text = lines.join("\n");
        let (mut agent, reader) = tokio::io::duplex(text.len());
        agent.write_all(text.as_bytes()).await.unwrap();
        drop(agent);
        let transport = Transport {
            reader: Box::new(reader),
            writer: Box::new(tokio::io::sink()),
            input_gone: Box::pin(std::future::pending()),
            process: Arc::new(Ended),
        };
        let options = Options {
            offers: Offers::default(),
            floor: Floor::OnceOnly,
            max_line_bytes: 1024,
            redact: Arc::new(str::to_owned),
            tap: None,
            services: Arc::new(NoServices),
        };
        let caller = Arc::new(Caller::default());
        let connection = Connection::start(transport, Arc::new(Shared(Arc::clone(&caller))), options);
        assert!(caller.connection.set(connection.clone()).is_ok());
        connection.ended().await;
        assert_eq!(*caller.heard.lock().unwrap(), methods);
        let at = *caller.heard_at_timeout.get().unwrap();
        // One batch brings the command, the next ones its output and its clock.
        assert!(at <= 4 * MAX_BATCH_LINES, "{at} of {count}");
    }
}
