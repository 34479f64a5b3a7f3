//! Links, hard links, FIFOs and directories: what a name can turn out to be.

use std::os::unix::fs::symlink;

use acp_runtime::services::fs::{FsErrorCode, HardLinks, Jail, Window};

use crate::support::{MAX, OUTSIDE, Place};

#[test]
fn links_that_lead_out_are_refused_for_reads_and_writes() {
    let place = Place::new();
    symlink(place.outside.join("secret"), place.cwd.join("file-link")).unwrap();
    symlink(&place.outside, place.cwd.join("dir-link")).unwrap();
    symlink("../outside", place.cwd.join("relative-link")).unwrap();
    symlink("dir-link", place.cwd.join("link-to-link")).unwrap();
    symlink("/", place.cwd.join("sub/root")).unwrap();
    let through_root = format!("sub/root{}", place.outside.join("secret").display());
    for path in
        ["file-link", "dir-link/secret", "dir-link/new", "relative-link/secret", "link-to-link/secret", &through_root]
    {
        assert_eq!(place.read(path), Err(FsErrorCode::PathOutsideCwd), "{path}");
        assert_eq!(place.write(path, "x"), Err(FsErrorCode::PathOutsideCwd), "{path}");
    }
    place.outside_is_untouched();
}

#[test]
fn a_dangling_link_creates_nothing() {
    let place = Place::new();
    symlink(place.outside.join("new"), place.cwd.join("dangling")).unwrap();
    symlink("loop", place.cwd.join("loop")).unwrap();
    for path in ["dangling", "loop"] {
        let error = place.jail.write_text(path, "x", MAX).unwrap_err();
        assert_eq!(error.code, FsErrorCode::PathOutsideCwd);
        assert!(error.message.starts_with("final component is a symlink: "), "{}", error.message);
        assert!(place.read(path).is_err());
    }
    place.outside_is_untouched();
}

#[test]
fn links_that_stay_inside_are_followed_and_kept() {
    let place = Place::new();
    symlink("a.txt", place.cwd.join("alias.txt")).unwrap();
    symlink(place.cwd.join("sub"), place.cwd.join("dir")).unwrap();
    assert_eq!(place.jail.resolve("alias.txt").unwrap(), place.cwd.join("a.txt"));
    assert_eq!(place.read("alias.txt").unwrap(), "inside");
    assert_eq!(place.read("dir/b.txt").unwrap(), "nested");
    place.write("alias.txt", "changed").unwrap();
    place.write("dir/new.txt", "new").unwrap();
    assert_eq!(std::fs::read_to_string(place.cwd.join("a.txt")).unwrap(), "changed");
    assert_eq!(std::fs::read_to_string(place.cwd.join("sub/new.txt")).unwrap(), "new");
    assert!(place.cwd.join("alias.txt").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn dot_dot_behind_a_link_is_not_guessed_at() {
    let place = Place::new();
    std::fs::create_dir(place.outside.join("dir")).unwrap();
    symlink(place.outside.join("dir"), place.cwd.join("out")).unwrap();
    symlink("sub", place.cwd.join("in")).unwrap();
    std::fs::create_dir(place.cwd.join("sub/deep")).unwrap();
    symlink("sub/deep", place.cwd.join("deep")).unwrap();
    assert_eq!(place.read("out/../secret"), Err(FsErrorCode::PathOutsideCwd));
    assert_eq!(place.write("out/../a.txt", "x"), Err(FsErrorCode::PathOutsideCwd));
    assert_eq!(place.read("deep/../a.txt"), Err(FsErrorCode::InvalidPath), "sub/a.txt or a.txt?");
    assert_eq!(place.read("in/../a.txt").unwrap(), "inside", "both readings agree");
}

#[test]
fn hard_links_are_refused_unless_reads_of_them_are_allowed() {
    let place = Place::new();
    std::fs::hard_link(place.outside.join("secret"), place.cwd.join("hard")).unwrap();
    for result in [place.read("hard").map(drop), place.write("hard", "x")] {
        assert_eq!(result, Err(FsErrorCode::NotARegularFile));
    }
    place.outside_is_untouched();
    let jail = Jail::with_hard_links(&place.cwd, HardLinks::AllowReads).unwrap();
    assert_eq!(jail.read_text("hard", Window::default(), MAX).unwrap(), OUTSIDE);
    assert_eq!(jail.write_text("hard", "x", MAX).unwrap_err().code, FsErrorCode::NotARegularFile);
    place.outside_is_untouched();
}

#[test]
fn only_regular_files_are_read_and_written() {
    let place = Place::new();
    rustix::fs::mknodat(rustix::fs::CWD, place.cwd.join("fifo"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.cwd.join("socket")).unwrap();
    for path in ["fifo", "socket", "sub", "."] {
        assert_eq!(place.read(path), Err(FsErrorCode::NotARegularFile), "{path}");
        assert_eq!(place.write(path, "x"), Err(FsErrorCode::NotARegularFile), "{path}");
    }
    assert_eq!(Place::names(&place.cwd), ["a.txt", "fifo", "socket", "sub"]);
}

#[test]
fn the_root_stays_the_directory_that_was_opened() {
    let place = Place::new();
    std::fs::rename(&place.cwd, place.base.join("moved")).unwrap();
    symlink(&place.outside, &place.cwd).unwrap();
    assert!(place.read("secret").is_err() && place.write("new", "x").is_err());
    std::fs::remove_file(&place.cwd).unwrap();
    std::fs::create_dir(&place.cwd).unwrap();
    std::fs::write(place.cwd.join("a.txt"), "another directory").unwrap();
    assert_eq!(place.read("a.txt").unwrap(), "inside", "the pinned directory, not its successor");
    place.outside_is_untouched();
}
