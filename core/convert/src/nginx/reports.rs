//! Reports annotations and settings that are not converted, or not exactly.

use super::Converter;
use super::remedies::remedy;
use super::table::{Fidelity, verdict};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::DEFAULT_UPSTREAM;
use chancery_base::resource::{Origin, Rule};
use chancery_ingress_nginx::annotations::{self, read::Fault};
use chancery_ingress_nginx::ingress::Ingress;
use chancery_ingress_nginx::source::Unhandled;
use chancery_nginx::directive::{Directive, parse};
use chancery_text::Node;

/// Keys of the ConfigMap that are converted, or that change no answer.
pub(super) const KNOWN_KEYS: &[&str] = &[
    "access-log-params",
    "access-log-path",
    "add-headers",
    "allow-cross-namespace-resources",
    "allow-snippet-annotations",
    "annotation-value-word-blocklist",
    "annotations-risk-level",
    "client-body-buffer-size",
    "client-header-buffer-size",
    "client-header-timeout",
    "disable-ipv6",
    "disable-ipv6-dns",
    "enable-aio-write",
    "enable-multi-accept",
    "enable-real-ip",
    "enable-serial-reloads",
    "enable-underscores-in-headers",
    "error-log-level",
    "error-log-path",
    "force-ssl-redirect",
    "generate-request-id",
    "global-allowed-response-headers",
    "global-external-auth",
    "grpc-buffer-size-kb",
    "hide-headers",
    "hsts",
    "hsts-include-subdomains",
    "hsts-max-age",
    "hsts-preload",
    "http-access-log-path",
    "http-redirect-code",
    "http2-max-concurrent-streams",
    "ignore-invalid-headers",
    "keep-alive",
    "load-balance",
    "log-format-escape-json",
    "log-format-escape-none",
    "map-hash-bucket-size",
    "max-worker-connections",
    "max-worker-open-files",
    "no-auth-locations",
    "no-tls-redirect-locations",
    "preserve-trailing-slash",
    "proxy-add-original-uri-header",
    "proxy-body-size",
    "proxy-buffer-size",
    "proxy-buffering",
    "proxy-buffers-number",
    "proxy-busy-buffers-size",
    "proxy-connect-timeout",
    "proxy-headers-hash-bucket-size",
    "proxy-headers-hash-max-size",
    "proxy-http-version",
    "proxy-max-temp-file-size",
    "proxy-next-upstream",
    "proxy-next-upstream-tries",
    "proxy-read-timeout",
    "proxy-real-ip-cidr",
    "proxy-request-buffering",
    "proxy-send-timeout",
    "proxy-set-headers",
    "retry-non-idempotent",
    "reuse-port",
    "server-name-hash-bucket-size",
    "server-name-hash-max-size",
    "server-tokens",
    "service-upstream",
    "ssl-buffer-size",
    "ssl-ciphers",
    "ssl-protocols",
    "ssl-redirect",
    "ssl-session-cache",
    "ssl-session-cache-size",
    "ssl-session-tickets",
    "ssl-session-timeout",
    "strict-validate-path-type",
    "upstream-keepalive-connections",
    "upstream-keepalive-requests",
    "upstream-keepalive-time",
    "upstream-keepalive-timeout",
    "use-forwarded-headers",
    "use-http2",
    "use-proxy-protocol",
    "variables-hash-bucket-size",
    "variables-hash-max-size",
    "whitelist-source-range",
    "denylist-source-range",
    "worker-cpu-affinity",
    "worker-processes",
    "worker-shutdown-timeout",
];

/// The annotations that let cert-manager make a certificate for an Ingress.
const ISSUER: &str = "cert-manager.io/issuer";
const CLUSTER_ISSUER: &str = "cert-manager.io/cluster-issuer";
const TLS_ACME: &str = "kubernetes.io/tls-acme";

