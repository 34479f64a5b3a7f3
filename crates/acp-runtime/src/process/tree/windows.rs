//! A tree on Windows: a job object. Every process that a member starts is a member, and none can leave.

use std::io;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle, RawHandle};
use std::path::Path;
use std::pin::Pin;
use std::process::Stdio;
use std::ptr;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, TH32CS_SNAPTHREAD, THREADENTRY32, Thread32First, Thread32Next,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOBOBJECT_BASIC_PROCESS_ID_LIST,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_SUSPENDED, OpenThread, ResumeThread, THREAD_SUSPEND_RESUME,
};

use super::Pass;
use crate::error::{Error, ErrorCode, ExitFacts, Phase, Result};
use crate::process::lookup;
use crate::process::spec::LaunchSpec;

/// The exit code of killed processes: what a shell reports after SIGKILL.
const KILLED: u32 = 137;
/// How many ids of members are asked for at most.
const MAX_LISTED: usize = 16 * 1024;

/// A process that has just been started, and everything that belongs to it.
pub(in crate::process) struct Launched {
    pub pid: u32,
    pub owned: Owned,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    /// Resolves when the process has ended.
    pub exit: Pin<Box<dyn Future<Output = ExitFacts> + Send>>,
}

/// Starts `binary` suspended, puts it into a job, and only then lets it run: nothing it starts is outside.
///
/// The job ends its members when its last handle is closed, which the system does for a host that dies. No console window
/// appears.
pub(in crate::process) fn launch(binary: &Path, spec: &LaunchSpec) -> Result<Launched> {
    let owned = Owned::new().map_err(|error| failed("no job object for the ACP agent", &error))?;
    let mut command = Command::new(binary);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .creation_flags(CREATE_NO_WINDOW | CREATE_SUSPENDED)
        // For the failures below only; a child that is waited for to its end is not touched.
        .kill_on_drop(true);
    let mut child = command.spawn().map_err(|error| lookup::exec_error(binary, &error))?;
    let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err(failed("the ACP agent was started without its pipes", &io::ErrorKind::BrokenPipe.into()));
    };
    let pid = owned.adopt(&child).map_err(|error| failed("the ACP agent could not be put into its job", &error))?;
    let exit = Box::pin(async move {
        let status = child.wait().await;
        status.map(|status| ExitFacts { exit_code: status.code(), signal: None }).unwrap_or_default()
    });
    Ok(Launched { pid, owned, stdin, stdout, stderr, exit })
}

fn failed(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorCode::SpawnError, format!("{what}: {error}")).in_phase(Phase::Spawn)
}

fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A started tree.
#[derive(Debug)]
pub(in crate::process) struct Owned {
    job: OwnedHandle,
}

impl Owned {
    fn new() -> io::Result<Self> {
        // SAFETY: no attributes (so the handle is not inherited) and no name.
        let job = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a handle that was just created and that nobody else owns.
        let owned = Self { job: unsafe { OwnedHandle::from_raw_handle(job as RawHandle) } };
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        let size = u32::try_from(size_of_val(&limits)).map_err(io::Error::other)?;
        // SAFETY: `limits` is the structure of this class, and `size` its size.
        check(unsafe {
            SetInformationJobObject(owned.handle(), JobObjectExtendedLimitInformation, (&raw const limits).cast(), size)
        })?;
        Ok(owned)
    }

    fn handle(&self) -> HANDLE {
        self.job.as_raw_handle() as HANDLE
    }

