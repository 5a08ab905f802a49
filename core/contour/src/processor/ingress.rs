//! Processes Ingresses (Contour `internal/dag/ingress_processor.go`).

use super::delegation::variables;
use super::route::wildcard_condition;
use super::{Processing, header, policy, tls_version};
use crate::cluster::Admitted;
use crate::kinds::Kind;
use crate::model::{Cluster, Conditions, Material, PathCondition, RetryPolicy, Route, RouteTimeouts, Service, Timeout};
use crate::relations::CERTIFICATE_NAMESPACE;
use crate::source::{PortRef, full_name};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Place, Severity, codes};
use chancery_base::resource::{Also, Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_kubernetes::reason::Reason;
use chancery_text::Str;

struct IngressPath<'p> {
    at: Cursor<'p>,
    host: Sourced<Str>,
    backend: Cursor<'p>,
}

impl Processing<'_> {
    pub(super) fn ingresses(&mut self) {
        for ingress in self.source.ingresses.iter() {
            self.ingress_tls(ingress);
        }
        for ingress in self.source.ingresses.iter() {
            self.ingress_rules(ingress);
        }
    }

    /// Hosts with TLS come first, so that their routes find them.
    fn ingress_tls(&mut self, ingress: &Admitted<'_>) {
        let namespace = ingress.namespace();
        let annotation = ingress.annotation(CERTIFICATE_NAMESPACE);
        let elsewhere = annotation.map_or("", Cursor::str);
        let home = if elsewhere.is_empty() { namespace.as_str() } else { elsewhere };
        for tls in ingress.spec().field("tls").items() {
            let secret_name = tls.field("secretName");
            let name = full_name(secret_name.str(), home);
            let secret = match self.source.tls_secret(&name, namespace) {
                Ok(secret) => secret,
                Err(problem) => {
                    if secret_name.str().is_empty() {
                        let message = "Contour serves these hosts without TLS: this entry has no `secretName`";
                        self.logged(&codes::INVALID_TLS, message.into(), tls, ingress);
                    }
                    // A missing Secret is a dangling reference.
                    if self.source.get(Kind::Secret, &name.0, &name.1).is_some() {
                        let message = format!("Contour serves these hosts without TLS: {}", problem.message());
                        self.logged(&codes::INVALID_TLS, message, secret_name, ingress);
                    }
                    continue;
                }
            };
            for host in tls.field("hosts").items() {
                if !self.has_rule(host.str()) {
                    let message = format!("no rule of an Ingress has the host `{}`, so this item of `tls` has no effect", host.str());
                    self.logged(&codes::FIELD_WITHOUT_EFFECT, message, host, ingress);
                }
                let Ok(listener) = self.single_listener("https") else { return };
                let version = |name: &str, default| {
                    let at = ingress.annotation(&format!("projectcontour.io/{name}")).unwrap_or_else(Cursor::nothing);
                    tls_version(at, default)
                };
                let (min, max) = (version("tls-minimum-protocol-version", "1.2"), version("tls-maximum-protocol-version", "1.3"));
                if max < min {
                    let message = "Contour drops TLS of this Ingress: the minimum TLS version is above the maximum";
                    self.logged(&codes::INVALID_TLS, message.into(), tls, ingress);
                    return;
                }
                let secure = self.secure_host(&listener, &Sourced::new(Str::new(host.str()), host.origin()));
                secure.secret = Some(Sourced::new(secret.clone(), secret_name.origin()));
                secure.secret_also = Also(annotation.iter().map(|at| at.origin()).collect());
                secure.min_tls = Some(min);
                secure.max_tls = Some(max);
            }
        }
    }

    /// Whether a rule of any Ingress has this host.
    fn has_rule(&self, host: &str) -> bool {
        self.source.ingresses.iter().any(|ingress| ingress.spec().field("rules").items().any(|rule| rule.field("host").str() == host))
    }

    fn ingress_rules(&mut self, ingress: &Admitted<'_>) {
        let spec = ingress.spec();
        let everywhere = || Sourced::new(Str::default(), spec.origin());
        let default = spec.field("defaultBackend").some().map(|backend| (everywhere(), alloc::vec![(Cursor::nothing(), backend)]));
        let rules = spec.field("rules").items().map(|rule| {
            let host = rule.field("host");
            let paths = rule.at("http.paths").items().map(|path| (path, path.field("backend"))).collect::<Vec<_>>();
            (Sourced::new(Str::new(host.str()), host.origin()), paths)
        });
        for (host, paths) in default.into_iter().chain(rules) {
            let client_certificate = match self.client_certificate() {
                Ok(certificate) => certificate,
                Err(problem) => {
                    self.logged(&codes::INVALID_TLS, format!("Contour drops this rule: {problem}"), spec, ingress);
                    continue;
                }
            };
            for (at, backend) in paths {
                let path = IngressPath { at, host: host.clone(), backend };
                if let Err(problem) = self.ingress_path(ingress, &path, client_certificate.clone()) {
                    let message = format!("Contour drops this path and those after it in the rule: {problem}");
                    self.logged(&codes::INVALID_ROUTE, message, if at.exists() { at.field("path") } else { backend }, ingress);
                    break;
                }
            }
        }
    }

    /// Records what the reference only logs.
    fn logged(&mut self, code: &'static Code, message: String, at: Cursor<'_>, ingress: &Admitted<'_>) {
        let mut finding = Diagnostic::new(code, message, Place::origin(at.origin()));
        finding.severity = Severity::Warning;
        self.logged.push(finding.about(ingress.object.key.clone()));
    }

    /// Adds a path; a path with an unusable Service is dropped alone.
    ///
    /// # Errors
    /// The error that ends the rule.
    fn ingress_path(&mut self, ingress: &Admitted<'_>, path: &IngressPath<'_>, certificate: Option<Sourced<Arc<Material>>>) -> Result<(), Reason> {
        let service = path.backend.field("service");
        let name = (ingress.namespace().clone(), Str::new(service.field("name").str()));
        let port = service.field("port");
        let number = match port.field("name").str() {
            "" => port.field("number").int().unwrap_or_default(),
            wanted => match self.source.service(&name, PortRef::Name(wanted)) {
                Ok((_, port)) => i64::from(port.port),
                Err(problem) => {
                    self.without_service(ingress, path, &name, &problem);
                    return Ok(());
                }
            },
        };
        let upstream = match self.service(&name, PortRef::Number(number), 0) {
            Ok(upstream) => upstream,
            Err(problem) => {
                self.without_service(ingress, path, &name, &problem);
                return Ok(());
            }
        };
        let upstream = self.with_default_limits(upstream);
        let route = Arc::new(self.ingress_route(ingress, path, upstream, certificate)?);
        let host = if path.host.value.is_empty() { Sourced::new(Str::new_static("*"), path.host.origin) } else { path.host.clone() };
        let root = ingress.root();
        let annotations = root.field("metadata").field("annotations");
        let tls_only = annotations.field("ingress.kubernetes.io/force-ssl-redirect").str() == "true";
        if tls_only || annotations.field("kubernetes.io/ingress.allow-http").str() != "false" {
            let Ok(listener) = self.single_listener("http") else { return Ok(()) };
            self.host(&listener, &host).add(route.clone());
        }
        let Ok(listener) = self.single_listener("https") else { return Ok(()) };
        let secure = self.graph.listeners.get_mut(&listener).and_then(|listener| listener.secure_hosts.get_mut(&host.value));
        if let Some(secure) = secure.filter(|_| host.value != "*") {
            Arc::make_mut(secure).host.add(route);
        }
        Ok(())
    }

    /// Records a dropped path. A missing Service is a dangling reference, which every kind's check reports.
    fn without_service(&mut self, ingress: &Admitted<'_>, path: &IngressPath<'_>, name: &(Str, Str), problem: &Reason) {
        if self.source.get(Kind::Service, &name.0, &name.1).is_some() {
            let message = format!("Contour drops this path: {problem}");
            self.logged(&codes::INVALID_BACKEND, message, path.backend, ingress);
        }
    }

    fn ingress_route(
        &self,
        ingress: &Admitted<'_>,
        path: &IngressPath<'_>,
        upstream: Service,
        client_certificate: Option<Sourced<Arc<Material>>>,
    ) -> Result<Route, Reason> {
        let mut variables = variables(ingress.namespace());
        let service = path.backend.field("service");
        variables.service = Some((service.field("name").str().into(), service.at("port.number").int().unwrap_or_default()));
        let applies = self.source.settings.at("policy.applyToIngress").is_true();
        let none = Cursor::nothing();
        let (request, response) = if applies { (self.common.request_headers, self.common.response_headers) } else { (none, none) };
        let request_headers = header::service_policy(Some(request), none, true, &variables)?;
        let response_headers = header::service_policy(Some(response), none, false, &variables)?;
        let written = match path.at.field("path").str() {
            "" => "/",
            path => path,
        };
        let condition = match path.at.field("pathType").str() {
            "Prefix" if written == "/" => PathCondition::Prefix(written.into()),
            "Prefix" => PathCondition::Segment(written.trim_end_matches('/').into()),
            "Exact" => PathCondition::Exact(written.into()),
            _ if written.contains(['^', '+', '*', '[', ']', '%']) => {
                go::check_regex(written)?;
                PathCondition::Regex(written.into())
            }
            _ => PathCondition::Prefix(written.into()),
        };
        let origin = if path.at.exists() { path.at.field("path").origin() } else { path.backend.origin() };
        let mut route =
            Route::new(Conditions { path: Sourced::new(condition, origin), path_also: Also::default(), headers: Vec::new(), queries: Vec::new() });
        let annotated = |name: &str| ingress.annotation(name).map_or(Cursor::nothing(), |at| at);
        let redirect = annotated("ingress.kubernetes.io/force-ssl-redirect");
        route.https_upgrade = (redirect.str() == "true").then(|| Sourced::new((), redirect.origin()));
        let websockets = annotated("projectcontour.io/websocket-routes");
        let upgrades = websockets.str().split(',').map(str::trim).any(|route| !route.is_empty() && route == written);
        route.websocket = upgrades.then(|| Sourced::new((), websockets.origin()));
        route.timeouts = timeouts(ingress);
        route.retry = retry(ingress);
        route.source = ("Ingress".into(), ingress.namespace().clone(), ingress.name().clone());
        route.origins = alloc::vec![if path.at.exists() { path.at.origin() } else { path.backend.origin() }];
        if path.host.value.starts_with("*.") {
            route.conditions.headers.push(wildcard_condition(&path.host));
        }
        route.clusters.push(Arc::new(Cluster {
            protocol: upstream.protocol.clone(),
            request_headers,
            response_headers,
            client_certificate,
            ..self.cluster(upstream, Sourced::new(0, Origin::built_in()), path.backend.origin().whole())
        }));
        Ok(route)
    }
}

