//! A directory that is swapped for a link while files are read and written through it.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{OUTSIDE, Place};

const ROUNDS: usize = 3000;

#[test]
fn nothing_outside_is_read_or_created_while_the_tree_moves() {
    let place = Place::new();
    let (dir, away) = (place.cwd.join("dir"), place.cwd.join("away"));
    std::fs::create_dir(&dir).unwrap();
    std::fs::write(dir.join("secret"), "inside").unwrap();
    let stop = AtomicBool::new(false);
    let (mut inside, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(&dir, &away).unwrap();
                symlink(&place.outside, &dir).unwrap();
                std::thread::yield_now();
                std::fs::remove_file(&dir).unwrap();
                std::fs::rename(&away, &dir).unwrap();
                std::thread::yield_now();
            }
        });
        for round in 0..ROUNDS {
            match place.read("dir/secret") {
                Ok(text) => {
                    assert_ne!(text, OUTSIDE);
                    inside += 1;
                }
                Err(_) => refused += 1,
            }
            let _ = place.write(&format!("dir/new-{}", round % 10), "x");
            let _ = place.write("dir/secret", "inside");
        }
        stop.store(true, Ordering::Relaxed);
    });
    place.outside_is_untouched();
    assert_eq!(inside + refused, ROUNDS);
    let leftovers = |names: Vec<String>| names.into_iter().filter(|name| name.starts_with(".acp-")).count();
    assert_eq!(leftovers(Place::names(&dir)) + leftovers(Place::names(&place.cwd)), 0);
}

#[test]
fn a_file_that_is_swapped_for_a_link_is_not_followed() {
    let place = Place::new();
    let (file, link) = (place.cwd.join("file"), place.cwd.join("link"));
    std::fs::write(place.cwd.join("plain"), "inside").unwrap();
    symlink(place.outside.join("secret"), &link).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::fs::copy(place.cwd.join("plain"), place.cwd.join("copy")).unwrap();
                std::fs::rename(place.cwd.join("copy"), &file).unwrap();
                symlink(place.outside.join("secret"), place.cwd.join("evil")).unwrap();
                std::fs::rename(place.cwd.join("evil"), &file).unwrap();
            }
        });
        for _ in 0..ROUNDS {
            if let Ok(text) = place.read("file") {
                assert_ne!(text, OUTSIDE);
            }
            let _ = place.write("file", "mine");
        }
        stop.store(true, Ordering::Relaxed);
    });
    place.outside_is_untouched();
}
