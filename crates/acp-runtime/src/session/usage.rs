//! Tokens and cost from wherever an agent reports them. Absent is not zero: a number that was not said is not there.
//!
//! What agents mean by their numbers differs: by its schema ACP's `usage` is the sum of the session, but some agents put
//! the turn's sum into it, and one the numbers of the last request. So a report says where it comes from, and what it
//! covers as far as that is known.

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

use super::state::members;
use crate::text::sanitize::sanitized;
use crate::wire::Text;

/// Longest name of a currency, in UTF-16 code units.
const MAX_CURRENCY: usize = 64;
/// Most that a place is read of which counts are looked for in, in bytes.
const MAX_COUNTS_BYTES: usize = 64 * 1024;

/// Where the counts of a report were said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// `usage` of the prompt's result.
    PromptResult,
    /// `_meta.quota` of the prompt's result: Gemini CLI and its kin.
    MetaQuota,
    /// `_meta.field_meta` of the prompt's result: fast-agent.
    MetaFieldMeta,
    /// `_meta.usage` of the prompt's result.
    MetaUsage,
    /// Only `usage_update` said anything; it has no counts of input and output.
    UsageUpdate,
}

/// What the counts of a report cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The turn, or a part of it.
    Turn,
    /// The session so far.
    Session,
    /// Not known: agents differ, and this one has not shown it yet.
    Unknown,
}

/// Counts of tokens, each where it was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Read by the model.
    pub input_tokens: Option<u64>,
    /// Written by the model.
    pub output_tokens: Option<u64>,
    /// All of them.
    pub total_tokens: Option<u64>,
    /// Read from a cache.
    pub cached_read_tokens: Option<u64>,
    /// Written to a cache.
    pub cached_write_tokens: Option<u64>,
    /// Thought by the model.
    pub thought_tokens: Option<u64>,
}

impl Tokens {
    /// Reads the names seen; ACP's own first.
    fn read(raw: &Value) -> Option<Self> {
        let of =
            |names: &[&str]| names.iter().find_map(|name| raw.get(name).and_then(Value::as_number).and_then(count));
        let tokens = Self {
            input_tokens: of(&["inputTokens", "input_tokens", "promptTokens", "prompt_tokens"]),
            output_tokens: of(&["outputTokens", "output_tokens", "completionTokens", "completion_tokens"]),
            total_tokens: of(&["totalTokens", "total_tokens"]),
            cached_read_tokens: of(&[
                "cachedReadTokens",
                "cached_read_tokens",
                "cacheReadInputTokens",
                "cache_read_input_tokens",
            ]),
            cached_write_tokens: of(&[
                "cachedWriteTokens",
                "cached_write_tokens",
                "cacheCreationInputTokens",
                "cache_creation_input_tokens",
            ]),
            thought_tokens: of(&["thoughtTokens", "thought_tokens", "reasoningTokens", "reasoning_tokens"]),
        };
        (tokens != Self::default()).then_some(tokens)
    }

    /// The protocol's names, in the order of [`Tokens::counts`].
    const NAMES: [&'static str; 6] =
        ["inputTokens", "outputTokens", "totalTokens", "cachedReadTokens", "cachedWriteTokens", "thoughtTokens"];

    fn counts(&self) -> [Option<u64>; 6] {
        [
            self.input_tokens,
            self.output_tokens,
            self.total_tokens,
            self.cached_read_tokens,
            self.cached_write_tokens,
            self.thought_tokens,
        ]
    }

    /// Whether a count is lower than it was: then they are no sums of the session.
    fn fell_below(&self, before: &Self) -> bool {
        let pairs = self.counts().into_iter().zip(before.counts());
        pairs.into_iter().any(|(now, before)| matches!((now, before), (Some(now), Some(before)) if now < before))
    }
}

/// A count: a whole number, not negative, also where it is written as a float.
fn count(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let float =
            number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(float))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
        Some(float as u64)
    })
}

/// What `usage_update` says: how full the context is, and what the session has cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    used: Option<u64>,
    size: Option<u64>,
    cost: Option<(f64, String)>,
}

