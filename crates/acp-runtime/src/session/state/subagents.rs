//! Child sessions that an agent exposes (rule C40): what their parent says of them, and a state of their own.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::SessionState;
use super::json::{Json, is_object, members, shown};
use super::limits::{Dropped, Limits};

/// Bytes kept of one value that a parent says of a child.
const MAX_FACT_BYTES: usize = 16 * 1024;

#[derive(Debug)]
struct Child {
    id: Box<str>,
    /// The child that announced it, where it was not the session itself.
    parent: Option<Box<str>>,
    facts: [Json; 6],
    touched: u64,
    state: SessionState,
}

/// Names of [`Child::facts`].
const FACTS: [&str; 6] = ["title", "description", "capabilities", "state", "cwd", "additionalDirectories"];
/// Where its activity stands in [`Child::facts`].
const STATE: usize = 3;

/// The child sessions of a session and of its children, in the order of their announcement.
#[derive(Debug, Default)]
pub(super) struct Subagents {
    list: Vec<Child>,
    bytes: usize,
    clock: u64,
    dropped: u64,
}

impl Subagents {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Feeds a child, which is made where it is not known. `None`: there is no place for it.
    pub(super) fn with<R>(
        &mut self,
        id: &str,
        limits: &Limits,
        replay: bool,
        feed: impl FnOnce(&mut SessionState) -> R,
    ) -> Option<R> {
        let at = self.select(id, None, limits)?;
        let child = &mut self.list[at];
        let before = child.weight();
        child.state.set_replaying(replay);
        let result = feed(&mut child.state);
        self.bytes = self.bytes - before + child.weight();
        self.shrink(at, limits);
        Some(result)
    }

    /// `subagent_update`, as far as it is one. Gives back whether something changed.
    pub(super) fn update(
        &mut self,
        parent: Option<&str>,
        raw: &RawValue,
        limits: &Limits,
        dropped: &mut Dropped,
    ) -> bool {
        let Some(Announced { id, .. }) = announced(raw) else { return false };
        let Some(at) = self.select(&id, parent, limits) else { return false };
        let child = &mut self.list[at];
        let before = child.weight();
        members(raw.get(), |key, value| {
            if let Some(index) = FACTS.iter().position(|name| *name == key) {
                dropped.values += u64::from(!child.facts[index].patch(value, MAX_FACT_BYTES));
            }
        });
        if is_idle(&child.facts[STATE]) {
            child.state.cancel_open_calls();
        }
        self.bytes = self.bytes - before + child.weight();
        self.shrink(at, limits);
        true
    }

    /// The agent is gone: no activity is confirmed, nothing runs.
    pub(super) fn end(&mut self) {
        for child in &mut self.list {
            self.bytes -= child.weight();
            child.facts[STATE].clear();
            child.state.cancel_open_calls();
            self.bytes += child.weight();
        }
    }

    /// Children, and contents of children, that were left out.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn select(&mut self, id: &str, parent: Option<&str>, limits: &Limits) -> Option<usize> {
        self.clock += 1;
        if let Some(at) = self.list.iter().position(|child| *child.id == *id) {
            self.list[at].touched = self.clock;
            return Some(at);
        }
        if limits.subagents == 0 {
            return None;
        }
        if self.list.len() >= limits.subagents {
            let oldest = self.oldest(None)?;
            self.bytes -= self.list.remove(oldest).weight();
            self.dropped += 1;
        }
        let child = Child {
            id: id.into(),
            parent: parent.map(Into::into),
            facts: Default::default(),
            touched: self.clock,
            state: SessionState::new(limits.of_child()),
        };
        self.bytes += child.weight();
        self.list.push(child);
        Some(self.list.len() - 1)
    }

    /// Empties the children touched longest ago until all of them fit; `at` was touched just now and fits alone.
    fn shrink(&mut self, at: usize, limits: &Limits) {
        while self.bytes > limits.children_bytes {
            let Some(oldest) = self.oldest(Some(at)) else { return };
            let child = &mut self.list[oldest];
            self.bytes -= child.weight();
            child.state.empty();
            child.touched = 0;
            self.bytes += child.weight();
            self.dropped += 1;
        }
    }

    fn oldest(&self, but: Option<usize>) -> Option<usize> {
        let others =
            self.list.iter().enumerate().filter(|(at, child)| Some(*at) != but && (but.is_none() || child.touched > 0));
        others.min_by_key(|(_, child)| child.touched).map(|(at, _)| at)
    }
}

impl Child {
    fn weight(&self) -> usize {
        let facts: usize = self.facts.iter().map(Json::len).sum();
        self.id.len() + self.parent.as_deref().map_or(0, str::len) + facts + self.state.bytes()
    }
}

/// What a `subagent_update` says, as far as it changes how a child may be spoken to.
#[derive(Debug, PartialEq, Eq)]
pub struct Announced {
    /// The child.
    pub id: String,
    /// Whether its work may be cancelled; `None`: nothing was said of it.
    pub cancel: Option<bool>,
    /// Whether it does nothing now.
    pub idle: bool,
}

/// The child that a `subagent_update` speaks of.
pub(in crate::session) fn announced(raw: &RawValue) -> Option<Announced> {
    let (mut id, mut cancel, mut idle) = (None, None, false);
    members(raw.get(), |key, value| match key {
        "sessionId" => id = super::json::string(value).map(|id| id.0.into_owned()),
        "capabilities" => {
            // An object means support, whatever is in it; anything else does not (rule C13).
            let mut marker = false;
            members(value.get(), |key, value| {
                if key == "cancel" {
                    marker = is_object(value.get());
                }
            });
            cancel = Some(marker);
        }
        "state" => idle = says_idle(value.get()),
        _ => {}
    });
    let id = id.filter(|id| !id.is_empty() && id.len() <= super::MAX_SESSION_ID_BYTES)?;
    Some(Announced { id, cancel, idle })
}

fn is_idle(state: &Json) -> bool {
    state.is_set() && says_idle(state.as_str())
}

fn says_idle(state: &str) -> bool {
    let mut idle = false;
    members(state, |key, value| idle |= key == "state" && value.get() == r#""idle""#);
    idle
}

impl Serialize for Child {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sessionId", &shown(&self.id))?;
        if let Some(parent) = &self.parent {
            map.serialize_entry("parentSessionId", &shown(parent))?;
        }
        for (name, value) in FACTS.iter().zip(&self.facts) {
            if value.is_set() {
                map.serialize_entry(name, value)?;
            }
        }
        map.serialize_entry("session", &self.state)?;
        map.end()
    }
}

impl Serialize for Subagents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.list)
    }
}

#[cfg(test)]
#[path = "subagents_tests.rs"]
mod tests;
