//! What a session offers and is called: commands, modes, configuration options, suggestions, title. Each update replaces
//! the whole of what it speaks of (rule C61), except that the title and the time keep what an update leaves out.

use serde::ser::SerializeMap;
use serde_json::value::RawValue;

use super::json::{Json, members, string};
use super::limits::{Dropped, Limits};

/// Longest mode id, in bytes.
const MAX_MODE_BYTES: usize = 1024;

/// The settings of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    commands: Json,
    available_modes: Json,
    current_mode: Json,
    config_options: Json,
    suggestions: Json,
    title: Json,
    updated_at: Json,
}

impl Settings {
    pub(super) fn bytes(&self) -> usize {
        self.all().iter().map(|json| json.len()).sum()
    }

    fn all(&self) -> [&Json; 7] {
        [
            &self.commands,
            &self.available_modes,
            &self.current_mode,
            &self.config_options,
            &self.suggestions,
            &self.title,
            &self.updated_at,
        ]
    }

    /// An update, or the result of a call that answers with settings. Gives back whether something changed.
    pub(super) fn apply(&mut self, raw: &RawValue, limits: &Limits, dropped: &mut Dropped) -> bool {
        let mut changed = false;
        members(raw.get(), |key, value| {
            let list = match key {
                "availableCommands" => &mut self.commands,
                "configOptions" => &mut self.config_options,
                "suggestions" => &mut self.suggestions,
                "modes" => {
                    members(value.get(), |key, value| match key {
                        "availableModes" => {
                            changed |= set_list(&mut self.available_modes, value, limits, dropped);
                        }
                        "currentModeId" => changed |= set_mode(&mut self.current_mode, value),
                        _ => {}
                    });
                    return;
                }
                "currentModeId" => return changed |= set_mode(&mut self.current_mode, value),
                "title" | "updatedAt" => {
                    let slot = if key == "title" { &mut self.title } else { &mut self.updated_at };
                    if value.get() == "null" || string(value).is_some() {
                        let kept = slot.patch(value, limits.list_bytes);
                        dropped.values += u64::from(!kept);
                        changed |= kept;
                    }
                    return;
                }
                _ => return,
            };
            changed |= set_list(list, value, limits, dropped);
        });
        changed
    }

    /// Gives back whether something changed.
    pub(super) fn set_mode(&mut self, mode_id: &RawValue) -> bool {
        set_mode(&mut self.current_mode, mode_id)
    }

    pub(super) fn serialize<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let names = [
            "availableCommands",
            "availableModes",
            "currentModeId",
            "configOptions",
            "promptSuggestions",
            "title",
            "updatedAt",
        ];
        for (name, value) in names.into_iter().zip(self.all()) {
            if value.is_set() {
                map.serialize_entry(name, value)?;
            }
        }
        Ok(())
    }
}

fn set_list(slot: &mut Json, raw: &RawValue, limits: &Limits, dropped: &mut Dropped) -> bool {
    // `null` for a list is a habit of some libraries and means an empty one.
    let raw = if raw.get() == "null" { empty() } else { raw };
    slot.set_list(raw, limits).map(|left_out| dropped.values += left_out).is_some()
}

fn set_mode(slot: &mut Json, raw: &RawValue) -> bool {
    string(raw).is_some() && slot.set(raw, MAX_MODE_BYTES)
}

fn empty() -> &'static RawValue {
    // Valid JSON; the fallback is never taken, and would change nothing.
    serde_json::from_str("[]").unwrap_or(RawValue::NULL)
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
