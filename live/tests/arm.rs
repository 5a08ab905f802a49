//! Tests an Application Gateway in Azure that follows a folder: sent plans, changes by others, failures and recoveries.

#[path = "support/arm.rs"]
mod arm;

use arm::{GATEWAY, SECRET, Server, TOKEN, Way};
use chancery_core::compilation::Options;
use chancery_core::dialect::{self, ingress};
use chancery_live::arm::Pace;
use chancery_live::arm::apply::Allowed;
use chancery_live::arm::client::{self, Client};
use chancery_live::arm::credentials::{Credentials, Login};
use chancery_live::arm::source::{Azure, Reader};
use chancery_live::engine::Settings;
use chancery_live::event::{Event, Events};
use chancery_live::serve::{Applying, Servers};
use chancery_live::sources::Source;
use chancery_live::sources::folder::{Folder, Reading};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PATHS: &str = include_str!("../../assets/examples/ingress/paths.yaml");
const SHARED: &str = include_str!("../../assets/examples/ingress/shared-gateway.yaml");

/// A program that follows a folder, and the stand-in for Azure.
struct Program {
    folder: TempDir,
    server: Server,
    events: Events,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    ended: Option<tokio::task::JoinHandle<Result<(), chancery_live::Failure>>>,
    /// The number of checked events.
    seen: usize,
}

/// The options of the program.
#[derive(Default)]
struct How {
    allowed: Allowed,
    show_only: bool,
    env: Vec<&'static str>,
    workload: bool,
    reconcile: bool,
}

fn client(server: &Server, credentials: Credentials) -> Client {
    let quick = Duration::from_millis(20);
    let pace = Pace { poll: quick, reread: quick, after_failure: quick, spacing: Duration::ZERO, patience: Duration::from_secs(20) };
    Client::new(&server.address, Login::new(credentials, &server.address, &server.address), pace).expect("a client")
}

fn secret(secret: &str) -> Credentials {
    Credentials::Secret { tenant: "tenant".into(), client: "application".into(), secret: secret.into() }
}

