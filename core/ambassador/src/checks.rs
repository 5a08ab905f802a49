//! Checks the whole compilation for problems of Ambassador's kinds. Does not report what a single resource's rules find, or what every dialect
//! needs; see `chancery_explain::check`.

mod disabled;
mod shared_cluster;
#[cfg(test)]
mod tests;
mod unused;

pub use disabled::disabled_fields;
pub use shared_cluster::shared_clusters;
pub use unused::{fields, modules, values};

use super::defaults::taken_by;
use super::model::hostglob::globs_overlap;
use super::stages::Stages;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Assumptions, Missing, SideRef, State};
use chancery_base::diagnostic::{Diagnostic, Place, Severity, codes};
use chancery_base::ir::HttpConnectionManager;
use chancery_base::resource::{Object, ObjectId, Origin, nearest};
use chancery_kubernetes::at_name;
use chancery_kubernetes::known::{all_at, is_read};
use chancery_text::{Node, Str, to_json};
use hashbrown::{HashMap, HashSet};

fn hostname(object: &Object) -> Option<&str> {
    let root = &object.root;
    root.at(&["spec", "hostname"]).or_else(|| root.get("hostname")).and_then(Node::as_str)
}

/// Whether a Mapping only receives copies of other Mappings' requests.
fn gets_copies(object: &Object) -> bool {
    *object.key.kind == *"Mapping" && field(object, "shadow").and_then(Node::as_bool) == Some(true)
}

/// Whether Envoy has a written listener.
fn listens(side: SideRef<'_>) -> bool {
    let is_written = |origin: &Origin| origin.object() != ObjectId::BUILT_IN;
    side.irs().flat_map(|ir| &ir.listeners).any(|listener| listener.origins.iter().any(is_written))
}

