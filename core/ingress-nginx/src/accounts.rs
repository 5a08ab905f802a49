//! Records in the ledger what happened to each object.
//!
//! Does not decide it; see `source` and `build`.

use super::build::Built;
use super::cluster::Cluster;
use super::config_map::Read;
use super::kinds::{self, Kind};
use super::options::Options;
use super::source::{Source, Unhandled, watches};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::compilation::{Ledger, State, Why};
use chancery_base::resource::{ObjectId, Origin};
use chancery_text::Str;
use hashbrown::{HashMap, HashSet};

/// Records the state of each object that the API server accepted.
pub fn write(cluster: &Cluster<'_>, options: &Options, read: &Read, source: &Source, built: &Built, ledger: &mut Ledger) {
    let parts = parts_by_object(source, built);
    let mut used: HashSet<ObjectId> = built.used.clone();
    used.extend(read.used.iter().copied());
    used.extend(source.classes.iter().copied());
    used.extend(named_by_annotations(cluster, source));
    let unhandled: HashMap<ObjectId, &Unhandled> = source.unhandled.iter().map(|(ingress, why)| (ingress.object, why)).collect();
    for (kind, _) in kinds::ALL {
        for held in cluster.all(*kind) {
            let id = held.object.id;
            let names = parts.get(&id).filter(|names| !names.is_empty());
            match (names, used.contains(&id)) {
                (Some(names), _) => names.iter().for_each(|name| ledger.emitted(id, name.clone())),
                (None, true) => ledger.emitted(id, Str::default()),
                (None, false) => {
                    let why = unhandled.get(&id).copied();
                    let namespace = held.namespace();
                    let is_watched = namespace.is_empty() || watches(namespace, cluster, options);
                    ledger.set(id, idle_state(*kind, why, is_watched));
                }
            }
        }
    }
}

/// Returns the names of the parts that each object generates.
fn parts_by_object(source: &Source, built: &Built) -> HashMap<ObjectId, Vec<Str>> {
    let mut parts: HashMap<ObjectId, Vec<Str>> = HashMap::new();
    let mut add = |origin: Option<Origin>, name: String| {
        if let Some(origin) = origin {
            let names = parts.entry(origin.object()).or_default();
            let name = Str::from(name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    };
    for server in &built.nginx.servers {
        let host = &server.host.value;
        for location in &server.locations {
            let origin = location.ingress.as_ref().and_then(|ingress| ingress.origin);
            add(origin, format!("{host}{}", location.path.value));
        }
        for origin in [server.aliases.origin, server.snippet.origin, server.client_certificates.secret.origin] {
            add(origin.filter(|origin| origin.object() != ObjectId::BUILT_IN), host.as_str().into());
        }
    }
    for upstream in &built.nginx.upstreams {
        upstream.alternatives.iter().for_each(|canary| add(canary.origin, format!("canary of {}", upstream.name.value)));
        let service = upstream.service.as_ref().and_then(|service| service.origin);
        add(service, upstream.name.value.as_str().into());
    }
    for counted in &source.counted {
        if !counted.settings.stream_snippet.is_empty() {
            add(Some(counted.ingress.origin), "stream".into());
        }
    }
    parts
}

/// Returns the objects that annotations of Ingresses name.
fn named_by_annotations(cluster: &Cluster<'_>, source: &Source) -> Vec<ObjectId> {
    let mut found = Vec::new();
    let mut add = |kind: Kind, key: &str| found.extend(cluster.by_key(kind, key).map(|held| held.object.id));
    for counted in &source.counted {
        let settings = &counted.settings;
        add(Kind::Secret, &settings.basic_auth.secret);
        add(Kind::Secret, &settings.client_certificates.secret);
        add(Kind::Secret, &settings.proxy_ssl.secret);
        if let Some(backend) = &settings.default_backend {
            add(Kind::Service, &backend.service);
            if let Some((namespace, name)) = backend.service.split_once('/') {
                cluster.slices(namespace, name).for_each(|slice| add(Kind::EndpointSlice, &slice.key()));
            }
        }
        for name in ["auth-proxy-set-headers", "custom-headers", "fastcgi-params-configmap"] {
            if let Ok(written) = counted.ingress.annotations.text(name) {
                let key =
                    if written.contains('/') { written.value.clone() } else { format!("{}/{}", counted.ingress.namespace, written.value).into() };
                add(Kind::ConfigMap, &key);
            }
        }
    }
    found
}

/// Returns the state of an object that generates nothing.
fn idle_state(kind: Kind, why: Option<&Unhandled>, is_watched: bool) -> State {
    if !is_watched {
        return State::Ignored(Why::NotWatched, Str::new_static("the controller does not watch its namespace"));
    }
    match (kind, why) {
        (_, Some(Unhandled::Namespace)) => State::Ignored(Why::NotWatched, Str::new_static("the controller does not watch its namespace")),
        (_, Some(Unhandled::Class(_))) => State::Ignored(Why::OtherController, Str::new_static("it does not have the class of this controller")),
        (_, Some(Unhandled::Dropped(dropped))) => State::Invalid(Str::from(format!("the controller drops it: {}", dropped.message))),
        (Kind::Ingress, None) => State::Ignored(Why::NothingInIt, Str::new_static("it generates nothing")),
        (Kind::IngressClass, None) => State::Ignored(Why::NeverReferenced, Str::new_static("no Ingress of this controller names it")),
        (Kind::Namespace, None) => State::Ignored(Why::NothingInIt, Str::new_static("no flag selects namespaces")),
        _ => State::Ignored(Why::NeverReferenced, Str::new_static("no Ingress in effect uses it")),
    }
}
