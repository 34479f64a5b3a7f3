//! Finding the agent's binary, with the environment that the agent will have.

#[cfg(windows)]
use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::spec::LaunchSpec;
use crate::error::{Error, ErrorCode, Phase, Result};

/// How many searched places an error names.
const MAX_SEARCHED: usize = 32;
/// How long a named place may be, in characters.
const MAX_PLACE_CHARS: usize = 256;
/// How long the path of a failure may be, in characters.
const MAX_PATH_CHARS: usize = 4096;
/// Where binaries are looked up when neither the agent's environment nor the host's has a `PATH`.
#[cfg(unix)]
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Finds the binary of `spec`, as an absolute path.
///
/// A command with a separator is a path, relative ones from `cwd`. Any other name is looked up in the `PATH` of the
/// agent's environment or, when that has none, in the host's. Empty and relative entries of a `PATH` are passed over: they
/// would let the working directory, which an agent may write to, choose the binary.
///
/// Fails with [`ErrorCode::MissingBinary`] when nothing of that name exists, and with [`ErrorCode::SpawnError`] when what
/// exists cannot be executed. `extra` has the `path` and, where the system has a name for the reason, the `systemCode`.
pub fn find_binary(spec: &LaunchSpec) -> Result<PathBuf> {
    let mut searched = Vec::new();
    let mut refusal = None;
    let mut not_a_directory = false;
    for candidate in candidates(spec) {
        match executable(&candidate) {
            Ok(()) => return Ok(candidate),
            // Kept for the case that no later place has a usable one, as a shell does it.
            Err(Refusal::Unusable(why, code)) => {
                refusal.get_or_insert((candidate.clone(), why, code));
            }
            Err(Refusal::NotADirectory) => not_a_directory = true,
            Err(Refusal::Absent) => {}
        }
        searched.push(candidate);
    }
    if let Some((path, why, code)) = refusal {
        let message = format!("the ACP agent binary cannot be executed: {}: {why}", path.display());
        return Err(Error::new(ErrorCode::SpawnError, message).in_phase(Phase::Spawn).with_extra(facts(&path, code)));
    }
    // An entry of the search path that is no directory is merely useless.
    let code = if not_a_directory && is_path(&spec.command) { "ENOTDIR" } else { "ENOENT" };
    Err(missing(&spec.command, &searched, code))
}

/// What a program can read of a failure to start `path`.
fn facts(path: &Path, code: Option<&str>) -> serde_json::Value {
    let path: String = path.to_string_lossy().chars().take(MAX_PATH_CHARS).collect();
    match code {
        Some(code) => json!({ "path": path, "systemCode": code }),
        None => json!({ "path": path }),
    }
}

fn missing(command: &str, searched: &[PathBuf], code: &str) -> Error {
    let places: Vec<String> = searched
        .iter()
        .take(MAX_SEARCHED)
        .map(|path| path.to_string_lossy().chars().take(MAX_PLACE_CHARS).collect())
        .collect();
    Error::new(ErrorCode::MissingBinary, format!("ACP agent binary not found: {command}"))
        .in_phase(Phase::Spawn)
        .with_extra(json!({ "searched": places, "searchedCount": searched.len(), "systemCode": code }))
}

enum Refusal {
    Absent,
    /// A part of the path is a file.
    NotADirectory,
    /// Why, and the system's name for it.
    Unusable(String, Option<&'static str>),
}

/// A command with a separator, as opposed to a name that is looked up.
fn is_path(command: &str) -> bool {
    command.contains(std::path::is_separator) || Path::new(command).is_absolute()
}

fn candidates(spec: &LaunchSpec) -> Vec<PathBuf> {
    let command = Path::new(&spec.command);
    if is_path(&spec.command) {
        return with_extensions(&spec.cwd.join(command), spec);
    }
    let path = search_path(spec);
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .flat_map(|dir| with_extensions(&dir.join(command), spec))
        .collect()
}

fn search_path(spec: &LaunchSpec) -> OsString {
    let own = spec.env_value("PATH").map(OsString::from);
    let path = own.or_else(|| spec.host_path.clone()).filter(|path| !path.is_empty());
    #[cfg(unix)]
    let path = path.or_else(|| Some(DEFAULT_PATH.into()));
    path.unwrap_or_default()
}

#[cfg(unix)]
fn with_extensions(path: &Path, _spec: &LaunchSpec) -> Vec<PathBuf> {
    vec![path.to_owned()]
}

/// Windows: a name that already has one of the `PATHEXT` extensions is taken as it is; otherwise the extensions are tried
/// in their order. The bare name is never tried: npm puts a shell script of that name beside the `.cmd`.
#[cfg(windows)]
fn with_extensions(path: &Path, spec: &LaunchSpec) -> Vec<PathBuf> {
    let listed = spec.env_value("PATHEXT").unwrap_or(".COM;.EXE;.BAT;.CMD");
    let extensions: Vec<&str> = listed.split(';').filter(|ext| ext.len() > 1 && ext.starts_with('.')).collect();
    let own = path.extension().map(OsStr::to_string_lossy);
    if own.is_some_and(|own| extensions.iter().any(|ext| ext[1..].eq_ignore_ascii_case(&own))) {
        return vec![path.to_owned()];
    }
    let with = |ext: &&str| {
        let mut name = path.as_os_str().to_owned();
        name.push(OsStr::new(ext));
        PathBuf::from(name)
    };
    extensions.iter().map(with).collect()
}

fn executable(path: &Path) -> Result<(), Refusal> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) => {
            return Err(match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Refusal::Absent,
                io::ErrorKind::NotADirectory => Refusal::NotADirectory,
                _ => Refusal::Unusable(error.to_string(), system_code(&error)),
            });
        }
    };
    // The system's word for both when they are to be executed.
    if meta.is_dir() {
        return Err(Refusal::Unusable("it is a directory".into(), Some("EACCES")));
    }
    if !meta.is_file() {
        return Err(Refusal::Unusable("it is not a regular file".into(), Some("EACCES")));
    }
    #[cfg(unix)]
    if let Err(error) =
        rustix::fs::accessat(rustix::fs::CWD, path, rustix::fs::Access::EXEC_OK, rustix::fs::AtFlags::EACCESS)
    {
        let why = match error {
            rustix::io::Errno::ACCESS => "it is not marked as executable for this user".into(),
            other => other.to_string(),
        };
        return Err(Refusal::Unusable(why, system_code(&error.into())));
    }
    Ok(())
}

