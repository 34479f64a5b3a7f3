//! Params are objects.

use serde::Deserialize;

/// Reads an object. serde's derived structs also accept arrays, member by position; the protocol does not.
pub(super) fn object<'de, T: Deserialize<'de>>(json: &'de str) -> Option<T> {
    json.trim_start().starts_with('{').then(|| serde_json::from_str(json).ok()).flatten()
}
