//! Builds requests from a configuration's own matchers, and near misses.
//!
//! Does not send requests; see `envoy`.

use super::envoy::port;
use super::request;
use chancery_core::backend::envoy::v3::pb;
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::simulate::{Protocol, Request};
use chancery_tests::chance::Chance;
use pb::matcher::{StringMatcher, string_matcher::MatchPattern};
use pb::route::route_match::PathSpecifier;
use pb::route::{HeaderMatcher, RouteMatch, header_matcher::HeaderMatchSpecifier};

/// Builds requests for every route of every table.
pub fn requests(config: &EnvoyConfig, chance: &mut Chance) -> Vec<Request> {
    let mut out = Vec::new();
    for listener in &config.listeners {
        let Some(port) = port(&listener.message) else { continue };
        let one = EnvoyConfig { listeners: vec![listener.clone()], ..EnvoyConfig::default() };
        for (_, table) in one.route_tables() {
            let domains: Vec<&String> = table.virtual_hosts.iter().flat_map(|host| &host.domains).collect();
            for host in &table.virtual_hosts {
                for route in &host.routes {
                    let Some(of) = &route.r#match else { continue };
                    let domain = if chance.percent(85) || domains.is_empty() { chance.pick(&host.domains) } else { chance.pick(&domains) };
                    for authority in authorities(domain, port, chance) {
                        around(of, &authority, port, chance, &mut out);
                    }
                }
            }
        }
    }
    out
}

/// Builds hosts that match a domain, and near misses.
fn authorities(domain: &str, port: u32, chance: &mut Chance) -> Vec<String> {
    let host = match domain {
        "*" => "any.example.net".to_string(),
        domain => match (domain.strip_prefix('*'), domain.strip_suffix('*')) {
            (Some(suffix), _) => format!("a{suffix}"),
            (_, Some(prefix)) => format!("{prefix}z"),
            _ => domain.to_string(),
        },
    };
    let bare = host.split(':').next().unwrap_or_default().to_string();
    let odd = match chance.below(9) {
        0 => host.to_uppercase(),
        1 => format!("{bare}:{port}"),
        2 => format!("{bare}:1"),
        3 => format!("{bare}."),
        4 => format!("x{host}"),
        5 => format!("x.{host}"),
        6 => host.get(1..).unwrap_or_default().to_string(),
        7 => domain.strip_prefix("*.").unwrap_or("other.example").to_string(),
        _ => format!("{bare}.:{port}"),
    };
    vec![host, odd]
}

/// Builds a string that an expression is likely to match.
fn of_regex(regex: &str) -> String {
    let mut out = String::new();
    let mut chars = regex.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '^' | '$' | '(' | ')' | '?' | '*' | '+' => {}
            '|' => break,
            '.' => out.push('x'),
            '\\' => match chars.next() {
                Some('d') => out.push('7'),
                Some('w') => out.push('w'),
                Some('s') => out.push(' '),
                Some(c) => out.push(c),
                None => {}
            },
            '[' => {
                let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                out.push(if inside.starts_with('^') { 'k' } else { inside.chars().next().unwrap_or('k') });
            }
            '{' => drop(chars.by_ref().take_while(|c| *c != '}').collect::<String>()),
            c => out.push(c),
        }
    }
    out
}

fn of_string(of: &StringMatcher) -> String {
    match &of.match_pattern {
        Some(MatchPattern::Exact(text)) => text.clone(),
        Some(MatchPattern::Prefix(text)) => format!("{text}z"),
        Some(MatchPattern::Suffix(text)) => format!("z{text}"),
        Some(MatchPattern::Contains(text)) => format!("z{text}z"),
        Some(MatchPattern::SafeRegex(regex)) => of_regex(&regex.regex),
        _ => "z".into(),
    }
}

fn of_header(of: &HeaderMatcher) -> Option<String> {
    match &of.header_match_specifier {
        Some(HeaderMatchSpecifier::StringMatch(matcher)) => Some(of_string(matcher)),
        Some(HeaderMatchSpecifier::ExactMatch(text)) => Some(text.clone()),
        Some(HeaderMatchSpecifier::PrefixMatch(text)) => Some(format!("{text}z")),
        Some(HeaderMatchSpecifier::SuffixMatch(text)) => Some(format!("z{text}")),
        Some(HeaderMatchSpecifier::ContainsMatch(text)) => Some(format!("z{text}z")),
        Some(HeaderMatchSpecifier::SafeRegexMatch(regex)) => Some(of_regex(&regex.regex)),
        Some(HeaderMatchSpecifier::PresentMatch(false)) => None,
        _ => Some("there".into()),
    }
}

