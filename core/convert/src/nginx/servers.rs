//! Converts one server: its listeners, and its locations as routes.

use super::super::build::{Fields, list, manifest, number, text};
use super::super::gateway::{ENVOY_GATEWAY, GATEWAY, HTTP, HTTPS, Header, PathMatch, Route, RouteMatch, Rule, header_modifier, redirect};
use super::Converter;
use super::host::{Host, file_of};
use super::paths::{Paths, greater_than};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{DEFAULT_SERVER, DEFAULT_UPSTREAM, Location, Server};
use chancery_nginx::location;
use chancery_text::{Node, Str};

/// Whether Gateway API accepts the host.
pub(super) fn is_host(host: &str) -> bool {
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= 253 && name.split('.').all(is_label)
}

impl Converter<'_> {
    pub(super) fn server(&mut self, server: &Server) {
        let first = server.locations.first().cloned().unwrap_or_default();
        let mut names: Vec<String> = Vec::new();
        if server.host.value != DEFAULT_SERVER {
            names.push(server.host.value.to_ascii_lowercase());
        }
        // The server for all hosts takes its aliases anyway.
        if server.host.value != DEFAULT_SERVER {
            names.extend(server.aliases.value.iter().map(|alias| alias.to_ascii_lowercase()));
        }
        let (names, invalid): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| is_host(name));
        for name in &invalid {
            let origin = if *name == server.host.value.to_ascii_lowercase() { server.host.origin } else { server.aliases.origin };
            self.note(
                &first,
                origin,
                format!("the host `{name}` is not converted: Gateway API accepts names and a wildcard as the whole first label only"),
            );
        }
        if names.is_empty() && (server.host.value != DEFAULT_SERVER || !invalid.is_empty()) {
            return;
        }
        let file = file_of(&server.host.value);
        let is_passed = self.nginx.ports.has_ssl_passthrough && server.ssl_passthrough.value;
        let secure = if is_passed { self.passthrough(server, &names, &file) } else { self.secure_listeners(server, &first, &names, &file) };
        let label = names.first().and_then(|name| name.strip_prefix("*.")).map(|rest| one_label(rest, &names[1..]));
        let host = Host { server, file, names, secure, label };
        let mut routes = HostRoutes::default();
        let app_root = server.locations.iter().map(|location| (location, &location.settings.rewrite.app_root)).find(|(_, root)| !root.is_empty());
        if let Some((location, root)) = app_root {
            let rule = Self::app_root(&host, root);
            routes.answer(location, host.sections(), rule);
        }
        let redirects: Vec<bool> = server.locations.iter().map(|location| self.redirects_to_https(server, location)).collect();
        let redirects_all = redirects.iter().all(|redirects| *redirects);
        let is_regex = location::enforces_regex(&server.locations);
        let mut paths = Paths::of(&server.locations, is_regex);
        for (at, of) in server.locations.iter().enumerate() {
            let Some(place) = paths.at(at) else { continue };
            let found = match place {
                Ok(found) => found,
                Err(why) => {
                    self.note(of, of.path.origin, format!("the path `{}` is not converted: {why}", of.path.value));
                    continue;
                }
            };
            if let Some(without_slash) = found.slash {
                let rule = slash_redirect(&host, &without_slash, &of.path.value);
                routes.answer(of, host.sections(), rule);
            }
            self.location(&host, of, &found.path, (redirects[at], redirects_all), &mut routes);
        }
        if redirects_all && let Some(owner) = server.locations.iter().find(|location| location.ingress.is_some()) {
            let rule = self.https_redirect(&host, owner, host.on(PathMatch::Prefix("/".into())));
            routes.add(owner, "redirect", Vec::from([HTTP.to_string()]), rule, (None, None));
            self.unknown_paths_behind_proxy(&host, owner, &mut routes);
        }
        for (owner, mut route) in routes.all {
            route.namespace = owner.0;
            route.origin = owner.1;
            route.hosts.clone_from(&host.names);
            route.file.clone_from(&host.file);
            self.plan.routes.push(route);
        }
    }

    /// Answers requests for unknown paths whose TLS a proxy before the gateway ended: a redirect to https would never end.
    fn unknown_paths_behind_proxy(&mut self, host: &Host<'_>, owner: &Location, routes: &mut HostRoutes) {
        let has_root = host.server.locations.iter().any(|of| of.path.value == "/" && !of.is_default);
        if has_root || !self.nginx.globals.flag("use-forwarded-headers").value {
            return;
        }
        if let Some(mut rule) = self.direct_response(owner, 404, &host.file) {
            rule.comments.push("nginx answers 404 to other paths".to_string());
            rule.matches.push(host.on(PathMatch::Prefix("/".into())).and(Header::exact("X-Forwarded-Proto", "https")));
            routes.add(owner, "answers", Vec::from([HTTP.to_string()]), rule, (None, None));
        }
    }

    /// Whether requests without TLS for a location are redirected.
    fn redirects_to_https(&self, server: &Server, of: &Location) -> bool {
        let rewrite = &of.settings.rewrite;
        let is_kept = location::is_listed(of, &self.nginx.globals.text("no-tls-redirect-locations"));
        let has_certificate = self.certificate(server).is_some() && server.host.value != DEFAULT_SERVER;
        // A location without its Secret is converted as if it had one.
        let is_denied = of.settings.denied.is_some() && self.missing_secret(of, "auth-secret").is_none();
        let answers_itself = is_denied || !of.settings.redirect.url.is_empty();
        !is_kept && !answers_itself && (rewrite.force_ssl_redirect.value || rewrite.ssl_redirect.value && has_certificate)
    }

    fn location(&mut self, host: &Host<'_>, of: &Location, path: &PathMatch, (redirects, redirects_all): (bool, bool), routes: &mut HostRoutes) {
        let is_default = of.is_default && of.upstream.value == DEFAULT_UPSTREAM;
        let base = host.on(path.clone());
        let settings = &of.settings;
        let lacks_passwords = self.missing_secret(of, "auth-secret").is_some();
        if self.is_envoy_gateway() && (settings.denied.is_some() && !lacks_passwords || self.is_closed(host.server)) {
            let is_closed = self.is_closed(host.server);
            let status = if is_closed { 403 } else { 503 };
            let denied = settings.denied.as_ref().filter(|_| !is_closed);
            let why = denied.map_or_else(|| Str::new_static("the Secret of auth-tls-secret is missing or invalid"), |why| why.value.clone());
            let denied = denied.cloned();
            let origin = denied.as_ref().map_or(host.server.client_certificate_error.origin, |denied| denied.origin);
            let message = format!("ingress-nginx answers {status} to every request, and so do the converted files: {why}");
            self.note(of, origin, message);
            if let Some(mut rule) = self.direct_response(of, status, &host.file) {
                rule.comments.push(format!("ingress-nginx answers {status}: {why}"));
                rule.matches.push(base);
                routes.answer(of, host.sections(), rule);
            }
            return;
        }
        if !settings.redirect.url.is_empty() {
            if let Some(mut rule) = self.permanent_redirect(host, of) {
                rule.matches.push(base);
                routes.answer(of, host.sections(), rule);
            }
            return;
        }
        if redirects && !redirects_all {
            let rule = self.https_redirect(host, of, base.clone());
            routes.add(of, "redirect", Vec::from([HTTP.to_string()]), rule, (None, None));
        }
        if is_default {
            return;
        }
        let sections = if redirects { host.secure.clone() } else { host.sections() };
        let mut rules = self.forward(host, of, &base);
        if rules.is_empty() {
            return;
        }
        if let Some((what, origin)) = self.lost_protection(host.server, of) {
            close(&mut rules, what);
            let message = format!(
                "{what} is not converted: only objects of Envoy Gateway express it. The backends get the weight 0, so that not every client gets in: \
                 requests get 500 until you protect the route"
            );
            self.note(of, origin, message);
        }
        let all: Vec<RouteMatch> = rules.iter().flat_map(|rule| rule.matches.iter().cloned()).collect();
        // A proxy before nginx may have ended TLS.
        let forwarded = (redirects && self.nginx.globals.flag("use-forwarded-headers").value).then(|| Header::exact("X-Forwarded-Proto", "https"));
        self.body_limit(host, of, &all, forwarded.as_ref(), routes);
        self.preflight(host, of, &all, routes);
        let policies = (self.traffic(of), self.security(host, of));
        if let Some(forwarded) = forwarded {
            for rule in &rules {
                let matches = rule.matches.iter().map(|one| one.and(forwarded.clone())).collect();
                routes.add(of, "forwarded", Vec::from([HTTP.to_string()]), Rule { matches, ..rule.clone() }, policies.clone());
            }
        }
        if sections.is_empty() {
            return;
        }
        for rule in rules {
            routes.add(of, "", sections.clone(), rule, policies.clone());
        }
    }

    /// Answers larger bodies than a location accepts. Rules for requests with the header `forwarded` must not win.
    fn body_limit(&mut self, host: &Host<'_>, of: &Location, all: &[RouteMatch], forwarded: Option<&Header>, routes: &mut HostRoutes) {
        let written = &of.settings.proxy.body_size;
        let Some(limit) = super::traffic::bytes(&written.value).filter(|limit| *limit > 0) else { return };
        let Some(mut rule) = self.direct_response(of, 413, &host.file) else { return };
        let header = Header::regex("Content-Length", &greater_than(limit));
        rule.comments.push(format!("proxy-body-size: {}{}", written.value, super::reports::default_mark(written.origin)));
        rule.matches = all.iter().map(|one| one.and(header.clone())).collect();
        if let Some(forwarded) = forwarded {
            let matches: Vec<RouteMatch> = rule.matches.iter().map(|one| one.and(forwarded.clone())).collect();
            rule.matches.extend(matches);
        }
        routes.answer(of, host.sections(), rule);
    }

    /// Answers preflight requests where every origin is allowed.
    fn preflight(&mut self, host: &Host<'_>, of: &Location, all: &[RouteMatch], routes: &mut HostRoutes) {
        if !self.is_envoy_gateway() || !super::security::allows_all_origins(of) {
            return;
        }
        let Some(ingress) = &of.ingress else { return };
        let mut headers = super::security::cors_headers(of);
        headers.push(("Content-Type".to_string(), "text/plain charset=UTF-8".to_string()));
        let name = format!("{}-preflight", ingress.name);
        let namespace = ingress.namespace.to_string();
        let mut rule = self.response_rule(&namespace, &name, 204, &headers, &host.file);
        rule.comments.push("enable-cors: true (preflight requests)".to_string());
        rule.matches = all.iter().map(|one| RouteMatch { method: Some("OPTIONS"), ..one.clone() }).collect();
        routes.answer(of, host.sections(), rule);
    }

    /// A rule that answers with a status, in the namespace of a location's Ingress.
    pub(super) fn direct_response(&mut self, of: &Location, status: i64, file: &str) -> Option<Rule> {
        let namespace = of.ingress.as_ref()?.namespace.to_string();
        if !self.is_envoy_gateway() {
            return None;
        }
        Some(self.response_rule(&namespace, &format!("answer-{status}"), status, &[], file))
    }

    pub(super) fn response_rule(&mut self, namespace: &str, name: &str, status: i64, headers: &[(String, String)], file: &str) -> Rule {
        let (mut response, mut spec) = (Fields::new(), Fields::new());
        response.set("statusCode", number(status));
        if !headers.is_empty() {
            let mut header = Fields::new();
            header.set("set", super::super::build::named_values(headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))));
            response.set("header", header.node());
        }
        spec.set("directResponse", response.node());
        let filter = self.filter(namespace, name, &spec, file);
        Rule { filters: Vec::from([filter]), ..Rule::default() }
    }

    /// Writes an HTTPRouteFilter, and returns the filter that names it.
    pub(super) fn filter(&mut self, namespace: &str, name: &str, spec: &Fields, file: &str) -> Node {
        let mut own = name.to_string();
        let mut count = 1;
        let node = |name: &str| manifest(ENVOY_GATEWAY, "HTTPRouteFilter", namespace, name, spec);
        while let Some((_, known)) = self.plan.others.get(&("HTTPRouteFilter", namespace.to_string(), own.clone())) {
            if *known == node(&own) {
                break;
            }
            count += 1;
            own = format!("{name}-{count}");
        }
        let made = node(&own);
        self.plan.others.entry(("HTTPRouteFilter", namespace.to_string(), own.clone())).or_insert_with(|| (file.to_string(), made));
        let (mut reference, mut out) = (Fields::new(), Fields::new());
        reference.set("group", text("gateway.envoyproxy.io")).set("kind", text("HTTPRouteFilter")).set("name", text(&own));
        out.set("type", text("ExtensionRef")).set("extensionRef", reference.node());
        out.node()
    }

    /// Adds the listeners with the certificate of a host, and returns their names.
    fn secure_listeners(&mut self, server: &Server, first: &Location, names: &[String], file: &str) -> Vec<String> {
        let default = self.default_secret();
        let own = self.secret_of(server);
        let Some((namespace, name)) = own.clone().or_else(|| default.clone()) else {
            return Vec::new();
        };
        if own.is_none() || names.is_empty() {
            return Vec::from([self.plan.listener(None, (&namespace, &name), None, super::super::gateway::GATEWAY_FILE)]);
        }
        let client = self.client_validation(server, first);
        let mut sections: Vec<String> = Vec::new();
        for host in names {
            let section = match self.shared.get(host) {
                Some(wildcard) => self.plan.listener(Some(wildcard), (&namespace, &name), None, super::super::gateway::GATEWAY_FILE),
                None => self.plan.listener(Some(host), (&namespace, &name), client.clone(), file),
            };
            if !sections.contains(&section) {
                sections.push(section);
            }
        }
        sections
    }

    /// Returns the certificate of a host: its own, or that of the wildcard above it.
    fn certificate<'s>(&'s self, server: &'s Server) -> Option<&'s chancery_base::ir::nginx::Certificate> {
        let above = || self.nginx.server(&format!("*.{}", server.host.value.split_once('.')?.1))?.certificate.as_ref();
        server.certificate.as_ref().or_else(above)
    }

    fn default_secret(&self) -> Option<(String, String)> {
        split(&self.nginx.default_certificate.secret.value)
    }

    /// Returns the Secret of a host's certificate: the one that nginx uses, or else the one that an Ingress names and the input lacks.
    pub(super) fn secret_of(&self, server: &Server) -> Option<(String, String)> {
        let certificate = self.certificate(server)?;
        let default = &self.nginx.default_certificate.secret.value;
        if let Some(found) = split(&certificate.secret.value).filter(|_| certificate.secret.value != *default || certificate.secret.origin.is_some())
        {
            return Some(found);
        }
        if server.host.value == DEFAULT_SERVER {
            return None;
        }
        let ingresses = self
            .source
            .counted
            .iter()
            .map(|counted| &counted.ingress)
            .filter(|ingress| ingress.rules.iter().any(|rule| rule.host.value == server.host.value));
        let mut named = ingresses.flat_map(|ingress| {
            let lists =
                |tls: &&chancery_ingress_nginx::ingress::Tls| tls.hosts.iter().any(|host| host.value.eq_ignore_ascii_case(&server.host.value));
            ingress
                .tls
                .iter()
                .filter(lists)
                .filter(|tls| !tls.secret.is_empty())
                .map(|tls| (ingress.namespace.to_string(), tls.secret.value.to_string()))
        });
        named.next()
    }

    /// Returns the Secret that an annotation of a location's Ingress names, if the input lacks it.
    pub(super) fn missing_secret(&self, of: &Location, annotation: &str) -> Option<(String, String)> {
        let ingress = of.ingress.as_ref()?;
        let object = self.objects.get(ingress.origin?.object())?;
        let key = format!("{}/{annotation}", chancery_ingress_nginx::annotations::PREFIX);
        let written = object.root.at(&["metadata", "annotations", &key]).and_then(Node::as_str).filter(|written| !written.is_empty())?;
        let (namespace, name) = split(written).unwrap_or_else(|| (ingress.namespace.to_string(), written.to_string()));
        // The controller does not even look for it.
        if *ingress.namespace != *namespace && !self.nginx.globals.flag("allow-cross-namespace-resources").value {
            return None;
        }
        let is_it = |object: &chancery_base::resource::Object| {
            object.key.kind == "Secret" && object.key.name == *name && object.key.namespace.as_deref().unwrap_or("default") == namespace
        };
        (!self.objects.iter().any(|object| !object.assumed && is_it(object))).then_some((namespace, name))
    }

    /// Whether a host is closed, as the Secret with the CA of its clients is invalid.
    pub(super) fn is_closed(&self, server: &Server) -> bool {
        let is_missing = || server.locations.iter().any(|of| self.missing_secret(of, "auth-tls-secret").is_some());
        !server.client_certificate_error.is_empty() && !is_missing()
    }

    /// Passes TLS on to the service at `/`.
    fn passthrough(&mut self, server: &Server, names: &[String], file: &str) -> Vec<String> {
        let root = server.locations.iter().find(|location| location.path.value == "/").cloned().unwrap_or_default();
        let Some(backend) = self.backend(server, &root, &root.upstream.value.clone()) else { return Vec::new() };
        let Some(ingress) = &root.ingress else { return Vec::new() };
        let sections: Vec<String> = names.iter().map(|host| self.plan.listener(Some(host), ("", ""), None, file)).collect();
        for listener in self.plan.listeners.iter_mut().filter(|listener| sections.contains(&listener.name)) {
            listener.is_passthrough = true;
        }
        let (namespace, home) = (ingress.namespace.to_string(), self.target.namespace());
        let parents = sections.iter().map(|section| {
            let mut parent = Fields::new();
            parent.set("name", text(GATEWAY)).set("namespace", text(home)).set("sectionName", text(section));
            parent.node()
        });
        let (mut rule, mut spec) = (Fields::new(), Fields::new());
        rule.set("backendRefs", list(Vec::from([backend.node(&namespace)])));
        spec.comment("ssl-passthrough: true").set("parentRefs", list(parents.collect()));
        spec.set("hostnames", super::super::gateway::items(names)).set("rules", list(Vec::from([rule.node()])));
        let name = ingress.name.to_string();
        let node = manifest(super::super::gateway::V1, "TLSRoute", &namespace, &name, &spec);
        self.plan.others.insert(("TLSRoute", namespace, name), (file.to_string(), node));
        Vec::new()
    }

    /// A redirect to the same URL with TLS.
    fn https_redirect(&mut self, host: &Host<'_>, of: &Location, on: RouteMatch) -> Rule {
        let code = self.nginx.globals.number("http-redirect-code");
        let rewrite = &of.settings.rewrite;
        let mut fields = Fields::new();
        fields.set("scheme", text("https"));
        fields.set("statusCode", number(self.redirect_code(of, code.value, code.origin)));
        let why = if rewrite.force_ssl_redirect.value {
            "force-ssl-redirect: true".to_string()
        } else {
            format!("ssl-redirect: true{}", super::reports::default_mark(rewrite.ssl_redirect.origin))
        };
        if host.secure.is_empty() && !self.nginx.ports.has_ssl_passthrough {
            self.note(
                of,
                rewrite.force_ssl_redirect.origin.or(host.server.host.origin),
                format!(
                    "requests to `{}` are redirected to https, and no listener has a certificate: name a Secret in `spec.tls`",
                    host.server.host.value
                ),
            );
        }
        Rule { comments: Vec::from([why]), matches: Vec::from([on]), filters: Vec::from([redirect(&fields)]), ..Rule::default() }
    }

    /// Redirects between a host with and without `www.`.
    pub(super) fn www_redirects(&mut self) {
        for of in &self.nginx.redirects {
            let Some(server) = self.nginx.server(&of.to) else { continue };
            let Some(owner) = server.locations.iter().find(|location| location.ingress.is_some()) else { continue };
            let Some(ingress) = &owner.ingress else { continue };
            if !is_host(&of.from.value) || !is_host(&of.to) {
                self.note(
                    owner,
                    of.from.origin,
                    format!("from-to-www-redirect is not converted for `{}`: Gateway API does not accept the name `{}`", of.to, of.from.value),
                );
                continue;
            }
            let file = file_of(&of.to);
            let secret = of.certificate.as_ref().and_then(|certificate| split(&certificate.secret.value));
            let secure = match secret {
                Some((namespace, name)) => Vec::from([self.plan.listener(Some(&of.from.value), (&namespace, &name), None, &file)]),
                None => self.default_secret().map(|_| HTTPS.to_string()).into_iter().collect(),
            };
            let code = self.nginx.globals.number("http-redirect-code");
            let mut fields = Fields::new();
            fields.set("hostname", text(&of.to)).set("statusCode", number(self.redirect_code(owner, code.value, code.origin)));
            let rule = Rule {
                comments: Vec::from(["from-to-www-redirect: true".to_string()]),
                matches: Vec::from([RouteMatch::new(PathMatch::Prefix("/".into()))]),
                filters: Vec::from([redirect(&fields)]),
                ..Rule::default()
            };
            self.plan.routes.push(Route {
                namespace: ingress.namespace.to_string(),
                origin: ingress.name.to_string(),
                role: "www",
                hosts: Vec::from([of.from.value.to_ascii_lowercase()]),
                sections: core::iter::once(HTTP.to_string()).chain(secure).collect(),
                rules: Vec::from([rule]),
                file,
                ..Route::default()
            });
        }
    }

    /// Adds response headers to a rule.
    pub(super) fn response_headers(rule: &mut Rule, headers: &[(String, String)]) {
        if !headers.is_empty() {
            rule.filters.push(header_modifier("ResponseHeaderModifier", headers));
        }
    }
}

