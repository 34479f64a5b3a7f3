//! Whether anybody is left to read what is written to an agent.

use std::pin::Pin;

use tokio::process::ChildStdin;

/// Resolves when the agent, and everyone who has it from it, has closed its end of its input. Holds the input open: it has
/// to be dropped together with `stdin`. Never resolves where the system does not tell (all but Linux).
pub fn input_gone(stdin: &ChildStdin) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    match watched(stdin) {
        Some(gone) => Box::pin(gone),
        None => Box::pin(std::future::pending()),
    }
}

/// A pipe without a reader is in error at once, not only at the next write.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn watched(stdin: &ChildStdin) -> Option<impl Future<Output = ()> + Send + use<>> {
    use std::os::fd::AsFd;

    use tokio::io::unix::AsyncFd;
    use tokio::io::{Interest, Ready};

    // One of its own: a descriptor can be registered once.
    let pipe = stdin.as_fd().try_clone_to_owned().ok()?;
    // SAFETY: an owned descriptor that is moved in: it stays open and the same until the `AsyncFd` is dropped.
    let pipe = unsafe { AsyncFd::register_with_interest(pipe, Interest::ERROR) }.ok()?;
    Some(async move {
        loop {
            match pipe.ready(Interest::ERROR).await {
                Ok(found) if found.ready().is_error() => return,
                Ok(mut found) => found.clear_ready_matching(Ready::ALL),
                // The runtime is going away.
                Err(_) => std::future::pending().await,
            }
        }
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn watched(_stdin: &ChildStdin) -> Option<std::future::Pending<()>> {
    None
}
