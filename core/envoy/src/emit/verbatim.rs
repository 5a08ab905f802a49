//! Emits resources that are passed on verbatim, as messages and as parts of a bootstrap.
//!
//! In a bootstrap, route tables and endpoints are moved to where they are used, and certificates are referenced by name. If a host provides
//! certificates, a bootstrap contains them, and a management server serves them by name.
//!
//! Does not interpret messages.

use super::verbatim_memory::VerbatimMemory;
use super::{Context, Lookup, pb};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::executor::Executor;
use chancery_base::ir::{Fields, Plain, SecretReference, Tree, Verbatim, placeholder};
use chancery_envoy_api::describe::Describe;
use chancery_envoy_api::json::{self, Problem, ProblemKind, Read, Readable};
use chancery_envoy_api::rules;
use chancery_text::{Str, base64};
use core::borrow::Borrow;
use core::net::IpAddr;
use hashbrown::{HashMap, HashSet};

/// Converts a resource to a message, as far as it fits.
pub(super) fn message<M: Readable>(of: &Tree) -> M {
    read::<M>(of).message
}

/// The rule of a message whose type Chancery does not know: it has no bytes on the wire.
#[cfg(feature = "wire")]
pub(super) const KNOWN_TYPE: &str = "known-type";

/// Converts a resource to a message, with the violations that Envoy rejects, and the messages that cannot be encoded.
#[cfg(feature = "wire")]
pub(super) fn judged<M: Readable + Describe>(of: &Tree) -> (M, Vec<rules::Violation>) {
    let Read { message, problems } = read::<M>(of);
    let (unknown, misfits): (Vec<Problem>, Vec<Problem>) = problems.into_iter().partition(|problem| problem.kind == ProblemKind::UnknownType);
    let mut broken = violations(&message, misfits);
    broken.extend(unknown.into_iter().map(|problem| violation::<M>(problem, KNOWN_TYPE)));
    (message, broken)
}

fn read<M: Readable>(of: &Tree) -> Read<M> {
    // JSON that was just written can be read.
    json::from_str(&of.json()).unwrap_or_else(|_| Read { message: M::default(), problems: Vec::new() })
}

/// Returns what Envoy rejects of a message: unknown fields, and values that break rules.
fn broken<M: Readable + Describe>(of: &Tree) -> Vec<rules::Violation> {
    let Read { message, problems } = read::<M>(of);
    violations(&message, problems)
}

/// Returns what Envoy rejects of each resource. Their virtual hosts are judged alone, as they are the bulk, and few of them change at a time.
pub(super) fn all_broken<M: Readable + Describe, T: Borrow<Tree>>(
    all: &[T],
    memory: &mut VerbatimMemory,
    executor: &dyn Executor,
) -> Vec<Vec<rules::Violation>> {
    let hosts: Vec<Vec<(String, &Tree)>> = all.iter().map(|of| virtual_hosts::<M>(of.borrow())).collect();
    let parts = hosts.iter().flatten().map(|(_, host)| *host);
    memory.judge(parts, executor, broken::<pb::route::VirtualHost>);
    let is_object = |of: &&Tree| matches!(of.value, Plain::Object(_));
    let plain = all.iter().zip(&hosts).filter(|(_, hosts)| hosts.is_empty()).map(|(of, _)| of.borrow()).filter(is_object);
    memory.judge(plain, executor, broken::<M>);
    let of_resource = |(of, hosts): (&T, Vec<(String, &Tree)>)| {
        if hosts.is_empty() {
            return if is_object(&of.borrow()) { memory.broken(of.borrow()).to_vec() } else { broken::<M>(of.borrow()) };
        }
        let mut found = broken::<M>(&without_virtual_hosts(of.borrow()));
        for (at, host) in hosts {
            let own = memory.broken(host).iter();
            found.extend(own.map(|violation| rules::Violation { pointer: format!("{at}{}", violation.pointer), ..violation.clone() }));
        }
        found
    };
    all.iter().zip(hosts).map(of_resource).collect()
}

