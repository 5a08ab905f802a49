//! Encodes resources for a management server: each with its name, its bytes on the wire, and a version derived from its content.
//!
//! Each route and cluster is encoded once, and a route table includes the bytes of its routes. A resource with unchanged content is the same shared
//! value as before. Resources that break a rule of Envoy are not sent: Envoy would reject them with the whole update.
//!
//! Does not send resources; see the live server.

use super::encoded::{Encoded, Fingerprint, Latest, Piece, Service};
use super::message::{assignments, route_tables, served_listeners, whole_listener};
use super::route::{route, route_configuration, virtual_host};
use super::{Context, Emitted, Lookup, Options, bootstrap, cluster, endpoint, pb, secret, verbatim};
use crate::Document;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::{Ir, RouteConfiguration, SecretReference, Tree};
use chancery_base::output_map::Trace;
use chancery_envoy_api::describe::{Describe, Reflect};
use chancery_envoy_api::json::Readable;
use chancery_envoy_api::prost::Message;
use chancery_envoy_api::prost::encoding::{WireType, encode_key, encode_varint};
use chancery_envoy_api::rules::{self, validate};
use chancery_text::Str;
use sha2::{Digest, Sha256};

/// `RouteConfiguration.virtual_hosts`.
const VIRTUAL_HOSTS: u32 = 2;
/// `VirtualHost.routes`.
const ROUTES: u32 = 3;

/// A resource to serve.
#[derive(Clone, Debug)]
pub struct Served {
    /// The service that serves it.
    pub service: Service,
    /// Its index in the list of [`Document::Resources`], and in the output map.
    pub index: usize,
    /// The resource; shared with the previous encoding if it is unchanged.
    pub resource: Arc<Encoded>,
}

/// A resource that is not sent unchanged, because Envoy would reject it or because it contains a message of an unknown type.
#[derive(Clone, Debug, PartialEq)]
pub struct Withheld {
    /// The service that would serve it.
    pub service: Service,
    /// Its index in the list of [`Document::Resources`], and in the output map.
    pub index: usize,
    pub name: Str,
    /// The broken rules, with places in [`Document::Resources`].
    pub broken: Vec<rules::Violation>,
    /// Whether only a route was left out and the rest is served.
    pub in_part: bool,
}

impl Withheld {
    /// Returns the JSON pointer of the first broken field within the resource; `None` for the whole resource.
    #[must_use]
    pub fn field(&self) -> Option<String> {
        let pointer = &self.broken.first()?.pointer;
        // It starts with the list and the index.
        pointer.splitn(4, '/').nth(3).map(|field| format!("/{field}"))
    }

    /// Says why it is not sent, as a sentence after "because".
    #[must_use]
    pub fn reason(&self) -> String {
        let first = self.broken.first();
        let is_unknown = first.is_some_and(|broken| broken.rule == verbatim::KNOWN_TYPE);
        let effect = if is_unknown { "Chancery cannot encode it" } else { "Envoy would reject it" };
        let message = first.map(|broken| broken.message.as_str()).unwrap_or_default();
        let rest = if self.in_part { " (only this route is left out; the rest is sent)" } else { "" };
        self.field().map_or_else(|| format!("{effect}: {message}{rest}"), |field| format!("{effect}: {field}: {message}{rest}"))
    }
}

/// The resources that a management server serves.
#[derive(Clone, Debug, Default)]
pub struct Encoding {
    /// By service, in the order of [`Document::Resources`]; one per name.
    pub served: Vec<Served>,
    /// Resources that are left out.
    pub withheld: Vec<Withheld>,
    /// Whether everything equals the previous encoding with the same memory, including places.
    pub is_as_before: bool,
}

/// A complete encoding, and the key material in it.
#[derive(Debug)]
pub(super) struct Whole {
    ir: Arc<Ir>,
    /// The requested key material, each with its fingerprint.
    secrets: Vec<(SecretReference, Option<Fingerprint>)>,
    encoding: Encoding,
}