impl Context {
    /// Takes a `usage_update`. Gives back whether it said anything. A cost that it leaves out stays.
    pub(super) fn update(&mut self, raw: &RawValue) -> bool {
        #[derive(Deserialize)]
        struct Cost<'a> {
            amount: f64,
            #[serde(borrow)]
            currency: Text<'a>,
        }
        let mut said = false;
        members(raw.get(), |key, value| match key {
            "used" | "size" => {
                if let Some(number) = serde_json::from_str::<Number>(value.get()).ok().as_ref().and_then(count) {
                    said = true;
                    *(if key == "used" { &mut self.used } else { &mut self.size }) = Some(number);
                }
            }
            "cost" => {
                if let Ok(Cost { amount, currency }) = serde_json::from_str(value.get()) {
                    said = true;
                    self.cost = Some((amount, sanitized(&currency, MAX_CURRENCY).into_owned()));
                }
            }
            _ => {}
        });
        said
    }

    pub(super) fn serialize<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        #[derive(Serialize)]
        struct Window {
            #[serde(skip_serializing_if = "Option::is_none")]
            used: Option<u64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            size: Option<u64>,
        }
        #[derive(Serialize)]
        struct Cost<'a> {
            amount: f64,
            currency: &'a str,
        }
        if self.used.is_some() || self.size.is_some() {
            map.serialize_entry("context", &Window { used: self.used, size: self.size })?;
        }
        if let Some((amount, currency)) = &self.cost {
            map.serialize_entry("cost", &Cost { amount: *amount, currency })?;
        }
        Ok(())
    }
}

/// What a turn used, as far as the agent said.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// The counts; none where only `usage_update` came.
    pub tokens: Tokens,
    /// Where they come from.
    pub source: Source,
    /// What they cover.
    pub scope: Scope,
    /// The last `usage_update` of the turn. Its cost is always the session's.
    pub context: Context,
}

impl Serialize for Usage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, count) in Tokens::NAMES.into_iter().zip(self.tokens.counts()) {
            if let Some(count) = count {
                map.serialize_entry(name, &count)?;
            }
        }
        map.serialize_entry("source", &self.source)?;
        map.serialize_entry("scope", &self.scope)?;
        self.context.serialize(&mut map)?;
        map.end()
    }
}

/// The reports of a session, turn by turn.
#[derive(Debug, Default)]
pub(super) struct SessionUsage {
    context: Context,
    said: bool,
    last: Option<Tokens>,
    per_turn: bool,
}

impl SessionUsage {
    pub(super) fn begin_turn(&mut self) {
        self.said = false;
        self.context = Context::default();
    }

    /// A `usage_update` of the running turn.
    pub(super) fn update(&mut self, raw: &RawValue) {
        self.said |= self.context.update(raw);
    }

    /// The report of a turn that ends with this result. `None`: the agent said nothing.
    pub(super) fn end_turn(&mut self, result: Option<&RawValue>) -> Option<Usage> {
        let context = std::mem::take(&mut self.context);
        let said = std::mem::take(&mut self.said);
        let Some((tokens, source)) = result.and_then(read) else {
            let (tokens, source, scope) = (Tokens::default(), Source::UsageUpdate, Scope::Session);
            return said.then_some(Usage { tokens, source, scope, context });
        };
        self.per_turn |= self.last.is_some_and(|last| tokens.fell_below(&last));
        self.last = Some(tokens);
        let scope = if source == Source::MetaQuota || self.per_turn { Scope::Turn } else { Scope::Unknown };
        Some(Usage { tokens, source, scope, context })
    }
}

/// The first place of a result that has counts.
fn read(result: &RawValue) -> Option<(Tokens, Source)> {
    let (mut usage, mut quota, mut field_meta, mut meta_usage) = Default::default();
    members(result.get(), |key, value| match key {
        "usage" => usage = counts(value),
        "_meta" => {
            members(value.get(), |key, value| match key {
                "quota" => quota = counts(value),
                "field_meta" => field_meta = counts(value),
                "usage" => meta_usage = counts(value),
                _ => {}
            });
        }
        _ => {}
    });
    let (quota, field_meta) = (quota.as_ref(), field_meta.as_ref());
    let places = [
        (usage.as_ref(), Source::PromptResult),
        (quota.and_then(|quota| quota.get("token_count")), Source::MetaQuota),
        (quota, Source::MetaQuota),
        (field_meta.and_then(|meta| meta.get("usage")), Source::MetaFieldMeta),
        (field_meta, Source::MetaFieldMeta),
        (meta_usage.as_ref(), Source::MetaUsage),
    ];
    places.into_iter().find_map(|(place, source)| Some((Tokens::read(place?)?, source)))
}

/// A place where counts may be, unless it is too large to hold nothing else.
fn counts(raw: &RawValue) -> Option<Value> {
    (raw.get().len() <= MAX_COUNTS_BYTES).then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
