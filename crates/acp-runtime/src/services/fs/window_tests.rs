use proptest::prelude::*;

use super::*;

/// Hands out its bytes in pieces of the given size and counts what was taken.
struct Dribble<'a> {
    rest: &'a [u8],
    piece: usize,
    taken: usize,
}

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.piece.min(buffer.len()).min(self.rest.len());
        buffer[..n].copy_from_slice(&self.rest[..n]);
        self.rest = &self.rest[n..];
        self.taken += n;
        Ok(n)
    }
}

fn read(bytes: &[u8], piece: usize, window: Window, max: usize) -> String {
    let mut reader = Dribble { rest: bytes, piece, taken: 0 };
    match read_window(&mut reader, bytes.len() as u64, window, max, u64::MAX).unwrap() {
        Found::Text(text) => text,
        Found::TooFar => panic!("no scan ceiling was set"),
    }
}

#[test]
fn lines_count_from_one_and_the_window_excludes_its_last_line_feed() {
    assert_eq!(apply_read_window("a\nb\nc\nd", Some(2.0), Some(2.0), 1000), "b\nc");
    assert_eq!(apply_read_window("l1\nl2\nl3\nl4\n", Some(3.0), Some(2.0), 1000), "l3\nl4");
    assert_eq!(apply_read_window("a\nb\n", None, Some(3.0), 1000), "a\nb\n");
    assert_eq!(apply_read_window("a\nb", Some(9.0), None, 1000), "");
    assert_eq!(apply_read_window("a\nb\n", Some(3.0), None, 1000), "");
    assert_eq!(apply_read_window("", Some(1.0), Some(1.0), 1000), "");
}

#[test]
fn odd_numbers_do_not_restrict_and_fractions_are_cut_off() {
    for odd in [None, Some(f64::NAN), Some(f64::INFINITY), Some(f64::NEG_INFINITY), Some(-3.0), Some(0.0)] {
        assert_eq!(Window::new(odd, odd), Window::default());
    }
    assert_eq!(Window::new(Some(1.0), None), Window::default());
    assert_eq!(Window::new(Some(2.9), Some(1.9)), Window { skip: 1, take: Some(1) });
    assert_eq!(Window::new(Some(1.5), Some(0.5)), Window { skip: 0, take: Some(0) });
    assert_eq!(apply_read_window("abc", None, Some(0.5), 10), "");
}

#[test]
fn the_ceiling_cuts_at_a_character() {
    assert_eq!(apply_read_window(&"x".repeat(100), None, None, 10), "x".repeat(10));
    assert_eq!(apply_read_window("ééé", None, None, 3), "é");
    assert_eq!(read("ééé".as_bytes(), 1, Window::default(), 3), "é");
    assert_eq!(read("a😀".as_bytes(), 2, Window::default(), 4), "a");
    assert_eq!(read("a😀".as_bytes(), 2, Window { skip: 0, take: Some(5) }, 4), "a");
    assert_eq!(read(&[0xff; 100], 7, Window::default(), 10), "\u{fffd}".repeat(3));
    assert_eq!(read(b"a\xe9b", 7, Window::default(), 10), "a\u{fffd}b", "invalid bytes inside are replaced");
    assert_eq!(read("é".as_bytes(), 7, Window::default(), 0), "");
}

#[test]
fn no_more_is_read_than_the_window_needs() {
    let file = "line\n".repeat(1_000_000);
    let mut reader = Dribble { rest: file.as_bytes(), piece: 4096, taken: 0 };
    let window = Window { skip: 10, take: Some(2) };
    assert_eq!(read_window(&mut reader, 0, window, 1000, u64::MAX).unwrap(), Found::Text("line\nline".into()));
    assert_eq!(reader.taken, 4096);
    let mut reader = Dribble { rest: file.as_bytes(), piece: 4096, taken: 0 };
    read_window(&mut reader, u64::MAX, Window::default(), 1000, u64::MAX).unwrap();
    assert_eq!(reader.taken, 1001);
    let mut reader = Dribble { rest: file.as_bytes(), piece: 4096, taken: 0 };
    let window = Window { skip: 900_000, take: None };
    assert_eq!(read_window(&mut reader, 0, window, 1000, 100_000).unwrap(), Found::TooFar);
    assert!(reader.taken < 110_000);
}

proptest! {
    /// The stream and the text agree for every window, every piece size and every ceiling.
    #[test]
    fn streaming_reads_what_the_text_rule_says(
        text in "[ab\\né😀\\r]{0,60}",
        skip in 0u64..8,
        take in prop::option::of(0u64..8),
        piece in 1usize..20,
        max in 0usize..80,
    ) {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let (line, limit) = (Some((skip + 1) as f64), take.map(|t| if t == 0 { 0.5 } else { t as f64 }));
        let window = Window { skip, take };
        prop_assert_eq!(Window::new(line, limit), window);
        prop_assert_eq!(read(text.as_bytes(), piece, window, max), apply_read_window(&text, line, limit, max));
    }

    #[test]
    fn any_bytes_give_bounded_text(bytes in prop::collection::vec(any::<u8>(), 0..200), max in 0usize..100, piece in 1usize..9) {
        for window in [Window::default(), Window { skip: 1, take: Some(3) }] {
            prop_assert!(read(&bytes, piece, window, max).len() <= max);
        }
    }

    #[test]
    fn the_text_rule_is_split_slice_join(text in "[ab\\né]{0,40}", line in -2i32..10, limit in -2i32..10) {
        let lines: Vec<&str> = text.split('\n').collect();
        let start = usize::try_from(line - 1).unwrap_or(0).min(lines.len());
        let end = if limit > 0 { (start + usize::try_from(limit).unwrap()).min(lines.len()) } else { lines.len() };
        let expected = lines[start..end].join("\n");
        prop_assert_eq!(apply_read_window(&text, Some(line.into()), Some(limit.into()), 1000), expected);
    }
}
