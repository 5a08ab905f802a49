//! Reads the agent's own facts as one input, and the roots of its CA as another. Does not read certificates of services;
//! see `leaves`.

use super::connect::Trouble;
use super::query::Query;
use super::{Known, Reader, Ready, in_datacenter};
use crate::event::SourceState;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;

/// The longest age of the agent's facts.
const FRESH: Duration = Duration::from_secs(60);
/// The time limit for an immediate answer of the agent.
const PATIENCE: Duration = Duration::from_secs(15);
/// The rule that a token needs to read the agent's facts.
const RULE: &str = "agent_prefix \"\" { policy = \"read\" }";

/// `/v1/agent/connect/ca/roots`
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Roots {
    #[serde(default)]
    trust_domain: String,
    #[serde(default)]
    roots: Option<Vec<Root>>,
}

#[derive(Deserialize)]
struct Root {
    #[serde(rename = "RootCert", default)]
    certificate: String,
}

/// Follows the agent's facts. `wanted` is the datacenter that the user chose.
pub(super) async fn run(reader: Reader, wanted: Option<String>, known: watch::Sender<Known>, mut ready: Ready) {
    let path = in_datacenter("/v1/agent/connect/ca/roots", wanted.as_deref());
    let mut query = Query::new(reader.client.clone(), path).within(FRESH);
    loop {
        let roots = match query.next().await {
            Ok(answer) => match serde_json::from_slice::<Roots>(&answer.body) {
                Ok(roots) => Some(roots),
                Err(error) => {
                    reader.outlet.state("roots", SourceState::Error, Some(format!("Consul's answer cannot be read: {error}")));
                    continue;
                }
            },
            // Without Connect the agent has no roots, and no proxies that need them.
            Err(Trouble::Unknown(why)) => {
                reader.trouble("roots", &Trouble::Unknown(why), RULE);
                None
            }
            Err(trouble) => {
                reader.trouble("roots", &trouble, RULE);
                continue;
            }
        };
        if let Some(roots) = &roots {
            reader.healthy("roots", false, RULE);
            let all: String = roots.roots.iter().flatten().map(|root| format!("{}\n", root.certificate.trim())).collect();
            reader.put("consul/roots", &json!({"Kind": "consul-roots", "Name": "roots", "Certificates": all}));
        }
        let said = match about_itself(&reader).await {
            Ok(said) => {
                reader.healthy("agent", false, RULE);
                said
            }
            Err(trouble) => {
                reader.trouble("agent", &trouble, RULE);
                ready.say_unless_failed(&trouble);
                if !matches!(trouble, Trouble::Forbidden(_)) {
                    continue;
                }
                Value::Null
            }
        };
        let document = document(&reader, wanted.as_deref(), &said, roots.map(|roots| roots.trust_domain).unwrap_or_default()).await;
        let datacenter = document["Datacenter"].as_str().unwrap_or_default().to_owned();
        known.send_if_modified(|known| {
            let is_new = known.datacenter != datacenter;
            known.datacenter = datacenter;
            is_new
        });
        reader.put("consul/agent", &document);
        ready.say();
    }
}

async fn about_itself(reader: &Reader) -> Result<Value, Trouble> {
    let answer = reader.client.get("/v1/agent/self", PATIENCE).await?;
    serde_json::from_slice(&answer.body).map_err(|error| Trouble::Failed(format!("Consul's answer cannot be read: {error}")))
}

async fn document(reader: &Reader, wanted: Option<&str>, said: &Value, trust_domain: String) -> Value {
    let own = said["Config"]["Datacenter"].as_str().map(str::to_owned);
    let nearest = if own.is_none() && wanted.is_none() { nearest(reader).await } else { None };
    let datacenter = wanted.map(str::to_owned).or_else(|| own.clone()).or(nearest).unwrap_or_default();
    let is_own = own.as_deref() == Some(&*datacenter);
    let node = said["Config"]["NodeName"].as_str().filter(|_| is_own).unwrap_or_default();
    let access = &said["DebugConfig"]["ACLResolverSettings"];
    let access = if access.is_null() { &said["DebugConfig"] } else { access };
    // Without ACLs every request is allowed.
    let has_acls = access["ACLsEnabled"].as_bool();
    reader.rights.set_acls(has_acls);
    let denies = has_acls == Some(true) && access["ACLDefaultPolicy"].as_str() == Some("deny");
    json!({"Kind": "consul-agent", "Datacenter": datacenter, "Node": node, "TrustDomain": trust_domain, "DefaultPolicy": if denies { "deny" } else { "allow" }})
}

/// Returns the datacenter of an agent that does not report it: the first datacenter that the agent knows.
async fn nearest(reader: &Reader) -> Option<String> {
    let answer = reader.client.get("/v1/catalog/datacenters", PATIENCE).await.ok()?;
    serde_json::from_slice::<Vec<String>>(&answer.body).ok()?.into_iter().next()
}
