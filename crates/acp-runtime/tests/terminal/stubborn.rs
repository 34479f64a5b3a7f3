//! A process that the system cannot end: answers come all the same. The clock is the test's own.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use acp_runtime::error::ExitFacts;
use acp_runtime::services::terminal::{
    Started, TerminalCommand, TerminalLauncher, TerminalLimits, TerminalProcess, Terminals,
};

use crate::support::sh;

#[derive(Clone, Default)]
struct Counts(Arc<AtomicUsize>);

struct Stubborn(Counts);

impl TerminalProcess for Stubborn {
    fn wait(&mut self) -> Pin<Box<dyn Future<Output = ExitFacts> + Send + '_>> {
        Box::pin(std::future::pending())
    }

    fn kill(&mut self) {
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl TerminalLauncher for Counts {
    fn launch(&self, _: TerminalCommand) -> io::Result<Started> {
        Ok(Started { output: Box::new(tokio::io::empty()), process: Box::new(Stubborn(self.clone())) })
    }
}

#[tokio::test(start_paused = true)]
async fn kill_and_release_answer_although_nothing_dies() {
    let kills = Counts::default();
    let terminals = Terminals::new(Arc::new(kills.clone()), TerminalLimits::default());
    let id = terminals.create("s", sh(""), None).unwrap();
    terminals.kill("s", &id).await.unwrap();
    assert_eq!(terminals.output("s", &id).unwrap().exit_status, None, "it is not claimed to have ended");
    terminals.release("s", &id).await.unwrap();
    assert!(kills.0.load(Ordering::Relaxed) >= 2);
    assert!(terminals.is_empty());
}
