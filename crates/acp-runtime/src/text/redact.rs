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

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex, Replacer};
use serde_json::Value;

use super::redact_json::redact_json;
use super::sanitize::strip_control_sequences;

/// What a secret is replaced by.
pub const REDACTED: &str = "[REDACTED]";

/// Shortest value, in bytes, that a [`Redactor`] masks. Shorter ones are in every other word.
pub const SECRET_MIN_BYTES: usize = 4;

/// Masks known secret values, then [what looks like one](redact_secrets).
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Known,
}

#[derive(Clone, Default)]
enum Known {
    #[default]
    Nothing,
    Values(AhoCorasick),
    /// The values do not fit into one automaton: nothing may be shown.
    Everything,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Never the values.
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Values(_) => "Values",
            Self::Everything => "Everything",
        })
    }
}

impl Redactor {
    /// A redactor for these values and their JSON-escaped, URL-encoded, hexadecimal and base64 spellings. Values shorter than
    /// [`SECRET_MIN_BYTES`] are ignored. A secret that is a JSON document (a service account) is also known by its longer
    /// strings, since whoever parses it writes it differently.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut spellings: Vec<String> = Vec::new();
        for secret in secrets {
            let secret = secret.as_ref().trim();
            // A mask that an environment was given instead of a secret is none.
            if secret.len() >= SECRET_MIN_BYTES && !REDACTED.contains(secret) {
                spell(secret, &mut spellings);
            }
            if secret.starts_with(['{', '['])
                && let Ok(document) = serde_json::from_str(secret)
            {
                spell_parts(&document, &mut spellings);
            }
        }
        spellings.sort_unstable();
        spellings.dedup();
        if spellings.is_empty() {
            return Self::default();
        }
        Self { known: AhoCorasick::new(&spellings).map_or(Known::Everything, Known::Values) }
    }

    /// `text` with every known value and everything that looks like a secret masked. Borrows when there is nothing.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        settled(text, |text| match self.redact_known(text) {
            Cow::Borrowed(text) => redact_patterns(text),
            Cow::Owned(text) => Cow::Owned(redact_patterns(&text).into_owned()),
        })
    }

    /// `text` with only the known values masked: for text that must stay as it is otherwise.
    pub fn redact_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let values = match &self.known {
            Known::Nothing => return Cow::Borrowed(text),
            Known::Everything => return Cow::Borrowed(REDACTED),
            Known::Values(values) => values,
        };
        let mut out = String::new();
        // The end of what is copied or masked, and whether it ends in a mask. Overlapping matches, which come ordered by
        // their end, are one mask: half a secret is still a secret.
        let mut masks: Vec<(usize, usize)> = Vec::new();
        for found in values.find_overlapping_iter(text) {
            let mut start = found.start();
            while let Some(&(earlier, end)) = masks.last() {
                if end <= start {
                    break;
                }
                start = start.min(earlier);
                masks.pop();
            }
            masks.push((start, found.end()));
        }
        if masks.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut done = 0;
        for (start, end) in masks {
            out.push_str(&text[done..start]);
            out.push_str(REDACTED);
            done = end;
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }
}

/// The shortest string inside a JSON secret that counts as one itself, in bytes.
const PART_MIN_BYTES: usize = 8;

fn spell(secret: &str, spellings: &mut Vec<String>) {
    spellings.extend([
        secret.to_owned(),
        json_escaped(secret),
        percent_encoded(secret, b"0123456789ABCDEF"),
        percent_encoded(secret, b"0123456789abcdef"),
        percent_encoded(secret, b"0123456789ABCDEF").replace("%20", "+"),
        json_escaped(&json_escaped(secret)),
        secret.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}")),
        secret.bytes().fold(String::new(), |hex, byte| format!("{hex}{byte:02X}")),
    ]);
    spellings.extend((0..3).flat_map(|before| base64_inside(secret.as_bytes(), before)));
}

/// Characters of base64 that must be sure: fewer stand in other texts, too.
const BASE64_MIN: usize = 8;

/// What base64 has of `secret` where `before` more bytes (modulo three) stand in front of it, whatever they are and whatever
/// follows; with either alphabet. `Basic` credentials have a secret so.
fn base64_inside(secret: &[u8], before: usize) -> Vec<String> {
    const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    // A character is six bits; only those whose bits are all the secret's are sure.
    let bits = |at: usize| secret.get(at / 8).map(|byte| byte >> (7 - at % 8) & 1);
    let first = (6 - before * 8 % 6) % 6;
    let sure: Vec<usize> = (first..)
        .step_by(6)
        .map_while(|at| (at..at + 6).try_fold(0, |value, at| Some(value << 1 | usize::from(bits(at)?))))
        .collect();
    if sure.len() < BASE64_MIN {
        return Vec::new();
    }
    let standard: String = sure.iter().map(|value| char::from(STANDARD[*value])).collect();
    let url = standard.replace('+', "-").replace('/', "_");
    vec![standard, url]
}

fn spell_parts(document: &Value, spellings: &mut Vec<String>) {
    match document {
        Value::String(part) if part.trim().len() >= PART_MIN_BYTES => spell(part.trim(), spellings),
        Value::Array(items) => items.iter().for_each(|item| spell_parts(item, spellings)),
        Value::Object(members) => members.values().for_each(|member| spell_parts(member, spellings)),
        _ => {}
    }
}

/// The inside of the JSON string for `secret`.
fn json_escaped(secret: &str) -> String {
    let quoted = serde_json::to_string(secret).unwrap_or_default();
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(secret).to_owned()
}

/// `encodeURIComponent`, with the given digits.
fn percent_encoded(secret: &str, digits: &[u8; 16]) -> String {
    let mut out = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |nibble: u8| char::from(digits[usize::from(nibble)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
    out
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
    settled(text, redact_patterns)
}

/// How often a text is looked at that shows secrets again and again. Twice is usual; one that needs more than this was made
/// for it, and nothing of it is shown.
const ROUNDS: usize = 8;

/// `text` as `mask` leaves it when it finds nothing any more. What is masked may have ended the match of another rule
/// (`://key:/…@`), which is found only then.
fn settled(text: &str, mask: impl Fn(&str) -> Cow<'_, str> + Copy) -> Cow<'_, str> {
    let Some(mut shown) = masked_once(text, mask) else { return Cow::Borrowed(text) };
    for _ in 1..ROUNDS {
        match masked_once(&shown, mask) {
            Some(more) => shown = more,
            None => return Cow::Owned(shown),
        }
    }
    Cow::Borrowed(REDACTED)
}

/// `text` with what `mask` finds masked: as it reads on a terminal, in each string of a document. `None`: it finds nothing.
fn masked_once(text: &str, mask: impl Fn(&str) -> Cow<'_, str> + Copy) -> Option<String> {
    // A terminal hides the sequences in the middle of a secret, and shows it whole.
    if let Cow::Owned(plain) = strip_control_sequences(text)
        && let Some(shown) = masked_once(&plain, mask)
    {
        return Some(shown);
    }
    let shown = redact_json(text, &|part| settled(part, mask).into_owned()).map_or_else(|| mask(text), Cow::Owned);
    (shown != text).then(|| shown.into_owned())
}

fn redact_patterns(text: &str) -> Cow<'_, str> {
    // The rules always compile (a test does it); if they did not, nothing may leak.
    rules().map_or(Cow::Borrowed(REDACTED), |rules| rules.apply(text))
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
