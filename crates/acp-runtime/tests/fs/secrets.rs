//! Secrets and `.git` are refused on reads and writes, whatever their case and wherever they lie.

use acp_runtime::services::fs::{FsErrorCode, is_git_internal, is_secret_path};

use crate::support::Place;

const SECRETS: &[&str] = &[
    ".env",
    ".env.local",
    ".ENV",
    ".envrc",
    "prod.env",
    "server.pem",
    "server.KEY",
    "cert.p12",
    "cert.pfx",
    "a.keystore",
    "a.jks",
    "putty.ppk",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".dockercfg",
    ".pgpass",
    ".htpasswd",
    ".pypirc",
    "credentials",
    "Credentials.json",
    "id_rsa",
    "id_ed25519.pub",
    ".ssh/config",
    ".SSH/known_hosts",
    ".aws/config",
    "deep/.gnupg/trustdb.gpg",
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    ".cargo/credentials.toml",
    "client_secret_123.json",
    ".env ",
    ".env.",
    ".e\u{200b}nv",
    ".\u{17f}sh/config",
];

const ORDINARY: &[&str] = &[
    "env.ts",
    "environment",
    "src/app.ts",
    "key.ts",
    "keys.md",
    "monkey",
    "credentials.ts",
    "credentials.md",
    "ids",
    "id",
    "aws/config",
    "ssh.rs",
    ".docker/Dockerfile",
    ".kube/deployment.yaml",
    "kube/config",
    ".config/app.json",
    "pem",
    ".environment",
    "grid_id",
];

#[test]
fn secret_names_are_known_and_ordinary_ones_are_not() {
    for path in SECRETS {
        assert!(is_secret_path(path) && is_secret_path(&format!("/w/{path}")), "{path:?}");
    }
    for path in ORDINARY {
        assert!(!is_secret_path(path) && !is_secret_path(&format!("/w/{path}")), "{path}");
    }
}

#[test]
fn git_directories_are_known_in_every_spelling() {
    for path in [
        ".git",
        ".git/config",
        "a/.git/hooks/pre-commit",
        ".GIT/config",
        ".git./config",
        ".git /x",
        "GIT~1/config",
        ".g\u{200c}it/config",
        r"a\.git\config",
        ".git::$INDEX_ALLOCATION/config",
    ] {
        assert!(is_git_internal(path), "{path:?}");
    }
    for path in ["gitignore.txt", ".gitignore", ".gitattributes", ".github/workflows/x.yml", "a.git/x", "git/config"] {
        assert!(!is_git_internal(path), "{path}");
    }
}

#[test]
fn both_are_refused_inside_the_directory_with_their_own_messages() {
    let place = Place::new();
    for (path, code) in [
        (".env", FsErrorCode::DeniedSecret),
        ("sub/id_rsa", FsErrorCode::DeniedSecret),
        (".ssh/config", FsErrorCode::DeniedSecret),
        (".git/config", FsErrorCode::DeniedGit),
        (".GIT/hooks/pre-commit", FsErrorCode::DeniedGit),
    ] {
        let full = place.cwd.join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        assert_eq!(place.write(path, "x"), Err(code), "new {path}");
        assert!(!full.exists());
        std::fs::write(&full, "kept").unwrap();
        assert_eq!(place.read(path), Err(code), "{path}");
        assert_eq!(place.write(path, "x"), Err(code), "{path}");
        assert_eq!(std::fs::read_to_string(&full).unwrap(), "kept");
    }
    let read = |path: &str| place.jail.read_text(path, acp_runtime::services::fs::Window::default(), 10).unwrap_err();
    let cwd = place.cwd.display();
    assert_eq!(read(".env").message, format!("read of secret-pattern file denied: {cwd}/.env"));
    assert_eq!(read(".git/config").message, format!("read of git-internal file denied: {cwd}/.git/config"));
    let write = |path: &str| place.jail.write_text(path, "x", 10).unwrap_err().message;
    assert_eq!(write(".env"), format!("write to secret-pattern file denied: {cwd}/.env"));
    assert_eq!(write(".git/config"), format!("write to git-internal path hard-rejected: {cwd}/.git/config"));
}

#[cfg(unix)]
#[test]
fn a_link_does_not_launder_a_name() {
    let place = Place::new();
    std::fs::write(place.cwd.join(".env"), "TOKEN=1").unwrap();
    std::os::unix::fs::symlink(".env", place.cwd.join("notes.txt")).unwrap();
    std::os::unix::fs::symlink("a.txt", place.cwd.join("id_rsa")).unwrap();
    assert_eq!(place.read("notes.txt"), Err(FsErrorCode::DeniedSecret), "what it leads to");
    assert_eq!(place.read("id_rsa"), Err(FsErrorCode::DeniedSecret), "what it is called");
    assert_eq!(place.write("notes.txt", "x"), Err(FsErrorCode::DeniedSecret));
}
