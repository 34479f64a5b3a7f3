//! Random trees and random paths: never a byte from outside, never a name outside.

use std::path::PathBuf;

use proptest::prelude::*;

use crate::support::{OUTSIDE, Place};

#[derive(Clone, Debug)]
enum Node {
    Directory(String),
    File(String),
    Link(String, String),
    HardLink(String),
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", ".env", ".git", "é"]).prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

fn hostile_path() -> impl Strategy<Value = String> {
    let step = prop_oneof![4 => name(), 1 => Just("..".to_owned()), 1 => Just(".".to_owned()), 1 => Just(String::new()),
        1 => Just("secret".to_owned()), 1 => Just("outside".to_owned())];
    (prop::sample::select(vec!["", "/", "CWD/", "CWD/../", "CWD-evil/", "OUT/"]), prop::collection::vec(step, 0..6))
        .prop_map(|(start, steps)| format!("{start}{}", steps.join("/")))
}

fn node() -> impl Strategy<Value = Node> {
    let target = prop_oneof![
        hostile_path(),
        path(),
        Just("OUT/secret".to_owned()),
        Just("OUT".to_owned()),
        Just("OUT/new".to_owned()),
        Just("../outside".to_owned()),
        Just("/".to_owned())
    ];
    prop_oneof![
        path().prop_map(Node::Directory),
        path().prop_map(Node::File),
        (path(), target).prop_map(|(at, to)| Node::Link(at, to)),
        path().prop_map(Node::HardLink),
    ]
}

fn absolute(place: &Place, path: &str) -> String {
    path.replace("CWD", place.cwd.to_str().unwrap()).replace("OUT", place.outside.to_str().unwrap())
}

fn build(place: &Place, node: &Node) {
    // The jail's own view decides where the tree may grow: a link must not make the test itself write outside.
    let inside = |at: &str| -> Option<PathBuf> {
        let full = place.cwd.join(at);
        let parent = full.parent()?;
        let _ = std::fs::create_dir_all(parent);
        parent.canonicalize().ok()?.starts_with(&place.cwd).then_some(full)
    };
    let _ = match node {
        Node::Directory(at) => inside(at).map(|at| std::fs::create_dir(at).is_ok()),
        Node::File(at) => {
            inside(at).filter(|at| at.symlink_metadata().is_err()).map(|at| std::fs::write(at, "inside").is_ok())
        }
        Node::Link(at, to) => inside(at).map(|at| std::os::unix::fs::symlink(absolute(place, to), at).is_ok()),
        Node::HardLink(at) => inside(at).map(|at| std::fs::hard_link(place.outside.join("secret"), at).is_ok()),
    };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_tree_and_the_path_nothing_outside_is_reached(
        tree in prop::collection::vec(node(), 0..12),
        paths in prop::collection::vec(prop_oneof![hostile_path(), path()], 1..12),
    ) {
        let place = Place::new();
        std::fs::create_dir(place.base.join("cwd-evil")).unwrap();
        for node in &tree {
            build(&place, node);
        }
        let before = (Place::names(&place.base), Place::names(&place.outside));
        for path in &paths {
            let path = absolute(&place, path);
            if let Ok(text) = place.read(&path) {
                prop_assert!(text == "inside" || text == "written" || text == "nested", "{} gave {}", path, text);
            }
            if place.write(&path, "written").is_ok() {
                let resolved = place.jail.resolve(&path).unwrap();
                prop_assert!(resolved.starts_with(&place.cwd));
                prop_assert_eq!(place.read(&path).unwrap(), "written");
            }
            if let Ok(resolved) = place.jail.resolve(&path) {
                prop_assert!(resolved.starts_with(&place.cwd), "{} -> {}", path, resolved.display());
            }
        }
        prop_assert_eq!(before, (Place::names(&place.base), Place::names(&place.outside)));
        prop_assert_eq!(std::fs::read_to_string(place.outside.join("secret")).unwrap(), OUTSIDE);
    }
}
