//! Processes HTTPProxies (Contour `internal/dag/httpproxy_processor.go`): roots and their virtual hosts. For routes see `route`, for TCP `tcp`.

use super::delegation::{Delegation, Orphans, Root};
use super::memory::{Hosts, Listeners};
use super::policy::InvalidAddresses;
use super::record::Record;
use super::{Processing, is_delegation, policy, tls_version};
use crate::cluster::Admitted;
use crate::kinds::Kind;
use crate::model::{PeerValidation, RateLimitPolicy, Route, Routes};
use crate::source::{full_name, quoted};
use crate::status::DetailedCondition;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::Reported;
use chancery_base::ir;
use chancery_base::resource::Sourced;
use chancery_base::schema::go_quoted;
use chancery_kubernetes::cursor::Cursor;
use chancery_text::Str;

impl<'a> Processing<'a> {
    pub(super) fn http_proxies(&mut self) {
        let mut orphans = Orphans::default();
        let mut by_fqdn: BTreeMap<String, Vec<&'a Admitted<'a>>> = BTreeMap::new();
        let source = self.source;
        for proxy in source.proxies.iter() {
            match proxy.virtual_host() {
                Some(virtual_host) => by_fqdn.entry(virtual_host.field("fqdn").str().to_lowercase()).or_default().push(proxy),
                None => orphans.insert(proxy.object.id),
            }
        }
        let listeners = Listeners { http: self.single_listener("http").ok(), https: self.single_listener("https").ok() };
        self.memory.begin(&listeners, source.all(Kind::ExtensionService).next().is_some());
        for (fqdn, proxies) in by_fqdn {
            if let [proxy] = proxies[..] {
                self.only_root(proxy, &listeners, &mut orphans);
                continue;
            }
            let names: Vec<String> = proxies.iter().map(|proxy| format!("{}/{}", proxy.namespace(), proxy.name())).collect();
            let mut names = names;
            names.sort();
            let message = format!("fqdn {} is used in multiple HTTPProxies: {}", go_quoted(&fqdn), names.join(", "));
            for proxy in proxies {
                let mut record = Record::default();
                let at = proxy.spec().field("virtualhost").field("fqdn");
                record.error("VirtualHostError", "DuplicateVhost", message.clone(), at.origin());
                self.proxies.commit(&proxy.full_name(), record.condition);
            }
        }
        self.memory.end();
        if orphans.is_empty() {
            return;
        }
        for proxy in source.proxies.iter().filter(|proxy| orphans.contains(proxy.object.id)) {
            let mut record = Record::default();
            let message = "this HTTPProxy is not part of a delegation chain from a root HTTPProxy";
            record.error("Orphaned", "Orphaned", message, proxy.root().origin());
            self.proxies.commit(&proxy.full_name(), record.condition);
        }
    }

    /// Processes a root whose host is unique. If nothing changed, it adds the same hosts to the graph as before.
    fn only_root(&mut self, proxy: &'a Admitted<'a>, listeners: &Listeners, orphans: &mut Orphans) {
        let fqdn = proxy.spec().field("virtualhost").field("fqdn").str();
        let listener = |name: &Option<Str>| name.as_ref().and_then(|name| self.graph.listeners.get(name));
        let (http, https) = (listener(&listeners.http), listener(&listeners.https));
        let is_new = http.is_none_or(|of| !of.hosts.contains_key(fqdn)) && https.is_none_or(|of| !of.secure_hosts.contains_key(fqdn));
        if is_new && let Some(hosts) = self.memory.hosts(proxy) {
            return self.add_hosts(proxy, listeners, &hosts, orphans);
        }
        let (mut record, mut way) = (Record::default(), Delegation::default());
        let logged = self.logged.len();
        self.memory.open(proxy.object.id);
        self.root(proxy, &mut way, orphans, &mut record).ok();
        self.memory.close(proxy.object.id);
        let is_silent = record.condition.is_silent() && !way.has_findings && self.logged.len() == logged;
        self.proxies.commit(&proxy.full_name(), record.condition);
        // Ways of TCP are not cached.
        if is_new && is_silent && !proxy.spec().field("tcpproxy").exists() {
            let listener = |name: &Option<Str>| name.as_ref().and_then(|name| self.graph.listeners.get(name));
            let host = listener(&listeners.http).and_then(|of| of.hosts.get(fqdn)).cloned();
            let secure_host = listener(&listeners.https).and_then(|of| of.secure_hosts.get(fqdn)).cloned();
            self.memory.keep_hosts(proxy, Hosts { host, secure_host, reached: way.reached }, way.depends_on);
        }
    }

