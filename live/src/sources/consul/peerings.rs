//! Reads the peers of the cluster, and reports that their services are not served. Consul's API does not give the CAs of
//! peers, so no proxy could trust them.

use super::Reader;
use super::connect::Trouble;
use super::query::Query;
use crate::event::SourceState;
use serde::Deserialize;
use std::time::Duration;

/// The longest age of the list.
const FRESH: Duration = Duration::from_secs(60);
/// The name of this part.
const PART: &str = "peerings";

/// One of `/v1/peerings`
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Peering {
    name: String,
    stream_status: Option<Stream>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Stream {
    imported_services: Option<Vec<String>>,
}

/// Reports the services of peers that are not served.
pub(super) async fn run(reader: Reader) {
    let mut query = Query::new(reader.client.clone(), "/v1/peerings".into()).within(FRESH);
    loop {
        match query.next().await {
            Ok(answer) => {
                let all: Vec<Peering> = serde_json::from_slice::<Option<Vec<Peering>>>(&answer.body).unwrap_or_default().unwrap_or_default();
                match missing(&all) {
                    Some(detail) => reader.outlet.state(PART, SourceState::Missing, Some(detail)),
                    None => reader.healthy(PART, answer.is_filtered, "peering = \"read\""),
                }
            }
            // A cluster without peering has no peers.
            Err(Trouble::Unknown(_) | Trouble::Forbidden(_)) => reader.outlet.state(PART, SourceState::Synced, None),
            Err(trouble) => reader.trouble(PART, &trouble, "peering = \"read\""),
        }
    }
}

/// Describes the services that proxies cannot reach.
fn missing(all: &[Peering]) -> Option<String> {
    let imports = all.iter().filter_map(|peering| {
        let services = peering.stream_status.as_ref()?.imported_services.as_ref().filter(|services| !services.is_empty())?;
        Some(format!("{} of the peer {}", services.join(", "), peering.name))
    });
    let imports: Vec<String> = imports.collect();
    let what = imports.join("; ");
    (!imports.is_empty()).then(|| format!("not served: {what}; Consul's API does not return the CAs of peers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peerings_report_only_imported_services() {
        let of = |text: &str| missing(&serde_json::from_str::<Vec<Peering>>(text).expect("peerings"));
        assert_eq!(of("[]"), None);
        assert_eq!(of(r#"[{"Name": "cloud", "StreamStatus": {"ImportedServices": null, "ExportedServices": ["web"]}}]"#), None);
        let found = of(r#"[{"Name": "cloud", "StreamStatus": {"ImportedServices": ["api", "db"]}}, {"Name": "edge"}]"#).expect("a state");
        assert!(found.starts_with("not served: api, db of the peer cloud;"), "{found}");
    }
}
