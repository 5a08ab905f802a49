//! Converts Contour's conditions to findings with place, code and advice.

use super::Processing;
use crate::kinds::Kind;
use crate::status::{DetailedCondition, SubCondition};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place, Severity, codes};
use chancery_base::resource::{ResourceKey, nearest};
use chancery_kubernetes::cursor::Cursor;
use chancery_text::{Str, series};

impl Processing<'_> {
    /// Everything that is wrong, by object.
    pub fn findings(&self, sink: &mut Findings) {
        // Without any root in the input, the roots may be elsewhere.
        let has_roots = !self.source.settings.assumes || self.source.proxies.iter().any(|proxy| proxy.spec().field("virtualhost").exists());
        for (name, condition) in self.proxies.iter() {
            if let Some(proxy) = self.source.proxies.get(name) {
                self.report_condition(&proxy.object.key, condition, has_roots, sink);
            }
        }
        for (key, condition) in &self.found {
            self.report_condition(key, condition, has_roots, sink);
        }
        for finding in &self.logged {
            sink.report(finding.clone());
        }
    }

    fn report_condition(&self, key: &ResourceKey, condition: &DetailedCondition, has_roots: bool, sink: &mut Findings) {
        for error in &condition.errors {
            let mut finding = Diagnostic::new(code(error), message(error), Place::origin(Some(error.origin))).about(key.clone());
            if error.kind == "Orphaned" && !has_roots || self.rests_on_assumption(error) {
                finding.severity = Severity::Warning;
            }
            let finding = match help(error) {
                Some(help) => finding.help(help),
                None => finding,
            };
            let finding = match error.because {
                Some(because) => finding.related(Place::origin(Some(because)), "this one wins"),
                None => finding,
            };
            let finding = if error.reason == "RouteActionCountNotValid" { self.name_route(error, finding) } else { finding };
            let finding = if error.kind == "Orphaned" { self.name_parent(key, finding) } else { finding };
            sink.report(self.suggest(error, finding));
        }
        for warning in &condition.warnings {
            let mut finding = Diagnostic::new(&codes::FIELD_WITHOUT_EFFECT, message(warning), Place::origin(Some(warning.origin)));
            finding.severity = Severity::Warning;
            sink.report(finding.about(key.clone()));
        }
    }

    /// Names the HTTPProxy that includes an orphan: it has no effect itself.
    fn name_parent(&self, orphan: &ResourceKey, finding: Diagnostic) -> Diagnostic {
        for proxy in self.source.all(Kind::HttpProxy) {
            let is_orphan = |include: &Cursor<'_>| {
                let namespace = include.field("namespace").str();
                let namespace = if namespace.is_empty() { proxy.namespace().as_str() } else { namespace };
                include.field("name").str() == orphan.name.as_str() && Some(namespace) == orphan.namespace.as_deref()
            };
            if let Some(include) = proxy.spec().field("includes").items().find(is_orphan) {
                let help = alloc::format!("HTTPProxy {}.{} includes it, and has no effect itself: fix that one", proxy.name(), proxy.namespace());
                return finding.related(Place::origin(include.origin()), "this include has no effect").help(help);
            }
        }
        finding
    }

    /// Names the route that fields were probably meant for, if an item of `routes` has nothing but such fields.
    fn name_route(&self, error: &SubCondition, finding: Diagnostic) -> Diagnostic {
        const ACTIONS: [&str; 3] = ["services", "requestRedirectPolicy", "directResponsePolicy"];
        let proxy = self.source.all(Kind::HttpProxy).find(|proxy| proxy.object.id == error.origin.object());
        let routes: Vec<Cursor<'_>> = proxy.into_iter().flat_map(|proxy| proxy.spec().field("routes").items()).collect();
        let acts = |route: &Cursor<'_>| ACTIONS.iter().any(|action| route.field(action).exists());
        let Some(at) = routes.iter().position(|route| route.origin() == error.origin) else { return finding };
        let (Some(stray), (before, after)) = (routes.get(at), routes.split_at(at)) else { return finding };
        let fields: Vec<String> = stray.entries().map(|(name, _)| alloc::format!("`{name}`")).collect();
        let is_stray = !acts(stray) && !fields.is_empty() && !stray.field("conditions").exists();
        let near = after.iter().find(|route| acts(route)).or_else(|| before.iter().rev().find(|route| acts(route)));
        let Some(near) = near.filter(|_| is_stray) else { return finding };
        let help = alloc::format!("this `-` starts its own route: move {} into the route with `services`", series(&fields));
        finding.related(Place::origin(near.origin()), "a route that can have these fields").help(help)
    }

    /// Whether it is wrong because of a configuration of Contour that is not in the input.
    fn rests_on_assumption(&self, error: &SubCondition) -> bool {
        let settings = self.source.settings;
        let of_gateway = settings.assumes_gateway && error.message.ends_with(" listener configured");
        let of_settings = settings.assumes
            && (settings.assumes_gateway || !settings.is_configured())
            && ["are not currently enabled", "is not configured in Contour configuration file"].iter().any(|words| error.message.contains(words));
        of_gateway || of_settings
    }

    /// A Service of nearly that name.
    fn suggest(&self, error: &SubCondition, finding: Diagnostic) -> Diagnostic {
        if !matches!(error.reason, "ServiceUnresolvedReference" | "BackendNotFound") {
            return finding;
        }
        let Some((before, wanted)) = error.message.strip_suffix("\" not found").and_then(|message| message.rsplit_once('/')) else { return finding };
        let namespace = before.rsplit('"').next().unwrap_or_default();
        let names: Vec<Str> =
            self.source.all(Kind::Service).filter(|service| *service.namespace() == namespace).map(|service| service.name().clone()).collect();
        match nearest(wanted, names.iter().map(Str::as_str)) {
            Some(near) => finding.fix(alloc::format!("did you mean `{near}`?"), Place::origin(Some(error.origin)), near.to_string()),
            None => finding,
        }
    }
}

