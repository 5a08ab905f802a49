//! Reads the controller's ConfigMap: keys with their own rules first, then every other key by its type.
//!
//! ingress-nginx `internal/ingress/controller/template/configmap.go`. Does not define the keys and their defaults; see `ir::nginx::globals`.

use super::annotations::cache_durations;
use super::annotations::forms::{self, Url};
use super::cluster::Cluster;
use super::kinds::Kind;
use super::options::Options;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::nginx::globals::{self, Key, KeyType};
use chancery_base::ir::nginx::{GlobalValue, Globals};
use chancery_base::resource::{ObjectId, Origin, Rule, Sourced};
use chancery_kubernetes::go;
use chancery_text::{Node, Str};

/// A key that the controller does not use, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    pub key: Str,
    pub origin: Option<Origin>,
    /// The controller's message; `None` if it does not know the key.
    pub fault: Option<String>,
}

/// The settings of the ConfigMap, and its faults.
#[derive(Debug, Default)]
pub struct Read {
    /// The effective settings.
    pub globals: Globals,
    pub unused: Vec<Unused>,
    /// The ConfigMaps that the settings come from.
    pub used: Vec<ObjectId>,
    /// The names of missing ConfigMaps, each with the key that names the ConfigMap.
    pub missing: Vec<(&'static str, Sourced<Str>)>,
}

/// The codes that `http-redirect-code` accepts.
const REDIRECTS: &[i64] = &[301, 302, 307, 308];

/// Reads the controller's ConfigMap, and the ConfigMaps that it names.
pub fn read(cluster: &Cluster<'_>, options: &Options) -> Read {
    let mut found = Read::default();
    let Some(held) = cluster.by_key(Kind::ConfigMap, &options.config_map) else { return found };
    found.used.push(held.object.id);
    let entries = held.root.get("data").and_then(Node::as_object).into_iter().flatten();
    for entry in entries {
        let Some(value) = entry.value.as_str() else { continue };
        let value = Sourced::new(Str::new(value), Origin::new(held.object.id, entry.value.id, Rule::Module));
        apply_key(&mut found, &entry.key, value);
    }
    read_headers(&mut found, cluster);
    found
}

/// Reads the headers in the ConfigMaps of `proxy-set-headers` and `add-headers`.
fn read_headers(found: &mut Read, cluster: &Cluster<'_>) {
    for name in ["proxy-set-headers", "add-headers"] {
        let key = found.globals.text(name);
        if key.is_empty() {
            continue;
        }
        let Some(held) = cluster.by_key(Kind::ConfigMap, &key) else {
            found.missing.push((name, key));
            continue;
        };
        found.used.push(held.object.id);
        let data = held.root().field("data");
        let of = |(name, at): (&Str, chancery_kubernetes::cursor::Cursor<'_>)| {
            Some((name.clone(), Sourced::new(Str::new(at.some_str()?), at.origin().by(Rule::Module))))
        };
        let values: BTreeMap<Str, Sourced<Str>> = data.entries().filter_map(of).collect();
        if name == "add-headers" {
            found.globals.add_headers = values;
        } else {
            found.globals.set_headers = values;
        }
    }
}

/// Splits a list at commas. Drops empty items, but keeps an item of blanks as an empty string.
fn split_list(text: &str) -> Vec<Str> {
    text.split(',').filter(|item| !item.is_empty()).map(|item| Str::new(item.trim())).collect()
}

fn apply_key(found: &mut Read, name: &Str, value: Sourced<Str>) {
    let origin = value.origin;
    let text = value.value.as_str();
    let unused = |found: &mut Read, fault: String| found.unused.push(Unused { key: name.clone(), origin, fault: Some(fault) });
    let set = |found: &mut Read, name: &str, value: GlobalValue| {
        if let Some(key) = globals::key(name) {
            found.globals.set(key, Sourced::new(value, origin));
        }
    };
    let list = || split_list(text);
    match name.as_str() {
        "custom-http-errors" => {
            let mut codes = Vec::new();
            for item in list() {
                match item.parse::<i64>() {
                    Ok(code) if code > 299 && code < 600 => codes.push(code),
                    Ok(code) => unused(found, format!("Error {code} is not a valid HTTP code")),
                    Err(_) => unused(found, format!("{item} is not a valid http code")),
                }
            }
            set(found, name, GlobalValue::Numbers(codes));
        }
        "hide-headers"
        | "skip-access-log-urls"
        | "denylist-source-range"
        | "whitelist-source-range"
        | "proxy-real-ip-cidr"
        | "block-cidrs"
        | "block-user-agents"
        | "block-referers"
        | "nginx-status-ipv4-whitelist"
        | "nginx-status-ipv6-whitelist" => {
            set(found, name, GlobalValue::List(list()));
        }
        "bind-address" => {
            let (mut four, mut six) = (Vec::new(), Vec::new());
            for item in list() {
                match item.parse::<core::net::IpAddr>() {
                    Ok(core::net::IpAddr::V4(address)) => four.push(Str::from(format!("{address}"))),
                    Ok(core::net::IpAddr::V6(address)) => six.push(Str::from(format!("[{address}]"))),
                    Err(_) => unused(found, format!("{item} is not a valid textual representation of an IP address")),
                }
            }
            set(found, "bind-address-ipv4", GlobalValue::List(four));
            set(found, "bind-address-ipv6", GlobalValue::List(six));
        }
        "http-redirect-code" => match text.parse::<i64>() {
            Ok(code) if REDIRECTS.contains(&code) => set(found, name, GlobalValue::Number(code)),
            Ok(code) => unused(found, format!("The code {code} is not a valid as HTTP redirect code. Using the default.")),
            Err(_) => unused(found, format!("{text} is not a valid HTTP code")),
        },
        "global-allowed-response-headers" => {
            let (good, bad): (Vec<Str>, Vec<Str>) = list().into_iter().partition(|header| forms::is_header(header));
            bad.iter().for_each(|header| unused(found, format!("Global allowed response headers denied - {header}.")));
            set(found, name, GlobalValue::List(good));
        }
        "debug-connections" => {
            let good = list().into_iter().filter(|item| forms::ranges(item).is_some()).collect();
            set(found, name, GlobalValue::List(good));
        }
        "worker-processes" => set(found, name, GlobalValue::Text(if text == "auto" { Str::default() } else { value.value.clone() })),
        "enable-serial-reloads" => match go::parse_bool(text) {
            Some(flag) => set(found, name, GlobalValue::Flag(flag)),
            None => unused(found, format!("failed to parse enable-serial-reloads setting, valid values are true or false, found {text}")),
        },
        "proxy-stream-responses" => match text.parse::<i64>() {
            Ok(number) => set(found, name, GlobalValue::Number(number)),
            Err(_) => unused(found, format!("{text} is not a valid number")),
        },
        "proxy-protocol-header-timeout" => set(found, name, GlobalValue::Text(value.value.clone())),
        // These sizes of shared memory do not change any response.
        "lua-shared-dicts" => {}
        name if name.starts_with("global-auth-") => {
            if let Err(fault) = apply_auth_key(&mut found.globals, name, &value) {
                unused(found, fault);
            }
        }
        _ => apply_typed_key(found, name, value),
    }
}

/// Applies a key without its own rule, by its type. Ignores the case of the name.
fn apply_typed_key(found: &mut Read, name: &Str, value: Sourced<Str>) {
    let key = globals::key(name).or_else(|| globals::KEYS.iter().find(|key| key.name.eq_ignore_ascii_case(name)));
    let Some(key) = key else {
        found.unused.push(Unused { key: name.clone(), origin: value.origin, fault: None });
        return;
    };
    match parse_value(key, &value) {
        Ok(converted) => found.globals.set(key, Sourced::new(converted, value.origin)),
        Err(fault) => found.unused.push(Unused { key: name.clone(), origin: value.origin, fault: Some(fault) }),
    }
}

/// Parses a value as the type of its key.
fn parse_value(key: &Key, text: &str) -> Result<GlobalValue, String> {
    let wrong = |kind: &str| format!("cannot parse '{}' as {kind}: {}", key.name, chancery_base::schema::go_quoted(text));
    match key.kind {
        KeyType::Flag if text.is_empty() => Ok(GlobalValue::Flag(false)),
        KeyType::Flag => go::parse_bool(text).map(GlobalValue::Flag).ok_or_else(|| wrong("bool")),
        KeyType::Number if text.is_empty() => Ok(GlobalValue::Number(0)),
        KeyType::Number => parse_go_integer(text).map(GlobalValue::Number).ok_or_else(|| wrong("int")),
        KeyType::Decimal => text.parse::<f64>().map(|_| GlobalValue::Text(Str::new(text))).map_err(|_| wrong("float")),
        KeyType::Text => Ok(GlobalValue::Text(Str::new(text))),
        KeyType::List => Ok(GlobalValue::List(if text.is_empty() { Vec::new() } else { Vec::from([Str::new(text)]) })),
        KeyType::Numbers => Ok(GlobalValue::Numbers(parse_go_integer(text).into_iter().collect())),
    }
}

/// Parses an integer in any of Go's notations.
fn parse_go_integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let (digits, radix) = [("0x", 16), ("0b", 2), ("0o", 8)]
        .into_iter()
        .find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, radix)))
        .unwrap_or_else(|| if lower.len() > 1 && lower.starts_with('0') { (&lower[1..], 8) } else { (lower.as_str(), 10) });
    if digits.starts_with(['+', '-']) {
        return None;
    }
    i64::from_str_radix(digits, radix).ok().and_then(|number| number.checked_mul(sign))
}

