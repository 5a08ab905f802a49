//! A stand-in for Azure Resource Manager and its login: a gateway and its public address, and changes by long-running
//! operations.
//!
//! Like Azure, it adds its own fields to each part (tags of versions, states, references). It keeps certificates, shows
//! only their public half, and refuses references to missing parts. Does not contain tests; see `arm`.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use base64ct::{Base64, Encoding};
use p12_keystore::{KeyStore, Pkcs12ImportPolicy};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// The id of the gateway.
pub const GATEWAY: &str = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/applicationGateways/gw";
const ADDRESS: &str = "/subscriptions/sub/resourceGroups/rg/providers/Microsoft.Network/publicIPAddresses/ip";
/// The secret that the login accepts.
pub const SECRET: &str = "a-secret-in-no-output";
/// The beginning of all its tokens.
pub const TOKEN: &str = "token-in-no-output-";

/// Lists that Azure always sends.
const LISTS: &[&str] = &[
    "authenticationCertificates",
    "backendAddressPools",
    "backendHttpSettingsCollection",
    "probes",
    "redirectConfigurations",
    "requestRoutingRules",
    "rewriteRuleSets",
    "sslProfiles",
    "trustedClientCertificates",
    "trustedRootCertificates",
    "urlPathMaps",
];

/// How a change reports its outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// `Azure-AsyncOperation`
    #[default]
    Operation,
    /// 202 and `Location`
    Location,
    /// By `provisioningState` of the resource.
    Resource,
}

/// Why a change fails: a code, and a message.
pub type Fault = (&'static str, &'static str);

/// The state of the stand-in.
#[derive(Debug, Default)]
pub struct Azure {
    /// The gateway in answers.
    pub gateway: Value,
    /// The number of changes.
    pub version: u64,
    /// How a change reports its outcome.
    pub way: Way,
    /// The number of next requests that are throttled.
    pub throttle: u32,
    /// The error of the next change, which is not carried out.
    pub fail: Option<Fault>,
    /// Replaces the gateway before the next change arrives, like another client.
    pub meddle: Option<Value>,
    /// Whether tokens are refused until the client gets a new one.
    pub expired: bool,
    /// An operation: the gateway that it installs, its remaining steps, and its error.
    pending: Option<(Value, u32, Option<Fault>)>,
    outcome: Option<Fault>,
    tokens: u64,
    /// The received changes.
    pub changes: Vec<Value>,
    /// Requests, each with its method, the end of its path, and its status.
    pub log: Vec<String>,
}

/// A server.
#[derive(Clone)]
pub struct Server {
    pub address: String,
    state: Arc<Mutex<Azure>>,
}

impl Server {
    /// Starts a server whose gateway has these parts.
    pub async fn start(properties: Value) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let server = Self { address, state: Arc::default() };
        let mut all = json!({
            "operationalState": "Running", "provisioningState": "Succeeded", "frontendPorts": [], "httpListeners": [], "sslCertificates": [],
            "frontendIPConfigurations": [{"name": "public", "id": format!("{GATEWAY}/frontendIPConfigurations/public"),
                "properties": {"publicIPAddress": {"id": ADDRESS}}}],
            "sku": {"name": "Standard_v2", "tier": "Standard_v2"},
        });
        for list in LISTS.iter().filter(|list| all.get(**list).is_none()).collect::<Vec<_>>() {
            all[*list] = json!([]);
        }
        properties.as_object().into_iter().flatten().for_each(|(name, value)| all[name] = value.clone());
        server.azure().install(json!({"id": GATEWAY, "name": "gw", "location": "westeurope", "tags": {"team": "edge"}, "properties": all}));
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// Returns the state.
    pub fn azure(&self) -> MutexGuard<'_, Azure> {
        self.state.lock().expect("a lock")
    }
}