fn timeouts(ingress: &Admitted<'_>) -> RouteTimeouts {
    let at = ["projectcontour.io/response-timeout", "projectcontour.io/request-timeout"]
        .into_iter()
        .filter_map(|name| ingress.annotation(name))
        .find(|at| !at.str().is_empty());
    let Some(at) = at else { return RouteTimeouts::default() };
    let response = policy::timeout(at.str()).unwrap_or(Timeout::Default);
    RouteTimeouts { response: Sourced::new(response, at.origin()), idle_stream: Sourced::default() }
}

fn retry(ingress: &Admitted<'_>) -> Option<Sourced<RetryPolicy>> {
    let at = ingress.annotation("projectcontour.io/retry-on").filter(|at| !at.str().is_empty())?;
    let count = ingress.annotation("projectcontour.io/num-retries").unwrap_or_else(Cursor::nothing);
    let num_retries = match count.str().parse::<i32>().unwrap_or_default() {
        -1 => 0,
        0 | 1 => 1,
        other => u32::try_from(other).unwrap_or(1),
    };
    let per_try = ingress.annotation("projectcontour.io/per-try-timeout").unwrap_or_else(Cursor::nothing);
    let policy = RetryPolicy {
        retry_on: Sourced::new(Str::new(at.str()), at.origin()),
        status_codes: Vec::new(),
        num_retries: Sourced::new(num_retries, count.origin()),
        per_try: Sourced::new(policy::timeout(per_try.str()).unwrap_or_default(), per_try.origin()),
    };
    Some(Sourced::new(policy, at.origin()))
}
