//! Asks the agent whether a stream's token may read a proxy's configuration: the token must be allowed to write the
//! service of the proxy. Does not read requests; see `xds::token`.

use super::connect::{Client, Trouble};
use crate::lock;
use crate::xds::token::{Authorize, Verdict};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The time limit for an answer of the agent.
const PATIENCE: Duration = Duration::from_secs(15);

/// The permissions of tokens, from the followed agent. Clones share one state.
#[derive(Clone, Debug, Default)]
pub(super) struct Rights(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    client: Option<Arc<Client>>,
    /// Whether the agent has ACLs. Without ACLs every request is allowed.
    has_acls: Option<bool>,
    /// The service of each proxy, by the id of its gateway. Proxies of several nodes may have the same id.
    services: BTreeMap<String, BTreeSet<String>>,
}

/// One answer of `/v1/internal/acl/authorize`.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    allow: bool,
}

impl Rights {
    /// Sets the agent that answers.
    pub(super) fn ask(&self, client: Arc<Client>) {
        lock(&self.0).client = Some(client);
    }

    /// Sets whether the agent has ACLs, if it reports that.
    pub(super) fn set_acls(&self, has: Option<bool>) {
        lock(&self.0).has_acls = has;
    }

    /// Sets the services that proxies belong to.
    pub(super) fn set_services(&self, services: BTreeMap<String, BTreeSet<String>>) {
        lock(&self.0).services = services;
    }
}

impl Authorize for Rights {
    fn may<'a>(&'a self, token: Option<&'a str>, gateway: &'a str) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        Box::pin(async move {
            let (client, services) = {
                let known = lock(&self.0);
                // It cannot judge a gateway that does not belong to this agent.
                let Some(services) = known.services.get(gateway) else { return Verdict::Allowed };
                if known.has_acls == Some(false) {
                    return Verdict::Allowed;
                }
                let Some(client) = known.client.clone() else { return Verdict::Unknown("no Consul agent is followed yet; ask again".into()) };
                (client, services.clone())
            };
            let question: Vec<_> = services.iter().map(|service| json!({"Resource": "service", "Access": "write", "Segment": service})).collect();
            let answer = client.post("/v1/internal/acl/authorize", json!(question).to_string(), token, PATIENCE).await;
            match answer.map(|answer| serde_json::from_slice::<Vec<Answer>>(&answer.body)) {
                Ok(Ok(answers)) if answers.len() == services.len() && answers.iter().all(|answer| answer.allow) => Verdict::Allowed,
                Ok(Ok(_)) => {
                    let rules: Vec<String> = services.iter().map(|service| format!("service \"{service}\" {{ policy = \"write\" }}")).collect();
                    Verdict::Denied(format!("the token may not ask for the proxy {gateway}; the ACL rule that is missing: {}", rules.join(" ")))
                }
                Ok(Err(_)) => Verdict::Unknown("the Consul agent does not report whether the token may request this; try again".into()),
                Err(Trouble::Forbidden(said)) if said.contains("ACL support disabled") => Verdict::Allowed,
                Err(Trouble::Forbidden(_)) => Verdict::Denied(format!("the Consul agent does not know the token that asks for the proxy {gateway}")),
                Err(Trouble::Unknown(why) | Trouble::Failed(why)) => {
                    Verdict::Unknown(format!("whether the token may ask for this is not known: {why}"))
                }
            }
        })
    }
}
