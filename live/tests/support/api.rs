//! Serves the part of an API server that a source uses: kinds, permissions, lists in pages, watches; and their failures.
//!
//! Does not contain tests; see `watching`.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch;

/// The kinds, and their plurals.
const KINDS: [(&str, &str); 3] = [("Mapping", "mappings"), ("Host", "hosts"), ("Listener", "listeners")];
/// The most objects of one page.
const PAGE: usize = 2;

#[derive(Default)]
struct Held {
    version: u64,
    objects: BTreeMap<(String, String), Value>,
    /// Versions, plurals and events.
    history: Vec<(u64, String, Value)>,
    /// Earlier versions are forgotten.
    begin: u64,
    /// Lists with more pages.
    pages: BTreeMap<String, (u64, Vec<Value>)>,
    /// How many requests fail from now on, and their status.
    failing: (u32, u16),
    /// The number of namespaces, and the only namespace in which Mappings may be read. With `None`, everything may be
    /// read everywhere.
    only_in: Option<(usize, String)>,
    /// The number of requests about permissions.
    reviews: usize,
}

/// An API server. Clones share one state.
#[derive(Clone)]
pub struct ApiServer {
    held: Arc<Mutex<Held>>,
    /// Changes after each new event.
    news: watch::Sender<u64>,
    /// Changes when all watches must end.
    closing: watch::Sender<u64>,
    /// The address.
    pub address: Arc<str>,
}

fn text(of: &Value) -> String {
    of.as_str().unwrap_or_default().to_owned()
}

fn plural(object: &Value) -> String {
    let kind = text(&object["kind"]);
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, plural)| (*plural).to_owned()).expect("a kind that it has")
}

impl ApiServer {
    /// Starts an empty server.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address").to_string().into();
        let out = Self { held: Arc::default(), news: watch::channel(0).0, closing: watch::channel(0).0, address };
        let app = Router::new().fallback(answer).with_state(out.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        out
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("a lock")
    }

    fn change(&self, kind: Option<&str>, object: &Value) {
        let mut held = self.held();
        held.version += 1;
        let version = held.version;
        let key = (plural(object), text(&object["metadata"]["name"]));
        let mut object = object.clone();
        object["metadata"]["resourceVersion"] = version.to_string().into();
        let kind = kind.unwrap_or(if held.objects.contains_key(&key) { "MODIFIED" } else { "ADDED" });
        held.history.push((version, key.0.clone(), json!({"type": kind, "object": object})));
        if kind == "DELETED" {
            drop(held.objects.remove(&key))
        } else {
            drop(held.objects.insert(key, object))
        }
        drop(held);
        self.news.send_replace(version);
    }

    /// Creates or updates an object.
    pub fn put(&self, object: &Value) {
        self.change(None, object);
    }

    /// Deletes an object, if it exists.
    pub fn delete(&self, object: &Value) {
        if self.held().objects.contains_key(&(plural(object), text(&object["metadata"]["name"]))) {
            self.change(Some("DELETED"), object);
        }
    }

    /// Closes all watches.
    pub fn close_watches(&self) {
        self.closing.send_modify(|count| *count += 1);
    }

    /// Forgets all history. A watch from an earlier version gets 410.
    pub fn forget(&self) {
        let mut held = self.held();
        held.history.clear();
        held.begin = held.version;
    }

    /// Makes the next requests fail with this status.
    pub fn fail(&self, requests: u32, status: u16) {
        self.held().failing = (requests, status);
    }

    /// Sets the number of namespaces. Only Mappings may be read, and only in this namespace.
    pub fn only_in(&self, namespaces: usize, namespace: &str) {
        self.held().only_in = Some((namespaces, namespace.to_owned()));
    }

    /// Returns the number of requests about permissions.
    pub fn reviews(&self) -> usize {
        self.held().reviews
    }

    /// Answers a request about permissions, with the rules of a namespace or for one kind.
    fn review(&self, asked: &Value) -> Value {
        let mut held = self.held();
        held.reviews += 1;
        let only_in = held.only_in.as_ref().map(|(_, namespace)| namespace.as_str());
        if asked["kind"] == "SelfSubjectRulesReview" {
            let rule = json!({"verbs": ["list", "watch"], "apiGroups": ["getambassador.io"], "resources": ["mappings"]});
            let rules = if asked["spec"]["namespace"].as_str() == only_in { vec![rule] } else { Vec::new() };
            return json!({"incomplete": false, "resourceRules": rules, "nonResourceRules": []});
        }
        let allowed = only_in.is_none() || asked["spec"]["resourceAttributes"]["namespace"].as_str() == only_in;
        json!({ "allowed": allowed })
    }

