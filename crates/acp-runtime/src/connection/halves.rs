//! Characters that an agent cut in half between two chunks of text.
//!
//! JavaScript agents slice strings by UTF-16 units, so a chunk can end with one half of a surrogate pair and the next one
//! begin with the other. JSON carries both as escapes. The first half is held back and joined with the second; where none
//! follows it becomes U+FFFD, as a half always does. Only lines with a lone surrogate come here, and while nothing is held
//! back other lines pay one comparison.

use std::borrow::Cow;

use super::state::State;
use crate::text::jsonstr::{ends_in_high_surrogate, starts_with_low_surrogate};
use crate::wire::Text;
use crate::wire::chunk::{self, Chunk, Stream};

/// Streams that may wait for a second half at once. Beyond them a half is no longer held.
const MAX_HELD: usize = 64;
/// What stands for a half in a repaired line, in bytes.
const REPLACEMENT_LEN: usize = char::REPLACEMENT_CHARACTER.len_utf8();

/// A first half, and where its second one must come.
struct Half {
    sender: String,
    stream: Stream,
    message_id: Option<String>,
    high: u16,
}

impl Half {
    fn fits(&self, chunk: &Chunk<'_>) -> bool {
        self.sender == *chunk.session_id
            && self.stream == chunk.stream
            && self.message_id.as_deref() == chunk.message_id.as_deref()
    }
}

/// First halves that wait, at most one of a sender.
#[derive(Default)]
pub(super) struct Halves(Vec<Half>);

impl Halves {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, fits: impl Fn(&Half) -> bool) -> Option<Half> {
        self.0.iter().position(fits).map(|at| self.0.swap_remove(at))
    }
}

impl State {
    /// A text chunk with lone surrogates; `repaired` is its line without them. `false`: it is no such chunk.
    pub(super) fn on_cut_chunk(&mut self, line: &str, repaired: &str) -> bool {
        let Some(mut chunk) = self.chunks.decode(repaired).filter(|chunk| chunk.complete) else { return false };
        let Some(raw) = chunk::raw_text(line) else { return false };
        let mut text = std::mem::take(&mut chunk.text.0);
        if let Some(low) = starts_with_low_surrogate(raw)
            && let Some(half) = self.halves.take(|half| half.fits(&chunk))
            && let Some(Ok(whole)) = char::decode_utf16([half.high, low]).next()
        {
            text.to_mut().replace_range(..REPLACEMENT_LEN, whole.encode_utf8(&mut [0; 4]));
        } else {
            self.settle_halves(&chunk.session_id);
        }
        let high = ends_in_high_surrogate(raw).filter(|_| self.halves.0.len() < MAX_HELD);
        if high.is_some() {
            let end = text.len().saturating_sub(REPLACEMENT_LEN);
            text.to_mut().truncate(end);
        }
        chunk.text = Text(text);
        self.count_message();
        // An unknown session's line is kept as it came, and comes here again.
        let known = self.on_chunk(&chunk, line);
        if let (Some(high), true) = (high, known) {
            let message_id = chunk.message_id.map(|id| id.0.into_owned());
            self.halves.0.push(Half {
                sender: chunk.session_id.0.into_owned(),
                stream: chunk.stream,
                message_id,
                high,
            });
        }
        true
    }

    /// Nothing follows that a held half of this sender could be joined with.
    pub(super) fn settle_halves(&mut self, sender: &str) {
        while let Some(half) = self.halves.take(|half| half.sender == sender) {
            let chunk = Chunk {
                session_id: Text(Cow::Owned(half.sender)),
                stream: half.stream,
                text: Text(Cow::Borrowed("\u{fffd}")),
                message_id: half.message_id.map(|id| Text(Cow::Owned(id))),
                complete: true,
                plain: true,
            };
            self.on_chunk(&chunk, "");
        }
    }

    /// Nothing more is heard of a session and its children, which are still known.
    pub(super) fn forget_halves_of_session(&mut self, session_id: &str) {
        let children = &self.children;
        self.halves.0.retain(|half| half.sender != session_id && children.root_of(&half.sender) != Some(session_id));
    }

    /// As [`State::settle_halves`] for a session and its children.
    pub(super) fn settle_halves_of_session(&mut self, session_id: &str) {
        let senders: Vec<_> = self
            .halves
            .0
            .iter()
            .filter(|half| half.sender == session_id || self.children.root_of(&half.sender) == Some(session_id))
            .map(|half| half.sender.clone())
            .collect();
        for sender in senders {
            self.settle_halves(&sender);
        }
    }
}
