//! Child sessions: which open session an id that the host never opened belongs to (rule C40).
//!
//! A link is only made by what the agent says on, or of, an open session: a `subagent_update`, or the parent's id in the
//! `_meta` of the child's own updates. Without a link nothing is routed, whatever else is open.

use std::collections::HashMap;

use serde_json::json;

use crate::error::{Error, ErrorCode, Result};
use crate::session::Announced;

/// Links kept at once. One more is not made.
const MAX_LINKS: usize = 256;
/// Links of one session. One more is not made.
const MAX_LINKS_OF_ONE: usize = 64;
/// Where agents name the parent of a child session.
pub(super) const PARENT_NAMES: &[&str] = &["parentSessionId", "parent_session_id"];

/// What is known of a child session.
#[derive(Debug)]
struct Child {
    /// The open session that it belongs to, over any number of generations.
    root: String,
    /// Whether the agent lets its work be cancelled.
    can_cancel: bool,
    /// Whether it was told to, and has not come to rest since.
    cancelling: bool,
}

/// The open session behind each child session.
#[derive(Debug, Default)]
pub(super) struct Children {
    known: HashMap<String, Child>,
}

impl Children {
    /// The open session that a child belongs to, over any number of generations.
    pub(super) fn root_of(&self, child: &str) -> Option<&str> {
        self.known.get(child).map(|child| child.root.as_str())
    }

    /// Links a child to the open session `root`. The first link counts. `false`: there is no room.
    pub(super) fn link(&mut self, child: &str, root: &str) -> bool {
        if self.known.contains_key(child) {
            return true;
        }
        let of_one = self.known.values().filter(|other| other.root == root).count();
        if self.known.len() >= MAX_LINKS || of_one >= MAX_LINKS_OF_ONE {
            return false;
        }
        let known = Child { root: root.to_owned(), can_cancel: false, cancelling: false };
        self.known.insert(child.to_owned(), known);
        true
    }

    /// Takes what `root`, or a child of it, says of a child.
    pub(super) fn announce(&mut self, said: &Announced, root: &str) {
        self.link(&said.id, root);
        // What another session says of it is nothing.
        let Some(child) = self.known.get_mut(&said.id).filter(|child| child.root == root) else { return };
        child.can_cancel = said.cancel.unwrap_or(child.can_cancel);
        child.cancelling &= !said.idle;
    }

    /// Notes that a child of `root` is to be cancelled. `false`: it has been told already.
    pub(super) fn cancel(&mut self, child: &str, root: &str) -> Result<bool> {
        let Some(child) = self.known.get_mut(child).filter(|child| child.root == root) else {
            return Err(Error::invalid_argument("the session has no child session of that id"));
        };
        if !child.can_cancel {
            let why = "the agent does not let the work of this child session be cancelled alone";
            let extra = json!({ "capability": "cancel", "method": "session/cancel" });
            return Err(Error::new(ErrorCode::UnsupportedCapability, why).with_extra(extra));
        }
        Ok(!std::mem::replace(&mut child.cancelling, true))
    }

    /// Whether a child was told to cancel its work, and has not come to rest since.
    pub(super) fn cancelling(&self, child: &str) -> bool {
        self.known.get(child).is_some_and(|child| child.cancelling)
    }

    /// A turn of `root` has ended: what its children do from now on is something new.
    pub(super) fn settle(&mut self, root: &str) {
        for child in self.known.values_mut().filter(|child| child.root == root) {
            child.cancelling = false;
        }
    }

    /// The host opened the session itself, or its root is gone.
    pub(super) fn forget(&mut self, session: &str) {
        self.known.remove(session);
        self.known.retain(|_, child| child.root != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_link_counts_and_ends_with_either_side() {
        let mut children = Children::default();
        assert!(children.link("c", "a") && children.link("c", "b"));
        assert_eq!(children.root_of("c"), Some("a"));
        children.forget("b");
        assert_eq!(children.root_of("c"), Some("a"));
        children.forget("a");
        assert_eq!(children.root_of("c"), None);
        assert!(children.link("c", "b"));
        children.forget("c");
        assert_eq!(children.root_of("c"), None);
    }

    #[test]
    fn what_may_be_cancelled_is_said_by_the_owner_and_told_once_until_it_rests() {
        let said = |cancel, idle| Announced { id: "c".to_owned(), cancel, idle };
        let mut children = Children::default();
        let code = |result: Result<bool>| result.unwrap_err().code();
        assert_eq!(code(children.cancel("c", "a")), ErrorCode::InvalidArgument);
        children.announce(&said(None, false), "a");
        assert_eq!(code(children.cancel("c", "a")), ErrorCode::UnsupportedCapability);
        children.announce(&said(Some(true), false), "b");
        assert_eq!(code(children.cancel("c", "a")), ErrorCode::UnsupportedCapability);
        children.announce(&said(Some(true), false), "a");
        assert_eq!(code(children.cancel("c", "b")), ErrorCode::InvalidArgument);
        assert!(children.cancel("c", "a").unwrap() && children.cancelling("c"));
        children.announce(&said(None, false), "a");
        assert!(!children.cancel("c", "a").unwrap());
        children.announce(&said(None, true), "a");
        assert!(!children.cancelling("c") && children.cancel("c", "a").unwrap());
        children.settle("b");
        assert!(children.cancelling("c"));
        children.settle("a");
        assert!(!children.cancelling("c"));
        children.announce(&said(Some(false), false), "a");
        assert_eq!(code(children.cancel("c", "a")), ErrorCode::UnsupportedCapability);
    }

    #[test]
    fn links_are_bounded_over_all_and_for_each() {
        let mut children = Children::default();
        let made = (0..1000).filter(|n| children.link(&n.to_string(), "a")).count();
        assert_eq!(made, MAX_LINKS_OF_ONE);
        let made = (1000..2000).filter(|n| children.link(&n.to_string(), &(n % 100).to_string())).count();
        assert_eq!(made + MAX_LINKS_OF_ONE, MAX_LINKS);
    }
}
