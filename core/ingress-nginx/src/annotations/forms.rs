//! Checks the values of annotations as the controller does, and parses URLs and address ranges.
//!
//! ingress-nginx `internal/ingress/annotations/parser/validators.go`. Does not read annotations; see `read`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::schema::names;
use chancery_kubernetes::go;
use chancery_kubernetes::regexp;
use chancery_text::Str;
use core::net::IpAddr;

/// The required form of an annotation's value.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// A boolean in any of Go's notations.
    Flag,
    /// An integer.
    Number,
    /// Any string: a snippet.
    Snippet,
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, in any case.
    AnyCaseWords(&'static [&'static str]),
    /// Comma-separated names of servers, also as regular expressions.
    ServerNames,
    /// The name of a server, also as a regular expression.
    ServerName,
    /// Letters, digits and `-._~/:`.
    Basic,
    /// Letters, digits, `-._~/:` and blanks.
    BasicWithBlanks,
    /// Letters, digits, `-._~/:`, commas and blanks.
    Extended,
    /// Letters, digits, `-._~/:` and the special characters of regular expressions.
    Regex,
    /// A size: `10m`.
    Size,
    /// A URL with a query.
    Url,
    /// A URL with variables.
    UrlWithVariables,
    /// Letters, digits and `-_${}`.
    Variable,
    /// A path with groups: `/$1`.
    PathWithGroups,
    /// Comma-separated names of headers.
    Headers,
    /// Comma-separated addresses and ranges.
    Ranges,
    /// The name of a Service.
    ServiceName,
    /// A value that a separate function checks.
    Own(fn(&str) -> bool),
}

impl Form {
    /// Whether a value has the form.
    pub fn accepts(self, text: &str) -> bool {
        let packed = || without_blanks(text);
        match self {
            Form::Flag => go::parse_bool(text).is_some(),
            Form::Number => go::atoi(text).is_ok(),
            Form::Snippet => true,
            Form::Words(words) => words.contains(&text.trim()),
            Form::AnyCaseWords(words) => words.contains(&text.trim().to_lowercase().as_str()),
            Form::ServerNames => text.split(',').all(|name| is_regex(name.trim())),
            Form::ServerName => is_regex(text.trim()),
            Form::Size => is_size(&packed(), "bkmgBKMG"),
            Form::Basic | Form::UrlWithVariables | Form::Variable | Form::Headers => is_of(&packed(), &self.other_characters()),
            Form::BasicWithBlanks | Form::Extended | Form::Regex | Form::Url | Form::PathWithGroups => is_of(text, &self.other_characters()),
            Form::Ranges => ranges(text).is_some(),
            Form::ServiceName => is_service_name(text),
            Form::Own(accepts) => accepts(text),
        }
    }

    /// Returns the accepted characters other than letters and digits. The string is empty if the form has further rules.
    fn other_characters(self) -> String {
        match self {
            Form::Basic => BASIC.into(),
            Form::BasicWithBlanks => [BASIC, " "].concat(),
            Form::Extended => [BASIC, ", "].concat(),
            Form::Regex => [BASIC, REGEX].concat(),
            Form::Url => [BASIC, URL].concat(),
            Form::UrlWithVariables => [BASIC, ", $", URL].concat(),
            Form::Variable => "-_${}".into(),
            Form::PathWithGroups => [BASIC, "$"].concat(),
            Form::Headers => "-_, ".into(),
            _ => String::new(),
        }
    }

    /// Describes the fault of a value: a forbidden character, otherwise the required form.
    pub fn describe_fault(self, text: &str) -> String {
        let others = self.other_characters();
        let wrong = text.chars().find(|c| !others.is_empty() && !c.is_ascii_alphanumeric() && *c != ' ' && !others.contains(*c));
        let Some(wrong) = wrong else { return format!("it takes: {}", self.accepted_values()) };
        let shown = if wrong.is_control() { format!("{wrong:?}") } else { format!("`{wrong}`") };
        let decoded = decode(text).filter(|decoded| self.accepts(decoded));
        match decoded {
            Some(decoded) => format!("{shown} is not allowed: write `{decoded}`"),
            None => format!(
                "{shown} is not allowed: it takes letters, digits and `{}`",
                others.replace(' ', "").chars().collect::<BTreeSet<_>>().into_iter().collect::<String>()
            ),
        }
    }

