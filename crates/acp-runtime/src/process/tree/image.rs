//! What the child of a fork executes.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use crate::error::{Error, Phase, Result};
use crate::process::mark;
use crate::process::spec::LaunchSpec;

/// A program with its arguments and environment, laid out before the fork.
///
/// The standard library executes by execvp(3), which hands a file that the kernel does not recognise to a shell. No shell is
/// to run an agent, so the child executes by itself, just before the library would.
pub(super) struct Image {
    /// Own everything that the pointers point to.
    _texts: Vec<CString>,
    path: *const c_char,
    args: Vec<*const c_char>,
    env: Vec<*const c_char>,
}

// SAFETY: the pointers lead into the buffers of `_texts`, which stay where they are when the vector moves and are never
// written to; nothing here is bound to a thread.
unsafe impl Send for Image {}
// SAFETY: as above, everything is read only.
unsafe impl Sync for Image {}

impl Image {
    pub fn new(binary: &Path, spec: &LaunchSpec, mark: &str) -> Result<Self> {
        let text = |bytes: &[u8]| {
            CString::new(bytes).map_err(|_| Error::invalid_argument("NUL in the agent's command").in_phase(Phase::Spawn))
        };
        let mut texts = vec![text(binary.as_os_str().as_bytes())?];
        for arg in &spec.args {
            texts.push(text(arg.as_bytes())?);
        }
        let mut env: BTreeMap<&str, &str> = spec.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        env.insert(mark::NAME, mark);
        for (name, value) in env {
            texts.push(text(format!("{name}={value}").as_bytes())?);
        }
        let (args, env) = texts.split_at(1 + spec.args.len());
        let ended = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>();
        let (args, env) = (ended(args), ended(env));
        Ok(Self { path: args[0], args, env, _texts: texts })
    }

    /// Becomes the program; returns only when that fails. Async-signal-safe.
    pub fn execute(&self) -> io::Error {
        unsafe extern "C" {
            fn execve(path: *const c_char, args: *const *const c_char, env: *const *const c_char) -> c_int;
        }
        // SAFETY: all are NUL-terminated texts, and both arrays end with a null pointer.
        unsafe { execve(self.path, self.args.as_ptr(), self.env.as_ptr()) };
        io::Error::last_os_error()
    }
}
