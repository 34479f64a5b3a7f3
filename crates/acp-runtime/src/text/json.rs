//! Finds the JSON values that an agent wrote between prose.
//!
//! The rules, and what callers may rely on: `docs/decisions/json-recovery.md`. In short: every complete object that is
//! not inside another value, and every array that has its lines to itself; nothing is repaired; nothing from inside a
//! value that is cut off or malformed is ever reported. One pass: every byte is validated at most twice.

use memchr::memchr2;

/// Deepest nesting of a reported value. `serde_json` refuses deeper ones, so that callers could not read them.
pub const MAX_DEPTH: usize = 127;

/// Every complete top-level object or array in `text`, in order, as it was written. Each is valid JSON (RFC 8259).
pub fn extract_json_objects(text: &str) -> Vec<&str> {
    let mut scanner = Scanner::new(text);
    scanner.run();
    scanner.found
}

/// The last of [`extract_json_objects`]: what a caller that asked for one value takes.
pub fn last_json_object(text: &str) -> Option<&str> {
    extract_json_objects(text).pop()
}

/// How validating from an opening bracket ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// A complete value; the position behind it and its nesting.
    Complete { end: usize, depth: usize },
    /// The text ended inside a value that was valid so far.
    CutOff,
    /// The byte at `at` cannot be there; `open` brackets were open, `depth` is the most there were.
    Malformed { at: usize, open: usize, depth: usize },
}

/// What the grammar allows next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// Why a token ended early.
enum Stop {
    EndOfText,
    At(usize),
}