    /// Adds the hosts of a root without findings.
    fn add_hosts(&mut self, proxy: &Admitted<'_>, listeners: &Listeners, hosts: &Hosts, orphans: &mut Orphans) {
        if let (Some(listener), Some(host)) = (&listeners.http, &hosts.host) {
            self.listener(listener).hosts.insert(host.name.value.clone(), host.clone());
        }
        if let (Some(listener), Some(secure)) = (&listeners.https, &hosts.secure_host) {
            self.listener(listener).secure_hosts.insert(secure.host.name.value.clone(), secure.clone());
        }
        for reached in &hosts.reached {
            self.proxies.commit(&reached.name, DetailedCondition::default());
            orphans.remove(reached.id);
        }
        self.proxies.commit(&proxy.full_name(), DetailedCondition::default());
    }

    /// Everything about a root.
    fn root(&mut self, proxy: &'a Admitted<'a>, way: &mut Delegation<'a>, orphans: &mut Orphans, record: &mut Record) -> Result<(), Reported> {
        let spec = proxy.spec();
        let virtual_host = spec.field("virtualhost");
        let fqdn = virtual_host.field("fqdn");
        if fqdn.str().trim().is_empty() {
            return Err(record.error("VirtualHostError", "FQDNNotSpecified", "Spec.VirtualHost.Fqdn must be specified", fqdn.origin()));
        }
        let host = Sourced::new(Str::new(fqdn.str()), fqdn.origin());
        let roots = self.source.settings.at("httpproxy.rootNamespaces");
        if roots.has_items() && !roots.items().any(|root| *proxy.namespace() == root.str()) {
            let message = "root HTTPProxy cannot be defined in this namespace";
            return Err(record.error("RootNamespaceError", "RootProxyNotAllowedInNamespace", message, virtual_host.origin()));
        }
        if !spec.field("routes").has_items() && !spec.field("includes").has_items() && !spec.field("tcpproxy").exists() {
            let message = "HTTPProxy.Spec must have at least one Route, Include, or a TCPProxy";
            return Err(record.error("SpecError", "NothingDefined", message, spec.origin()));
        }
        let tls = virtual_host.field("tls");
        let providers = virtual_host.field("jwtProviders");
        if providers.has_items() && tls.field("secretName").str().is_empty() {
            let message = "Spec.VirtualHost.JWTProviders can only be defined for root HTTPProxies that terminate TLS";
            return Err(record.error("JWTVerificationError", "JWTVerificationNotPermitted", message, providers.origin()));
        }
        let authorization = virtual_host.field("authorization");
        if !tls.exists() && !authorization.at("extensionRef.name").str().is_empty() {
            let message = "Spec.VirtualHost.Authorization.ExtensionServiceRef can only be defined for root HTTPProxies that terminate TLS";
            return Err(record.error("AuthError", "AuthNotPermitted", message, authorization.origin()));
        }
        let (allow, deny) = (virtual_host.field("ipAllowPolicy"), virtual_host.field("ipDenyPolicy"));
        if allow.has_items() && deny.has_items() {
            let message = "Spec.VirtualHost.IPAllowFilterPolicy and Spec.VirtualHost.IPDepnyFilterPolicy cannot both be defined.";
            return Err(record.error("IPFilterError", "IncompatibleIPAddressFilters", message, deny.origin()));
        }
        let mut root = Root { proxy, virtual_host, host, enforce_tls: tls.exists(), default_jwt_provider: None };
        if tls.exists() {
            self.tls(&mut root, tls, record)?;
        }
        let tcp = spec.field("tcpproxy");
        if tcp.exists() {
            if !tls.exists() {
                let message = "Spec.TCPProxy requires that either Spec.TLS.Passthrough or Spec.TLS.SecretName be set";
                return Err(record.error("TCPProxyError", "TLSMustBeConfigured", message, tcp.origin()));
            }
            self.tcp_proxy(proxy, &mut Vec::new(), &root.host, orphans, record)?;
        }
        let routes = self.routes(&root, proxy, &[], way, orphans, record);
        self.virtual_hosts(&root, routes, record)
    }

