//! All live trees of this process, by owner. The last resort of a host that ends: synchronous, no runtime needed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::spec::OwnerId;
use super::tree::ProcessTree;

/// Why an agent ended that was killed with all others, or was not started any more.
pub(crate) const SWEPT: &str = "the host ended all of its ACP agents";

static REGISTRY: Mutex<Registry> =
    Mutex::new(Registry { trees: BTreeMap::new(), kills: BTreeMap::new(), kills_of_all: 0 });

struct Registry {
    trees: BTreeMap<u64, (OwnerId, Weak<ProcessTree>)>,
    /// How often all trees of an owner were killed, as long as an order asks: there is an entry for each owner that has
    /// one, not for each that ever was.
    kills: BTreeMap<OwnerId, Weak<AtomicU64>>,
    /// How often the trees of all owners were.
    kills_of_all: u64,
}

impl Registry {
    /// The count that all orders of an owner share.
    fn count(&mut self, owner: OwnerId) -> Arc<AtomicU64> {
        if let Some(count) = self.kills.get(&owner).and_then(Weak::upgrade) {
            return count;
        }
        let count = Arc::default();
        self.kills.retain(|_, other| other.strong_count() > 0);
        self.kills.insert(owner, Arc::downgrade(&count));
        count
    }

    fn kills(&self, count: &AtomicU64) -> u64 {
        self.kills_of_all + count.load(Ordering::Relaxed)
    }
}

/// Never held while a tree is looked at, killed or dropped.
fn registry() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When a launch was asked for, as its owner's kills count time: [`kill_all`] ends what is alive, and also what was asked
/// for before it and starts only afterwards, on another thread.
#[derive(Clone, Debug)]
pub struct Order {
    owner: OwnerId,
    count: Arc<AtomicU64>,
    kills: u64,
}

impl Order {
    /// An order placed now.
    pub fn now(owner: OwnerId) -> Self {
        let mut registry = registry();
        let count = registry.count(owner);
        Self { owner, kills: registry.kills(&count), count }
    }

    /// Whose trees it counts with.
    pub fn owner(&self) -> OwnerId {
        self.owner
    }

    /// Whether all trees of the owner were killed since.
    pub fn is_void(&self) -> bool {
        registry().kills(&self.count) != self.kills
    }
}

/// Takes a tree in. Returns whether its order still stands: else it came after the end of all of its owner's trees, and is
/// the caller's to end.
pub(super) fn register(tree: &Arc<ProcessTree>, order: &Order) -> bool {
    let mut registry = registry();
    registry.trees.insert(tree.id(), (tree.owner(), Arc::downgrade(tree)));
    registry.kills(&order.count) == order.kills
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
    let registry = registry();
    if let Some(count) = registry.kills.get(&owner).and_then(Weak::upgrade) {
        count.fetch_add(1, Ordering::Relaxed);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The owners of this test: no other one has them.
    const FIRST: u64 = 1 << 40;

    fn counted() -> usize {
        registry().kills.range(OwnerId(FIRST)..).count()
    }

    #[test]
    fn only_owners_with_orders_are_counted() {
        let waiting = Order::now(OwnerId(FIRST));
        let shared = waiting.clone();
        for owner in (FIRST + 1..FIRST + 1000).map(OwnerId) {
            let order = Order::now(owner);
            kill_all(owner);
            assert!(order.is_void() && !Order::now(owner).is_void());
            drop(order);
            kill_all(owner);
            assert!(counted() <= 2, "{}", counted());
        }
        // Whoever waits all the while is still counted, whichever of its orders is left.
        assert!(!waiting.is_void() && !shared.is_void());
        drop(waiting);
        let late = Order::now(OwnerId(FIRST));
        kill_all(OwnerId(FIRST));
        assert!(shared.is_void() && late.is_void());
        drop((shared, late));
        drop(Order::now(OwnerId(FIRST + 1)));
        assert!(counted() <= 1);
    }
}
