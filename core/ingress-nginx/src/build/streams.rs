//! Builds the TCP and UDP services that ConfigMaps list.

use super::Builder;
use crate::endpoints;
use crate::kinds::Kind;
use alloc::vec::Vec;
use chancery_base::ir::nginx::StreamService;
use chancery_base::resource::Sourced;
use chancery_text::Str;

impl Builder<'_> {
    /// Returns the TCP services and the UDP services.
    pub(super) fn streams(&mut self) -> (Vec<StreamService>, Vec<StreamService>) {
        let (tcp, udp) = (self.options.tcp_services.clone(), self.options.udp_services.clone());
        (self.streams_of(&tcp, "TCP"), self.streams_of(&udp, "UDP"))
    }

    fn streams_of(&mut self, key: &str, protocol: &'static str) -> Vec<StreamService> {
        let cluster = self.cluster;
        let Some(held) = cluster.by_key(Kind::ConfigMap, key) else { return Vec::new() };
        self.used.insert(held.object.id);
        let ports = self.options.ports;
        let reserved = [ports.http, ports.https, ports.ssl_proxy, ports.default, 10254, 10245, 10246, 10247];
        let mut all = Vec::new();
        for (port, at) in held.root().field("data").entries() {
            let Some(number) = port.parse::<u16>().ok().filter(|port| !reserved.contains(port)) else { continue };
            let parts: Vec<&str> = at.str().split(':').collect();
            let (Some(service_key), Some(service_port)) = (parts.first(), parts.get(1)) else { continue };
            let Some(service) = cluster.by_key(Kind::Service, service_key) else { continue };
            let is_tcp = protocol == "TCP";
            let is_proxy = |at: usize| is_tcp && parts.get(at).is_some_and(|word| word.eq_ignore_ascii_case("PROXY"));
            let wanted = service_port.parse::<u16>().ok();
            let is_meant = |port: &chancery_kubernetes::service::Port| match wanted {
                Some(number) => port.port == number,
                None => port.name.as_deref() == Some(*service_port),
            };
            let Some(found) = endpoints::ports(service).into_iter().find(is_meant) else { continue };
            let endpoints = endpoints::endpoints_of_port(cluster, service, &found, protocol);
            if endpoints.is_empty() {
                continue;
            }
            self.used.insert(service.object.id);
            self.used.extend(cluster.slices(service.namespace(), service.name()).map(|slice| slice.object.id));
            all.push(StreamService {
                port: Sourced::new(number, at.origin()),
                namespace: Str::new(service.namespace()),
                name: Str::new(service.name()),
                service_port: Str::new(service_port),
                protocol,
                decode_proxy: is_proxy(2),
                encode_proxy: is_proxy(3) && parts.len() == 4,
                endpoints,
            });
        }
        all.sort_by_key(|stream| stream.port.value);
        all
    }
}
