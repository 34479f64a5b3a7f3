//! Session updates in the agent's own JSON, as the bridge reads them: every member optional, nothing an error.

use serde_json::value::RawValue;

use super::{BridgeInput, BridgeSink, EventBridge, PlanEntry, ToolCallInput};
use crate::wire::update::{Update, block_text, peek, plan_entries, string};

impl EventBridge {
    /// Passes on a session update (the `update` member of `session/update`). What is no update is ignored.
    pub fn handle_json(&mut self, update: &RawValue, sink: &mut impl BridgeSink) {
        if let Some(update) = peek(update) {
            self.handle_update(&update, sink);
        }
    }

    /// Passes on an update whose members were read already.
    pub(crate) fn handle_update(&mut self, update: &Update<'_>, sink: &mut impl BridgeSink) {
        match update.tag.as_deref().unwrap_or_default() {
            "agent_message_chunk" => {
                if let Some(text) = block_text(update.content) {
                    self.handle(BridgeInput::Text(&text), sink);
                }
            }
            "agent_thought_chunk" => {
                if let Some(text) = block_text(update.content) {
                    self.handle(BridgeInput::Thought(&text), sink);
                }
            }
            tag @ ("tool_call" | "tool_call_update") => {
                let Some(id) = &update.tool_call_id else { return };
                let [title, kind, status] = [update.title, update.kind, update.status].map(string);
                let call = ToolCallInput {
                    id,
                    title: title.as_deref(),
                    kind: kind.as_deref(),
                    status: status.as_deref(),
                    raw_input: update.raw_input,
                    raw_output: update.raw_output,
                    content: update.content,
                };
                let announced = tag == "tool_call";
                self.handle(
                    if announced { BridgeInput::ToolCall(call) } else { BridgeInput::ToolCallUpdate(call) },
                    sink,
                );
            }
            "plan" => {
                let entries = plan_entries(update.entries);
                let entries: Vec<_> =
                    entries.iter().map(|(content, status)| PlanEntry { content, status: status.as_deref() }).collect();
                self.handle(BridgeInput::Plan(&entries), sink);
            }
            _ => {}
        }
    }
}
