//! Reports redirects to https that fail: for hosts without a TLS listener, and for requests that already came over TLS.
//!
//! Does not report missing redirects; see `exposure`.

use super::exposure::{hosts, is_secure, requires_tls};
use super::whole::{Whole, written};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::{FilterChain, HttpConnectionManager, NetworkFilter, Redirect, Route, RouteAction, VirtualHost};
use chancery_base::resource::Origin;
use chancery_text::Str;
use hashbrown::HashSet;

/// Whether a redirect keeps host and port and changes the scheme to https.
fn is_upgrade(redirect: &Redirect) -> bool {
    let is_https =
        redirect.https.as_ref().is_some_and(|https| https.value) || redirect.scheme.as_ref().is_some_and(|scheme| *scheme.value == *"https");
    is_https && redirect.host.is_none() && redirect.port.is_none()
}

/// Whether domains of virtual hosts match a name, which may be a domain itself.
fn covers(domains: &HashSet<Str>, name: &Str) -> bool {
    let wider = |(at, _): (usize, char)| name.get(at..).map(|end| domains.contains(&Str::from(format!("*{end}")))).unwrap_or_default();
    domains.contains("*") || domains.contains(name) || name.char_indices().filter(|(_, c)| *c == '.').any(wider)
}

pub(super) fn check(whole: &mut Whole<'_>) {
    loops(whole);
    unserved(whole);
}

/// Describes a domain for a sentence.
fn describe_domain(domain: &Str) -> String {
    if **domain == *"*" { "every host".into() } else { format!("`{domain}`") }
}

/// Whether a route checks the client's scheme, as reported by a proxy in front of the gateway.
fn checks_scheme(route: &Route) -> bool {
    route.matcher.headers.iter().any(|header| *header.value.name == *"x-forwarded-proto")
}

/// Reports redirects to themselves.
fn loops(whole: &mut Whole<'_>) {
    let mut found = Vec::new();
    for host in whole.ir.listeners.iter().flat_map(|listener| &listener.chains).filter(|chain| is_secure(chain)).flat_map(hosts) {
        // If a route checks the client's scheme, only cleartext requests are redirected.
        if host.routes.iter().any(|route| checks_scheme(route)) {
            continue;
        }
        let looping = host.routes.iter().find_map(|route| match &route.action {
            RouteAction::Redirect(redirect) if is_upgrade(redirect) && redirect.path.is_none() => written(&route.origins),
            _ => None,
        });
        if let (Some(at), Some(domain)) = (looping, host.domains.first()) {
            found.push((at, domain.value.clone()));
        }
    }
    for (at, domain) in found {
        let of = describe_domain(&domain);
        let finding = whole.finding(&codes::REDIRECT_LOOP, Some(at), format!("requests for {of} that come over TLS are redirected to themselves"));
        let by_host = whole.key(Some(at)).is_some_and(|key| matches!(key.kind.as_str(), "Host" | "Mapping"));
        whole.report(finding.help(if by_host {
            "let only requests in cleartext be redirected: the Listener of TLS needs `securityModel: XFP` or `SECURE`"
        } else {
            "let only requests in cleartext be redirected: give the redirect to the listener without TLS alone"
        }));
    }
}

/// Whether a manager trusts the `x-forwarded-proto` of a proxy in front: otherwise Envoy overwrites it
/// (`source/common/http/conn_manager_utility.cc`).
fn believes_others(manager: &HttpConnectionManager) -> bool {
    let is_off = manager.use_remote_address.as_ref().is_some_and(|of| !of.value);
    is_off || manager.xff_num_trusted_hops.as_ref().is_some_and(|hops| hops.value > 0)
}

/// The problem of a virtual host that is served only without TLS.
enum Unserved {
    Redirects,
    /// All its routes match only requests over TLS.
    RequiresTls,
}