    /// TLS of a root's host.
    fn tls(&mut self, root: &mut Root<'a>, tls: Cursor<'a>, record: &mut Record) -> Result<(), Reported> {
        let (secret_name, fallback, client) = (tls.field("secretName"), tls.field("enableFallbackCertificate"), tls.field("clientValidation"));
        check_passthrough(tls, record)?;
        if tls.field("passthrough").is_true() {
            return Ok(());
        }
        let namespace = root.proxy.namespace();
        let written = go_quoted(secret_name.str());
        let secret = match self.source.tls_secret(&full_name(secret_name.str(), namespace), namespace) {
            Ok(secret) => Sourced::new(secret, secret_name.origin()),
            Err(error) if is_delegation(&error) => {
                let message = format!("Spec.VirtualHost.TLS Secret {written} certificate delegation not permitted");
                return Err(record.error("TLSError", "DelegationNotPermitted", message, secret_name.origin()));
            }
            Err(error) => {
                let message = format!("Spec.VirtualHost.TLS Secret {written} is invalid: {}", error.message());
                return Err(record.error("TLSError", "SecretNotValid", message, secret_name.origin()));
            }
        };
        let listener = self.single_listener("https").map_err(|why| record.error("ListenerError", "ErrorIdentifyingListener", why, tls.origin()))?;
        let min = tls_version(tls.field("minimumProtocolVersion"), "1.2");
        let max = tls_version(tls.field("maximumProtocolVersion"), "1.3");
        if max < min {
            let message = "Spec.Virtualhost.TLS the minimum protocol version is greater than the maximum protocol version";
            return Err(record.error("TLSError", "TLSConfigNotValid", message, tls.field("minimumProtocolVersion").origin()));
        }
        let host = self.secure_host(&listener, &root.host);
        host.secret = Some(secret);
        host.min_tls = Some(min);
        host.max_tls = Some(max);
        if fallback.is_true() {
            self.fallback(root, tls, &listener, record)?;
        }
        if client.exists() {
            let validation = self.client_validation(client, namespace, record)?;
            self.secure_host(&listener, &root.host).client_validation = Some(Sourced::new(validation, client.origin()));
        }
        let own = root.virtual_host.field("authorization");
        let global = self.common.authorization;
        let asked = if own.at("extensionRef.name").str().is_empty() { global } else { own };
        if asked.exists() {
            let authorization = self.authorization(asked, namespace, record)?;
            self.secure_host(&listener, &root.host).authorization = Some(authorization);
        }
        self.jwt_providers(root, &listener, record)
    }

    /// The certificate for clients that name no host.
    fn fallback(&mut self, root: &Root<'a>, tls: Cursor<'a>, listener: &Str, record: &mut Record) -> Result<(), Reported> {
        let fallback = tls.field("enableFallbackCertificate");
        let mut wrong = |reason, message: String| Err(record.error("TLSError", reason, message, fallback.origin()));
        let conflicts = [
            (tls.field("clientValidation").exists(), "Spec.Virtualhost.TLS fallback & client validation are incompatible"),
            (root.virtual_host.field("authorization").exists(), "Spec.Virtualhost.TLS fallback & client authorization are incompatible"),
            (root.virtual_host.field("jwtProviders").has_items(), "Spec.Virtualhost.TLS fallback & JWT providers are incompatible"),
        ];
        if let Some((_, message)) = conflicts.into_iter().find(|(conflict, _)| *conflict) {
            return wrong("TLSIncompatibleFeatures", message.into());
        }
        let Some(name) = self.common.fallback_certificate.clone() else {
            let message = "Spec.Virtualhost.TLS enabled fallback but the fallback Certificate Secret is not configured in Contour configuration file";
            return wrong("FallbackNotPresent", message.into());
        };
        match self.source.tls_secret(&name, root.proxy.namespace()) {
            Ok(secret) => self.secure_host(listener, &root.host).fallback = Some(Sourced::new(secret, fallback.origin())),
            Err(error) if is_delegation(&error) => {
                let message = format!("Spec.VirtualHost.TLS Secret {} is not configured for certificate delegation", quoted(&name));
                return wrong("FallbackNotDelegated", message);
            }
            Err(error) => {
                let message = format!("Spec.Virtualhost.TLS Secret {} fallback certificate is invalid: {}", quoted(&name), error.message());
                return wrong("FallbackNotValid", message);
            }
        }
        Ok(())
    }

