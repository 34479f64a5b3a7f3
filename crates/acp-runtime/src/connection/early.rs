//! Updates that arrive before the response that introduces their session (rule C31, field case S01).

/// The most that is kept, in bytes of lines.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Lines kept until their session is known.
#[derive(Debug, Default)]
pub struct EarlyUpdates {
    lines: Vec<(String, String)>,
    bytes: usize,
}

impl EarlyUpdates {
    /// Keeps a line for a session. `false`: there is no room, the line is lost.
    pub fn keep(&mut self, session_id: &str, line: &str) -> bool {
        if self.bytes + line.len() > MAX_BYTES {
            return false;
        }
        self.bytes += line.len();
        self.lines.push((session_id.to_owned(), line.to_owned()));
        true
    }

    /// Takes the lines of a session, in order.
    pub fn take(&mut self, session_id: &str) -> Vec<String> {
        if self.lines.is_empty() {
            return Vec::new();
        }
        let (taken, kept) =
            std::mem::take(&mut self.lines).into_iter().partition::<Vec<_>, _>(|(id, _)| id == session_id);
        self.lines = kept;
        let taken: Vec<_> = taken.into_iter().map(|(_, line)| line).collect();
        self.bytes -= taken.iter().map(String::len).sum::<usize>();
        taken
    }

    /// Nobody can claim what is left. Returns how many lines are lost.
    pub fn clear(&mut self) -> usize {
        let lost = self.lines.len();
        *self = Self::default();
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_back_in_order_per_session_and_the_rest_is_counted() {
        let mut early = EarlyUpdates::default();
        for (id, line) in [("a", "1"), ("b", "2"), ("a", "3")] {
            assert!(early.keep(id, line));
        }
        assert_eq!(early.take("a"), ["1", "3"]);
        assert_eq!(early.take("a"), Vec::<String>::new());
        assert_eq!(early.clear(), 1);
    }

    #[test]
    fn memory_is_bounded() {
        let mut early = EarlyUpdates::default();
        let line = "x".repeat(1024 * 1024);
        let kept = (0..10).filter(|_| early.keep("a", &line)).count();
        assert_eq!(kept, 4);
        early.take("a");
        assert!(early.keep("a", &line), "room is given back");
    }
}
