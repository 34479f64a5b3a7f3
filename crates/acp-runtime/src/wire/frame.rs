//! Framing: a byte stream cut into lines at 0x0A, before anything is decoded.
//!
//! Linear in bytes: a byte is searched for a newline once, and moved at most once per read. Memory is bounded by the line
//! limit: a longer line is dropped up to its newline and reported as [`Line::Oversize`], and so is one of more values than
//! [`MAX_LINE_VALUES`].

use super::{MAX_LINE_VALUES, values};

/// How much room a read gets at least, in bytes.
const READ_ROOM: usize = 64 * 1024;
/// A buffer that grew beyond this for one long line is given back when it is empty.
const KEEP_CAPACITY: usize = 1024 * 1024;
/// How much of either end of an oversize line is told, in bytes.
const END_BYTES: usize = 1024;

/// What the stream yields.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// One line without its newline, a trailing CR and a leading byte order mark.
    Complete(&'a [u8]),
    /// A line longer than the limit, or of too many values, was dropped.
    Oversize {
        /// Its length in bytes.
        bytes: u64,
        /// Its start.
        head: &'a [u8],
        /// Its end, which may overlap the start.
        tail: &'a [u8],
    },
}

/// Cuts a byte stream into lines.
#[derive(Debug)]
pub struct LineSplitter {
    buffer: Vec<u8>,
    /// Start of the first line not handed out yet.
    head: usize,
    /// Bytes before this were searched for a newline.
    searched: usize,
    max_line: usize,
    /// Set while an oversize line is being dropped: bytes dropped so far.
    dropping: Option<u64>,
    /// The start of the last oversize line.
    oversize_head: Vec<u8>,
    /// The end of it, as far as it was read.
    oversize_tail: Vec<u8>,
}

impl LineSplitter {
    /// A splitter for lines of at most `max_line` bytes, newline not counted.
    pub fn new(max_line: usize) -> Self {
        Self {
            buffer: Vec::new(),
            head: 0,
            searched: 0,
            max_line,
            dropping: None,
            oversize_head: Vec::new(),
            oversize_tail: Vec::new(),
        }
    }

    /// The buffer to append the next read to, with room for it.
    pub fn read_buffer(&mut self) -> &mut Vec<u8> {
        if self.head > 0 {
            // At most one partial line is left: moving it costs no more than reading it did.
            self.buffer.drain(..self.head);
            self.searched -= self.head;
            self.head = 0;
        }
        if self.buffer.is_empty() && self.buffer.capacity() > KEEP_CAPACITY {
            self.buffer = Vec::new();
        }
        if self.buffer.capacity() - self.buffer.len() < READ_ROOM {
            // Doubling keeps the copies of a long line linear.
            let room = READ_ROOM.max(self.buffer.len());
            self.buffer.reserve(room);
        }
        &mut self.buffer
    }

    /// The next line, or `None` until more bytes were read.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(offset) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
                self.searched = self.buffer.len();
                self.drop_overlong();
                return None;
            };
            let (start, end) = (self.head, self.searched + offset);
            self.head = end + 1;
            self.searched = self.head;
            if let Some(dropped) = self.dropping.take() {
                keep_end(&mut self.oversize_tail, &self.buffer[start..end]);
                return Some(Line::Oversize {
                    bytes: dropped + (end - start) as u64,
                    head: &self.oversize_head,
                    tail: &self.oversize_tail,
                });
            }
            let length = end - start;
            if length > self.max_line || values::exceed(&self.buffer[start..end], MAX_LINE_VALUES) {
                return Some(oversize(&self.buffer[start..end]));
            }
            let line = trim(&self.buffer[start..end]);
            // Blank lines are keep-alives, not noise.
            if !line.is_empty() {
                // Re-sliced to satisfy the borrow checker across the loop.
                let offset = line.as_ptr() as usize - self.buffer.as_ptr() as usize;
                let length = line.len();
                return Some(Line::Complete(&self.buffer[offset..offset + length]));
            }
        }
    }

    /// What is left after the end of the stream: a last line without a newline.
    pub fn take_rest(&mut self) -> Option<Line<'_>> {
        if let Some(bytes) = self.dropping.take() {
            return Some(Line::Oversize { bytes, head: &self.oversize_head, tail: &self.oversize_tail });
        }
        let start = self.head;
        self.head = self.buffer.len();
        self.searched = self.head;
        let rest = trim(&self.buffer[start..]);
        if values::exceed(rest, MAX_LINE_VALUES) {
            return Some(oversize(rest));
        }
        (!rest.is_empty()).then_some(Line::Complete(rest))
    }

    /// Whether bytes are held that no line was made of yet.
    pub fn has_partial(&self) -> bool {
        self.head < self.buffer.len() || self.dropping.is_some()
    }

    fn drop_overlong(&mut self) {
        let held = self.buffer.len() - self.head;
        if let Some(dropped) = &mut self.dropping {
            *dropped += held as u64;
            keep_end(&mut self.oversize_tail, &self.buffer[self.head..]);
        } else if held > self.max_line {
            self.dropping = Some(held as u64);
            self.oversize_head.clear();
            self.oversize_head.extend_from_slice(&self.buffer[self.head..self.head + held.min(END_BYTES)]);
            self.oversize_tail.clear();
            keep_end(&mut self.oversize_tail, &self.buffer[self.head..]);
        } else {
            return;
        }
        self.buffer.truncate(self.head);
        self.searched = self.head;
    }
}

