use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

fn outbox(limits: Limits) -> (Arc<Outbox>, Arc<AtomicUsize>) {
    let wakes = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&wakes);
    (
        Outbox::new(
            limits,
            Arc::new(move || {
                counter.fetch_add(1, Ordering::SeqCst);
            }),
        ),
        wakes,
    )
}

#[test]
fn segments_keep_order_kind_and_both_lengths_through_any_slicing() {
    let (outbox, wakes) = outbox(Limits::default());
    let mut expected = Vec::new();
    for i in 0..100 {
        let text = format!("{i}é🚀");
        outbox.push(if i % 2 == 0 { Kind::Text } else { Kind::Update }, &text);
        expected.push(text);
    }
    assert_eq!(wakes.load(Ordering::SeqCst), 1, "one wake until drained");
    let mut reader = Reader::new(Arc::clone(&outbox));
    let mut got = Vec::new();
    while reader.has_more() {
        let (mut text, marks) = reader.slice(7, usize::MAX);
        assert!(marks.len() <= 7);
        for mark in marks {
            let (segment, rest) = text.split_at(mark.bytes as usize);
            text = rest;
            assert_eq!(mark.units as usize, segment.encode_utf16().count());
            assert_eq!(mark.kind, if got.len() % 2 == 0 { Kind::Text } else { Kind::Update });
            got.push(segment.to_owned());
        }
        assert!(text.is_empty());
    }
    assert_eq!(got, expected);
    outbox.push(Kind::Text, "again");
    assert_eq!(wakes.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_full_outbox_holds_its_producer_until_it_is_drained() {
    let (outbox, _) = outbox(Limits { bytes: 100, items: 10 });
    for _ in 0..10 {
        assert!(!outbox.is_full());
        outbox.push(Kind::Text, "12345");
    }
    assert!(outbox.is_full());
    let waiting = tokio::spawn({
        let outbox = Arc::clone(&outbox);
        async move { outbox.space(false).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    let mut reader = Reader::new(Arc::clone(&outbox));
    assert_eq!(reader.slice(3, 6).1.len(), 2, "bytes are bounded, too");
    waiting.await.unwrap();
}

#[tokio::test]
async fn a_closed_outbox_takes_nothing_and_blocks_nobody() {
    let (outbox, _) = outbox(Limits { bytes: 1, items: 1 });
    outbox.push(Kind::Text, "x");
    assert!(outbox.is_full());
    outbox.close();
    outbox.space(false).await;
    outbox.push(Kind::Text, "y");
    assert!(!outbox.is_full());
    assert!(!Reader::new(outbox).has_more());
}

#[tokio::test]
async fn a_full_outbox_parks_what_the_budget_has_room_for() {
    let budget = Budget::new(100);
    let limits = Limits { bytes: 10, items: 1000 };
    let full = || {
        let outbox = Outbox::with_budget(limits, Arc::clone(&budget), Arc::new(|| {}));
        outbox.push(Kind::Text, &"x".repeat(70));
        assert!(outbox.is_full());
        outbox
    };
    let one = full();
    assert!(one.park() && one.park(), "what is charged is not charged again");
    assert_eq!(budget.used(), 60);
    let two = full();
    assert!(!two.park(), "60 and 60 are more than 100");
    let waiting = tokio::spawn({
        let two = Arc::clone(&two);
        async move { two.space(true).await }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    let mut reader = Reader::new(Arc::clone(&one));
    assert_eq!(reader.slice(10, usize::MAX).0.len(), 70);
    assert_eq!(budget.used(), 60, "handed out, but still held");
    assert!(reader.slice(10, usize::MAX).1.is_empty());
    waiting.await.unwrap();
    assert_eq!(budget.used(), 60, "the other one has it now");
    two.close();
    assert_eq!(budget.used(), 0);
}

#[test]
fn the_budget_gets_back_what_goes_away_with_its_outbox() {
    let budget = Budget::new(1000);
    let outbox = Outbox::with_budget(Limits { bytes: 1, items: 1 }, Arc::clone(&budget), Arc::new(|| {}));
    outbox.push(Kind::Text, "xyz");
    outbox.push(Kind::Text, "xyz");
    assert!(outbox.park());
    assert!(budget.used() > 5, "segments are counted, too");
    let mut reader = Reader::new(Arc::clone(&outbox));
    reader.slice(1, 1);
    outbox.push(Kind::Text, "more than one byte");
    assert!(outbox.park());
    drop(outbox);
    drop(reader);
    assert_eq!(budget.used(), 0);
}