impl Program {
    async fn start(properties: Value, text: &str, how: How) -> Self {
        let server = Server::start(properties).await;
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("ingress.yaml"), text).expect("a file");
        let credentials = if how.workload {
            let file = folder.path().join("token");
            std::fs::write(&file, "the-assertion-of-the-pod\n").expect("a file");
            Credentials::Workload { tenant: "tenant".into(), client: "application".into(), file }
        } else {
            secret(SECRET)
        };
        let reader = Arc::new(Reader::new(client(&server, credentials), GATEWAY.parse().expect("an id")));
        let mut options = Options::of(&ingress::DIALECT);
        for variable in how.env.iter().chain(&["APPGW_SUBSCRIPTION_ID=sub", "APPGW_RESOURCE_GROUP=rg", "APPGW_NAME=gw"]) {
            options.set("env", variable, dialect::ALL).expect("an option");
        }
        let events = Events::default();
        let settings = Settings { options, spacing: Duration::ZERO, recorder: None, events: events.clone() };
        let reconcile = how.reconcile.then_some(Duration::from_millis(50));
        let sources: Vec<Box<dyn Source>> = vec![
            Box::new(Folder::new(folder.path().join("ingress.yaml"), Reading::default())),
            Box::new(Azure { reader: reader.clone(), reconcile }),
        ];
        let off = || "off".parse().expect("an address");
        let servers = Servers {
            xds: off(),
            diagnostics: off(),
            snapshots: off(),
            public_snapshots: off(),
            ready: off(),
            tls: None,
            token: None,
            with_secrets: false,
            proxies: None,
            canary: true,
            ttl: None,
            replicas: Vec::new(),
            page: None,
            admission: None,
        };
        let applying = (!how.show_only).then_some(Applying { reader, allowed: how.allowed, lease: None });
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let ended = tokio::spawn(async move {
            let end = async { _ = stopped.await };
            chancery_live::serve::serve(settings, sources, &servers, None, applying.as_ref(), end).await
        });
        Self { folder, server, events, stop: Some(stop), ended: Some(ended), seen: 0 }
    }

    fn write(&self, text: &str) {
        let path = self.folder.path().join("ingress.yaml");
        std::fs::write(path.with_extension("new"), text).expect("a file");
        std::fs::rename(path.with_extension("new"), path).expect("a file");
    }

    /// Returns the next unchecked event that matches `is`.
    async fn event(&mut self, what: &str, is: impl Fn(&Event) -> bool) -> Event {
        let begin = Instant::now();
        loop {
            let all = self.events.timeline();
            if let Some(at) = all.iter().skip(self.seen).position(|dated| is(&dated.event)) {
                self.seen += at + 1;
                return all[self.seen - 1].event.clone();
            }
            assert!(
                begin.elapsed() < Duration::from_secs(30),
                "{what}: {:?} {:#?}",
                self.server.azure().log,
                all.iter().map(|dated| &dated.event).collect::<Vec<_>>()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn applied(&mut self) -> Event {
        self.event("it is applied", |event| matches!(event, Event::Applied { .. })).await
    }

    /// Waits until the gateway matches the plan, and ends the program. No output had a secret.
    async fn end(mut self) -> Vec<String> {
        let _ = self.stop.take().expect("it runs").send(());
        self.ended.take().expect("it runs").await.expect("no panic").expect("it ends in order");
        let told = serde_json::to_string(&self.events.timeline()).expect("JSON");
        for secret in [SECRET, TOKEN, "the-assertion-of-the-pod"] {
            assert!(!told.contains(secret), "{secret} in {told}");
        }
        let azure = self.server.azure();
        azure.log.clone()
    }

    fn puts(&self) -> usize {
        self.server.azure().changes.len()
    }

    async fn quiet(&self) {
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

fn names(gateway: &Value, list: &str) -> Vec<String> {
    let parts = gateway["properties"][list].as_array().into_iter().flatten();
    parts.map(|part| part["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_without_apply_is_only_reported() {
    let mut program = Program::start(json!({}), PATHS, How { show_only: true, ..How::default() }).await;
    let planned = program.event("a plan", |event| matches!(event, Event::Planned { .. })).await;
    let Event::Planned { compared, added, removed, parts, .. } = planned else { unreachable!() };
    assert!(compared && added > 5 && removed == 0, "{parts:#?}");
    assert!(parts.iter().any(|part| part.kind == "listener" && part.owner == "owned by the controller" && !part.places.is_empty()), "{parts:#?}");
    program.quiet().await;
    assert_eq!(program.puts(), 0);
    program.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_follows_folder_with_every_operation_style() {
    for way in [Way::Operation, Way::Location, Way::Resource] {
        let mut program = Program::start(json!({}), PATHS, How::default()).await;
        program.server.azure().way = way;
        program.applied().await;
        {
            let azure = program.server.azure();
            assert_eq!(names(&azure.gateway, "httpListeners").len(), 1, "{way:?}");
            let tags = &azure.gateway["tags"];
            assert!(tags["managed-by-k8s-ingress"].as_str().is_some_and(|by| by.starts_with("chancery/")), "{tags}");
            assert!(tags["last-updated-by-k8s-ingress"].as_str().is_some_and(|at| at.ends_with('Z')), "{tags}");
            assert_eq!((&tags["team"], &azure.gateway["location"]), (&json!("edge"), &json!("westeurope")), "what others set stays");
        }
        // Fields that Azure adds to the parts do not cause another change.
        program.quiet().await;
        assert_eq!(program.puts(), 1, "{way:?}");
        program.write(&PATHS.replace("shop.example.com", "store.example.com"));
        program.applied().await;
        let host = program.server.azure().gateway["properties"]["httpListeners"][0]["properties"]["hostNames"][0].clone();
        assert_eq!(host, "store.example.com");
        program.quiet().await;
        assert_eq!(program.puts(), 2, "{way:?}");
        program.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_of_others_are_merged() {
    let env = vec!["APPGW_ENABLE_SHARED_APPGW=true"];
    let mut program = Program::start(json!({}), SHARED, How { env, ..How::default() }).await;
    {
        let mut azure = program.server.azure();
        let mut other = azure.gateway.clone();
        other["properties"]["backendAddressPools"] =
            json!([{"name": "theirs", "id": format!("{GATEWAY}/backendAddressPools/theirs"), "properties": {}}]);
        other["tags"]["owner"] = "another team".into();
        azure.meddle = Some(other);
    }
    let failed = program.event("412", |event| matches!(event, Event::ApplyFailed { .. })).await;
    let Event::ApplyFailed { message, .. } = failed else { unreachable!() };
    assert!(message.contains("412") && message.contains("changed meanwhile"), "{message}");
    program.applied().await;
    let tag = program.server.azure().gateway["tags"]["owner"].clone();
    assert_eq!(tag, "another team", "the second change was made of what the other one left");
    let log = program.end().await;
    assert_eq!(log.iter().filter(|line| line.starts_with("PUT")).cloned().collect::<Vec<_>>(), ["PUT gw 412", "PUT gw 201"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn client_waits_after_throttling_and_expired_tokens() {
    let mut program = Program::start(json!({}), PATHS, How { workload: true, ..How::default() }).await;
    program.applied().await;
    {
        let mut azure = program.server.azure();
        (azure.throttle, azure.expired) = (2, true);
    }
    program.write(&PATHS.replace("shop.example.com", "store.example.com"));
    program.applied().await;
    assert!(!program.events.timeline().iter().any(|dated| matches!(dated.event, Event::ApplyFailed { .. })), "it is none of a person's business");
    let log = program.end().await;
    let count = |line: &str| log.iter().filter(|known| known.ends_with(line)).count();
    assert_eq!((count("429"), count("401"), count("POST token 200")), (2, 1, 2), "{log:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_change_is_retried_with_azures_message() {
    let mut program = Program::start(json!({}), PATHS, How::default()).await;
    program.applied().await;
    program.server.azure().fail = Some(("ApplicationGatewayBusy", "the platform is being upgraded"));
    program.write(&PATHS.replace("shop.example.com", "store.example.com"));
    let failed = program.event("a failure", |event| matches!(event, Event::ApplyFailed { .. })).await;
    let Event::ApplyFailed { message, .. } = failed else { unreachable!() };
    assert_eq!(message, "the change failed: ApplicationGatewayBusy: the platform is being upgraded");
    program.applied().await;
    program.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn removal_of_most_listeners_needs_permission() {
    let listener = |name: &str| json!({"name": name, "id": format!("{GATEWAY}/httpListeners/{name}"), "properties": {"protocol": "Http"}});
    let properties = json!({"httpListeners": [listener("one"), listener("two")]});
    let mut program = Program::start(properties.clone(), PATHS, How::default()).await;
    let held = program.event("it is held", |event| matches!(event, Event::ApplyHeld { .. })).await;
    let Event::ApplyHeld { message, .. } = held else { unreachable!() };
    assert!(message.starts_with("2 of 2 listeners of the gateway would go (one, two)"), "{message}");
    program.quiet().await;
    assert_eq!(program.puts(), 0);
    program.end().await;
    let allowed = Allowed { removals: true, take_over: false };
    let mut program = Program::start(properties, PATHS, How { allowed, ..How::default() }).await;
    program.applied().await;
    program.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_gateway_is_unchanged_until_it_runs() {
    let mut program = Program::start(json!({}), PATHS, How { reconcile: true, ..How::default() }).await;
    program.applied().await;
    program.server.azure().gateway["properties"]["operationalState"] = "Stopped".into();
    program.server.azure().gateway["etag"] = "W/\"stopped\"".into();
    program.event("it is reported", |event| matches!(event, Event::Source { detail: Some(detail), .. } if detail.contains("Stopped"))).await;
    program.write(&PATHS.replace("shop.example.com", "store.example.com"));
    program.quiet().await;
    assert_eq!(program.puts(), 1);
    let running = {
        let mut azure = program.server.azure();
        let gateway = azure.gateway.clone();
        azure.install(gateway);
        azure.version
    };
    program.applied().await;
    assert!(program.server.azure().version > running);
    program.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn manual_change_is_reverted_if_reconciling() {
    let mut program = Program::start(json!({}), PATHS, How { reconcile: true, ..How::default() }).await;
    program.applied().await;
    {
        let mut azure = program.server.azure();
        let mut other = azure.gateway.clone();
        other["properties"]["backendAddressPools"] = json!([]);
        azure.install(other);
    }
    program.applied().await;
    assert!(!names(&program.server.azure().gateway, "backendAddressPools").is_empty());
    program.quiet().await;
    assert_eq!(program.puts(), 2);
    program.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_sent_again_only_after_renewal() {
    let text = |host: &str| {
        let rcgen::CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed([host.to_owned()]).expect("a certificate");
        let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "shop-tls", "namespace": "shop"}, "type": "kubernetes.io/tls",
            "stringData": {"tls.crt": cert.pem(), "tls.key": signing_key.serialize_pem()}});
        let tls = "spec:\n  tls:\n  - secretName: shop-tls\n    hosts: [shop.example.com]\n  rules:";
        (format!("{}\n---\n{object}\n", PATHS.replacen("spec:\n  rules:", tls, 1)), signing_key.serialize_pem())
    };
    let (first, key) = text("shop.example.com");
    let mut program = Program::start(json!({}), &first, How::default()).await;
    program.applied().await;
    let shown = program.server.azure().gateway["properties"]["sslCertificates"][0]["properties"].clone();
    assert!(shown["publicCertData"].is_string() && shown["data"].is_null(), "{shown}");
    program.quiet().await;
    assert_eq!(program.puts(), 1);
    let (second, _) = text("shop.example.com");
    program.write(&second);
    let planned = program.event("a plan", |event| matches!(event, Event::Planned { changed: 1, .. })).await;
    let Event::Planned { parts, .. } = planned else { unreachable!() };
    assert_eq!((parts.len(), parts[0].kind.as_str()), (1, "certificate"), "{parts:#?}");
    assert!(parts[0].fields[0].contains("shop/shop-tls"), "{parts:#?}");
    program.applied().await;
    program.quiet().await;
    assert_eq!(program.puts(), 2);
    let told = serde_json::to_string(&program.events.timeline()).expect("JSON");
    let line = key.lines().nth(1).expect("a line of the key");
    assert!(!told.contains(line), "{told}");
    program.end().await;
}

#[tokio::test]
async fn wrong_credentials_message_hides_credentials() {
    let server = Server::start(json!({})).await;
    let wrong = client(&server, secret("another-secret-in-no-output"));
    let trouble = wrong.gateway(&GATEWAY.parse().expect("an id")).await.expect_err("it is refused");
    assert!(trouble.message.contains("invalid_client") && !trouble.message.contains("secret-in-no-output"), "{trouble}");
    let right = client(&server, secret(SECRET));
    let id = "sub/rg/another".parse().expect("an id");
    let trouble = right.gateway(&id).await.expect_err("there is none");
    assert!(trouble.message.contains("404") && trouble.message.contains("ResourceNotFound"), "{trouble}");
    assert!(right.public_address("/subscriptions/../other").await.is_err());
}

#[test]
fn token_is_never_sent_in_clear() {
    assert!(client::check("https://management.azure.com").is_ok());
    assert!(client::check("http://127.0.0.1:8080").is_ok());
    for wrong in ["http://management.azure.com", "ftp://x", "management.azure.com", ""] {
        assert!(client::check(wrong).is_err(), "{wrong}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_gateway_is_reported_and_read_later() {
    let server = Server::start(json!({})).await;
    server.azure().throttle = 1000;
    let reader = Arc::new(Reader::new(client(&server, secret(SECRET)), GATEWAY.parse().expect("an id")));
    let events = Events::default();
    let settings = Settings { options: Options::of(&ingress::DIALECT), spacing: Duration::ZERO, recorder: None, events: events.clone() };
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("a.yaml"), PATHS).expect("a file");
    let sources: Vec<Box<dyn Source>> =
        vec![Box::new(Folder::new(folder.path().into(), Reading::default())), Box::new(Azure { reader, reconcile: None })];
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let watching = tokio::spawn(chancery_live::watch::watch(settings, sources, true, async { _ = stopped.await }));
    let wait = async |is: &dyn Fn(&Event) -> bool| {
        let begin = Instant::now();
        while !events.timeline().iter().any(|dated| is(&dated.event)) {
            assert!(begin.elapsed() < Duration::from_secs(30), "{:#?}", events.timeline());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    wait(&|event| matches!(event, Event::Source { state: chancery_live::event::SourceState::Error, detail: Some(why), .. } if why.contains("429")))
        .await;
    wait(&|event| matches!(event, Event::Build { .. })).await;
    assert!(!events.timeline().iter().any(|dated| matches!(dated.event, Event::Planned { .. })), "an unknown gateway is not compared");
    server.azure().throttle = 0;
    wait(&|event| matches!(event, Event::Planned { compared: true, .. })).await;
    let _ = stop.send(());
    watching.await.expect("no panic").expect("it ends in order");
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_without_ingress_is_reported_and_unchanged() {
    let server = Server::start(json!({})).await;
    let reader = Arc::new(Reader::new(client(&server, secret(SECRET)), GATEWAY.parse().expect("an id")));
    let events = Events::default();
    let settings = Settings { options: Options::default(), spacing: Duration::ZERO, recorder: None, events: events.clone() };
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("a.yaml"), "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n")
        .expect("a file");
    let sources: Vec<Box<dyn Source>> =
        vec![Box::new(Folder::new(folder.path().into(), Reading::default())), Box::new(Azure { reader: reader.clone(), reconcile: None })];
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let watching = tokio::spawn(chancery_live::watch::watch(settings, sources, true, async { _ = stopped.await }));
    let begin = Instant::now();
    let message = loop {
        let told = events.timeline().into_iter().find_map(|dated| match dated.event {
            Event::Unplanned { gateway, message } => Some((gateway, message)),
            _ => None,
        });
        if let Some((gateway, message)) = told {
            assert_eq!(gateway, "gw");
            break message;
        }
        assert!(begin.elapsed() < Duration::from_secs(30), "{:#?}", events.timeline());
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert!(message.contains("no Ingress is for it") && message.contains("azure/application-gateway"), "{message}");
    let _ = stop.send(());
    watching.await.expect("no panic").expect("it ends in order");
    let counted = |name: &str| reader.client.metrics().all().iter().find(|(known, ..)| *known == name).map(|(.., value)| *value);
    assert!(counted("chancery_arm_requests") >= Some(2.0) && counted("chancery_arm_changes") == Some(0.0), "{:?}", reader.client.metrics().all());
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_credentials_are_reported_at_once() {
    let server = Server::start(json!({})).await;
    let usual = Pace { reread: Duration::from_secs(600), ..Pace::default() };
    let login = Login::new(secret("another-secret-in-no-output"), &server.address, &server.address);
    let reader = Arc::new(Reader::new(Client::new(&server.address, login, usual).expect("a client"), GATEWAY.parse().expect("an id")));
    let events = Events::default();
    let settings = Settings { options: Options::of(&ingress::DIALECT), spacing: Duration::ZERO, recorder: None, events: events.clone() };
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("a.yaml"), PATHS).expect("a file");
    let sources: Vec<Box<dyn Source>> =
        vec![Box::new(Folder::new(folder.path().into(), Reading::default())), Box::new(Azure { reader, reconcile: None })];
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let watching = tokio::spawn(chancery_live::watch::watch(settings, sources, true, async { _ = stopped.await }));
    let begin = Instant::now();
    // This is far sooner than the retry; and inputs are compiled anyway.
    let is_told = |event: &Event| matches!(event, Event::Source { detail: Some(detail), .. } if detail.contains("invalid_client"));
    while !(events.timeline().iter().any(|dated| is_told(&dated.event))
        && events.timeline().iter().any(|dated| matches!(dated.event, Event::Build { .. })))
    {
        assert!(begin.elapsed() < Duration::from_secs(30), "{:#?}", events.timeline());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let _ = stop.send(());
    watching.await.expect("no panic").expect("it ends in order");
}