    /// Describes the accepted values.
    pub const fn accepted_values(self) -> &'static str {
        match self {
            Form::Flag => "\"true\" or \"false\"",
            Form::Number => "whole number, in quotes",
            Form::Snippet => "nginx directives",
            Form::Words(_) | Form::AnyCaseWords(_) => "one of some words",
            Form::ServerNames => "names by comma",
            Form::ServerName => "name",
            Form::Size => "size such as 10m",
            Form::Url | Form::UrlWithVariables => "URL",
            Form::Variable => "text with nginx variables",
            Form::PathWithGroups => "path, with groups such as $1",
            Form::Headers => "names of headers by comma",
            Form::Ranges => "addresses and ranges by comma",
            Form::ServiceName => "name of a Service",
            Form::Regex => "regular expression",
            Form::Basic | Form::BasicWithBlanks | Form::Extended | Form::Own(_) => "string",
        }
    }

    /// Returns the accepted words, if the form lists them.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            Form::Flag => &["\"true\"", "\"false\""],
            Form::Words(words) | Form::AnyCaseWords(words) => words,
            _ => &[],
        }
    }
}

/// Accepted characters other than letters and digits.
const BASIC: &str = "-._~/:";
const URL: &str = ",:?&=";
const REGEX: &str = "^$[](){}*+?|&=\\";

/// Whether a string only has letters, digits and the characters of `others`.
fn is_of(text: &str, others: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
}

/// Decodes escapes such as `%3A`. Returns `None` if the string has no escapes, or if an escape is not a printable character.
fn decode(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut out = String::from(parts.next()?);
    let mut any = false;
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii_graphic)?;
        out.push(char::from(code));
        out.push_str(part.get(2..)?);
        any = true;
    }
    any.then_some(out)
}

fn is_regex(text: &str) -> bool {
    is_of(text, &[BASIC, REGEX].concat())
}

fn without_blanks(text: &str) -> String {
    text.replace(' ', "")
}

/// Whether a string is digits, optionally followed by one of `units`.
pub fn is_size(text: &str, units: &str) -> bool {
    let digits = text.strip_suffix(|c| units.contains(c)).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_service_name(text: &str) -> bool {
    let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= 63 && text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with('-') && text.chars().all(is_lower)
}

/// Whether `auth-type` accepts a value: `basic` or `digest` in any part.
pub fn is_auth_type(text: &str) -> bool {
    let packed = without_blanks(text);
    !text.contains(['\r', '\n']) && (packed.contains("basic") || packed.contains("digest"))
}

/// Whether `auth-secret-type` accepts a value: `auth-file` or `auth-map` in any part.
pub fn is_auth_secret_type(text: &str) -> bool {
    let packed = without_blanks(text);
    !text.contains(['\r', '\n']) && (packed.contains("auth-file") || packed.contains("auth-map"))
}

/// Whether `auth-method` accepts a value: the name of a method.
pub fn is_method(text: &str) -> bool {
    ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "OPTIONS", "TRACE"].contains(&without_blanks(text).as_str())
}

/// Whether `auth-tls-verify-client` accepts a value.
pub fn is_verification(text: &str) -> bool {
    ["on", "off", "optional", "optional_no_ca"].contains(&without_blanks(text).as_str())
}

/// Whether a value is `on` or `off`. Ignores blanks.
pub fn is_on_or_off(text: &str) -> bool {
    ["on", "off"].contains(&without_blanks(text).as_str())
}

