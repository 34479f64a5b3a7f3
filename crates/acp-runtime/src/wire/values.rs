//! How many JSON values a line holds: a value of two bytes takes many times as much memory, and time, once it is read.

use crate::text::jsonstr::string_end;

/// Whether a line holds more than `max` JSON values, by the brackets and commas outside of its strings. An empty list or object
/// counts as two. Linear in the length; the line may be anything.
pub fn exceed(line: &[u8], max: usize) -> bool {
    // Each value but the first has one such byte.
    if line.len() <= max {
        return false;
    }
    let (mut values, mut at) = (1, 0);
    while at < line.len() {
        let quote = memchr::memchr(b'"', &line[at..]).map_or(line.len(), |found| at + found);
        values += line[at..quote].iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if values > max {
            return true;
        }
        at = if quote < line.len() { string_end(line, quote) } else { quote };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_commas_outside_of_strings_count() {
        for (line, values) in [
            ("[1,2,3]", 4),
            (r#"{"a":1,"b":[]}"#, 4),
            (r#"{"a,[{\"":"[[[[,,,,\\"}"#, 2),
            ("[[[[", 5),
            (r#""never ended [[["#, 1),
            (r#"x"\"#, 1),
            ("[\"\u{1f680}\",[]]", 4),
        ] {
            let pad = " ".repeat(100);
            let line = format!("{line}{pad}");
            assert!(exceed(line.as_bytes(), values - 1) && !exceed(line.as_bytes(), values), "{line}");
        }
    }
}
