//! Processes TCP proxies of HTTPProxies (Contour `internal/dag/httpproxy_processor.go`, `processHTTPProxyTCPProxy`).

use super::delegation::{DEEPEST, Orphans};
use super::record::Record;
use super::route::{protocol_of, weight_of};
use super::{Processing, is_delegation, policy};
use crate::cluster::{Admitted, Name};
use crate::model::{Cluster, PeerValidation, TcpProxy};
use crate::source::{PortRef, full_name, quoted};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Reported;
use chancery_base::resource::{Rule, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

const WRONG: &str = "TCPProxyError";

impl<'a> Processing<'a> {
    /// Follows TCP to its services.
    pub(super) fn tcp_proxy(
        &mut self,
        proxy: &'a Admitted<'a>,
        visited: &mut Vec<Name>,
        host: &Sourced<Str>,
        orphans: &mut Orphans,
        record: &mut Record,
    ) -> Result<(), Reported> {
        let spec = proxy.spec();
        let at = spec.field("tcpproxy");
        if !at.exists() {
            return Ok(());
        }
        visited.push(proxy.full_name());
        let include = at.field("include").some().unwrap_or_else(|| at.field("includes"));
        let services = at.field("services");
        if services.has_items() && include.exists() {
            let message = "cannot specify services and include in the same httpproxy";
            return Err(record.error(WRONG, "NoServicesAndInclude", message, include.origin()));
        }
        let lb = at.field("loadBalancerPolicy");
        let mut lb_policy = policy::lb_strategy(lb);
        if matches!(lb_policy.value.as_str(), "Cookie" | "RequestHash") {
            let what = format!("{} load balancer policy is not supported for TCPProxies", lb_policy.value);
            record.warning(WRONG, "IgnoredField", format!("ignoring field \"Spec.TCPProxy.LoadBalancerPolicy\"; {what}"), lb.origin());
            lb_policy.value = Str::default();
        }
        if services.has_items() {
            let mut tcp = TcpProxy { clusters: Vec::new(), origins: alloc::vec![at.origin()] };
            for service in services.items() {
                tcp.clusters.push(Arc::new(self.tcp_cluster(proxy, at, service, &lb_policy, record)?));
            }
            match self.single_listener("https") {
                Ok(listener) => self.secure_host(&listener, host).tcp_proxy = Some(tcp),
                Err(why) => return Err(record.error("ListenerError", "ErrorIdentifyingListener", why, at.origin())),
            }
            return Ok(());
        }
        if !include.exists() {
            return Err(record.error(WRONG, "NothingDefined", "either services or inclusion must be specified", at.origin()));
        }
        self.tcp_include(proxy, include, visited, host, orphans, record)
    }

    fn tcp_include(
        &mut self,
        proxy: &'a Admitted<'a>,
        include: Cursor<'a>,
        visited: &mut Vec<Name>,
        host: &Sourced<Str>,
        orphans: &mut Orphans,
        record: &mut Record,
    ) -> Result<(), Reported> {
        let namespace = match include.field("namespace").str() {
            "" => proxy.namespace().as_str(),
            namespace => namespace,
        };
        let name: Name = (namespace.into(), include.field("name").str().into());
        let Some(next) = self.source.proxies.get(&name) else {
            let message = format!("include {}/{} not found", name.0, name.1);
            return Err(record.error("TCPProxyIncludeError", "IncludeNotFound", message, include.origin()));
        };
        if next.virtual_host().is_some() {
            let message = format!("root httpproxy cannot include another root httpproxy ({}/{})", name.0, name.1);
            return Err(record.error("TCPProxyIncludeError", "RootIncludesRoot", message, include.origin()));
        }
        orphans.remove(next.object.id);
        if visited.contains(&name) || visited.len() >= DEEPEST {
            let path: Vec<String> = visited.iter().chain([&name]).map(|(namespace, name)| format!("{namespace}/{name}")).collect();
            let message = format!("include creates a cycle: {}", path.join(" -> "));
            return Err(record.error("TCPProxyIncludeError", "IncludeCreatesCycle", message, include.origin()));
        }
        let mut inner = Record::default();
        let done = self.tcp_proxy(next, visited, host, orphans, &mut inner);
        self.proxies.commit(&name, inner.condition);
        done
    }

    fn tcp_cluster(
        &self,
        proxy: &Admitted<'_>,
        at: Cursor<'_>,
        service: Cursor<'_>,
        lb_policy: &Sourced<Str>,
        record: &mut Record,
    ) -> Result<Cluster, Reported> {
        let health = policy::tcp_health(at.field("healthCheckPolicy"));
        let health_port = service.field("healthPort").int().filter(|port| health.is_some() && *port > 0).unwrap_or(0);
        let name = (proxy.namespace().clone(), Str::new(service.field("name").str()));
        let port = service.field("port").int().unwrap_or(0);
        let upstream = match self.service(&name, PortRef::Number(port), health_port) {
            Ok(upstream) => upstream,
            Err(why) => {
                let message = format!("Spec.TCPProxy unresolved service reference: {why}");
                return Err(record.error(WRONG, "ServiceUnresolvedReference", message, service.field("name").origin()));
            }
        };
        let protocol = match protocol_of(service, &upstream) {
            Ok(protocol) => protocol,
            Err(why) => {
                return Err(record.error("ServiceError", "UnsupportedProtocol", why, service.field("protocol").origin()));
            }
        };
        let mut validation = None;
        if matches!(protocol.value.as_str(), "tls" | "h2") && service.field("validation").exists() {
            validation = Some(self.service_validation(service, proxy.namespace(), record)?);
        }
        let client_certificate = match self.client_certificate() {
            Ok(certificate) => certificate,
            Err(why) => {
                return Err(record.error("TLSError", "SecretNotValid", why, service.origin()));
            }
        };
        Ok(Cluster {
            protocol,
            validation,
            lb_policy: lb_policy.clone(),
            tcp_health: health,
            sni: upstream.external_name.clone().by(Rule::Reference),
            client_certificate,
            ..self.cluster(upstream, weight_of(service), service.origin())
        })
    }

    /// How a service's certificate is checked.
    pub(super) fn service_validation(&self, service: Cursor<'_>, namespace: &Str, record: &mut Record) -> Result<Sourced<PeerValidation>, Reported> {
        let at = service.field("validation");
        let ca = full_name(at.field("caSecret").str(), namespace);
        match self.source.upstream_validation(at, &ca, namespace) {
            Ok(validation) => Ok(Sourced::new(validation, at.origin())),
            Err(error) if is_delegation(&error) => {
                let what = format!("service.UpstreamValidation.CACertificate Secret {}", quoted(&ca));
                let message = format!("{what} is not configured for certificate delegation");
                Err(record.error("TLSError", "CACertificateNotDelegated", message, at.field("caSecret").origin()))
            }
            Err(error) => {
                let (name, port) = (service.field("name").str(), service.field("port").int().unwrap_or(0));
                let message = format!("Service [{name}:{port}] TLS upstream validation policy error: {}", error.message());
                Err(record.error("ServiceError", "TLSUpstreamValidation", message, at.origin()))
            }
        }
    }
}
