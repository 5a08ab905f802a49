//! Proves a conversion: compiles both sides, and compares their requests.
//!
//! Both sides get the same surroundings: the unconverted objects, and an assumed Service for every name that is not in the input. Differences that
//! every pair of controllers has (names of clusters, endpoint discovery, settings of listeners and connections) are left out; targets, rewrites and
//! timeouts are compared.
//!
//! Does not compare requests itself; see `explain::compare`.

use super::Conversion;
use super::service::Target;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, GatewayRef, OptionValue, Options};
use chancery_base::output_map::OutputMap;
use chancery_base::resource::{Input, Inputs, Object};
use chancery_compile::compile;
use chancery_envoy::config::EnvoyConfig;
use chancery_envoy::emit::{Emitted, output_map, pb};
use chancery_explain::Positions;
use chancery_explain::compare::{ListenerPairing, RequestOptions, Requests, Side, SideSource, requests};
use chancery_text::{Node, Str};

/// The effect of a conversion on requests.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Proof {
    /// Requests with different results, and requests that could not be compared.
    pub requests: Requests,
    /// Services that were assumed to exist, as `NAMESPACE/NAME`.
    pub assumed: Vec<String>,
}

/// The name of the file with the new objects.
const CONVERTED: &str = "converted.yaml";

/// Compares the requests of the original, compiled with `options`, with the requests of the converted objects.
pub fn proof(original: &Compilation, conversion: &Conversion, options: &Options) -> Proof {
    let from = original.sides.first().map_or(&chancery_contour::DIALECT, |side| side.dialect);
    let from_contour = *from == chancery_contour::DIALECT;
    let assumed = missing(original, conversion);
    let services = Input { name: "assumed.yaml".into(), text: assumed.iter().map(service).collect::<String>().into() };
    let mut before = original.inputs.clone();
    before.inputs.push(services.clone());
    let mut after = Inputs { inputs: without_converted(original, from_contour), stored: original.inputs.stored.clone() };
    after.inputs.push(services);
    after.inputs.push(Input { name: CONVERTED.into(), text: conversion.yaml().into() });
    let mut options = options.clone();
    options.insert("missing-secrets", OptionValue::Text("assume".into()));
    let first = compile(&before, &options.clone().in_dialect(from.name), &[from]);
    options = options.in_dialect(chancery_contour::DIALECT.name);
    if from_contour {
        after.inputs.push(Input { name: "gateway.yaml".into(), text: GATEWAY.into() });
        options.insert("controller-arg", OptionValue::List(Vec::from(["--contour-config-name=chancery".into()])));
    }
    let second = compile(&after, &options, &[&chancery_contour::DIALECT]);
    let (old, new) = (Compiled::of(&first), Compiled::of(&second));
    let (old_positions, new_positions) = (first.positions(), second.positions());
    let namespace = chancery_ambassador::Options::of(&options).ambassador_namespace;
    let by_address = |cluster: &pb::cluster::Cluster| service_of_address(cluster, &namespace);
    let by_name = |cluster: &pb::cluster::Cluster| service_of_name(cluster);
    let told_by: &dyn Fn(&pb::cluster::Cluster) -> Option<String> = if from_contour { &by_name } else { &by_address };
    let how = RequestOptions {
        pairing: ListenerPairing::SameRole,
        routes_only: !from_contour,
        reaches: [Some(told_by), Some(&by_name)],
        own_listeners: [if from_contour { CONTOURS } else { AMBASSADORS }, CONTOURS],
        own_paths: &["/ambassador/v0/"],
    };
    let mut requests = requests(&old.side(&old_positions), &new.side(&new_positions), &how);
    for refused in second.sides.iter().flat_map(|side| &side.answers.refused) {
        requests
            .limits
            .push(format!("The API server refuses the conversion of {} `{}`, so it serves no request.", refused.key.kind, refused.key.name));
    }
    if how.routes_only {
        requests.limits.push("Settings of listeners, connections and clusters, and what filters do, were not compared.".into());
    }
    Proof { requests, assumed: assumed.into_keys().map(|(namespace, name)| format!("{namespace}/{name}")).collect() }
}

/// The controllers' own listeners.
const AMBASSADORS: &[&str] = &["ambassador-listener-ready"];
const CONTOURS: &[&str] = &["stats", "health", "envoy-admin"];

/// Objects that make Contour serve the Gateway.
pub(super) const GATEWAY: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: contour}
spec: {controllerName: projectcontour.io/gateway-controller}
---
apiVersion: projectcontour.io/v1alpha1
kind: ContourConfiguration
metadata: {name: chancery, namespace: projectcontour}
spec: {gateway: {gatewayRef: {name: contour, namespace: projectcontour}}}
";

struct Compiled<'c> {
    /// The first gateway, if one runs.
    gateway: Option<GatewayRef<'c>>,
    config: EnvoyConfig,
    map: OutputMap,
}

