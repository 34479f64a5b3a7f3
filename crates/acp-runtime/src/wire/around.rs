//! What stands around a value in lines that repeat: an agent sends the same line again and again with another value in it.
//!
//! The surroundings of a value in a line that was parsed are remembered. A line that begins and ends with the very same
//! bytes means the same but for what stands between. Nothing is assumed of how the agent writes its JSON, so nothing can be
//! misread, as long as what stands between is proved to be one value of the same kind: that is up to the reader.

use std::borrow::Cow;
use std::ops::Range;

use super::text::Text;

/// Surroundings remembered at once: streams and sessions take turns.
const KEPT: usize = 4;
/// Longer surroundings are not worth remembering, in bytes.
const MAX_AROUND: usize = 4 * 1024;

/// The surroundings seen last, each with what they say. The one used last comes first.
#[derive(Debug)]
pub(super) struct Recent<F>(Vec<Around<F>>);

impl<F> Default for Recent<F> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[derive(Debug)]
pub(super) struct Around<F> {
    before: String,
    after: String,
    facts: F,
}

/// Where in a line something stands.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Before the value: counted from the start of the line.
    Before(Range<usize>),
    /// After the value: counted from its end.
    After(Range<usize>),
}

/// A line taken apart.
pub(super) struct Parts<'a> {
    line: &'a str,
    value: Range<usize>,
}

impl<F> Recent<F> {
    /// Reads a line by the first surroundings that fit and that `read` agrees with.
    pub fn read<'a, T>(&mut self, line: &'a str, read: impl Fn(&F, Parts<'a>) -> Option<T>) -> Option<T> {
        for at in 0..self.0.len() {
            let around = &self.0[at];
            if let Some(found) = around.split(line).and_then(|parts| read(&around.facts, parts)) {
                self.0[..=at].rotate_right(1);
                return Some(found);
            }
        }
        None
    }

    /// Remembers the surroundings of `value` in `line`.
    pub fn learn(&mut self, line: &str, value: &Range<usize>, facts: F) {
        if let (Some(before), Some(after)) = (line.get(..value.start), line.get(value.end..))
            && before.len() + after.len() <= MAX_AROUND
        {
            self.0.truncate(KEPT - 1);
            self.0.insert(0, Around { before: before.to_owned(), after: after.to_owned(), facts });
        }
    }

    /// How many are remembered.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<F> Around<F> {
    fn split<'a>(&self, line: &'a str) -> Option<Parts<'a>> {
        let end = line.len().checked_sub(self.after.len())?;
        let bytes = line.as_bytes();
        // The end first: the start is more often shared with other kinds of updates.
        let same = self.before.len() <= end
            && bytes[end..] == *self.after.as_bytes()
            && bytes[..self.before.len()] == *self.before.as_bytes();
        // Both cuts are between whole characters: the same bytes stood around a value before.
        same.then_some(Parts { line, value: self.before.len()..end })
    }
}

impl<'a> Parts<'a> {
    /// The value; `None` when it ends inside a character.
    pub fn value(&self) -> Option<&'a str> {
        self.line.get(self.value.clone())
    }

    /// The value with the byte before and after it.
    pub fn quoted(&self) -> Option<&'a str> {
        self.line.get(self.value.start.checked_sub(1)?..=self.value.end)
    }

    /// What stands at a place.
    pub fn at(&self, place: &Place) -> Option<Text<'a>> {
        let range = match place {
            Place::Before(range) => range.clone(),
            Place::After(range) => range.start + self.value.end..range.end + self.value.end,
        };
        self.line.get(range).map(|value| Text(Cow::Borrowed(value)))
    }
}

/// Where in `line` a text was borrowed from, told by its distance to the value at `value`; `None` for one that was unescaped.
pub(super) fn place(line: &str, value: &Range<usize>, text: &Text<'_>) -> Option<Place> {
    let Cow::Borrowed(text) = text.0 else { return None };
    let range = range_in(line, text)?;
    let after = range.start.checked_sub(value.end).map(|start| Place::After(start..range.end - value.end));
    Some(after.unwrap_or(Place::Before(range)))
}

/// Where in `line` a part of it stands.
pub(super) fn range_in(line: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
    let end = start + part.len();
    (end <= line.len()).then_some(start..end)
}
