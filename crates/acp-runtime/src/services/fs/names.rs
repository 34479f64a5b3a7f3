//! Names that are refused wherever they lie: secrets, `.git`, and path forms of other systems.
//!
//! Names are compared the way the most forgiving file system would: case-insensitive, without trailing dots and spaces,
//! without the code points that HFS+ ignores, with both separators. Refusing a name that is harmless on this system
//! costs nothing; accepting one that another system folds into `.git` costs the repository.

/// Whole names that hold secrets.
const SECRET_NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".npmrc",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".dockercfg",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".pypirc",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".terraformrc",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "credentials.ini",
    "application_default_credentials.json",
];

/// Name beginnings that mean a secret (with at least one more character).
const SECRET_PREFIXES: &[&str] = &[".env.", ".envrc.", "id_", "client_secret"];

/// Name endings that mean a secret.
const SECRET_SUFFIXES: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".ppk", ".kdbx", ".env"];

/// Directories whose whole content is secret.
const SECRET_DIRECTORIES: &[&str] = &[".ssh", ".aws", ".gnupg", ".password-store"];

/// Secret only in this directory: the name alone is too common.
const SECRET_IN_DIRECTORY: &[(&str, &str)] = &[
    (".docker", "config.json"),
    (".kube", "config"),
    (".cargo", "credentials"),
    (".config", "gh"),
    (".config", "gcloud"),
];

/// Whether the path names a secret: by its last name, or by a directory that only holds secrets.
pub fn is_secret_path(path: &str) -> bool {
    let names: Vec<String> = segments(path).collect();
    let last = path.rsplit(['/', '\\']).find(|name| !name.is_empty()).unwrap_or_default();
    readings(last).any(|name| is_secret_name(&name))
        || names.iter().any(|name| SECRET_DIRECTORIES.contains(&name.as_str()))
        || names
            .windows(2)
            .any(|pair| SECRET_IN_DIRECTORY.iter().any(|(dir, name)| pair[0] == *dir && pair[1] == *name))
}

fn is_secret_name(name: &str) -> bool {
    SECRET_NAMES.contains(&name)
        || SECRET_PREFIXES.iter().any(|prefix| name.len() > prefix.len() && name.starts_with(prefix))
        || SECRET_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

/// Whether the path goes through a `.git` directory or names one (or the file that stands for it in a work tree).
pub fn is_git_internal(path: &str) -> bool {
    // `git~1` is the short name that FAT and NTFS give to `.git`.
    segments(path).any(|name| name == ".git" || name == "git~1")
}

/// The names of a path, folded, in every reading.
fn segments(path: &str) -> impl Iterator<Item = String> + '_ {
    path.split(['/', '\\']).flat_map(readings).filter(|name| !name.is_empty())
}

/// What a name can mean: itself, and on NTFS the file or directory that a stream (`name:stream`) belongs to.
fn readings(name: &str) -> impl Iterator<Item = String> + '_ {
    let host = name.split_once(':').map(|(host, _)| host);
    [Some(name), host].into_iter().flatten().map(fold)
}

fn fold(name: &str) -> String {
    let mut folded: String = name.chars().filter(|c| !is_ignorable(*c)).flat_map(fold_char).collect();
    folded.truncate(folded.trim_end_matches(['.', ' ']).len());
    folded
}

/// Full case folding as far as it can produce ASCII (`CaseFolding.txt` of Unicode, status C and F; APFS compares names so):
/// U+017F folds to `s`, sharp s and the ligatures to two or three letters; the Kelvin sign lower-cases to `k` by itself.
fn fold_char(c: char) -> impl Iterator<Item = char> {
    let letters = match c {
        '\u{17f}' => "s",
        '\u{df}' | '\u{1e9e}' => "ss",
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => "",
    };
    let plain = letters.is_empty().then(|| c.to_lowercase());
    letters.chars().chain(plain.into_iter().flatten())
}

