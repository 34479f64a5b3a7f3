//! Cursors (unstable): places in the session's conversation that the agent names, and what it lets be done there.
//!
//! The first update of a cursor says where it is, which never changes; later ones say what may be done with it: absent
//! keeps, `null` clears, a value replaces.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::json::{Json, is_object, members, shown, string};
use super::limits::{Dropped, Limits};

/// Longest id, in bytes; a cursor with a longer one is left out.
const MAX_ID_BYTES: usize = 1024;
/// Largest anchor, and largest capabilities, in bytes; a cursor with a larger anchor is left out.
const MAX_VALUE_BYTES: usize = 4 * 1024;

#[derive(Clone, Debug)]
struct Cursor {
    id: Box<str>,
    anchor: Json,
    capabilities: Json,
}

/// The cursors of a session, in the order of their announcement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cursors {
    list: Vec<Cursor>,
    bytes: usize,
}

impl Cursors {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// `cursor_update`. Gives back whether something changed.
    pub(crate) fn update(&mut self, raw: &RawValue, limits: &Limits, dropped: &mut Dropped) -> bool {
        let (mut id, mut anchor, mut capabilities) = (None, None, None);
        members(raw.get(), |key, value| match key {
            "cursorId" => id = string(value),
            "anchor" => anchor = Some(value).filter(|value| is_object(value.get())),
            "capabilities" => capabilities = Some(value),
            _ => {}
        });
        let Some(id) = id.filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES) else { return false };
        let at = if let Some(at) = self.list.iter().position(|cursor| *cursor.id == *id) {
            at
        } else {
            // Without a place it is nothing.
            let Some(anchor) = anchor else { return false };
            let mut place = Json::default();
            if !place.set(anchor, MAX_VALUE_BYTES) {
                dropped.values += 1;
                return false;
            }
            let cursor = Cursor { id: (*id).into(), anchor: place, capabilities: Json::default() };
            self.bytes += cursor.weight();
            self.list.push(cursor);
            self.list.len() - 1
        };
        if let Some(capabilities) = capabilities {
            let cursor = &mut self.list[at];
            self.bytes -= cursor.weight();
            if is_object(capabilities.get()) {
                let kept = cursor.capabilities.set(capabilities, MAX_VALUE_BYTES);
                dropped.values += u64::from(!kept);
                if !kept {
                    cursor.capabilities.clear();
                }
            } else {
                // `null`, and whatever else is no object, is nothing that may be done.
                cursor.capabilities.clear();
            }
            self.bytes += cursor.weight();
        }
        while self.list.len() > limits.list_items.max(1) || self.bytes > limits.list_bytes && self.list.len() > 1 {
            self.bytes -= self.list.remove(0).weight();
            dropped.values += 1;
        }
        true
    }

    /// Whether the agent lets the session be forked at this cursor, as far as is known.
    pub(crate) fn can_fork(&self, id: &str) -> bool {
        self.list.iter().find(|cursor| *cursor.id == *id).is_some_and(|cursor| {
            let mut fork = false;
            if cursor.capabilities.is_set() {
                members(cursor.capabilities.as_str(), |key, value| {
                    if key == "fork" {
                        fork = is_object(value.get());
                    }
                });
            }
            fork
        })
    }
}

impl Cursor {
    fn weight(&self) -> usize {
        self.id.len() + self.anchor.len() + self.capabilities.len()
    }
}

impl Serialize for Cursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("cursorId", &shown(&self.id))?;
        map.serialize_entry("anchor", &self.anchor)?;
        if self.capabilities.is_set() {
            map.serialize_entry("capabilities", &self.capabilities)?;
        }
        map.end()
    }
}