fn code(error: &SubCondition) -> &'static Code {
    match (error.kind, error.reason) {
        ("Orphaned", _) => &codes::ORPHANED_PROXY,
        (_, "DuplicateVhost") => &codes::DUPLICATE_HOST,
        (_, "ServiceUnresolvedReference") => &codes::UNRESOLVED_SERVICE,
        (_, "IncludeCreatesCycle") => &codes::INCLUDE_CYCLE,
        ("IncludeError" | "TCPProxyIncludeError", _) => &codes::INVALID_INCLUDE,
        (_, "DelegationNotPermitted" | "CACertificateNotDelegated" | "FallbackNotDelegated" | "RemoteJWKSCACertificateNotDelegated") => {
            &codes::DELEGATION_NOT_PERMITTED
        }
        ("TLSError", _) | (_, "TLSUpstreamValidation" | "InvalidCertificateRef") => &codes::INVALID_TLS,
        ("JWTVerificationError", _) => &codes::INVALID_JWT,
        ("AuthError", _) => &codes::INVALID_AUTHORIZATION,
        ("RouteError" | "PrefixReplaceError" | "CORSError" | "IPFilterError", _) => &codes::INVALID_ROUTE,
        ("ServiceError" | "TCPProxyError", _) => &codes::INVALID_BACKEND,
        ("Accepted" | "ResolvedRefs" | "Programmed" | "Conflicted" | "ValidMatches" | "ValidBackendRefs" | "PartiallyInvalid", _) => {
            gateway_code(error)
        }
        _ => &codes::INVALID_VIRTUAL_HOST,
    }
}

