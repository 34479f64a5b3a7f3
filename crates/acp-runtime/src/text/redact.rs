//! Masks secrets in text that leaves the runtime: stderr tails, error data, the wire tap.
//!
//! Two layers. A [`Redactor`] masks exactly the values that the host names, in the spellings they take in logs.
//! [`redact_secrets`] masks what looks like a secret. It would rather mask too much: a 40-digit commit id or a long path
//! without dots and dashes is masked too. Its rules: `docs/decisions/redaction.md`. Both treat a text that is a JSON document
//! as one ([`redact_json`](super::redact_json)): it stays valid.
//!
//! Terminal control inside a secret hides it from neither: such a text is masked without it.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex, Replacer};

use super::known::Known;
pub use super::known::SECRET_MIN_BYTES;
use super::redact_json::{is_document, redact_json};
use super::sanitize::strip_control_sequences;

/// What a secret is replaced by.
pub const REDACTED: &str = "[REDACTED]";

/// Masks known secret values, then [what looks like one](redact_secrets).
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Known,
}

impl Redactor {
    /// A redactor for these values and their JSON-escaped, URL-encoded, hexadecimal and base64 spellings. Values shorter than
    /// [`SECRET_MIN_BYTES`] are ignored. A secret that is a JSON document (a service account) is also known by its longer
    /// strings, since whoever parses it writes it differently.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        Self { known: Known::new(secrets) }
    }

    /// `text` with every known value and everything that looks like a secret masked. Borrows when there is nothing.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        settled(
            text,
            |text| match self.redact_known(text) {
                Cow::Borrowed(text) => redact_patterns(text),
                Cow::Owned(text) => Cow::Owned(redact_patterns(&text).into_owned()),
            },
            0,
        )
    }

    /// `text` with only the known values masked: for text that must stay as it is otherwise.
    pub fn redact_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.known.redact(text)
    }

    /// The length in bytes of the longest spelling of a known value: a piece of text that begins inside of one shows none of
    /// it when so much of it is left out.
    pub fn longest(&self) -> usize {
        self.known.longest()
    }
}

/// Names whose value is a secret. A prefix in words (`OPENAI_API_KEY`, `x-api-key`) belongs to the name.
const SECRET_NAME: &str = r"(?-u:\b)(?:[A-Za-z0-9]+[_.-])*
    (?: (?:api|access|refresh|client|auth|bearer|session|private|secret|signing|encryption|bot|app|id|service)[_-]? )?
    (?:key|token|secret|password|passwd|pwd|passphrase)";

/// The rules, applied in this order.
struct Rules {
    authorization: Regex,
    bearer: Regex,
    cookie: Regex,
    user_info: Regex,
    assignment: Regex,
    prefixed: Regex,
    base64: Regex,
    hex: Regex,
    secret_name: Regex,
    authorization_name: Regex,
    scheme: Regex,
}

impl Rules {
    fn compile() -> Result<Self, regex::Error> {
        Ok(Self {
            authorization: Regex::new(
                r#"(?xi)( authorization \\?["']? \s*[:=]\s* \\?["']? (?:(?:bearer|basic|digest|token|negotiate|apikey)\s+)? ) [^\s,;"'\\]+"#,
            )?,
            bearer: Regex::new(r"(?i)(?-u:\b)(bearer)\s+[A-Za-z0-9._~+/=-]+")?,
            cookie: Regex::new(r"(?i)(?-u:\b)((?:set-)?cookie\s*:\s*)[^\r\n]+")?,
            user_info: Regex::new(r#"(://)[^\s/?#@"']+@"#)?,
            assignment: Regex::new(&format!(
                r#"(?xi)( {SECRET_NAME} \\?["']? \s*[:=]\s* )
                (?: "(?<double>(?:[^"\\\r\n]|\\.)*)" | '(?<single>(?:[^'\\\r\n]|\\.)*)' | (?<open>\\?["']?) [^\s,;"'\\]+ )"#
            ))?,
            prefixed: Regex::new(
                r"(?x)(?-u:\b)(?:
                    (?: sk- | [sr]k_(?:live|test)_ | gh[opsru]_ | github_pat_ | glpat- | xox[abeprs]- | xai- | gsk_ | hf_ | npm_ | pypi- )
                    [A-Za-z0-9_-]{8,}
                  | (?: AKIA | ASIA ) [A-Za-z0-9_-]{8,}
                  | AIza [A-Za-z0-9_-]{20,}
                  | ya29\. [A-Za-z0-9._-]{8,}
                  | eyJ [A-Za-z0-9_-]{8,} \. [A-Za-z0-9_-]+ \. [A-Za-z0-9_-]*
                )",
            )?,
            base64: Regex::new(r"(?-u:\b)[A-Za-z0-9+/]{40,}={0,2}(?-u:\b)")?,
            hex: Regex::new(r"(?-u:\b)[0-9a-fA-F]{32,}(?-u:\b)")?,
            secret_name: Regex::new(&format!(r"(?xi)(?: {SECRET_NAME} | (?-u:\b)(?:set-)?cookie ) \s* $"))?,
            authorization_name: Regex::new(r"(?i)authorization\s*$")?,
            scheme: Regex::new(r"(?i)^\s*(?:bearer|basic|digest|token|negotiate|apikey)\s+")?,
        })
    }

    fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        replace(&mut text, &self.authorization, "${1}[REDACTED]");
        replace(&mut text, &self.bearer, "${1} [REDACTED]");
        replace(&mut text, &self.cookie, "${1}[REDACTED]");
        replace(&mut text, &self.user_info, "${1}[REDACTED]@");
        replace(&mut text, &self.assignment, mask_assignment);
        replace(&mut text, &self.prefixed, REDACTED);
        replace(&mut text, &self.base64, REDACTED);
        replace(&mut text, &self.hex, REDACTED);
        text
    }
}

