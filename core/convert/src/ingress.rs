//! Converts Ingresses of an Application Gateway to Gateway API.
//!
//! One Gateway represents the listeners of the Application Gateway. Each rule of an Ingress becomes an HTTPRoute, since an HTTPRoute has one list
//! of hosts for all its rules. Annotations with a counterpart become filters and timeouts; the others are reported.
//!
//! Does not check the result; see `ingress_proof`.

use super::Conversion;
use super::across::{AcrossRow, Answer, Ways, assumed, is_ingress, requests, rows};
use super::build::{Fields, list, manifest, name_of, number, text};
use super::proof::{GATEWAY as CONTOURS, without};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_agic::annotations;
use chancery_base::compilation::{Compilation, OptionValue, Options};
use chancery_base::resource::{Input, Inputs, Object, Objects};
use chancery_compile::compile;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Node;

/// The Gateway's namespace.
const NAMESPACE: &str = "projectcontour";
/// The name of the Gateway and of its class.
const GATEWAY: &str = "contour";
const V1: &str = "gateway.networking.k8s.io/v1";

/// Annotations with a counterpart.
const CARRIED: &[&annotations::Annotation] = &[
    &annotations::BACKEND_HOSTNAME,
    &annotations::BACKEND_PATH_PREFIX,
    &annotations::REQUEST_TIMEOUT,
    &annotations::SSL_REDIRECT,
    &annotations::OVERRIDE_FRONTEND_PORT,
    &annotations::HOSTNAME_EXTENSION,
    &annotations::INGRESS_CLASS,
];

/// The effect of a conversion on requests.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct IngressProof {
    /// Requests that would be treated differently: the first answer is Application Gateway's, the second Contour's.
    pub differences: Vec<AcrossRow>,
    /// How many requests were tried on both.
    pub compared: usize,
    /// Services that were assumed to exist, as `NAMESPACE/NAME`.
    pub assumed: Vec<String>,
    /// Sentences about requests that could not be compared.
    pub limits: Vec<String>,
}

/// A listener of the Gateway.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Listener {
    name: String,
    port: i64,
    host: Option<String>,
    secret: Option<(String, String)>,
}

/// Converts all Ingresses among these objects.
pub fn ingress_to_gateway(objects: &Objects) -> Conversion {
    let mut out = Conversion::default();
    let mut made = ConvertedObjects::default();
    for object in objects.iter().filter(|object| is_ingress(object)) {
        made.ingress(object, &mut out);
    }
    if made.routes.is_empty() {
        return out;
    }
    let mut spec = Fields::new();
    let listeners = made.listeners.iter().map(Listener::node).collect();
    spec.set("gatewayClassName", text(GATEWAY)).set("listeners", list(listeners));
    out.objects.push(manifest(V1, "Gateway", NAMESPACE, GATEWAY, &spec));
    let secrets: BTreeSet<_> = made.listeners.iter().filter_map(|listener| listener.secret.clone()).collect();
    out.objects.extend(secrets.iter().filter(|(namespace, _)| namespace != NAMESPACE).map(|(namespace, name)| super::proxy::grant(namespace, name)));
    out.objects.extend(made.routes);
    out
}

