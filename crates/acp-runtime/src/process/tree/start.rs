//! Starting a process on Linux and macOS, without a copy of the host.
//!
//! The standard library cannot start a process in a session of its own other than by fork, which copies the page tables of
//! the host: a third of a second for a host of one gigabyte (measured), with its memory locked. `posix_spawn(3)` shares
//! the memory until the program is executed. It also executes exactly the given file, where `execvp(3)` hands one that the kernel
//! does not recognise to a shell.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use crate::process::mark;
use crate::process::spec::LaunchSpec;

#[cfg(target_os = "macos")]
const OWN_SESSION: c_int = 0x0400; // POSIX_SPAWN_SETSID of <spawn.h>, since macOS 10.15
#[cfg(target_os = "macos")]
const ONLY_GIVEN_DESCRIPTORS: c_int = libc::POSIX_SPAWN_CLOEXEC_DEFAULT;
#[cfg(not(target_os = "macos"))]
const OWN_SESSION: c_int = libc::POSIX_SPAWN_SETSID as c_int;
#[cfg(not(target_os = "macos"))]
const ONLY_GIVEN_DESCRIPTORS: c_int = 0;

type AddPath = unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, *const c_char) -> c_int;
type AddNumber = unsafe extern "C" fn(*mut libc::posix_spawn_file_actions_t, c_int) -> c_int;

/// Starts `binary` with the arguments, directory and environment of `spec` and the mark, and with `stdio` as its only
/// descriptors. It leads a session of its own: no controlling terminal to read from or to type into. Signals are unblocked
/// and have their default dispositions (an ignored one would stay ignored).
pub(super) fn start(binary: &Path, spec: &LaunchSpec, mark: &str, stdio: &[OwnedFd; 3]) -> io::Result<u32> {
    let path = text(binary.as_os_str().as_bytes())?;
    let mut args = vec![path.clone()];
    for arg in &spec.args {
        args.push(text(arg.as_bytes())?);
    }
    let mut variables: BTreeMap<&str, &str> =
        spec.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    variables.insert(mark::NAME, mark);
    let mut env = Vec::with_capacity(variables.len());
    for (name, value) in variables {
        env.push(text(format!("{name}={value}").as_bytes())?);
    }
    let directory = text(spec.cwd.as_os_str().as_bytes())?;

    let attributes = Attributes::new()?;
    let mut actions = Actions::new()?;
    for (target, source) in (0..).zip(stdio) {
        actions.duplicate(source, target)?;
    }
    actions.close_others();
    let run = |actions: &Actions| run(&path, &args, &env, actions, &attributes);
    if actions.change_directory(&directory)? {
        return run(&actions);
    }
    in_directory(&directory, || run(&actions))
}

fn run(path: &CStr, args: &[CString], env: &[CString], actions: &Actions, attributes: &Attributes) -> io::Result<u32> {
    let (args, env) = (ended(args), ended(env));
    let mut pid = 0;
    // SAFETY: `path` and all texts are NUL-terminated and outlive the call, both arrays end with a null pointer, actions and
    // attributes are initialised.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            path.as_ptr(),
            &raw const *actions.0,
            &raw const *attributes.0,
            args.as_ptr(),
            env.as_ptr(),
        )
    })?;
    u32::try_from(pid).map_err(io::Error::other)
}

