//! The permission floor: what an agent's tool call counts as, and which answer it gets when nobody says otherwise.
//!
//! Everything here is pure. Asking a person is the host's part; the floor decides whether one has to be asked, and
//! re-checks whatever the host answers (see [`options`]).

pub mod options;
pub mod request;
pub mod tool_calls;

use std::fmt;

pub use options::{Checked, Floor, OptionKind, Outcome, PermissionOption, Refusal, Selection, Several};
pub use options::{check_host_answer, deny_outcome, resolve_decision, select_option};
pub use request::{DecodeError, PermissionRequest};
pub use tool_calls::{MergedToolCall, ToolCallPatch, ToolCallTracker};

/// The categories that permission policies are keyed by. The protocol's tool kinds only ever map to three of them;
/// the other two exist because policies name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// Commits and other changes of a repository's history.
    GitWrite,
    /// Creating, changing, moving or deleting files.
    FileWriteDelete,
    /// Running programs.
    CommandExecution,
    /// Talking to the network.
    NetworkApi,
    /// Changing tasks or agents of the host.
    TaskAgentMutation,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 5] =
        [Self::GitWrite, Self::FileWriteDelete, Self::CommandExecution, Self::NetworkApi, Self::TaskAgentMutation];

    /// The name that policies use as their key.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GitWrite => "git_write",
            Self::FileWriteDelete => "file_write_delete",
            Self::CommandExecution => "command_execution",
            Self::NetworkApi => "network_api",
            Self::TaskAgentMutation => "task_agent_mutation",
        }
    }

    /// The category with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == name)
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a tool call counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Classification {
    /// Governed by the policy's rule for this category.
    Category(Category),
    /// Reads and thinks only: allowed wherever there is a policy at all.
    Exempt,
    /// Not understood, therefore denied.
    Deny,
}

impl Classification {
    /// The name that the Fusion-shaped API shows.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Category(category) => category.as_str(),
            Self::Exempt => "exempt",
            Self::Deny => "deny",
        }
    }
}

/// Classifies a protocol tool kind. Absent, `other` and unknown kinds are denied: a kind that nobody understands must
/// not become an approval.
pub fn classify_tool_kind(kind: Option<&str>) -> Classification {
    match kind {
        Some("execute") => Classification::Category(Category::CommandExecution),
        Some("edit" | "delete" | "move") => Classification::Category(Category::FileWriteDelete),
        Some("fetch") => Classification::Category(Category::NetworkApi),
        Some("read" | "search" | "think" | "switch_mode") => Classification::Exempt,
        _ => Classification::Deny,
    }
}

/// What a policy says about a category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// Go ahead.
    Allow,
    /// Refuse without asking.
    Block,
    /// Ask a person.
    RequireApproval,
}

impl Disposition {
    /// The name that policies use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::RequireApproval => "require-approval",
        }
    }

    /// Reads a policy's rule. A rule that is not one of the three names asks a person.
    pub fn from_rule(rule: &str) -> Self {
        match rule {
            "allow" => Self::Allow,
            "block" => Self::Block,
            _ => Self::RequireApproval,
        }
    }
}

/// The answer to a permission question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The agent may do it, once.
    Allow,
    /// The agent may not.
    Deny,
}

/// The policy's plain word: exempt is allowed, what is not understood is blocked, a category without a rule asks.
pub fn disposition_for(classification: Classification, rule: Option<Disposition>) -> Disposition {
    match classification {
        Classification::Exempt => Disposition::Allow,
        Classification::Deny => Disposition::Block,
        Classification::Category(_) => rule.unwrap_or(Disposition::RequireApproval),
    }
}

/// The policy's word for an untrusted agent: a blanket `allow` still asks, unless the host said that unrestricted
/// agents are acceptable.
pub fn effective_disposition(
    classification: Classification,
    rule: Option<Disposition>,
    allow_unrestricted: bool,
) -> Disposition {
    match (classification, disposition_for(classification, rule)) {
        (Classification::Category(_), Disposition::Allow) if !allow_unrestricted => Disposition::RequireApproval,
        (_, disposition) => disposition,
    }
}

/// The floor under a `session/request_permission`: without a policy everything is blocked, reads included.
pub fn floor_disposition(
    classification: Classification,
    has_policy: bool,
    rule: Option<Disposition>,
    allow_unrestricted: bool,
) -> Disposition {
    if has_policy { effective_disposition(classification, rule, allow_unrestricted) } else { Disposition::Block }
}
