//! Finds the kinds that the server has, and describes missing permissions. Does not request permissions; see
//! `permissions`.

use super::reason::unreachable;
use chancery_core::dialect;
use kube::Client;
use kube::api::{Api, DynamicObject, TypeMeta};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher;
use std::collections::BTreeMap;

/// A kind of the kinds tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedKind {
    /// The API group. Empty for Kubernetes' core group.
    pub group: String,
    pub kind: String,
    /// The plural, if the table has it.
    pub plural: Option<String>,
    /// The versions that this program reads, the oldest first.
    versions: Vec<String>,
}

impl WatchedKind {
    /// Returns the name in events, such as `HTTPProxy.projectcontour.io`.
    #[must_use]
    pub fn name(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }
}

/// Returns the kinds of the tables, each name once. With a dialect, returns only its kinds.
#[must_use]
pub fn wanted(asked: Option<&str>) -> Vec<WatchedKind> {
    let mut out: Vec<WatchedKind> = Vec::new();
    for of in dialect::ALL.iter().filter(|of| asked.is_none_or(|asked| asked == of.name)) {
        // Kubernetes kinds begin with a capital letter. Consul's own entries do not, so they are skipped.
        for listed in (of.listing)().into_iter().filter(|listed| listed.name.starts_with(|c: char| c.is_ascii_uppercase())) {
            let versions: Vec<String> = listed.versions.iter().map(|version| version.rsplit('/').next().unwrap_or(version).to_owned()).collect();
            match out.iter_mut().find(|known| known.kind == listed.name && known.group == listed.group) {
                Some(known) => {
                    let new = versions.into_iter().filter(|version| !known.versions.contains(version)).collect::<Vec<_>>();
                    known.versions.extend(new);
                }
                None => {
                    out.push(WatchedKind { group: listed.group.into(), kind: listed.name.into(), plural: listed.plural.map(str::to_owned), versions })
                }
            }
        }
    }
    out
}

/// A kind that the server has.
#[derive(Clone, Debug)]
pub struct ServedKind {
    pub(super) resource: ApiResource,
    pub(super) namespaced: bool,
}

/// The place where a kind is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// All namespaces.
    All,
    /// One namespace.
    In(String),
}

impl ServedKind {
    /// Returns the API of the kind in a place.
    pub fn api(&self, client: &Client, place: &Place) -> Api<DynamicObject> {
        match place {
            Place::All => Api::all_with(client.clone(), &self.resource),
            Place::In(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource),
        }
    }

    /// Returns the type fields of its objects.
    pub fn types(&self) -> TypeMeta {
        TypeMeta { api_version: self.resource.api_version.clone(), kind: self.resource.kind.clone() }
    }

    /// Returns the settings of the watch. Helm releases and tokens are Secrets that no gateway refers to, and many of
    /// them are large.
    pub fn watch_config(&self, selector: Option<&str>) -> watcher::Config {
        let config = watcher::Config::default();
        let config = match selector {
            Some(selector) if !self.resource.group.is_empty() => config.labels(selector),
            _ => config,
        };
        if self.resource.kind == "Secret" && self.resource.group.is_empty() {
            return config.fields("type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token");
        }
        config
    }

    /// Describes the missing rule, as in a ClusterRole or Role.
    pub fn missing_rule(&self, namespace: Option<&str>) -> String {
        let (group, plural) = (&self.resource.group, &self.resource.plural);
        let place = namespace.map(|namespace| format!(" in the namespace {namespace}")).unwrap_or_default();
        format!("may not be read{place}; the rule that is missing: apiGroups: [\"{group}\"], resources: [\"{plural}\"], verbs: [get, list, watch]")
    }
}

/// Finds the wanted kinds that the server has, by name. If several versions exist, the newest that this program reads
/// wins.
pub async fn discover(client: &Client, wanted: &[WatchedKind]) -> Result<BTreeMap<String, Option<ServedKind>>, String> {
    let groups = client.list_api_groups().await.map_err(|error| unreachable(&error))?;
    let served: BTreeMap<&str, Vec<&str>> =
        groups.groups.iter().map(|group| (group.name.as_str(), group.versions.iter().map(|of| of.version.as_str()).collect())).collect();
    // The resources of each version of each group, requested once.
    let mut lists = BTreeMap::new();
    let mut out = BTreeMap::new();
    for kind in wanted {
        let mut found = None;
        // For kinds of other owners the tables may name no versions. Then the server's first version with the kind wins.
        let of_server = || served.get(&*kind.group).into_iter().flatten().rev().map(|version| (*version).to_owned()).collect();
        let versions: Vec<String> = match (kind.versions.is_empty(), kind.group.is_empty()) {
            (false, _) => kind.versions.clone(),
            (true, true) => vec!["v1".into()],
            (true, false) => of_server(),
        };
        for version in versions.iter().rev() {
            let has_version =
                if kind.group.is_empty() { version == "v1" } else { served.get(&*kind.group).is_some_and(|of| of.contains(&&**version)) };
            if !has_version {
                continue;
            }
            let key = (kind.group.clone(), version.clone());
            if !lists.contains_key(&key) {
                let listed = if kind.group.is_empty() {
                    client.list_core_api_resources(version).await
                } else {
                    client.list_api_group_resources(&format!("{}/{version}", kind.group)).await
                };
                // A group that is half broken is requested again next time. It hides no other group.
                lists.insert(key.clone(), listed.map(|list| list.resources).unwrap_or_default());
            }
            let of_kind = lists.get(&key).into_iter().flatten().find(|of| of.kind == kind.kind && !of.name.contains('/'));
            if let Some(of) = of_kind {
                let mut resource = ApiResource::from_gvk(&GroupVersionKind::gvk(&kind.group, version, &kind.kind));
                resource.plural.clone_from(&of.name);
                found = Some(ServedKind { resource, namespaced: of.namespaced });
                break;
            }
        }
        out.insert(kind.name(), found);
    }
    Ok(out)
}

/// Describes the permissions, if only some namespaces may be read.
pub fn partial(found: &ServedKind, places: &[Place], namespace: Option<&str>) -> Option<String> {
    if namespace.is_some() || places.contains(&Place::All) {
        return None;
    }
    let names: Vec<&str> = places.iter().filter_map(|place| if let Place::In(name) = place { Some(name.as_str()) } else { None }).collect();
    Some(format!("partial: read in {} only; elsewhere it {}", names.join(", "), found.missing_rule(None)))
}
