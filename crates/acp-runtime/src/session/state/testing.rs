//! States fed with updates as an agent sends them.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Limits, SessionState};

pub(super) fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

impl SessionState {
    /// Takes updates, in order.
    pub(super) fn fed<'a>(mut self, updates: impl IntoIterator<Item = &'a Value>) -> Self {
        for update in updates {
            self.apply(&raw(update));
        }
        self
    }

    pub(super) fn shown(&self) -> Value {
        serde_json::to_value(self).unwrap()
    }
}

/// What these updates amount to.
pub(super) fn state<'a>(updates: impl IntoIterator<Item = &'a Value>) -> Value {
    SessionState::default().fed(updates).shown()
}

/// Limits that a test reaches with little.
pub(super) fn small() -> Limits {
    Limits {
        messages: 4,
        message_bytes: 64,
        messages_bytes: 2048,
        blocks: 3,
        tool_calls: 3,
        tool_field_bytes: 64,
        tool_bytes: 2048,
        plans: 2,
        compactions: 2,
        list_items: 3,
        list_bytes: 128,
        subagents: 3,
        children_bytes: 4096,
    }
}

pub(super) fn chunk(role: &str, id: Option<&str>, text: &str) -> Value {
    let mut update = json!({ "sessionUpdate": format!("{role}_chunk"), "content": { "type": "text", "text": text } });
    if let Some(id) = id {
        update["messageId"] = json!(id);
    }
    update
}

pub(super) fn agent(text: &str) -> Value {
    chunk("agent_message", None, text)
}

pub(super) fn call(id: &str, more: Value) -> Value {
    of("tool_call", id, more)
}

pub(super) fn update(id: &str, more: Value) -> Value {
    of("tool_call_update", id, more)
}

fn of(tag: &str, id: &str, more: Value) -> Value {
    let mut update = json!({ "sessionUpdate": tag, "toolCallId": id });
    update.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    update
}

/// Role, id and text of each message.
pub(super) fn texts(state: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = state["messages"].as_array().unwrap().iter();
    messages
        .map(|message| {
            let blocks = message["content"].as_array().unwrap().iter();
            (text(&message["role"]), text(&message["messageId"]), blocks.map(|block| text(&block["text"])).collect())
        })
        .collect()
}

/// Id and status of each tool call.
pub(super) fn statuses(state: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    state["toolCalls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (text(&call["toolCallId"]), text(&call["status"])))
        .collect()
}

/// An update with members that some kind of it has.
pub(super) fn announce_any(tag: &str, id: &str, value: &Value) -> Value {
    json!({
        "sessionUpdate": tag, "sessionId": id, "messageId": id, "compactionId": id, "planId": id,
        "plan": { "planId": id, "type": "items", "entries": value, "content": value },
        "entries": value, "content": value, "summary": value, "status": value, "error": value,
        "availableCommands": value, "configOptions": value, "suggestions": value, "currentModeId": value,
        "title": value, "updatedAt": value, "used": value, "size": value, "cost": value, "state": value,
        "senderSessionId": value, "description": value,
    })
}
