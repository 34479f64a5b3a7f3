//! All live trees of this process, by owner. The last resort of a host that ends: synchronous, no runtime needed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::spec::OwnerId;
use super::tree::ProcessTree;

type Trees = BTreeMap<u64, (OwnerId, Weak<ProcessTree>)>;

static TREES: Mutex<Trees> = Mutex::new(BTreeMap::new());

/// Never held while a tree is looked at, killed or dropped.
fn trees() -> MutexGuard<'static, Trees> {
    TREES.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn register(tree: &Arc<ProcessTree>) {
    trees().insert(tree.id(), (tree.owner(), Arc::downgrade(tree)));
}

pub(super) fn unregister(id: u64) {
    trees().remove(&id);
}

/// How many trees are live in the whole process.
pub fn total() -> usize {
    trees().len()
}

/// How many trees of `owner` are live: started, and not yet known to be gone.
pub fn active_count(owner: OwnerId) -> usize {
    trees().values().filter(|(of, _)| *of == owner).count()
}

/// Kills every tree of `owner` and returns how many there were. Blocks until they are gone, within the bound of
/// [`ProcessTree::kill`]; callable from an exit hook.
pub fn kill_all(owner: OwnerId) -> usize {
    kill(|of| of == owner)
}

/// Kills every tree of every owner, like [`kill_all`].
pub fn kill_everything() -> usize {
    kill(|_| true)
}

fn kill(whose: impl Fn(OwnerId) -> bool) -> usize {
    let chosen: Vec<Arc<ProcessTree>> =
        trees().values().filter(|(of, _)| whose(*of)).filter_map(|(_, tree)| tree.upgrade()).collect();
    // First every tree gets its signals, then each is waited for: the bound is shared, not added up.
    for tree in &chosen {
        tree.sweep();
    }
    for tree in &chosen {
        tree.kill();
    }
    chosen.len()
}
