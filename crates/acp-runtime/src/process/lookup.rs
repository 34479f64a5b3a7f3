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
/// exists cannot be executed.
pub fn find_binary(spec: &LaunchSpec) -> Result<PathBuf> {
    let mut searched = Vec::new();
    let mut refusal = None;
    for candidate in candidates(spec) {
        match executable(&candidate) {
            Ok(()) => return Ok(candidate),
            // Kept for the case that no later place has a usable one, as a shell does it.
            Err(Refusal::Unusable(why)) => {
                refusal.get_or_insert((candidate.clone(), why));
            }
            Err(Refusal::Absent) => {}
        }
        searched.push(candidate);
    }
    if let Some((path, why)) = refusal {
        let message = format!("the ACP agent binary cannot be executed: {}: {why}", path.display());
        return Err(Error::new(ErrorCode::SpawnError, message).in_phase(Phase::Spawn));
    }
    Err(missing(&spec.command, &searched))
}

fn missing(command: &str, searched: &[PathBuf]) -> Error {
    let places: Vec<String> = searched
        .iter()
        .take(MAX_SEARCHED)
        .map(|path| path.to_string_lossy().chars().take(MAX_PLACE_CHARS).collect())
        .collect();
    Error::new(ErrorCode::MissingBinary, format!("ACP agent binary not found: {command}"))
        .in_phase(Phase::Spawn)
        .with_extra(json!({ "searched": places, "searchedCount": searched.len() }))
}

enum Refusal {
    Absent,
    Unusable(String),
}

fn candidates(spec: &LaunchSpec) -> Vec<PathBuf> {
    let command = Path::new(&spec.command);
    let is_path = spec.command.contains(std::path::is_separator) || command.is_absolute();
    if is_path {
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
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
            ) =>
        {
            return Err(Refusal::Absent);
        }
        Err(error) => return Err(Refusal::Unusable(error.to_string())),
    };
    if meta.is_dir() {
        return Err(Refusal::Unusable("it is a directory".into()));
    }
    if !meta.is_file() {
        return Err(Refusal::Unusable("it is not a regular file".into()));
    }
    #[cfg(unix)]
    if let Err(error) =
        rustix::fs::accessat(rustix::fs::CWD, path, rustix::fs::Access::EXEC_OK, rustix::fs::AtFlags::EACCESS)
    {
        let why = match error {
            rustix::io::Errno::ACCESS => "it is not marked as executable for this user".into(),
            other => other.to_string(),
        };
        return Err(Refusal::Unusable(why));
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
    let mut failure =
        Error::new(ErrorCode::SpawnError, format!("the ACP agent could not be started: {shown}: {why}"))
            .in_phase(Phase::Spawn);
    failure.details_mut().retryable = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory);
    failure
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
