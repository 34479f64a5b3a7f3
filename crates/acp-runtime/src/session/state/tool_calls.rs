//! Tool calls: announcements and updates merged by id (rules C35, C37, C44).
//!
//! Absent and `null` leave a field as it is, a value replaces it as a whole. A call that has ended stays ended, whatever
//! the agent says later; only how it ended may still be corrected.

use std::collections::HashMap;

use lru::LruCache;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::json::{Json, meta_parent, shown, string};
use super::limits::{Dropped, Limits};
use crate::wire::update::Update;

/// Longest id that is tracked, in bytes.
const MAX_ID_BYTES: usize = 4096;
/// Bytes that count for a call besides its content.
const OVERHEAD: usize = 256;
/// Where agents name the tool call that a message or another call belongs to.
pub(in crate::session) const PARENT_NAMES: &[&str] = &["parentToolUseId", "parentToolCallId"];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Status {
    #[default]
    Pending,
    InProgress,
    Completed,
    Failed,
    Cancelled,
    /// Nothing runs any more, and the agent never said how it ended.
    Abandoned,
}

impl Status {
    fn read(raw: Option<&RawValue>) -> Option<Self> {
        Some(match &*string(raw?)? {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" | "canceled" => Self::Cancelled,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled | Self::Abandoned => "cancelled",
        }
    }

    fn is_end(self) -> bool {
        !matches!(self, Self::Pending | Self::InProgress)
    }
}

#[derive(Clone, Debug, Default)]
struct Call {
    id: Box<str>,
    order: u64,
    epoch: u32,
    replay: bool,
    status: Status,
    /// Whether an update named it; a permission question alone does not make it one of the session's.
    announced: bool,
    incomplete: bool,
    parent: Option<Box<str>>,
    fields: [Json; 8],
}

/// Names of [`Call::fields`].
const FIELDS: [&str; 8] = ["title", "name", "kind", "content", "locations", "rawInput", "rawOutput", "_meta"];

impl Call {
    fn weight(&self) -> usize {
        OVERHEAD
            + 2 * self.id.len()
            + self.parent.as_deref().map_or(0, str::len)
            + self.fields.iter().map(Json::len).sum::<usize>()
    }

    fn merge(&mut self, update: &Update<'_>, limits: &Limits) {
        let values = [
            update.title,
            update.name,
            update.kind,
            update.content,
            update.locations,
            update.raw_input,
            update.raw_output,
            update.meta,
        ];
        for (slot, value) in self.fields.iter_mut().zip(values) {
            if let Some(value) = value {
                self.incomplete |= !slot.set(value, limits.tool_field_bytes);
            }
        }
        if let Some(parent) = meta_parent(update.meta, PARENT_NAMES).filter(|id| id.len() <= MAX_ID_BYTES) {
            self.parent = Some(parent.into());
        }
        if let Some(status) = Status::read(update.status)
            && (status.is_end() || !self.status.is_end())
        {
            self.status = status;
        }
    }
}

/// How a message speaks of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// `tool_call`
    Announced,
    /// `tool_call_update`
    Updated,
    /// In a permission question.
    Asked,
}

/// Where and when a message stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    /// The next place in the order of things.
    pub order: u64,
    /// The turn, also one that is replayed.
    pub epoch: u32,
    pub replay: bool,
}

/// The tool calls of a session.
#[derive(Clone, Debug)]
pub(super) struct ToolCalls {
    open: LruCache<u64, Call>,
    ended: LruCache<u64, Call>,
    /// Numbers of calls by id; an id that is used again means the newest.
    index: HashMap<Box<str>, u64>,
    next: u64,
    bytes: usize,
}

impl Default for ToolCalls {
    fn default() -> Self {
        // The bounds are kept here, over both.
        let (open, ended) = (LruCache::unbounded(), LruCache::unbounded());
        Self { open, ended, index: HashMap::new(), next: 0, bytes: 0 }
    }
}