impl Whole {
    /// Whether encoding again would give the same result.
    fn is_of(&self, ir: &Arc<Ir>, secrets: Option<Lookup<'_>>) -> bool {
        let given = |reference: &SecretReference| secrets.and_then(|lookup| lookup(reference)).map(|material| Fingerprint::of(&[&material]));
        Arc::ptr_eq(&self.ir, ir) && self.secrets.iter().all(|(reference, known)| given(reference) == *known)
    }
}

/// Encodes all resources. Secrets without material from `secrets` are left out, since nothing may replace them. The previous encoding is reused if
/// neither the IR nor the material changed.
pub fn encode(ir: &Arc<Ir>, secrets: Option<Lookup<'_>>, memory: &mut Emitted) -> Encoding {
    if let Some(whole) = &memory.whole
        && whole.is_of(ir, secrets)
    {
        return Encoding { is_as_before: true, ..whole.encoding.clone() };
    }
    let encoding = encode_again(ir, secrets, memory);
    // Dialects with secrets in the IR lower it anew each time.
    memory.whole = secret::all(ir).is_empty().then(|| {
        let own = &ir.delivery.verbatim;
        let all = own.listeners.iter().chain(&own.clusters).chain(&own.routes).chain(&own.secrets);
        let asked = all.flat_map(|of| of.references().into_iter().map(|(reference, _)| reference));
        let known = |reference: SecretReference| {
            let material = secrets.and_then(|lookup| lookup(&reference));
            (reference, material.map(|material| Fingerprint::of(&[&material])))
        };
        Whole { ir: ir.clone(), secrets: asked.map(known).collect(), encoding: encoding.clone() }
    });
    encoding
}

fn encode_again(ir: &Ir, secrets: Option<Lookup<'_>>, memory: &mut Emitted) -> Encoding {
    let options = Options { document: Document::Resources, secrets, ..Options::default() };
    memory.begin(ir);
    let cx = Context::new(ir, &options);
    let latest = core::mem::take(&mut memory.latest);
    let mut encoder = Encoder { memory, latest, next: Latest::default(), out: Encoding::default() };
    let off = &mut Trace::off();
    for (index, of) in ir.clusters.iter().enumerate() {
        encoder.cluster(index, of, &cx);
    }
    for (index, (name, of)) in assignments(ir).into_iter().enumerate() {
        encoder.whole(Service::Endpoints, index, name, &endpoint::load_assignment(name, of, off));
    }
    for (index, of) in served_listeners(ir).enumerate() {
        encoder.whole(Service::Listeners, index, &of.name, &whole_listener(of, &cx, off));
    }
    for (index, of) in route_tables(ir).into_iter().enumerate() {
        encoder.table(index, of, &cx);
    }
    for (index, (name, (held, _))) in secret::all(ir).iter().enumerate() {
        if held.references().all(|reference| secrets.is_some_and(|lookup| lookup(reference).is_some())) {
            encoder.whole(Service::Secrets, index, name, &held.secret(secrets));
        }
    }
    for (index, layer) in ir.delivery.runtimes.iter().enumerate() {
        encoder.whole(Service::Runtimes, index, &layer.name, &bootstrap::runtime(layer, off));
    }
    encoder.verbatim(ir, secrets);
    let Encoder { memory, next, out, .. } = encoder;
    memory.latest = next;
    out
}

struct Encoder<'a> {
    memory: &'a mut Emitted,
    latest: Latest,
    next: Latest,
    out: Encoding,
}