impl Azure {
    /// Stores a document as the gateway, with Azure's own fields.
    pub fn install(&mut self, mut document: Value) {
        self.version += 1;
        let etag = format!("W/\"{}\"", self.version);
        document["etag"] = etag.clone().into();
        document["properties"]["operationalState"] = "Running".into();
        document["properties"]["provisioningState"] = "Succeeded".into();
        let lists = document["properties"].as_object_mut().expect("properties");
        for (list, parts) in lists.iter_mut() {
            for part in parts.as_array_mut().into_iter().flatten() {
                part["etag"] = etag.clone().into();
                part["type"] = format!("Microsoft.Network/applicationGateways/{list}").into();
                part["properties"]["provisioningState"] = "Succeeded".into();
                if list == "frontendPorts" {
                    part["properties"]["httpListeners"] = json!([{"id": format!("{GATEWAY}/httpListeners/any")}]);
                }
                if list == "backendHttpSettingsCollection" && part["properties"].get("connectionDraining").is_none() {
                    part["properties"]["connectionDraining"] = json!({"enabled": false, "drainTimeoutInSec": 1});
                }
                if list == "sslCertificates" {
                    hide(&mut part["properties"]);
                }
            }
        }
        self.gateway = document;
    }

    /// Advances the operation by one step.
    fn step(&mut self) -> bool {
        let Some((document, left, outcome)) = self.pending.take() else { return true };
        if left > 0 {
            self.pending = Some((document, left - 1, outcome));
            return false;
        }
        self.outcome = outcome;
        if outcome.is_none() {
            self.install(document);
        }
        true
    }

    fn put(&mut self, headers: &HeaderMap, body: &[u8]) -> Response {
        if let Some(meddled) = self.meddle.take() {
            self.install(meddled);
        }
        let wanted = headers.get("if-match").and_then(|value| value.to_str().ok());
        if wanted.is_some_and(|wanted| *wanted != self.gateway["etag"]) {
            return error(StatusCode::PRECONDITION_FAILED, "PreconditionFailed", "the gateway was changed meanwhile");
        }
        if self.pending.is_some() {
            return error(StatusCode::CONFLICT, "AnotherOperationInProgress", "wait for it");
        }
        let document: Value = serde_json::from_slice(body).expect("JSON");
        self.changes.push(document.clone());
        if let Some(missing) = missing_reference(&document) {
            return error(StatusCode::BAD_REQUEST, "InvalidResourceReference", &missing);
        }
        self.pending = Some((document, 2, self.fail.take()));
        let updating = json!({"id": GATEWAY, "properties": {"provisioningState": "Updating"}}).to_string();
        let header = |name: &'static str, path: &str| [(name, path.to_owned()), ("retry-after", "0".to_owned())];
        let host = headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or_default();
        match self.way {
            Way::Operation => (StatusCode::CREATED, header("azure-asyncoperation", &format!("http://{host}/operations/1")), updating).into_response(),
            Way::Location => (StatusCode::ACCEPTED, header("location", &format!("http://{host}/results/1")), "").into_response(),
            Way::Resource => (StatusCode::OK, header("x-none", ""), updating).into_response(),
        }
    }

    fn operation(&mut self) -> Response {
        let body = match (self.step(), self.outcome) {
            (false, _) => json!({"status": "InProgress"}),
            (true, None) => json!({"status": "Succeeded"}),
            (true, Some((code, message))) => json!({"status": "Failed", "error": {"code": code, "message": message}}),
        };
        ([("retry-after", "0")], body.to_string()).into_response()
    }

    fn shown(&mut self) -> Response {
        if self.way == Way::Resource && !self.step() {
            return json!({"id": GATEWAY, "properties": {"provisioningState": "Updating"}}).to_string().into_response();
        }
        self.gateway.to_string().into_response()
    }
}