    fn adopt(&self, child: &Child) -> io::Result<u32> {
        let (Some(process), Some(pid)) = (child.raw_handle(), child.id()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // SAFETY: both handles are open.
        check(unsafe { AssignProcessToJobObject(self.handle(), process as HANDLE) })?;
        resume(pid)?;
        Ok(pid)
    }

    /// The ids of the members.
    fn members(&self) -> io::Result<Vec<u32>> {
        let mut room = 64;
        loop {
            // In units of `usize`, so that the buffer is aligned: two counters of 32 bits, then the ids.
            let head = size_of::<JOBOBJECT_BASIC_PROCESS_ID_LIST>() / size_of::<usize>() - 1;
            let mut buffer = vec![0usize; head + room];
            let size = u32::try_from(size_of_val(buffer.as_slice())).map_err(io::Error::other)?;
            // SAFETY: the buffer is writable for `size` bytes and aligned for the structure.
            let asked = check(unsafe {
                QueryInformationJobObject(
                    self.handle(),
                    JobObjectBasicProcessIdList,
                    buffer.as_mut_ptr().cast(),
                    size,
                    ptr::null_mut(),
                )
            });
            match asked {
                Ok(()) => {
                    // SAFETY: the call has filled in the structure; reading its counter needs no more than its head.
                    let listed = unsafe {
                        (*buffer.as_ptr().cast::<JOBOBJECT_BASIC_PROCESS_ID_LIST>()).NumberOfProcessIdsInList
                    };
                    let ids = buffer.iter().skip(head).take(usize::try_from(listed).unwrap_or(0));
                    return Ok(ids.filter_map(|id| u32::try_from(*id).ok()).collect());
                }
                Err(error) if error.raw_os_error() == i32::try_from(ERROR_MORE_DATA).ok() && room < MAX_LISTED => {
                    room *= 4
                }
                Err(error) => return Err(error),
            }
        }
    }

    pub(in crate::process) fn observe(&self) {}

    /// There is no request that a process without a console or window would receive.
    pub(in crate::process) fn terminate(&self) -> bool {
        false
    }

    /// Ends all members at once.
    pub(in crate::process) fn kill_pass(&self) -> Pass {
        let live = self.survivors().len();
        if live > 0 {
            // SAFETY: the handle is open.
            unsafe { TerminateJobObject(self.handle(), KILLED) };
        }
        Pass { live, refused: 0 }
    }

    pub(in crate::process) fn known_alive(&self) -> bool {
        !self.survivors().is_empty()
    }

    pub(in crate::process) fn any_alive(&self) -> bool {
        !self.survivors().is_empty()
    }

    pub(in crate::process) fn survivors(&self) -> Vec<u32> {
        self.members().unwrap_or_default()
    }

    pub(in crate::process) fn release(&self) {}
}

/// Lets a process run that was started suspended. Its only thread is its first one.
fn resume(pid: u32) -> io::Result<()> {
    // SAFETY: no precondition.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0) };
    if snapshot == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a handle that was just created and that nobody else owns.
    let snapshot = unsafe { OwnedHandle::from_raw_handle(snapshot as RawHandle) };
    let handle = snapshot.as_raw_handle() as HANDLE;
    let size = u32::try_from(size_of::<THREADENTRY32>()).map_err(io::Error::other)?;
    let mut entry = THREADENTRY32 { dwSize: size, ..Default::default() };
    let mut resumed = false;
    // SAFETY: the snapshot is open, and the entry knows its size.
    let mut more = unsafe { Thread32First(handle, &raw mut entry) };
    while more != 0 {
        if entry.th32OwnerProcessID == pid {
            // SAFETY: no precondition; a handle that is not null is ours.
            let thread = unsafe { OpenThread(THREAD_SUSPEND_RESUME, 0, entry.th32ThreadID) };
            if thread.is_null() {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: a handle that was just created and that nobody else owns.
            let thread = unsafe { OwnedHandle::from_raw_handle(thread as RawHandle) };
            // SAFETY: the handle is open and may resume.
            if unsafe { ResumeThread(thread.as_raw_handle() as HANDLE) } == u32::MAX {
                return Err(io::Error::last_os_error());
            }
            resumed = true;
        }
        entry.dwSize = size;
        // SAFETY: as above.
        more = unsafe { Thread32Next(handle, &raw mut entry) };
    }
    if resumed { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
}
