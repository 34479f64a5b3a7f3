//! Files and terminals as one connection serves them: params in, the gate asked, an answer out.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::value::RawValue;

use super::fs::{FsError, FsPolicy, FsService};
use super::terminal::{CreateRequest, LocalLauncher, Shell, TerminalLauncher, TerminalLimits, TerminalRef, Terminals};
use crate::port::Services;
use crate::port::{BoxFuture, Host};
use crate::wire::encode::{self, Answer, AnswerError, code};

/// What the terminals of a connection are open for.
#[derive(Clone)]
pub struct TerminalPolicy {
    /// The whole environment of every command; what the agent asks for comes on top.
    pub env: Vec<(String, String)>,
    /// Whether lines may go to a shell.
    pub shell: Shell,
    /// Limits.
    pub limits: TerminalLimits,
    /// Starts the commands.
    pub launcher: Arc<dyn TerminalLauncher>,
}

impl Default for TerminalPolicy {
    fn default() -> Self {
        Self {
            env: Vec::new(),
            shell: Shell::default(),
            limits: TerminalLimits::default(),
            launcher: Arc::new(LocalLauncher::default()),
        }
    }
}

/// Serves the file and terminal methods that the policies open.
pub struct AgentServices {
    fs: FsPolicy,
    terminal: Option<TerminalContext>,
    /// The directory of every session, pinned when the session opened.
    roots: Arc<Roots>,
}

#[derive(Default)]
struct Roots(Mutex<HashMap<String, Result<FsService, FsError>>>);

impl Roots {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Result<FsService, FsError>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Clone)]
struct TerminalContext {
    policy: Arc<TerminalPolicy>,
    terminals: Terminals,
    roots: Arc<Roots>,
}

impl AgentServices {
    /// Serves files as `fs` allows, and terminals where there is a policy for them.
    pub fn new(fs: FsPolicy, terminal: Option<TerminalPolicy>) -> Self {
        let roots = Arc::<Roots>::default();
        let terminal = terminal.map(|policy| TerminalContext {
            terminals: Terminals::new(Arc::clone(&policy.launcher), policy.limits),
            policy: Arc::new(policy),
            roots: Arc::clone(&roots),
        });
        Self { fs, terminal, roots }
    }

    fn root(&self, session_id: &str) -> Result<FsService, AnswerError> {
        match self.roots.lock().get(session_id) {
            Some(root) => Ok(root.clone()?),
            None => Err(AnswerError::new(code::RESOURCE_NOT_FOUND, "the session has no directory")),
        }
    }
}

impl Services for AgentServices {
    fn session_opened(&self, session_id: &str, cwd: &Path) {
        if self.fs.read || self.fs.write || self.terminal.is_some() {
            self.roots.lock().insert(session_id.to_owned(), FsService::open(cwd, self.fs));
        }
    }

    fn request(
        &self,
        session_id: &str,
        method: &str,
        params: &RawValue,
        host: &Arc<dyn Host>,
    ) -> Option<BoxFuture<Answer>> {
        let is_file = match method {
            "fs/read_text_file" => self.fs.read,
            "fs/write_text_file" => self.fs.write,
            _ => false,
        };
        if is_file && let Some(answer) = host.serve_file(session_id, method, params) {
            return Some(answer);
        }
        let session_id = session_id.to_owned();
        let params = params.to_owned();
        match method {
            "fs/read_text_file" if is_file => {
                let root = self.root(&session_id);
                Some(Box::pin(async move {
                    let root = root?;
                    result(&blocking(move || root.read(params.get())).await?)
                }))
            }
            "fs/write_text_file" if is_file => {
                Some(Box::pin(write(self.root(&session_id), session_id, params, Arc::clone(host))))
            }
            "terminal/create" => {
                let context = self.terminal.clone()?;
                Some(Box::pin(create(context, self.root(&session_id), session_id, params, Arc::clone(host))))
            }
            "terminal/output" | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release" => {
                let terminals = self.terminal.as_ref()?.terminals.clone();
                let method = method.to_owned();
                Some(Box::pin(async move { terminal(&terminals, &method, &session_id, params.get()).await }))
            }
            _ => None,
        }
    }

    fn session_closed(&self, session_id: &str) {
        self.roots.lock().remove(session_id);
        if let Some(TerminalContext { terminals, .. }) = &self.terminal {
            // Taken now: a session may get the same id at once.
            tokio::spawn(terminals.release_all(session_id));
        }
    }

    fn closing(&self) {
        if let Some(TerminalContext { terminals, .. }) = &self.terminal {
            terminals.refuse();
        }
    }

    fn closed(&self) -> BoxFuture<()> {
        self.roots.lock().clear();
        let terminals = self.terminal.as_ref().map(|context| context.terminals.clone());
        Box::pin(async move {
            if let Some(terminals) = terminals {
                terminals.close().await;
            }
        })
    }
}

async fn write(
    root: Result<FsService, AnswerError>,
    session_id: String,
    params: Box<RawValue>,
    host: Arc<dyn Host>,
) -> Answer {
    let root = root?;
    let write = blocking(move || root.prepare_write(params.get())).await?;
    if !host.allow_write(&session_id, &write.path().to_string_lossy()).await {
        return Err(FsError::write_not_granted(write.path()).into());
    }
    blocking(move || write.commit()).await?;
    result(&Empty {})
}

async fn create(
    context: TerminalContext,
    root: Result<FsService, AnswerError>,
    session_id: String,
    params: Box<RawValue>,
    host: Arc<dyn Host>,
) -> Answer {
    let root = root?;
    let request = CreateRequest::decode(params.get())?;
    let wanted = request.cwd.clone();
    let cwd = blocking(move || match wanted {
        Some(wanted) => root.jail().resolve_directory(&wanted),
        None => Ok(root.jail().root().to_owned()),
    })
    .await?;
    if !host.allow_command(&session_id, &params).await {
        return Err(AnswerError::new(code::INVALID_PARAMS, "the command was not allowed"));
    }
    let command = request.to_command(cwd, &context.policy.env, context.policy.shell);
    let terminal_id = context.terminals.create(&session_id, command, request.output_byte_limit)?;
    // The session may have closed while somebody was asked. Its directory goes first, its terminals after that.
    if !context.roots.lock().contains_key(&session_id) {
        context.terminals.release(&session_id, &terminal_id).await?;
        return Err(AnswerError::new(code::REQUEST_CANCELLED, "the session was closed"));
    }
    result(&Created { terminal_id })
}

async fn terminal(terminals: &Terminals, method: &str, session_id: &str, params: &str) -> Answer {
    let id = TerminalRef::decode(params)?.terminal_id;
    match method {
        "terminal/output" => result(&terminals.output(session_id, &id)?),
        "terminal/wait_for_exit" => result(&terminals.wait_for_exit(session_id, &id).await?),
        "terminal/kill" => {
            terminals.kill(session_id, &id).await?;
            result(&Empty {})
        }
        _ => {
            terminals.release(session_id, &id).await?;
            result(&Empty {})
        }
    }
}

#[derive(Serialize)]
struct Empty {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    terminal_id: String,
}

fn result(value: &impl Serialize) -> Answer {
    encode::raw(value).map_err(|error| AnswerError::new(code::INTERNAL_ERROR, error.to_string()))
}

/// Runs file work where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FsError> + Send + 'static,
) -> Result<T, AnswerError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result?),
        Err(_) => Err(AnswerError::new(code::INTERNAL_ERROR, "the client failed to handle the request")),
    }
}
