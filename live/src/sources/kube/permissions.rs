//! Finds the namespaces in which a kind may be read.
//!
//! If a kind may not be read everywhere, each namespace is asked for its rules. There may be thousands of namespaces, so each is asked once for all
//! kinds, some at a time, and less often the more there are.

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

/// Requests that are on their way at a time.
const AT_A_TIME: usize = 16;
/// For each namespace, what is known of all stays known for so long.
const PER_NAMESPACE: Duration = Duration::from_millis(100);
/// And at least for so long.
const LEAST: Duration = Duration::from_secs(9);

/// The verbs that following needs.
const VERBS: [&str; 2] = ["list", "watch"];

/// What we may do, as it was found last.
#[derive(Debug, Default)]
pub struct Permissions {
    /// The rules of each namespace, and since when they are known.
    rules: BTreeMap<String, SubjectRulesReviewStatus>,
    known: Option<Instant>,
}

impl Permissions {
    /// The places where a kind may be read.
    ///
    /// # Errors
    ///
    /// The server cannot be asked; says why.
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
            // Who does not know all rules is asked about this one.
            if allows(rules, found) || (rules.incomplete && may(client, found, Some(namespace)).await?) {
                out.push(Place::In(namespace.clone()));
            }
        }
        Ok(out)
    }

    /// Asks for the rules of all namespaces, unless they are known well enough.
    async fn ask(&mut self, client: &Client, default_namespace: &str) -> Result<(), String> {
        let lasts = LEAST.max(PER_NAMESPACE * u32::try_from(self.rules.len()).unwrap_or(u32::MAX));
        if self.known.is_some_and(|known| known.elapsed() < lasts) {
            return Ok(());
        }
        let mut names: BTreeSet<String> = BTreeSet::from([default_namespace.to_owned()]);
        // Whoever may not list namespaces is asked about their own only.
        if let Ok(all) = Api::<Namespace>::all(client.clone()).list_metadata(&ListParams::default()).await {
            names.extend(all.items.into_iter().filter_map(|namespace| namespace.metadata.name));
        }
        let rules = futures_util::stream::iter(names).map(|name| rules(client, name)).buffer_unordered(AT_A_TIME);
        self.rules = rules.try_collect().await?;
        self.known = Some(Instant::now());
        Ok(())
    }
}

/// What we may do in a namespace.
async fn rules(client: &Client, namespace: String) -> Result<(String, SubjectRulesReviewStatus), String> {
    let spec = SelfSubjectRulesReviewSpec { namespace: Some(namespace.clone()) };
    let review = SelfSubjectRulesReview { spec, ..SelfSubjectRulesReview::default() };
    let api: Api<SelfSubjectRulesReview> = Api::all(client.clone());
    let answer = api.create(&PostParams::default(), &review).await.map_err(|error| unreachable(&error))?;
    Ok((namespace, answer.status.unwrap_or_default()))
}

/// Whether rules allow a kind to be followed: all objects of it, not only some by name.
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