/// Compares the requests of the Ingresses with the requests of the converted objects, which Contour serves.
pub fn ingress_proof(original: &Compilation, conversion: &Conversion, options: &Options) -> IngressProof {
    let ingresses: Vec<&Object> = original.objects.iter().filter(|object| is_ingress(object)).collect();
    let asked = requests(&ingresses);
    let assumed = assumed(&original.objects, &ingresses);
    let surroundings = |name: &str, text: &str| Input { name: name.into(), text: text.into() };
    let mut before = original.inputs.clone();
    before.inputs.push(surroundings("assumed.yaml", &assumed.text));
    let mut after = Inputs { inputs: without(original, is_ingress), stored: original.inputs.stored.clone() };
    after.inputs.push(surroundings("assumed.yaml", &assumed.text));
    after.inputs.push(surroundings("converted.yaml", &conversion.yaml()));
    after.inputs.push(surroundings("gateway.yaml", CONTOURS));
    let options = options.clone().with("missing", OptionValue::Text("assume".into()));
    let first = compile(&before, &options.clone().in_dialect(chancery_agic::DIALECT.name), &[&chancery_agic::DIALECT]);
    let flags = OptionValue::List(Vec::from(["--contour-config-name=chancery".into()]));
    let second = compile(&after, &options.in_dialect(chancery_contour::DIALECT.name).with("controller-arg", flags), &[&chancery_contour::DIALECT]);
    let answers: Vec<Vec<Answer>> = [&first, &second].into_iter().map(|of| Ways::of(of).all(&asked.all)).collect();
    let mut limits = asked.limits;
    limits.push("Requests are generated from the hosts and paths of the Ingresses; timeouts and settings of backends were not compared.".to_string());
    IngressProof { differences: rows(&asked.all, &answers), compared: asked.all.len(), assumed: assumed.names, limits }
}

impl Listener {
    fn node(&self) -> Node {
        let secret = self.secret.as_ref().map(|(namespace, name)| (namespace.as_str(), name.as_str()));
        let protocol = if secret.is_some() { "HTTPS" } else { "HTTP" };
        super::proxy::listener(&self.name, self.port, protocol, self.host.as_deref(), secret)
    }
}

#[derive(Default)]
struct ConvertedObjects {
    listeners: BTreeSet<Listener>,
    routes: Vec<Node>,
    names: BTreeMap<(String, String), usize>,
}

/// One Ingress with its annotations.
struct Source<'o> {
    object: &'o Object,
    spec: Cursor<'o>,
    annotations: Cursor<'o>,
    namespace: String,
}

impl Source<'_> {
    fn annotation(&self, of: &annotations::Annotation) -> Option<&str> {
        self.annotations.field(of.name).some_str().filter(|value| !value.is_empty())
    }

    /// Returns the Secret with the certificate of a host.
    fn secret(&self, host: &str) -> Option<(String, String)> {
        let tls = self.spec.field("tls").items().filter(|tls| !tls.field("secretName").str().is_empty());
        let takes = |tls: &Cursor<'_>| !tls.field("hosts").has_items() || tls.field("hosts").items().any(|of| of.str().eq_ignore_ascii_case(host));
        let secret = tls.into_iter().find(takes)?.field("secretName").str().to_string();
        Some((self.namespace.clone(), secret))
    }
}