/// Messages that may contain virtual hosts.
const HOLD_HOSTS: [&str; 2] = ["envoy.config.listener.v3.Listener", "envoy.config.route.v3.RouteConfiguration"];

/// Whether a message may contain virtual hosts.
pub(super) fn may_hold_hosts<M: Describe>() -> bool {
    HOLD_HOSTS.contains(&M::INFO.full_name)
}

pub(super) fn is_virtual_host(of: &Tree) -> bool {
    of.find("domains").is_some()
}

/// The virtual hosts in a resource, with their pointers.
fn virtual_hosts<M: Describe>(of: &Tree) -> Vec<(String, &Tree)> {
    fn collect<'t>(of: &'t Tree, at: &str, found: &mut Vec<(String, &'t Tree)>) {
        let is_list = of.items().first().is_some_and(is_virtual_host);
        for (index, item) in of.items().iter().enumerate() {
            let at = format!("{at}/{index}");
            if is_list { found.push((at, item)) } else { collect(item, &at, found) }
        }
        of.fields().iter().for_each(|(key, value)| collect(value, &format!("{at}/{key}"), found));
    }
    let mut found = Vec::new();
    if may_hold_hosts::<M>() {
        collect(of, "", &mut found);
    }
    found
}

/// A resource without its virtual hosts.
fn without_virtual_hosts(of: &Tree) -> Tree {
    let value = match &of.value {
        Plain::List(items) if items.first().is_some_and(is_virtual_host) => Plain::List(Default::default()),
        Plain::List(items) => Plain::List(items.iter().map(without_virtual_hosts).collect()),
        Plain::Object(fields) => Plain::Object(Fields(fields.0.iter().map(|(key, value)| (key.clone(), without_virtual_hosts(value))).collect())),
        other => other.clone(),
    };
    Tree { value, origin: of.origin }
}

fn violations<M: Readable + Describe>(message: &M, problems: Vec<Problem>) -> Vec<rules::Violation> {
    let misfits = problems.into_iter().filter(|problem| problem.kind != ProblemKind::UnknownType);
    misfits.map(|problem| violation::<M>(problem, "json")).chain(rules::validate(message)).collect()
}

fn violation<M: Describe>(problem: Problem, rule: &'static str) -> rules::Violation {
    rules::Violation { pointer: problem.pointer, message_type: M::INFO.full_name, field: "", rule, message: problem.message }
}

/// Makes a resource, or a part of one, as a bootstrap contains it: with its certificates by name.
struct Localizer<'a, 'c> {
    cx: &'a Context<'c>,
    /// The secrets that the bootstrap contains.
    held: BTreeSet<Str>,
}

impl<'a, 'c> Localizer<'a, 'c> {
    fn new(of: &Verbatim, cx: &'a Context<'c>, memory: &mut VerbatimMemory) -> Self {
        let held = held_secrets(of, cx);
        memory.use_secrets(&held);
        Self { cx, held }
    }

    fn local(&self, of: Tree) -> Tree {
        if !needs_server(&of) {
            return of;
        }
        let mut names = Names::of(&of, source(self.cx.server)).lacking(self.cx.pod_files);
        let mut of = of;
        include_or_name(&mut of, &mut names, self.cx.secrets);
        comment_missing_users(&mut of);
        without_server(&mut of, &self.held);
        of
    }