impl<'c> Compiled<'c> {
    fn of(compilation: &'c Compilation) -> Self {
        let gateway = compilation.gateways().next();
        let ir = gateway.map(|gateway| gateway.ir.clone()).unwrap_or_default();
        let map = output_map(&ir, &chancery_envoy::Options::default(), &mut Emitted::default());
        Self { gateway, config: EnvoyConfig::of(&ir), map }
    }

    fn side<'a>(&'a self, positions: &'a Positions<'a>) -> Side<'a> {
        Side { config: &self.config, source: self.gateway.map(|gateway| SideSource { gateway, positions, map: &self.map }) }
    }
}

/// Returns the inputs with the converted objects blanked out.
fn without_converted(original: &Compilation, from_contour: bool) -> Vec<Input> {
    // Another controller ignores foreign objects.
    without(original, |object| from_contour && object.key.kind == "HTTPProxy")
}

/// Returns the inputs with some objects blanked out.
pub(super) fn without(original: &Compilation, is_left_out: impl Fn(&Object) -> bool) -> Vec<Input> {
    let mut texts: Vec<(Str, String)> = original.inputs.inputs.iter().map(|input| (input.name.clone(), input.text.to_string())).collect();
    for object in original.objects.iter().filter(|object| object.parent.is_none() && is_left_out(object)) {
        let Some(span) = object.document.spans.get(object.root.id) else { continue };
        let at = object.source.offset as usize;
        let range = at + span.value.start as usize..at + span.value.end as usize;
        let Some((_, text)) = texts.get_mut(object.source.source.0 as usize) else { continue };
        let Some(old) = text.get(range.clone()) else { continue };
        let blank: String = old.chars().enumerate().map(|(at, c)| if c == '\n' { c } else { "null".chars().nth(at).unwrap_or(' ') }).collect();
        // Characters of several bytes became one.
        let blank = format!("{blank}{}", " ".repeat(old.len() - blank.len()));
        text.replace_range(range, &blank);
    }
    texts.into_iter().map(|(name, text)| Input { name, text: text.into() }).collect()
}

/// Services by namespace and name, with their ports.
type Services = BTreeMap<(String, String), BTreeSet<i64>>;

/// Returns the Services that the new objects refer to and the input lacks.
fn missing(original: &Compilation, conversion: &Conversion) -> Services {
    let mut out = Services::new();
    for object in &conversion.objects {
        let namespace = object.get("metadata").and_then(|metadata| metadata.get("namespace")).and_then(Node::as_str).unwrap_or("default");
        let mut open = Vec::from([object]);
        while let Some(node) = open.pop() {
            for name in ["services", "backendRefs"] {
                for of in node.get(name).and_then(Node::as_array).into_iter().flatten() {
                    let own = of.get("namespace").and_then(Node::as_str).unwrap_or(namespace);
                    if let (Some(name), Some(port)) = (of.get("name").and_then(Node::as_str), of.get("port").and_then(Node::as_i64)) {
                        out.entry((own.to_string(), name.to_string())).or_default().insert(port);
                    }
                }
            }
            open.extend(node.as_object().into_iter().flat_map(|members| members.iter().map(|entry| &entry.value)));
            open.extend(node.as_array().into_iter().flatten());
        }
    }
    for object in original.objects.iter().filter(|object| object.key.kind == "Service" && object.key.group.is_empty()) {
        let namespace = object.key.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        out.remove(&(namespace.to_string(), object.key.name.to_string()));
    }
    out
}

fn service(((namespace, name), ports): (&(String, String), &BTreeSet<i64>)) -> String {
    let ports: Vec<String> = ports.iter().map(|port| format!("{{name: p{port}, port: {port}}}")).collect();
    format!("---\napiVersion: v1\nkind: Service\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {{ports: [{}]}}\n", ports.join(", "))
}

/// Returns `NAMESPACE/NAME:PORT` from the only address of a cluster.
pub(super) fn service_of_address(cluster: &pb::cluster::Cluster, namespace: &str) -> Option<String> {
    let hosts = cluster.load_assignment.as_ref()?.endpoints.iter().flat_map(|locality| &locality.lb_endpoints);
    let all: Vec<String> = hosts.filter_map(chancery_envoy::simulate::endpoint_address).collect();
    let [one] = all.as_slice() else { return None };
    let target = Target::parse(one, namespace).filter(|target| !target.outside)?;
    Some(format!("{}/{}:{}", target.namespace, target.name, target.port))
}

/// Returns `NAMESPACE/NAME:PORT` from the name that Contour gives a cluster.
pub(super) fn service_of_name(cluster: &pb::cluster::Cluster) -> Option<String> {
    let mut parts = cluster.name.split('/');
    let (namespace, name, port) = (parts.next()?, parts.next()?, parts.next()?);
    port.parse::<u16>().ok().map(|port| format!("{namespace}/{name}:{port}"))
}
