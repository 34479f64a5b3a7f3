//! Messages: chunks joined by their id, or by their neighbourhood where the agent gives none (rule C34).

use std::collections::{HashMap, VecDeque};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::json::{Json, shown};
use super::limits::{Dropped, Limits};

/// Bytes that count for a message or a block besides its content.
const OVERHEAD: usize = 64;
/// Longest message id that is told from others, in bytes; a longer one counts as none.
const MAX_ID_BYTES: usize = 1024;

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Agent,
    Thought,
    User,
    /// Between two sessions (`session_message`).
    Session,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Thought => "thought",
            Self::User => "user",
            Self::Session => "session",
        }
    }
}

/// Which message a chunk belongs to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key<'a> {
    pub role: Role,
    pub id: Option<&'a str>,
    /// The tool call that the message was said in.
    pub parent: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Block {
    /// Joined text chunks, sanitised.
    Text(String),
    /// Any other content block.
    Other(Json),
}

#[derive(Clone, Debug)]
struct Message {
    role: Role,
    id: Option<Box<str>>,
    parent: Option<Box<str>>,
    order: u64,
    replay: bool,
    blocks: Vec<Block>,
    /// Of its content.
    bytes: usize,
    truncated: bool,
    /// Of a message between sessions: who wrote to whom.
    ends: Ends,
}

#[derive(Clone, Debug, Default)]
struct Ends {
    sender_session: Json,
    recipient_session: Json,
    sender_message: Json,
    recipient_message: Json,
}

/// What a new message starts with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    pub order: u64,
    pub replay: bool,
}

/// The messages of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    list: VecDeque<Message>,
    /// The number of the first message in the list.
    first: u64,
    /// Numbers by id, one table for each role.
    index: [HashMap<Box<str>, u64>; 4],
    /// The message that the last chunk belonged to.
    current: Option<u64>,
    /// Whether a chunk without an id still belongs to it.
    open: bool,
    bytes: usize,
}

impl Messages {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Something came between: the next chunk without an id begins a message.
    pub(super) fn interrupt(&mut self) {
        self.open = false;
    }

    /// Appends sanitised text. Gives back whether it began a message.
    pub(super) fn push_text(
        &mut self,
        key: Key<'_>,
        text: &str,
        start: Start,
        limits: &Limits,
        dropped: &mut Dropped,
    ) -> bool {
        let (at, new) = self.select(key, start);
        let message = &mut self.list[at];
        let room = limits.message_bytes.saturating_sub(message.bytes);
        let mut length = text.len();
        if length > room || message.truncated {
            // Nothing may follow a cut.
            length = if message.truncated { 0 } else { boundary(text, room) };
            message.truncated = true;
            dropped.message_bytes += (text.len() - length) as u64;
        }
        let count = message.blocks.len();
        match message.blocks.last_mut() {
            Some(Block::Text(last)) => last.push_str(&text[..length]),
            _ if length == 0 => {}
            _ if count >= limits.blocks => {
                message.truncated = true;
                dropped.message_bytes += length as u64;
                length = 0;
            }
            _ => {
                message.blocks.push(Block::Text(text[..length].to_owned()));
                self.bytes += OVERHEAD;
            }
        }
        message.bytes += length;
        self.bytes += length;
        self.evict(limits, dropped);
        new
    }

    /// Appends a content block of another kind. Gives back whether it began a message.
    pub(super) fn push_block(
        &mut self,
        key: Key<'_>,
        block: &RawValue,
        start: Start,
        limits: &Limits,
        dropped: &mut Dropped,
    ) -> bool {
        let (at, new) = self.select(key, start);
        self.bytes -= self.list[at].weight();
        self.list[at].push_block(block, limits, dropped);
        self.bytes += self.list[at].weight();
        self.evict(limits, dropped);
        new
    }

    /// Applies a `session_message`: absent keeps, `null` clears, a value replaces.
    pub(super) fn patch_session(
        &mut self,
        id: &str,
        members: &[(&str, &RawValue)],
        start: Start,
        limits: &Limits,
        dropped: &mut Dropped,
    ) -> bool {
        let (at, new) = self.select(Key { role: Role::Session, id: Some(id), parent: None }, start);
        self.bytes -= self.list[at].weight();
        let message = &mut self.list[at];
        for (name, value) in members {
            let slot = match *name {
                "senderSessionId" => &mut message.ends.sender_session,
                "recipientSessionId" => &mut message.ends.recipient_session,
                "senderMessageId" => &mut message.ends.sender_message,
                "recipientMessageId" => &mut message.ends.recipient_message,
                "content" => {
                    message.bytes -= message.blocks.iter().map(Block::len).sum::<usize>();
                    message.blocks.clear();
                    message.truncated = false;
                    for block in serde_json::from_str::<Vec<&RawValue>>(value.get()).unwrap_or_default() {
                        message.push_block(block, limits, dropped);
                    }
                    continue;
                }
                _ => continue,
            };
            message.bytes -= slot.len();
            dropped.values += u64::from(!slot.patch(value, MAX_ID_BYTES));
            message.bytes += slot.len();
        }
        self.bytes += self.list[at].weight();
        self.evict(limits, dropped);
        new
    }

