//! The tool calls of a turn, least recently used first out.

use lru::LruCache;

use super::NO_NAME;

/// Tool calls remembered per turn. Beyond it the call that was not touched longest is forgotten.
pub const TOOL_CALL_MAP_CAP: usize = 1000;

/// Titles remembered per turn, in bytes. Beyond it calls are forgotten as if there were too many.
pub const TOOL_TITLES_MAX_BYTES: usize = 8 * 1024 * 1024;

/// What is known of a call.
#[derive(Debug, Default)]
pub(super) struct Call {
    /// Sanitised, bounded and trimmed; empty for none.
    pub title: Box<str>,
    /// The label of its kind.
    pub kind: Option<&'static str>,
    /// The place of its start among all starts, once reported.
    pub started: Option<u64>,
    /// Whether its end was reported.
    pub ended: bool,
}

impl Call {
    pub fn name(&self) -> &str {
        if self.title.is_empty() { self.kind.unwrap_or(NO_NAME) } else { &self.title }
    }
}

#[derive(Debug)]
pub(super) struct CallTable {
    /// Bounded here and not by its own capacity, which it would allocate at once.
    calls: LruCache<Box<str>, Call>,
    titles: usize,
    order: u64,
}

impl Default for CallTable {
    fn default() -> Self {
        Self { calls: LruCache::unbounded(), titles: 0, order: 0 }
    }
}

impl CallTable {
    /// Changes the call with this id, which becomes the most recently used. `change` also gets the counter of starts.
    pub fn update(&mut self, id: &str, change: impl FnOnce(&mut Call, &mut u64)) {
        if !self.calls.contains(id) {
            while self.calls.len() >= TOOL_CALL_MAP_CAP {
                self.forget_oldest();
            }
            self.calls.push(id.into(), Call::default());
        }
        let Some(call) = self.calls.get_mut(id) else { return };
        let before = call.title.len();
        change(call, &mut self.order);
        self.titles = self.titles - before + call.title.len();
        while self.titles > TOOL_TITLES_MAX_BYTES {
            self.forget_oldest();
        }
    }

    /// Marks every open call as ended, in the order of their starts.
    pub fn close_open(&mut self, mut end: impl FnMut(&Call)) {
        let mut open: Vec<&mut Call> =
            self.calls.iter_mut().map(|(_, call)| call).filter(|call| call.started.is_some() && !call.ended).collect();
        open.sort_unstable_by_key(|call| call.started);
        for call in open {
            call.ended = true;
            end(call);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, call)) = self.calls.pop_lru() {
            self.titles -= call.title.len();
        }
    }
}
