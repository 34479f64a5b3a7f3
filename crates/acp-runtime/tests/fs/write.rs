//! Writes: ceilings, creation, replacement in one step, permissions.

use acp_runtime::services::fs::FsErrorCode;

use crate::support::{MAX, Place};

#[test]
fn a_missing_file_is_created_and_an_existing_one_replaced() {
    let place = Place::new();
    place.write("new.txt", "one").unwrap();
    place.write("new.txt", "").unwrap();
    assert_eq!(std::fs::read_to_string(place.cwd.join("new.txt")).unwrap(), "");
    place.write("a.txt", "shorter").unwrap();
    place.write(&place.path("sub/b.txt"), "é\n").unwrap();
    assert_eq!(place.read("a.txt").unwrap(), "shorter");
    assert_eq!(place.read("sub/b.txt").unwrap(), "é\n");
    assert_eq!(Place::names(&place.cwd), ["a.txt", "new.txt", "sub"], "nothing temporary stays");
}

#[test]
fn the_size_is_checked_before_anything_else() {
    let place = Place::new();
    let error = place.jail.write_text("/etc/passwd", "123456", 5).unwrap_err();
    assert_eq!(error.code, FsErrorCode::ContentTooLarge);
    assert_eq!(error.message, "fs write content exceeds the 5-byte ceiling");
    assert_eq!(error.limit_bytes, Some(5));
    place.jail.write_text("five", "ééa", 5).unwrap();
    assert!(place.jail.write_text("six", "ééé", 5).is_err());
    assert!(!place.cwd.join("six").exists());
}

#[test]
fn preparing_writes_nothing() {
    let place = Place::new();
    let prepared = place.jail.prepare_write("new.txt", "x", MAX).unwrap();
    assert_eq!(prepared.path(), place.cwd.join("new.txt"));
    assert_eq!(prepared.dedupe_key(), format!("fs_write|{}", place.cwd.join("new.txt").display()));
    drop(prepared);
    assert_eq!(Place::names(&place.cwd), ["a.txt", "sub"]);
}

#[test]
fn a_missing_directory_is_not_created() {
    let place = Place::new();
    assert_eq!(place.write("no/such/file", "x"), Err(FsErrorCode::PathOutsideCwd));
    assert_eq!(Place::names(&place.cwd), ["a.txt", "sub"]);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn permission_bits_are_kept_and_set_id_bits_are_not() {
        let place = Place::new();
        let file = place.cwd.join("a.txt");
        for (mode, kept) in [(0o600, 0o600), (0o755, 0o755), (0o664, 0o664), (0o4755, 0o755)] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            place.write("a.txt", "x").unwrap();
            assert_eq!(file.metadata().unwrap().mode() & 0o7777, kept, "{mode:o}");
        }
    }

    #[test]
    fn readers_never_see_a_part() {
        let place = Place::new();
        let (old, new) = ("a".repeat(200_000), "b".repeat(200_000));
        place.write("a.txt", &old).unwrap();
        let mut open = std::fs::File::open(place.cwd.join("a.txt")).unwrap();
        place.write("a.txt", &new).unwrap();
        let mut seen = String::new();
        std::io::Read::read_to_string(&mut open, &mut seen).unwrap();
        assert!(seen == old, "an open reader keeps the old content");
        assert!(place.read("a.txt").unwrap() == new);
    }

    #[test]
    fn what_may_not_be_written_is_not_replaced_either() {
        let place = Place::new();
        if rustix::process::geteuid().is_root() {
            // Root may write everything: there is nothing to observe.
            return;
        }
        let file = place.cwd.join("a.txt");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o444)).unwrap();
        assert_eq!(place.write("a.txt", "x"), Err(FsErrorCode::Io));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "inside");
        let sub = place.cwd.join("sub");
        std::fs::set_permissions(&sub, PermissionsExt::from_mode(0o555)).unwrap();
        assert_eq!(place.write("sub/new", "x"), Err(FsErrorCode::Io));
        std::fs::set_permissions(&sub, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(Place::names(&sub), ["b.txt"]);
    }
}