    /// The place of the message that a chunk belongs to, which begins where there is none, and whether it does.
    fn select(&mut self, key: Key<'_>, start: Start) -> (usize, bool) {
        let id = key.id.filter(|id| !id.is_empty() && id.len() <= MAX_ID_BYTES);
        if let Some(at) = self.current_of(Key { id, ..key }) {
            self.open = true;
            return (at, false);
        }
        self.open = true;
        if let Some(number) = id.and_then(|id| self.index[key.role as usize].get(id)).copied()
            && let Some(at) = self.place(number)
        {
            self.current = Some(number);
            return (at, false);
        }
        let number = self.first + self.list.len() as u64;
        if let Some(id) = id {
            self.index[key.role as usize].insert(id.into(), number);
        }
        let message = Message {
            role: key.role,
            id: id.map(Into::into),
            parent: key.parent.map(Into::into),
            order: start.order,
            replay: start.replay,
            blocks: Vec::new(),
            bytes: 0,
            truncated: false,
            ends: Ends::default(),
        };
        self.bytes += message.weight();
        self.list.push_back(message);
        self.current = Some(number);
        (self.list.len() - 1, true)
    }

    /// The place of the message of the last chunk, if this one belongs to it.
    fn current_of(&self, key: Key<'_>) -> Option<usize> {
        let at = self.current.and_then(|number| self.place(number))?;
        let message = &self.list[at];
        let same = match (message.id.as_deref(), key.id) {
            (Some(one), Some(other)) => one == other,
            (None, None) => self.open && message.parent.as_deref() == key.parent,
            _ => false,
        };
        (same && message.role == key.role).then_some(at)
    }

    /// Whether a chunk belongs to the message of the last one.
    pub(super) fn continues(&self, key: Key<'_>) -> bool {
        self.current_of(key).is_some()
    }

    fn place(&self, number: u64) -> Option<usize> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        (at < self.list.len()).then_some(at)
    }

    fn evict(&mut self, limits: &Limits, dropped: &mut Dropped) {
        while self.list.len() > limits.messages || (self.bytes > limits.messages_bytes && self.list.len() > 1) {
            let Some(message) = self.list.pop_front() else { return };
            self.first += 1;
            if let Some(id) = message.id.as_deref() {
                self.index[message.role as usize].remove(id);
            }
            self.bytes -= message.weight();
            dropped.messages += 1;
        }
    }
}

impl Message {
    /// What it counts for, in bytes.
    fn weight(&self) -> usize {
        let names = self.id.as_deref().map_or(0, str::len) * 2 + self.parent.as_deref().map_or(0, str::len);
        (2 + self.blocks.len()) * OVERHEAD + names + self.bytes
    }

    fn push_block(&mut self, block: &RawValue, limits: &Limits, dropped: &mut Dropped) {
        let mut json = Json::default();
        let room = limits.message_bytes.saturating_sub(self.bytes);
        if self.truncated || self.blocks.len() >= limits.blocks || !json.set(block, room) {
            self.truncated = true;
            dropped.message_bytes += block.get().len() as u64;
            return;
        }
        self.bytes += json.len();
        self.blocks.push(Block::Other(json));
    }
}

impl Block {
    fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Other(json) => json.len(),
        }
    }
}

/// The most bytes, at most `room`, that end at a character.
fn boundary(text: &str, room: usize) -> usize {
    (0..=room.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                map.end()
            }
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("order", &self.order)?;
        map.serialize_entry("role", self.role.name())?;
        if let Some(id) = &self.id {
            map.serialize_entry("messageId", &shown(id))?;
        }
        if let Some(parent) = &self.parent {
            map.serialize_entry("parentToolCallId", &shown(parent))?;
        }
        map.serialize_entry("content", &self.blocks)?;
        map.serialize_entry("truncated", &self.truncated)?;
        if self.replay {
            map.serialize_entry("replay", &true)?;
        }
        for (name, value) in [
            ("senderSessionId", &self.ends.sender_session),
            ("recipientSessionId", &self.ends.recipient_session),
            ("senderMessageId", &self.ends.sender_message),
            ("recipientMessageId", &self.ends.recipient_message),
        ] {
            if value.is_set() {
                map.serialize_entry(name, value)?;
            }
        }
        map.end()
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.list)
    }
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
