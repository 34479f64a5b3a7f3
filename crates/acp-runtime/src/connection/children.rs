//! Child sessions: which open session an id that the host never opened belongs to (rule C40).
//!
//! A link is only made by what the agent says on, or of, an open session: a `subagent_update`, or the parent's id in the
//! `_meta` of the child's own updates. Without a link nothing is routed, whatever else is open.

use std::collections::HashMap;

/// Links kept at once. One more is not made.
const MAX_LINKS: usize = 256;
/// Links of one session. One more is not made.
const MAX_LINKS_OF_ONE: usize = 64;
/// Where agents name the parent of a child session.
pub(super) const PARENT_NAMES: &[&str] = &["parentSessionId", "parent_session_id"];

/// The open session behind each child session.
#[derive(Debug, Default)]
pub(super) struct Children {
    roots: HashMap<String, String>,
}

impl Children {
    /// The open session that a child belongs to, over any number of generations.
    pub(super) fn root_of(&self, child: &str) -> Option<&str> {
        self.roots.get(child).map(String::as_str)
    }

    /// Links a child to the open session `root`. The first link counts. `false`: there is no room.
    pub(super) fn link(&mut self, child: &str, root: &str) -> bool {
        if self.roots.contains_key(child) {
            return true;
        }
        let of_one = self.roots.values().filter(|other| *other == root).count();
        if self.roots.len() >= MAX_LINKS || of_one >= MAX_LINKS_OF_ONE {
            return false;
        }
        self.roots.insert(child.to_owned(), root.to_owned());
        true
    }

    /// The host opened the session itself, or its root is gone.
    pub(super) fn forget(&mut self, session: &str) {
        self.roots.remove(session);
        self.roots.retain(|_, root| root != session);
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
    fn links_are_bounded_over_all_and_for_each() {
        let mut children = Children::default();
        let made = (0..1000).filter(|n| children.link(&n.to_string(), "a")).count();
        assert_eq!(made, MAX_LINKS_OF_ONE);
        let made = (1000..2000).filter(|n| children.link(&n.to_string(), &(n % 100).to_string())).count();
        assert_eq!(made + MAX_LINKS_OF_ONE, MAX_LINKS);
    }
}