    /// A route table. A table that Envoy requests may name clusters that do not exist; in a listener it must say so.
    fn table(&self, of: &Tree, clusters: &HashSet<&str>, memory: &mut VerbatimMemory) -> Tree {
        let is_missing = |name: &str| !clusters.contains(name);
        let mut frame = of.clone();
        let hosts = frame.get_mut("virtual_hosts").map(core::mem::take).unwrap_or_default();
        let mut names_missing = names_cluster(&frame, &mut |name| is_missing(name));
        let mut changed: Vec<(usize, Tree)> = Vec::new();
        for (at, host) in hosts.items().iter().enumerate() {
            let make = || {
                let mut clusters = Vec::new();
                names_cluster(host, &mut |name| {
                    clusters.push(Str::new(name));
                    false
                });
                (clusters, needs_server(host).then(|| self.local(host.clone())))
            };
            // With a host's key material, nothing is kept.
            let made = if self.cx.secrets.is_some() { Some(make()) } else { None };
            let known = match &made {
                Some((clusters, local)) => Some((clusters, local)),
                None => memory.host(host, make).map(|known| (&known.clusters, &known.local)),
            };
            let Some((named, local)) = known else { continue };
            names_missing |= named.iter().any(|name| is_missing(name));
            changed.extend(local.clone().map(|local| (at, local)));
        }
        let mut out = of.clone();
        if needs_server(&frame) {
            out = self.local(frame);
            out.set("virtual_hosts", hosts);
        }
        if !changed.is_empty()
            && let Some(hosts) = out.get_mut("virtual_hosts").map(Tree::items_mut)
        {
            for (at, local) in changed {
                hosts[at] = local;
            }
        }
        if names_missing {
            out.set("validate_clusters", Tree::from(false));
        }
        out
    }
}

/// Listeners as a bootstrap contains them: with their routes inline and their certificates by name.
pub(super) fn listeners(of: &Verbatim, cx: &Context<'_>, memory: &mut VerbatimMemory) -> Vec<Tree> {
    let clusters: HashSet<&str> = of.clusters.iter().map(|cluster| cluster.get("name").text()).collect();
    let localizer = Localizer::new(of, cx, memory);
    let all_tables: Vec<(Str, Tree)> = of.routes.iter().map(|table| (table.get("name").str(), localizer.table(table, &clusters, memory))).collect();
    let tables: BTreeMap<&str, &Tree> = all_tables.iter().map(|(name, table)| (name.as_str(), table)).collect();
    let mut all: Vec<Tree> = of.listeners.iter().map(|listener| localizer.local((**listener).clone())).collect();
    all.iter_mut().for_each(|listener| with_tables(listener, &tables));
    all
}

/// Whether something in a resource may refer to key material.
fn needs_server(of: &Tree) -> bool {
    let refers = |key: &str| matches!(key, "sds_config" | "tls_certificates" | "validation_context" | "users" | "inline_string");
    matches!(of.value, Plain::Material(_))
        || of.fields().iter().any(|(key, value)| refers(key) || needs_server(value))
        || of.items().iter().any(needs_server)
}

/// Clusters as a bootstrap contains them: with their endpoints inline and their certificates by name.
pub(super) fn clusters(of: &Verbatim, cx: &Context<'_>, memory: &mut VerbatimMemory) -> Vec<Tree> {
    let endpoints: HashMap<&str, &Arc<Tree>> = of.endpoints.iter().map(|all| (all.get("cluster_name").text(), all)).collect();
    let localizer = Localizer::new(of, cx, memory);
    let local = |cluster: &Arc<Tree>, endpoints: Option<&Arc<Tree>>| {
        let mut local = Tree::clone(cluster);
        with_endpoints(&mut local, endpoints.map(|endpoints| &**endpoints));
        if needs_server(cluster) {
            let mut names = Names::of(&local, source(cx.server)).lacking(cx.pod_files);
            include_or_name(&mut local, &mut names, cx.secrets);
            without_server(&mut local, &localizer.held);
            on_own_stream(&mut local, cx.server);
        }
        local
    };
    let one = |cluster: &Arc<Tree>| {
        let service = cluster.at(&["eds_cluster_config", "service_name"]).text();
        let own = endpoints.get(if service.is_empty() { cluster.get("name").text() } else { service }).copied();
        let own = own.filter(|_| cluster.find("eds_cluster_config").is_some());
        // With a host's key material, nothing is kept.
        if cx.secrets.is_some() { local(cluster, own) } else { memory.cluster(cluster, own, || local(cluster, own)) }
    };
    of.clusters.iter().map(one).collect()
}

