//! The one place where the services clean text that came from the agent.

/// Removes control characters (keeping line feed and tab) and bounds the text to `max` UTF-16 code units.
pub(super) fn clean(text: &str, max: usize) -> String {
    let mut units = 0;
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .take_while(|c| {
            units += c.len_utf16();
            units <= max
        })
        .collect()
}