/// The code of a condition of Gateway API.
fn gateway_code(error: &SubCondition) -> &'static Code {
    match (error.kind, error.reason) {
        (_, "RefNotPermitted") => &codes::REFERENCE_NOT_PERMITTED,
        (_, "RuleMatchConflict") if error.because.is_none() => &codes::INVALID_ROUTE,
        (_, "RuleMatchConflict" | "RuleMatchPartiallyConflict") => &codes::ROUTE_CONFLICT,
        (_, "NoMatchingParent" | "NotAllowedByListeners" | "NoMatchingListenerHostname") => &codes::UNATTACHED_ROUTE,
        (_, "BackendNotFound") => &codes::UNRESOLVED_SERVICE,
        ("ResolvedRefs", "InvalidKind" | "UnsupportedProtocol") | ("ValidBackendRefs", _) => &codes::INVALID_BACKEND,
        (_, "UnsupportedValue" | "InvalidMethodMatch" | "InvalidRouteRules" | "Degraded") | ("ValidMatches", _) => &codes::INVALID_ROUTE,
        ("Accepted", "Invalid") => &codes::INVALID_TLS,
        _ => &codes::INVALID_GATEWAY,
    }
}

/// Contour's sentence without the path, which the place already shows.
fn message(error: &SubCondition) -> String {
    let text = error.message.trim_end_matches('.');
    let prefixes = ["Spec.Routes unresolved service reference: ", "Spec.TCPProxy unresolved service reference: "];
    let service = || text.split_once(" is invalid: ").filter(|_| error.reason == "BackendNotFound").map(|(_, why)| why);
    prefixes.into_iter().find_map(|prefix| text.strip_prefix(prefix)).or_else(service).unwrap_or(text).to_string()
}

fn help(error: &SubCondition) -> Option<&'static str> {
    Some(match (error.kind, error.reason) {
        ("Orphaned", _) => "include it in an HTTPProxy that has `virtualhost`, or give it its own `virtualhost`",
        (_, "DuplicateVhost") => "Contour serves none of them: keep one as root, and include the others in it",
        (_, "ServiceUnresolvedReference") if error.message.contains("ExternalName") => {
            "set `enableExternalNameService` in Contour's configuration, if it is safe for you"
        }
        _ if error.message.ends_with(" listener configured") => "Contour serves an HTTPProxy at its Gateway: let that have such a listener",
        (_, "ServiceUnresolvedReference") => "the service must be in the same namespace, with that port",
        (_, "RefNotPermitted") => "a ReferenceGrant in that namespace must name this kind and this namespace",
        (_, "RuleMatchConflict") if error.because.is_none() => "Contour reports this for a route without `rules`; nothing conflicts. Write a rule",
        (_, "RuleMatchConflict" | "RuleMatchPartiallyConflict") => "the older route wins, then the one whose name comes first",
        (_, "NotAllowedByListeners") => "`allowedRoutes` of the listener must let in this kind and this namespace",
        ("IncludeError", "DuplicateMatchConditions") => {
            "an earlier include of this HTTPProxy has the same conditions, so this one has no effect: change its conditions, or remove it"
        }
        ("IncludeError", "IncludeNotFound") => "requests that its conditions take are answered with 502",
        ("AuthError", "AuthNotPermitted") => {
            "add `tls.secretName`: Contour authorizes requests on TLS listeners only. Until then it does not serve this HTTPProxy"
        }
        ("JWTVerificationError", "JWTVerificationNotPermitted") => {
            "add `tls.secretName`: Contour verifies tokens on TLS listeners only. Until then it does not serve this HTTPProxy"
        }
        ("TLSError", "TLSConfigNotValid") if error.message.contains("both Passthrough and SecretName") => {
            "remove `passthrough` to terminate TLS in Envoy, or `secretName` to forward TLS connections"
        }
        ("CORSError", _) if error.message.contains("invalid regex match") => {
            "write each origin, such as `https://app.example.org`, or a regular expression, such as `https://[^.]+[.]example[.]org`"
        }
        ("RouteError" | "PrefixReplaceError", _) => "one invalid route drops all routes of its HTTPProxy",
        (_, "DelegationNotPermitted" | "CACertificateNotDelegated" | "FallbackNotDelegated") => {
            "a TLSCertificateDelegation in the Secret's namespace must name the Secret and this namespace"
        }
        _ => return None,
    })
}