/// Moves the endpoints that a cluster requests by name into it.
fn with_endpoints(cluster: &mut Tree, endpoints: Option<&Tree>) {
    if cluster.take("eds_cluster_config").is_none() {
        return;
    }
    let assignment = endpoints.cloned().unwrap_or_else(|| Tree::object([("cluster_name", Tree::from(cluster.get("name").str()))]));
    let groups = assignment.get("endpoints").items().iter();
    let hosts = groups.flat_map(|group| group.get("lb_endpoints").items());
    let mut addresses = hosts.map(|host| host.at(&["endpoint", "address", "socket_address", "address"]).text());
    let kind = if addresses.all(|address| address.is_empty() || address.parse::<IpAddr>().is_ok()) { "STATIC" } else { "STRICT_DNS" };
    cluster.set("type", Tree::from(kind).or_from(cluster.get("type").origin));
    cluster.set("load_assignment", assignment);
}

/// Returns a resource that requests its certificates by name on the same stream, and the certificates to serve under these names: Envoy waits for
/// those that the host does not provide yet. Returns `None` if the host provides nothing.
#[cfg(feature = "wire")]
pub(super) fn by_name(of: &Tree, secrets: Lookup<'_>) -> Option<(Tree, BTreeMap<String, Tree>)> {
    let mut tree = of.clone();
    let mut names = Names::of(of, source(None));
    name_certificates(&mut tree, &mut names);
    names.secrets.values_mut().for_each(|secret| fill(secret, secrets));
    names.secrets.retain(|_, secret| !has_placeholder(secret));
    (!names.secrets.is_empty()).then_some((tree, names.secrets))
}

/// Includes the certificates that the host provides, and references the others by name.
fn include_or_name(of: &mut Tree, names: &mut Names<'_>, secrets: Option<Lookup<'_>>) {
    if let Some(secrets) = secrets {
        fill(of, secrets);
    }
    name_certificates(of, names);
}

/// The secrets of a bootstrap: those that the host provides, and those that contain no key material, such as the path of the system's CAs. Listeners and
/// clusters refer to them without a server.
pub(super) fn secrets(of: &Verbatim, cx: &Context<'_>) -> Vec<Tree> {
    let mut all: Vec<Tree> = of.secrets.iter().map(|secret| (**secret).clone()).collect();
    if let Some(secrets) = cx.secrets {
        all.iter_mut().for_each(|secret| fill(secret, secrets));
    }
    all.retain(|secret| first_placeholder(secret).is_none());
    all
}

/// Removes the server from references to secrets that the bootstrap contains.
fn without_server(of: &mut Tree, held: &BTreeSet<Str>) {
    if of.find("sds_config").is_some() && held.contains(of.get("name").text()) {
        of.take("sds_config");
    }
    if let Plain::Object(fields) = &mut of.value {
        fields.0.iter_mut().for_each(|(_, value)| without_server(value, held));
    }
    of.items_mut().iter_mut().for_each(|item| without_server(item, held));
}

/// Makes a cluster request secrets on a separate stream: Envoy crashes if a static cluster uses the shared stream.
fn on_own_stream(of: &mut Tree, server: Option<&Str>) {
    if server.is_none() {
        return;
    }
    if of.at(&["sds_config", "ads"]).value != Plain::Null {
        let origin = of.get("sds_config").origin;
        of.set("sds_config", source(server).or_from(origin));
    }
    if let Plain::Object(fields) = &mut of.value {
        fields.0.iter_mut().for_each(|(_, value)| on_own_stream(value, server));
    }
    of.items_mut().iter_mut().for_each(|item| on_own_stream(item, server));
}

/// Writes the name of a missing password file as a comment: Envoy rejects any other text without passwords.
fn comment_missing_users(of: &mut Tree) {
    if let Some(users) = of.get_mut("users")
        && let Plain::Material(name) = &users.get("inline_string").value
    {
        let (comment, origin) = (Tree::from(format!("# {name}")), users.get("inline_string").origin);
        users.set("inline_string", comment.or_from(origin));
    }
    if let Plain::Object(fields) = &mut of.value {
        fields.0.iter_mut().for_each(|(_, value)| comment_missing_users(value));
    }
    of.items_mut().iter_mut().for_each(comment_missing_users);
}

