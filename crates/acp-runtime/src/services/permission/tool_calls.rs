//! The tool calls of one session, merged: `tool_call`, its updates and the `toolCall` of a permission request.
//!
//! A permission request often names nothing but the id. What it stands for is what was announced before, so every field
//! that a later message leaves out, sets to `null`, or empties (`rawInput: {}`, a blank title) keeps its earlier value:
//! nothing can hide the command that somebody is asked to approve.

use std::borrow::Cow;

use lru::LruCache;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Category, Classification, classify_tool_kind};
use crate::error::Result;
use crate::services::clean::clean;
use crate::services::decode;
use crate::text::clean_json::{Cleaning, clean_json};
use crate::wire::encode;
use crate::wire::update::Update;

/// Tool calls remembered per session; the least recently touched goes first.
pub const MAX_TOOL_CALLS: usize = 1000;
/// Bytes of JSON remembered per session over all tool calls.
pub const MAX_TRACKED_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of JSON remembered of one field.
pub const MAX_FIELD_BYTES: usize = 256 * 1024;
/// Longest tool call id that is tracked, in bytes.
pub const MAX_TOOL_CALL_ID_BYTES: usize = 4096;
/// Longest title kept, in UTF-16 code units. Agents put whole commands there.
pub const MAX_TITLE: usize = 16 * 1024;
/// Longest id shown, in UTF-16 code units.
pub const MAX_ID: usize = 256;
/// Longest kind or status kept, in UTF-16 code units.
const MAX_WORD: usize = 64;
/// Longest string inside a field when it is shown, in UTF-16 code units.
const MAX_SHOWN_STRING: usize = 64_000;
/// How a field is shown.
const SHOWN: Cleaning<'static> = Cleaning { names: Some(MAX_ID), values: MAX_SHOWN_STRING, data: &[] };

/// The string inside a raw value, if it is one.
pub(super) fn string_of(raw: Option<&RawValue>) -> Option<String> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// What one message says about a tool call. Borrows from the message.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow, default)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    locations: Option<&'a RawValue>,
    #[serde(borrow, default)]
    raw_input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    raw_output: Option<&'a RawValue>,
}

/// One message's part of a tool call.
#[derive(Clone, Debug)]
pub struct ToolCallPatch<'a> {
    id: String,
    fields: Fields<'a>,
}

impl<'a> ToolCallPatch<'a> {
    /// Reads a `tool_call`, a `tool_call_update` or a permission request's `toolCall`. `None` without a usable id;
    /// fields of the wrong type count as absent.
    pub fn decode(json: &'a str) -> Option<Self> {
        let fields: Fields<'a> = decode::object(json)?;
        let id = string_of(fields.tool_call_id).filter(|id| !id.is_empty() && id.len() <= MAX_TOOL_CALL_ID_BYTES)?;
        Some(Self { id, fields })
    }

    /// The same of an update whose members were read already.
    pub(crate) fn of(update: &Update<'a>) -> Option<Self> {
        let id = update.tool_call_id.as_deref().filter(|id| !id.is_empty() && id.len() <= MAX_TOOL_CALL_ID_BYTES)?;
        let fields = Fields {
            tool_call_id: None,
            title: update.title,
            name: update.name,
            kind: update.kind,
            status: update.status,
            content: update.content,
            locations: update.locations,
            raw_input: update.raw_input,
            raw_output: update.raw_output,
        };
        Some(Self { id: id.to_owned(), fields })
    }

    /// The id, exactly as the agent sent it.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// Everything known about a tool call. Its JSON is the agent's until it is first shown; from then on it is kept clean, so that
/// showing it again costs no more than a copy.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedToolCall {
    /// The id, cleaned and bounded.
    pub tool_call_id: String,
    /// The title, cleaned and bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool's programmatic name, cleaned and bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind, as named on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The status, as named on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The content, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Box<RawValue>>,
    /// The touched files, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Box<RawValue>>,
    /// The arguments, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Box<RawValue>>,
    /// The result, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Box<RawValue>>,
    /// Whether some value was too large to keep, so that an earlier one (or none) stands in its place.
    pub incomplete: bool,
    #[serde(skip)]
    announced: Option<Category>,
    /// Which of the four values above were cleaned.
    #[serde(skip)]
    clean: [bool; 4],
}

impl MergedToolCall {
    /// Merges one message. Absent, `null` and empty leave what is there.
    pub fn apply(&mut self, patch: &ToolCallPatch<'_>) {
        if self.tool_call_id.is_empty() {
            self.tool_call_id = clean(&patch.id, MAX_ID);
        }
        let fields = &patch.fields;
        set_text(&mut self.title, fields.title, MAX_TITLE);
        set_text(&mut self.name, fields.name, MAX_ID);
        set_text(&mut self.kind, fields.kind, MAX_WORD);
        set_text(&mut self.status, fields.status, MAX_WORD);
        if let Classification::Category(category) = classify_tool_kind(self.kind.as_deref()) {
            self.announced = Some(category);
        }
        let said = [fields.content, fields.locations, fields.raw_input, fields.raw_output];
        let mut incomplete = false;
        for ((slot, clean), raw) in self.json_mut().into_iter().zip(said) {
            incomplete |= !set_json(slot, clean, raw);
        }
        self.incomplete |= incomplete;
    }