/// Applies a key of `global-auth-*`. Returns the controller's message if it does not use the value.
fn apply_auth_key(globals: &mut Globals, name: &str, value: &Sourced<Str>) -> Result<(), String> {
    let text = value.value.as_str();
    let auth = &mut globals.external_auth;
    match name {
        "global-auth-url" => {
            let url = Url::absolute(text).map_err(|fault| format!("Global auth location denied - {fault}."))?;
            auth.host = Sourced::new(Str::new(url.host_name()), value.origin);
            auth.url = value.clone();
        }
        "global-auth-method" if !text.is_empty() && !forms::is_method(text) => {
            return Err("Global auth location denied - invalid HTTP method.".into());
        }
        "global-auth-method" => auth.method = value.clone(),
        "global-auth-signin" => {
            Url::absolute(text).map_err(|fault| format!("string to URL conversion failed: {fault}"))?;
            auth.signin_url = value.clone();
        }
        "global-auth-signin-redirect-param" => {
            let parameter = text.trim();
            let url = format!("{}?{parameter}=dummy", auth.signin_url.value);
            Url::absolute(&url).map_err(|fault| format!("string to URL conversion failed: {fault}"))?;
            auth.signin_parameter = Sourced::new(Str::new(parameter), value.origin);
        }
        "global-auth-response-headers" => {
            let headers = split_list(text).into_iter().filter(|header| forms::is_header(header)).collect();
            auth.response_headers = Sourced::new(headers, value.origin);
        }
        "global-auth-request-redirect" => auth.request_redirect = value.clone(),
        "global-auth-snippet" => auth.snippet = value.clone(),
        "global-auth-cache-key" => auth.cache_key = value.clone(),
        "global-auth-cache-duration" => {
            let (durations, fault) = match cache_durations(text) {
                Ok(durations) => (durations, None),
                Err(fault) => (Vec::from([Str::new_static("200 202 401 5m")]), Some(format!("Global auth location denied - {fault}"))),
            };
            auth.cache_duration = Sourced::new(durations, value.origin);
            return fault.map_or(Ok(()), Err);
        }
        "global-auth-always-set-cookie" => {
            let flag = go::parse_bool(text);
            auth.always_set_cookie = Sourced::new(flag.unwrap_or_default(), value.origin);
            flag.ok_or_else(|| format!("Global auth location denied - cannot convert {name} to bool"))?;
        }
        _ => return Err(format!("{name} is not a key of the controller")),
    }
    Ok(())
}
