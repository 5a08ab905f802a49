//! Finds the namespaces in which a kind may be read. Does not read objects; see `follow`.
//!
//! If a kind may not be read everywhere, the rules of each namespace are requested. There may be thousands of
//! namespaces, so each request is for all kinds, and only some run at a time. With more namespaces, requests repeat less
//! often.

use super::access::{Place, ServedKind};
use super::reason::unreachable;
use super::settings::Settings;
use futures_util::{StreamExt, TryStreamExt};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec, SelfSubjectRulesReview, SelfSubjectRulesReviewSpec,
    SubjectRulesReviewStatus,
};
use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, ListParams, PostParams};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The number of concurrent requests.
const AT_A_TIME: usize = 16;
/// How long the rules stay valid, per namespace.
const PER_NAMESPACE: Duration = Duration::from_millis(100);
/// The shortest time that the rules stay valid.
const LEAST: Duration = Duration::from_secs(9);

/// The verbs that the follower needs.
const VERBS: [&str; 2] = ["list", "watch"];

/// Our permissions, as last requested.
#[derive(Debug, Default)]
pub struct Permissions {
    /// The rules of each namespace.
    rules: BTreeMap<String, SubjectRulesReviewStatus>,
    known: Option<Instant>,
}

impl Permissions {
    /// Returns the places where a kind may be read.
    ///
    /// # Errors
    ///
    /// The server does not answer. The message contains the reason.
    pub async fn places(&mut self, client: &Client, found: &ServedKind, settings: &Settings, default_namespace: &str) -> Result<Vec<Place>, String> {
        let everywhere = settings.namespace.as_deref().filter(|_| found.namespaced);
        if may(client, found, everywhere).await? {
            return Ok(vec![everywhere.map_or(Place::All, |namespace| Place::In(namespace.to_owned()))]);
        }
        if !found.namespaced || settings.namespace.is_some() {
            return Ok(Vec::new());
        }
        self.ask(client, default_namespace).await?;
        let mut out = Vec::new();
        for (namespace, rules) in &self.rules {
            // If the server does not know all rules, this kind is checked separately.
            if allows(rules, found) || (rules.incomplete && may(client, found, Some(namespace)).await?) {
                out.push(Place::In(namespace.clone()));
            }
        }
        Ok(out)
    }

    /// Requests the rules of all namespaces, unless the known rules are still valid.
    async fn ask(&mut self, client: &Client, default_namespace: &str) -> Result<(), String> {
        let lasts = LEAST.max(PER_NAMESPACE * u32::try_from(self.rules.len()).unwrap_or(u32::MAX));
        if self.known.is_some_and(|known| known.elapsed() < lasts) {
            return Ok(());
        }
        let mut names: BTreeSet<String> = BTreeSet::from([default_namespace.to_owned()]);
        // Without the permission to list namespaces, only our own namespace is checked.
        if let Ok(all) = Api::<Namespace>::all(client.clone()).list_metadata(&ListParams::default()).await {
            names.extend(all.items.into_iter().filter_map(|namespace| namespace.metadata.name));
        }
        let rules = futures_util::stream::iter(names).map(|name| rules(client, name)).buffer_unordered(AT_A_TIME);
        self.rules = rules.try_collect().await?;
        self.known = Some(Instant::now());
        Ok(())
    }
}

/// Returns our rules in a namespace.
async fn rules(client: &Client, namespace: String) -> Result<(String, SubjectRulesReviewStatus), String> {
    let spec = SelfSubjectRulesReviewSpec { namespace: Some(namespace.clone()) };
    let review = SelfSubjectRulesReview { spec, ..SelfSubjectRulesReview::default() };
    let api: Api<SelfSubjectRulesReview> = Api::all(client.clone());
    let answer = api.create(&PostParams::default(), &review).await.map_err(|error| unreachable(&error))?;
    Ok((namespace, answer.status.unwrap_or_default()))
}

/// Whether rules allow following a kind: all of its objects, not only named objects.
fn allows(rules: &SubjectRulesReviewStatus, found: &ServedKind) -> bool {
    let has = |all: Option<&Vec<String>>, wanted: &str| all.is_some_and(|all| all.iter().any(|one| one == "*" || one == wanted));
    VERBS.iter().all(|verb| {
        rules.resource_rules.iter().any(|rule| {
            rule.resource_names.as_ref().is_none_or(Vec::is_empty)
                && rule.verbs.iter().any(|one| one == "*" || one == verb)
                && has(rule.api_groups.as_ref(), &found.resource.group)
                && has(rule.resources.as_ref(), &found.resource.plural)
        })
    })
}

/// Whether a kind may be followed in a namespace, or everywhere.
async fn may(client: &Client, found: &ServedKind, namespace: Option<&str>) -> Result<bool, String> {
    for verb in VERBS {
        let attributes = ResourceAttributes {
            group: Some(found.resource.group.clone()),
            resource: Some(found.resource.plural.clone()),
            namespace: namespace.map(str::to_owned),
            verb: Some(verb.into()),
            ..ResourceAttributes::default()
        };
        let review = SelfSubjectAccessReview {
            spec: SelfSubjectAccessReviewSpec { resource_attributes: Some(attributes), ..SelfSubjectAccessReviewSpec::default() },
            ..SelfSubjectAccessReview::default()
        };
        let api: Api<SelfSubjectAccessReview> = Api::all(client.clone());
        let answer = api.create(&PostParams::default(), &review).await.map_err(|error| unreachable(&error))?;
        if !answer.status.is_some_and(|status| status.allowed) {
            return Ok(false);
        }
    }
    Ok(true)
}
