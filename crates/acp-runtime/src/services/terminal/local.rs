//! Starts commands with one pipe for both outputs, so that their order is the order of writing.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};

use tokio::io::AsyncRead;
use tokio::process::{Child, Command};

use super::process::{Started, TerminalCommand, TerminalLauncher, TerminalProcess};
use crate::error::ExitFacts;

/// Commands of this machine, each in a process group of its own (Unix).
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalLauncher;

impl TerminalLauncher for LocalLauncher {
    fn launch(&self, command: TerminalCommand) -> io::Result<Started> {
        let (reader, writer) = io::pipe()?;
        let output = async_reader(reader)?;
        let mut builder = Command::new(&command.program);
        builder
            .args(&command.args)
            .env_clear()
            .envs(command.env)
            .current_dir(&command.cwd)
            .stdin(Stdio::null())
            .stdout(Stdio::from(writer.try_clone()?))
            .stderr(Stdio::from(writer))
            .kill_on_drop(true);
        #[cfg(unix)]
        builder.process_group(0);
        // The builder holds the writing ends of the pipe; the output ends only when it is gone as well.
        let child = builder.spawn()?;
        drop(builder);
        Ok(Started { output, process: Box::new(LocalProcess { group: child.id(), child, exit: None }) })
    }
}

#[cfg(unix)]
fn async_reader(reader: io::PipeReader) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    Ok(Box::new(tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into())?))
}

#[cfg(windows)]
fn async_reader(reader: io::PipeReader) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    let handle = std::os::windows::io::OwnedHandle::from(reader);
    Ok(Box::new(tokio::fs::File::from_std(handle.into())))
}

struct LocalProcess {
    child: Child,
    /// The group, which has the child's id.
    group: Option<u32>,
    exit: Option<ExitFacts>,
}

impl TerminalProcess for LocalProcess {
    fn wait(&mut self) -> Pin<Box<dyn Future<Output = ExitFacts> + Send + '_>> {
        Box::pin(async {
            if self.exit.is_none() {
                self.exit = Some(self.child.wait().await.map_or_else(|_| ExitFacts::default(), facts));
            }
            self.exit.clone().unwrap_or_default()
        })
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group.and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            // Fails when the group is empty, which is what is wanted.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        if self.exit.is_none() {
            let _ = self.child.start_kill();
        } else {
            // Once the command is reaped and its group was killed, the id may belong to somebody else.
            self.group = None;
        }
    }
}

impl Drop for LocalProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn facts(status: ExitStatus) -> ExitFacts {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(signal_name);
    #[cfg(not(unix))]
    let signal = None;
    ExitFacts { exit_code: status.code(), signal }
}

#[cfg(unix)]
fn signal_name(number: i32) -> String {
    use rustix::process::Signal;
    let known = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    let name = known.iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| (*name).to_owned());
    name.unwrap_or_else(|| format!("SIG{number}"))
}