struct Scanner<'t> {
    text: &'t str,
    bytes: &'t [u8],
    found: Vec<&'t str>,
    /// Brackets open in the value being validated; `true` is an object.
    stack: Vec<bool>,
    /// Brackets still open of text that looked like JSON and was not. 0: none.
    wreck: usize,
    /// No array is looked for before this position: it was validated already.
    arrays_from: usize,
    /// Bytes looked at, for the test that the work is linear.
    steps: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        Self { text, bytes, found: Vec::new(), stack: Vec::new(), wreck: 0, arrays_from: 0, steps: 0 }
    }

    fn run(&mut self) {
        let mut at = 0;
        while let Some(bracket) = self.next_bracket(at) {
            let Some(next) = self.bracket(bracket) else { return };
            at = next;
        }
    }

    /// The next opening bracket that may begin a value. Keeps count of the wreck on the way.
    fn next_bracket(&mut self, mut at: usize) -> Option<usize> {
        while self.wreck > 0 {
            let byte = *self.bytes.get(at)?;
            self.steps += 1;
            match byte {
                b'{' | b'[' if self.starts_anew(at) => return Some(at),
                b'{' | b'[' => self.wreck += 1,
                b'}' | b']' => self.wreck -= 1,
                b'"' => {
                    at = self.skip_quoted(at + 1);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        let offset = memchr2(b'{', b'[', self.bytes.get(at..)?);
        self.steps += offset.unwrap_or(self.bytes.len() - at);
        Some(at + offset?)
    }

    /// Looks at an opening bracket: where to go on, or `None` when nothing can follow.
    fn bracket(&mut self, at: usize) -> Option<usize> {
        let array = self.bytes[at] == b'[';
        if array && (at < self.arrays_from || !self.first_on_line(at)) {
            return Some(self.prose_bracket(at));
        }
        match self.validate(at) {
            // A reference, a link, a time: prose, and objects further on its line count.
            Outcome::Complete { end, .. } if array && !self.last_on_line(end) => {
                self.arrays_from = end;
                Some(self.prose_bracket(at))
            }
            Outcome::Malformed { at: bad, depth: 1, .. } if array => {
                self.arrays_from = bad;
                Some(self.prose_bracket(at))
            }
            Outcome::Complete { end, depth } => {
                if depth <= MAX_DEPTH {
                    self.found.push(&self.text[at..end]);
                }
                Some(end)
            }
            // Everything up to the end of the text is inside it.
            Outcome::CutOff => None,
            Outcome::Malformed { at: bad, open, .. } => {
                self.wreck += open;
                Some(bad)
            }
        }
    }

    /// Steps into a bracket that is no value; inside a wreck it is one more to close.
    fn prose_bracket(&mut self, at: usize) -> usize {
        self.wreck += usize::from(self.wreck > 0);
        at + 1
    }

    /// Whether a bracket inside a wreck begins a value of its own: it is first on its line, and what precedes it is not
    /// what precedes a member or an element.
    fn starts_anew(&mut self, at: usize) -> bool {
        if !self.first_on_line(at) {
            return false;
        }
        let before = self.bytes[..at].trim_ascii_end();
        self.steps += at - before.len();
        match before.last() {
            Some(b'{' | b'[' | b',') => false,
            Some(b':') => {
                let key = before[..before.len() - 1].trim_ascii_end();
                self.steps += before.len() - key.len();
                !matches!(key.last(), Some(b'"' | b'\''))
            }
            _ => true,
        }
    }

    fn first_on_line(&mut self, at: usize) -> bool {
        let before = &self.bytes[..at];
        let blanks = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        self.steps += blanks;
        matches!(before.get(..at - blanks).and_then(<[u8]>::last), None | Some(b'\n'))
    }

    fn last_on_line(&mut self, end: usize) -> bool {
        let after = &self.bytes[end..];
        let blanks = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        self.steps += blanks;
        matches!(after.get(blanks), None | Some(b'\n'))
    }

    /// In a wreck: from behind a quote to behind the closing one, or to the end of the line.
    fn skip_quoted(&mut self, mut at: usize) -> usize {
        while let Some(&byte) = self.bytes.get(at) {
            self.steps += 1;
            at += 1;
            match byte {
                b'"' | b'\n' => break,
                b'\\' if self.bytes.get(at).is_some_and(|&next| next != b'\n') => at += 1,
                _ => {}
            }
        }
        at
    }

    /// Validates the value whose opening bracket is at `start`.
    fn validate(&mut self, start: usize) -> Outcome {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        let (outcome, end) = grammar(self.bytes, start, &mut stack);
        self.steps += end - start;
        self.stack = stack;
        outcome
    }
}

/// The grammar of RFC 8259 without recursion. Also says where it stopped looking.
fn grammar(bytes: &[u8], start: usize, stack: &mut Vec<bool>) -> (Outcome, usize) {
    let (mut at, mut depth) = (start, 0);
    let mut expect = Expect::Value;
    loop {
        at += bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        let Some(&byte) = bytes.get(at) else { return (Outcome::CutOff, at) };
        let token = match (expect, byte) {
            (Expect::Value | Expect::ValueOrEnd, b'{' | b'[') => {
                let object = byte == b'{';
                stack.push(object);
                depth = depth.max(stack.len());
                expect = if object { Expect::KeyOrEnd } else { Expect::ValueOrEnd };
                at += 1;
                continue;
            }
            (Expect::KeyOrEnd, b'}') | (Expect::ValueOrEnd, b']') => Ok(None),
            (Expect::CommaOrEnd, b'}' | b']') if stack.last() == Some(&(byte == b'}')) => Ok(None),
            (Expect::CommaOrEnd, b',') => {
                expect = if stack.last() == Some(&true) { Expect::Key } else { Expect::Value };
                at += 1;
                continue;
            }
            (Expect::Colon, b':') => {
                expect = Expect::Value;
                at += 1;
                continue;
            }
            (Expect::Key | Expect::KeyOrEnd, b'"') => string(bytes, at + 1).map(|end| Some((end, Expect::Colon))),
            (Expect::Value | Expect::ValueOrEnd, _) => {
                scalar(bytes, at, byte).map(|end| Some((end, Expect::CommaOrEnd)))
            }
            _ => Err(Stop::At(at)),
        };
        match token {
            Ok(Some((end, next))) => (at, expect) = (end, next),
            Ok(None) => {
                stack.pop();
                at += 1;
                if stack.is_empty() {
                    return (Outcome::Complete { end: at, depth }, at);
                }
                expect = Expect::CommaOrEnd;
            }
            Err(Stop::EndOfText) => return (Outcome::CutOff, bytes.len()),
            Err(Stop::At(bad)) => return (Outcome::Malformed { at: bad, open: stack.len(), depth }, bad),
        }
    }
}

fn scalar(bytes: &[u8], at: usize, first: u8) -> Result<usize, Stop> {
    match first {
        b'"' => string(bytes, at + 1),
        b'-' | b'0'..=b'9' => number(bytes, at),
        b't' => literal(bytes, at, b"true"),
        b'f' => literal(bytes, at, b"false"),
        b'n' => literal(bytes, at, b"null"),
        _ => Err(Stop::At(at)),
    }
}

/// From behind the opening quote to behind the closing one.
fn string(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < 0x20).ok_or(Stop::EndOfText)?;
        match bytes[at] {
            b'"' => return Ok(at + 1),
            b'\\' => at = escape(bytes, at)?,
            _ => return Err(Stop::At(at)),
        }
    }
}

fn escape(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    match bytes.get(at + 1).ok_or(Stop::EndOfText)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Ok(at + 2),
        b'u' => {
            for digit in at + 2..at + 6 {
                if !bytes.get(digit).ok_or(Stop::EndOfText)?.is_ascii_hexdigit() {
                    return Err(Stop::At(digit));
                }
            }
            Ok(at + 6)
        }
        _ => Err(Stop::At(at + 1)),
    }
}

fn literal(bytes: &[u8], at: usize, word: &[u8]) -> Result<usize, Stop> {
    for (offset, expected) in word.iter().enumerate() {
        match bytes.get(at + offset) {
            None => return Err(Stop::EndOfText),
            Some(byte) if byte != expected => return Err(Stop::At(at + offset)),
            Some(_) => {}
        }
    }
    Ok(at + word.len())
}

fn number(bytes: &[u8], mut at: usize) -> Result<usize, Stop> {
    at += usize::from(bytes[at] == b'-');
    match bytes.get(at) {
        Some(b'0') => at += 1,
        _ => at = digits(bytes, at)?,
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
        at = digits(bytes, at)?;
    }
    Ok(at)
}

/// At least one digit.
fn digits(bytes: &[u8], at: usize) -> Result<usize, Stop> {
    let count = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count();
    match (count, bytes.get(at)) {
        (0, None) => Err(Stop::EndOfText),
        (0, Some(_)) => Err(Stop::At(at)),
        _ => Ok(at + count),
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