/// Whether listeners or clusters request secrets that the bootstrap does not contain.
pub(super) fn requests_secrets(of: &Verbatim, cx: &Context<'_>) -> bool {
    fn requests(of: &Tree, held: &BTreeSet<Str>, files: &[Str]) -> bool {
        let is_named = of.find("sds_config").is_some() && !held.contains(of.get("name").text());
        let is_file = of.find("filename").is_some_and(|name| files.iter().any(|file| name.is(file)));
        is_named || is_file || of.fields().iter().map(|(_, value)| value).chain(of.items()).any(|value| requests(value, held, files))
    }
    let held = held_secrets(of, cx);
    of.listeners.iter().chain(&of.clusters).any(|of| requests(of, &held, cx.pod_files))
}

/// The names of the secrets that a bootstrap contains.
fn held_secrets(of: &Verbatim, cx: &Context<'_>) -> BTreeSet<Str> {
    secrets(of, cx).iter().map(|secret| secret.get("name").str()).collect()
}

/// Resources with the host's data, if the host provides data. Resources without names of key material stay shared.
pub(super) fn filled(all: &[Arc<Tree>], secrets: Option<Lookup<'_>>) -> Vec<Arc<Tree>> {
    let one = |of: &Arc<Tree>| match secrets {
        Some(secrets) if of.first_material().is_some() => {
            let mut tree = (**of).clone();
            fill(&mut tree, secrets);
            Arc::new(tree)
        }
        _ => of.clone(),
    };
    all.iter().map(one).collect()
}

/// The bytes of key material; `None` if a part of it is unknown.
fn material(of: &Tree, secrets: Lookup<'_>) -> Option<Vec<u8>> {
    let references = of.material();
    let each: Option<Vec<Vec<u8>>> = references.iter().map(secrets).collect();
    each.filter(|_| !references.is_empty()).map(|each| each.concat())
}

/// Replaces placeholders and names of key material by the host's data.
fn fill(of: &mut Tree, secrets: Lookup<'_>) {
    if let Some(bytes) = material(of.get("inline_string"), secrets) {
        let origin = of.get("inline_string").origin;
        match String::from_utf8(bytes) {
            Ok(text) => of.set("inline_string", Tree::from(text).or_from(origin)),
            Err(binary) => {
                of.take("inline_string");
                of.set("inline_bytes", Tree::from(base64::encode(binary.as_bytes())).or_from(origin));
            }
        }
        return;
    }
    // A key of an API is a separate string; it may not be bytes.
    if let Some(text) = material(of, secrets).and_then(|bytes| String::from_utf8(bytes).ok()) {
        of.value = Plain::String(Str::from(text));
        return;
    }
    let given = of.find("inline_string").and_then(|text| placeholder(text.text())).and_then(|name| secrets(&SecretReference::of_placeholder(name)));
    if let Some(text) = given.and_then(|bytes| String::from_utf8(bytes).ok()) {
        let origin = of.get("inline_string").origin;
        of.set("inline_string", Tree::from(text).or_from(origin));
        return;
    }
    if let Plain::Object(fields) = &mut of.value {
        fields.0.iter_mut().for_each(|(_, value)| fill(value, secrets));
    }
    of.items_mut().iter_mut().for_each(|item| fill(item, secrets));
}

#[cfg(feature = "wire")]
fn has_placeholder(of: &Tree) -> bool {
    first_placeholder(of).is_some()
}

fn first_placeholder(of: &Tree) -> Option<&str> {
    let named = if let Plain::Material(name) = &of.value { Some(name.as_str()) } else { None };
    let own = named.or_else(|| placeholder(of.get("inline_string").text()));
    own.or_else(|| of.fields().iter().find_map(|(_, value)| first_placeholder(value))).or_else(|| of.items().iter().find_map(first_placeholder))
}

