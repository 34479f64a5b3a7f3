//! URLs that a person may be shown and asked to open.

/// The longest URL, in bytes.
const MAX_BYTES: usize = 8 * 1024;

/// Refuses what is not plainly a web address: another scheme, no host, a name or password before the host, which is how
/// one address is made to look like another, and characters that a browser would drop or read differently.
pub(super) fn check(url: &str) -> Result<(), &'static str> {
    if url.len() > MAX_BYTES {
        return Err("the url is longer than the client accepts");
    }
    if url.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\' || is_invisible(c)) {
        return Err("the url has characters that a url does not have");
    }
    let Some((scheme, rest)) = url.split_once("://") else { return Err("the url is not absolute") };
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return Err("the url is neither https nor http");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("the url has a user before its host");
    }
    let host = if let Some(rest) = authority.strip_prefix('[') {
        let Some((address, port)) = rest.split_once(']') else { return Err("the url has no host") };
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return Err("the url has no host");
        }
        if !port.is_empty() && !port.strip_prefix(':').is_some_and(is_port) {
            return Err("the url has no valid port");
        }
        address
    } else {
        match authority.split_once(':') {
            Some((_, port)) if !is_port(port) => return Err("the url has no valid port"),
            Some((host, _)) => host,
            None => authority,
        }
    };
    if host.is_empty() || host.contains(['<', '>', '^', '|', '"', '%', '`', '{', '}', ',', ';']) {
        return Err("the url has no host");
    }
    Ok(())
}

fn is_port(text: &str) -> bool {
    text.parse::<u16>().is_ok()
}

/// Marks of direction and of no width, with which a shown text differs from what it is.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}
