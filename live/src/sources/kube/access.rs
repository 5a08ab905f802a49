//! Finds the kinds that the server has, and describes missing permissions. Does not ask for permissions; see `permissions`.

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
    /// Its API group; empty for Kubernetes' own first one.
    pub group: String,
    /// Its name.
    pub kind: String,
    /// Its plural, where the table has it.
    pub plural: Option<String>,
    /// The versions that we read, the oldest first.
    versions: Vec<String>,
}

impl WatchedKind {
    /// As events name it: `HTTPProxy.projectcontour.io`.
    #[must_use]
    pub fn name(&self) -> String {
        if self.group.is_empty() { self.kind.clone() } else { format!("{}.{}", self.kind, self.group) }
    }
}

/// The kinds of the tables, one of a name; only those of a dialect where one is asked for.
#[must_use]
pub fn wanted(asked: Option<&str>) -> Vec<WatchedKind> {
    let mut out: Vec<WatchedKind> = Vec::new();
    for of in dialect::ALL.iter().filter(|of| asked.is_none_or(|asked| asked == of.name)) {
        // Entries that only Consul itself has are no kinds of Kubernetes, whose names begin with a capital.
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

/// Where a kind is read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Everywhere.
    All,
    /// In this namespace.
    In(String),
}

impl ServedKind {
    /// What reads it there.
    pub fn api(&self, client: &Client, place: &Place) -> Api<DynamicObject> {
        match place {
            Place::All => Api::all_with(client.clone(), &self.resource),
            Place::In(namespace) => Api::namespaced_with(client.clone(), namespace, &self.resource),
        }
    }

    /// What its objects say of themselves.
    pub fn types(&self) -> TypeMeta {
        TypeMeta { api_version: self.resource.api_version.clone(), kind: self.resource.kind.clone() }
    }

    /// How it is watched. Releases of Helm and tokens are Secrets that no gateway refers to, and many of them are large.
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

    /// The rule that is missing, as a ClusterRole or Role would have it.
    pub fn missing_rule(&self, namespace: Option<&str>) -> String {
        let (group, plural) = (&self.resource.group, &self.resource.plural);
        let place = namespace.map(|namespace| format!(" in the namespace {namespace}")).unwrap_or_default();
        format!("may not be read{place}; the rule that is missing: apiGroups: [\"{group}\"], resources: [\"{plural}\"], verbs: [get, list, watch]")
    }
}

/// What of the wanted kinds the server has, by name. Of several versions it is the newest that we read.
pub async fn discover(client: &Client, wanted: &[WatchedKind]) -> Result<BTreeMap<String, Option<ServedKind>>, String> {
    let groups = client.list_api_groups().await.map_err(|error| unreachable(&error))?;
    let served: BTreeMap<&str, Vec<&str>> =
        groups.groups.iter().map(|group| (group.name.as_str(), group.versions.iter().map(|of| of.version.as_str()).collect())).collect();
    // What each version of each group has, asked once.
    let mut lists = BTreeMap::new();
    let mut out = BTreeMap::new();
    for kind in wanted {
        let mut found = None;
        // Of kinds that are not the dialect's own, the tables need not say versions: then it is the server's first that has them.
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
                // A group that is half broken is asked again next time; it hides no other.
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

/// What is to be said where only a part may be read.
pub fn partial(found: &ServedKind, places: &[Place], namespace: Option<&str>) -> Option<String> {
    if namespace.is_some() || places.contains(&Place::All) {
        return None;
    }
    let names: Vec<&str> = places.iter().filter_map(|place| if let Place::In(name) = place { Some(name.as_str()) } else { None }).collect();
    Some(format!("partial: read in {} only; elsewhere it {}", names.join(", "), found.missing_rule(None)))
}
