//! Reads the configuration of a running Envoy, or a bootstrap: the answer of `/config_dump` on its admin interface, as JSON or YAML.
//!
//! The configuration is what the Envoy has accepted. Resources that are still warming are listed separately, and so are rejected updates with their
//! reason. Messages of unknown types are kept and their types are listed.
//!
//! Does not query an Envoy or compare configurations; see `explain::compare`.

use super::{Clusters, EnvoyConfig, Placed};
use crate::emit::pb::{self, Any, admin, bootstrap::Bootstrap};
use alloc::borrow::{Cow, ToOwned};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::redact::{Redactor, credentials_of};
use chancery_envoy_api::json::{self, Problem, ProblemKind};
use chancery_text::{Limits, parse, parse_fully, to_json};

/// The state of a running Envoy.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// The configuration in use.
    pub config: EnvoyConfig,
    /// Its version, if it reports one.
    pub envoy_version: Option<String>,
    /// The last accepted version of each kind of resource from management servers.
    pub accepted: Vec<Accepted>,
    /// Rejected updates.
    pub refused: Vec<Refused>,
    /// Resources that are not in use yet: kind and name.
    pub warming: Vec<(&'static str, String)>,
    /// Unknown message types, each once. Their messages are kept without being interpreted.
    pub unknown_types: Vec<String>,
    /// Fields that did not fit the messages of this version and were left out.
    pub misfits: Vec<String>,
    /// Its credentials, which outputs must not contain.
    pub redactor: Redactor,
    /// Whether endpoints are included: `/config_dump` has them only with `include_eds`.
    pub has_endpoints: bool,
    /// Sections that every complete `/config_dump` has and this one lacks: only a part was requested, or it was cut.
    pub missing: Vec<&'static str>,
}

/// A version that an Envoy accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Accepted {
    /// `listener`, `cluster`...
    pub kind: &'static str,
    /// The version, as the management server named it.
    pub version: String,
    /// How many resources have this version.
    pub count: usize,
}

/// An update that an Envoy rejected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Refused {
    /// `listener`, `cluster`...
    pub kind: &'static str,
    pub name: String,
    /// The rejected version.
    pub version: String,
    /// Envoy's message.
    pub details: String,
    /// The time in seconds since 1970.
    pub at: Option<i64>,
}