/// The prefixes of external-dns' annotations: its releases since 0.22 have the second one.
const DNS_PREFIXES: [&str; 2] = ["external-dns.alpha.kubernetes.io/", "external-dns.kubernetes.io/"];
/// external-dns reads this annotation at the Gateway, and the others at routes.
const DNS_TARGET: &str = "target";
/// An annotation that external-dns reads at Ingresses only.
const DNS_HOST_SOURCE: &str = "ingress-hostname-source";

/// The mark of a value that no object sets.
pub(super) fn default_mark(origin: Option<Origin>) -> &'static str {
    if origin.is_none_or(|origin| origin.rule() == Rule::Default) { " (default)" } else { "" }
}

/// Whether a value of an annotation needs nothing in the result: it changes nothing, or the result behaves so without a field.
pub(super) fn is_idle(name: &str, value: &str) -> bool {
    let starts_on = matches!(
        name,
        "ssl-redirect"
            | "enable-access-log"
            | "enable-global-auth"
            | "mirror-request-body"
            | "cors-allow-credentials"
            | "opentelemetry-trust-incoming-span"
    );
    match value.trim() {
        "" => true,
        "false" | "off" => !starts_on || name == "ssl-redirect",
        "true" | "on" => matches!(name, "enable-access-log" | "enable-global-auth" | "mirror-request-body" | "opentelemetry-trust-incoming-span"),
        "0" => name.starts_with("limit-") || matches!(name, "proxy-next-upstream-timeout" | "proxy-body-size"),
        "all" => name == "satisfy",
        value => name == "backend-protocol" && value.eq_ignore_ascii_case("HTTP"),
    }
}

/// The annotations of an Ingress whose value the controller ignores, because it has the wrong form.
pub(super) fn ignored(ingress: &Ingress) -> Vec<&'static str> {
    // Another fault, or the value of one of these, closes the path.
    let closes =
        |name: &str| matches!(name, "allowlist-source-range" | "denylist-source-range" | "auth-method" | "auth-response-headers" | "auth-secret");
    let rejected = ingress.annotations.rejected().into_iter();
    rejected.filter(|of| matches!(of.fault, Fault::Validation(_)) && !closes(of.name)).map(|of| of.name).collect()
}

/// Describes what to do with an annotation of external-dns.
fn of_external_dns(name: &str) -> Option<String> {
    let own = DNS_PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let instead = match own {
        DNS_TARGET => "external-dns reads it at the Gateway, with its source `gateway-httproute`",
        DNS_HOST_SOURCE => "external-dns reads the hosts of HTTPRoutes, with its source `gateway-httproute`",
        _ => "external-dns reads it at HTTPRoutes, with its source `gateway-httproute`",
    };
    Some(format!("`{name}` is not converted: {instead}"))
}

/// Describes the directives of a snippet, and its locations. The comparison evaluates only locations that are not inside another one.
fn of_snippet(name: &str, text: &str) -> Option<String> {
    fn collect(block: &[Directive], is_inside: bool, names: &mut Vec<String>, locations: &mut Vec<(String, bool)>) {
        for directive in block {
            let is_location = directive.name == "location";
            let known = format!("`{}`", directive.name);
            if is_location {
                locations.push((directive.args.iter().map(|arg| arg.as_str()).collect::<Vec<_>>().join(" "), is_inside));
            } else if !names.contains(&known) {
                names.push(known);
            }
            collect(directive.inner(), is_inside || is_location, names, locations);
        }
    }
    if !name.ends_with("-snippet") || name == "modsecurity-snippet" {
        return None;
    }
    let (mut names, mut locations) = (Vec::new(), Vec::new());
    collect(&parse(text, None).ok()?, name != "server-snippet", &mut names, &mut locations);
    let mut out = format!("`{name}` is not converted");
    if !names.is_empty() {
        out.push_str(&format!(": {} of nginx {}", names.join(", "), if names.len() == 1 { "has no counterpart" } else { "have no counterpart" }));
    }
    let Some((first, is_inside)) = locations.iter().find(|(_, is_inside)| *is_inside).or_else(|| locations.first()) else {
        return (!names.is_empty()).then(|| format!("{out}; write filters for headers, redirects and rewrites"));
    };
    let more = if locations.len() > 1 { format!(" and {} more", locations.len() - 1) } else { String::new() };
    let unproven = if *is_inside { "; the comparison does not evaluate a location inside another one" } else { "" };
    let joint = if names.is_empty() { ":" } else { ";" };
    Some(format!("{out}{joint} write rules for its location `{first}`{more}{unproven}"))
}

