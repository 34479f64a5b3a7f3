//! The text of one turn, bounded.

use crate::text::utf16::utf16_len;

/// The most text that is kept of a turn, in UTF-16 code units; the bound of Fusion's plugin.
pub const DEFAULT_TURN_TEXT_UNITS: usize = 5_000_000;

/// Message text of a turn. Text beyond the bound is dropped and told.
#[derive(Debug)]
pub struct TurnText {
    text: String,
    units: usize,
    limit: usize,
    truncated: bool,
}

impl TurnText {
    /// Empty text that keeps at most `limit` UTF-16 code units.
    pub fn new(limit: usize) -> Self {
        Self { text: String::new(), units: 0, limit, truncated: false }
    }

    /// Appends; a piece that does not fit is cut at a character.
    pub fn push(&mut self, piece: &str) {
        self.push_units(piece, utf16_len(piece));
    }

    /// Appends a piece whose length in UTF-16 code units is known.
    pub fn push_units(&mut self, piece: &str, units: usize) {
        if self.units + units <= self.limit {
            self.units += units;
            self.text.push_str(piece);
            return;
        }
        self.truncated = true;
        for c in piece.chars() {
            if self.units + c.len_utf16() > self.limit {
                // Nothing may follow a cut.
                self.units = self.limit;
                return;
            }
            self.units += c.len_utf16();
            self.text.push(c);
        }
    }

    /// Something that belongs here was dropped elsewhere.
    pub fn mark_truncated(&mut self) {
        self.truncated = true;
    }

    /// What was kept.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether something was dropped.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// What was kept.
    pub fn into_string(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_counts_utf16_and_cuts_at_a_character_once() {
        let mut text = TurnText::new(5);
        text.push("ab");
        text.push("🚀🚀");
        text.push("c");
        assert_eq!((text.as_str(), text.truncated()), ("ab🚀", true));
    }

    #[test]
    fn text_within_the_bound_is_kept_whole() {
        let mut text = TurnText::new(4);
        text.push("é🚀");
        text.push("x");
        assert_eq!((text.as_str(), text.truncated()), ("é🚀x", false));
    }
}
