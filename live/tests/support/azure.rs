//! Tests an Application Gateway that follows a real API server: the informers and their permissions, statuses, the
//! Lease, and irrelevant changes.
//!
//! Does not answer as Azure; see `arm`.

#[path = "arm.rs"]
#[expect(dead_code, reason = "this suite uses a part of it")]
mod arm;

use super::support::Cluster;
use super::{STATUSES, apply, until};
use arm::{GATEWAY, SECRET, Server};
use chancery_core::compilation::Options;
use chancery_core::dialect::{self, ingress};
use chancery_live::Failure;
use chancery_live::address::Address;
use chancery_live::arm::Pace;
use chancery_live::arm::apply::Allowed;
use chancery_live::arm::client::Client;
use chancery_live::arm::credentials::{Credentials, Login};
use chancery_live::arm::source::{Azure, Reader};
use chancery_live::engine::Settings;
use chancery_live::event::{Event, Events, SourceState};
use chancery_live::install::{Install, LEASE, OnAzure};
use chancery_live::serve::{Applying, Leasing, Servers, Writing, serve};
use chancery_live::sources::Source;
use chancery_live::sources::kube::{Kube, Settings as Which};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One of several replicas that change the gateway.
struct Replica {
    events: Events,
    end: tokio::sync::oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<(), Failure>>,
}

impl Replica {
    fn start(which: &Which, server: &Server, name: &str) -> Self {
        let quick = Duration::from_millis(20);
        let pace = Pace { poll: quick, reread: quick, after_failure: quick, spacing: Duration::ZERO, patience: Duration::from_secs(20) };
        let credentials = Credentials::Secret { tenant: "tenant".into(), client: "application".into(), secret: SECRET.into() };
        let login = Login::new(credentials, &server.address, &server.address);
        let reader = Arc::new(Reader::new(Client::new(&server.address, login, pace).expect("a client"), GATEWAY.parse().expect("an id")));
        let mut options = Options::of(&ingress::DIALECT);
        options.set("env", &format!("APPGW_RESOURCE_ID={GATEWAY}"), dialect::ALL).expect("an option");
        let events = Events::default();
        let settings = Settings { options, spacing: quick, recorder: None, events: events.clone() };
        let which = Which { dialect: Some("ingress".into()), ..which.clone() };
        let sources: Vec<Box<dyn Source>> =
            vec![Box::new(Kube::new(which.clone())), Box::new(Azure { reader: reader.clone(), reconcile: Some(Duration::from_millis(100)) })];
        let writing = Writing { cluster: which.clone(), take_over: false, lease: Some(LEASE.into()), replica: name.into(), writes: STATUSES };
        let lease = Some(Leasing { cluster: which, name: LEASE.into(), replica: name.into() });
        let applying = Applying { reader, allowed: Allowed::default(), lease };
        let servers = Servers {
            xds: Address::Off,
            diagnostics: Address::Off,
            snapshots: Address::Off,
            public_snapshots: Address::Off,
            ready: Address::Off,
            tls: None,
            token: None,
            proxies: None,
            canary: true,
            ttl: None,
            replicas: Vec::new(),
            page: None,
            admission: None,
            with_secrets: false,
        };
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let ended = async { drop(ended.await) };
            serve(settings, sources, &servers, Some(&writing), Some(&applying), ended).await
        });
        Self { events, end, task }
    }

    /// Returns the number of its changes and of its builds.
    fn count(&self) -> (usize, usize) {
        let of = |is: fn(&Event) -> bool| self.events.timeline().iter().filter(|dated| is(&dated.event)).count();
        (of(|event| matches!(event, Event::Applied { .. })), of(|event| matches!(event, Event::Build { .. })))
    }

    async fn ended(self) {
        let _ = self.end.send(());
        assert_eq!(self.task.await.expect("no panic"), Ok(()));
    }
}

fn object(version: &str, kind: &str, name: &str, rest: Value) -> Value {
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
    rest.as_object().into_iter().flatten().for_each(|(key, value)| object[key] = value.clone());
    object
}

fn web(name: &str, host: &str) -> Value {
    let backend = json!({"service": {"name": "web", "port": {"number": 80}}});
    let paths = json!([{"path": "/", "pathType": "Prefix", "backend": backend}]);
    let spec = json!({"ingressClassName": "azure-application-gateway", "rules": [{"host": host, "http": {"paths": paths}}]});
    object("networking.k8s.io/v1", "Ingress", name, json!({"spec": spec}))
}

fn endpoints(name: &str, ip: &str) -> Value {
    object("v1", "Endpoints", name, json!({"subsets": [{"addresses": [{"ip": ip}], "ports": [{"name": "http", "port": 8080}]}]}))
}