async fn answer(State(server): State<Server>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let mut azure = server.azure();
    let path = uri.path();
    let said = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or("none").to_owned();
    let answer = if path.ends_with("/oauth2/v2.0/token") {
        login(&mut azure, &body)
    } else if said != format!("Bearer {TOKEN}{}", azure.tokens) || azure.expired {
        // Like a careless server, the answer quotes the token.
        error(StatusCode::UNAUTHORIZED, "ExpiredAuthenticationToken", &format!("not taken: {said}"))
    } else if azure.throttle > 0 {
        azure.throttle -= 1;
        (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")], "").into_response()
    } else {
        match (&method, path) {
            (&Method::GET, GATEWAY) => azure.shown(),
            (&Method::PUT, GATEWAY) => azure.put(&headers, &body),
            (_, ADDRESS) => json!({"properties": {"ipAddress": "20.1.2.3"}}).to_string().into_response(),
            (_, "/operations/1") => azure.operation(),
            (_, "/results/1") => {
                if azure.step() {
                    StatusCode::OK.into_response()
                } else {
                    (StatusCode::ACCEPTED, [("retry-after", "0")]).into_response()
                }
            }
            _ => error(StatusCode::NOT_FOUND, "ResourceNotFound", path),
        }
    };
    let end = path.rsplit('/').next().unwrap_or_default();
    azure.log.push(format!("{method} {end} {}", answer.status().as_u16()));
    answer
}

fn login(azure: &mut Azure, body: &[u8]) -> Response {
    let form = String::from_utf8_lossy(body);
    let has = |field: &str| form.split('&').any(|known| known == field);
    let is_workload = form.contains("client_assertion=the-assertion-of-the-pod") && form.contains("jwt-bearer");
    if !has("grant_type=client_credentials") || !form.contains("scope=http") || !(has(&format!("client_secret={SECRET}")) || is_workload) {
        let body = json!({"error": "invalid_client", "error_description": format!("wrong: {form}")});
        return (StatusCode::UNAUTHORIZED, body.to_string()).into_response();
    }
    azure.tokens += 1;
    azure.expired = false;
    json!({"access_token": format!("{TOKEN}{}", azure.tokens), "expires_in": 3600, "token_type": "Bearer"}).to_string().into_response()
}

fn error(status: StatusCode, code: &str, message: &str) -> Response {
    (status, json!({"error": {"code": code, "message": message}}).to_string()).into_response()
}

/// Keeps a certificate, and shows its public half.
fn hide(properties: &mut Value) {
    let fields = properties.as_object_mut().expect("properties");
    let password = fields.remove("password");
    if let (Some(data), Some(password)) = (fields.remove("data"), password) {
        let data = Base64::decode_vec(data.as_str().expect("a text")).expect("base64");
        let store = KeyStore::from_pkcs12(&data, password.as_str().expect("a text"), Pkcs12ImportPolicy::Strict).expect("PKCS#12");
        let (_, chain) = store.private_key_chain().expect("a key with its certificates");
        let public: Vec<u8> = [b"PKCS#7".as_slice(), chain.certs()[0].as_der(), b"."].concat();
        fields.insert("publicCertData".into(), Base64::encode_string(&public).into());
    }
}

/// Returns a reference of a listener or rule to a missing part.
fn missing_reference(document: &Value) -> Option<String> {
    fn ids(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| match value.as_str() {
                Some(id) if name == "id" => _ = out.insert(id.to_lowercase()),
                _ => ids(value, out),
            }),
            Value::Array(items) => items.iter().for_each(|item| ids(item, out)),
            _ => {}
        }
    }
    let parts = document["properties"].as_object()?.values().filter_map(Value::as_array).flatten();
    let there: BTreeSet<String> = parts.filter_map(|part| Some(part["id"].as_str()?.to_lowercase())).collect();
    let mut all = BTreeSet::new();
    for list in ["httpListeners", "requestRoutingRules"] {
        document["properties"][list].as_array().into_iter().flatten().for_each(|part| ids(&part["properties"], &mut all));
    }
    all.into_iter().find(|id| id.contains("/applicationgateways/") && !there.contains(id))
}