/// Whether `auth-tls-error-page` accepts a value: a named location, a URL or a path.
pub fn is_error_page(text: &str) -> bool {
    let text = &without_blanks(text);
    let is_word = |text: &str, others: &str| !text.is_empty() && is_of(text, others);
    if let Some(name) = text.strip_prefix('@') {
        return is_word(name, "_-");
    }
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let has_scheme = rest.len() < text.len();
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let is_host = match (name.is_empty(), port) {
        (true, None) => !has_scheme,
        (true, Some(_)) => false,
        (false, port) => is_of(name, "-.") && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())),
    };
    let segments = path.strip_prefix('/').map(|path| path.strip_suffix('/').unwrap_or(path));
    is_host && segments.is_none_or(|path| path.is_empty() || path.split('/').all(|segment| is_word(segment, "-_.")))
}

/// Whether `auth-tls-match-cn` accepts a value: `CN=` and an expression that Go accepts.
pub fn is_common_name(text: &str) -> bool {
    text.strip_prefix("CN=").is_some_and(|regex| regexp::check(regex).is_ok())
}

/// Whether `connection-proxy-header` accepts a value.
pub fn is_connection(text: &str) -> bool {
    ["close", "keep-alive"].contains(&without_blanks(text).as_str())
}

/// Whether `cors-allow-origin` accepts a value. The controller checks the list as a whole; see `is_origin` for each item.
pub fn is_origin_list(text: &str) -> bool {
    let text = &without_blanks(text);
    if text == "*" || text.is_empty() {
        return true;
    }
    // Pieces may follow each other without a comma, so the check looks for any way to split the string.
    !text.contains(['\r', '\n']) && splits_into_origins(text)
}

fn splits_into_origins(text: &str) -> bool {
    // The positions at which a piece can end.
    let mut reached: BTreeSet<usize> = BTreeSet::from([0]);
    let mut next = 0;
    while let Some(from) = reached.range(next..).next().copied() {
        if from == text.len() {
            return true;
        }
        for end in from + 1..=text.len() {
            if text.get(from..end).is_some_and(is_origin_piece) {
                reached.insert(end);
            }
        }
        next = from + 1;
    }
    false
}

/// Whether a string is `[a-z]+://`, `*.`, a host, `:PORT` and a comma, all optional. `null` also matches, as a host.
fn is_origin_piece(text: &str) -> bool {
    let text = text.strip_suffix(',').unwrap_or(text);
    let host = match text.split_once("://") {
        Some((scheme, rest)) if !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_lowercase()) => rest,
        Some(_) => return false,
        None => text,
    };
    is_host_with_port(host.strip_prefix("*.").unwrap_or(host))
}

fn is_host_with_port(text: &str) -> bool {
    let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
    is_of(host, "-.") && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether the controller uses an item of `cors-allow-origin`.
pub fn is_origin(text: &str) -> bool {
    match text.split_once("://") {
        _ if matches!(text, "*" | "null" | "") => true,
        Some((scheme, rest)) if !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            is_host_with_port(rest.strip_prefix("*.").unwrap_or(rest))
        }
        _ => false,
    }
}

/// Whether `cors-allow-methods` accepts a value: words of letters, with or without commas. Ignores blanks.
pub fn is_methods(text: &str) -> bool {
    is_words(&without_blanks(text), |c| c.is_ascii_alphabetic())
}

/// Whether `cors-expose-headers` accepts a value. Ignores blanks.
pub fn is_exposed_headers(text: &str) -> bool {
    is_words(&without_blanks(text), |c| c.is_ascii_alphanumeric() || "-_*".contains(c))
}

/// Whether a string is one or more words, each followed by at most one comma and one blank.
pub fn is_words(text: &str, is_letter: impl Fn(char) -> bool) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len());
        if word == 0 {
            return false;
        }
        rest = rest.get(word..).unwrap_or_default();
        rest = rest.strip_prefix(',').unwrap_or(rest);
        rest = rest.strip_prefix(|c: char| c.is_ascii_whitespace()).unwrap_or(rest);
    }
    !text.is_empty()
}

