//! All live trees of this process, by owner. The last resort of a host that ends: synchronous, no runtime needed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::spec::OwnerId;
use super::tree::ProcessTree;

/// Why an agent ended that was killed with all others, or was not started any more.
pub(crate) const SWEPT: &str = "the host ended all of its ACP agents";

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { trees: BTreeMap::new(), kills: BTreeMap::new(), kills_of_all: 0 });

struct Registry {
    trees: BTreeMap<u64, (OwnerId, Weak<ProcessTree>)>,
    /// How often all trees of an owner were killed.
    kills: BTreeMap<OwnerId, u64>,
    /// How often the trees of all owners were.
    kills_of_all: u64,
}

impl Registry {
    fn kills(&self, owner: OwnerId) -> u64 {
        self.kills_of_all + self.kills.get(&owner).copied().unwrap_or_default()
    }
}

/// Never held while a tree is looked at, killed or dropped.
fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When a launch was asked for, as its owner's kills count time: [`kill_all`] ends what is alive, and also what was asked
/// for before it and starts only afterwards, on another thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    owner: OwnerId,
    kills: u64,
}

impl Order {
    /// An order placed now.
    pub fn now(owner: OwnerId) -> Self {
        Self { owner, kills: registry().kills(owner) }
    }

    /// Whose trees it counts with.
    pub fn owner(&self) -> OwnerId {
        self.owner
    }

    /// Whether all trees of the owner were killed since.
    pub fn is_void(&self) -> bool {
        registry().kills(self.owner) != self.kills
    }
}

/// Takes a tree in. Returns whether its order still stands: else it came after the end of all of its owner's trees, and is
/// the caller's to end.
pub(super) fn register(tree: &Arc<ProcessTree>, order: Order) -> bool {
    let mut registry = registry();
    registry.trees.insert(tree.id(), (tree.owner(), Arc::downgrade(tree)));
    registry.kills(order.owner) == order.kills
}

pub(super) fn unregister(id: u64) {
    registry().trees.remove(&id);
}

/// How many trees are live in the whole process.
pub fn total() -> usize {
    registry().trees.len()
}

/// How many trees of `owner` are live: started, and not yet known to be gone.
pub fn active_count(owner: OwnerId) -> usize {
    registry().trees.values().filter(|(of, _)| *of == owner).count()
}

/// Kills every tree of `owner` and returns how many there were. Blocks until they are gone, within the bound of
/// [`ProcessTree::kill`]; callable from an exit hook. A launch whose [`Order`] is older starts nothing any more.
pub fn kill_all(owner: OwnerId) -> usize {
    let mut registry = registry();
    *registry.kills.entry(owner).or_default() += 1;
    kill(registry, |of| of == owner)
}

/// Kills every tree of every owner, like [`kill_all`].
pub fn kill_everything() -> usize {
    let mut registry = registry();
    registry.kills_of_all += 1;
    kill(registry, |_| true)
}

fn kill(registry: MutexGuard<'static, Registry>, whose: impl Fn(OwnerId) -> bool) -> usize {
    let chosen: Vec<Arc<ProcessTree>> =
        registry.trees.values().filter(|(of, _)| whose(*of)).filter_map(|(_, tree)| tree.upgrade()).collect();
    drop(registry);
    // First every tree gets its signals, then each is waited for: the bound is shared, not added up.
    for tree in &chosen {
        tree.sweep();
    }
    for tree in &chosen {
        tree.kill();
    }
    chosen.len()
}
