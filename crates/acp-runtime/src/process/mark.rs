//! The mark that a tree carries in its environment.
//!
//! Descendants inherit it across `fork`, `exec`, `setsid` and the death of their parents, which is what makes a tool that
//! left the group, the session and the family findable. Its value is `<host>.<tree>`, where `<host>` is random and the
//! same for all trees of this process, so that the watchdog needs to know only that. A host that is itself the descendant
//! of such a tree puts the outer value and a colon in front, so that both owners recognise the processes as theirs.

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use memchr::memmem;

use crate::error::{Error, ErrorCode, Phase, Result};

/// The variable that holds the mark.
pub(super) const NAME: &str = "FUSION_ACP_TREE";
/// The longest outer value that is passed on, in bytes: some eight hosts inside each other.
const MAX_OUTER_BYTES: usize = 512;

struct Host {
    token: String,
    outer: Option<String>,
}

static HOST: OnceLock<Host> = OnceLock::new();
static TREES: AtomicU64 = AtomicU64::new(1);

fn host() -> Result<&'static Host> {
    if let Some(host) = HOST.get() {
        return Ok(host);
    }
    let mut random = [0u8; 16];
    getrandom::fill(&mut random).map_err(|error| {
        Error::new(ErrorCode::InternalError, format!("no random bytes: {error}")).in_phase(Phase::Spawn)
    })?;
    let mut token = String::with_capacity(32);
    for byte in random {
        let _ = write!(token, "{byte:02x}");
    }
    let outer = std::env::var(NAME).ok().filter(|value| {
        value.len() <= MAX_OUTER_BYTES
            && value.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':'))
    });
    Ok(HOST.get_or_init(|| Host { token, outer }))
}

/// The part of every mark that is the same for all trees of this process.
pub(super) fn host_token() -> Result<&'static str> {
    host().map(|host| host.token.as_str())
}

/// The mark of one tree.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    own: String,
    value: String,
}

impl Mark {
    /// A mark that no process carries yet.
    pub(super) fn fresh() -> Result<Self> {
        let host = host()?;
        let own = format!("{}.{:x}", host.token, TREES.fetch_add(1, Ordering::Relaxed));
        let value = host.outer.as_ref().map_or_else(|| own.clone(), |outer| format!("{outer}:{own}"));
        Ok(Self { own, value })
    }

    /// The variable's value for the root of the tree.
    pub(super) fn value(&self) -> &str {
        &self.value
    }

    /// Whether an environment block (`NAME=value`, each ended by NUL) carries the mark.
    pub(super) fn is_in(&self, environment: &[u8]) -> bool {
        let mut from = 0;
        while let Some(at) = memmem::find(&environment[from..], NAME.as_bytes()) {
            let start = from + at;
            let rest = &environment[start + NAME.len()..];
            from = start + NAME.len();
            if (start == 0 || environment[start - 1] == 0)
                && let Some(rest) = rest.strip_prefix(b"=")
            {
                let end = memchr::memchr(0, rest).unwrap_or(rest.len());
                if rest[..end].split(|byte| *byte == b':').any(|part| part == self.own.as_bytes()) {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_own_part_counts() {
        let mark = Mark { own: "ab.1".into(), value: "ab.1".into() };
        assert!(mark.is_in(b"A=1\0FUSION_ACP_TREE=ab.1\0"));
        assert!(mark.is_in(b"FUSION_ACP_TREE=cd.2:ab.1"));
        assert!(mark.is_in(b"FUSION_ACP_TREE=ab.1:ef.9\0"));
        assert!(!mark.is_in(b"FUSION_ACP_TREE=ab.12\0"));
        assert!(!mark.is_in(b"XFUSION_ACP_TREE=ab.1\0"));
        assert!(!mark.is_in(b"FUSION_ACP_TREE_X=ab.1\0FUSION_ACP_TREE\0"));
        assert!(!mark.is_in(b""));
    }

    #[test]
    fn marks_differ_and_share_the_host_token() {
        let (a, b) = (Mark::fresh().unwrap(), Mark::fresh().unwrap());
        assert_ne!(a.value(), b.value());
        assert!(a.value().contains(host_token().unwrap()) && b.value().contains(host_token().unwrap()));
    }
}