impl ToolCalls {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.open.len() + self.ended.len()
    }

    /// Merges a message. Gives back whether it began a call that the session now has.
    pub(super) fn apply(
        &mut self,
        said: Said,
        update: &Update<'_>,
        at: At,
        limits: &Limits,
        dropped: &mut Dropped,
    ) -> bool {
        let Some(id) = update.tool_call_id.as_deref().filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES) else {
            return false;
        };
        let known = self.index.get(id).copied().filter(|number| {
            // Some agents count anew in each turn: an ended call that is announced again later is another one.
            let again = |call: &Call| said == Said::Announced && call.epoch != at.epoch;
            !self.ended.peek(number).is_some_and(again)
        });
        let number = known.unwrap_or(self.next);
        if known.is_none() {
            self.next += 1;
            self.index.insert(id.into(), number);
            let call = Call { id: id.into(), order: at.order, epoch: at.epoch, replay: at.replay, ..Call::default() };
            self.bytes += call.weight();
            self.open.put(number, call);
        }
        let Some(call) = self.open.get_mut(&number).or_else(|| self.ended.get_mut(&number)) else { return false };
        let (before, was_end) = (call.weight(), call.status.is_end());
        let begins = said != Said::Asked && !call.announced;
        if begins {
            call.announced = true;
            call.order = at.order;
        }
        call.merge(update, limits);
        self.bytes = self.bytes - before + call.weight();
        if call.status.is_end()
            && !was_end
            && let Some(call) = self.open.pop(&number)
        {
            self.ended.put(number, call);
        }
        self.evict(number, limits, dropped);
        begins
    }

    /// Nothing runs any more: what has not ended counts as cancelled. Gives back whether there was any.
    pub(super) fn cancel_open(&mut self) -> bool {
        let any = !self.open.is_empty();
        while let Some((number, mut call)) = self.open.pop_lru() {
            call.status = Status::Abandoned;
            self.ended.put(number, call);
        }
        any
    }

    /// Makes room; the call just touched stays.
    fn evict(&mut self, touched: u64, limits: &Limits, dropped: &mut Dropped) {
        while self.len() > limits.tool_calls || self.bytes > limits.tool_bytes {
            let oldest = |list: &LruCache<u64, Call>| list.peek_lru().map(|(number, _)| *number);
            let other = |number: &u64| *number != touched;
            let ended = oldest(&self.ended).filter(other);
            let Some(number) = ended.or_else(|| oldest(&self.open).filter(other)) else { return };
            let list = if ended.is_some() { &mut self.ended } else { &mut self.open };
            let Some(call) = list.pop(&number) else { return };
            self.bytes -= call.weight();
            if self.index.get(&call.id) == Some(&number) {
                self.index.remove(&call.id);
            }
            dropped.tool_calls += u64::from(call.announced);
        }
    }
}

impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("order", &self.order)?;
        map.serialize_entry("toolCallId", &shown(&self.id))?;
        map.serialize_entry("status", self.status.name())?;
        if self.status == Status::Abandoned {
            map.serialize_entry("cancelledLocally", &true)?;
        }
        if let Some(parent) = &self.parent {
            map.serialize_entry("parentToolCallId", &shown(parent))?;
        }
        for (name, value) in FIELDS.iter().zip(&self.fields) {
            if value.is_set() {
                map.serialize_entry(name, value)?;
            }
        }
        map.serialize_entry("incomplete", &self.incomplete)?;
        if self.replay {
            map.serialize_entry("replay", &true)?;
        }
        map.end()
    }
}

impl Serialize for ToolCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut calls: Vec<&Call> =
            self.open.iter().chain(&self.ended).map(|(_, call)| call).filter(|call| call.announced).collect();
        calls.sort_by_key(|call| call.order);
        serializer.collect_seq(calls)
    }
}

#[cfg(test)]
#[path = "tool_calls_tests.rs"]
mod tests;