/// The pointer array that C wants.
fn ended(texts: &[CString]) -> Vec<*mut c_char> {
    texts.iter().map(|text| text.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

fn text(bytes: &[u8]) -> io::Result<CString> {
    CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn check(code: c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// A function of the C library that older ones lack.
fn optional(name: &CStr) -> Option<*mut libc::c_void> {
    // SAFETY: `name` is NUL-terminated; the lookup has no other precondition.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

struct Actions(Box<libc::posix_spawn_file_actions_t>);

// SAFETY: plain memory of the C library, bound to no thread; it is only read through a shared reference.
unsafe impl Sync for Actions {}

impl Actions {
    fn new() -> io::Result<Self> {
        let mut actions = Box::new(MaybeUninit::uninit());
        // SAFETY: the call initialises what it is given.
        check(unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) })?;
        // SAFETY: it has just been initialised; the box keeps its address.
        Ok(Self(unsafe { actions.assume_init() }))
    }

    /// `source` must not be one of the targets.
    fn duplicate(&mut self, source: &OwnedFd, target: c_int) -> io::Result<()> {
        // SAFETY: initialised; the descriptor is open until after the start.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut *self.0, source.as_raw_fd(), target) })
    }

    /// `false` when the C library (glibc before 2.29) cannot.
    fn change_directory(&mut self, directory: &CStr) -> io::Result<bool> {
        let Some(add) = optional(c"posix_spawn_file_actions_addchdir_np") else { return Ok(false) };
        // SAFETY: the function of that name has this type in glibc, musl and macOS.
        let add: AddPath = unsafe { std::mem::transmute(add) };
        // SAFETY: initialised, and the text is NUL-terminated; it is copied.
        check(unsafe { add(&raw mut *self.0, directory.as_ptr()) }).map(|()| true)
    }

    /// Closes what the host left open for its children. Where the C library cannot (glibc before 2.34, musl), nothing that is
    /// close-on-exec is affected, and that is all that Node and Rust open.
    fn close_others(&mut self) {
        if let Some(add) = optional(c"posix_spawn_file_actions_addclosefrom_np") {
            // SAFETY: the function of that name has this type in glibc.
            let add: AddNumber = unsafe { std::mem::transmute(add) };
            // SAFETY: initialised.
            let _ = unsafe { add(&raw mut *self.0, 3) };
        }
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised, and not used any more.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut *self.0) };
    }
}

struct Attributes(Box<libc::posix_spawnattr_t>);

// SAFETY: as for `Actions`.
unsafe impl Sync for Attributes {}

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut attributes = Box::new(MaybeUninit::uninit());
        // SAFETY: the call initialises what it is given.
        check(unsafe { libc::posix_spawnattr_init(attributes.as_mut_ptr()) })?;
        // SAFETY: it has just been initialised; the box keeps its address.
        let mut attributes = Self(unsafe { attributes.assume_init() });
        let flags = OWN_SESSION
            | ONLY_GIVEN_DESCRIPTORS
            | libc::POSIX_SPAWN_SETSIGMASK as c_int
            | libc::POSIX_SPAWN_SETSIGDEF as c_int;
        let flags = c_short::try_from(flags).map_err(io::Error::other)?;
        let (mut none, mut all) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: both sets are initialised by the first two calls before anything reads them; the attributes are.
        unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::sigfillset(all.as_mut_ptr());
            libc::sigdelset(all.as_mut_ptr(), libc::SIGKILL);
            libc::sigdelset(all.as_mut_ptr(), libc::SIGSTOP);
            check(libc::posix_spawnattr_setsigmask(&raw mut *attributes.0, none.as_ptr()))?;
            check(libc::posix_spawnattr_setsigdefault(&raw mut *attributes.0, all.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(&raw mut *attributes.0, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised, and not used any more.
        unsafe { libc::posix_spawnattr_destroy(&raw mut *self.0) };
    }
}

/// Runs `start` on a thread with a working directory of its own, which the process then inherits.
#[cfg(not(target_os = "macos"))]
fn in_directory(directory: &CStr, start: impl Fn() -> io::Result<u32> + Send + Sync) -> io::Result<u32> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("acp-start".into()).spawn_scoped(scope, || {
            // SAFETY: affects only this thread, which ends right after.
            if unsafe { libc::unshare(libc::CLONE_FS) } != 0 {
                return Err(io::Error::last_os_error());
            }
            rustix::process::chdir(directory)?;
            start()
        })?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the starting thread failed")))
    })
}

#[cfg(target_os = "macos")]
fn in_directory(_directory: &CStr, _start: impl Fn() -> io::Result<u32> + Send + Sync) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into()) // macOS 10.15 is the oldest that Node 20 runs on, and the first that can.
}
