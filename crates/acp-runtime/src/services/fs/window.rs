//! The part of a file that a read returns: a window of lines under a ceiling of bytes.

use std::io::{self, Read};

/// Bytes read at a time when lines have to be counted.
const CHUNK: usize = 64 * 1024;

/// A window of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Lines to leave out at the start.
    pub skip: u64,
    /// Lines to return; `None` for all.
    pub take: Option<u64>,
}

impl Window {
    /// From the protocol's numbers: `line` counts from 1, fractions are cut off. A line of at most 1 and a limit of at
    /// most 0, numbers that are not finite, and absent ones do not restrict.
    pub fn new(line: Option<f64>, limit: Option<f64>) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked positive; saturates")]
        let whole = |number: f64| number.floor() as u64;
        let line = line.filter(|line| line.is_finite() && *line > 1.0);
        let limit = limit.filter(|limit| limit.is_finite() && *limit > 0.0);
        Self { skip: line.map_or(0, |line| whole(line) - 1), take: limit.map(whole) }
    }

    /// Whether the window is the whole file.
    pub fn is_whole(self) -> bool {
        self.skip == 0 && self.take.is_none()
    }
}

/// Cuts the window out of a text and bounds it to `max_bytes` UTF-8 bytes, at a character boundary.
///
/// Lines are what lies between line feeds; the one that ends the last line of a limited window is not part of it.
pub fn apply_read_window(content: &str, line: Option<f64>, limit: Option<f64>, max_bytes: usize) -> &str {
    let window = Window::new(line, limit);
    let bytes = content.as_bytes();
    let start = match window.skip {
        0 => Some(0),
        skip => nth_newline(bytes, skip).map(|at| at + 1),
    };
    // Offsets beside a line feed are character boundaries.
    let rest = start.map_or("", |start| &content[start..]);
    let end = match window.take {
        None => rest.len(),
        Some(0) => 0,
        Some(take) => nth_newline(rest.as_bytes(), take).unwrap_or(rest.len()),
    };
    cut(&rest[..end], max_bytes)
}

/// The longest beginning of the text within `max` bytes that ends at a character boundary.
pub(super) fn cut(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn nth_newline(bytes: &[u8], n: u64) -> Option<usize> {
    usize::try_from(n).ok().and_then(|n| memchr::memchr_iter(b'\n', bytes).nth(n.checked_sub(1)?))
}

/// What [`read_window`] found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The window's text.
    Text(String),
    /// The window's start was not reached within the scan ceiling.
    TooFar,
}

/// Reads the window from a stream, holding no more than the window and one chunk. Reading stops as soon as the window is
/// complete or full; at most `max_scan` bytes are passed over to find its start.
pub(super) fn read_window(
    reader: &mut impl Read,
    size_hint: u64,
    window: Window,
    max_bytes: usize,
    max_scan: u64,
) -> io::Result<Found> {
    let mut bytes = Vec::new();
    let full = if window.is_whole() {
        let room = size_hint.saturating_add(1).min(max_bytes as u64 + 1);
        bytes.try_reserve(usize::try_from(room).unwrap_or(max_bytes)).map_err(io::Error::other)?;
        reader.take(max_bytes as u64 + 1).read_to_end(&mut bytes)?;
        bytes.len() > max_bytes
    } else {
        match collect(reader, window, max_bytes, max_scan, &mut bytes)? {
            Some(full) => full,
            None => return Ok(Found::TooFar),
        }
    };
    if full {
        bytes.truncate(max_bytes);
        drop_split_character(&mut bytes);
    }
    let mut text =
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    // Replacement characters are longer than the bytes they stand for.
    let end = cut(&text, max_bytes).len();
    text.truncate(end);
    Ok(Found::Text(text))
}

/// Returns whether the ceiling was passed, or `None` when the start was not reached in time.
fn collect(
    reader: &mut impl Read,
    window: Window,
    max_bytes: usize,
    max_scan: u64,
    bytes: &mut Vec<u8>,
) -> io::Result<Option<bool>> {
    if window.take == Some(0) {
        return Ok(Some(false));
    }
    let (mut skip, mut take, mut scanned) = (window.skip, window.take, 0u64);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match reader.read(&mut chunk) {
            Ok(0) => return Ok(Some(false)),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &chunk[..read];
        if skip > 0 {
            let mut start = None;
            for at in memchr::memchr_iter(b'\n', rest) {
                skip -= 1;
                if skip == 0 {
                    start = Some(at + 1);
                    break;
                }
            }
            let Some(start) = start else {
                scanned += read as u64;
                if scanned >= max_scan {
                    return Ok(None);
                }
                continue;
            };
            rest = &rest[start..];
        }
        let mut complete = false;
        if let Some(take) = &mut take {
            for at in memchr::memchr_iter(b'\n', rest) {
                *take -= 1;
                if *take == 0 {
                    rest = &rest[..at];
                    complete = true;
                    break;
                }
            }
        }
        bytes.extend_from_slice(rest);
        if bytes.len() > max_bytes {
            return Ok(Some(true));
        }
        if complete {
            return Ok(Some(false));
        }
    }
}

/// Removes the beginning of a character that the cut left at the end.
fn drop_split_character(bytes: &mut Vec<u8>) {
    let tail = bytes.len().saturating_sub(3);
    if let Some(at) = bytes[tail..].iter().rposition(|b| *b >= 0xc0).map(|at| at + tail)
        && let Err(error) = std::str::from_utf8(&bytes[at..])
        && error.error_len().is_none()
    {
        bytes.truncate(at);
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
