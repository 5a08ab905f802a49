//! Reads the certificates of services whose proxies are served, and follows their rotation. Does not serve them; see
//! `xds`.
//!
//! Each certificate is an input that holds a key. The key appears in no output except the responses to Envoys.

use super::query::Query;
use super::{Reader, escaped, in_datacenter};
use crate::event::SourceState;
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

/// `/v1/agent/connect/ca/leaf/SERVICE`
#[derive(Deserialize)]
struct Leaf {
    #[serde(rename = "CertPEM")]
    certificate: String,
    #[serde(rename = "PrivateKeyPEM")]
    key: String,
}

/// Follows the certificates of these services. Each certificate's datacenter becomes part of its input.
pub(super) async fn run(reader: Reader, datacenter: Option<String>, mut wanted: watch::Receiver<BTreeSet<String>>) {
    let mut tasks: JoinSet<()> = JoinSet::new();
    let mut followed: BTreeMap<String, AbortHandle> = BTreeMap::new();
    loop {
        let names = wanted.borrow_and_update().clone();
        followed.retain(|name, task| {
            let stays = names.contains(name);
            if !stays {
                task.abort();
                reader.outlet.remove(&input(name));
            }
            stays
        });
        for name in names {
            followed.entry(name.clone()).or_insert_with(|| tasks.spawn(one(reader.clone(), datacenter.clone(), name)));
        }
        // Removes aborted tasks from the list.
        while tasks.try_join_next().is_some() {}
        if wanted.changed().await.is_err() {
            // The sender of the services ends with the process.
            return std::future::pending().await;
        }
    }
}

fn input(service: &str) -> String {
    format!("consul/leaf/{service}")
}

async fn one(reader: Reader, datacenter: Option<String>, service: String) {
    let part = format!("certificate of {service}");
    let rule = format!("service \"{service}\" {{ policy = \"write\" }}");
    let path = in_datacenter(&format!("/v1/agent/connect/ca/leaf/{}", escaped(&service)), datacenter.as_deref());
    let mut query = Query::new(reader.client.clone(), path);
    loop {
        match query.next().await {
            Ok(answer) => match serde_json::from_slice::<Leaf>(&answer.body) {
                Ok(leaf) => {
                    let document = json!({"Kind": "consul-leaf", "Name": service, "CertPEM": leaf.certificate, "PrivateKeyPEM": leaf.key});
                    reader.put(&input(&service), &document);
                    reader.healthy(&part, false, &rule);
                }
                // serde's error could quote the key.
                Err(_) => reader.outlet.state(&part, SourceState::Error, Some("Consul's answer is not a certificate with its key".into())),
            },
            Err(trouble) => reader.trouble(&part, &trouble, &rule),
        }
    }
}
