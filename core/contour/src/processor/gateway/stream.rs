//! Processes TLSRoutes and TCPRoutes: forwarded connections.

use super::backend::Backends;
use super::context::{Attachment, GatewayListener};
use crate::model::TcpProxy;
use chancery_base::resource::{Rule, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

impl<'a> Attachment<'_, 'a> {
    /// Forwards connections of a TLSRoute's hosts; the last rule with a target wins.
    pub(super) fn tls(&mut self, listener: &GatewayListener<'a>, hosts: &[Sourced<Str>]) {
        for rule in self.route.spec().field("rules").items() {
            let Some(proxy) = self.tcp_proxy(rule, listener) else { continue };
            for host in hosts {
                let secure = self.processing.secure_host(&listener.graph_name, host);
                if let Some(secret) = &listener.secret {
                    secure.secret = Some(secret.clone());
                }
                secure.tcp_proxy = Some(proxy.clone());
            }
        }
    }

    /// Forwards all of a listener's connections to a TCPRoute's target.
    pub(super) fn tcp(&mut self, listener: &GatewayListener<'a>) {
        let mut rules = self.route.spec().field("rules").items();
        let (Some(rule), None) = (rules.next(), rules.next()) else {
            self.refused("InvalidRouteRules", "TCPRoute must have only a single rule defined", self.route.spec().field("rules").origin());
            return;
        };
        let Some(proxy) = self.tcp_proxy(rule, listener) else { return };
        match &listener.secret {
            Some(secret) => {
                let everything = Sourced::new(Str::new_static("*"), listener.origin()).by(Rule::Listener);
                let secure = self.processing.secure_host(&listener.graph_name, &everything);
                secure.secret = Some(secret.clone());
                secure.tcp_proxy = Some(proxy);
            }
            None => self.processing.listener(&listener.graph_name).tcp_proxy = Some(proxy),
        }
    }

    fn tcp_proxy(&mut self, rule: Cursor<'a>, listener: &GatewayListener<'a>) -> Option<TcpProxy> {
        let Backends { clusters, total_weight } = self.backends(rule, listener)?;
        if clusters.is_empty() {
            return None;
        }
        if total_weight == 0 {
            self.weightless(rule.field("backendRefs").origin());
            return None;
        }
        Some(TcpProxy { clusters, origins: alloc::vec![rule.origin()] })
    }
}
