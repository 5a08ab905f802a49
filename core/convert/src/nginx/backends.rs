//! Finds the Services of upstreams, and writes the Backends that represent Services with another protocol.

use super::super::build::{Fields, list, manifest, number, text};
use super::super::gateway::{Backend, ENVOY_GATEWAY, GATEWAY_GROUP, ServiceRef, items};
use super::host::file_of;
use super::url::Url;
use super::{Converter, NamedService};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::{Location, Server};
use chancery_base::resource::Objects;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

/// What the input says of a Service.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownService {
    /// Numbers, names and target ports.
    ports: Vec<(i64, String, String)>,
    /// The name that it represents.
    external_name: String,
}

/// Returns the Services of the input by `NAMESPACE/NAME`.
pub(super) fn known(objects: &Objects) -> BTreeMap<String, KnownService> {
    let is_service = |object: &&chancery_base::resource::Object| !object.broken && object.key.kind == "Service" && object.key.group.is_empty();
    let read = |object: &chancery_base::resource::Object| {
        let spec = Cursor::new(object.id, &object.root).field("spec");
        let ports = spec.field("ports").items().filter_map(|port| {
            let target = port.field("targetPort").int_or_string().map(|target| target.to_string()).unwrap_or_default();
            Some((port.field("port").int()?, port.field("name").str().to_string(), target))
        });
        let external_name = if spec.field("type").str() == "ExternalName" { spec.field("externalName").str().to_string() } else { String::new() };
        let namespace = object.key.namespace.as_deref().filter(|namespace| !namespace.is_empty()).unwrap_or("default");
        (format!("{namespace}/{}", object.key.name), KnownService { ports: ports.collect(), external_name })
    };
    objects.all().filter(is_service).map(read).collect()
}

