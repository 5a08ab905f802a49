//! Goes from objects to gateways. Does not know the stages from inside.

use super::cluster::Cluster;
use super::context::{InForce, ListenerName, Translator};
use super::facts::{self, ObjectSet};
use super::load::{Loaded, load};
use super::materials::FirstNames;
use super::memory::{ClassMemory, Memory};
use super::policy::report_patches;
use super::settings::Settings;
use super::stages::Stages;
use super::status::Conditions;
use super::{Options, documents, findings, inert, kinds, patch, pipeline, references, traps, versions, xds};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::compilation::{Answers, Draft, Failure, Gateway, GatewayId, Ledger, Outcome, Task};
use chancery_base::diagnostic::Findings;
use chancery_base::executor::Executor;
use chancery_base::ir::{Bootstrap, EndpointAddress, EnvoyDelivery, Ir, Tree, Verbatim, XdsCluster};
use chancery_base::resource::{ObjectId, Objects};
use chancery_base::schema::duration;
use chancery_text::Str;
use core::time::Duration;

/// The address of the rate limit service, and its port.
const RATE_LIMIT: &str = "envoy-ratelimit";
const RATE_LIMIT_PORT: i64 = 8081;

/// The address of the server that sends Envoys their configuration, and its port.
const SERVER: &str = "envoy-gateway";
const SERVER_PORT: u16 = 18000;

/// Kinds with fields that never change what an Envoy gets.
const INERT: [kinds::Kind; 9] = [
    kinds::Kind::HttpRoute,
    kinds::Kind::GrpcRoute,
    kinds::Kind::TlsRoute,
    kinds::Kind::TcpRoute,
    kinds::Kind::UdpRoute,
    kinds::Kind::BackendTrafficPolicy,
    kinds::Kind::SecurityPolicy,
    kinds::Kind::EnvoyExtensionPolicy,
    kinds::Kind::EnvoyProxy,
];

/// Compiles the input: one gateway for each Gateway, or one for a class that merges its Gateways.
pub(crate) fn compile(task: Task<'_>) -> Draft {
    let Task { objects, options, executor, memory, remembers, ledger, sink, .. } = task;
    // The host gives the memory that `DIALECT` made.
    let mut none = Memory::default();
    let memory: &mut Memory = memory.downcast_mut().filter(|_| remembers).unwrap_or(&mut none);
    let objects = &*objects;
    let options = Options::of(options);
    let cluster = Cluster::apply(objects, &options, executor, &mut memory.cluster, ledger, sink);
    let mut answers = Answers::default();
    let settings = match Settings::load(objects, &options) {
        Ok(settings) => settings,
        Err(error) => {
            findings::startup(objects, &options, &error, sink);
            let failure = Failure { stage: Str::new_static("startup"), error };
            answers.failure = Some(failure.clone());
            let gateway = Gateway { id: GatewayId::new("envoy-gateway"), owner: None, outcome: Outcome::Stopped(failure) };
            return Draft { stages: Arc::new(Stages::new(&cluster, InForce::default())), answers, gateways: Vec::from([gateway]) };
        }
    };
    let (mut statuses, mut gateways, mut in_force) = (Vec::new(), Vec::new(), InForce::default());
    let first_names = FirstNames::new(&cluster);
    let of_input = references::owners(objects, &settings.controller, options.reads_all_classes);
    let changed = if remembers { memory.begin(objects, &options, &cluster) } else { BTreeSet::new() };
    let mut classes = BTreeMap::new();
    for loaded in load(&cluster, &settings, of_input.reads_all(), remembers.then_some(&mut memory.load)) {
        let mut known = memory.classes.remove(&loaded.resources.class).unwrap_or_default();
        let referenced = loaded.resources.referenced();
        if known.loaded != referenced || loaded.resources.others_backends.iter().any(|name| changed.contains(name)) {
            known = ClassMemory { loaded: referenced, ..ClassMemory::default() };
        }
        known.routes.begin(&changed);
        let mut class = loaded.conditions.clone();
        class_gateways(
            (&loaded, &first_names, objects),
            (&settings, executor),
            &mut class,
            remembers.then_some(&mut known),
            (&mut statuses, &mut gateways, &mut in_force),
            ledger,
            sink,
        );
        if remembers {
            classes.insert(loaded.resources.class.clone(), known);
        }
        statuses.push(documents::class_status(loaded.class, &class));
    }
    memory.classes = classes;
    if gateways.is_empty() {
        gateways.push(Gateway { id: GatewayId::new("envoy-gateway"), owner: None, outcome: Outcome::Runs(Arc::new(Ir::default())) });
    }
    findings::of_others(objects, &of_input, ledger);
    inert::report(INERT.iter().flat_map(|kind| cluster.all(*kind)), &mut memory.inert, sink);
    statuses.sort_by(|a, b| (&a.kind, &a.namespace, &a.name).cmp(&(&b.kind, &b.namespace, &b.name)));
    answers.statuses = Some(documents::merge(statuses));
    Draft { stages: Arc::new(Stages::new(&cluster, in_force)), answers, gateways }
}

type Out<'o> = (&'o mut Vec<chancery_base::compilation::StatusOf>, &'o mut Vec<Gateway>, &'o mut InForce);

