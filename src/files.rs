//! The files of a session. Everything that touches the disk runs on libuv's pool.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use acp_runtime::services::fs::{self, FsError, FsPolicy, FsService, HardLinks, PendingWrite, RelativePaths};
use napi::bindgen_prelude::{AsyncTask, ToNapiValue, TypeName};
use napi::{Env, Error, Result, Status, Task};
use napi_derive::napi;

/// What the files are open for.
#[napi(object)]
pub struct FilesPolicy {
    /// Serve reads.
    pub read: bool,
    /// Serve writes.
    pub write: bool,
    /// Ceiling of a read, in bytes.
    pub read_max_bytes: u32,
    /// Ceiling of a write, in bytes.
    pub write_max_bytes: u32,
    /// Read files that have other hard links.
    pub hard_linked_reads: bool,
}

/// A refused or failed file request.
#[napi(object)]
pub struct FileFailure {
    /// The stable reason.
    pub code: String,
    /// For people.
    pub message: String,
    /// The ceiling in bytes, where one was passed.
    pub limit_bytes: Option<f64>,
    /// The code of the JSON-RPC error.
    pub rpc_code: i64,
    /// The data of the JSON-RPC error, as JSON.
    pub rpc_data: String,
}

/// What came of a read, a resolution or a write.
#[napi(object)]
pub struct FileAnswer {
    /// The text or the path; empty for a write.
    pub value: Option<String>,
    /// Why not.
    pub failure: Option<FileFailure>,
    /// A write that waits for the gate: the place to give to `commit` and `discard`.
    pub pending: Option<u32>,
}

impl From<FsError> for FileFailure {
    #[expect(clippy::cast_precision_loss, reason = "ceilings are far below 2^53")]
    fn from(error: FsError) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            rpc_code: error.rpc_code(),
            rpc_data: error.rpc_data().to_string(),
            limit_bytes: error.limit_bytes.map(|limit| limit as f64),
            message: error.message,
        }
    }
}

impl FileAnswer {
    fn of(outcome: std::result::Result<String, FsError>) -> Self {
        match outcome {
            Ok(value) => Self { value: Some(value), failure: None, pending: None },
            Err(error) => Self { value: None, failure: Some(error.into()), pending: None },
        }
    }
}

/// One piece of work for libuv's pool.
pub struct Work<T>(Option<Box<dyn FnOnce() -> T + Send>>);

impl<T: Send + ToNapiValue + TypeName + 'static> Work<T> {
    fn new(job: impl FnOnce() -> T + Send + 'static) -> AsyncTask<Self> {
        AsyncTask::new(Self(Some(Box::new(job))))
    }
}

impl<T: Send + ToNapiValue + TypeName + 'static> Task for Work<T> {
    type Output = T;
    type JsValue = T;

    fn compute(&mut self) -> Result<T> {
        let failed = || Error::new(Status::GenericFailure, "a file operation failed inside the addon");
        let job = self.0.take().ok_or_else(failed)?;
        // A panic must not unwind into libuv.
        catch_unwind(AssertUnwindSafe(job)).map_err(|_| failed())
    }

    fn resolve(&mut self, _: Env, output: T) -> Result<T> {
        Ok(output)
    }
}

struct Inner {
    cwd: PathBuf,
    policy: FsPolicy,
    /// Opened at the first use and kept: later changes of the directory's name change nothing.
    service: Mutex<Option<FsService>>,
    /// Writes that wait for the gate.
    pending: Mutex<Vec<Option<PendingWrite>>>,
}

impl Inner {
    fn service(&self) -> std::result::Result<FsService, FsError> {
        let mut service = self.service.lock().unwrap_or_else(PoisonError::into_inner);
        match &*service {
            Some(service) => Ok(service.clone()),
            None => Ok(service.insert(FsService::open(&self.cwd, self.policy)?).clone()),
        }
    }

    fn keep(&self, write: PendingWrite) -> Option<u32> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let free = pending.iter().position(Option::is_none).unwrap_or_else(|| {
            pending.push(None);
            pending.len() - 1
        });
        pending[free] = Some(write);
        u32::try_from(free).ok()
    }

    fn take(&self, place: u32) -> Option<PendingWrite> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).get_mut(place as usize)?.take()
    }
}