/// Why no route leads to a Mapping's result.
pub fn why_unreached(side: SideRef<'_>, object: &Object) -> Option<&'static str> {
    if *object.key.kind != *"Mapping" {
        return None;
    }
    Some(match (listens(side), gets_copies(object)) {
        (false, _) => "Envoy listens on no port for requests, so no route leads there",
        (true, true) => "it gets copies only, and no Mapping matches the same requests",
        (true, false) => "no Host accepts it, so no route leads there",
    })
}

/// A finding about a missing Listener names at most this many prefixes and paths.
const MOST_PREFIXES: usize = 16;

/// The paths of an Ingress.
const PATHS: &[&str] = &["spec", "rules", "*", "http", "paths", "*", "path"];

/// Hosts, Mappings and TCPMappings that no request gets to.
pub fn unserved(side: SideRef<'_>) -> Vec<Diagnostic> {
    let taker = |object: &Object| taken_by(&object.key.kind);
    let in_use = |object: &&Object| !object.broken && matches!(side.side.ledger.get(object.id), State::Loaded | State::Undecided);
    let candidates: Vec<&Object> = side.objects().iter().filter(in_use).filter(|object| taker(object).is_some()).collect();
    let is_ingress = |object: &&Object| *object.key.kind == *"Ingress" && in_use(object);
    let Some(first) = candidates.first().copied().or_else(|| side.objects().iter().find(is_ingress)) else { return Vec::new() };
    if !listens(side) {
        let unused = side.objects().iter().find(|object| *object.key.kind == *"Listener");
        if unused.is_some()
            && !candidates.iter().any(|object| *object.key.kind == *"Mapping")
            && !side.objects().iter().any(|object| is_ingress(&object))
        {
            return Vec::new();
        }
        let why = if unused.is_some() { "Emissary uses no Listener of the input" } else { "there is no Listener in the input" };
        let message = format!("{why}, so Envoy listens on no port for requests");
        let mut finding = Diagnostic::new(&codes::NO_LISTENER, message, at_name(first)).about(first.key.clone());
        // A fragment may leave its Listener to the cluster; a whole cluster without one serves nothing.
        if unused.is_some() || Assumptions::of(&side.side.options).for_other_kinds() == Missing::Error {
            finding.severity = Severity::Warning;
        }
        // No request matches the other Mappings and Ingresses either.
        let mappings = candidates.iter().filter_map(|object| Some((object.id, field(object, "prefix")?, "no request reaches this Mapping")));
        let ingresses = side.objects().iter().filter(is_ingress);
        let paths =
            ingresses.flat_map(|object| all_at(&object.root, PATHS).into_iter().map(move |path| (object.id, path, "no request has this path")));
        for (object, node, message) in mappings.chain(paths).take(MOST_PREFIXES) {
            finding = finding.related(Place::value(object, node.id), message);
        }
        return Vec::from([match unused {
            Some(unused) => finding.related(at_name(unused), "this Listener is not used").help("see the finding about the Listener"),
            None => finding.help("add the Listener to the input, or one to the cluster if there is none"),
        }]);
    }
    let (served, with_problems) = (side.served(), side.with_problems());
    let mut found = Vec::new();
    let mut by_hostname: HashMap<(&Str, &str), &Object> = HashMap::new();
    for object in candidates.iter().filter(|object| served.contains(&object.id)) {
        if let Some(hostname) = hostname(object) {
            by_hostname.entry((&object.key.kind, hostname)).or_insert(object);
        }
    }
    // The matchers of the other Mappings; only computed if a Mapping receives copies.
    let mut taken = HashSet::new();
    if candidates.iter().any(|object| gets_copies(object)) {
        taken.extend(candidates.iter().filter(|object| *object.key.kind == *"Mapping" && !gets_copies(object)).map(|object| matchers(object)));
    }
    let hosts: Vec<&Object> = side.objects().iter().filter(|object| *object.key.kind == *"Host" && is_read(side, object)).collect();
    // Overlapping Hosts hide Mappings from each other only if they select by labels.
    let choosing = hosts.iter().any(|host| selector(host).is_some());
    let listeners = side.irs().filter(|_| choosing).flat_map(|ir| &ir.listeners);
    let tables: Vec<Table<'_>> = listeners.flat_map(|listener| listener.http_managers()).map(Table::of).collect();
    for object in &candidates {
        if with_problems.contains(&object.id) {
            continue;
        }
        if served.contains(&object.id) {
            let plain = hostname(object).filter(|name| !name.contains('*') && *object.key.kind == *"Mapping" && !gets_copies(object));
            let Some(name) = plain.filter(|name| !tables.is_empty() && tables.iter().all(|table| table.misses(name, object.id))) else { continue };
            found.extend(by_labels(&fitting(&hosts, name), object).map(|finding| finding.about(object.key.clone())));
            continue;
        }
        let Some(taker) = taker(object) else { continue };
        let name = hostname(object);
        let twin = name.and_then(|name| by_hostname.get(&(&object.key.kind, name))).filter(|_| *object.key.kind == *"Host");
        let finding = match (twin, name) {
            _ if gets_copies(object) && !taken.contains(&matchers(object)) => {
                let message = "the Mapping gets copies only, and there is no other Mapping for the same requests";
                Diagnostic::new(&codes::UNSERVED, message, at_name(object))
            }
            (Some(twin), Some(name)) => {
                let message = format!("another {} has the hostname `{name}` too, and only the other one is used", object.key.kind);
                Diagnostic::new(&codes::SHADOWED_HOST, message, at_name(object))
                    .related(at_name(twin), "this one is used")
                    .help("join them into one, or give them different hostnames")
            }
            (None, Some(name)) if taker == "Host" => untaken(&hosts, object, name),
            (None, Some(name)) => {
                let message = format!("no {taker} takes it (its hostname is `{name}`), so no request reaches it");
                Diagnostic::new(&codes::UNSERVED, message, at_name(object))
            }
            (_, None) => Diagnostic::new(&codes::UNSERVED, format!("no {taker} accepts it, so no request reaches it"), at_name(object)),
        };
        found.push(finding.about(object.key.clone()));
    }
    found
}

/// The virtual hosts of a manager, and whose routes they have.
struct Table<'a> {
    by_domain: HashMap<&'a str, HashSet<ObjectId>>,
    /// Domains with a `*`.
    patterns: Vec<&'a str>,
}