impl Converter<'_> {
    pub(super) fn reports(&mut self) {
        self.annotations();
        self.settings();
        let has_backends = self.plan.others.keys().any(|(kind, ..)| *kind == "Backend");
        let mut limits: Vec<String> = Vec::new();
        if has_backends {
            limits.push("Backends need `extensionApis.enableBackend: true` in the configuration of Envoy Gateway.".to_string());
        }
        if self.nginx.default_certificate.secret.value.split_once('/').is_none() {
            limits.push(
                "nginx answers https with a generated certificate for hosts without their own; the Gateway has no listener for these requests."
                    .to_string(),
            );
        }
        limits.push("nginx cuts the slash at the end of the path when it redirects to https; the Gateway keeps it.".to_string());
        if !self.is_envoy_gateway() {
            limits.push(
                "Gateway API has no fields for client addresses, passwords, body sizes, retries and cross-origin requests: these are not converted."
                    .to_string(),
            );
            limits.push(
                "nginx replaces `X-Real-IP`, `X-Scheme`, `X-Forwarded-Scheme` and `X-Forwarded-Host`; here a client can send them itself."
                    .to_string(),
            );
        }
        limits.extend(self.other_classes());
        self.out.limits = limits;
        let service = self.nginx.upstream(DEFAULT_UPSTREAM).and_then(|upstream| upstream.service.clone());
        if let Some(service) = service
            && let Some(object) = service.origin.and_then(|origin| self.objects.get(origin.object()))
        {
            let message = "`--default-backend-service` is not converted: the Gateway answers requests without a rule with 404; write an HTTPRoute without \
                           `hostnames` for this Service, and a rule for `/` in the routes of each host";
            self.out.note(&object.key, service.origin, message);
        }
    }

    fn annotations(&mut self) {
        for counted in &self.source.counted {
            let Some(object) = self.objects.get(counted.ingress.object) else { continue };
            let annotations = object.root.at(&["metadata", "annotations"]).and_then(Node::as_object);
            for entry in annotations.into_iter().flatten() {
                if let Some(message) = of_external_dns(&entry.key) {
                    self.out.note(&object.key, Some(Origin::new(object.id, entry.value.id, Rule::Field)), message);
                }
            }
            let issued = annotations.into_iter().flatten().find(|entry| matches!(entry.key.as_str(), ISSUER | CLUSTER_ISSUER | TLS_ACME));
            if let Some(entry) = issued {
                let origin = Origin::new(object.id, entry.value.id, Rule::Field);
                let message = format!(
                    "`{}` is not converted: cert-manager deletes its Certificate with the Ingress, so write a Certificate for the same Secret",
                    entry.key
                );
                self.out.note(&object.key, Some(origin), message);
            }
            let is_canary = counted.settings.canary.enabled.value;
            let ignored = ignored(&counted.ingress);
            for (name, value) in counted.ingress.annotations.own() {
                let Some(annotation) = annotations::table::find(name) else { continue };
                let Some(found) = verdict(annotation.name) else { continue };
                // nginx ignores the other annotations of a canary.
                if is_canary && annotation.group != "Canary" || is_idle(annotation.name, &value.value) {
                    continue;
                }
                if ignored.contains(&annotation.name) {
                    let written = format!("`{name}: {}`", value.value);
                    let message =
                        format!("{written} is not converted: the value has the wrong form, so ingress-nginx ignores it and its default applies");
                    self.out.note(&object.key, value.origin, message);
                    continue;
                }
                // A note about this value says more than the annotation's verdict.
                let is_of_value =
                    |origin: Origin| value.origin.is_some_and(|value| (origin.object(), origin.node()) == (value.object(), value.node()));
                if self.out.notes.iter().any(|note| note.origin.is_some_and(is_of_value)) {
                    continue;
                }
                if let Some(message) = of_snippet(annotation.name, &value.value) {
                    self.out.note(&object.key, value.origin, message);
                    continue;
                }
                let message = match found.on(self.target) {
                    Fidelity::Exact | Fidelity::Unneeded => continue,
                    Fidelity::Approximate => format!("`{name}` is converted approximately: {}", found.words),
                    Fidelity::Impossible => format!("`{name}` is not converted: {}", found.words),
                };
                self.out.note(&object.key, value.origin, message);
            }
        }
        for (ingress, _) in &self.source.unhandled {
            let Some(object) = self.objects.get(ingress.object) else { continue };
            let is_ours = object
                .root
                .at(&["metadata", "annotations"])
                .and_then(Node::as_object)
                .is_some_and(|all| all.iter().any(|entry| entry.key.starts_with(annotations::PREFIX)));
            if is_ours {
                self.out.note(
                    &object.key,
                    Some(ingress.origin),
                    "ingress-nginx does not serve it, so it is not converted; `chancery check` says why",
                );
            }
        }
    }

    /// Counts Ingresses that ingress-nginx does not serve because of their class.
    fn other_classes(&self) -> Option<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (ingress, why) in &self.source.unhandled {
            if matches!(why, Unhandled::Class(_)) {
                let class = ingress.class.as_ref().or_else(|| ingress.annotations.full(annotations::table::CLASS));
                let words = class.map_or_else(|| "without a class".to_string(), |class| format!("of class `{}`", class.value));
                *counts.entry(words).or_default() += 1;
            }
        }
        let all: usize = counts.values().sum();
        let list = counts.iter().map(|(words, count)| format!("{count} {words}")).collect::<Vec<_>>().join(", ");
        let (ingresses, are) = if all == 1 { ("Ingress", "is") } else { ("Ingresses", "are") };
        (all > 0).then(|| format!("{all} {ingresses} that ingress-nginx does not serve {are} not converted: {list}."))
    }

    /// Reports headers for services whose values only nginx knows.
    fn set_headers(&mut self) {
        let unknown: Vec<(String, Option<Origin>)> = self
            .nginx
            .globals
            .set_headers
            .iter()
            .filter(|(_, value)| !self.is_envoy_gateway() || value.value.contains('$'))
            .map(|(name, value)| (name.to_string(), value.origin))
            .collect();
        for (name, origin) in unknown {
            let Some(object) = origin.and_then(|origin| self.objects.get(origin.object())) else { continue };
            let message = match self.is_envoy_gateway() {
                true => format!(
                    "`{name}` of `proxy-set-headers` is not converted: its value uses variables of nginx. The listeners remove the header of clients; set \
                     it in `earlyRequestHeaders` of the ClientTrafficPolicies"
                ),
                false => format!("`{name}` of `proxy-set-headers` is not converted: a client can send it itself"),
            };
            self.out.note(&object.key, origin, message);
        }
    }

    fn settings(&mut self) {
        self.set_headers();
        for (key, of) in [("proxy-set-headers", &self.nginx.globals.set_headers), ("add-headers", &self.nginx.globals.add_headers)] {
            let written = self.nginx.globals.text(key);
            if !written.is_empty()
                && of.is_empty()
                && let Some(object) = written.origin.and_then(|origin| self.objects.get(origin.object()))
            {
                let message = format!("`{key}` of the ConfigMap is not converted: the ConfigMap {} is empty, or not in the input", written.value);
                self.out.note(&object.key, written.origin, message);
            }
        }
        for (name, tree) in self.nginx.globals.tree().fields() {
            // Envoy answers 429.
            let is_same = name == "limit-req-status-code" && self.nginx.globals.number(name).value == 429;
            if KNOWN_KEYS.contains(&name.as_str()) || is_same {
                continue;
            }
            if let Some(object) = tree.origin.and_then(|origin| self.objects.get(origin.object())) {
                self.out.note(&object.key, tree.origin, format!("`{name}` of the ConfigMap is not converted: {}", remedy(name)));
            }
        }
    }
}