fn replace(text: &mut Cow<'_, str>, rule: &Regex, by: impl Replacer) {
    if let Cow::Owned(replaced) = rule.replace_all(text, by) {
        *text = Cow::Owned(replaced);
    }
}

/// Keeps the name and the quotes of an assignment.
fn mask_assignment(found: &Captures<'_>) -> String {
    let name = &found[1];
    if found.name("double").is_some() {
        format!("{name}\"{REDACTED}\"")
    } else if found.name("single").is_some() {
        format!("{name}'{REDACTED}'")
    } else {
        format!("{name}{}{REDACTED}", found.name("open").map_or("", |quote| quote.as_str()))
    }
}

/// What a member's name says of its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecretName {
    /// Nothing.
    #[default]
    No,
    /// It is a secret.
    Value,
    /// It is a secret after an authorization scheme.
    Authorization,
}

/// Whether a member, header or variable of this name holds a secret.
pub(super) fn secret_name(name: &str) -> SecretName {
    match rules() {
        Some(rules) if rules.authorization_name.is_match(name) => SecretName::Authorization,
        Some(rules) if !rules.secret_name.is_match(name) => SecretName::No,
        _ => SecretName::Value,
    }
}

/// Whether a variable of this name holds a secret: its name ends in key, token, secret, password or the like.
pub fn is_secret_name(name: &str) -> bool {
    secret_name(name) != SecretName::No
}

/// The scheme that credentials start with, with the space after it; may be empty.
pub(super) fn authorization_scheme(credentials: &str) -> &str {
    rules().and_then(|rules| rules.scheme.find(credentials)).map_or("", |scheme| scheme.as_str())
}

fn rules() -> Option<&'static Rules> {
    static RULES: LazyLock<Option<Rules>> = LazyLock::new(|| Rules::compile().ok());
    RULES.as_ref()
}

/// Masks what looks like a secret: credentials in headers and addresses, assignments to secret names, tokens with known
/// prefixes, long base64 and hexadecimal runs. Borrows when there is nothing. Linear in the length of the text.
pub fn redact_secrets(text: &str) -> Cow<'_, str> {
    settled(text, redact_patterns, 0)
}

/// How often a text is looked at that shows secrets again and again. Twice is usual; one that needs more than this was made
/// for it, and nothing of it is shown.
const ROUNDS: usize = 8;

/// How deep documents may stand in strings of documents. Every level is escaped once more when it is written anew, which
/// can double what it takes; deeper ones are masked whole.
const MAX_NESTED: usize = 6;

/// `text` as `mask` leaves it when it finds nothing any more. `nested`: how many documents it stands in. What is masked may have ended the match of another rule
/// (`://key:/…@`), which is found only then.
fn settled(text: &str, mask: impl Fn(&str) -> Cow<'_, str> + Copy, nested: usize) -> Cow<'_, str> {
    let Some(mut shown) = masked_once(text, mask, nested) else { return Cow::Borrowed(text) };
    for _ in 1..ROUNDS {
        match masked_once(&shown, mask, nested) {
            Some(more) => shown = more,
            None => return Cow::Owned(shown),
        }
    }
    Cow::Borrowed(REDACTED)
}

/// `text` with what `mask` finds masked: in each string of a document, or as the text reads on a terminal. `None`: it finds
/// nothing.
fn masked_once(text: &str, mask: impl Fn(&str) -> Cow<'_, str> + Copy, nested: usize) -> Option<String> {
    if nested > MAX_NESTED && is_document(text) {
        return Some(REDACTED.to_owned());
    }
    // A document has control characters only in its strings, each of which is looked at, and between them.
    if let Some(shown) = redact_json(text, &|part| settled(part, mask, nested + 1).into_owned()) {
        return (shown != text).then_some(shown);
    }
    // A terminal hides the sequences in the middle of a secret, and shows it whole.
    if let Cow::Owned(plain) = strip_control_sequences(text)
        && let Some(shown) = masked_once(&plain, mask, nested)
    {
        return Some(shown);
    }
    let shown = mask(text);
    (shown != text).then(|| shown.into_owned())
}

fn redact_patterns(text: &str) -> Cow<'_, str> {
    // The rules always compile (a test does it); if they did not, nothing may leak.
    rules().map_or(Cow::Borrowed(REDACTED), |rules| rules.apply(text))
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
