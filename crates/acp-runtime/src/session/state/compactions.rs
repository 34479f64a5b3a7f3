//! Context compactions by id (rule C39): first sight fixes the place; absent keeps, `null` clears, a value replaces;
//! chunks append to the summary.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::json::{Json, members, shown, string};
use super::limits::{Dropped, Limits};
use crate::wire::Text;

/// Longest id, in bytes; a compaction with a longer one is left out.
const MAX_ID_BYTES: usize = 1024;

#[derive(Clone, Debug)]
struct Compaction {
    id: Box<str>,
    order: u64,
    /// `None`: in progress, as far as is known.
    status: Json,
    error: Json,
    summary: Vec<Json>,
    bytes: usize,
}

/// The compactions of a session, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Compactions(Vec<Compaction>);

impl Compactions {
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|one| one.bytes + one.status.len() + one.error.len()).sum()
    }

    /// `compaction_update`. `None`: nothing changed; otherwise whether it began a compaction.
    pub(super) fn update(
        &mut self,
        raw: &RawValue,
        order: u64,
        limits: &Limits,
        dropped: &mut Dropped,
    ) -> Option<bool> {
        let (mut id, mut status, mut error, mut summary) = (None, None, None, None);
        members(raw.get(), |key, value| match key {
            "compactionId" => id = string(value),
            "status" => status = Some(value),
            "error" => error = Some(value),
            "summary" => summary = Some(value),
            _ => {}
        });
        let (at, new) = self.select(id?, order, limits, dropped)?;
        let one = &mut self.0[at];
        if let Some(status) = status.filter(|raw| string(raw).is_some()) {
            dropped.values += u64::from(!one.status.set(status, MAX_ID_BYTES));
        }
        if let Some(error) = error {
            dropped.values += u64::from(!one.error.patch(error, limits.list_bytes));
        }
        if let Some(summary) = summary {
            one.summary.clear();
            one.bytes = 0;
            for block in serde_json::from_str::<Vec<&RawValue>>(summary.get()).unwrap_or_default() {
                one.append(block, limits, dropped);
            }
        }
        Some(new)
    }

    /// `compaction_summary_chunk`. `None`: nothing changed; otherwise whether it began a compaction.
    pub(super) fn chunk(&mut self, raw: &RawValue, order: u64, limits: &Limits, dropped: &mut Dropped) -> Option<bool> {
        let (mut id, mut content) = (None, None);
        members(raw.get(), |key, value| match key {
            "compactionId" => id = string(value),
            "content" => content = Some(value),
            _ => {}
        });
        let (at, new) = self.select(id?, order, limits, dropped)?;
        if let Some(block) = content {
            self.0[at].append(block, limits, dropped);
        }
        Some(new)
    }

    fn select(&mut self, id: Text<'_>, order: u64, limits: &Limits, dropped: &mut Dropped) -> Option<(usize, bool)> {
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            return None;
        }
        if let Some(at) = self.0.iter().position(|one| *one.id == *id) {
            return Some((at, false));
        }
        while self.0.len() >= limits.compactions.max(1) {
            self.0.remove(0);
            dropped.compactions += 1;
        }
        let (status, error) = Default::default();
        self.0.push(Compaction { id: (*id).into(), order, status, error, summary: Vec::new(), bytes: 0 });
        Some((self.0.len() - 1, true))
    }
}

impl Compaction {
    fn append(&mut self, block: &RawValue, limits: &Limits, dropped: &mut Dropped) {
        let mut json = Json::default();
        if self.summary.len() >= limits.list_items || !json.set(block, limits.list_bytes.saturating_sub(self.bytes)) {
            dropped.values += 1;
            return;
        }
        self.bytes += json.len();
        self.summary.push(json);
    }
}

impl Serialize for Compaction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("order", &self.order)?;
        map.serialize_entry("compactionId", &shown(&self.id))?;
        if self.status.is_set() {
            map.serialize_entry("status", &self.status)?;
        } else {
            map.serialize_entry("status", "in_progress")?;
        }
        if self.error.is_set() {
            map.serialize_entry("error", &self.error)?;
        }
        map.serialize_entry("summary", &self.summary)?;
        map.end()
    }
}

impl Serialize for Compactions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

#[cfg(test)]
#[path = "compactions_tests.rs"]
mod tests;
