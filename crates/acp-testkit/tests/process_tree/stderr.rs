//! Stderr is always read, bounded, and redacted as a whole.

use std::sync::Arc;
use std::time::Duration;

use crate::stage::Stage;
use acp_runtime::process::{RedactFn, Spawned, StderrTail, spawn};
use tokio::io::AsyncReadExt as _;

fn replacing(secret: &'static str) -> RedactFn {
    Arc::new(move |text: &str| text.replace(secret, "[REDACTED]"))
}

#[tokio::test]
async fn a_flood_does_not_block_the_agent_and_only_its_end_is_kept() {
    let stage = Stage::new();
    let mut spec = stage.spec("head -c 5000000 /dev/zero | tr '\\0' x >&2; echo THE END >&2; echo done");
    spec.stderr_bytes = 1000;
    let Spawned { stdin, mut stdout, tree } = spawn(&spec).unwrap();
    let mut text = String::new();
    stdout.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "done\n");
    tree.exited().await;
    assert!(tree.stderr().drained(Duration::from_secs(10)).await);
    let tail = tree.stderr().tail();
    assert!(tail.ends_with("xxx\nTHE END\n") || tail.ends_with("THE END\n"), "{tail}");
    assert_eq!(tail.len(), 1000);
    assert_eq!(tree.stderr().bytes_seen(), 5_000_008);
    drop(stdin);
}

#[tokio::test]
async fn a_secret_in_two_writes_is_found() {
    let stage = Stage::new();
    let mut spec = stage.spec("printf 'token hun' >&2; sleep 0.05; printf 'ter2 end' >&2");
    spec.secrets = vec!["hunter2".into(), "hunter2 e".into(), String::new()];
    let Spawned { tree, .. } = spawn(&spec).unwrap();
    assert!(tree.stderr().drained(Duration::from_secs(10)).await);
    assert_eq!(tree.stderr().tail(), "token [REDACTED]nd");
    spec.redact = Some(replacing("end"));
    let Spawned { tree, .. } = spawn(&spec).unwrap();
    assert!(tree.stderr().drained(Duration::from_secs(10)).await);
    assert_eq!(tree.stderr().tail(), "token hunter2 [REDACTED]");
}

#[test]
fn a_secret_at_the_edge_of_the_ring_does_not_show_its_second_half() {
    let secret = "0123456789abcdefghijklmnopqrstuvwxyz";
    for shift in 0..60 {
        let tail = StderrTail::new(100, secret.len(), replacing(secret));
        tail.push(secret.as_bytes());
        // Enough to push the secret over the edge of the limit and of the slack, byte by byte.
        tail.push(&vec![b'.'; 80 + shift]);
        assert!(!tail.tail().contains("xyz"), "limit, shift {shift}: {}", tail.tail());
        tail.push(&vec![b'.'; 3960]);
        assert!(!tail.tail().contains("xyz"), "slack, shift {shift}: {}", tail.tail());
    }
}

#[test]
fn a_tail_that_masking_makes_short_is_still_shown() {
    let tail = StderrTail::new(100_000, 0, Arc::new(|text: &str| text.replace(&"s".repeat(1000), "[REDACTED]")));
    for _ in 0..500 {
        tail.push("s".repeat(1000).as_bytes());
    }
    tail.push(b"\nthe reason\n");
    let seen = tail.tail();
    assert!(seen.ends_with("\nthe reason\n") && seen.len() < 5000, "{seen}");
}

#[test]
fn any_sequence_of_writes_keeps_the_end() {
    let redact: RedactFn = Arc::new(str::to_owned);
    let tail = StderrTail::new(10, 0, redact);
    let mut all = String::new();
    for write in ["", "a", "bcd", "ä€😀", &"x".repeat(9000), "end", &"y".repeat(4100), "äöü"] {
        tail.push(write.as_bytes());
        all.push_str(write);
        let seen = tail.tail();
        assert!(all.ends_with(&seen) && seen.len() <= 10 && seen.len() + 4 > all.len().min(10), "{seen:?} of {all:?}");
    }
    assert_eq!(tail.bytes_seen(), all.len() as u64);
}

#[test]
fn a_secret_that_became_known_late_is_not_shown_by_half() {
    let secret = "half-of-it-".repeat(1000);
    let tail = StderrTail::new(4000, 0, Arc::new(|text: &str| text.replace(&"half-of-it-".repeat(1000), "[REDACTED]")));
    tail.expect(secret.len());
    tail.push(secret.as_bytes());
    tail.push(b"\nand ");
    tail.push("the end ".repeat(400).as_bytes());
    let seen = tail.tail();
    assert!(seen.ends_with("the end ") && !seen.contains("half"), "{seen}");
}
