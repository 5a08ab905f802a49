//! Converts TCP and UDP services: a listener and a route for each port.

use super::super::build::{Fields, list, manifest, text, truth};
use super::super::gateway::{Backend, ENVOY_GATEWAY, GATEWAY, GATEWAY_FILE, ServiceRef, StreamListener, Target, V1, target_of};
use super::{Converter, NamedService};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::ir::nginx::StreamService;
use chancery_base::resource::{Object, Origin};
use chancery_text::Node;

impl Converter<'_> {
    pub(super) fn streams(&mut self) {
        let all: Vec<&StreamService> = self.nginx.tcp.iter().chain(&self.nginx.udp).collect();
        for of in &all {
            if let Err(why) = self.stream(of) {
                self.stream_note(of.port.origin, &format!("the {} service on port {} is not converted: {why}", of.protocol, of.port.value));
            }
        }
        let served: BTreeSet<(&str, u16)> = all.iter().map(|of| (of.protocol, of.port.value)).collect();
        self.without_endpoints(&served);
    }

    /// Writes the listener and the route of a service.
    ///
    /// # Errors
    ///
    /// Why it is not converted.
    fn stream(&mut self, of: &StreamService) -> Result<(), &'static str> {
        if self.target == Target::Contour && of.protocol == "UDP" {
            return Err("Contour has no UDPRoutes");
        }
        let service = NamedService { namespace: of.namespace.clone(), name: of.name.clone(), port: of.service_port.clone() };
        let port = self.port_number(&service).ok_or("its Service is not in the input")?;
        if !self.plan.stream(StreamListener { port: of.port.value, protocol: of.protocol }) {
            return Err("a Gateway has at most 64 listeners");
        }
        let (namespace, section) = (of.namespace.to_string(), StreamListener { port: of.port.value, protocol: of.protocol }.name());
        let (mut parent, mut rule, mut spec) = (Fields::new(), Fields::new(), Fields::new());
        parent.set("name", text(GATEWAY)).set("namespace", text(self.target.namespace())).set("sectionName", text(&section));
        let service = ServiceRef { namespace: namespace.clone(), name: of.name.to_string(), port };
        let backend = Backend { service, object: None, weight: None, is_apart: false };
        rule.set("backendRefs", list(Vec::from([backend.node(&namespace)])));
        spec.comment(&format!("{}-services: port {}", of.protocol.to_lowercase(), of.port.value));
        spec.set("parentRefs", list(Vec::from([parent.node()]))).set("rules", list(Vec::from([rule.node()])));
        let kind = if of.protocol == "UDP" { "UDPRoute" } else { "TCPRoute" };
        let name = format!("{}-{section}", of.name);
        let node = manifest(V1, kind, &namespace, &name, &spec);
        self.plan.others.insert((kind, namespace.clone(), name.clone()), (GATEWAY_FILE.to_string(), node));
        self.proxy_headers(of, (kind, &namespace, &name), &section);
        Ok(())
    }

    /// Writes policies for the PROXY headers of a service.
    fn proxy_headers(&mut self, of: &StreamService, (kind, namespace, name): (&str, &str, &str), section: &str) {
        if !self.is_envoy_gateway() {
            if of.decode_proxy || of.encode_proxy {
                let message =
                    format!("the PROXY header of the {} service on port {} is not converted: Gateway API has no field", of.protocol, of.port.value);
                self.stream_note(of.port.origin, &message);
            }
            return;
        }
        let mut add = |policy: &'static str, namespace: &str, target: Node, value: Node| {
            let mut spec = Fields::new();
            spec.set("targetRefs", list(Vec::from([target]))).set("proxyProtocol", value);
            let node = manifest(ENVOY_GATEWAY, policy, namespace, name, &spec);
            self.plan.others.insert((policy, namespace.to_string(), name.to_string()), (GATEWAY_FILE.to_string(), node));
        };
        if of.decode_proxy {
            let mut value = Fields::new();
            value.set("optional", truth(false));
            add("ClientTrafficPolicy", Target::EnvoyGateway.namespace(), target_of("Gateway", GATEWAY, Some(section)), value.node());
        }
        if of.encode_proxy {
            let mut value = Fields::new();
            value.set("version", text("V1"));
            add("BackendTrafficPolicy", namespace, target_of(kind, name, None), value.node());
        }
    }

    /// Reports listed services that nginx does not serve.
    fn without_endpoints(&mut self, served: &BTreeSet<(&str, u16)>) {
        let lists = [("TCP", &self.options.tcp_services), ("UDP", &self.options.udp_services)];
        let mut found: Vec<(Origin, String)> = Vec::new();
        for (protocol, key) in lists {
            let is_it = |object: &&Object| {
                object.key.kind == "ConfigMap" && format!("{}/{}", object.key.namespace.as_deref().unwrap_or("default"), object.key.name) == **key
            };
            let Some(object) = self.objects.iter().find(is_it) else { continue };
            for entry in object.root.get("data").and_then(Node::as_object).into_iter().flatten() {
                let is_served = entry.key.parse::<u16>().is_ok_and(|port| served.contains(&(protocol, port)));
                if !is_served {
                    let message = format!(
                        "the {protocol} service on port {} is not converted: nginx does not serve it, as its Service `{}` is missing, has no such port, \
                         or has no endpoints",
                        entry.key,
                        entry.value.as_str().unwrap_or_default()
                    );
                    found.push((Origin::field(object.id, entry.value.id), message));
                }
            }
        }
        found.into_iter().for_each(|(origin, message)| self.stream_note(Some(origin), &message));
    }

    fn stream_note(&mut self, origin: Option<Origin>, message: &str) {
        if let Some(object) = origin.and_then(|origin| self.objects.get(origin.object())) {
            self.out.note(&object.key, origin, message);
        }
    }
}
