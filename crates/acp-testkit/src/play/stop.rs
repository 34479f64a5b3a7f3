//! Why the agent ends.

/// Exit code when the client did not do what the script expects.
pub const MISMATCH: i32 = 70;
/// Exit code when the deadline passed.
pub const DEADLINE: i32 = 71;
/// Exit code when the client closed the agent's stdout.
pub const BROKEN_PIPE: i32 = 72;
/// Exit code when the script itself, or the system, is at fault.
pub const UNUSABLE: i32 = 73;

/// The end of the agent: its exit code and, unless it is a wanted end, the reason for stderr.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Exit code.
    pub code: i32,
    /// Why, for whoever reads the test's output.
    pub reason: Option<String>,
}

impl Stop {
    /// An end that the script asked for.
    pub fn wanted(code: i32) -> Self {
        Self { code, reason: None }
    }

    /// The client did not do what the script expects.
    pub fn mismatch(reason: impl Into<String>) -> Self {
        Self { code: MISMATCH, reason: Some(reason.into()) }
    }

    /// The script cannot be played.
    pub fn unusable(reason: impl Into<String>) -> Self {
        Self { code: UNUSABLE, reason: Some(reason.into()) }
    }

    /// Puts the place where it happened before the reason.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { reason: self.reason.map(|reason| format!("{place}: {reason}")), ..self }
    }
}
