//! Applies the Helm chart to a real API server. Three replicas run with its permissions, and another one takes over from a killed
//! leader.
//!
//! Does not lint the chart; see `packaging`.

use super::support::Cluster;
use super::{Replica, apply, mapping, until_state};
use chancery_live::event::{Event, SourceState};
use chancery_live::install::LEASE;
use chancery_live::sources::kube::Settings as Which;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The chart's objects with these values, or `None` without Helm. CI must have Helm.
fn rendered(values: &str) -> Option<String> {
    let helm = std::env::var_os("CHANCERY_HELM").unwrap_or_else(|| "helm".into());
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/helm/chancery");
    let mut command = Command::new(helm);
    command.args(["template", "chancery"]).arg(chart).args(["-n", "gateway", "--kube-version", "1.34.4", "--set", values]);
    let Ok(output) = command.output() else {
        assert!(std::env::var_os("CI").is_none(), "there is no Helm, and this is CI");
        eprintln!("\n*** SKIPPED: the chart is not applied, as there is no Helm ***\n");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).ok()
}

pub async fn three_replicas_of_chart_survive_killed_leader(cluster: &Cluster) {
    let Some(objects) = rendered("dialect=ambassador,writeStatus=true,replicas=3") else { return };
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "gateway"}})).await;
    apply(cluster, objects.trim_start_matches("---\n")).await;
    let which = Which { kubeconfig: Some(cluster.account("gateway", "chancery")), ..Which::default() };
    let names = ["one", "two", "three"];
    let mut replicas: Vec<(&str, Replica)> = names.iter().map(|name| (*name, Replica::start(&which, name))).collect();
    let version = replicas[0].1.version().await;
    for (name, replica) in &replicas {
        assert_eq!(replica.version().await, version, "{name}: all replicas serve the same configuration");
        let refused = |event: &Event| matches!(event, Event::Source { state: SourceState::Forbidden | SourceState::Error, .. });
        let refusals: Vec<Event> = replica.events.timeline().into_iter().map(|dated| dated.event).filter(refused).collect();
        assert!(refusals.is_empty(), "{name}: the chart's permissions suffice: {refusals:#?}");
    }
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE, "namespace": "gateway"}});
    let holder = async || cluster.get(&lease).await["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned();
    cluster.apply_value(&mapping("by-chart", 1000)).await;
    until_state(cluster, &mapping("by-chart", 0), "Running").await;
    let first = holder().await;
    let leader = replicas.iter().position(|(name, _)| *name == first).expect("a replica holds the lease");
    let (_, killed) = replicas.remove(leader);
    killed.task.abort();
    let begin = Instant::now();
    cluster.apply_value(&mapping("after-kill", 1000)).await;
    until_state(cluster, &mapping("after-kill", 0), "Running").await;
    let second = holder().await;
    assert!(second != first && names.contains(&second.as_str()), "{second} holds the lease after {first} was killed");
    println!("{second} took over after {} ms", begin.elapsed().as_millis());
    for name in ["by-chart", "after-kill"] {
        cluster.delete(&mapping(name, 0)).await;
    }
    for (_, replica) in replicas {
        let _ = replica.end.send(());
        assert_eq!(replica.task.await.expect("it ends"), Ok(()));
    }
}
