//! Lists nginx's locations as table rows: server by server, in the order in which nginx tries the locations.
//!
//! Does not choose the row for a request, and does not draw the table.

use crate::{ResourceRef, RouteRow};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::NginxRef;
use chancery_base::ir::nginx::{DEFAULT_SERVER, Location, PathType, Server, Settings, Upstream};
use chancery_base::resource::Origin;
use chancery_envoy::simulate::WrittenRequest;
use chancery_text::Str;

/// Returns all locations, server by server.
pub fn nginx_routes(of: NginxRef<'_>) -> Vec<RouteRow> {
    let servers = of.nginx.servers.iter().enumerate();
    servers
        .flat_map(|(at, server)| server.locations.iter().enumerate().map(move |(number, location)| row(of, (at, server), (number, location))))
        .collect()
}

/// Returns a request that a row matches: the row at `pointer`, or else the first row that leads to an upstream.
pub fn nginx_sample_request(rows: &[RouteRow], pointer: Option<&str>) -> Option<WrittenRequest> {
    let row = match pointer {
        Some(pointer) => rows.iter().find(|row| row.pointer == pointer)?,
        None => rows.iter().find(|row| row.action == "forward").or_else(|| rows.first())?,
    };
    let host = row.domains.first().map_or("*", Str::as_str);
    let host = if host == "*" { "example.com".into() } else { host.replacen('*', "www", 1) };
    let path = row.path.split_once(' ').map_or("/", |(_, path)| path);
    let scheme = if row.chain.is_empty() { "http" } else { "https" };
    Some(WrittenRequest { method: "GET".into(), url: format!("{scheme}://{host}{path}"), ..WrittenRequest::default() })
}

fn row(of: NginxRef<'_>, (at, server): (usize, &Server), (number, location): (usize, &Location)) -> RouteRow {
    let nginx = of.nginx;
    let settings = &*location.settings;
    let redirects = !settings.redirect.url.value.is_empty();
    let upstream = nginx.upstream(&location.upstream.value);
    let summary = match (redirects, upstream) {
        (true, _) => format!("redirect to {} ({})", settings.redirect.url.value, settings.redirect.code.value),
        (false, Some(upstream)) => describe_upstream(upstream),
        (false, None) => format!("{}: not there", location.upstream.value),
    };
    let mut domains: Vec<Str> = Vec::from([if server.host.value == DEFAULT_SERVER { "*".into() } else { server.host.value.clone() }]);
    domains.extend(server.aliases.value.iter().cloned());
    let kind = match (settings.rewrite.use_regex.value, location.path_type) {
        (true, _) => "regex",
        (false, PathType::Exact) => "path",
        (false, PathType::Prefix) => "prefix",
    };
    let canaries = upstream.into_iter().flat_map(|upstream| &upstream.alternatives).map(|name| name.value.clone());
    RouteRow {
        pointer: format!("/servers/{at}/locations/{number}"),
        listener: "nginx".into(),
        address: format!(":{}", nginx.ports.http),
        chain: if server.certificate.is_some() { "TLS".into() } else { String::new() },
        domains,
        order: u32::try_from(number + 1).unwrap_or(u32::MAX),
        path: format!("{kind} {}", location.path.value),
        conditions: Vec::new(),
        action: if redirects { "redirect" } else { "forward" },
        summary,
        upstreams: if redirects { Vec::new() } else { core::iter::once(location.upstream.value.clone()).chain(canaries).collect() },
        policies: policies(settings),
        made_by: makers(of, location),
        shadowed_by: None,
    }
}

fn describe_upstream(upstream: &Upstream) -> String {
    let first: Vec<String> = upstream.endpoints.iter().take(3).map(|endpoint| format!("{}:{}", endpoint.address.value, endpoint.port)).collect();
    let more = upstream.endpoints.len() - first.len();
    match (first.is_empty(), more) {
        (true, _) => format!("{}: no endpoints, answers 503", upstream.name.value),
        (false, 0) => first.join(", "),
        (false, more) => format!("{} and {more} more", first.join(", ")),
    }
}

fn policies(settings: &Settings) -> Vec<String> {
    let mut out = Vec::new();
    let rewrite = &settings.rewrite;
    if !rewrite.target.value.is_empty() {
        out.push(format!("path becomes {}", rewrite.target.value));
    }
    if rewrite.ssl_redirect.value || rewrite.force_ssl_redirect.value {
        out.push("https only".into());
    }
    if settings.cors.enabled.value {
        out.push("CORS".into());
    }
    if settings.basic_auth.secured.value {
        out.push(format!("{} authentication", settings.basic_auth.kind.value));
    }
    if !settings.external_auth.url.value.is_empty() {
        out.push(format!("asks {}", settings.external_auth.url.value));
    }
    out
}

/// Returns the Ingress, and the Service of the upstream.
fn makers(of: NginxRef<'_>, location: &Location) -> Vec<ResourceRef> {
    let service = of.nginx.upstream(&location.upstream.value).and_then(|upstream| upstream.service.as_ref()?.origin);
    let origins: [Option<Origin>; 3] = [location.ingress.as_ref().and_then(|ingress| ingress.origin), location.path.origin, service];
    let mut out: Vec<ResourceRef> = Vec::new();
    for origin in origins.into_iter().flatten() {
        let object = of.named.of.objects().get(origin.object());
        if let Some(name) = object.map(|object| ResourceRef::from(&object.key)).filter(|name| !out.contains(name)) {
            out.push(name);
        }
    }
    out
}
