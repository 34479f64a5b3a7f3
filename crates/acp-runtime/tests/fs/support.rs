//! A directory to be jailed in, with a secret beside it.

use std::path::{Path, PathBuf};

use acp_runtime::services::fs::{FsErrorCode, Jail, Window};

pub const MAX: usize = 1024 * 1024;
pub const OUTSIDE: &str = "OUTSIDE-CONTENT";

pub struct Place {
    _dir: tempfile::TempDir,
    pub base: PathBuf,
    pub cwd: PathBuf,
    pub outside: PathBuf,
    pub jail: Jail,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (cwd, outside) = (base.join("cwd"), base.join("outside"));
        std::fs::create_dir_all(cwd.join("sub")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(cwd.join("a.txt"), "inside").unwrap();
        std::fs::write(cwd.join("sub/b.txt"), "nested").unwrap();
        std::fs::write(outside.join("secret"), OUTSIDE).unwrap();
        let jail = Jail::open(&cwd).unwrap();
        Self { _dir: dir, base, cwd, outside, jail }
    }

    pub fn path(&self, below: &str) -> String {
        self.cwd.join(below).to_str().unwrap().to_owned()
    }

    pub fn read(&self, path: &str) -> Result<String, FsErrorCode> {
        self.jail.read_text(path, Window::default(), MAX).map_err(|e| e.code)
    }

    pub fn write(&self, path: &str, content: &str) -> Result<(), FsErrorCode> {
        self.jail.write_text(path, content, MAX).map_err(|e| e.code)
    }

    /// Every name below the directory, to see that nothing appeared and nothing temporary stayed.
    pub fn names(below: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(below)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn outside_is_untouched(&self) {
        assert_eq!(Self::names(&self.outside), ["secret"]);
        assert_eq!(std::fs::read_to_string(self.outside.join("secret")).unwrap(), OUTSIDE);
    }
}