/// The field of Emissary's Host that asks for a redirect. Its routes have the origins of the Mappings, which do not ask for it.
fn of_host(whole: &Whole<'_>, host: &VirtualHost) -> Option<Origin> {
    let hostname = host.domains.iter().find_map(|domain| domain.origin)?;
    let object = whole.object(Some(hostname)).filter(|object| *object.key.kind == *"Host")?;
    let action = object.root.at(&["spec", "requestPolicy", "insecure", "action"]);
    Some(action.map_or(hostname, |action| Origin::field(object.id, action.id)))
}

/// Reports hosts that need TLS but have no TLS listener.
fn unserved(whole: &mut Whole<'_>) {
    let chains = || whole.ir.listeners.iter().flat_map(|listener| &listener.chains);
    let domains = |host: &VirtualHost| host.domains.iter().map(|domain| domain.value.clone()).collect::<Vec<_>>();
    // Passed-through TLS connections have no virtual hosts.
    let names =
        |chain: &FilterChain| chain.matcher.iter().flat_map(|matcher| matcher.server_names.clone()).map(|name| name.value).collect::<Vec<_>>();
    let mut secure: HashSet<_> = chains().filter(|chain| is_secure(chain)).flat_map(hosts).flat_map(domains).collect();
    secure.extend(chains().flat_map(names));
    let is_served = |host: &VirtualHost| host.domains.iter().any(|domain| covers(&secure, &domain.value));
    let managers = chains().filter(|chain| !is_secure(chain)).flat_map(|chain| &chain.filters).filter_map(|filter| match filter {
        NetworkFilter::Http(manager) => Some(manager),
        NetworkFilter::Tcp(_) => None,
    });
    let mut found = Vec::new();
    for (manager, host) in managers.flat_map(|manager| manager.routes.virtual_hosts.iter().map(move |host| (manager, host))) {
        // If a route checks the client's scheme, and that header is trusted, a proxy in front of the gateway may terminate TLS.
        let asks = host.routes.iter().any(|route| requires_tls(route));
        if is_served(host) || asks && believes_others(manager) {
            continue;
        }
        let upgrades = host.routes.iter().find_map(|route| match &route.action {
            RouteAction::Redirect(redirect) if is_upgrade(redirect) => written(&route.origins),
            _ => None,
        });
        let mut own = host.routes.iter().filter_map(|route| Some((route, written(&route.origins)?))).peekable();
        let first = own.peek().map(|(_, at)| *at).filter(|_| own.all(|(route, _)| requires_tls(route)));
        let Some(domain) = host.domains.first() else { continue };
        let upgrades = upgrades.map(|at| of_host(whole, host).unwrap_or(at));
        match (upgrades, first) {
            (Some(at), _) => found.push((Unserved::Redirects, at, domain.value.clone(), asks)),
            (None, Some(at)) => found.push((Unserved::RequiresTls, at, domain.value.clone(), asks)),
            (None, None) => {}
        }
    }
    for (what, at, domain, asks) in found {
        if whole.object(Some(at)).is_some_and(|object| object.assumed) {
            continue;
        }
        let of = describe_domain(&domain);
        let before = if asks {
            "where TLS ends before the gateway, give the Listener an `l7Depth`: else Envoy overwrites the X-Forwarded-Proto that it gets"
        } else {
            "if TLS terminates before the gateway, clients loop between redirects"
        };
        let finding = match what {
            Unserved::Redirects => {
                let message = format!("requests for {of} are redirected to https://, and no listener serves it over TLS");
                let finding = whole.finding(&codes::UNSERVED_REDIRECT, Some(at), message);
                finding.help(format!("serve it over TLS, or take the redirect away; {before}"))
            }
            Unserved::RequiresTls => {
                let message = format!("the routes of {of} take only requests that come over TLS, and no listener serves it over TLS");
                let finding = whole.finding(&codes::UNSERVED_HOST, Some(at), message);
                finding.help(format!("serve it over TLS, or let requests in cleartext be routed; {before}"))
            }
        };
        whole.report(finding);
    }
}
