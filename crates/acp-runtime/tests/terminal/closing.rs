//! A command that starts while everything ends: it is called off, or ends with the rest.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use acp_runtime::process::OwnerId;
use acp_runtime::process::registry::{self, Order};
use acp_runtime::services::terminal::{
    LocalLauncher, Started, TerminalCommand, TerminalError, TerminalLauncher, TerminalLimits, Terminals,
};

use crate::support::{gone, sh};

/// Starts commands only once it is told to, and counts who waits for that.
#[derive(Default)]
struct Held {
    waiting: AtomicUsize,
    open: Mutex<bool>,
    opened: Condvar,
}

impl Held {
    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

impl TerminalLauncher for Held {
    fn launch(&self, command: TerminalCommand) -> io::Result<Started> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut open = self.open.lock().unwrap();
        while !*open {
            open = self.opened.wait(open).unwrap();
        }
        LocalLauncher::default().launch(command)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_command_that_starts_while_everything_ends_ends_with_it() {
    let dir = tempfile::tempdir().unwrap();
    for command in [sh("echo $$ > pid; exec sleep 300"), TerminalCommand { program: "/no/such".into(), ..sh("") }] {
        let command = TerminalCommand { cwd: dir.path().to_owned(), ..command };
        let launcher = Arc::new(Held::default());
        let terminals = Terminals::new(Arc::<Held>::clone(&launcher), TerminalLimits::default());
        let creating: Vec<_> = (0..2)
            .map(|_| {
                let (terminals, command) = (terminals.clone(), command.clone());
                tokio::task::spawn_blocking(move || terminals.create("s", command, None))
            })
            .collect();
        while launcher.waiting.load(Ordering::SeqCst) < 2 {
            tokio::task::yield_now().await;
        }
        let closing = {
            let terminals = terminals.clone();
            tokio::spawn(async move { terminals.close().await })
        };
        terminals.refuse();
        assert!(matches!(terminals.create("s", sh("exit 0"), None), Err(TerminalError::Closed)));
        let counted = terminals.len();
        launcher.open();
        for created in creating {
            let error = created.await.unwrap().unwrap_err();
            assert!(matches!(error, TerminalError::Closed | TerminalError::Start(_)), "{error}");
        }
        closing.await.unwrap();
        assert_eq!((counted, terminals.len()), (2, 0));
        assert_eq!(launcher.waiting.load(Ordering::SeqCst), 2, "nothing else was started");
        if let Ok(pid) = std::fs::read_to_string(dir.path().join("pid"))
            && let Ok(pid) = pid.trim().parse()
        {
            gone(pid).await;
        }
    }
}

#[tokio::test]
async fn nothing_starts_once_that_is_refused_and_what_runs_stays() {
    let terminals = crate::support::terminals();
    let id = terminals.create("s", sh("sleep 300"), None).unwrap();
    terminals.refuse();
    let error = terminals.create("s", sh("exit 0"), None).unwrap_err();
    assert_eq!(error.rpc_code(), -32800, "{error}");
    assert_eq!(terminals.output("s", &id).unwrap().exit_status, None);
    assert_eq!(terminals.len(), 1);
    terminals.close().await;
    assert!(terminals.is_empty());
}

#[tokio::test]
async fn a_command_is_called_off_with_the_trees_of_its_owner() {
    let owner = OwnerId(77_001);
    let launcher = Arc::new(LocalLauncher { owner, order: Some(Order::now(owner)) });
    let terminals = Terminals::new(launcher, TerminalLimits::default());
    terminals.create("s", sh("sleep 300"), None).unwrap();
    assert_eq!(registry::kill_all(owner), 1);
    let error = terminals.create("s", sh("sleep 300"), None).unwrap_err();
    assert!(matches!(error, TerminalError::Start(_)), "{error}");
    terminals.close().await;
    assert_eq!((terminals.len(), registry::active_count(owner)), (0, 0));
}