/// The violation of a resource whose certificate no source provides: a placeholder is not a certificate.
#[cfg(feature = "wire")]
pub(super) fn missing_certificate<M: Describe>(of: &Tree) -> Option<rules::Violation> {
    let name = first_placeholder(of)?;
    let message = format!("no source provides the certificate `{name}`");
    Some(rules::Violation { pointer: String::new(), message_type: M::INFO.full_name, field: "", rule: "certificate", message })
}

/// Generates names for certificates without a name, and records the named certificates.
struct Names<'f> {
    owner: Str,
    /// Files that the machine lacks.
    missing_files: &'f [Str],
    count: usize,
    source: Tree,
    secrets: BTreeMap<String, Tree>,
}

impl<'f> Names<'f> {
    fn of(resource: &Tree, source: Tree) -> Self {
        Self { owner: resource.get("name").str(), missing_files: &[], count: 0, source, secrets: BTreeMap::new() }
    }

    fn lacking(self, missing_files: &'f [Str]) -> Self {
        Self { missing_files, ..self }
    }

    fn note(&mut self, name: &str, kind: &str, held: Tree) {
        self.secrets.insert(String::from(name), Tree::object([("name", Tree::from(name)), (kind, held)]));
    }

    fn next(&mut self) -> String {
        self.count += 1;
        format!("{}:certificate:{}", self.owner, self.count)
    }

    fn secret(&self, name: String) -> Tree {
        Tree::object([("name", Tree::from(name)), ("sds_config", self.source.clone())])
    }
}

/// The source of Envoy's certificates.
fn source(server: Option<&Str>) -> Tree {
    let empty = || Tree { value: chancery_base::ir::Plain::Object(Default::default()), origin: None };
    let how = match server {
        Some(server) => {
            let service = Tree::object([("envoy_grpc", Tree::object([("cluster_name", Tree::from(server))]))]);
            let services = Tree::from(Vec::from([service]));
            let api = [("api_type", Tree::from("GRPC")), ("transport_api_version", "V3".into()), ("grpc_services", services)];
            ("api_config_source", Tree::object(api))
        }
        None => ("ads", empty()),
    };
    Tree::object([how, ("resource_api_version", "V3".into())])
}

/// Returns a copy of a route table that tells Envoy to accept clusters that do not exist; `None` if the table names no missing cluster.
#[cfg(feature = "wire")]
fn unchecked(table: &Tree, is_missing: &dyn Fn(&str) -> bool) -> Option<Tree> {
    if !names_cluster(table, &mut |name| is_missing(name)) {
        return None;
    }
    let mut out = table.clone();
    out.set("validate_clusters", Tree::from(false));
    Some(out)
}

/// Whether routes at or below this value name such a cluster, as a target or as a mirror (Envoy `source/common/router/config_impl.cc`).
fn names_cluster(of: &Tree, is_such: &mut dyn FnMut(&str) -> bool) -> bool {
    fn is_named(holder: &Tree, key: &str, is_such: &mut dyn FnMut(&str) -> bool) -> bool {
        let name = holder.get(key).text();
        !name.is_empty() && is_such(name)
    }
    let within = |(key, value): &(Str, Tree)| match key.as_str() {
        "match" | "metadata" => false,
        "weighted_clusters" => value.get("clusters").items().iter().any(|cluster| is_named(cluster, "name", is_such)),
        "request_mirror_policies" => value.items().iter().any(|mirror| is_named(mirror, "cluster", is_such)),
        "route" => is_named(value, "cluster", is_such) || names_cluster(value, is_such),
        _ => names_cluster(value, is_such),
    };
    of.fields().iter().any(within) || of.items().iter().any(|item| names_cluster(item, is_such))
}

