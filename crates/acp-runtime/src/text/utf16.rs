//! Lengths in UTF-16 code units, the unit in which hosts written in JavaScript count text.

/// Bytes counted per step. Twice this must fit in a `u8`, so that the inner loop needs no wider lanes.
const BLOCK: usize = 64;

/// UTF-16 units of the characters that start in `bytes`, a part of valid UTF-8.
fn units_of(bytes: &[u8]) -> usize {
    let mut total = 0;
    for block in bytes.chunks(BLOCK) {
        let mut units = 0u8;
        for &byte in block {
            // Every byte but a continuation starts a character; four-byte characters take two units.
            units += u8::from(byte & 0xc0 != 0x80) + u8::from(byte >= 0xf0);
        }
        total += usize::from(units);
    }
    total
}

/// The length of `text` in UTF-16 code units.
pub fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { units_of(text.as_bytes()) }
}

/// The longest part from the start of `text` that has at most `max` UTF-16 units and ends between characters: its
/// length in bytes and in units.
pub fn utf16_prefix(text: &str, max: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    if bytes.len() <= max {
        return (bytes.len(), utf16_len(text));
    }
    let (mut at, mut units) = (0, 0);
    while let Some(block) = bytes.get(at..at + BLOCK) {
        let more = units_of(block);
        if units + more > max {
            break;
        }
        at += BLOCK;
        units += more;
    }
    // A character that started in the last whole block is counted already.
    while !text.is_char_boundary(at) {
        at += 1;
    }
    for character in text[at..].chars() {
        if units + character.len_utf16() > max {
            break;
        }
        at += character.len_utf8();
        units += character.len_utf16();
    }
    (at, units)
}

/// `String.prototype.trim`: unlike [`str::trim`] it removes U+FEFF and keeps U+0085.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c == '\u{feff}' || (c != '\u{85}' && c.is_whitespace()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn trimming_follows_javascript() {
        assert_eq!(trim("\u{feff}\u{a0}\u{2028} a b\t\r\n"), "a b");
        assert_eq!(trim("\u{85}a"), "\u{85}a");
        assert_eq!(trim(" \n"), "");
    }

    proptest! {
        #[test]
        fn lengths_and_prefixes_agree_with_the_standard_library(text in "\\PC{0,200}|[aé中🚀]{0,300}", max in 0usize..320) {
            let units: Vec<u16> = text.encode_utf16().collect();
            prop_assert_eq!(utf16_len(&text), units.len());
            let (bytes, count) = utf16_prefix(&text, max);
            prop_assert_eq!(text[..bytes].encode_utf16().count(), count);
            prop_assert!(count <= max);
            if bytes < text.len() {
                // Only a pair that does not fit leaves a unit unused.
                let next = text[bytes..].chars().next().unwrap();
                prop_assert!(count + next.len_utf16() > max);
            }
        }
    }
}