impl Encoder<'_> {
    /// Adds a resource that is encoded as one message.
    fn whole<M: Message + Reflect>(&mut self, service: Service, index: usize, name: &str, message: &M) {
        let broken = validate(message);
        if !self.withhold(service, index, name, "", &broken, false) {
            let value = message.encode_to_vec();
            self.serve(service, index, name, Fingerprint::of(&[&value]), || value);
        }
    }

    /// Adds resources that are passed on verbatim, after the others.
    fn verbatim(&mut self, ir: &Ir, secrets: Option<Lookup<'_>>) {
        let own = &ir.delivery.verbatim;
        let mut held: BTreeMap<String, Tree> = BTreeMap::new();
        let named = |all: &[Arc<Tree>], held: &mut BTreeMap<String, Tree>| -> Vec<Arc<Tree>> {
            let one = |of: &Arc<Tree>| match secrets.and_then(|secrets| verbatim::by_name(of, secrets)) {
                Some((tree, named)) => {
                    held.extend(named);
                    Arc::new(tree)
                }
                None => of.clone(),
            };
            verbatim::filled(all, secrets).iter().map(one).collect()
        };
        let (listeners, tables) = (served_listeners(ir).count(), route_tables(ir).len());
        let is_given = secrets.is_some();
        self.each::<pb::cluster::Cluster>(Service::Clusters, ir.clusters.len(), &named(&own.clusters, &mut held), is_given);
        self.each::<pb::endpoint::ClusterLoadAssignment>(Service::Endpoints, assignments(ir).len(), &own.endpoints, is_given);
        let missing: BTreeSet<Str> = self.out.withheld.iter().filter(|of| of.service == Service::Clusters).map(|of| of.name.clone()).collect();
        let accepting = |all: Vec<Arc<Tree>>| -> Vec<Arc<Tree>> {
            all.into_iter().map(|of| verbatim::without_clusters(&of, &missing).map_or(of, Arc::new)).collect()
        };
        self.each::<pb::listener::Listener>(Service::Listeners, listeners, &accepting(named(&own.listeners, &mut held)), is_given);
        self.each::<pb::route::RouteConfiguration>(Service::Routes, tables, &accepting(verbatim::filled(&own.routes, secrets)), is_given);
        let held: Vec<Arc<Tree>> = held.into_values().map(Arc::new).chain(verbatim::filled(&own.secrets, secrets)).collect();
        self.each::<pb::tls::Secret>(Service::Secrets, secret::all(ir).len(), &held, is_given);
    }

    /// Encodes resources. If the host gives certificates (`is_given`), a resource that still has a placeholder is withheld: Envoy would reject it.
    fn each<M: Message + Readable + Describe>(&mut self, service: Service, first: usize, all: &[Arc<Tree>], is_given: bool) {
        for (at, of) in all.iter().enumerate() {
            let name = ["name", "cluster_name"].into_iter().find_map(|key| of.find(key)).map(Tree::str).unwrap_or_default();
            let (message, mut broken) = verbatim::judged::<M>(of);
            broken.extend(verbatim::missing_certificate::<M>(of).filter(|_| is_given));
            if !self.withhold(service, first + at, &name, "", &broken, false) {
                let value = message.encode_to_vec();
                self.serve(service, first + at, &name, Fingerprint::of(&[&value]), || value);
            }
        }
    }

    fn cluster(&mut self, index: usize, of: &Arc<chancery_base::ir::Cluster>, cx: &Context<'_>) {
        let entry = self.memory.clusters(cx).entry(of);
        let make = || cluster::cluster(of, cx, &mut Trace::off());
        let broken = entry.broken(|| validate(&make())).to_vec();
        let piece = entry.wire.get_or_insert_with(|| Piece::new(&make())).clone();
        if !self.withhold(Service::Clusters, index, &of.name, "", &broken, false) {
            self.serve(Service::Clusters, index, &of.name, piece.version, || piece.bytes.to_vec());
        }
    }

    /// Composes a table from its routes. A route that breaks a rule is left out, since Envoy would reject the whole table because of it.
    fn table(&mut self, index: usize, table: &RouteConfiguration, cx: &Context<'_>) {
        let off = &mut Trace::off();
        let frame = route_configuration(table, cx, off);
        let broken: Vec<rules::Violation> = validate(&frame).into_iter().filter(|of| of.pointer != "/virtual_hosts").collect();
        if self.withhold(Service::Routes, index, &table.name, "", &broken, false) {
            return;
        }
        let frame = frame.encode_to_vec();
        let mut hasher = Sha256::new();
        hasher.update(&frame);
        let mut hosts: Vec<(Vec<u8>, Vec<Piece>)> = Vec::with_capacity(table.virtual_hosts.len());
        for (at, host) in table.virtual_hosts.iter().enumerate() {
            let head = virtual_host(host, cx, off).encode_to_vec();
            hasher.update((head.len() as u64).to_le_bytes());
            hasher.update(&head);
            let mut pieces = Vec::with_capacity(host.routes.len());
            for (number, of) in host.routes.iter().enumerate() {
                let entry = self.memory.routes.entry(of);
                let make = || route(of, cx, &mut Trace::off());
                let broken = entry.broken(|| validate(&make())).to_vec();
                let piece = entry.wire.get_or_insert_with(|| Piece::new(&make())).clone();
                if !self.withhold(Service::Routes, index, &table.name, &format!("/virtual_hosts/{at}/routes/{number}"), &broken, true) {
                    hasher.update(piece.version.0);
                    pieces.push(piece);
                }
            }
            hosts.push((head, pieces));
        }
        self.serve(Service::Routes, index, &table.name, Fingerprint::from(hasher), || compose(frame, &hosts));
    }

    /// Records broken rules. Returns whether there are any.
    fn withhold(&mut self, service: Service, index: usize, name: &str, within: &str, broken: &[rules::Violation], in_part: bool) -> bool {
        if broken.is_empty() {
            return false;
        }
        let at = |of: &rules::Violation| format!("/{}/{index}{within}{}", service.list(), of.pointer);
        let broken = broken.iter().map(|of| rules::Violation { pointer: at(of), ..of.clone() }).collect();
        self.out.withheld.push(Withheld { service, index, name: name.into(), broken, in_part });
        true
    }

    /// Adds one resource per name; an unchanged resource is reused.
    fn serve(&mut self, service: Service, index: usize, name: &str, version: Fingerprint, value: impl FnOnce() -> Vec<u8>) {
        let key = (service, Str::from(name));
        if self.next.0.contains_key(&key) {
            return;
        }
        let known = self.latest.0.get(&key).filter(|known| known.version == version).cloned();
        let resource = known.unwrap_or_else(|| Arc::new(Encoded { name: key.1.clone(), version, value: value() }));
        self.next.0.insert(key, resource.clone());
        self.out.served.push(Served { service, index, resource });
    }
}

/// Returns the frame followed by the hosts with their routes: fields of a message may come in any order.
fn compose(frame: Vec<u8>, hosts: &[(Vec<u8>, Vec<Piece>)]) -> Vec<u8> {
    // The key of such a low field is one byte, and a length needs at most five.
    const HEAD: usize = 6;
    let length = |head: &[u8], routes: &[Piece]| -> usize { head.len() + routes.iter().map(|of| HEAD + of.bytes.len()).sum::<usize>() };
    let mut out = frame;
    out.reserve(hosts.iter().map(|(head, routes)| HEAD + length(head, routes)).sum());
    let mut host: Vec<u8> = Vec::new();
    for (head, routes) in hosts {
        host.clear();
        host.reserve(length(head, routes));
        host.extend_from_slice(head);
        for of in routes {
            encode_key(ROUTES, WireType::LengthDelimited, &mut host);
            encode_varint(of.bytes.len() as u64, &mut host);
            host.extend_from_slice(&of.bytes);
        }
        encode_key(VIRTUAL_HOSTS, WireType::LengthDelimited, &mut out);
        encode_varint(host.len() as u64, &mut out);
        out.extend_from_slice(&host);
    }
    out
}