impl<'a> Table<'a> {
    fn of(manager: &'a HttpConnectionManager) -> Self {
        let mut table = Self { by_domain: HashMap::new(), patterns: Vec::new() };
        for host in &manager.routes.virtual_hosts {
            let owners: HashSet<ObjectId> = host.routes.iter().flat_map(|route| &route.origins).map(|origin| origin.object()).collect();
            for domain in &host.domains {
                if domain.value.contains('*') {
                    table.patterns.push(&domain.value);
                }
                table.by_domain.insert(&domain.value, owners.clone());
            }
        }
        table
    }

    /// Whether requests for a host come to a virtual host that has nothing of an object: an exact domain before the longest pattern, one that begins
    /// with `*` before one that ends with it.
    fn misses(&self, hostname: &str, object: ObjectId) -> bool {
        let rank = |pattern: &&str| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(""), _) => Some((0, 0)),
            (Some(end), _) => hostname.ends_with(end).then_some((2, end.len())),
            (None, Some(begin)) => hostname.starts_with(begin).then_some((1, begin.len())),
            (None, None) => None,
        };
        let pattern = || self.patterns.iter().copied().filter(|pattern| rank(pattern).is_some()).max_by_key(rank);
        let owners = self.by_domain.get(hostname).or_else(|| self.by_domain.get(pattern()?));
        owners.is_none_or(|owners| !owners.contains(&object))
    }
}

/// With more Hosts, nearly matching Hosts are not searched.
const MOST_HOSTS: usize = 32;

/// A Mapping that no Host selects, and why: the hostnames differ, or the Hosts select by labels.
fn untaken(hosts: &[&Object], mapping: &Object, hostname: &str) -> Diagnostic {
    if hosts.is_empty() || hosts.len() > MOST_HOSTS {
        let message = format!("no Host accepts it (its hostname is `{hostname}`), so no request reaches it");
        return Diagnostic::new(&codes::UNSERVED, message, at_name(mapping));
    }
    let fit = fitting(hosts, hostname);
    if !fit.is_empty() {
        // The finding names the most specific Host that excludes it by label.
        let choosing = fit.iter().position(|host| selector(host).is_some()).and_then(|at| fit.get(at..));
        return choosing.and_then(|fit| by_labels(fit, mapping)).unwrap_or_else(|| {
            let message = format!("no Host accepts it (its hostname is `{hostname}`), so no request reaches it");
            Diagnostic::new(&codes::UNSERVED, message, at_name(mapping))
        });
    }
    let finding =
        Diagnostic::new(&codes::UNSERVED, format!("no Host has the hostname `{hostname}`, so no request reaches this Mapping"), at_name(mapping));
    let mut names: Vec<&str> = hosts.iter().map(|host| self::hostname(host).unwrap_or("*")).collect();
    names.sort();
    names.dedup();
    match nearest(hostname, names.iter().copied()) {
        Some(near) => finding.help(format!("did you mean the hostname `{near}`?")),
        None if names.len() > 5 => finding,
        None => finding.help(format!("the existing Hosts have the hostname{} `{}`", if names.len() == 1 { "" } else { "s" }, names.join("`, `"))),
    }
}

/// The Hosts that overlap with a hostname, the most specific first; it receives the requests.
fn fitting<'o>(hosts: &[&'o Object], hostname: &str) -> Vec<&'o Object> {
    let mut fit: Vec<&Object> = hosts.iter().copied().filter(|host| globs_overlap(self::hostname(host).unwrap_or("*"), hostname)).collect();
    let width = |name: &str| if name.contains('*') { name.len() } else { usize::MAX };
    fit.sort_by_key(|host| core::cmp::Reverse(self::hostname(host).map_or(0, width)));
    fit
}

/// A Host's selector for Mappings.
fn selector(host: &Object) -> Option<&Node> {
    ["mappingSelector", "selector"].into_iter().find_map(|name| field(host, name))
}

/// Whether the labels of a Mapping have all values of a Host's selector.
fn selects(host: &Object, mapping: &Object) -> bool {
    let labels = mapping.root.at(&["metadata", "labels"]);
    let wanted = selector(host).and_then(|selector| selector.get("matchLabels")).and_then(Node::as_object);
    wanted.is_some_and(|wanted| wanted.iter().all(|entry| labels.and_then(|labels| labels.get(&entry.key)) == Some(&entry.value)))
}