/// Whether the controller uses a value of `cors-allow-methods`, after its form was accepted. Otherwise the default applies.
pub fn is_used_methods(text: &str) -> bool {
    is_words(text, |c| c.is_ascii_alphabetic())
}

/// Whether the controller uses a value of `cors-allow-headers`: letters, digits, `-_,` and blanks.
pub fn is_used_headers(text: &str) -> bool {
    is_of(text, "-_, ")
}

/// Whether the controller uses a value of `cors-expose-headers`, after its form was accepted. Otherwise the default applies.
pub fn is_used_exposed_headers(text: &str) -> bool {
    is_words(text, |c| c.is_ascii_alphanumeric() || "-_*".contains(c))
}

/// Whether `custom-http-errors` accepts a value: comma-separated statuses of 4xx and 5xx. Ignores blanks.
pub fn is_error_list(text: &str) -> bool {
    let mut rest = &*without_blanks(text);
    while !rest.is_empty() {
        let Some((code, after)) = rest.split_at_checked(3) else { return false };
        if !code.starts_with(['4', '5', ',']) || !code.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
            return false;
        }
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    true
}

/// Whether `fastcgi-index` accepts a value: the name of a file.
pub fn is_file_name(text: &str) -> bool {
    let text = &without_blanks(text);
    !text.is_empty() && is_of(text, ".-_")
}

/// Whether a ConfigMap of `fastcgi-params-configmap` may have a value.
pub fn is_fastcgi_value(text: &str) -> bool {
    is_of(text, "-_${}/.")
}

/// Whether `opentelemetry-operation-name` accepts a value.
pub fn is_operation_name(text: &str) -> bool {
    is_of(&without_blanks(text), "_-")
}

/// Whether `proxy-cookie-domain` accepts a value: `off`, or two names separated by blanks.
pub fn is_cookie_domain(text: &str) -> bool {
    if text.contains(['\r', '\n']) {
        return false;
    }
    let mut words = text.split_whitespace();
    let pair = (words.next(), words.next(), words.next());
    let is_trimmed = text.trim() == text;
    text == "off" || is_trimmed && matches!(pair, (Some(one), Some(two), None) if is_of(one, BASIC) && is_of(two, BASIC))
}

const NEXT_UPSTREAM: &[&str] = &[
    "error",
    "timeout",
    "invalid_header",
    "http_500",
    "http_502",
    "http_503",
    "http_504",
    "http_403",
    "http_404",
    "http_429",
    "non_idempotent",
    "off",
];

/// Whether `proxy-next-upstream` accepts a value: known words, each followed by at most one blank.
pub fn is_next_upstream(text: &str) -> bool {
    if text.contains(['\r', '\n']) {
        return false;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let Some(word) = NEXT_UPSTREAM.iter().find(|word| rest.starts_with(**word)) else { return false };
        rest = rest.get(word.len()..).unwrap_or_default();
        rest = rest.strip_prefix(|c: char| c.is_ascii_whitespace()).unwrap_or(rest);
    }
    !text.is_empty()
}

/// Whether `proxy-ssl-protocols` accepts a value: any number of `TLSv1.2` and `TLSv1.3`. Ignores blanks.
pub fn is_proxy_protocols(text: &str) -> bool {
    let mut rest = &*without_blanks(text);
    while !rest.is_empty() {
        let Some(after) = rest.strip_prefix("TLSv1.2").or_else(|| rest.strip_prefix("TLSv1.3")) else { return false };
        rest = after;
    }
    true
}

/// Whether `proxy-ssl-ciphers` accepts a value.
pub fn is_proxy_ciphers(text: &str) -> bool {
    is_of(&without_blanks(text), "+:_-!")
}