impl Converter<'_> {
    /// Records which Service each upstream represents.
    pub(super) fn name_services(&mut self) {
        let mut named = BTreeMap::new();
        for counted in &self.source.counted {
            let ingress = &counted.ingress;
            let paths = ingress.paths().filter_map(|(_, path)| path.backend.service.as_ref());
            for service in paths.chain(ingress.default_service()) {
                let of = NamedService { namespace: ingress.namespace.clone(), name: service.name.value.clone(), port: service.port.value.clone() };
                named.entry(service.upstream(&ingress.namespace)).or_insert(of);
            }
        }
        self.named = named;
    }

    /// Returns the number of a Service's port.
    pub(super) fn port_number(&self, service: &NamedService) -> Option<i64> {
        let known = self.ports.get(&format!("{}/{}", service.namespace, service.name));
        let written: Option<i64> = service.port.parse().ok();
        let Some(known) = known else { return written };
        let is_it = |(number, name, target): &&(i64, String, String)| Some(*number) == written || *name == *service.port || *target == *service.port;
        known.ports.iter().find(is_it).map(|(number, ..)| *number).or(written)
    }

    /// Returns where the requests of a location go, by the name of an upstream.
    pub(super) fn backend(&mut self, server: &Server, location: &Location, upstream: &str) -> Option<Backend> {
        let own = location.ingress.as_ref().map(|ingress| NamedService {
            namespace: ingress.namespace.clone(),
            name: ingress.service.clone(),
            port: ingress.service_port.clone(),
        });
        let service = self.named.get(upstream).cloned().or(own).filter(|service| !service.name.is_empty())?;
        let Some(port) = self.port_number(&service) else {
            let message = format!(
                "the path `{}` is not converted: the Service {} with the port `{}` is not in the input",
                location.path.value, service.name, service.port
            );
            self.note(location, location.path.origin, message);
            return None;
        };
        let service = ServiceRef { namespace: service.namespace.to_string(), name: service.name.to_string(), port };
        let object = self.backend_object(server, location, &service);
        Some(Backend { service, object, weight: None, is_apart: false })
    }

    /// Writes a Backend for a Service with TLS, HTTP/2 or a name outside the cluster, and returns its name.
    fn backend_object(&mut self, server: &Server, location: &Location, service: &ServiceRef) -> Option<String> {
        let protocol = location.settings.backend_protocol.value.to_uppercase();
        let key = format!("{}/{}", service.namespace, service.name);
        let external = self.ports.get(&key).map(|known| known.external_name.clone()).filter(|name| !name.is_empty());
        let (is_tls, is_http2) = (matches!(protocol.as_str(), "HTTPS" | "GRPCS"), matches!(protocol.as_str(), "GRPC" | "GRPCS"));
        if !is_tls && !is_http2 && external.is_none() {
            return None;
        }
        if !self.is_envoy_gateway() {
            if let Some(name) = external {
                self.note(
                    location,
                    location.path.origin,
                    format!("the Service {key} is an alias of `{name}`: Gateway API leaves it to the controller whether such Services are served"),
                );
            }
            return None;
        }
        let ssl = if location.settings.proxy_ssl.ca_file.is_empty() { &server.proxy_ssl } else { &location.settings.proxy_ssl };
        let verifies = ssl.verify.value == "on" && !ssl.secret.is_empty();
        if is_tls && verifies && !is_http2 && external.is_none() {
            self.backend_tls(location, service, &ssl.name.value.clone(), &ssl.secret.value.clone());
            return None;
        }
        let (mut fqdn, mut endpoint, mut spec) = (Fields::new(), Fields::new(), Fields::new());
        let host = external.clone().unwrap_or_else(|| format!("{}.{}.svc.cluster.local", service.name, service.namespace));
        fqdn.set("hostname", text(&host)).set("port", number(service.port));
        endpoint.set("fqdn", fqdn.node());
        let origin = &location.settings.backend_protocol;
        if is_tls || is_http2 {
            spec.comment(&format!("backend-protocol: {}", origin.value));
        }
        spec.set("endpoints", list(Vec::from([endpoint.node()])));
        if is_http2 {
            spec.set("appProtocols", items(["gateway.envoyproxy.io/h2c"]));
        }
        if is_tls {
            let mut tls = Fields::new();
            if verifies {
                let mut reference = Fields::new();
                reference
                    .set("group", text(""))
                    .set("kind", text("Secret"))
                    .set("name", text(ssl.secret.value.rsplit('/').next().unwrap_or_default()));
                tls.set("caCertificateRefs", list(Vec::from([reference.node()])));
                tls.set("sni", text(if ssl.name.is_empty() { &host } else { &ssl.name.value }));
            } else {
                tls.comment("nginx does not check the certificate of the service");
                tls.set("insecureSkipVerify", super::super::build::truth(true));
            }
            spec.set("tls", tls.node());
        }
        let suffix = if is_tls || is_http2 { format!("-{}", protocol.to_lowercase()) } else { String::new() };
        let name = format!("{}-{}{suffix}", service.name, service.port);
        let node = manifest(ENVOY_GATEWAY, "Backend", &service.namespace, &name, &spec);
        let file = file_of(&server.host.value);
        self.plan.others.entry(("Backend", service.namespace.clone(), name.clone())).or_insert((file, node));
        Some(name)
    }

    /// Writes the policy that checks the certificate of a Service.
    fn backend_tls(&mut self, location: &Location, service: &ServiceRef, name: &str, secret: &str) {
        let (mut target, mut reference, mut validation, mut spec) = (Fields::new(), Fields::new(), Fields::new(), Fields::new());
        target.set("group", text("")).set("kind", text("Service")).set("name", text(&service.name));
        let (home, secret) = secret.split_once('/').unwrap_or((&service.namespace, secret));
        if home != service.namespace {
            let message = format!(
                "`proxy-ssl-secret` is not converted: a BackendTLSPolicy reads Secrets in its namespace; copy {home}/{secret} to {}",
                service.namespace
            );
            self.note(location, location.settings.proxy_ssl.secret.origin, message);
        }
        reference.set("group", text("")).set("kind", text("Secret")).set("name", text(secret));
        validation.set("caCertificateRefs", list(Vec::from([reference.node()])));
        let host = format!("{}.{}.svc", service.name, service.namespace);
        validation.set("hostname", text(if name.is_empty() { &host } else { name }));
        spec.comment("proxy-ssl-verify: on").set("targetRefs", list(Vec::from([target.node()]))).set("validation", validation.node());
        let node = manifest(&format!("{GATEWAY_GROUP}/v1"), "BackendTLSPolicy", &service.namespace, &service.name, &spec);
        let file = location.ingress.as_ref().map_or_else(|| "gateway.yaml".to_string(), |ingress| format!("{}.yaml", ingress.name));
        self.plan.others.entry(("BackendTLSPolicy", service.namespace.clone(), service.name.clone())).or_insert((file, node));
    }

    /// Returns the Backend or Service of a URL of an annotation.
    pub(super) fn backend_of_url(&mut self, url: &Url, namespace: &str, file: &str) -> Backend {
        let labels: Vec<&str> = url.host.split('.').collect();
        if let [name, home, "svc", ..] = labels[..] {
            let service = ServiceRef { namespace: home.to_string(), name: name.to_string(), port: url.port };
            let port = Str::from(url.port.to_string());
            let named = NamedService { namespace: Str::new(home), name: Str::new(name), port };
            let port = self.port_number(&named).unwrap_or(url.port);
            if !url.is_tls {
                return Backend { service: ServiceRef { port, ..service }, object: None, weight: None, is_apart: false };
            }
        }
        let (mut fqdn, mut endpoint, mut spec) = (Fields::new(), Fields::new(), Fields::new());
        let kind = if url.host.parse::<core::net::IpAddr>().is_ok() { ("ip", "address") } else { ("fqdn", "hostname") };
        fqdn.set(kind.1, text(&url.host)).set("port", number(url.port));
        endpoint.set(kind.0, fqdn.node());
        spec.set("endpoints", list(Vec::from([endpoint.node()])));
        if url.is_tls {
            let mut tls = Fields::new();
            tls.set("wellKnownCACertificates", text("System")).set("sni", text(&url.host));
            spec.set("tls", tls.node());
        }
        let name = super::super::build::name_of(&format!("{}-{}", url.host, url.port)).to_string();
        let node = manifest(ENVOY_GATEWAY, "Backend", namespace, &name, &spec);
        self.plan.others.entry(("Backend", namespace.to_string(), name.clone())).or_insert((file.to_string(), node));
        Backend {
            service: ServiceRef { namespace: namespace.to_string(), name: url.host.clone(), port: url.port },
            object: Some(name),
            weight: None,
            is_apart: false,
        }
    }
}