    fn client_validation(&self, at: Cursor<'_>, namespace: &Str, record: &mut Record) -> Result<PeerValidation, Reported> {
        let truth = |field: &str| Sourced::new(at.field(field).is_true(), at.field(field).origin());
        let mut validation =
            PeerValidation { skip: truth("skipClientCertValidation"), optional: truth("optionalClientCertificate"), ..PeerValidation::default() };
        validation.forward = at.field("forwardClientCertificate").some().map(|forward| {
            let part = |field: &str| Some(forward.field(field).is_true());
            let details =
                ir::ClientCertDetails { subject: part("subject"), cert: part("cert"), chain: part("chain"), dns: part("dns"), uri: part("uri") };
            Sourced::new(details, forward.origin()).whole()
        });
        for (field, what) in [("caSecret", "CA"), ("crlSecret", "CRL")] {
            let written = at.field(field);
            if written.str().is_empty() {
                if field == "caSecret" && !validation.skip.value {
                    let message = "Spec.VirtualHost.TLS client validation is invalid: CA Secret must be specified";
                    record.error("TLSError", "ClientValidationInvalid", message, at.origin());
                }
                continue;
            }
            let name = full_name(written.str(), namespace);
            let found = if field == "caSecret" { self.source.ca_secret(&name, namespace) } else { self.source.crl_secret(&name, namespace) };
            match found {
                Ok(material) if field == "caSecret" => validation.ca.push(Sourced::new(material, written.origin())),
                Ok(material) => {
                    validation.crl = Some(Sourced::new(material, written.origin()));
                    validation.only_leaf_crl = truth("crlOnlyVerifyLeafCert");
                }
                Err(error) if is_delegation(&error) => {
                    let message = format!("Spec.VirtualHost.TLS {what} Secret {} is invalid: {}", go_quoted(written.str()), error.message());
                    return Err(record.error("TLSError", "DelegationNotPermitted", message, written.origin()));
                }
                Err(error) => {
                    let name = quoted(&name);
                    let message = format!("Spec.VirtualHost.TLS client validation is invalid: invalid {what} Secret {name}: {}", error.message());
                    return Err(record.error("TLSError", "ClientValidationInvalid", message, written.origin()));
                }
            }
        }
        Ok(validation)
    }

    /// Adds the routes to their hosts, with the settings of the whole host.
    fn virtual_hosts(&mut self, root: &Root<'a>, routes: Vec<Arc<Route>>, record: &mut Record) -> Result<(), Reported> {
        let spec = root.proxy.spec();
        let at = root.virtual_host;
        let listener = match self.single_listener("http") {
            Ok(listener) => listener,
            Err(why) => return Err(record.error("ListenerError", "ErrorIdentifyingListener", why, at.origin())),
        };
        self.host(&listener, &root.host);
        let cors = match policy::cors(at.field("corsPolicy")) {
            Ok(cors) => cors,
            Err(why) => {
                let message = format!("Spec.VirtualHost.CORSPolicy: {why}");
                let written = at.field("corsPolicy");
                let origin = policy::invalid_origin(written).unwrap_or(written).origin();
                return Err(record.error("CORSError", "PolicyDidNotParse", message, origin));
            }
        };
        self.host(&listener, &root.host).cors.clone_from(&cors);
        let rate_limit = self.host_rate_limit(at.field("rateLimitPolicy"), record)?;
        self.host(&listener, &root.host).rate_limit.clone_from(&rate_limit);
        let global = self.common.authorization;
        let disabled = at.at("authorization.authPolicy.disabled").is_true();
        if global.exists() && !disabled {
            // Only errors matter here: without TLS, the listener authorizes requests.
            self.authorization(global, root.proxy.namespace(), record).ok();
        }
        let ip_filter = match policy::ip_filter(at.field("ipAllowPolicy"), at.field("ipDenyPolicy"), record) {
            Ok(filter) => filter,
            Err(InvalidAddresses { why, .. }) => {
                let message = format!("Spec.VirtualHost.IPAllowFilterPolicy or Spec.VirtualHost.IPDenyFilterPolicy is invalid: {why}");
                return Err(record.error("IPFilterError", "IPFilterPolicyNotValid", message, at.origin()));
            }
        };
        let host = self.host(&listener, &root.host);
        host.ip_filter.clone_from(&ip_filter);
        let table: Arc<Routes> = Arc::new(routes.iter().cloned().collect());
        self.report_replaced(&root.host.value, &routes, &table);
        self.host(&listener, &root.host).add_all(&routes, &table);
        if !root.enforce_tls || spec.field("tcpproxy").exists() {
            return Ok(());
        }
        let listener = match self.single_listener("https") {
            Ok(listener) => listener,
            Err(why) => return Err(record.error("ListenerError", "ErrorIdentifyingListener", why, at.origin())),
        };
        let host = self.secure_host(&listener, &root.host);
        host.host.cors = cors;
        host.host.rate_limit = rate_limit;
        host.host.ip_filter = ip_filter;
        host.host.add_all(&routes, &table);
        for provider in routes.iter().filter_map(|route| route.jwt_provider.as_ref()) {
            if !host.jwt_providers.iter().any(|known| known.name == *provider) {
                let message = format!("Route references an undefined JWT provider {}", go_quoted(&provider.value));
                let origin = provider.origin.unwrap_or_else(|| at.origin());
                return Err(record.error("JWTVerificationError", "JWTProviderNotDefined", message, origin));
            }
        }
        Ok(())
    }

