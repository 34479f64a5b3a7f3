//! Choosing among the options that an agent offered, and re-checking what the host chose.
//!
//! A denial is `reject_once` where that is offered, else `cancelled`; never an option that lasts (`*_always`), and never
//! one whose id an allowing option shares. Option ids are opaque: the host sees a cleaned id, the agent gets its own
//! bytes back.

use serde::Serialize;
use serde_json::{Value, json};

use super::Decision;
use crate::port::PermissionDecision;

/// What an option means. The protocol's list is closed; anything else is kept visible but never chosen automatically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Allow this call.
    AllowOnce,
    /// Allow this and later calls.
    AllowAlways,
    /// Reject this call.
    RejectOnce,
    /// Reject this and later calls.
    RejectAlways,
    /// A kind that this client does not know, cleaned.
    Other(String),
}

impl OptionKind {
    /// Reads the protocol's name; `None` for a name that is not in the protocol.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "allow_once" => Self::AllowOnce,
            "allow_always" => Self::AllowAlways,
            "reject_once" => Self::RejectOnce,
            "reject_always" => Self::RejectAlways,
            _ => return None,
        })
    }

    /// The name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowAlways => "allow_always",
            Self::RejectOnce => "reject_once",
            Self::RejectAlways => "reject_always",
            Self::Other(name) => name,
        }
    }

    /// Whether the agent would remember the answer.
    pub fn lasts(&self) -> bool {
        matches!(self, Self::AllowAlways | Self::RejectAlways)
    }
}

impl Serialize for OptionKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One offered option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// The id as the host sees it and answers with it: cleaned and bounded.
    pub option_id: String,
    /// The id as the agent sent it, for the way back.
    #[serde(skip)]
    pub wire_id: String,
    /// What the option says of itself, cleaned and bounded.
    pub name: String,
    /// What it means.
    pub kind: OptionKind,
}

/// The outcome that goes back to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This option, by the agent's own id.
    Selected(String),
    /// No option.
    Cancelled,
}

impl Outcome {
    /// The JSON-RPC result.
    pub fn to_result(&self) -> Value {
        match self {
            Self::Selected(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
            Self::Cancelled => json!({ "outcome": { "outcome": "cancelled" } }),
        }
    }
}

/// What an automatic allow does when several options would allow just this call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Several {
    /// Refuse: they differ in something that only a person can weigh.
    #[default]
    Refuse,
    /// Take the first; the host opted in.
    TakeFirst,
}

/// The result of [`select_option`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection<'a> {
    /// The decision after the choice: an allow that no option carries has become a denial.
    pub decision: Decision,
    /// The chosen option; `None` means the answer is `cancelled`.
    pub option: Option<&'a PermissionOption>,
    /// Whether an allow was refused because several options carry it.
    pub ambiguous: bool,
}

impl Selection<'_> {
    /// The outcome for the wire.
    pub fn outcome(&self) -> Outcome {
        self.option.map_or(Outcome::Cancelled, |option| Outcome::Selected(option.wire_id.clone()))
    }
}

/// The automatic choice: only ever `allow_once` or `reject_once`.
pub fn select_option(decision: Decision, options: &[PermissionOption], several: Several) -> Selection<'_> {
    let deny = |ambiguous| Selection {
        decision: Decision::Deny,
        option: options.iter().find(|o| o.kind == OptionKind::RejectOnce && speaks_clearly(o, options)),
        ambiguous,
    };
    if decision == Decision::Deny {
        return deny(false);
    }
    let mut allowing = options.iter().filter(|o| o.kind == OptionKind::AllowOnce && speaks_clearly(o, options));
    match (allowing.next(), allowing.next()) {
        (None, _) => deny(false),
        (Some(_), Some(_)) if several == Several::Refuse => deny(true),
        (Some(option), _) => Selection { decision: Decision::Allow, option: Some(option), ambiguous: false },
    }
}

/// The answer of every denial: `reject_once` when offered, else `cancelled`.
pub fn deny_outcome(options: &[PermissionOption]) -> Outcome {
    select_option(Decision::Deny, options, Several::Refuse).outcome()
}

/// How much the host may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floor {
    /// Nothing that lasts, and no kind that is unknown: the Fusion-shaped API.
    OnceOnly,
    /// Any offered option: the typed API, where a person picked it.
    AnyOffered,
}

/// Why a host's answer was not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No offered option has this id.
    UnknownOption,
    /// Options of different meaning share this id.
    AmbiguousOption,
    /// The option lasts beyond this call, or its kind is unknown, and the floor forbids that.
    ForbiddenKind,
}

/// The result of [`check_host_answer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// What goes to the agent.
    pub outcome: Outcome,
    /// Set when that is not what the host answered.
    pub refused: Option<Refusal>,
}

/// Re-checks the host's answer. `None` means that the host chose nothing and stands for `cancelled`. An id that was not
/// offered, or that means several things, becomes `cancelled`; a choice that the floor forbids becomes a denial.
pub fn check_host_answer(options: &[PermissionOption], answer: Option<&str>, floor: Floor) -> Checked {
    let refuse = |outcome, refusal| Checked { outcome, refused: Some(refusal) };
    let Some(answer) = answer else { return Checked { outcome: Outcome::Cancelled, refused: None } };
    let Some(option) = options.iter().find(|o| o.option_id == answer) else {
        return refuse(Outcome::Cancelled, Refusal::UnknownOption);
    };
    if !speaks_clearly(option, options) {
        return refuse(Outcome::Cancelled, Refusal::AmbiguousOption);
    }
    if floor == Floor::OnceOnly && (option.kind.lasts() || matches!(option.kind, OptionKind::Other(_))) {
        return refuse(deny_outcome(options), Refusal::ForbiddenKind);
    }
    Checked { outcome: Outcome::Selected(option.wire_id.clone()), refused: None }
}

/// Turns the host's decision into the answer for the agent. `Allow` without a single clear `allow_once` is a denial.
pub fn resolve_decision(
    options: &[PermissionOption],
    decision: &PermissionDecision,
    floor: Floor,
    several: Several,
) -> Checked {
    match decision {
        PermissionDecision::AllowOnce => {
            let selection = select_option(Decision::Allow, options, several);
            let refused = match selection.decision {
                Decision::Allow => None,
                Decision::Deny if selection.ambiguous => Some(Refusal::AmbiguousOption),
                Decision::Deny => Some(Refusal::UnknownOption),
            };
            Checked { outcome: selection.outcome(), refused }
        }
        PermissionDecision::Select(id) => check_host_answer(options, Some(id), floor),
        PermissionDecision::Deny => Checked { outcome: deny_outcome(options), refused: None },
        PermissionDecision::Cancel => Checked { outcome: Outcome::Cancelled, refused: None },
    }
}

/// Whether the option's id, as the host and as the agent see it, belongs to one meaning and one wire id only.
fn speaks_clearly(option: &PermissionOption, options: &[PermissionOption]) -> bool {
    options.iter().all(|other| {
        let same_meaning = other.kind == option.kind && other.wire_id == option.wire_id;
        same_meaning || (other.option_id != option.option_id && other.wire_id != option.wire_id)
    })
}