fn class_gateways(
    (loaded, first_names, objects): (&Loaded<'_>, &FirstNames, &Objects),
    (settings, executor): (&Settings, &dyn Executor),
    class: &mut Conditions,
    memory: Option<&mut ClassMemory>,
    (statuses, gateways, in_force): Out<'_>,
    ledger: &mut Ledger,
    sink: &mut Findings,
) {
    let (route_memory, mut envoys) = match memory {
        Some(ClassMemory { routes, envoys, .. }) => (Some(routes), Some(envoys)),
        None => (None, None),
    };
    let mut translated = pipeline::translate(loaded, settings, class, route_memory);
    if let Some(envoys) = &mut envoys {
        envoys.retain(|key, _| translated.xds.contains_key(key));
    }
    let gateways_by_key: Vec<_> = translated.gateways.iter().map(|gateway| (translated.ir_key(gateway.object), gateway.object)).collect();
    sink.append(&mut translated.findings);
    let models = core::mem::take(&mut translated.xds);
    for (key, model) in &models {
        let owners: Vec<ObjectId> = owners(&translated, key);
        let mut known = envoys.as_mut().map(|envoys| envoys.entry(key.clone()).or_default());
        let mut generated = if model.http.is_empty() && model.tcp.is_empty() && model.udp.is_empty() && model.ready.is_none() {
            xds::Generated::default()
        } else {
            xds::generate(model, &xds_settings(settings), executor, known.as_mut().map(|known| &mut known.xds))
        };
        first_names.apply(&mut generated.resources);
        traps::broken_options(&generated.resources, objects, sink);
        traps::shared_ports(model, objects, sink);
        traps::no_quic(model, objects, sink);
        versions::revise(settings.version, &mut generated.resources);
        for policy in &model.patches {
            let outcome = patch::apply(&mut generated.resources, policy);
            let found = loaded.resources.envoy_patch_policies.iter().find(|of| *of.namespace() == policy.namespace && *of.name() == policy.name);
            if let Some(object) = found {
                report_patches(&mut translated.policies, object.id(), &outcome);
                traps::patches(object, policy, &outcome, &generated.resources, sink);
            }
        }
        for error in &generated.errors {
            let owner = gateways_by_key.iter().find(|(known, _)| known == key).map(|(_, object)| *object);
            findings::nothing_published(key, owner, error, sink);
        }
        let mut used = ObjectSet::default();
        let mut requests_secrets = false;
        if generated.errors.is_empty() {
            let mut none = facts::FactMemory::default();
            let memory = known.map_or(&mut none, |known| &mut known.facts);
            requests_secrets = facts::collect(&generated.resources, executor, memory, &mut used);
        }
        owners.iter().for_each(|owner| used.insert(*owner));
        findings::emitted(used.iter(), key, ledger);
        let ir = if generated.errors.is_empty() { ir_of(key, generated.resources, requests_secrets) } else { Ir::default() };
        gateways.push(Gateway { id: GatewayId::new(key.clone()), owner: owners.first().copied(), outcome: Outcome::Runs(Arc::new(ir)) });
    }
    translated.xds = models;
    findings::report(loaded, class, &translated, sink);
    traps::report(&translated, sink);
    statuses.extend(documents::statuses(&translated));
    let of_class = core::mem::take(&mut translated.in_force);
    let listeners = translated.gateways.iter().flat_map(|gateway| gateway.listeners.iter().map(move |listener| (gateway, listener)));
    let named = listeners.map(|(gateway, listener)| {
        let name = ListenerName { gateway: gateway.name(), set: listener.set_name.clone(), name: listener.name.clone() };
        (listener.ir_name.clone(), name)
    });
    in_force.add(of_class, &translated.policies, named);
}

fn owners(translated: &Translator<'_>, key: &Str) -> Vec<ObjectId> {
    let all = translated.gateways.iter().chain(&translated.failed);
    all.filter(|gateway| translated.ir_key(gateway.object) == *key).map(|gateway| gateway.object.id()).collect()
}

fn xds_settings(settings: &Settings) -> xds::Settings {
    let limit = settings.file.get("rateLimit");
    let timeout = match limit.get("timeout") {
        written if written.is_null() => Tree::NULL,
        written => duration::parse(written.text()).map_or(Tree::NULL, |_| written.clone()),
    };
    let flag = |list: &str| settings.file.at(&["runtimeFlags", list]).items().iter().any(|item| item.is("XDSNameSchemeV2"));
    let host = format!("{RATE_LIMIT}.{}.svc.{}", settings.namespace, settings.dns_domain);
    xds::Settings {
        rate_limit: settings.rate_limit.then(|| xds::RateLimitService {
            host: Str::from(host),
            port: RATE_LIMIT_PORT,
            timeout,
            fail_closed: limit.get("failClosed").bool(),
        }),
        names_by_port: flag("enabled") && !flag("disabled"),
        controller_namespace: settings.namespace.clone(),
        dns_domain: settings.dns_domain.clone(),
    }
}

fn ir_of(key: &Str, resources: xds::Resources, requests_secrets: bool) -> Ir {
    let xds::Resources { listeners, routes, clusters, endpoints, secrets } = resources;
    let verbatim = Verbatim { listeners, routes, clusters, endpoints, secrets };
    // Envoy requests secrets only if it has both names.
    let needs_names = !verbatim.secrets.is_empty() || requests_secrets;
    let node = if needs_names { key.clone() } else { Str::default() };
    let server = XdsCluster {
        name: Str::new_static("xds_cluster"),
        assignment_name: Str::new_static("xds_cluster"),
        address: EndpointAddress::socket(SERVER, SERVER_PORT),
        connect_timeout: Duration::from_secs(10),
    };
    let bootstrap = Bootstrap {
        node_cluster: node.clone(),
        node_id: node,
        xds_cluster: Some(server).filter(|_| needs_names),
        pod_files: Vec::from([Str::new_static(xds::CONTROLLER_CA)]),
        ..Bootstrap::default()
    };
    Ir { delivery: EnvoyDelivery { verbatim, bootstrap, ..EnvoyDelivery::default() }, ..Ir::default() }
}

/// Says what people call a cluster of Envoy's.
pub(crate) fn cluster_label(_: &str) -> Option<String> {
    None
}
