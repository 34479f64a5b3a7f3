//! `session/update` notifications in general: the session, the tag, and the members that the runtime itself reads.

use serde_json::value::RawValue;

use super::object::object;
use super::text::Text;

object!(Notification { "jsonrpc" => version: Text<'a>, "method" => method: Text<'a>, "params" => params: UpdateParams<'a> });
object!(UpdateParams { "sessionId" => session_id: Text<'a>, "update" => update: &'a RawValue });
object!(Update {
    "sessionUpdate" => tag: Text<'a>,
    "toolCallId" => tool_call_id: Text<'a>,
    "title" => title: &'a RawValue,
    "name" => name: &'a RawValue,
    "kind" => kind: &'a RawValue,
    "status" => status: &'a RawValue,
    "rawInput" => raw_input: &'a RawValue,
    "rawOutput" => raw_output: &'a RawValue,
    "content" => content: &'a RawValue,
    "locations" => locations: &'a RawValue,
    "messageId" => message_id: &'a RawValue,
    "entries" => entries: &'a RawValue,
    "plan" => plan: &'a RawValue,
    "_meta" => meta: &'a RawValue,
});
object!(Block { "type" => kind: Text<'a>, "text" => text: Text<'a> });

object!(Question { "toolCall" => tool_call: &'a RawValue });
object!(Tagged { "params" => params: TaggedParams<'a> });
object!(TaggedParams { "update" => update: &'a RawValue, "_meta" => meta: &'a RawValue });

object!(Entry { "content" => content: Text<'a>, "status" => status: &'a RawValue });

/// Entries of a plan: content and status. Items that do not fit are left out.
pub(crate) fn plan_entries(entries: Option<&RawValue>) -> Vec<(Text<'_>, Option<Text<'_>>)> {
    let Some(items) = entries.and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()) else {
        return Vec::new();
    };
    items
        .into_iter()
        .filter_map(|item| {
            let entry: Entry<'_> = serde_json::from_str(item.get()).ok()?;
            Some((entry.content?, string(entry.status)))
        })
        .collect()
}

/// A `session/update` notification.
#[derive(Debug)]
pub struct Notified<'a> {
    /// The session it names.
    pub session_id: Text<'a>,
    /// The update's members; `None` when it is no object.
    pub(crate) members: Option<Update<'a>>,
    /// The update in the agent's own JSON.
    pub raw: RawUpdate<'a>,
}

/// An update in the agent's own JSON.
#[derive(Clone, Copy, Debug)]
pub struct RawUpdate<'a>(&'a str);

impl<'a> RawUpdate<'a> {
    /// JSON that was parsed once.
    pub(super) fn new(json: &'a str) -> Self {
        Self(json)
    }

    /// The JSON.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// As a raw value, which takes another look at the JSON: for what is rare.
    pub(crate) fn value(self) -> Option<&'a RawValue> {
        serde_json::from_str(self.0).ok()
    }
}

impl<'a> From<&'a RawValue> for RawUpdate<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }
}

impl<'a> Notified<'a> {
    fn new(session_id: Text<'a>, update: &'a RawValue) -> Self {
        Self { session_id, members: members(update.get()), raw: update.into() }
    }
}

/// Reads a `session/update` notification. `None`: something else.
pub fn decode(line: &str) -> Option<Notified<'_>> {
    let notification: Notification<'_> = serde_json::from_str(line).ok()?;
    if notification.extra || *notification.version? != *"2.0" || *notification.method? != *"session/update" {
        return None;
    }
    let params = notification.params?;
    Some(Notified::new(params.session_id?, params.update?))
}

/// Reads the parameters of a `session/update`.
pub fn params(params: &RawValue) -> Option<Notified<'_>> {
    let params: UpdateParams<'_> = serde_json::from_str(params.get()).ok()?;
    Some(Notified::new(params.session_id?, params.update?))
}

/// A string member, `None` for null, absent and anything that is no string.
pub(crate) fn string(raw: Option<&RawValue>) -> Option<Text<'_>> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

/// Reads the members of an update that the runtime looks at. `None`: not one object.
pub(super) fn members(update: &str) -> Option<Update<'_>> {
    serde_json::from_str(update).ok()
}

/// The same; `None` also without a tag.
pub(crate) fn peek(update: &RawValue) -> Option<Update<'_>> {
    members(update.get()).filter(|update| update.tag.is_some())
}

/// The text of a content block, if it is a text block.
pub(crate) fn block_text(content: Option<&RawValue>) -> Option<Text<'_>> {
    let block: Block<'_> = serde_json::from_str(content?.get()).ok()?;
    if *block.kind? == *"text" { block.text } else { None }
}

/// The text of a content block that is text and nothing else: no annotations, no `_meta`.
pub(crate) fn plain_text(content: &RawValue) -> Option<Text<'_>> {
    let block: Block<'_> = serde_json::from_str(content.get()).ok()?;
    if !block.extra && *block.kind? == *"text" { block.text } else { None }
}

/// Reads the `toolCall` of a permission request.
pub(crate) fn asked_tool_call(params: &RawValue) -> Option<Update<'_>> {
    let question: Question<'_> = serde_json::from_str(params.get()).ok()?;
    serde_json::from_str(question.tool_call?.get()).ok()
}

/// The `_meta` of a `session/update` notification's parameters, and that of its update.
pub(crate) fn metas(line: &str) -> [Option<&RawValue>; 2] {
    let Ok(tagged) = serde_json::from_str::<Tagged<'_>>(line) else { return [None, None] };
    let Some(params) = tagged.params else { return [None, None] };
    let update = params.update.and_then(|raw| serde_json::from_str::<Update<'_>>(raw.get()).ok());
    [params.meta, update.and_then(|update| update.meta)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_and_update_are_read_and_other_messages_are_not() {
        let line = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":null,"rawInput":{"a":1}}}}"#;
        let found = decode(line).unwrap();
        assert_eq!(&*found.session_id, "s");
        let update = found.members.unwrap();
        assert_eq!((&**update.tag.as_ref().unwrap(), update.raw_input.unwrap().get()), ("tool_call", r#"{"a":1}"#));
        assert!(string(update.title).is_none());
        assert!(decode(&line.replace("session/update", "session/x")).is_none());
        assert!(decode(&line.replace(r#""jsonrpc""#, r#""id":4,"jsonrpc""#)).is_none());
        assert!(decode("{}").is_none());
    }
}
