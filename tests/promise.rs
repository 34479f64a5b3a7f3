//! The Rust end of a JavaScript promise. Everything else of the binding is tested from Node, in `__test__`; a task that dies
//! cannot be provoked from there.
#![expect(clippy::expect_used, reason = "what fails here fails the test")]

use std::sync::Arc;

use acp_runtime::delivery::{Kind, Limits, Outbox, Reader};
use fusion_acp_runtime::promise::Promise;

fn settled_by(work: impl FnOnce(Promise) + Send + 'static) -> String {
    let outbox = Outbox::new(Limits::default(), Arc::new(|| {}));
    let promise = Promise::new(&outbox, 7);
    let handle = fusion_acp_runtime::runtime::handle().expect("a runtime");
    let task = handle.spawn(async move { work(promise) });
    let _ = handle.block_on(task);
    let mut reader = Reader::new(outbox);
    let (text, marks) = reader.slice(16, usize::MAX);
    assert_eq!(marks.iter().map(|mark| mark.kind).collect::<Vec<_>>(), [Kind::Reply]);
    text.to_owned()
}

#[test]
fn a_task_that_panics_or_forgets_rejects_its_promise() {
    let forgotten = settled_by(drop);
    assert!(forgotten.contains(r#""token":7"#) && forgotten.contains("internal_error"), "{forgotten}");
    assert_eq!(settled_by(|_promise| panic!("a fault of the runtime")), forgotten);
    assert_eq!(settled_by(|promise| drop(promise.into_reply())), forgotten);
}

#[test]
fn settling_happens_once() {
    assert_eq!(settled_by(|promise| promise.resolve(&1)), r#"{"token":7,"ok":1}"#);
    assert_eq!(settled_by(|promise| promise.settle(Ok("done"))), r#"{"token":7,"ok":"done"}"#);
}