fn split(secret: &str) -> Option<(String, String)> {
    let (namespace, name) = secret.split_once('/')?;
    Some((namespace.to_string(), name.to_string()))
}

/// Lets no request pass: a gateway answers 500 if all backends have the weight 0. A rule must not be missing, as a wider rule could match its
/// requests.
fn close(rules: &mut [Rule], lost: &str) {
    for rule in rules {
        rule.backends.iter_mut().for_each(|backend| backend.weight = Some(0));
        rule.comments.push(format!("{lost} is not converted, so no request passes"));
    }
}

/// A condition that the first label of the host is the only one before the rest.
fn one_label(rest: &str, others: &[String]) -> Header {
    let quoted = |name: &str| name.replace('.', "\\.");
    let mut names = Vec::from([format!("[a-z0-9_-]+\\.{}", quoted(rest))]);
    names.extend(others.iter().map(|other| quoted(other).replacen('*', ".+", 1)));
    Header::regex("Host", &format!("(?i)(?:{})(?::[0-9]+)?", names.join("|")))
}

/// nginx redirects a path without its final slash to the path of a location.
fn slash_redirect(host: &Host<'_>, from: &str, to: &str) -> Rule {
    let (mut path, mut fields) = (Fields::new(), Fields::new());
    path.set("type", text("ReplaceFullPath")).set("replaceFullPath", text(to));
    fields.set("path", path.node()).set("statusCode", number(301));
    Rule {
        comments: Vec::from([format!("nginx adds the slash of the path {to}")]),
        matches: Vec::from([host.on(PathMatch::Exact(from.to_string()))]),
        filters: Vec::from([redirect(&fields)]),
        ..Rule::default()
    }
}