/// Words for a failure to execute a binary that had been found.
pub(super) fn exec_error(path: &Path, error: &io::Error) -> Error {
    let shown = path.display();
    let why = match error.kind() {
        // The file is there (the lookup saw it), so what is missing is what should run it.
        io::ErrorKind::NotFound => match interpreter(path) {
            Some(interpreter) => format!("its interpreter does not exist: {interpreter}"),
            None => "its program loader does not exist (built for another system or C library)".into(),
        },
        io::ErrorKind::PermissionDenied => "permission denied (the file, its interpreter or its file system)".into(),
        io::ErrorKind::ArgumentListTooLong => "the arguments and the environment are too large".into(),
        io::ErrorKind::InvalidInput if cfg!(windows) => "an argument cannot be passed safely to a batch file".into(),
        _ if is_exec_format(error) => {
            "it is not a program for this system (no `#!` line, or built for another architecture)".into()
        }
        _ => error.to_string(),
    };
    spawn_failure(format!("the ACP agent could not be started: {shown}: {why}"), path, error)
}

/// A failure to start `path` for a reason of the system's.
pub(super) fn spawn_failure(message: String, path: &Path, error: &io::Error) -> Error {
    let code = system_code(error);
    let mut failure = Error::new(ErrorCode::SpawnError, message).in_phase(Phase::Spawn).with_extra(facts(path, code));
    failure.details_mut().retryable = matches!(code, Some("EAGAIN" | "EMFILE" | "ENFILE" | "ENOMEM"));
    failure
}

/// The system's name for a reason not to start a program. The rest stay without.
#[cfg(unix)]
fn system_code(error: &io::Error) -> Option<&'static str> {
    use rustix::io::Errno;
    Some(match Errno::from_io_error(error)? {
        Errno::NOENT => "ENOENT",
        Errno::ACCESS => "EACCES",
        Errno::NOTDIR => "ENOTDIR",
        Errno::NOEXEC => "ENOEXEC",
        Errno::PERM => "EPERM",
        Errno::TOOBIG => "E2BIG",
        Errno::AGAIN => "EAGAIN",
        Errno::MFILE => "EMFILE",
        Errno::NFILE => "ENFILE",
        Errno::NOMEM => "ENOMEM",
        Errno::LOOP => "ELOOP",
        Errno::TXTBSY => "ETXTBSY",
        Errno::IO => "EIO",
        _ => return None,
    })
}

/// Windows numbers its reasons in another way; these are the names that Node gives them.
#[cfg(windows)]
fn system_code(error: &io::Error) -> Option<&'static str> {
    Some(match error.kind() {
        io::ErrorKind::NotFound => "ENOENT",
        io::ErrorKind::PermissionDenied => "EACCES",
        io::ErrorKind::NotADirectory => "ENOTDIR",
        io::ErrorKind::ArgumentListTooLong => "E2BIG",
        io::ErrorKind::OutOfMemory => "ENOMEM",
        _ if is_exec_format(error) => "ENOEXEC",
        _ => return None,
    })
}

#[cfg(unix)]
fn is_exec_format(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error())
}

#[cfg(windows)]
fn is_exec_format(error: &io::Error) -> bool {
    error.raw_os_error().and_then(|code| u32::try_from(code).ok())
        == Some(windows_sys::Win32::Foundation::ERROR_BAD_EXE_FORMAT)
}

/// The interpreter that a script's first line names, made fit for a message.
fn interpreter(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut head = [0u8; 256];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut head)).ok()?;
    let line = head[..read].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let text = String::from_utf8_lossy(line);
    // A carriage return here is the usual cause, so it stays visible.
    Some(text.trim_start().chars().take(128).flat_map(char::escape_default).collect())
}