    /// The rate limits of a host: its own ones, or the administrator's if it has no global ones and does not disable them.
    fn host_rate_limit(&self, at: Cursor<'_>, record: &mut Record) -> Result<Option<Sourced<RateLimitPolicy>>, Reported> {
        let own = match policy::rate_limit(at) {
            Ok(own) => own,
            Err(why) => {
                let message = format!("Spec.VirtualHost.RateLimitPolicy is invalid: {why}");
                return Err(record.error("VirtualHostError", "RateLimitPolicyNotValid", message, at.origin()));
            }
        };
        let default = self.source.settings.at("rateLimitService.defaultGlobalRateLimitPolicy");
        let has_own = own.as_ref().is_some_and(|own| own.global.is_some());
        if has_own || !default.exists() || at.field("global").field("disabled").is_true() {
            return Ok(own);
        }
        let mut policy = own.unwrap_or_else(|| Sourced::new(RateLimitPolicy::default(), default.origin()));
        match policy::global_rate_limit(default) {
            Ok(global) => policy.value.global = global.map(|global| global.by(chancery_base::resource::Rule::Module)),
            Err(why) => {
                let message = format!("Default Global RateLimit Policy is invalid: {why}");
                return Err(record.error("VirtualHostError", "RateLimitPolicyNotValid", message, default.origin()));
            }
        }
        Ok(Some(policy))
    }
}

/// Validates the combination of the TLS Secret and passthrough.
fn check_passthrough(tls: Cursor<'_>, record: &mut Record) -> Result<(), Reported> {
    let (secret_name, passthrough) = (tls.field("secretName"), tls.field("passthrough"));
    let (fallback, client) = (tls.field("enableFallbackCertificate"), tls.field("clientValidation"));
    if passthrough.is_true() && fallback.is_true() {
        let message = "Spec.VirtualHost.TLS: both Passthrough and enableFallbackCertificate were specified";
        record.error("TLSError", "TLSIncompatibleFeatures", message, fallback.origin());
    }
    let has_secret = !secret_name.str().trim().is_empty();
    if has_secret && passthrough.is_true() {
        let message = "Spec.VirtualHost.TLS: both Passthrough and SecretName were specified";
        return Err(record.error("TLSError", "TLSConfigNotValid", message, passthrough.origin()));
    }
    if !has_secret && !passthrough.is_true() {
        let message = "Spec.VirtualHost.TLS: neither Passthrough nor SecretName were specified";
        return Err(record.error("TLSError", "TLSConfigNotValid", message, tls.origin()));
    }
    if passthrough.is_true() && client.exists() {
        let message = "Spec.VirtualHost.TLS passthrough cannot be combined with tls.clientValidation";
        return Err(record.error("TLSError", "TLSIncompatibleFeatures", message, client.origin()));
    }
    Ok(())
}
