//! Validates `builtin/ext-authz`: a service that decides whether a request may pass. Does not add filters; see `xds::extensions`.

use super::argument::{argument, argument_at, proxy_type};
use crate::go::{self, Errors};
use crate::validate::rule::Verdict;
use alloc::format;
use chancery_base::ir::Tree;
use chancery_base::schema::duration;

pub(super) fn validate(arguments: &Tree) -> Verdict {
    let mut errors = Errors::default();
    let kind = proxy_type(arguments);
    if kind != "connect-proxy" {
        errors.add(format!("unsupported ProxyType {}, only \"connect-proxy\" is supported", go::quote(kind)));
    }
    let config = argument(arguments, "Config");
    let (grpc, http) = (argument(config, "GrpcService"), argument(config, "HttpService"));
    if grpc.is_null() == http.is_null() {
        errors.add("exactly one of GrpcService or HttpService must be set");
    }
    let (name, service) = if http.is_null() { ("GrpcService", grpc) } else { ("HttpService", http) };
    if !service.is_null()
        && let Err(why) = self::service(service, name)
    {
        errors.add(format!("failed to validate Config.{name}: {why}"));
    }
    errors.result()
}

fn service(service: &Tree, name: &str) -> Verdict {
    let mut errors = Errors::default();
    let target = argument(service, "Target");
    if target.is_null() {
        errors.add(format!("{name}.Target must be set"));
        return errors.result();
    }
    let (uri, to) = (argument(target, "URI").text(), argument_at(target, &["Service", "Name"]).text());
    if uri.is_empty() == to.is_empty() {
        errors.add("exactly one of Target.Service or Target.URI must be set");
    }
    if !uri.is_empty() {
        match address(uri) {
            Some(("localhost" | "127.0.0.1" | "::1", _)) => {}
            Some(_) => errors.add(format!("invalid host for Target.URI {}: expected \"localhost\", \"127.0.0.1\", or \"::1\"", go::quote(uri))),
            None => errors.add(format!("invalid format for Target.URI {}: expected host:port", go::quote(uri))),
        }
    }
    let timeout = argument(target, "Timeout").text();
    if !timeout.is_empty()
        && let Err(why) = duration::read(timeout)
    {
        errors.add(format!("failed to parse Target.Timeout {} as a duration: {why}", go::quote(timeout)));
    }
    matchers(service, &mut errors);
    errors.result()
}

/// Checks lists of matchers; each must have one condition.
fn matchers(service: &Tree, errors: &mut Errors) {
    for holder in ["AuthorizationRequest", "AuthorizationResponse"] {
        for (field, list) in argument(service, holder).fields() {
            for (at, matcher) in list.items().iter().enumerate().filter(|_| !field.eq_ignore_ascii_case("HeadersToAdd")) {
                let patterns = ["Contains", "Exact", "Prefix", "SafeRegex", "Suffix"];
                if patterns.iter().filter(|name| !argument(matcher, name).text().is_empty()).count() != 1 {
                    errors.add(format!(
                        "validation failed for {holder}.{field}: validation failed for matcher at index {at}: exactly one of Contains, Exact, Prefix, SafeRegex or Suffix must be set"
                    ));
                }
            }
        }
    }
}

/// Host and port of a URI with or without a scheme.
pub(crate) fn address(uri: &str) -> Option<(&str, i64)> {
    let rest = uri.split_once("://").map_or(uri, |(_, rest)| rest);
    let (host, port) = rest.rsplit_once(':')?;
    Some((if host.is_empty() { "localhost" } else { host }, port.parse().ok()?))
}