/// Code points that HFS+ ignores in names, and the soft hyphen and controls that no one can see.
const fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
        || c.is_ascii_control()
}

/// Names a path form that belongs to another system or is no path at all: drive letters (`D:\x`, `C:x`), UNC and device
/// paths (`\\server\share`, `\\?\`, `\\.\`), URIs (`file://…`). Refused on every system but Windows, where the drive
/// and UNC forms are ordinary.
pub fn foreign_form(path: &str) -> Option<&'static str> {
    let bytes = path.as_bytes();
    if let Some((scheme, _)) = path.split_once("://")
        && scheme.len() > 1
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        && scheme.as_bytes()[0].is_ascii_alphabetic()
    {
        return Some("a URI");
    }
    let slashes = |at: usize| bytes.get(at).is_some_and(|b| matches!(b, b'/' | b'\\'));
    if slashes(0) && slashes(1) && (bytes[0] == b'\\' || bytes[1] == b'\\' || cfg!(windows)) {
        let device = bytes.get(2).is_some_and(|b| matches!(b, b'?' | b'.')) && slashes(3);
        return Some(if device { "a device path" } else { "a UNC path" }).filter(|_| device || !cfg!(windows));
    }
    if bytes.len() >= 2 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic() {
        if !cfg!(windows) {
            return Some("a drive path");
        }
        if !slashes(2) {
            return Some("a drive-relative path");
        }
    }
    if cfg!(windows) {
        return windows_form(path);
    }
    None
}

/// Windows only: streams, and names that stand for devices or lose their ending.
fn windows_form(path: &str) -> Option<&'static str> {
    let after_drive = if path.as_bytes().get(1) == Some(&b':') { &path[2..] } else { path };
    if after_drive.contains(':') {
        return Some("a stream");
    }
    let is_device = |name: &str| {
        let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
        matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
            || ((stem.starts_with("COM") || stem.starts_with("LPT")) && stem.chars().count() == 4)
    };
    let names = || after_drive.split(['/', '\\']).filter(|name| !matches!(*name, "" | "." | ".."));
    if names().any(is_device) {
        return Some("a device name");
    }
    names().any(|name| name.ends_with(['.', ' '])).then_some("a name that ends in a dot or space")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_names_that_are_not_files_are_found() {
        for path in [
            "C:\\w\\a.txt:s",
            "C:\\w\\a.txt::$DATA",
            "C:\\w\\nul",
            "C:\\w\\COM1.txt",
            "C:\\w\\lpt¹",
            "C:\\w\\a. ",
            "w\\.git.",
        ] {
            assert!(windows_form(path).is_some(), "{path}");
        }
        for path in ["C:\\w\\a.txt", "C:\\w\\..\\a", "C:/w/common.rs", "C:\\w\\console.log"] {
            assert_eq!(windows_form(path), None, "{path}");
        }
    }

    #[test]
    fn folding_finds_what_file_systems_ignore() {
        for name in [".GIT", ".git.", ".git ", ".g\u{200c}it", ".git. ."] {
            assert_eq!(fold(name), ".git", "{name:?}");
        }
        assert_eq!(fold(".\u{17f}sh"), ".ssh");
        assert_eq!(fold(".\u{212a}ube"), ".kube");
        assert_eq!(fold(".\u{df}h"), ".ssh");
        assert_eq!(fold(".pgpa\u{1e9e}"), ".pgpass");
        assert_eq!(fold(".con\u{fb01}g"), ".config");
        for (ligature, letters) in "\u{fb00}\u{fb01}\u{fb02}\u{fb03}\u{fb04}\u{fb05}\u{fb06}"
            .chars()
            .zip(["ff", "fi", "fl", "ffi", "ffl", "st", "st"])
        {
            assert_eq!(fold(&ligature.to_string()), letters);
        }
        assert!(is_git_internal("a/.git::$INDEX_ALLOCATION/config") && is_secret_path(".env:x"));
        assert!(is_secret_path("a:server.pem"), "a stream's own name counts as well");
    }
}