/// Reports a Mapping that Hosts leave out, because they choose by labels. Names the Host whose labels the Mapping has, or else the first one.
fn by_labels(fit: &[&Object], mapping: &Object) -> Option<Diagnostic> {
    let host = fit.iter().find(|host| selects(host, mapping)).or(fit.first())?;
    let selector = selector(host)?;
    let name = &host.key.name;
    let redirect = field(mapping, "host_redirect").filter(|redirect| redirect.as_bool() == Some(true));
    if let Some(redirect) = redirect {
        let message = format!(
            "Host `{name}` selects Mappings by labels, and Emissary ignores the labels of a Mapping with `host_redirect`, so no request reaches it"
        );
        return Some(
            Diagnostic::new(&codes::UNSERVED, message, Place::key(mapping.id, redirect.id))
                .related(Place::key(host.id, selector.id), "the selector")
                .help(match (self::hostname(host), self::hostname(mapping)) {
                    (Some(of_host), of_mapping) if of_mapping != Some(of_host) => {
                        format!("remove `mappingSelector` from the Host, and write `hostname: {of_host}` in the Mapping")
                    }
                    _ => "remove `mappingSelector` from the Host: the hostname of the Mapping is enough".into(),
                }),
        );
    }
    let message =
        format!("Host `{name}` has this Mapping's hostname, but only accepts Mappings with the labels of its selector, so no request reaches it");
    let mut finding = Diagnostic::new(&codes::UNSERVED, message, at_name(mapping)).related(Place::key(host.id, selector.id), "the required labels");
    if let Some(hostname) = field(mapping, "hostname") {
        finding = finding.related(Place::value(mapping.id, hostname.id), "the Host has this hostname");
    }
    Some(finding.help("give the Mapping these labels, or remove `mappingSelector` from the Host"))
}

/// The matching fields of a Mapping.
const MATCHERS: [&str; 14] = [
    "hostname",
    "host",
    "host_regex",
    "prefix",
    "prefix_exact",
    "prefix_regex",
    "case_sensitive",
    "method",
    "method_regex",
    "headers",
    "regex_headers",
    "query_parameters",
    "regex_query_parameters",
    "precedence",
];

/// The matching fields of a Mapping, as written.
fn matchers(object: &Object) -> Vec<Option<String>> {
    MATCHERS.iter().map(|name| field(object, name).map(|node| to_json(node, false))).collect()
}

/// The Hosts whose selectors choose a Mapping without a hostname. Emissary joins such Mappings only if the same Hosts choose them.
fn selecting(hosts: &[&Object], mapping: &Object) -> Vec<ObjectId> {
    if field(mapping, "hostname").or_else(|| field(mapping, "host")).is_some() {
        return Vec::new();
    }
    let label = |name: &str| mapping.root.at(&["metadata", "labels", name]);
    let chooses = |host: &&&Object| {
        let labels = selector(host).and_then(|selector| selector.get("matchLabels")?.as_object());
        labels.is_some_and(|labels| labels.iter().all(|entry| label(&entry.key).is_some_and(|value| value.as_str() == entry.value.as_str())))
    };
    hosts.iter().filter(chooses).map(|host| host.id).collect()
}

/// A field of an object in its `spec` or, in an annotation, at the top level.
fn field<'o>(object: &'o Object, name: &str) -> Option<&'o Node> {
    object.root.at(&["spec", name]).or_else(|| object.root.get(name))
}

