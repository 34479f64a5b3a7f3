//! Plans: the one without an id (`plan`), and those by id (`plan_update`, `plan_removed`), each replaced as a whole (rule C36).

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::json::{Json, members, shown, string};
use super::limits::{Dropped, Limits};

/// Longest plan id, in bytes; a plan with a longer one is left out.
const MAX_ID_BYTES: usize = 1024;

#[derive(Clone, Debug, Default)]
struct Plan {
    /// `None`: the plan of agents that have but one.
    id: Option<Box<str>>,
    kind: Json,
    entries: Json,
    content: Json,
    path: Json,
}

/// The plans of a session, the one changed last at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Plans(Vec<Plan>);

impl Plans {
    pub(super) fn bytes(&self) -> usize {
        let of = |plan: &Plan| plan.kind.len() + plan.entries.len() + plan.content.len() + plan.path.len();
        self.0.iter().map(of).sum()
    }

    /// `plan`. Gives back whether something changed.
    pub(super) fn replace(&mut self, entries: Option<&RawValue>, limits: &Limits, dropped: &mut Dropped) -> bool {
        let mut plan = Plan::default();
        if let Some(entries) = entries {
            let Some(left_out) = plan.entries.set_list(entries, limits) else { return false };
            dropped.values += left_out;
        }
        self.put(plan, limits, dropped);
        true
    }

    /// `plan_update`. Older schemas call the id `id`. Gives back whether something changed.
    pub(super) fn update(&mut self, plan: Option<&RawValue>, limits: &Limits, dropped: &mut Dropped) -> bool {
        let Some(raw) = plan else { return false };
        let mut plan = Plan::default();
        let (mut id, mut old_id, mut lost) = (None, None, 0);
        let is_object = members(raw.get(), |key, value| {
            let kept = match key {
                "planId" => return id = string(value),
                "id" => return old_id = string(value),
                "type" => plan.kind.patch(value, MAX_ID_BYTES),
                "content" => plan.content.patch(value, limits.list_bytes),
                "path" => plan.path.patch(value, limits.list_bytes),
                "entries" if value.get() == "null" => true,
                "entries" => plan.entries.set_list(value, limits).map(|left_out| lost += left_out).is_some(),
                _ => true,
            };
            lost += u64::from(!kept);
        });
        let Some(id) = id.or(old_id).filter(|id| is_object && id.len() <= MAX_ID_BYTES) else { return false };
        plan.id = Some((*id).into());
        dropped.values += lost;
        self.put(plan, limits, dropped);
        true
    }

    /// `plan_removed`; an unknown id is ignored. Gives back whether something changed.
    pub(super) fn remove(&mut self, id: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|plan| plan.id.as_deref() != Some(id));
        self.0.len() != before
    }

    fn put(&mut self, plan: Plan, limits: &Limits, dropped: &mut Dropped) {
        self.0.retain(|other| other.id != plan.id);
        self.0.push(plan);
        while self.0.len() > limits.plans.max(1) {
            self.0.remove(0);
            dropped.plans += 1;
        }
    }
}

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = &self.id {
            map.serialize_entry("planId", &shown(id))?;
        }
        if self.kind.is_set() {
            map.serialize_entry("type", &self.kind)?;
        } else {
            map.serialize_entry("type", "items")?;
        }
        if self.entries.is_set() {
            map.serialize_entry("entries", &self.entries)?;
        } else if !self.content.is_set() {
            map.serialize_entry("entries", &[(); 0])?;
        }
        for (name, value) in [("content", &self.content), ("path", &self.path)] {
            if value.is_set() {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

impl Serialize for Plans {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

#[cfg(test)]
#[path = "plans_tests.rs"]
mod tests;
