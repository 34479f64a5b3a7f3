//! Runs a command in a session of its own, as tools of real agents do: `setsid-exec COMMAND [ARG]...`.

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    use std::os::unix::process::CommandExt as _;

    let mut args = std::env::args_os().skip(1);
    let Some(command) = args.next() else { return Err(std::io::Error::other("usage: setsid-exec COMMAND [ARG]...")) };
    // Fails only for the leader of a group, which a shell's background command is not.
    rustix::process::setsid()?;
    Err(std::process::Command::new(command).args(args).exec())
}

#[cfg(not(unix))]
fn main() {}
