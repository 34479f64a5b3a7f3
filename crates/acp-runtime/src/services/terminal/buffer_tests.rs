use proptest::prelude::*;

use super::*;

fn fill(limit: usize, chunks: &[&[u8]]) -> OutputBuffer {
    let mut buffer = OutputBuffer::new(limit);
    for chunk in chunks {
        buffer.push(chunk);
    }
    buffer.finish();
    buffer
}

#[test]
fn the_start_is_dropped_at_a_character() {
    let buffer = fill(3, &["ééé".as_bytes()]);
    assert_eq!((buffer.text().as_str(), buffer.is_truncated()), ("é", true));
    let buffer = fill(5, &[b"abc", "é€".as_bytes()]);
    assert_eq!(buffer.text(), "é€");
    let buffer = fill(4, &[b"abc", "é€".as_bytes()]);
    assert_eq!(buffer.text(), "€");
    let buffer = fill(6, &[b"abcdef"]);
    assert_eq!((buffer.text().as_str(), buffer.is_truncated()), ("abcdef", false));
}

#[test]
fn a_limit_of_nothing_keeps_nothing() {
    let buffer = fill(0, &[b"x"]);
    assert_eq!((buffer.text().as_str(), buffer.is_truncated()), ("", true));
    assert!(!fill(0, &[b""]).is_truncated());
}

#[test]
fn the_host_has_the_last_word_on_the_limit() {
    assert_eq!(OutputBuffer::effective_limit(None, 1000), 1000);
    assert_eq!(OutputBuffer::effective_limit(Some(0), 1000), 0);
    assert_eq!(OutputBuffer::effective_limit(Some(10), 1000), 10);
    assert_eq!(OutputBuffer::effective_limit(Some(1 << 53), 1000), 1000);
    assert_eq!(OutputBuffer::effective_limit(Some(u64::MAX), 1000), 1000);
}

#[test]
fn a_character_in_two_reads_is_one_character() {
    let mut buffer = OutputBuffer::new(100);
    buffer.push(&[b'a', 0xe2, 0x82]);
    assert_eq!(buffer.text(), "a", "not shown before it is whole");
    buffer.push(&[0xac, b'b']);
    assert_eq!(buffer.text(), "a€b");
    buffer.push(&[0xf0, 0x9f]);
    buffer.finish();
    assert_eq!(buffer.text(), "a€b\u{fffd}");
}

#[test]
fn replacement_counts_against_the_limit() {
    let buffer = fill(10, &[&[0xff; 1000]]);
    assert_eq!(buffer.text(), "\u{fffd}".repeat(3));
}

proptest! {
    #[test]
    fn it_is_the_longest_suffix_that_fits(
        bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..300), "[aé€😀]{0,100}".prop_map(String::into_bytes)],
        sizes in prop::collection::vec(1usize..40, 1..10),
        limit in 0usize..120,
    ) {
        let mut buffer = OutputBuffer::new(limit);
        let (mut rest, mut sizes) = (bytes.as_slice(), sizes.iter().cycle());
        while !rest.is_empty() {
            let (chunk, next) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            buffer.push(chunk);
            prop_assert!(buffer.text.len() <= limit && buffer.partial.len() <= 3);
            rest = next;
        }
        buffer.finish();
        let whole = String::from_utf8_lossy(&bytes);
        let kept = buffer.text();
        prop_assert!(whole.ends_with(&kept));
        prop_assert_eq!(buffer.is_truncated(), kept.len() < whole.len());
        // One more character would not have fitted. (What was dropped once does not come back, so the suffix may be short
        // of the limit by less than one character.)
        if let Some(next) = whole[..whole.len() - kept.len()].chars().next_back() {
            prop_assert!(kept.len() + next.len_utf8() > limit);
        }
    }
}