/// Returns a resource whose route tables accept that these clusters are missing; `None` if nothing changes. Otherwise Envoy would reject the
/// resource.
#[cfg(feature = "wire")]
pub(super) fn without_clusters(of: &Tree, missing: &BTreeSet<Str>) -> Option<Tree> {
    fn accept(of: &mut Tree, is_missing: &dyn Fn(&str) -> bool) -> bool {
        if of.find("virtual_hosts").is_some() {
            return unchecked(of, is_missing).map(|table| *of = table).is_some();
        }
        let mut changed = false;
        if let Plain::Object(fields) = &mut of.value {
            fields.0.iter_mut().for_each(|(_, value)| changed |= accept(value, is_missing));
        }
        of.items_mut().iter_mut().for_each(|item| changed |= accept(item, is_missing));
        changed
    }
    if missing.is_empty() {
        return None;
    }
    let mut out = of.clone();
    accept(&mut out, &|name| missing.contains(name)).then_some(out)
}

/// Replaces references to route tables by the tables.
fn with_tables(of: &mut Tree, tables: &BTreeMap<&str, &Tree>) {
    if let Some(asks) = of.take("rds") {
        let name = asks.get("route_config_name");
        let table = tables.get(name.text()).map_or_else(|| Tree::object([("name", name.clone())]), |table| (*table).clone());
        of.set("route_config", table);
        return;
    }
    if let Plain::Object(fields) = &mut of.value {
        fields.0.iter_mut().for_each(|(_, value)| with_tables(value, tables));
    }
    of.items_mut().iter_mut().for_each(|item| with_tables(item, tables));
}

/// Replaces certificates by names.
fn name_certificates(of: &mut Tree, names: &mut Names<'_>) {
    if of.find("tls_certificates").is_some() || of.find("validation_context").is_some() {
        certificates(of, names);
        validation(of, names);
    }
    if let Plain::Object(fields) = &mut of.value {
        fields.0.iter_mut().for_each(|(_, value)| name_certificates(value, names));
    }
    of.items_mut().iter_mut().for_each(|item| name_certificates(item, names));
}

fn certificates(of: &mut Tree, names: &mut Names<'_>) {
    let is_named = |certificate: &Tree| placeholder(certificate.at(&["private_key", "inline_string"]).text()).is_some();
    if !of.get("tls_certificates").items().iter().any(is_named) {
        return;
    }
    for certificate in of.take("tls_certificates").unwrap_or_default().items() {
        let name = placeholder(certificate.at(&["certificate_chain", "inline_string"]).text());
        let name = name.map_or_else(|| names.next(), |name| String::from(name.strip_suffix(":cert").unwrap_or(name)));
        names.note(&name, "tls_certificate", certificate.clone());
        let secret = names.secret(name).or_from(certificate.origin);
        match of.get_mut("tls_certificate_sds_secret_configs") {
            Some(all) => all.push(secret),
            None => of.set("tls_certificate_sds_secret_configs", Vec::from([secret]).into()),
        }
    }
}

fn validation(of: &mut Tree, names: &mut Names<'_>) {
    let context = of.get("validation_context");
    let domains = context.at(&["custom_validator_config", "typed_config", "trust_domains"]).items();
    let bundles: Vec<&str> = domains.iter().filter_map(|domain| placeholder(domain.at(&["trust_bundle", "inline_string"]).text())).collect();
    let file = context.at(&["trusted_ca", "filename"]).text();
    let missing_file = names.missing_files.iter().find(|missing| ***missing == *file).map(Str::as_str);
    let authority = placeholder(context.at(&["trusted_ca", "inline_string"]).text()).or(missing_file);
    let name = match authority {
        Some(name) => String::from(name),
        None if !bundles.is_empty() => bundles.join(","),
        None => return,
    };
    let mut rest = of.take("validation_context").unwrap_or_default();
    let held = ["trusted_ca", "custom_validator_config"].map(|field| (field, rest.take(field).unwrap_or_default()));
    names.note(&name, "validation_context", Tree::object(held));
    let secret = names.secret(name).or_from(rest.origin);
    if rest.fields().is_empty() {
        of.set("validation_context_sds_secret_config", secret);
    } else {
        let both = [("default_validation_context", rest), ("validation_context_sds_secret_config", secret)];
        of.set("combined_validation_context", Tree::object(both));
    }
}
