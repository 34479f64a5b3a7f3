//! `format` of a form's strings: `email`, `uri`, `date` and `date-time` (RFC 5321, 3986 and 3339). Each looks at the text
//! once. Unknown formats say nothing, as in JSON Schema.

/// Whether a text has the format.
pub(super) fn fits(format: &str, text: &str) -> bool {
    match format {
        "email" => email(text),
        "uri" => uri(text),
        "date" => date(text),
        "date-time" => date_time(text),
        _ => true,
    }
}

fn email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let plain =
        |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '@' | '<' | '>' | '(' | ')' | ',' | ';');
    let label = |l: &str| {
        !l.is_empty() && !l.starts_with('-') && !l.ends_with('-') && l.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    text.len() <= 254
        && (1..=64).contains(&local.len())
        && local.chars().all(plain)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && domain.split('.').all(label)
}

fn uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut letters = scheme.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        && !rest.is_empty()
        && !rest.chars().any(|c| {
            c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"' | '\\' | '^' | '`' | '{' | '|' | '}')
        })
}

/// `number(text, 2, 1, 12)`: two digits of ASCII from 1 to 12.
fn number(text: &str, digits: usize, min: u32, max: u32) -> Option<u32> {
    if text.len() != digits || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|n| (min..=max).contains(n))
}

fn date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(day)) = (
        parts.next().and_then(|t| number(t, 4, 0, 9999)),
        parts.next().and_then(|t| number(t, 2, 1, 12)),
        parts.next().and_then(|t| number(t, 2, 1, 31)),
    ) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    day <= days
}

fn date_time(text: &str) -> bool {
    let Some((day, time)) = text.split_once(['T', 't']) else { return false };
    let Some(at) = time.find(['Z', 'z', '+', '-']) else { return false };
    let (clock, zone) = time.split_at(at);
    let zone = zone.eq_ignore_ascii_case("z")
        || zone[1..]
            .split_once(':')
            .is_some_and(|(h, m)| number(h, 2, 0, 23).is_some() && number(m, 2, 0, 59).is_some());
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(c, f)| (c, Some(f)));
    let mut parts = clock.splitn(3, ':');
    // 60 is a leap second.
    let fits = [23, 59, 60].iter().all(|max| parts.next().is_some_and(|t| number(t, 2, 0, *max).is_some()));
    date(day) && fits && zone && fraction.is_none_or(|f| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()))
}