    /// What the call counts as. A call that was announced under a governed kind stays governed, whatever harmless kind a
    /// later message gives it.
    pub fn classification(&self) -> Classification {
        match (classify_tool_kind(self.kind.as_deref()), self.announced) {
            (Classification::Exempt, Some(category)) => Classification::Category(category),
            (classification, _) => classification,
        }
    }

    /// The call as the host may show it: every string inside is cleaned and bounded.
    fn view(&mut self) -> Result<Box<RawValue>> {
        for (slot, clean) in self.json_mut() {
            if let Some(raw) = slot.as_ref().filter(|_| !*clean)
                && let Cow::Owned(shown) = clean_json(raw.get(), &SHOWN)
            {
                *slot = RawValue::from_string(shown).ok();
            }
            *clean = true;
        }
        encode::raw(self)
    }

    fn json_mut(&mut self) -> [(&mut Option<Box<RawValue>>, &mut bool); 4] {
        let [content, locations, raw_input, raw_output] = &mut self.clean;
        [
            (&mut self.content, content),
            (&mut self.locations, locations),
            (&mut self.raw_input, raw_input),
            (&mut self.raw_output, raw_output),
        ]
    }

    fn weight(&self) -> usize {
        let text = [&self.title, &self.name, &self.kind, &self.status].into_iter().flatten().map(String::len);
        let json = [&self.content, &self.locations, &self.raw_input, &self.raw_output].into_iter().flatten();
        text.sum::<usize>() + json.map(|raw| raw.get().len()).sum::<usize>() + self.tool_call_id.len()
    }
}

fn set_text(slot: &mut Option<String>, raw: Option<&RawValue>, max: usize) {
    if let Some(text) = string_of(raw).map(|text| clean(&text, max)).filter(|text| !text.trim().is_empty()) {
        *slot = Some(text);
    }
}

/// Returns `false` when the value is too large to keep.
fn set_json(slot: &mut Option<Box<RawValue>>, clean: &mut bool, raw: Option<&RawValue>) -> bool {
    let Some(raw) = raw else { return true };
    if raw.get().len() > MAX_FIELD_BYTES {
        return false;
    }
    if slot.is_none() || !is_empty_object(raw.get()) {
        *slot = Some(raw.to_owned());
        *clean = false;
    }
    true
}

fn is_empty_object(json: &str) -> bool {
    json.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).is_some_and(|body| body.trim().is_empty())
}

#[derive(Debug, Default)]
struct Entry {
    call: MergedToolCall,
    weight: usize,
}

/// How a call is found. A clash of a child's with its parent's would take an agent that names its calls so; it fools nobody
/// but itself.
fn key<'a>(child: Option<&str>, id: &'a str) -> Cow<'a, str> {
    child.map_or(Cow::Borrowed(id), |child| [child, id].join("\0").into())
}

/// The tool calls of one session, bounded in number and in bytes.
#[derive(Debug)]
pub struct ToolCallTracker {
    calls: LruCache<String, Entry>,
    bytes: usize,
}

impl Default for ToolCallTracker {
    fn default() -> Self {
        // The bounds are kept here, together.
        Self { calls: LruCache::unbounded(), bytes: 0 }
    }
}

impl ToolCallTracker {
    /// Merges a message.
    pub fn apply(&mut self, patch: &ToolCallPatch<'_>) {
        self.apply_in(None, patch);
    }

    /// The same for a call of a child session, whose ids may be those of its parent.
    pub fn apply_in(&mut self, child: Option<&str>, patch: &ToolCallPatch<'_>) {
        self.with_call(&key(child, patch.id()), |call| call.apply(patch));
    }

    /// The call with this id as the host may show it: every string inside is cleaned and bounded. What was not patched since
    /// it was last shown is not cleaned again.
    pub fn view_in(&mut self, child: Option<&str>, id: &str) -> Result<Box<RawValue>> {
        self.with_call(&key(child, id), MergedToolCall::view)
    }

    /// Does something with a call, counts anew what it holds, and makes room for it.
    fn with_call<T>(&mut self, key: &str, work: impl FnOnce(&mut MergedToolCall) -> T) -> T {
        let entry = self.calls.get_or_insert_mut_ref(key, Entry::default);
        let done = work(&mut entry.call);
        let weight = entry.call.weight() + key.len();
        let before = std::mem::replace(&mut entry.weight, weight);
        self.bytes = self.bytes - before + weight;
        // The call just touched is the last to go, and alone it is within the bounds.
        while self.calls.len() > MAX_TOOL_CALLS || (self.bytes > MAX_TRACKED_BYTES && self.calls.len() > 1) {
            let Some((_, entry)) = self.calls.pop_lru() else { break };
            self.bytes -= entry.weight;
        }
        done
    }

    /// The call with this id. Its JSON is as the agent sent it, or clean if it was shown since.
    pub fn get(&self, id: &str) -> Option<&MergedToolCall> {
        self.calls.peek(id).map(|entry| &entry.call)
    }

    /// How many calls are remembered.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Whether none is remembered.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Bytes held by the remembered calls.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets everything: the session ended.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}
