use super::*;

const NEVER: Never = Never { host: 50, host_session: 40 };

fn process(pid: u32, parent: u32, session: u32, start: u64) -> Entry {
    Entry { pid, parent, session, start, zombie: false, stopped: false }
}

fn pids(entries: &[Entry]) -> Vec<u32> {
    entries.iter().map(|entry| entry.pid).collect()
}

fn select(known: &mut Known, table: &[Entry], marked: &[u32]) -> Vec<u32> {
    pids(&known.select(&mut table.to_vec(), NEVER, |entry| marked.contains(&entry.pid)))
}

#[test]
fn parentage_sessions_and_marks_are_followed_in_any_order_of_ids() {
    let mut known = Known::new((900, 10));
    let table = [
        process(900, 50, 900, 10),
        process(20, 900, 900, 11),
        process(15, 20, 15, 12),  // a tool in its own session, with a lower id than its parent
        process(16, 1, 15, 13),   // its orphan
        process(700, 1, 700, 14), // a daemon with nothing but the mark
        process(701, 700, 700, 15),
        process(702, 1, 700, 15),
        process(800, 50, 800, 16), // another child of the host
        process(801, 1, 801, 16),
    ];
    assert_eq!(select(&mut known, &table, &[700]), [15, 16, 20, 700, 701, 702, 900]);
}

#[test]
fn the_environment_is_asked_only_where_nothing_else_tells() {
    let mut known = Known::new((900, 10));
    let mut table = [process(900, 50, 900, 10), process(901, 900, 900, 11), process(902, 1, 902, 12)];
    let mut asked = Vec::new();
    known.select(&mut table, NEVER, |entry| {
        asked.push(entry.pid);
        false
    });
    assert_eq!(asked, [902]);
}

#[test]
fn the_host_and_the_first_process_are_never_members() {
    let mut known = Known::new((900, 10));
    let table = [process(1, 0, 1, 10), process(50, 900, 900, 10), process(900, 50, 900, 10)];
    assert_eq!(select(&mut known, &table, &[1, 50]), [900]);
}

#[test]
fn the_hosts_session_is_not_adopted_from_a_child_that_has_not_left_it_yet() {
    let mut known = Known::new((900, 10));
    let table = [process(900, 50, 40, 10), process(60, 50, 40, 12)];
    assert_eq!(select(&mut known, &table, &[]), [900]);
}

#[test]
fn a_reused_id_is_another_process() {
    let mut known = Known::new((900, 10));
    assert!(select(&mut known, &[process(900, 50, 900, 99), process(901, 900, 900, 99)], &[]).is_empty());
    assert!(known.extinct);
}

#[test]
fn members_outlive_their_leader_and_a_known_member_needs_no_other_sign() {
    let mut known = Known::new((900, 10));
    let table = [process(900, 50, 900, 10), process(901, 900, 900, 11), process(902, 901, 902, 12)];
    assert_eq!(select(&mut known, &table, &[]), [900, 901, 902]);
    // All parents died; one member changed its session without our seeing it.
    let table = [process(901, 1, 901, 11), process(903, 1, 902, 13), process(904, 901, 904, 14)];
    assert_eq!(select(&mut known, &table, &[]), [901, 903, 904]);
}

#[test]
fn zombies_are_not_alive_but_still_hold_their_id() {
    let mut known = Known::new((900, 10));
    let mut table = [process(900, 50, 900, 10), process(901, 1, 900, 11)];
    table[0].zombie = true;
    assert_eq!(select(&mut known, &table, &[]), [901]);
    table[1].zombie = true;
    assert!(select(&mut known, &table, &[]).is_empty());
}

#[test]
fn a_member_that_died_during_the_look_leaves_doubt() {
    let mut known = Known::new((900, 10));
    let mut table = [process(900, 50, 900, 10), process(901, 900, 900, 11)];
    for entry in &mut table {
        entry.zombie = true;
    }
    assert!(select(&mut known, &table, &[]).is_empty());
    assert!(!known.is_settled(&[]));
    assert!(!known.is_settled(&[(900, 10)]), "901 was found only now, and dead: nobody knows since when");
    assert!(!known.is_settled(&[(900, 10), (901, 99)]), "another process had that id");
    assert!(known.is_settled(&[(900, 10), (901, 11)]));
}
