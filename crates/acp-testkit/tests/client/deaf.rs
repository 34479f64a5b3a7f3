//! Field case P09: an agent that closed its stdin, and lives. In memory and in simulated time: only the rule is of interest.

use std::sync::Arc;
use std::time::Duration;

use acp_runtime::capabilities::Offers;
use acp_runtime::connection::{CallOptions, Connection, Options, Transport};
use acp_runtime::error::{ErrorCode, Phase};
use acp_runtime::pending::Effect;
use acp_runtime::port::{DenyAll, NoServices};
use acp_runtime::services::permission::Floor;
use acp_runtime::session::{SessionSpec, TurnOptions, ViewKind};
use acp_runtime::wire::DEFAULT_MAX_LINE_BYTES;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::immortal::Immortal;

struct Agent {
    input: BufReader<DuplexStream>,
    output: DuplexStream,
    /// Tells the connection that nobody reads any more.
    close: Option<oneshot::Sender<()>>,
}

impl Agent {
    fn connect() -> (Connection, Self) {
        let (writer, input) = tokio::io::duplex(1 << 16);
        let (output, reader) = tokio::io::duplex(1 << 16);
        let (close, closed) = oneshot::channel();
        let transport = Transport {
            reader: Box::new(reader),
            writer: Box::new(writer),
            input_gone: Box::pin(async move { drop(closed.await) }),
            process: Arc::new(Immortal),
        };
        let options = Options {
            offers: Offers::default(),
            floor: Floor::OnceOnly,
            max_line_bytes: DEFAULT_MAX_LINE_BYTES,
            redact: Arc::new(str::to_owned),
            tap: None,
            services: Arc::new(NoServices),
        };
        let connection = Connection::start(transport, Arc::new(DenyAll), options);
        (connection, Self { input: BufReader::new(input), output, close: Some(close) })
    }

    /// Reads one call, then hears nothing more.
    async fn read_one_and_close(&mut self) {
        self.input.read_line(&mut String::new()).await.unwrap();
        self.close.take().unwrap().send(()).unwrap();
    }

    async fn say(&mut self, line: &str) {
        self.output.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
}

fn plain() -> CallOptions {
    CallOptions::plain(Phase::Session)
}

#[tokio::test(start_paused = true)]
async fn p09_whoever_waits_for_a_silent_one_is_not_left_waiting() {
    let (connection, mut agent) = Agent::connect();
    let silent = async {
        agent.read_one_and_close().await;
        std::future::pending::<()>().await;
    };
    let failed = tokio::select! {
        result = connection.call("_x/y", None, plain()) => result.unwrap_err(),
        () = silent => unreachable!(),
    };
    assert_eq!(failed.code(), ErrorCode::ConnectionClosed);
    assert!(failed.to_string().contains("closed its stdin"), "{failed}");
}

#[tokio::test(start_paused = true)]
async fn p09_one_that_speaks_on_is_heard_to_its_end() {
    let (connection, mut agent) = Agent::connect();
    let speaking = async {
        agent.read_one_and_close().await;
        for _ in 0..100 {
            sleep(Duration::from_secs(9)).await;
            agent.say("{\"jsonrpc\":\"2.0\",\"method\":\"_x/working\"}").await;
        }
        agent.say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"fine\":true}}").await;
        std::future::pending::<()>().await;
    };
    let started = Instant::now();
    let answer = tokio::select! {
        result = connection.call("_x/y", None, plain()) => result.unwrap(),
        () = speaking => unreachable!(),
    };
    assert_eq!(answer.get(), "{\"fine\":true}");
    assert!(started.elapsed() >= Duration::from_secs(900));
}

#[tokio::test(start_paused = true)]
async fn p09_one_that_nobody_waits_for_is_left_alone_until_somebody_asks() {
    let (connection, mut agent) = Agent::connect();
    let (answer, ()) = tokio::join!(connection.call("_x/y", None, plain()), async {
        agent.input.read_line(&mut String::new()).await.unwrap();
        agent.say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1}").await;
    });
    assert_eq!(answer.unwrap().get(), "1");
    agent.close.take().unwrap().send(()).unwrap();
    sleep(Duration::from_secs(3600)).await;
    connection.notify("_x/z", None).unwrap();
    let failed = connection.call("_x/y", None, plain()).await.unwrap_err();
    assert_eq!(failed.code(), ErrorCode::ConnectionClosed);
}

/// A turn that was given up still owes its response, and a session that was dropped its turn's: nobody waits for either.
#[tokio::test(start_paused = true)]
async fn p09_what_was_given_up_is_waited_for_by_nobody() {
    for dropped in [false, true] {
        let (connection, mut agent) = Agent::connect();
        let spec = SessionSpec::new(ViewKind::Callbacks);
        let opening = CallOptions { effect: Effect::OpenSession(Box::new(spec)), ..plain() };
        let (opened, ()) = tokio::join!(connection.call("session/new", None, opening), async {
            agent.input.read_line(&mut String::new()).await.unwrap();
            agent.say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"sessionId\":\"s\"}}").await;
        });
        opened.unwrap();
        let (ended, end) = oneshot::channel();
        let options = TurnOptions { timeout: Some(Duration::from_secs(5)), ..TurnOptions::default() };
        connection.prompt_with("s", RawValue::NULL.to_owned(), options, Box::new(|outcome| drop(ended.send(outcome))));
        agent.input.read_line(&mut String::new()).await.unwrap();
        if dropped {
            connection.drop_session("s");
        }
        end.await.unwrap().unwrap_err();
        agent.close.take().unwrap().send(()).unwrap();
        sleep(Duration::from_secs(3600)).await;
        assert!(connection.end().is_none(), "{:?}", connection.end());
    }
}
