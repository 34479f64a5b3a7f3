//! Sign-in notices that agents deliver as an ordinary answer.
//!
//! Some agents end a turn cleanly with the single text `Not logged in · Please run /login`. Taken as an answer it would
//! be a result; it is a failure.

use std::sync::LazyLock;

use regex::Regex;

/// Longest reply that is looked at, in bytes. Notices are one or two short sentences.
const MAX_BYTES: usize = 240;

/// The grammar of notices, over lower-case words: what is wrong, what to do, or both.
const GRAMMAR: &str = r"(?x)
^(?: (?: error | api\ error | fatal | login\ failed | authentication\ failed ) \ )? (?: 40[13] \ )? (?:
    (?<wrong>
        (?: (?: you | we | user | claude | claude\ code | codex | gemini | this\ account ) (?: \ are | \ is | re )? \ )?
        (?: currently \ )?
        (?: not \ (?: currently \ )? (?: logged\ in | signed\ in | authenticated ) | logged\ out | signed\ out | unauthenticated )
        (?: \ to \ [a-z]+ (?: \ [a-z]+ )? )?
      | (?: authentication | auth | authorization | login | log\ in | sign\ in ) \ (?: is \ )? required
      | (?: invalid | missing | no | expired ) \ (?: api\ key | access\ token | auth\ token | oauth\ token | credentials )
        (?: \ (?: provided | found | configured ) )?
      | (?: your \ )? (?: oauth \ | auth \ | access \ | login \ )? (?: token | session | login | credentials )
        \ (?: has \ | have \ | is \ | are \ | was \ )? (?: been \ )? (?: expired | revoked | invalid )
    )
    (?: \ fix\ external\ api\ key )?
    (?: \ (?: please \ | you\ must \ | you\ need\ to \ )? (?&ACTION) )?
  | (?: please | you\ must | you\ need\ to ) \ (?&ACTION)
  | run \ /login (?: \ to \ (?: log | sign ) \ in )?
)$";

/// What a notice asks for.
const ACTION: &str = r"(?:
        (?: run | use | type | enter | execute | try ) \ (?: / (?: login | auth ) | [a-z][a-z]* (?: \ [a-z]+ )? \ (?: login | auth | signin ) | login )
        (?: \ (?: command | in\ (?: the\ )? (?: cli | terminal ) ) )?
      | (?: log | sign ) \ (?: back \ )? in (?: \ to \ [a-z]+ (?: \ [a-z]+ )? )?
      | login
      | (?: re )? authenticate
    )
    (?: \ (?: again | first | to\ continue | to\ (?: log | sign )\ in (?: \ again )? | to\ (?: re )?authenticate | and\ try\ again ) )*";

static NOTICE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&GRAMMAR.replace("(?&ACTION)", ACTION)).ok());

/// Whether the *whole* reply is a notice that the agent wants its user to sign in. An answer that quotes or mentions one
/// is not. Case, punctuation, quotes and line breaks do not matter.
pub fn is_sign_in_notice(reply: &str) -> bool {
    let reply = reply.trim();
    if reply.is_empty() || reply.len() > MAX_BYTES {
        return false;
    }
    NOTICE.as_ref().is_some_and(|notice| notice.is_match(&words(reply)))
}

/// Lower-case words with single spaces between; `/` stays where it begins a command.
fn words(reply: &str) -> String {
    let mut out = String::with_capacity(reply.len());
    for c in reply.chars().flat_map(char::to_lowercase) {
        match c {
            // "you're" is one word however the apostrophe is written.
            '\'' | '’' => {}
            c if c.is_alphanumeric() => out.push(c),
            '/' if out.is_empty() || out.ends_with(' ') => out.push('/'),
            _ if out.is_empty() || out.ends_with(' ') => {}
            _ => out.push(' '),
        }
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOTICES: &[&str] = &[
        "Not logged in · Please run /login",
        "not logged in",
        "NOT LOGGED IN.",
        "Please run /login",
        "Invalid API key · Please run /login",
        "Invalid API key · Fix external API key",
        "OAuth token has expired · Please run /login",
        "OAuth token revoked · Please run /login",
        "OAuth token has been revoked. Please run /login.",
        "Session expired. Please run /login to sign in again.",
        "You are not logged in. Run `codex login` to authenticate.",
        "You're not logged in. Please log in.",
        "You’re not signed in\nPlease sign in to continue",
        "Error: Not logged in. Please run `claude auth login`.",
        "Not authenticated. Please run 'cursor-agent login' first.",
        "Authentication required. Please run `cursor-agent login`",
        "Authentication required",
        "Login required",
        "Please log in to continue.",
        "API Error: 401 Invalid API key · Please run /login",
        "Not signed in to GitHub Copilot. Use /login to sign in.",
        "Missing API key",
    ];

    const ANSWERS: &[&str] = &[
        "",
        "   ",
        "ok",
        "The error says: Not logged in · Please run /login",
        "Not logged in · Please run /login is what the agent prints when no session exists.",
        "The user is not logged in after the redirect, so the test fails.",
        "I fixed the bug: the banner read \"Not logged in\" even after login.",
        "Run /login and then /status to see the account.",
        "Invalid API key handling was missing in auth.rs; I added it.",
        "{\"verdict\":\"fail\",\"summary\":\"Not logged in\"}",
        "Login required fields are validated now.",
        "Please run the tests again.",
        "No",
        "login",
        "Sign in",
    ];

    #[test]
    fn notices_are_recognised() {
        for notice in NOTICES {
            assert!(is_sign_in_notice(notice), "{notice:?} -> {:?}", words(notice));
            assert!(is_sign_in_notice(&format!("\n  {}\n", notice.to_uppercase())), "{notice:?}");
        }
    }

    #[test]
    fn answers_are_not() {
        for answer in ANSWERS {
            assert!(!is_sign_in_notice(answer), "{answer:?} -> {:?}", words(answer));
        }
    }

    #[test]
    fn an_answer_that_quotes_a_notice_is_not_one() {
        let filler = "This paragraph explains in detail what the change does and why it was made. ".repeat(5);
        for notice in NOTICES {
            for answer in [
                format!("{filler}{notice}"),
                format!("{notice}\n\n{filler}"),
                format!("The agent said \"{notice}\"."),
                format!("{notice} — that text comes from the bridge"),
            ] {
                assert!(!is_sign_in_notice(&answer), "{answer:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_looked_at_without_harm(reply in "\\PC{0,300}") {
            // Random text is no notice: none of it is longer than the bound or spells one.
            let found = is_sign_in_notice(&format!("zz {reply}"));
            prop_assert!(!found);
        }
    }
}
