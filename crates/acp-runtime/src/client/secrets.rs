//! The secrets of one client: those that the host named, and those in what it hands on.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::connection::Redact;
use crate::process::LaunchSpec;
use crate::text::redact::{Redactor, is_secret_name};

/// The shortest value of an environment that counts as a secret, in bytes. Shorter ones are settings (`true`, `debug`):
/// masked everywhere they would only make logs unreadable.
pub(super) const MIN_ENV_SECRET_BYTES: usize = 8;

/// Masks them, and whatever looks like one. More may become known while the client lives.
pub(super) struct Secrets {
    values: Mutex<Vec<String>>,
    redactor: RwLock<Arc<Redactor>>,
}

impl Secrets {
    /// Those of a launch: what the host named, and the variables whose names say that they are secrets.
    pub(super) fn of_launch(spec: &LaunchSpec) -> Self {
        let of_env =
            spec.env.iter().filter(|(name, value)| value.len() >= MIN_ENV_SECRET_BYTES && is_secret_name(name));
        let values: Vec<String> = spec.secrets.iter().chain(of_env.map(|(_, value)| value)).cloned().collect();
        let redactor = RwLock::new(Arc::new(Redactor::new(&values)));
        Self { values: Mutex::new(values), redactor }
    }

    /// Masks these, too, from now on.
    pub(super) fn add(&self, values: Vec<String>) {
        let mut known = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        for value in values {
            if !known.contains(&value) {
                known.push(value);
            }
        }
        if known.len() > before {
            *self.redactor.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Redactor::new(&*known));
        }
    }

    /// The longest spelling of one, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.redactor.read().unwrap_or_else(PoisonError::into_inner).longest()
    }

    pub(super) fn redact(self: &Arc<Self>) -> Redact {
        let secrets = Arc::clone(self);
        Arc::new(move |text: &str| {
            let redactor = Arc::clone(&secrets.redactor.read().unwrap_or_else(PoisonError::into_inner));
            redactor.redact(text).into_owned()
        })
    }
}
