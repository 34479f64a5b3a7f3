//! The kept end of a terminal's output.

use std::collections::VecDeque;

/// Keeps the newest part of a byte stream as text, never more than its limit.
///
/// Bytes become text as they arrive (invalid UTF-8 is replaced, a character split between two reads is put together), so
/// the limit holds for the text that is returned. What is dropped is dropped from the start, at a character boundary
/// (rule C57). Every operation is linear in the bytes that arrive.
#[derive(Debug)]
pub struct OutputBuffer {
    /// Valid UTF-8, at most `limit` bytes between calls.
    text: VecDeque<u8>,
    /// The beginning of a character whose rest has not arrived; at most three bytes.
    partial: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl OutputBuffer {
    /// A buffer that keeps at most `limit` bytes. A limit of 0 keeps nothing.
    pub fn new(limit: usize) -> Self {
        Self { text: VecDeque::new(), partial: Vec::new(), limit, truncated: false }
    }

    /// The limit that applies when the agent asks for `wanted` bytes and the host allows `ceiling`.
    pub fn effective_limit(wanted: Option<u64>, ceiling: usize) -> usize {
        wanted.map_or(ceiling, |wanted| usize::try_from(wanted).map_or(ceiling, |wanted| wanted.min(ceiling)))
    }

    /// Takes in what arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.partial.is_empty() {
            self.decode(bytes);
        } else {
            let mut joined = std::mem::take(&mut self.partial);
            joined.extend_from_slice(bytes);
            self.decode(&joined);
        }
    }

    /// The stream ended: a character that is still incomplete never will be.
    pub fn finish(&mut self) {
        if !std::mem::take(&mut self.partial).is_empty() {
            self.append("\u{fffd}");
        }
    }

    /// The kept text.
    pub fn text(&self) -> String {
        let (front, back) = self.text.as_slices();
        let mut bytes = Vec::with_capacity(self.text.len());
        bytes.extend_from_slice(front);
        bytes.extend_from_slice(back);
        // Only whole characters went in and only whole characters were dropped.
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }

    /// Whether anything was dropped.
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    fn decode(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (valid, rest) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, None),
                Err(error) => {
                    let (valid, rest) = bytes.split_at(error.valid_up_to());
                    (std::str::from_utf8(valid).unwrap_or_default(), Some((error.error_len(), rest)))
                }
            };
            self.append(valid);
            match rest {
                None => return,
                Some((Some(invalid), rest)) => {
                    self.append("\u{fffd}");
                    bytes = &rest[invalid..];
                }
                Some((None, rest)) => {
                    self.partial = rest.to_vec();
                    return;
                }
            }
        }
    }

    fn append(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let overflow = (self.text.len() + bytes.len()).saturating_sub(self.limit);
        if overflow == 0 {
            self.text.extend(bytes);
            return;
        }
        self.truncated = true;
        if overflow >= self.text.len() {
            // Everything kept goes, and perhaps the beginning of the new text.
            let mut start = overflow - self.text.len();
            while !text.is_char_boundary(start) {
                start += 1;
            }
            self.text.clear();
            self.text.extend(&bytes[start..]);
            return;
        }
        self.text.drain(..overflow);
        while self.text.front().is_some_and(|byte| byte & 0xc0 == 0x80) {
            self.text.pop_front();
        }
        self.text.extend(bytes);
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
