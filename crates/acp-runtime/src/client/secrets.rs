//! The secrets of one client: those that the host named, and those in what it hands on.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::connection::Redact;
use crate::text::redact::Redactor;

/// Masks them, and whatever looks like one. More may become known while the client lives.
pub(super) struct Secrets {
    values: Mutex<Vec<String>>,
    redactor: RwLock<Arc<Redactor>>,
}

impl Secrets {
    pub(super) fn new(values: &[String]) -> Self {
        Self { values: Mutex::new(values.to_vec()), redactor: RwLock::new(Arc::new(Redactor::new(values))) }
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

    pub(super) fn redact(self: &Arc<Self>) -> Redact {
        let secrets = Arc::clone(self);
        Arc::new(move |text: &str| {
            let redactor = Arc::clone(&secrets.redactor.read().unwrap_or_else(PoisonError::into_inner));
            redactor.redact(text).into_owned()
        })
    }
}