/// Whether `ssl-ciphers` accepts a value: names of ciphers, `@STRENGTH` and `@SECLEVEL=n`.
pub fn is_ciphers(text: &str) -> bool {
    let packed = without_blanks(text);
    let mut rest = packed.as_str();
    while !rest.is_empty() {
        let level = rest.strip_prefix("@SECLEVEL=").and_then(|rest| rest.strip_prefix(|c| ('0'..='5').contains(&c)));
        let is_other = |c: char| c.is_ascii_alphanumeric() || "!:+-_".contains(c);
        let Some(after) = rest.strip_prefix("@STRENGTH").or(level).or_else(|| rest.strip_prefix(is_other)) else { return false };
        rest = after;
    }
    true
}

/// Whether the controller uses an expiry: it starts with 0 or ends with a number other than zero.
pub fn is_expiry(text: &str) -> bool {
    let digits = text.len() - text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let last = text.get(text.len() - digits..).unwrap_or_default();
    text.starts_with('0') || last.bytes().any(|byte| byte != b'0')
}

/// Whether `session-cookie-expires` accepts a value. Removes blanks before the check.
pub fn is_packed_expiry(text: &str) -> bool {
    !text.contains(['\r', '\n']) && is_expiry(&without_blanks(text))
}

/// Whether `session-cookie-max-age` accepts a value. Does not remove blanks before the check.
pub fn is_plain_expiry(text: &str) -> bool {
    !text.contains(['\r', '\n']) && is_expiry(text)
}

/// Whether `upstream-hash-by` accepts a value.
pub fn is_hash_by(text: &str) -> bool {
    is_of(&without_blanks(text), "-_${}")
}

/// Whether a string has the characters of a URL. Ignores blanks.
pub fn is_packed_url(text: &str) -> bool {
    is_of(&without_blanks(text), &[BASIC, URL].concat())
}

/// Whether `x-forwarded-prefix` accepts a value. Ignores blanks.
pub fn is_packed_path(text: &str) -> bool {
    is_of(&without_blanks(text), &[BASIC, "$"].concat())
}

/// Whether a string is the name of a header.
pub fn is_header(text: &str) -> bool {
    !text.is_empty() && is_of(text, "-_")
}

/// Whether a ConfigMap of `custom-headers` may have a value.
pub fn is_header_value(text: &str) -> bool {
    !text.is_empty() && is_of(text, "_ :;.,\\/\"'?!(){}[]@<>=-+*#$&`|~^%")
}

/// Whether `auth-cache-duration` accepts an item: statuses, then a duration.
pub fn is_cache_duration(text: &str) -> bool {
    let mut seen = false;
    for element in text.split(' ').filter(|element| !element.is_empty()) {
        let is_status = element.len() == 3 && element.bytes().all(|byte| byte.is_ascii_digit());
        if is_status && seen {
            return false;
        }
        let digits = element.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = element.get(digits.len()..).unwrap_or_default();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        seen |= !is_status && is_number && ["ms", "s", "m", "h", "d", "w", "M", "y"].contains(&unit);
    }
    seen
}

/// Parses comma-separated addresses and ranges. Returns each once: sorted ranges and addresses. Returns `None` if an item is neither.
pub fn ranges(text: &str) -> Option<Vec<Str>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let (mut networks, mut addresses) = (BTreeSet::new(), BTreeSet::new());
    for item in text.split(',') {
        let item = item.trim();
        match go::parse_cidr(item) {
            Ok((address, length)) => {
                networks.insert(Str::from(format!("{address}/{length}")));
            }
            Err(_) => {
                let address: IpAddr = item.parse().ok()?;
                addresses.insert(Str::from(format!("{}", to_ipv4_if_mapped(address))));
            }
        }
    }
    networks.extend(addresses);
    Some(networks.into_iter().collect())
}