/// Builds paths that a matcher accepts, and near misses.
fn paths(of: &RouteMatch, chance: &mut Chance) -> Vec<String> {
    let base = match &of.path_specifier {
        Some(PathSpecifier::Prefix(path) | PathSpecifier::Path(path) | PathSpecifier::PathSeparatedPrefix(path)) => path.clone(),
        Some(PathSpecifier::SafeRegex(regex)) => of_regex(&regex.regex),
        _ => "/".into(),
    };
    let base = if base.starts_with('/') { base } else { format!("/{base}") };
    let base: String = base.chars().map(|c| if c.is_ascii_graphic() && c != '#' { c } else { '_' }).collect();
    let inner = base.get(1..).unwrap_or_default();
    let odd = match chance.below(22) {
        0 => format!("{base}x"),
        1 => base.get(..base.len() - 1).filter(|path| !path.is_empty()).unwrap_or("/").to_string(),
        2 => base.to_uppercase(),
        3 => format!("/{base}"),
        4 => format!("{base}/"),
        5 => format!("/x/..{base}"),
        6 => format!("/./{inner}"),
        7 => format!("/%2e{base}"),
        8 => format!("{}%2F{}", base.get(..base.len() / 2).unwrap_or("/"), base.get(base.len() / 2..).unwrap_or_default()),
        9 => base.replacen('/', "%2F", 2).replacen("%2F", "/", 1),
        10 => format!("{base}?a=1&b"),
        11 => format!("{base}/more//here?x=//"),
        12 => {
            inner.chars().next().map_or_else(|| "/%41".into(), |c| format!("/%{:02x}{}", u32::from(c), inner.get(c.len_utf8()..).unwrap_or_default()))
        }
        13 => format!("{base};v=1"),
        14 => format!("{base}..%2f.."),
        15 => format!("{base}%5Cback\\slash"),
        16 => format!("{base}/../.."),
        17 => format!("{base}<\"`{{}}^|>"),
        18 => format!("{base}%00"),
        19 => format!("{base}#f"),
        20 => format!("{base}%zz%"),
        _ => "/".into(),
    };
    vec![base, odd]
}

/// Builds requests that a route matches, and requests that it just misses.
fn around(of: &RouteMatch, authority: &str, port: u32, chance: &mut Chance, out: &mut Vec<Request>) {
    for path in paths(of, chance) {
        let mut method = (*chance.pick(&["GET", "GET", "GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "TRACE"])).to_string();
        let mut host = authority.to_string();
        let mut path = path;
        let mut headers: Vec<(String, String)> = Vec::new();
        let miss = chance.below(of.headers.len() * 3 + 2);
        for (at, header) in of.headers.iter().enumerate() {
            let Some(value) = of_header(header) else { continue };
            let value = if header.invert_match { format!("{value}q") } else { value };
            // External requests cannot set it.
            match header.name.as_str() {
                ":method" => method = value,
                ":authority" | "host" if miss != at => host = value,
                "host" => {}
                name if name.starts_with(':') => {}
                name if miss != at => {
                    let value = if chance.percent(10) { value.to_uppercase() } else { value };
                    headers.push((name.to_string(), value.clone()));
                    if chance.percent(8) {
                        headers.push((name.to_string(), "another".into()));
                    }
                }
                _ => {}
            }
        }
        for parameter in &of.query_parameters {
            let value = match &parameter.query_parameter_match_specifier {
                Some(pb::route::query_parameter_matcher::QueryParameterMatchSpecifier::StringMatch(matcher)) => of_string(matcher),
                _ => "1".into(),
            };
            if chance.percent(75) {
                let sign = if path.contains('?') { '&' } else { '?' };
                path = format!("{path}{sign}{}={value}", parameter.name);
            }
        }
        if chance.percent(10) {
            headers.push(("x-forwarded-proto".into(), "https".into()));
        }
        if chance.percent(5) {
            headers.push(("x-forwarded-for".into(), "8.8.8.8".into()));
        }
        if of.grpc.is_some() && chance.percent(70) {
            headers.push(("content-type".into(), "application/grpc".into()));
        }
        if method == "OPTIONS" && chance.percent(50) {
            headers.push(("origin".into(), "http://foo.example".into()));
            headers.push(("access-control-request-method".into(), "GET".into()));
        }
        let sendable = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii() && !c.is_ascii_control() && c != ' ');
        if !sendable(&path)
            || !sendable(&method)
            || host.contains(' ')
            || headers.iter().any(|(_, value)| !value.is_ascii() || value.contains(['\r', '\n']))
        {
            continue;
        }
        if let Some(mut made) = request(&method, &host, &path, port) {
            headers.iter().for_each(|(name, value)| made.headers.add(name, value));
            if chance.percent(35) {
                made.protocol = Protocol::Http2;
            }
            out.push(made);
        }
    }
}