/// The routes of a host, by their Ingress.
#[derive(Default)]
pub(super) struct HostRoutes {
    all: Vec<((String, String), Route)>,
}

impl HostRoutes {
    /// Adds a rule to the route of a location's Ingress with the same listeners and policies.
    fn add(&mut self, of: &Location, role: &'static str, sections: Vec<String>, rule: Rule, (traffic, security): (Option<Node>, Option<Node>)) {
        let Some(ingress) = &of.ingress else { return };
        let owner = (ingress.namespace.to_string(), ingress.name.to_string());
        let fits = |(known, route): &&mut ((String, String), Route)| {
            *known == owner && route.role == role && route.sections == sections && route.traffic == traffic && route.security == security
        };
        let at = match self.all.iter_mut().find(fits) {
            Some((_, route)) => route,
            None => {
                self.all.push((owner, Route { role, sections, traffic, security, ..Route::default() }));
                let Some((_, route)) = self.all.last_mut() else { return };
                route
            }
        };
        // Rules with the same effect share one rule; duplicates are left out.
        let is_same = |known: &&mut Rule| {
            known.filters == rule.filters && known.backends == rule.backends && known.extra == rule.extra && known.comments == rule.comments
        };
        match at.rules.iter_mut().find(is_same) {
            Some(known) => {
                let new: Vec<RouteMatch> = rule.matches.into_iter().filter(|one| !known.matches.contains(one)).collect();
                known.matches.extend(new);
            }
            None => at.rules.push(rule),
        }
    }

    /// Adds a rule that the gateway answers itself.
    pub(super) fn answer(&mut self, of: &Location, sections: Vec<String>, rule: Rule) {
        self.add(of, "answers", sections, rule, (None, None));
    }
}