impl Running {
    /// Whether a text is a dump of a running Envoy, or a bootstrap, as JSON.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.trim_start().starts_with('{') && top_level(text).is_ok_and(|names| names.contains("configs") || names.contains("static_resources"))
    }

    /// Whether a text begins like a dump in JSON.
    #[must_use]
    pub fn begins_like_one(text: &str) -> bool {
        let Some(inside) = text.trim_start().strip_prefix('{') else { return false };
        ["\"configs\"", "\"static_resources\""].iter().any(|name| inside.trim_start().starts_with(name))
    }

    /// Reads a dump or a bootstrap.
    ///
    /// # Errors
    ///
    /// Why it is neither, as the end of a sentence that names it.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = as_json(text)?;
        let keys = top_level(&text)?;
        let has = |key: &str| keys.contains(key);
        let mut running = Self { redactor: redactor(&text), ..Self::default() };
        if has("configs") {
            let read = json::from_str::<admin::ConfigDump>(&text).map_err(|error| format!("is truncated or broken {error}"))?;
            running.problems(&read.problems);
            running.dump(read.message);
        } else if ["static_resources", "dynamic_resources", "admin", "node", "staticResources", "dynamicResources"].into_iter().any(has) {
            let read = json::from_str::<Bootstrap>(&text).map_err(|error| format!("is truncated or broken {error}"))?;
            running.problems(&read.problems);
            running.has_endpoints = true;
            running.bootstrap(read.message);
        } else {
            return Err("is neither the answer of Envoy's /config_dump nor a bootstrap: it has neither `configs` nor `static_resources`".into());
        }
        Ok(running)
    }

    fn problems(&mut self, problems: &[Problem]) {
        let mut types = BTreeSet::new();
        for problem in problems {
            match problem.kind {
                ProblemKind::UnknownType => {
                    // The problem quotes the type's name.
                    types.insert(problem.message.split('"').nth(1).unwrap_or(&problem.message).to_owned());
                }
                _ => self.misfits.push(problem.to_string()),
            }
        }
        self.unknown_types.extend(types);
    }

    fn bootstrap(&mut self, bootstrap: Bootstrap) {
        self.envoy_version = bootstrap.node.as_ref().and_then(version);
        self.config = EnvoyConfig::of_bootstrap(bootstrap);
    }

    fn dump(&mut self, dump: admin::ConfigDump) {
        let mut parts: Vec<(usize, Any)> = dump.configs.into_iter().enumerate().collect();
        // The bootstrap comes first, so that the other sections override it.
        parts.sort_by_key(|(_, part)| !part.is::<admin::BootstrapConfigDump>());
        let has_listeners = parts.iter().any(|(_, part)| part.is::<admin::ListenersConfigDump>());
        let has_clusters = parts.iter().any(|(_, part)| part.is::<admin::ClustersConfigDump>());
        self.missing.extend((!has_listeners).then_some("listeners"));
        self.missing.extend((!has_clusters).then_some("clusters"));
        for (at, part) in parts {
            let pointer = format!("/configs/{at}");
            if let Some(found) = unpack::<admin::BootstrapConfigDump>(&part) {
                self.bootstrap(found.bootstrap.unwrap_or_default());
                // The dumped bootstrap includes settings from Envoy's command line.
                self.config.settings = None;
                let list = |name: &str| format!("{pointer}/bootstrap/static_resources/{name}");
                place(&mut self.config.listeners, &list("listeners"));
                place(self.config.clusters.all_mut(), &list("clusters"));
                place(&mut self.config.secrets, &list("secrets"));
            } else if let Some(found) = unpack::<admin::ListenersConfigDump>(&part) {
                self.listeners(found, &pointer);
            } else if let Some(found) = unpack::<admin::ClustersConfigDump>(&part) {
                self.clusters(found, &pointer);
            } else if let Some(found) = unpack::<admin::RoutesConfigDump>(&part) {
                self.routes(found, &pointer);
            } else if let Some(found) = unpack::<admin::EndpointsConfigDump>(&part) {
                self.endpoints(found, &pointer);
            } else if let Some(found) = unpack::<admin::SecretsConfigDump>(&part) {
                self.secrets(found, &pointer);
            } else if part.message().is_none() {
                self.unknown_types.push(part.type_name().to_owned());
            }
        }
        self.refused.sort();
        self.accepted.sort();
        self.unknown_types.sort();
        self.unknown_types.dedup();
    }

    fn accept(&mut self, kind: &'static str, version: &str) {
        if version.is_empty() {
            return;
        }
        match self.accepted.iter_mut().find(|known| known.kind == kind && known.version == version) {
            Some(known) => known.count += 1,
            None => self.accepted.push(Accepted { kind, version: version.into(), count: 1 }),
        }
    }

    fn refuse(&mut self, kind: &'static str, name: &str, state: Option<admin::UpdateFailureState>) {
        if let Some(state) = state {
            let at = state.last_update_attempt.map(|at| at.seconds);
            self.refused.push(Refused { kind, name: name.into(), version: state.version_info, details: state.details, at });
        }
    }

    fn listeners(&mut self, dump: admin::ListenersConfigDump, pointer: &str) {
        self.config.listeners.clear();
        let one = |of: Option<Any>, pointer: String| of.and_then(|of| unpack(&of)).map(|message| Placed::new(message, pointer));
        for (at, of) in dump.static_listeners.into_iter().enumerate() {
            self.config.listeners.extend(one(of.listener, format!("{pointer}/static_listeners/{at}/listener")));
        }
        for (at, of) in dump.dynamic_listeners.into_iter().enumerate() {
            let pointer = format!("{pointer}/dynamic_listeners/{at}");
            if let Some(state) = of.active_state {
                self.accept("listener", &state.version_info);
                self.config.listeners.extend(one(state.listener, format!("{pointer}/active_state/listener")));
            }
            if of.warming_state.is_some() {
                self.warming.push(("listener", of.name.clone()));
            }
            self.refuse("listener", &of.name, of.error_state);
        }
    }

    fn clusters(&mut self, dump: admin::ClustersConfigDump, pointer: &str) {
        self.config.clusters = Clusters::default();
        let one = |of: Option<Any>, pointer: String| of.and_then(|of| unpack(&of)).map(|message| Placed::new(message, pointer));
        for (at, of) in dump.static_clusters.into_iter().enumerate() {
            self.config.clusters.extend(one(of.cluster, format!("{pointer}/static_clusters/{at}/cluster")));
        }
        for (at, of) in dump.dynamic_active_clusters.into_iter().enumerate() {
            self.accept("cluster", &of.version_info);
            let placed = one(of.cluster, format!("{pointer}/dynamic_active_clusters/{at}/cluster"));
            let name = placed.as_ref().map(|placed: &Placed<pb::cluster::Cluster>| placed.message.name.clone());
            self.config.clusters.extend(placed);
            self.refuse("cluster", &name.unwrap_or_default(), of.error_state);
        }
        for of in dump.dynamic_warming_clusters {
            let cluster: Option<pb::cluster::Cluster> = of.cluster.and_then(|of| unpack(&of));
            let name = cluster.map(|cluster| cluster.name).unwrap_or_default();
            self.refuse("cluster", &name, of.error_state);
            self.warming.push(("cluster", name));
        }
    }

    /// Static tables are already in their connection managers.
    fn routes(&mut self, dump: admin::RoutesConfigDump, pointer: &str) {
        for (at, of) in dump.dynamic_route_configs.into_iter().enumerate() {
            self.accept("route table", &of.version_info);
            let table: Option<pb::route::RouteConfiguration> = of.route_config.and_then(|of| unpack(&of));
            self.refuse("route table", table.as_ref().map_or("", |table| &table.name), of.error_state);
            self.config.routes.extend(table.map(|table| Placed::new(table, format!("{pointer}/dynamic_route_configs/{at}/route_config"))));
        }
    }

    /// Static endpoints are already in their clusters.
    fn endpoints(&mut self, dump: admin::EndpointsConfigDump, pointer: &str) {
        self.has_endpoints = true;
        for (at, of) in dump.dynamic_endpoint_configs.into_iter().enumerate() {
            self.accept("endpoints", &of.version_info);
            let found: Option<pb::endpoint::ClusterLoadAssignment> = of.endpoint_config.and_then(|of| unpack(&of));
            self.refuse("endpoints", found.as_ref().map_or("", |found| &found.cluster_name), of.error_state);
            self.config.endpoints.extend(found.map(|found| Placed::new(found, format!("{pointer}/dynamic_endpoint_configs/{at}/endpoint_config"))));
        }
    }

    fn secrets(&mut self, dump: admin::SecretsConfigDump, pointer: &str) {
        self.config.secrets.clear();
        let one = |of: Option<Any>, pointer: String| of.and_then(|of| unpack(&of)).map(|message| Placed::new(message, pointer));
        for (at, of) in dump.static_secrets.into_iter().enumerate() {
            self.config.secrets.extend(one(of.secret, format!("{pointer}/static_secrets/{at}/secret")));
        }
        for (at, of) in dump.dynamic_active_secrets.into_iter().enumerate() {
            self.accept("secret", &of.version_info);
            self.config.secrets.extend(one(of.secret, format!("{pointer}/dynamic_active_secrets/{at}/secret")));
            self.refuse("secret", &of.name, of.error_state);
        }
        for of in dump.dynamic_warming_secrets {
            self.refuse("secret", &of.name, of.error_state);
            self.warming.push(("secret", of.name));
        }
    }
}