impl Serialize for Cursors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.list)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::state;
    use super::*;
    use serde_json::{Value, json};

    fn cursor(id: &str, more: Value) -> Value {
        let mut update = json!({ "sessionUpdate": "cursor_update", "cursorId": id });
        update.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        update
    }

    fn at(message: &str) -> Value {
        json!({ "type": "agent_message", "messageId": message, "position": "after" })
    }

    #[test]
    fn the_first_place_stays_and_capabilities_are_patched() {
        let shown = state(&[
            cursor("a", json!({ "anchor": at("m1") })),
            cursor("b", json!({ "anchor": at("m2"), "capabilities": { "fork": {} } })),
            cursor("a", json!({ "anchor": at("moved"), "capabilities": { "fork": {}, "_x": 1 } })),
            cursor("b", json!({ "anchor": null })),
        ]);
        let expected = json!([
            { "cursorId": "a", "anchor": at("m1"), "capabilities": { "fork": {}, "_x": 1 } },
            { "cursorId": "b", "anchor": at("m2"), "capabilities": { "fork": {} } },
        ]);
        assert_eq!(shown["cursors"], expected);
        let shown = state(&[
            cursor("a", json!({ "anchor": at("m1"), "capabilities": { "fork": {} } })),
            cursor("a", json!({ "capabilities": null })),
        ]);
        assert_eq!(shown["cursors"], json!([{ "cursorId": "a", "anchor": at("m1") }]));
    }

    #[test]
    fn what_is_no_cursor_is_none() {
        let long = "x".repeat(MAX_ID_BYTES + 1);
        for update in [
            cursor("a", json!({})),
            cursor("a", json!({ "capabilities": { "fork": {} } })),
            cursor("a", json!({ "anchor": "m1" })),
            cursor("", json!({ "anchor": at("m1") })),
            cursor(&long, json!({ "anchor": at("m1") })),
            cursor("a", json!({ "anchor": at(&"x".repeat(MAX_VALUE_BYTES)) })),
            json!({ "sessionUpdate": "cursor_update", "cursorId": 5, "anchor": at("m1") }),
        ] {
            assert_eq!(state([&update])["cursors"], json!([]), "{update}");
        }
    }

    fn fed(updates: &[Value], limits: &Limits) -> (Cursors, Dropped) {
        let (mut cursors, mut dropped) = (Cursors::default(), Dropped::default());
        for update in updates {
            cursors.update(&serde_json::value::to_raw_value(update).unwrap(), limits, &mut dropped);
        }
        (cursors, dropped)
    }

    #[test]
    fn a_fork_is_possible_where_its_marker_is_an_object_now() {
        for (capabilities, expected) in [
            (json!({ "fork": {} }), true),
            (json!({ "fork": { "_x": 1 } }), true),
            (json!({ "fork": null }), false),
            (json!({ "fork": true }), false),
            (json!({}), false),
            (json!(null), false),
            (json!([]), false),
        ] {
            let updates = [
                cursor("a", json!({ "anchor": at("m"), "capabilities": { "fork": {} } })),
                cursor("a", json!({ "capabilities": capabilities })),
            ];
            assert_eq!(fed(&updates, &Limits::default()).0.can_fork("a"), expected, "{capabilities}");
        }
        assert!(!Cursors::default().can_fork("a"));
    }

    #[test]
    fn they_are_bounded_in_number_and_size_and_the_oldest_goes_first() {
        let many: Vec<_> = (0..20).map(|n| cursor(&format!("c{n}"), json!({ "anchor": at("m") }))).collect();
        let few = Limits { list_items: 3, ..Limits::default() };
        let (cursors, dropped) = fed(&many, &few);
        assert_eq!((cursors.list.len(), &*cursors.list[0].id, dropped.values), (3, "c17", 17));
        let light = Limits { list_bytes: 200, ..Limits::default() };
        let (cursors, _) = fed(&many, &light);
        assert!(cursors.bytes() <= 200 && cursors.list.len() > 1);
        assert_eq!(cursors.bytes(), cursors.list.iter().map(Cursor::weight).sum::<usize>());
    }
}