/// Converts an IPv4 address in IPv6 notation to IPv4.
fn to_ipv4_if_mapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Whether a string is a DNS name in lower case.
pub fn is_dns_name(text: &str) -> bool {
    names::subdomain(text).is_empty()
}

/// The parts of a URL that the controller uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Url {
    /// In lower case.
    pub scheme: String,
    /// Host and port.
    pub host: String,
    /// Without the `?`.
    pub query: String,
}

impl Url {
    /// Returns the host without its port.
    pub fn host_name(&self) -> &str {
        if let Some(rest) = self.host.strip_prefix('[') {
            return rest.split_once(']').map_or(rest, |(name, _)| name);
        }
        self.host.rsplit_once(':').map_or(&self.host, |(name, _)| name)
    }

    /// Returns the value of a query parameter, if the value is not empty.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next().filter(|value| !value.is_empty())
    }

    /// Parses a URL as Go does (`net/url`).
    ///
    /// # Errors
    ///
    /// The URL is invalid. The message is Go's message.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("parse {}: {why}", chancery_base::schema::go_quoted(text)));
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return wrong("net/url: invalid control character in URL");
        }
        let text_without_fragment = text.split_once('#').map_or(text, |(before, _)| before);
        let scheme_end = text_without_fragment.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
        let (scheme, rest) = match scheme_end.map(|end| text_without_fragment.split_at(end)) {
            Some(("", rest)) if rest.starts_with(':') => return wrong("missing protocol scheme"),
            Some((scheme, rest)) if rest.starts_with(':') && scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                (scheme.to_ascii_lowercase(), rest.get(1..).unwrap_or_default())
            }
            _ => (String::new(), text_without_fragment),
        };
        let (rest, query) = rest.split_once('?').map_or((rest, ""), |(rest, query)| (rest, query));
        let mut url = Self { scheme, host: String::new(), query: query.into() };
        let Some(authority) = rest.strip_prefix("//") else {
            let first = rest.split('/').next().unwrap_or_default();
            if url.scheme.is_empty() && first.contains(':') {
                return wrong("first path segment in URL cannot contain colon");
            }
            return check_path(rest).map(|()| url);
        };
        let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        if let Some(bad) = host.chars().find(|c| c.is_ascii() && !c.is_ascii_alphanumeric() && !"-_.~!$&'()*+,;=:[]<>\"%".contains(*c)) {
            return wrong(&format!("invalid character {} in host name", chancery_base::schema::go_quoted(&format!("{bad}"))));
        }
        let port = if host.starts_with('[') { host.rsplit_once(']').map(|(_, port)| port) } else { host.rfind(':').and_then(|at| host.get(at..)) };
        let is_port = |port: &str| port.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(port) = port.filter(|port| !port.is_empty() && !is_port(port)) {
            return wrong(&format!("invalid port {} after host", chancery_base::schema::go_quoted(port)));
        }
        url.host = host.into();
        check_path(path).map(|()| url)
    }

    /// Parses a URL that must have a scheme and a host.
    ///
    /// # Errors
    ///
    /// The URL is invalid or lacks a part. The message is the controller's message.
    pub fn absolute(text: &str) -> Result<Self, String> {
        let url = Self::parse(text).map_err(|why| format!("{text} is not a valid URL: {why}"))?;
        match () {
            () if url.scheme.is_empty() => Err("url scheme is empty".into()),
            () if url.host.is_empty() => Err("url host is empty".into()),
            () if url.host.contains("..") => Err("invalid url host".into()),
            () => Ok(url),
        }
    }
}

fn check_path(path: &str) -> Result<(), String> {
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let escape: String = rest.get(at..).unwrap_or_default().chars().take(3).collect();
        let digits = escape.get(1..).unwrap_or_default();
        if digits.len() != 2 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(format!(
                "parse {}: invalid URL escape {}",
                chancery_base::schema::go_quoted(path),
                chancery_base::schema::go_quoted(&escape)
            ));
        }
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    Ok(())
}
