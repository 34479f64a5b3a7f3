//! How much of a session is remembered.

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Bounds of one session's state. What exceeds them is left out and counted, the oldest first where things queue up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Messages; the oldest goes first.
    pub messages: usize,
    /// Bytes of one message; what follows is left out.
    pub message_bytes: usize,
    /// Bytes of all messages; the oldest goes first.
    pub messages_bytes: usize,
    /// Content blocks of one message; what follows is left out.
    pub blocks: usize,
    /// Tool calls; the finished one that was touched longest ago goes first.
    pub tool_calls: usize,
    /// Bytes of one field of a tool call; a larger value is left out, the earlier one stays.
    pub tool_field_bytes: usize,
    /// Bytes of all tool calls.
    pub tool_bytes: usize,
    /// Plans with an id; the one changed longest ago goes first.
    pub plans: usize,
    /// Compactions; the oldest goes first.
    pub compactions: usize,
    /// Entries of any other list: a plan, commands, configuration options.
    pub list_items: usize,
    /// Bytes of any other list or value.
    pub list_bytes: usize,
    /// Child sessions; the one touched longest ago goes first.
    pub subagents: usize,
    /// Bytes of everything that is remembered of all child sessions together.
    pub children_bytes: usize,
}

impl Default for Limits {
    /// At most about 48 MiB of what the agent said, usually as much as the conversation is long.
    fn default() -> Self {
        Self {
            messages: 4096,
            message_bytes: 4 * MIB,
            messages_bytes: 16 * MIB,
            blocks: 1024,
            tool_calls: 1000,
            tool_field_bytes: 256 * KIB,
            tool_bytes: 8 * MIB,
            plans: 16,
            compactions: 16,
            list_items: 1000,
            list_bytes: 256 * KIB,
            subagents: 64,
            children_bytes: 8 * MIB,
        }
    }
}

impl Limits {
    /// The bounds of one child session, whose parent has these: together they share [`Limits::children_bytes`].
    pub(super) fn of_child(&self) -> Self {
        Self {
            message_bytes: self.message_bytes.min(self.children_bytes / 8),
            messages_bytes: self.messages_bytes.min(self.children_bytes / 4),
            tool_field_bytes: self.tool_field_bytes.min(self.children_bytes / 8),
            tool_bytes: self.tool_bytes.min(self.children_bytes / 4),
            plans: self.plans.min(2),
            compactions: self.compactions.min(2),
            list_bytes: self.list_bytes.min(self.children_bytes / 64),
            subagents: 0,
            children_bytes: 0,
            ..*self
        }
    }
}

/// What was left out for the sake of the limits, counted since the session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dropped {
    /// Whole messages.
    pub messages: u64,
    /// Bytes of messages that are still there.
    pub message_bytes: u64,
    /// Whole tool calls.
    pub tool_calls: u64,
    /// Whole plans.
    pub plans: u64,
    /// Whole compactions.
    pub compactions: u64,
    /// Child sessions, and the content of child sessions that are still there.
    pub subagents: u64,
    /// Single values and entries of lists.
    pub values: u64,
}