/// Waits until `is` holds of the gateway.
async fn gateway(server: &Server, replicas: &[&Replica], what: &str, holds: impl Fn(&Value) -> bool) {
    let begin = Instant::now();
    loop {
        if holds(&server.azure().gateway["properties"]) {
            return;
        }
        let told = || replicas.iter().flat_map(|replica| replica.events.timeline()).map(|dated| dated.event).collect::<Vec<_>>();
        assert!(begin.elapsed() < Duration::from_secs(40), "{what}: {:#} {:#?}", server.azure().gateway, told());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn hosts(properties: &Value) -> Vec<String> {
    let listeners = properties["httpListeners"].as_array().into_iter().flatten();
    let mut hosts: Vec<String> = listeners.map(|listener| listener["properties"]["hostNames"][0].as_str().unwrap_or_default().to_owned()).collect();
    hosts.sort();
    hosts
}

fn address(properties: &Value) -> Value {
    let pools = properties["backendAddressPools"].as_array().into_iter().flatten();
    let with = pools.map(|pool| pool["properties"]["backendAddresses"][0]["ipAddress"].clone()).find(|address| !address.is_null());
    with.unwrap_or_default()
}

/// Tests the whole path from a cluster's Ingresses to a gateway of Azure, with the permissions of the manifests. Only
/// one of two replicas writes.
pub async fn an_application_gateway_follows_the_cluster(cluster: &Cluster) {
    let azure = OnAzure { gateway: GATEWAY.into(), apply: true, client: None };
    let install = Install { dialect: Some("ingress".into()), write_status: true, replicas: 2, azure: Some(azure), ..Install::default() };
    apply(cluster, &install.manifests()).await;
    cluster.apply_value(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})).await;
    let class = json!({"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": {"name": "azure-application-gateway"},
        "spec": {"controller": "azure/application-gateway"}});
    cluster.apply_value(&class).await;
    let ports = json!([{"name": "http", "port": 80, "targetPort": 8080}]);
    cluster.apply_value(&object("v1", "Service", "web", json!({"spec": {"ports": ports}}))).await;
    cluster.apply_value(&endpoints("web", "10.1.0.1")).await;
    cluster.apply_value(&web("one", "one.example.com")).await;
    let server = Server::start(json!({})).await;
    let which = Which { kubeconfig: Some(cluster.account("chancery", "chancery")), ..Which::default() };
    let first = Replica::start(&which, &server, "first");
    gateway(&server, &[&first], "the first Ingress", |of| hosts(of) == ["one.example.com"] && address(of) == "10.1.0.1").await;
    let forbidden = |event: &Event| matches!(event, Event::Source { state: SourceState::Forbidden | SourceState::Error, .. });
    let lacks: Vec<Event> = first.events.timeline().into_iter().map(|dated| dated.event).filter(forbidden).collect();
    assert!(lacks.is_empty(), "the permissions are enough: {lacks:#?}");
    until(cluster, "the address of the gateway", &web("one", ""), |now| now["status"]["loadBalancer"]["ingress"][0]["ip"] == "20.1.2.3").await;
    // The second replica follows, too, and changes nothing.
    let second = Replica::start(&which, &server, "second");
    cluster.apply_value(&web("two", "two.example.com")).await;
    cluster.apply_value(&endpoints("web", "10.1.0.2")).await;
    let two = ["one.example.com", "two.example.com"];
    gateway(&server, &[&first, &second], "the second Ingress", |of| hosts(of) == two && address(of) == "10.1.0.2").await;
    unused_objects_change_nothing(cluster, &server, &first).await;
    assert_eq!(second.count().0, 0, "only the one with the lease changes the gateway");
    first.ended().await;
    cluster.delete(&web("one", "")).await;
    gateway(&server, &[&second], "an Ingress goes, and the next replica sees to it", |of| hosts(of) == ["two.example.com"]).await;
    a_stopped_gateway_gives_no_address(cluster, &server).await;
    second.ended().await;
    for object in [web("two", ""), class] {
        cluster.delete(&object).await;
    }
}

/// Changes a pod and endpoints that no Ingress uses. Our own writes of statuses happen, too.
async fn unused_objects_change_nothing(cluster: &Cluster, server: &Server, replica: &Replica) {
    cluster.apply_value(&endpoints("other", "10.2.0.1")).await;
    let before = super::comes_to_rest("the first endpoints", || (server.azure().changes.len(), replica.count().1)).await;
    for ip in ["10.2.0.2", "10.2.0.3"] {
        cluster.apply_value(&endpoints("other", ip)).await;
    }
    tokio::time::sleep(Duration::from_millis(800)).await;
    assert_eq!((server.azure().changes.len(), replica.count().1), before, "neither a build nor a change");
}

async fn a_stopped_gateway_gives_no_address(cluster: &Cluster, server: &Server) {
    until(cluster, "it has the address", &web("two", ""), |now| now["status"]["loadBalancer"]["ingress"][0]["ip"] == "20.1.2.3").await;
    {
        let mut azure = server.azure();
        azure.gateway["properties"]["operationalState"] = "Stopped".into();
        azure.gateway["etag"] = "W/\"stopped\"".into();
    }
    until(cluster, "it is taken away", &web("two", ""), |now| now["status"]["loadBalancer"]["ingress"][0].is_null()).await;
}
