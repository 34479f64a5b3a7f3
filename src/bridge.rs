//! The event bridge on its own: one update in, its events out.

use acp_runtime::bridge::{BridgeSink, EventBridge, TextStream};
use napi_derive::napi;
use serde_json::Value;
use serde_json::value::RawValue;

/// Collects the events of one update as the items of a JSON array.
#[derive(Default)]
struct Batch {
    text: String,
    json: String,
}

impl Batch {
    fn push(&mut self, event: &Value) {
        self.json.push(if self.json.is_empty() { '[' } else { ',' });
        self.json.push_str(&event.to_string());
    }

    fn payload(&mut self, head: &Value, raw: Option<&RawValue>) {
        self.push(head);
        // The agent's own JSON goes in as it is: it is the last member of the item.
        if let Some(raw) = raw {
            self.json.pop();
            self.json.push(',');
            self.json.push_str(raw.get());
            self.json.push(']');
        }
    }
}

impl BridgeSink for Batch {
    fn text_buf(&mut self) -> &mut String {
        &mut self.text
    }

    fn commit_text(&mut self, stream: TextStream, _: usize) {
        let text = std::mem::take(&mut self.text);
        self.push(&match stream {
            TextStream::Message => serde_json::json!(["text", text]),
            TextStream::Thought => serde_json::json!(["thinking", text]),
        });
    }

    fn tool_start(&mut self, name: &str, args: Option<&RawValue>) {
        self.payload(&serde_json::json!(["start", name]), args);
    }

    fn tool_end(&mut self, name: &str, is_error: bool, result: Option<&RawValue>) {
        self.payload(&serde_json::json!(["end", name, is_error]), result);
    }
}

/// The state of one session's bridge.
#[napi]
#[derive(Default)]
pub struct NativeBridge(EventBridge);

#[napi]
impl NativeBridge {
    /// A bridge at the start of a turn.
    #[napi(constructor, catch_unwind)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one update as JSON. The events are the items of a JSON array: `["text", delta]`, `["thinking", delta]`,
    /// `["start", name, args?]`, `["end", name, isError, result?]`. `null`: none.
    #[napi(catch_unwind)]
    pub fn handle(&mut self, update: String) -> Option<String> {
        let raw: Box<RawValue> = RawValue::from_string(update).ok()?;
        let mut batch = Batch::default();
        self.0.handle_json(&raw, &mut batch);
        if batch.json.is_empty() {
            return None;
        }
        batch.json.push(']');
        Some(batch.json)
    }

    /// Starts a new turn.
    #[napi(catch_unwind)]
    pub fn reset(&mut self) {
        self.0.reset();
    }
}