/// A line that is there, and is to be dropped.
fn oversize(line: &[u8]) -> Line<'_> {
    let end = line.len().min(END_BYTES);
    Line::Oversize { bytes: line.len() as u64, head: &line[..end], tail: &line[line.len() - end..] }
}

/// Appends to what is kept of an end.
fn keep_end(end: &mut Vec<u8>, more: &[u8]) {
    let more = &more[more.len() - more.len().min(END_BYTES)..];
    let excess = (end.len() + more.len()).saturating_sub(END_BYTES);
    end.drain(..excess);
    end.extend_from_slice(more);
}

/// Without a leading BOM and trailing CRs (field case W05).
fn trim(mut line: &[u8]) -> &[u8] {
    line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    while let [rest @ .., b'\r'] = line {
        line = rest;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A line, or the length and the end of one that was dropped.
    type Read = Result<Vec<u8>, (u64, Vec<u8>)>;

    /// All lines of `input`, cut into reads of the given sizes.
    fn split(input: &[u8], sizes: &[usize], max: usize) -> Vec<Read> {
        let mut splitter = LineSplitter::new(max);
        let mut lines = Vec::new();
        let mut rest = input;
        let mut sizes = sizes.iter().cycle();
        while !rest.is_empty() {
            let take = (*sizes.next().unwrap()).clamp(1, rest.len());
            splitter.read_buffer().extend_from_slice(&rest[..take]);
            rest = &rest[take..];
            while let Some(line) = splitter.next_line() {
                lines.push(match line {
                    Line::Complete(l) => Ok(l.to_vec()),
                    Line::Oversize { bytes, tail, .. } => Err((bytes, tail.to_vec())),
                });
            }
        }
        lines.extend(splitter.take_rest().map(|line| match line {
            Line::Complete(l) => Ok(l.to_vec()),
            Line::Oversize { bytes, tail, .. } => Err((bytes, tail.to_vec())),
        }));
        lines
    }

    #[test]
    fn only_0x0a_cuts_and_cr_and_bom_are_dropped() {
        let input = "\u{feff}{\"a\":1}\r\n\r\n{\"b\":\"x\u{2028}y\"}\nlast".as_bytes();
        let lines = split(input, &[3], 100);
        assert_eq!(
            lines,
            [Ok(b"{\"a\":1}".to_vec()), Ok("{\"b\":\"x\u{2028}y\"}".as_bytes().to_vec()), Ok(b"last".to_vec())]
        );
    }

    #[test]
    fn a_line_over_the_limit_is_dropped_in_bounded_memory_and_the_next_one_lives() {
        let mut splitter = LineSplitter::new(1000);
        for _ in 0..10_000 {
            splitter.read_buffer().extend_from_slice(&[b'x'; 4096]);
            assert!(splitter.next_line().is_none());
            assert!(splitter.buffer.capacity() <= 3 * READ_ROOM, "{}", splitter.buffer.capacity());
        }
        splitter.read_buffer().extend_from_slice(b"\nok\n");
        assert_eq!(
            splitter.next_line(),
            Some(Line::Oversize { bytes: 40_960_000, head: &[b'x'; END_BYTES], tail: &[b'x'; END_BYTES] })
        );
        assert_eq!(splitter.next_line(), Some(Line::Complete(b"ok")));
        assert_eq!(splitter.next_line(), None);
    }

    #[test]
    fn a_line_of_too_many_values_is_dropped() {
        let line = |values: usize| format!("{{\"a\":[{}1]}}", "1,".repeat(values - 3));
        for end in ["", "\n"] {
            let mut splitter = LineSplitter::new(usize::MAX);
            let mut read = |line: String| {
                splitter.read_buffer().extend_from_slice([line.as_str(), end].concat().as_bytes());
                let read = if end.is_empty() { splitter.take_rest() } else { splitter.next_line() };
                match read.unwrap() {
                    Line::Complete(read) => assert_eq!(read, line.as_bytes()),
                    Line::Oversize { bytes, head, tail } => {
                        assert_eq!(bytes, line.len() as u64);
                        assert!(line.as_bytes().starts_with(head) && line.as_bytes().ends_with(tail));
                        return false;
                    }
                }
                true
            };
            assert_eq!([MAX_LINE_VALUES, MAX_LINE_VALUES + 1, 3].map(|values| read(line(values))), [true, false, true]);
        }
    }

    #[test]
    fn a_long_line_is_searched_and_moved_a_linear_number_of_times() {
        let mut splitter = LineSplitter::new(usize::MAX);
        let mut moves = 0;
        let mut last = std::ptr::null();
        for _ in 0..5_000 {
            splitter.read_buffer().extend_from_slice(&[b'x'; 4096]);
            assert!(splitter.next_line().is_none());
            assert_eq!(splitter.searched, splitter.buffer.len());
            moves += usize::from(splitter.buffer.as_ptr() != last);
            last = splitter.buffer.as_ptr();
        }
        assert!(moves <= 12, "20 MiB grew in {moves} steps");
    }

    proptest! {
        #[test]
        fn any_cut_into_reads_gives_the_same_lines(
            input in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..400),
            sizes in proptest::collection::vec(1usize..50, 1..8),
            max in 1usize..60,
        ) {
            prop_assert_eq!(split(&input, &sizes, max), split(&input, &[input.len().max(1)], max));
        }
    }
}
