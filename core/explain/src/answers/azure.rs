//! Answers requests with an Application Gateway. Does not route them; see `chancery_app_gateway`.

use super::{AnswerEnding, AnswerTarget, Aspect, GatewayAnswer, PartPlace, without_default_port};
use crate::Viewed;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString as _};
use chancery_app_gateway::route::{Ending, Request as AzureRequest, Router};
use chancery_base::compilation::AppGatewayRef;
use chancery_base::ir::appgw::FrontendType;
use chancery_base::resource::Objects;
use chancery_envoy::simulate::{Request, host_of};
use chancery_text::Node;

pub(super) struct OpenAzure<'r> {
    number: usize,
    router: Router<'r>,
    viewed: &'r Viewed,
    /// `NAMESPACE/NAME` by pool.
    services: BTreeMap<&'r str, String>,
}

impl<'r> OpenAzure<'r> {
    pub(super) fn new(number: usize, of: &AppGatewayRef<'r>, viewed: &'r Viewed, objects: &Objects) -> Self {
        let pools = of.parts.properties.iter().flat_map(|of| of.pools.iter().flatten());
        let service = |pool: &chancery_base::ir::appgw::Part<chancery_base::ir::appgw::Pool>| {
            let address = pool.properties.addresses.iter().flatten().find_map(|address| address.ip.as_ref().or(address.fqdn.as_ref()))?;
            let key = &objects.get(address.origin?.object())?.key;
            Some(format!("{}/{}", key.namespace.as_deref().filter(|of| !of.is_empty()).unwrap_or("default"), key.name))
        };
        let services = pools.filter_map(|pool| Some((pool.name.as_str(), service(pool)?))).collect();
        Self { number, router: Router::new(of.parts), viewed, services }
    }

    pub(super) fn answer(&self, request: &Request) -> GatewayAnswer {
        let (path, query) = request.path.split_once('?').map_or((request.path.as_str(), None), |(path, query)| (path, Some(query)));
        let host = host_of(&request.authority);
        let port = request.port.or(request.url_port).map_or(if request.tls { 443 } else { 80 }, i64::from);
        let take = |frontend| self.router.take(&AzureRequest { frontend, port, host, path, query });
        let mut journey = take(FrontendType::Public);
        if matches!(journey.ending, Ending::Refused { code: None, .. }) {
            journey = take(FrontendType::Private);
        }
        let mut out = GatewayAnswer::default();
        if let Some(taken) = &journey.taken {
            let pattern = taken.path_rule.as_ref().map(|(_, pattern)| format!(" with path {pattern}")).unwrap_or_default();
            out.rule = Some(format!("rule {}{pattern}", taken.rule));
            out.place = self.pointer("requestRoutingRules", &taken.rule);
        }
        match journey.ending {
            Ending::Forwarded { pool, is_https, port, path: sent, host: sent_host, .. } => {
                out.ending = AnswerEnding::Forwarded;
                let name = self.services.get(pool.as_str()).map_or_else(|| pool.to_string(), |service| format!("{service}:{port}"));
                out.targets.push(AnswerTarget { names: BTreeSet::from([name]), percent: 100.0 });
                let query = query.map(|query| format!("?{query}")).unwrap_or_default();
                let place = out.place.clone();
                out.set(Aspect::UpstreamPath, format!("{sent}{query}"), place.clone());
                out.set(Aspect::UpstreamHost, sent_host.map_or_else(|| "of the address".to_string(), |host| host.to_string()), place.clone());
                out.set(Aspect::Protocol, if is_https { "http+tls" } else { "http" }, place.clone());
                self.settings(&mut out, journey.taken.and_then(|taken| taken.settings).as_deref());
            }
            Ending::Redirected { code, location } => {
                out.ending = AnswerEnding::Redirected;
                out.status = Some(code.into());
                out.location = Some(without_default_port(&location));
            }
            Ending::Refused { code, why } => {
                out.ending = if code.is_some() { AnswerEnding::Answered } else { AnswerEnding::NotAnswered };
                out.status = code.map(u32::from);
                out.why = Some(why);
            }
        }
        out
    }

    fn settings(&self, out: &mut GatewayAnswer, name: Option<&str>) {
        let Some((at, part)) = name.and_then(|name| self.part("backendHttpSettingsCollection", name)) else { return };
        let pointer =
            |field: &str| Some(PartPlace::Pointer(self.number, format!("/properties/backendHttpSettingsCollection/{at}/properties/{field}")));
        let field = |name: &str| part.at(&["properties", name]);
        let timeout = field("requestTimeout").and_then(Node::as_i64).unwrap_or(20);
        out.set(Aspect::ResponseTimeout, format!("{timeout}s"), pointer("requestTimeout"));
        if field("cookieBasedAffinity").and_then(Node::as_str).is_some_and(|word| word.eq_ignore_ascii_case("enabled")) {
            let name = field("affinityCookieName").and_then(Node::as_str).unwrap_or("ApplicationGatewayAffinity");
            out.set(Aspect::Affinity, format!("cookie {name}"), pointer("cookieBasedAffinity"));
        }
    }

    fn part(&self, list: &str, name: &str) -> Option<(usize, &'r Node)> {
        let parts = self.viewed.root.at(&["properties", list])?.as_array()?;
        parts.iter().enumerate().find(|(_, part)| part.get("name").and_then(Node::as_str) == Some(name))
    }

    fn pointer(&self, list: &str, name: &str) -> Option<PartPlace> {
        self.part(list, name).map(|(at, _)| PartPlace::Pointer(self.number, format!("/properties/{list}/{at}")))
    }
}