/// Returns the message if it has the expected type.
fn unpack<M: Clone + 'static>(any: &Any) -> Option<M> {
    any.downcast_ref().cloned()
}

/// Sets the pointers of a list's elements.
fn place<T>(all: &mut [Placed<T>], list: &str) {
    all.iter_mut().enumerate().for_each(|(at, placed)| placed.pointer = format!("{list}/{at}"));
}

fn version(node: &pb::base::Node) -> Option<String> {
    use pb::base::node::UserAgentVersionType;
    match node.user_agent_version_type.as_ref()? {
        UserAgentVersionType::UserAgentVersion(version) => Some(version.clone()),
        UserAgentVersionType::UserAgentBuildVersion(build) => {
            build.version.as_ref().map(|version| format!("{}.{}.{}", version.major_number, version.minor_number, version.patch))
        }
    }
}

/// Returns the text as JSON; YAML is read as Envoy reads it.
fn as_json(text: &str) -> Result<Cow<'_, str>, String> {
    if text.trim_start().starts_with('{') {
        return Ok(Cow::Borrowed(text));
    }
    let limits = Limits { max_nodes: u32::MAX, max_bytes: u32::MAX, ..Limits::default() };
    let document = parse_fully(text, &limits);
    let node = document.root.filter(|node| node.as_object().is_some()).ok_or("is neither a JSON nor a YAML object")?;
    Ok(Cow::Owned(to_json(&node, false)))
}

/// Returns the top-level keys, including those of a truncated text.
fn top_level(text: &str) -> Result<BTreeSet<String>, String> {
    struct Names(BTreeSet<String>);
    impl<'de> serde::Deserialize<'de> for Names {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Visitor;
            impl<'de> serde::de::Visitor<'de> for Visitor {
                type Value = Names;
                fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Names, A::Error> {
                    let mut names = BTreeSet::new();
                    while let Some(name) = map.next_key::<String>()? {
                        names.insert(name);
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                    Ok(Names(names))
                }
            }
            deserializer.deserialize_map(Visitor)
        }
    }
    let Names(names) = serde_json::from_str(text).map_err(|error| format!("is truncated or broken: {error}"))?;
    Ok(names)
}

/// Collects the credentials of a JSON text.
fn redactor(text: &str) -> Redactor {
    let limits = Limits { max_nodes: u32::MAX, max_bytes: u32::MAX, ..Limits::default() };
    let credentials = parse(text, &limits).root.map(|mut root| credentials_of(&mut root)).unwrap_or_default();
    Redactor::new(credentials.iter().map(|value| value.as_str()))
}