/// The files below one directory.
#[napi]
pub struct NativeFiles(Arc<Inner>);

#[napi]
impl NativeFiles {
    /// Nothing is opened yet.
    #[napi(constructor, catch_unwind)]
    #[must_use]
    pub fn new(cwd: String, policy: FilesPolicy) -> Self {
        let policy = FsPolicy {
            read: policy.read,
            write: policy.write,
            read_max_bytes: policy.read_max_bytes as usize,
            write_max_bytes: policy.write_max_bytes as usize,
            relative: RelativePaths::Resolve,
            hard_links: if policy.hard_linked_reads { HardLinks::AllowReads } else { HardLinks::Refuse },
        };
        Self(Arc::new(Inner { cwd: cwd.into(), policy, service: Mutex::default(), pending: Mutex::default() }))
    }

    /// Serves a read; `params` are those of `fs/read_text_file`, as JSON.
    #[napi(ts_return_type = "Promise<FileAnswer>", catch_unwind)]
    pub fn read(&self, params: String) -> AsyncTask<Work<FileAnswer>> {
        let inner = Arc::clone(&self.0);
        Work::new(move || {
            FileAnswer::of(inner.service().and_then(|files| files.read(&params)).map(|read| read.content))
        })
    }

    /// Checks a write up to the gate; `params` are those of `fs/write_text_file`, as JSON. The value is the real path.
    #[napi(ts_return_type = "Promise<FileAnswer>", catch_unwind)]
    pub fn prepare_write(&self, params: String) -> AsyncTask<Work<FileAnswer>> {
        let inner = Arc::clone(&self.0);
        Work::new(move || match inner.service().and_then(|files| files.prepare_write(&params)) {
            Ok(write) => {
                let value = Some(write.path().to_string_lossy().into_owned());
                FileAnswer { value, failure: None, pending: inner.keep(write) }
            }
            Err(error) => FileAnswer { value: None, failure: Some(error.into()), pending: None },
        })
    }

    /// Writes what was prepared.
    #[napi(ts_return_type = "Promise<FileAnswer>", catch_unwind)]
    pub fn commit(&self, pending: u32) -> AsyncTask<Work<FileAnswer>> {
        let write = self.0.take(pending);
        Work::new(move || match write {
            Some(write) => FileAnswer::of(write.commit().map(|()| String::new())),
            None => FileAnswer { value: None, failure: None, pending: None },
        })
    }

    /// Forgets what was prepared; the answer says why, for the agent.
    #[napi(catch_unwind)]
    pub fn discard(&self, pending: u32, blocked: bool) -> FileAnswer {
        let refusal =
            |path: &Path| if blocked { FsError::write_blocked(path) } else { FsError::write_not_granted(path) };
        let failure = self.0.take(pending).map(|write| refusal(write.path()).into());
        FileAnswer { value: None, failure, pending: None }
    }

    /// Resolves a path inside; the value is the real path.
    #[napi(ts_return_type = "Promise<FileAnswer>", catch_unwind)]
    pub fn resolve(&self, path: String) -> AsyncTask<Work<FileAnswer>> {
        let inner = Arc::clone(&self.0);
        Work::new(move || {
            let resolved = inner.service().and_then(|files| files.jail().resolve(&path));
            FileAnswer::of(resolved.map(|path| path.to_string_lossy().into_owned()))
        })
    }
}

/// Whether the path names a file of secrets.
#[napi(catch_unwind)]
#[must_use]
pub fn is_secret_path(path: String) -> bool {
    fs::is_secret_path(&path)
}

/// Whether the path lies in a `.git` directory, or is one.
#[napi(catch_unwind)]
#[must_use]
pub fn is_git_internal(path: String) -> bool {
    fs::is_git_internal(&path)
}

/// Cuts a window of lines out of a text.
#[napi(catch_unwind)]
#[must_use]
pub fn apply_read_window(content: String, line: Option<f64>, limit: Option<f64>, max_bytes: u32) -> String {
    fs::apply_read_window(&content, line, limit, max_bytes as usize).to_owned()
}
