//! Logging: off by default, to stderr on demand.

use tracing_subscriber::EnvFilter;

/// Installs the subscriber once, if the environment asks for it: `FUSION_ACP_LOG` takes a level or a filter of `tracing`
/// (`debug`, `acp::process=trace`), `PI_ACP_DEBUG=1` means `debug`.
pub fn init() {
    let filter = match std::env::var("FUSION_ACP_LOG") {
        Ok(filter) if !filter.trim().is_empty() => scoped(filter.trim()),
        _ if std::env::var("PI_ACP_DEBUG").is_ok_and(|v| v == "1") => scoped("debug"),
        _ => return,
    };
    let Ok(filter) = EnvFilter::try_new(filter) else { return };
    // Fails when the host process has a subscriber already; then that one decides.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).try_init();
}

/// A bare level concerns this addon only.
fn scoped(filter: &str) -> String {
    let level = matches!(filter.to_ascii_lowercase().as_str(), "error" | "warn" | "info" | "debug" | "trace");
    if level { format!("off,acp={filter}") } else { filter.to_owned() }
}