/// Mappings that choose the same requests and have no weights: each gets an even share, which a second Mapping by mistake gets too.
pub fn same_match(side: SideRef<'_>) -> Vec<Diagnostic> {
    let in_use = |object: &&Object| {
        let is_plain = ["weight", "shadow", "host_redirect"].iter().all(|name| field(object, name).is_none());
        is_plain
            && !object.broken
            && *object.key.kind == *"Mapping"
            && matches!(side.side.ledger.get(object.id), State::Loaded | State::Undecided | State::Merged(_) | State::Emitted(_))
    };
    let hosts: Vec<&Object> = side.objects().iter().filter(|object| *object.key.kind == *"Host").collect();
    let mut groups: HashMap<(Vec<Option<String>>, Vec<ObjectId>), &Object> = HashMap::new();
    let mut found = Vec::new();
    for object in side.objects().iter().filter(in_use) {
        let first = *groups.entry((matchers(object), selecting(&hosts, object))).or_insert(object);
        let service = |of: &Object| field(of, "service").map(|node| to_json(node, false));
        if first.id == object.id || service(first) == service(object) {
            continue;
        }
        let message = format!("Mapping {} chooses the same requests, and neither has a weight: each service gets an even share", first.key.name);
        let mut finding = Diagnostic::new(&codes::ROUTE_CONFLICT, message, at_name(object))
            .about(object.key.clone())
            .related(at_name(first), "the other Mapping")
            .help("give one of them a `weight`, or different requests");
        finding.severity = Severity::Warning;
        found.push(finding);
    }
    found
}

/// Finds fields of Mappings that also affect other Mappings' requests, and fields that another Mapping overrides.
pub fn shared_fields(side: SideRef<'_>) -> Vec<Diagnostic> {
    Stages::of(side.side).map(|stages| stages.shared.findings()).unwrap_or_default()
}

/// Whether a Listener is for connections that speak TLS.
fn is_for_tls(listener: &Object) -> bool {
    let protocol = field(listener, "protocol").and_then(Node::as_str);
    let stack = field(listener, "protocolStack").and_then(Node::as_array);
    // If both are set, Emissary uses the stack.
    match stack {
        Some(stack) => stack.iter().any(|protocol| protocol.as_str() == Some("TLS")),
        None => matches!(protocol, Some("HTTPS" | "HTTPSPROXY" | "TLS")),
    }
}

/// Finds TLS listeners whose Hosts have no certificate: their connections are served in cleartext.
pub fn tls_without_certificate(side: SideRef<'_>) -> Vec<Diagnostic> {
    // If a Host's Secret is missing, that must be fixed first.
    if side.diagnostics().any(|finding| *finding.code == codes::SECRET_NOT_FOUND) {
        return Vec::new();
    }
    let listeners: HashMap<ObjectId, &Object> =
        side.objects().iter().filter(|object| *object.key.kind == *"Listener" && is_for_tls(object)).map(|object| (object.id, object)).collect();
    // A fragment may leave its Hosts to the cluster.
    let has_hosts = side.objects().iter().any(|object| *object.key.kind == *"Host" && !object.assumed);
    let mut found = Vec::new();
    for listener in side.irs().flat_map(|ir| &ir.listeners) {
        let Some(object) = listener.origins.iter().find_map(|origin| listeners.get(&origin.object())) else { continue };
        if listener.chains.iter().any(|chain| chain.tls.is_some()) || listener.http_managers().next().is_none() {
            continue;
        }
        let at = ["protocolStack", "protocol"].into_iter().find_map(|name| field(object, name));
        let place = at.map_or_else(|| at_name(object), |node| Place::value(object.id, node.id));
        let message = "the Listener is for TLS, and none of its Hosts has a certificate: Envoy serves cleartext there";
        let mut finding = Diagnostic::new(&codes::MISSING_CERTIFICATE, message, place).about(object.key.clone());
        if !has_hosts && Assumptions::of(&side.side.options).for_other_kinds() != Missing::Error {
            finding.severity = Severity::Notice;
        }
        found.push(finding.help("name the Secret with the certificate in `tlsSecret` of the Host; for cleartext alone, write `protocol: HTTP`"));
    }
    found
}

/// Finds Hosts with a certificate that no Listener uses, because no Listener is for TLS.
pub fn certificate_without_listener(side: SideRef<'_>) -> Vec<Diagnostic> {
    if !listens(side) || side.objects().iter().any(|object| *object.key.kind == *"Listener" && (is_for_tls(object) || object.broken)) {
        return Vec::new();
    }
    let (served, with_problems) = (side.served(), side.with_problems());
    let is_used = |object: &&Object| *object.key.kind == *"Host" && served.contains(&object.id) && !with_problems.contains(&object.id);
    let mut found = Vec::new();
    for object in side.objects().iter().filter(is_used) {
        let Some(name) = field(object, "tlsSecret").and_then(|secret| secret.get("name")).filter(|name| !name.is_null()) else { continue };
        let message = "`tlsSecret` has no effect: no Listener is for TLS, so Envoy serves this Host in cleartext only";
        let finding = Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, message, Place::value(object.id, name.id)).about(object.key.clone());
        found.push(finding.help("add a Listener with `protocol: HTTPS`"));
    }
    found
}

