//! Which paths lead to a file inside, and what the others are told.

use acp_runtime::services::fs::{FsErrorCode, Jail, Window};

use crate::support::Place;

#[test]
fn existing_and_new_files_inside_resolve_to_their_real_path() {
    let place = Place::new();
    for (path, expected) in [
        ("a.txt", "a.txt"),
        ("sub/../a.txt", "a.txt"),
        ("./sub//b.txt", "sub/b.txt"),
        ("new.txt", "new.txt"),
        ("sub/new", "sub/new"),
        (".", ""),
    ] {
        let expected = if expected.is_empty() { place.cwd.clone() } else { place.cwd.join(expected) };
        assert_eq!(place.jail.resolve(path).unwrap(), expected, "{path}");
        assert_eq!(place.jail.resolve(&place.path(path)).unwrap(), expected, "absolute {path}");
    }
}

#[test]
fn every_escape_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.base.join("cwd-evil")).unwrap();
    std::fs::write(place.base.join("cwd-evil/x"), "x").unwrap();
    let cwd = place.cwd.to_str().unwrap();
    for path in [
        "../../etc/passwd".to_owned(),
        "/etc/passwd".into(),
        "/etc/does-not-exist".into(),
        format!("{cwd}-evil/x"),
        format!("{cwd}/../outside/secret"),
        format!("{cwd}/../outside/new"),
        format!("{cwd}/.."),
        "sub/../../outside/secret".into(),
        "/".into(),
        "/proc/self/environ".into(),
        "missing-dir/new.txt".into(),
    ] {
        let error = place.jail.resolve(&path).unwrap_err();
        assert_eq!(error.code, FsErrorCode::PathOutsideCwd, "{path}");
        assert_eq!(error.rpc_code(), -32602);
        assert!(place.read(&path).is_err() && place.write(&path, "x").is_err(), "{path}");
    }
    place.outside_is_untouched();
}

#[test]
fn malformed_and_foreign_forms_are_refused() {
    let place = Place::new();
    for (path, message) in [("", "empty or non-string path"), ("a\0b.txt", "path contains a NUL byte")] {
        let error = place.jail.resolve(path).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (FsErrorCode::InvalidPath, message));
    }
    let long = "a/".repeat(3000);
    let forms = [r"\\?\C:\x", r"\\.\pipe\x", r"\\server\share\x", "file:///etc/passwd", "C:x", "http://x/y", &long];
    for path in forms.into_iter().chain(cfg!(unix).then_some(r"D:\x")) {
        assert_eq!(place.jail.resolve(path).unwrap_err().code, FsErrorCode::InvalidPath, "{path}");
    }
    assert_eq!(Place::names(&place.cwd), ["a.txt", "sub"]);
}

#[cfg(unix)]
#[test]
fn names_that_only_mean_something_elsewhere_are_ordinary_here() {
    let place = Place::new();
    for name in ["file.txt:stream", "2024-01-01T00:00:00.log", "back\\slash", "nul", "a. "] {
        place.write(name, name).unwrap();
        assert_eq!(place.read(name).unwrap(), name);
    }
}

#[cfg(unix)]
#[test]
fn a_directory_that_is_itself_a_link_can_be_the_root() {
    let place = Place::new();
    let alias = place.base.join("alias");
    std::os::unix::fs::symlink(&place.cwd, &alias).unwrap();
    let jail = Jail::open(&alias).unwrap();
    for path in ["a.txt".to_owned(), place.path("a.txt"), alias.join("a.txt").to_str().unwrap().into()] {
        assert_eq!(jail.resolve(&path).unwrap(), place.cwd.join("a.txt"), "{path}");
    }
    let new = alias.join("sub/new").to_str().unwrap().to_owned();
    assert_eq!(jail.resolve(&new).unwrap(), place.cwd.join("sub/new"));
}

#[test]
fn a_root_that_does_not_resolve_is_refused() {
    let place = Place::new();
    let error = Jail::open(&place.base.join("none")).unwrap_err();
    assert_eq!(error.code, FsErrorCode::InvalidPath);
    assert!(error.message.starts_with("cwd does not resolve: "), "{}", error.message);
    assert!(Jail::open(&place.cwd.join("a.txt")).is_err(), "a file is no root");
}

#[test]
fn messages_are_those_that_callers_match_on() {
    let place = Place::new();
    let message = |path: &str| place.jail.resolve(path).unwrap_err().message;
    let base = place.base.display();
    assert_eq!(message("../outside/secret"), format!("resolved path escapes cwd: {base}/outside/secret"));
    assert_eq!(message("../outside/new"), format!("resolved parent escapes cwd: {base}/outside"));
    assert_eq!(message("no/new"), format!("parent directory does not resolve: {base}/cwd/no"));
}

#[test]
fn a_file_is_no_directory() {
    let place = Place::new();
    assert_eq!(place.read("a.txt/below"), Err(FsErrorCode::NotFound));
    assert_eq!(place.write("a.txt/below", "x"), Err(FsErrorCode::NotFound));
}

#[test]
fn a_path_that_would_hide_a_part_of_itself_is_refused() {
    let place = Place::new();
    for control in ['\r', '\n', '\t', '\u{1b}', '\u{7f}', '\u{9b}', '\u{85}'] {
        let path = format!("x{control}a.txt");
        let error = place.jail.resolve(&path).unwrap_err();
        assert_eq!(error.code, FsErrorCode::InvalidPath, "{path:?}");
        assert!(!error.message.contains(control), "{path:?}");
        assert!(place.write(&place.path(&path), "x").is_err());
    }
    assert_eq!(Place::names(&place.cwd), ["a.txt", "sub"]);
}

/// The directory `/` has `/proc` in it, where the host's own environment lies.
#[cfg(target_os = "linux")]
#[test]
fn the_host_process_cannot_be_read_from_the_root_directory() {
    let place = Place::new();
    for root in ["/", "/proc", "/proc/self"] {
        let jail = Jail::open(std::path::Path::new(root)).unwrap();
        for path in ["/proc/self/environ", "/proc/self/cmdline", "/proc/thread-self/maps", "/proc/self/status"] {
            for window in [Window::default(), Window::new(Some(1.0), Some(1.0))] {
                let error = jail.read_text(path, window, 1 << 20).unwrap_err();
                let refused = matches!(error.code, FsErrorCode::NotARegularFile | FsErrorCode::PathOutsideCwd);
                assert!(refused, "{root} {path}: {error}");
            }
        }
    }
    let jail = Jail::open(std::path::Path::new("/")).unwrap();
    assert_eq!(jail.read_text(&place.path("a.txt"), Window::default(), 100).unwrap(), "inside");
}
