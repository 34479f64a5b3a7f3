//! The agent's JSON in its own bytes, and how it is shown.

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use super::limits::Limits;
use crate::text::clean_json::{EVERY_STRING, clean_json};
use crate::text::sanitize::sanitized;
use crate::wire::Text;

/// Longest identifier, title or word that is shown, in UTF-16 code units.
const MAX_SHOWN_TEXT: usize = 16 * 1024;
/// A slot whose memory exceeds its value by this factor gives it back.
const SLACK: usize = 2;

/// A JSON value, or none, as the agent wrote it. Setting it again reuses its memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Json(String);

impl Json {
    /// Keeps a value of at most `max` bytes. `false`: it is too large, what was there stays.
    pub(super) fn set(&mut self, raw: &RawValue, max: usize) -> bool {
        let text = raw.get();
        if text.len() > max {
            return false;
        }
        if self.0.capacity() > SLACK * text.len() + 256 {
            self.0 = String::new();
        }
        self.0.clear();
        self.0.push_str(text);
        true
    }

    /// The same, where `null` clears.
    pub(super) fn patch(&mut self, raw: &RawValue, max: usize) -> bool {
        if raw.get() == "null" {
            self.clear();
            return true;
        }
        self.set(raw, max)
    }

    pub(super) fn clear(&mut self) {
        self.0 = String::new();
    }

    pub(super) fn is_set(&self) -> bool {
        !self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The value as the agent wrote it; empty for none.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Keeps a list, as much of it as the limits allow. Gives back how many entries were left out; `None`: it is no list,
    /// what was there stays.
    pub(super) fn set_list(&mut self, raw: &RawValue, limits: &Limits) -> Option<u64> {
        let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
        if items.len() <= limits.list_items && self.set(raw, limits.list_bytes) {
            return Some(0);
        }
        let mut text = String::from("[");
        let mut kept = 0;
        for item in items.iter().take(limits.list_items) {
            let comma = usize::from(kept > 0);
            if text.len() + comma + item.get().len() + 1 > limits.list_bytes {
                break;
            }
            text.push_str(&","[..comma]);
            text.push_str(item.get());
            kept += 1;
        }
        text.push(']');
        self.0 = text;
        Some((items.len() - kept) as u64)
    }
}

/// Any JSON of the agent, shown with every string in it cleaned.
impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = clean_json(&self.0, &EVERY_STRING);
        let raw: &RawValue = serde_json::from_str(&shown).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// A short text of the agent, cleaned and bounded.
pub(super) fn shown(text: &str) -> String {
    sanitized(text, MAX_SHOWN_TEXT).into_owned()
}

/// The string that a raw value is, if it is one.
pub(in crate::session) fn string(raw: &RawValue) -> Option<Text<'_>> {
    serde_json::from_str(raw.get()).ok()
}

/// Passes each member of an object to `each`; `null` is seen as such. `false`: it is no object.
pub(in crate::session) fn members<'a>(json: &'a str, each: impl FnMut(&str, &'a RawValue)) -> bool {
    struct Members<F>(F);
    impl<'de, F: FnMut(&str, &'de RawValue)> Visitor<'de> for Members<F> {
        type Value = ();

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
            while let Some(key) = map.next_key::<Text<'de>>()? {
                (self.0)(&key, map.next_value()?);
            }
            Ok(())
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    (&mut deserializer).deserialize_map(Members(each)).is_ok() && deserializer.end().is_ok()
}

/// Members of `_meta`, on its first level or below a vendor's name, that name the tool call or the session that something
/// belongs to. The protocol has no such member; these are those seen.
pub(crate) fn meta_parent(meta: Option<&RawValue>, names: &[&str]) -> Option<String> {
    let meta = meta?.get();
    if !names.iter().any(|name| memchr::memmem::find(meta.as_bytes(), name.as_bytes()).is_some()) {
        return None;
    }
    let mut found = None;
    let mut look = |key: &str, value: &RawValue| {
        if names.contains(&key)
            && let Some(id) = string(value)
            && !id.is_empty()
        {
            found.get_or_insert_with(|| id.0.into_owned());
        }
    };
    members(meta, |key, value| {
        look(key, value);
        if value.get().starts_with('{') {
            members(value.get(), &mut look);
        }
    });
    found
}

/// Whether a text is one JSON object.
pub(super) fn is_object(json: &str) -> bool {
    json.starts_with('{') && serde_json::from_str::<IgnoredAny>(json).is_ok()
}