    /// Returns the names of all namespaces.
    fn namespaces(&self) -> Response {
        let count = self.held().only_in.as_ref().map_or(1, |(count, _)| *count);
        let items: Vec<Value> = (0..count).map(|at| json!({"metadata": {"name": format!("n{at}")}})).collect();
        ok(&json!({"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {}, "items": items}))
    }

    /// Returns the specs of the Mappings, as [`known`](super::follower::known) does.
    pub fn mappings(&self) -> BTreeMap<String, Value> {
        let held = self.held();
        let mappings = held.objects.iter().filter(|((plural, _), _)| plural == "mappings");
        mappings.map(|((_, name), object)| (format!("default/{name}"), object["spec"].clone())).collect()
    }

    fn watch(&self, plural: &str, since: u64) -> Response {
        if since < self.held().begin {
            return ok(&json!({"type": "ERROR", "object": status(410, "too old resource version")}));
        }
        let (server, plural, news, closing) = (self.clone(), plural.to_owned(), self.news.subscribe(), self.closing.subscribe());
        let lines = futures_util::stream::unfold((since, news, closing), move |(since, mut news, mut closing)| {
            let (server, plural) = (server.clone(), plural.clone());
            async move {
                loop {
                    let mut lines = String::new();
                    let now = {
                        let held = server.held();
                        if since < held.begin {
                            // The watch was too slow: its next event is forgotten.
                            let gone = json!({"type": "ERROR", "object": status(410, "too old resource version")}).to_string() + "\n";
                            return Some((Ok(Bytes::from(gone)), (u64::MAX, news, closing)));
                        }
                        held.history.iter().filter(|(version, of, _)| *version > since && *of == plural).for_each(|(.., event)| {
                            lines.push_str(&event.to_string());
                            lines.push('\n');
                        });
                        held.version
                    };
                    if !lines.is_empty() {
                        return Some((Ok::<_, std::io::Error>(Bytes::from(lines)), (now, news, closing)));
                    }
                    tokio::select! {
                        changed = news.changed() => changed.ok()?,
                        _ = closing.changed() => return None,
                    }
                }
            }
        });
        Response::builder().header("content-type", "application/json").body(Body::from_stream(lines)).expect("an answer")
    }

    /// Returns a page of a list.
    fn list(&self, plural: &str, token: Option<&str>) -> Response {
        let mut held = self.held();
        let (version, mut items) = match token {
            Some(token) => held.pages.remove(token).unwrap_or_default(),
            None => (held.version, held.objects.iter().filter(|((of, _), _)| of == plural).map(|(_, object)| object.clone()).collect()),
        };
        let rest = items.split_off(items.len().min(PAGE));
        let next = format!("{}-{}", held.pages.len(), rest.len());
        let more = !rest.is_empty();
        if more {
            held.pages.insert(next.clone(), (version, rest));
        }
        let metadata = json!({"resourceVersion": version.to_string(), "continue": if more { next } else { String::new() }});
        ok(&json!({"kind": "List", "apiVersion": "getambassador.io/v3alpha1", "metadata": metadata, "items": items}))
    }
}

fn ok(body: &Value) -> Response {
    Response::builder().header("content-type", "application/json").body(Body::from(body.to_string() + "\n")).expect("an answer")
}

fn status(code: u16, message: &str) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": "Test", "code": code})
}

async fn answer(State(server): State<ApiServer>, request: Request) -> Response {
    let query: BTreeMap<String, String> = request
        .uri()
        .query()
        .unwrap_or_default()
        .split('&')
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let path = request.uri().path().to_owned();
    let plural = path.strip_prefix("/apis/getambassador.io/v3alpha1/").and_then(|rest| rest.rsplit('/').next()).map(str::to_owned);
    let body = axum::body::to_bytes(request.into_body(), 1 << 20).await.expect("a body");
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    {
        let mut held = server.held();
        if plural.is_some() && held.failing.0 > 0 {
            held.failing.0 -= 1;
            let code = held.failing.1;
            return Response::builder()
                .status(code)
                .header("content-type", "application/json")
                .body(Body::from(status(code, "no").to_string()))
                .expect("an answer");
        }
    }
    let version = |group: &str, version: &str| json!({"groupVersion": format!("{group}/{version}"), "version": version});
    match (&*path, plural) {
        ("/apis", _) => {
            let group = json!({"name": "getambassador.io", "versions": [version("getambassador.io", "v3alpha1")], "preferredVersion": version("getambassador.io", "v3alpha1")});
            ok(&json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": [group]}))
        }
        ("/apis/getambassador.io/v3alpha1", _) => {
            let one = |(kind, plural): &(&str, &str)| json!({"name": plural, "singularName": "", "namespaced": true, "kind": kind, "verbs": ["get", "list", "watch"]});
            let all: Vec<Value> = KINDS.iter().map(one).collect();
            ok(&json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "getambassador.io/v3alpha1", "resources": all}))
        }
        ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" | "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", _) => {
            let mut answer = asked.clone();
            answer["status"] = server.review(&asked);
            ok(&answer)
        }
        ("/api/v1/namespaces", _) => server.namespaces(),
        ("/api/v1", _) => ok(&json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": []})),
        (_, Some(plural)) if query.get("watch").is_some_and(|watch| watch == "true") => {
            server.watch(&plural, query.get("resourceVersion").and_then(|version| version.parse().ok()).unwrap_or_default())
        }
        (_, Some(plural)) => server.list(&plural, query.get("continue").map(String::as_str).filter(|token| !token.is_empty())),
        _ => {
            let body = status(404, "not found").to_string();
            Response::builder().status(404).header("content-type", "application/json").body(Body::from(body)).expect("an answer")
        }
    }
}