impl ConvertedObjects {
    fn ingress(&mut self, object: &Object, out: &mut Conversion) {
        let root = Cursor::new(object.id, &object.root);
        let namespace = object.key.namespace.as_deref().filter(|of| !of.is_empty()).unwrap_or("default").to_string();
        let source = Source { object, spec: root.field("spec"), annotations: root.field("metadata").field("annotations"), namespace };
        lost_annotations(&source, out);
        let default = [source.spec.field("defaultBackend"), source.spec.field("backend")].into_iter().find(|of| of.exists());
        let mut rules: Vec<(String, Vec<Cursor<'_>>)> = Vec::new();
        for rule in source.spec.field("rules").items() {
            rules.push((rule.field("host").str().to_string(), rule.field("http").field("paths").items().collect()));
        }
        if rules.is_empty() {
            rules.push((String::new(), Vec::new()));
        }
        for (host, paths) in rules {
            let mut all: Vec<Node> = paths.into_iter().filter_map(|path| rule(&source, path, out)).collect();
            if let Some(backend) = default.filter(|_| !all.iter().any(is_catch_all)) {
                all.extend(rule_to(&source, backend, "/", "PathPrefix", out));
            }
            if !all.is_empty() {
                self.host(&source, &host, all, out);
            }
        }
    }

    /// Converts the rules of one host.
    fn host(&mut self, source: &Source<'_>, host: &str, rules: Vec<Node>, out: &mut Conversion) {
        let more = source.annotation(&annotations::HOSTNAME_EXTENSION).unwrap_or_default();
        let hosts: Vec<String> =
            [host].into_iter().chain(more.split(',').map(str::trim)).filter(|host| !host.is_empty()).map(str::to_lowercase).collect();
        if hosts.iter().any(|host| host.contains('?') || host.trim_start_matches("*.").contains('*')) {
            out.note(
                &source.object.key,
                None,
                format!("the rule of `{host}` is not converted: Gateway API has wildcards only as a whole first label"),
            );
            return;
        }
        let port = source.annotation(&annotations::OVERRIDE_FRONTEND_PORT).and_then(|port| port.parse().ok());
        let redirects =
            source.annotation(&annotations::SSL_REDIRECT).is_some_and(|value| matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True"));
        let secret = source.secret(host);
        let plain = Listener { name: "http".into(), port: 80, host: None, secret: None };
        let section: Vec<Listener> = match &secret {
            Some(secret) => {
                let names = if hosts.is_empty() { Vec::from([None]) } else { hosts.iter().cloned().map(Some).collect() };
                let port = port.unwrap_or(443);
                names
                    .into_iter()
                    .map(|host| Listener { name: named("https", host.as_deref(), port, 443), port, host, secret: Some(secret.clone()) })
                    .collect()
            }
            None => Vec::from([match port {
                Some(port) if port != 80 => Listener { name: named("http", None, port, 80), port, host: None, secret: None },
                _ => plain.clone(),
            }]),
        };
        if secret.is_some() && redirects {
            // In Contour a listener without a host does not receive hosts of other listeners, on any port.
            let plain = |host: Option<String>| Listener { name: named("http", host.as_deref(), 80, 80), port: 80, host, secret: None };
            let plain: Vec<Listener> = section.iter().map(|of| plain(of.host.clone())).collect();
            self.listeners.extend(plain.iter().cloned());
            let (mut redirect, mut filter, mut rule) = (Fields::new(), Fields::new(), Fields::new());
            redirect.set("scheme", text("https")).set("statusCode", number(301));
            filter.set("type", text("RequestRedirect")).set("requestRedirect", redirect.node());
            rule.set("filters", list(Vec::from([filter.node()])));
            self.route(source, &hosts, &plain, Vec::from([rule.node()]), "-to-https");
        }
        self.listeners.extend(section.iter().cloned());
        self.route(source, &hosts, &section, rules, "");
    }

    fn route(&mut self, source: &Source<'_>, hosts: &[String], listeners: &[Listener], rules: Vec<Node>, ending: &str) {
        let name = format!("{}{ending}", source.object.key.name);
        let number = self.names.entry((source.namespace.clone(), name.clone())).or_default();
        *number += 1;
        let name = if *number > 1 { format!("{name}-{number}") } else { name };
        let parents = listeners.iter().map(|listener| {
            let mut parent = Fields::new();
            parent.set("name", text(GATEWAY)).set("namespace", text(NAMESPACE)).set("sectionName", text(&listener.name));
            parent.node()
        });
        let mut spec = Fields::new();
        spec.set("parentRefs", list(parents.collect()));
        spec.set("hostnames", list(hosts.iter().map(|host| text(host)).collect())).set("rules", list(rules));
        self.routes.push(manifest(V1, "HTTPRoute", &source.namespace, &name, &spec));
    }
}

fn named(scheme: &str, host: Option<&str>, port: i64, usual: i64) -> String {
    let host = host.map(|host| format!("-{}", name_of(&host.replace('*', "any")))).unwrap_or_default();
    let port = if port == usual { String::new() } else { format!("-{port}") };
    format!("{scheme}{port}{host}")
}

fn lost_annotations(source: &Source<'_>, out: &mut Conversion) {
    for (name, at) in source.annotations.entries() {
        let own = annotations::ALL.iter().find(|known| known.name == name.as_str());
        let Some(own) = own.filter(|own| !CARRIED.iter().any(|carried| carried.name == own.name)) else { continue };
        out.note(&source.object.key, Some(at.origin()), format!("`{name}` is lost: Gateway API has nothing for it ({})", own.doc));
    }
}

fn is_catch_all(rule: &Node) -> bool {
    let path = rule.get("matches").and_then(Node::as_array).and_then(|all| all.first()).and_then(|one| one.at(&["path", "value"]));
    path.and_then(Node::as_str) == Some("/")
}

/// Converts a path of a rule. Application Gateway treats `*` at the end of a path as a wildcard, and a path of type Prefix as if it ended with `*`.
fn rule(source: &Source<'_>, path: Cursor<'_>, out: &mut Conversion) -> Option<Node> {
    let written = path.field("path").str();
    let is_any = matches!(written, "" | "/" | "/*");
    let kind = match path.field("pathType").str() {
        _ if is_any => "PathPrefix",
        "Prefix" => "PathPrefix",
        _ if written.ends_with('*') && path.field("pathType").str() != "Exact" => "PathPrefix",
        _ => "Exact",
    };
    let value = if is_any { "/" } else { written.trim_end_matches('*') };
    let trimmed = if kind == "PathPrefix" && value.len() > 1 { value.trim_end_matches('/') } else { value };
    if !trimmed.starts_with('/') {
        out.note(&source.object.key, Some(path.origin()), format!("the path `{written}` is not converted: it does not begin with a slash"));
        return None;
    }
    rule_to(source, path.field("backend"), trimmed, kind, out)
}

fn rule_to(source: &Source<'_>, backend: Cursor<'_>, path: &str, kind: &str, out: &mut Conversion) -> Option<Node> {
    let service = backend.field("service");
    let (name, port) = match service.exists() {
        true => (service.field("name").str(), service.field("port").field("number")),
        false => (backend.field("serviceName").str(), backend.field("servicePort")),
    };
    let Some(port) = port.int().filter(|_| !name.is_empty()) else {
        out.note(&source.object.key, Some(backend.origin()), "this backend is not converted: Gateway API names Services by the number of a port");
        return None;
    };
    let (mut matched, mut one, mut reference, mut rule) = (Fields::new(), Fields::new(), Fields::new(), Fields::new());
    matched.set("type", text(kind)).set("value", text(path));
    one.set("path", matched.node());
    reference.set("name", text(name)).set("port", number(port));
    rule.set("matches", list(Vec::from([one.node()])));
    rule.set("filters", list(rewrite(source, kind).into_iter().collect()));
    rule.set("backendRefs", list(Vec::from([reference.node()])));
    if let Some(seconds) = source.annotation(&annotations::REQUEST_TIMEOUT).and_then(|seconds| seconds.parse::<u32>().ok()) {
        let mut timeouts = Fields::new();
        timeouts.set("request", text(&format!("{seconds}s")));
        rule.set("timeouts", timeouts.node());
    }
    Some(rule.node())
}

/// Returns the filter that rewrites path and host for a backend.
fn rewrite(source: &Source<'_>, kind: &str) -> Option<Node> {
    let host = source.annotation(&annotations::BACKEND_HOSTNAME);
    let prefix = source.annotation(&annotations::BACKEND_PATH_PREFIX);
    if host.is_none() && prefix.is_none() {
        return None;
    }
    let (mut rewrite, mut filter) = (Fields::new(), Fields::new());
    rewrite.set_some("hostname", host.map(text));
    if let Some(prefix) = prefix {
        let mut path = Fields::new();
        let (name, field) = if kind == "Exact" { ("ReplaceFullPath", "replaceFullPath") } else { ("ReplacePrefixMatch", "replacePrefixMatch") };
        path.set("type", text(name)).set(field, text(prefix));
        rewrite.set("path", path.node());
    }
    filter.set("type", text("URLRewrite")).set("urlRewrite", rewrite.node());
    Some(filter.node())
}