/// Finds Hosts that request certificates by ACME, which only the Edge Stack supports.
pub fn edge_stack_fields(side: SideRef<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for object in side.objects().iter().filter(|object| !object.broken && *object.key.kind == *"Host") {
        let Some(provider) = field(object, "acmeProvider") else { continue };
        let authority = provider.get("authority").and_then(Node::as_str);
        if authority.is_some_and(|authority| authority.eq_ignore_ascii_case("none")) || authority.is_none() && provider.get("email").is_none() {
            continue;
        }
        let message = "only the Edge Stack gets certificates by ACME; Emissary-ingress leaves `acmeProvider` alone";
        let finding = Diagnostic::new(&codes::EDGE_STACK_FIELD, message, Place::key(object.id, provider.id)).about(object.key.clone());
        found.push(finding.help("have cert-manager write the Secret that `tlsSecret` names, and set `acmeProvider: {authority: none}`"));
    }
    found
}

/// Finds services that Emissary silently changes: it drops a path, and escapes characters that host names cannot contain.
pub fn service_names(side: SideRef<'_>) -> Vec<Diagnostic> {
    let is_malformed = |finding: &&Diagnostic| *finding.code == codes::MALFORMED_SERVICE;
    let known: HashSet<ObjectId> = side.diagnostics().filter(is_malformed).filter_map(|finding| finding.place.object()).collect();
    let mut found = Vec::new();
    let in_use = |object: &&Object| {
        let is_own = object.key.group == super::kinds::GROUP && !object.broken && !known.contains(&object.id);
        is_own && matches!(side.side.ledger.get(object.id), State::Loaded | State::Undecided | State::Merged(_) | State::Emitted(_))
    };
    for object in side.objects().iter().filter(in_use) {
        let written = ["service", "auth_service"].iter().find_map(|name| field(object, name));
        let Some((node, service)) = written.and_then(|node| Some((node.id, node.as_str()?))) else { continue };
        let Some((message, help)) = misread(service) else { continue };
        let mut finding = Diagnostic::new(&codes::MALFORMED_SERVICE, message, Place::value(object.id, node)).about(object.key.clone()).help(help);
        finding.severity = Severity::Warning;
        found.push(finding);
    }
    found
}

/// Emissary's form of a service, if it differs from the written one, and the advice.
fn misread(service: &str) -> Option<(String, String)> {
    let address = service.split_once("://").map_or(service, |(_, address)| address);
    let (host, path) = address.split_at(address.find(['/', '?', '#']).unwrap_or(address.len()));
    if let Some(scheme) = ["http", "https"].into_iter().find(|scheme| host.trim_end_matches(':').eq_ignore_ascii_case(scheme) && path.len() > 1) {
        let message = format!("Emissary sends requests to the host `{scheme}`: a scheme has `://` behind it");
        return Some((message, format!("write `{scheme}://{}`", path.trim_start_matches('/'))));
    }
    if host.starts_with('$') || host.contains("{{") {
        let message = format!("`{host}` is a placeholder, and not the name of a host");
        return Some((message, "replace it before the object is applied".into()));
    }
    if let Some(bad) = host.chars().find(|c| c.is_whitespace() || "(){}<>,;\"'`|\\^\u{201c}\u{201d}\u{2018}\u{2019}".contains(*c)) {
        let message = format!("no host has the name `{host}`: `{bad}` is not allowed in it");
        let port = host.rsplit_once(char::is_whitespace).filter(|(_, port)| port.parse::<u16>().is_ok());
        let help = port.map_or_else(|| "write the name of the service alone".into(), |(name, port)| format!("write `{}:{port}`", name.trim()));
        return Some((message, help));
    }
    let is_dropped = path.len() > 1;
    is_dropped.then(|| (format!("Emissary drops `{path}`: a service is a host and a port"), "write the path in `rewrite`".into()))
}
