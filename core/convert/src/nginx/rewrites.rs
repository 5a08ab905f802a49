//! Forwards the requests of a location: rewrites, headers, copies and backends.

use super::super::build::{Fields, text};
use super::super::gateway::{Backend, RouteMatch, Rule, request_modifier};
use super::Converter;
use super::host::Host;
use super::paths::{check, groups, has_alternatives};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::Location;
use chancery_nginx::directive::parse;
use chancery_nginx::location;
use chancery_text::Node;

/// The result of a rewrite.
enum Rewritten {
    /// The path stays.
    Unchanged,
    /// By filters, and fields of `urlRewrite` of Gateway API.
    By { filters: Vec<Node>, rewrite: Fields },
    /// nginx redirects.
    Redirect(Node),
}

impl Converter<'_> {
    /// The rules that forward the requests of a location, canaries included.
    pub(super) fn forward(&mut self, host: &Host<'_>, of: &Location, base: &RouteMatch) -> Vec<Rule> {
        let settings = &of.settings;
        let Some(main) = self.backend(host.server, of, &of.upstream.value.clone()) else { return Vec::new() };
        if !matches!(settings.backend_protocol.value.to_uppercase().as_str(), "" | "HTTP" | "HTTPS" | "GRPC" | "GRPCS") {
            let message = format!("the path `{}` is not converted: Envoy does not speak {}", of.path.value, settings.backend_protocol.value);
            self.note(of, settings.backend_protocol.origin, message);
            return Vec::new();
        }
        let mut rule = Rule { matches: Vec::from([base.clone()]), ..Rule::default() };
        let mut rewrite = Fields::new();
        match self.rewrite(host, of, &mut rule.comments) {
            Ok(Rewritten::Unchanged) => {}
            Ok(Rewritten::By { filters, rewrite: fields }) => {
                rule.filters.extend(filters);
                rewrite = fields;
            }
            Ok(Rewritten::Redirect(filter)) => {
                rule.filters.push(filter);
                return Vec::from([rule]);
            }
            Err(why) => {
                let target = &settings.rewrite.target;
                self.note(of, target.origin, format!("the path `{}` is not converted: rewrite-target `{}` {why}", of.path.value, target.value));
                return Vec::new();
            }
        }
        self.upstream_host(of, &mut rewrite, &mut rule.comments);
        if !rewrite.is_empty() {
            let mut filter = Fields::new();
            filter.set("type", text("URLRewrite")).set("urlRewrite", rewrite.node());
            rule.filters.push(filter.node());
        }
        self.request_headers(host, of, &mut rule);
        self.headers(of, &mut rule);
        self.mirror(host, of, &mut rule);
        if !self.is_envoy_gateway() {
            let mut timeouts = Fields::new();
            timeouts.set("request", text("0s")).set("backendRequest", text("0s"));
            rule.extra.push(("timeouts", timeouts.node()));
        }
        self.canaries(host, of, rule, main)
    }

    fn rewrite(&mut self, host: &Host<'_>, of: &Location, comments: &mut Vec<String>) -> Result<Rewritten, String> {
        let target = &of.settings.rewrite.target;
        if !location::rewrites(of) {
            return Ok(Rewritten::Unchanged);
        }
        comments.push(format!("rewrite-target: {}", target.value));
        let path = of.path.value.as_str();
        check(path)?;
        if target.starts_with("http://") || target.starts_with("https://") {
            return self.rewrite_to_url(of).map(Rewritten::Redirect);
        }
        let replacement = substitution(&target.value, groups(path))?;
        if replacement.contains('?') {
            return Err("adds a query, which Envoy cannot combine with the query of the request".into());
        }
        let is_constant = !target.contains('$');
        if is_constant && target.starts_with('/') {
            let (mut inner, mut rewrite) = (Fields::new(), Fields::new());
            inner.set("type", text("ReplaceFullPath")).set("replaceFullPath", text(&target.value));
            rewrite.set("path", inner.node());
            return Ok(Rewritten::By { filters: Vec::new(), rewrite });
        }
        if !self.is_envoy_gateway() {
            return Err("uses groups of the path, which Gateway API cannot use".into());
        }
        let pattern = match has_alternatives(path) {
            true => format!("(?i)^.*?(?:{path}).*$"),
            false => format!("(?i)^{path}.*$"),
        };
        let (mut regex, mut inner, mut rewrite, mut spec) = (Fields::new(), Fields::new(), Fields::new(), Fields::new());
        regex.set("pattern", text(&pattern)).set("substitution", text(&replacement));
        inner.set("type", text("ReplaceRegexMatch")).set("replaceRegexMatch", regex.node());
        rewrite.set("path", inner.node());
        spec.comment(&format!("rewrite-target: {} of the path {path}", target.value));
        spec.set("urlRewrite", rewrite.node());
        let Some(ingress) = &of.ingress else { return Err("has no Ingress".into()) };
        let filter = self.filter(&ingress.namespace, &format!("{}-rewrite", ingress.name), &spec, &host.file);
        Ok(Rewritten::By { filters: Vec::from([filter]), rewrite: Fields::new() })
    }

    fn upstream_host(&mut self, of: &Location, rewrite: &mut Fields, comments: &mut Vec<String>) {
        let name = &of.settings.upstream_vhost;
        if name.is_empty() {
            return;
        }
        let is_host = name.value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte));
        if is_host && name.value.parse::<core::net::IpAddr>().is_err() {
            comments.push(format!("upstream-vhost: {}", name.value));
            rewrite.set("hostname", text(&name.value));
        } else {
            self.note(
                of,
                name.origin,
                format!(
                    "`upstream-vhost: {}` is not converted: Gateway API accepts a host name in lower case only, without port or variables",
                    name.value
                ),
            );
        }
    }

    /// Sets and removes the headers that nginx sets for the service, so that clients cannot send them.
    fn request_headers(&mut self, host: &Host<'_>, of: &Location, rule: &mut Rule) {
        let prefix = &of.settings.x_forwarded_prefix;
        let (mut set, mut remove) = (Vec::new(), Vec::new());
        if location::rewrites(of) && !prefix.is_empty() {
            if prefix.value.contains('$') {
                self.note(of, prefix.origin, "`x-forwarded-prefix` is not converted: a header cannot hold groups of the path");
                remove.push("X-Forwarded-Prefix");
            } else {
                rule.comments.push(format!("x-forwarded-prefix: {}", prefix.value));
                set.push(("X-Forwarded-Prefix".to_string(), prefix.value.to_string()));
            }
        }
        if self.is_envoy_gateway() && self.nginx.globals.flag("use-forwarded-headers").value {
            rule.comments.push("use-forwarded-headers: true (nginx replaces the values of clients)".to_string());
            let scheme = "%REQ(X-FORWARDED-PROTO)%";
            let values = [("X-Forwarded-Scheme", scheme), ("X-Real-IP", "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%"), ("X-Scheme", scheme)];
            set.extend(values.map(|(name, value)| (name.to_string(), value.to_string())));
        } else if self.is_envoy_gateway() && self.nginx.globals.flag("enable-real-ip").value {
            rule.comments.push("enable-real-ip: true".to_string());
            set.push(("X-Real-IP".to_string(), "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%".to_string()));
        }
        let certificates = &host.server.client_certificates;
        if self.client_ca(host.server).is_some() {
            rule.comments.push("auth-tls-secret: clients cannot send the headers about their certificate".to_string());
            if certificates.pass_to_upstream.value {
                remove.push("ssl-client-cert");
            }
            remove.extend(["ssl-client-verify", "ssl-client-subject-dn", "ssl-client-issuer-dn"]);
        }
        if of.settings.basic_auth.secured.value {
            rule.comments.push("auth-type: the service does not get the password".to_string());
            remove.push("Authorization");
        }
        let written = &of.settings.configuration_snippet;
        let directives = if written.is_empty() { Vec::new() } else { parse(&written.value, None).unwrap_or_default() };
        for directive in directives.iter().filter(|directive| directive.name == "proxy_set_header") {
            let [name, value] = &directive.args[..] else { continue };
            let is_known =
                set.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) || remove.iter().any(|known| known.eq_ignore_ascii_case(name));
            if is_known || !super::clients::is_private(name) || value.contains("$http_") {
                continue;
            }
            rule.comments.push(format!("configuration-snippet: proxy_set_header {name}"));
            match value.is_empty() || value.contains('$') {
                true => remove.push(name),
                false if self.is_envoy_gateway() => set.push((name.to_string(), value.replace('%', "%%"))),
                false => set.push((name.to_string(), value.to_string())),
            }
        }
        if !set.is_empty() || !remove.is_empty() {
            rule.filters.push(request_modifier(&set, &remove));
        }
    }

    /// Adds headers of responses.
    fn headers(&mut self, of: &Location, rule: &mut Rule) {
        let mut headers: Vec<(String, String)> = Vec::new();
        if super::security::allows_all_origins(of) && self.is_envoy_gateway() {
            headers.extend(super::security::cors_headers(of));
            rule.comments.push("enable-cors: true".to_string());
        }
        let custom = &of.settings.custom_headers.headers;
        if custom.value.is_empty() && custom.origin.is_some() {
            self.note(of, custom.origin, "`custom-headers` is not converted: its ConfigMap is empty, or not in the input");
        }
        if !custom.value.is_empty() {
            rule.comments.push("custom-headers".to_string());
        }
        headers.extend(custom.value.iter().map(|(name, value)| (name.to_string(), value.replace('%', "%%"))));
        Self::response_headers(rule, &headers);
    }

    fn mirror(&mut self, host: &Host<'_>, of: &Location, rule: &mut Rule) {
        let mirror = &of.settings.mirror;
        if mirror.target.is_empty() {
            return;
        }
        let Some(ingress) = &of.ingress else { return };
        let written = mirror.target.value.as_str();
        let url = super::url::Url::read(written).filter(|url| matches!(url.path.as_str(), "" | "$request_uri" | "/$request_uri"));
        let (Some(url), true) = (url, self.is_envoy_gateway()) else {
            self.note(
                of,
                mirror.target.origin,
                format!("`mirror-target: {written}` is not converted: a Gateway sends copies to a host with the path of the request only"),
            );
            return;
        };
        let backend = self.backend_of_url(&url, &ingress.namespace, &host.file);
        self.grant(&backend, "gateway.networking.k8s.io", "HTTPRoute", &ingress.namespace);
        let (mut inner, mut filter) = (Fields::new(), Fields::new());
        inner.set("backendRef", backend.reference(&ingress.namespace).node());
        filter.set("type", text("RequestMirror")).set("requestMirror", inner.node());
        rule.comments.push(format!("mirror-target: {written}"));
        rule.filters.push(filter.node());
    }

    /// Permits objects of a namespace to name a backend of another namespace.
    pub(super) fn grant(&mut self, backend: &Backend, group: &'static str, kind: &'static str, namespace: &str) {
        if backend.service.namespace == namespace {
            return;
        }
        let to = match &backend.object {
            Some(object) => ("gateway.envoyproxy.io", "Backend", object.clone()),
            None => ("", "Service", backend.service.name.clone()),
        };
        let from = (group, kind, namespace.to_string());
        self.plan.grants.insert(super::super::gateway::Grant { from, to, name: backend.service.namespace.clone() });
    }
}

/// Writes nginx's groups (`$1`) as RE2's (`\1`).
fn substitution(target: &str, groups: usize) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = target.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push_str("\\\\"),
            '$' => match chars.next_if(char::is_ascii_digit) {
                // nginx leaves an undefined group empty.
                Some(digit) if digit.to_digit(10).is_some_and(|digit| digit as usize <= groups) => out.extend(['\\', digit]),
                Some(_) => {}
                None => return Err("uses a variable of nginx".into()),
            },
            plain => out.push(plain),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::substitution;

    #[test]
    fn substitution_of_undefined_group_is_empty() {
        assert_eq!(substitution("/a/$2$7", 2).as_deref(), Ok("/a/\\2"));
        assert!(substitution("/$host", 2).is_err());
    }
}
