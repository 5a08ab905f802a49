//! Builds the names and patterns that the controller writes for servers, locations, and the locations of authentication.
//!
//! ingress-nginx `internal/ingress/controller/template/template.go`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::{ExternalAuth, Location, Nginx, PathType};
use chancery_text::{Str, base64};
use sha1::{Digest as _, Sha1};

/// Returns a host as a server name. A wildcard matches one label.
pub fn server_name(host: &str) -> Str {
    if !host.starts_with('*') {
        return Str::new(host);
    }
    let rest = host.replacen("*.", "", 1);
    let labels: Vec<&str> = rest.split('.').collect();
    format!("~^(?<subdomain>[\\w-]+)\\.{}$", labels.join("\\.")).into()
}

/// Whether the location rewrites requests.
pub fn rewrites(location: &Location) -> bool {
    let target = &location.settings.rewrite.target.value;
    !target.is_empty() && *target != location.path.value
}

/// Whether all locations of a server are regular expressions.
pub fn enforces_regex(locations: &[Location]) -> bool {
    locations.iter().any(|location| rewrites(location) || location.settings.rewrite.use_regex.value)
}

/// Returns the arguments of the `location` directive.
pub fn pattern(location: &Location, regex: bool) -> Vec<Str> {
    let path = &location.path.value;
    if regex {
        return Vec::from([Str::new_static("~*"), format!("^{path}").into()]);
    }
    match location.path_type {
        PathType::Exact => Vec::from([Str::new_static("="), path.clone()]),
        PathType::Prefix => Vec::from([path.clone()]),
    }
}

/// Whether the location's own pattern matches a path; other locations of the server may win.
pub fn matches(location: &Location, regex: bool, path: &str) -> bool {
    let args = pattern(location, regex);
    let path = path.split('?').next().unwrap_or_default();
    match &args[..] {
        [mark, pattern] if mark == "~*" => crate::simulate::pattern::find(pattern, true, path).is_ok_and(|found| found.is_some()),
        [mark, exact] if mark == "=" => exact == path,
        [prefix] => path.starts_with(prefix.as_str()),
        _ => false,
    }
}

/// Whether the ConfigMap's authentication applies to a location.
pub fn has_global_auth(location: &Location, nginx: &Nginx) -> bool {
    let (settings, global) = (&location.settings, &nginx.globals.external_auth);
    settings.external_auth.url.is_empty() && !global.url.is_empty() && settings.enable_global_auth.value
}

/// Returns the authentication of a location, if it has one.
pub fn auth<'n>(location: &'n Location, nginx: &'n Nginx) -> &'n ExternalAuth {
    if has_global_auth(location, nginx) { &nginx.globals.external_auth } else { &location.settings.external_auth }
}

/// Returns the path of the location that sends a location's authentication request.
pub fn auth_path(location: &Location, nginx: &Nginx) -> Option<String> {
    if location.settings.external_auth.url.is_empty() && !has_global_auth(location, nginx) {
        return None;
    }
    let name = base64::encode(location.path.value.as_bytes()).replace('+', "-").replace('/', "_").replace('=', "");
    Some(format!("/_external-auth-{name}-{}", location.path_type.name()))
}

/// Returns the path of the location that redirects a client without access.
pub fn signin_location(location: &Location, url: &str) -> String {
    let mut hash = Sha1::new();
    hash.update(location.path.value.as_bytes());
    hash.update(url.as_bytes());
    let hex: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("@{hex}")
}

/// Returns the sign-in URL, with the request's own URL as a parameter.
pub fn signin_url(url: &str, parameter: &str) -> String {
    let parameter = if parameter.is_empty() { "rd" } else { parameter };
    let query = url.split_once('#').map_or(url, |(before, _)| before).split_once('?').map_or("", |(_, query)| query);
    let mut pairs = query.split('&').filter(|pair| !pair.is_empty()).peekable();
    if pairs.peek().is_none() {
        return format!("{url}?{parameter}=$pass_access_scheme://$http_host$escaped_request_uri");
    }
    let has_value = |pair: &str| pair.split_once('=').is_some_and(|(name, value)| name == parameter && !value.is_empty());
    if pairs.any(has_value) {
        return url.into();
    }
    format!("{url}&{parameter}=$pass_access_scheme://$http_host$escaped_request_uri")
}

/// Whether the location's path begins with one of the listed paths.
pub fn is_listed(location: &Location, list: &str) -> bool {
    list.split(',').map(|item| item.trim_matches(' ')).any(|item| !item.is_empty() && location.path.value.starts_with(item))
}

/// Returns an origin as a pattern. Its wildcard matches one label.
pub fn origin_pattern(origin: &str) -> String {
    let mut quoted = String::new();
    for c in origin.trim().chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    format!("({})", quoted.replacen("\\*", "[A-Za-z0-9\\-]+", 1))
}

/// Returns the conditions for trying the next endpoint, with `non_idempotent` last.
pub fn next_upstream(text: &str, retries_all: bool) -> Vec<Str> {
    let words = || text.split(' ').filter(|word| !word.is_empty());
    let all = words().any(|word| word == "non_idempotent") || retries_all;
    let rest = words().filter(|word| *word != "non_idempotent").map(Str::new);
    rest.chain(all.then(|| Str::new_static("non_idempotent"))).collect()
}

/// Whether nginx accepts a size with one of these units.
pub fn is_size(text: &str, units: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_suffix(|c| units.contains(c)).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
