//! Which processes belong to a tree: a pure decision over a table of processes.

/// One process, as the operating system lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub pid: u32,
    pub parent: u32,
    pub session: u32,
    /// When it started, in the system's own unit; with `pid` it names one process for ever, though ids are used again.
    pub start: u64,
    /// Dead and not yet collected by its parent.
    pub zombie: bool,
    /// Stopped by a signal or a terminal.
    pub stopped: bool,
}

impl Entry {
    pub fn identity(&self) -> Identity {
        (self.pid, self.start)
    }
}

/// A process, safe against the reuse of its id.
pub(super) type Identity = (u32, u64);

/// A session that was created inside the tree. A process can leave its session only for a new one of its own, so everything
/// in such a session descends from the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Session {
    id: u32,
    /// When its leader started; `None` when the leader was dead before the session was noticed.
    leader: Option<u64>,
}

/// What is known of a tree so far.
#[derive(Debug)]
pub(super) struct Known {
    members: Vec<Identity>,
    sessions: Vec<Session>,
    /// Whether a complete look has found nobody; then nobody can follow.
    pub extinct: bool,
}

/// Processes that are never members, whatever they look like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Never {
    pub host: u32,
    pub host_session: u32,
}

impl Known {
    /// A tree of one: the process just started, leader of its own session.
    pub fn new(root: Identity) -> Self {
        Self { members: vec![root], sessions: vec![Session { id: root.0, leader: Some(root.1) }], extinct: false }
    }

    /// Those known to have been alive at the last look.
    pub fn members(&self) -> &[Identity] {
        &self.members
    }

    /// Whether a look that found nobody alive is final: all members were among `dead`, those that could fork no more when it
    /// began. One that died during the look may have forked behind the list's back just before.
    pub fn is_settled(&self, dead: &[Identity]) -> bool {
        self.members.iter().all(|member| dead.contains(member))
    }

    /// Adds members that were found without a complete look.
    pub fn add(&mut self, found: &[Entry], never: Never) {
        for entry in found {
            if !self.members.contains(&entry.identity()) {
                self.members.push(entry.identity());
            }
            if entry.session != 0 && entry.session != never.host_session && !self.has_session(entry.session) {
                let leader = found.iter().find(|other| other.pid == entry.session).map(|leader| leader.start);
                self.sessions.push(Session { id: entry.session, leader });
            }
        }
    }

    fn has_session(&self, id: u32) -> bool {
        self.sessions.iter().any(|session| session.id == id)
    }

    /// Finds all members in `table`, remembers them and their sessions, and returns those that are alive.
    ///
    /// `table` must be complete for processes not older than the root. `marked` looks into a process's environment, which
    /// is the expensive part: it is asked only for processes that nothing else shows to be members.
    pub fn select(&mut self, table: &mut [Entry], never: Never, mut marked: impl FnMut(&Entry) -> bool) -> Vec<Entry> {
        table.sort_unstable_by_key(|entry| entry.pid);
        let table = &*table;
        let mut member = vec![false; table.len()];
        let mut asked = false;
        loop {
            let mut grew = false;
            for (at, entry) in table.iter().enumerate() {
                if member[at] || entry.pid <= 1 || entry.pid == never.host {
                    continue;
                }
                let parent = table.binary_search_by_key(&entry.parent, |other| other.pid);
                if self.members.contains(&entry.identity())
                    || parent.is_ok_and(|parent| member[parent])
                    || self.in_session(entry, table)
                {
                    member[at] = true;
                    grew = true;
                    self.learn_session(entry, never, table);
                }
            }
            if grew {
                continue;
            }
            if asked {
                break;
            }
            asked = true;
            for (at, entry) in table.iter().enumerate() {
                if !member[at] && !entry.zombie && entry.pid > 1 && entry.pid != never.host && marked(entry) {
                    member[at] = true;
                    self.learn_session(entry, never, table);
                }
            }
        }
        let found = || table.iter().zip(&member).filter(|(_, member)| **member).map(|(entry, _)| *entry);
        self.members = found().map(|entry| entry.identity()).collect();
        let live: Vec<Entry> = found().filter(|entry| !entry.zombie).collect();
        self.extinct = live.is_empty();
        live
    }

    fn in_session(&self, entry: &Entry, table: &[Entry]) -> bool {
        self.sessions.iter().any(|session| {
            session.id == entry.session
                // The id of a session is not given to another process while anyone is in it. A leader that is not the
                // one we knew therefore leads another session, which came by the same id later.
                && match table.binary_search_by_key(&session.id, |other| other.pid) {
                    Ok(leader) => session.leader == Some(table[leader].start),
                    Err(_) => true,
                }
        })
    }

    fn learn_session(&mut self, entry: &Entry, never: Never, table: &[Entry]) {
        // Between fork and setsid a child is still in the session of the host.
        if entry.session == 0 || entry.session == never.host_session || self.has_session(entry.session) {
            return;
        }
        let leader = table.binary_search_by_key(&entry.session, |other| other.pid).ok().map(|at| table[at].start);
        self.sessions.push(Session { id: entry.session, leader });
    }
}

#[cfg(test)]
#[path = "members_tests.rs"]
mod tests;
