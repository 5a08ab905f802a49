//! The properties of each kind of part, in Azure's words (`Microsoft.Network/applicationGateways`, 2021-03-01).
//!
//! What must not be here: which parts refer to which.

use super::wire::{Branch, Derived, Tree, Wire, wire};
use super::{Part, Parts};
use crate::resource::{Also, ObjectId, Sourced};
use alloc::vec::Vec;
use chancery_text::{Node, Str};

/// The protocol without TLS.
pub const HTTP: &str = "Http";
/// The protocol with TLS.
pub const HTTPS: &str = "Https";
/// A rule with one target.
pub const BASIC: &str = "Basic";
/// A rule with a path map.
pub const PATH_BASED: &str = "PathBasedRouting";

/// A reference to a part, by its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The id.
    pub id: Sourced<Str>,
    /// What else the id was derived from.
    pub also: Also,
}

impl From<Sourced<Str>> for Reference {
    fn from(id: Sourced<Str>) -> Self {
        Self { id, also: Also::default() }
    }
}

impl Reference {
    /// The same of an id that was derived from these, too.
    #[must_use]
    pub fn with(self, also: &Also) -> Self {
        Self { also: also.clone(), ..self }
    }

    /// The name of the part that it leads to.
    pub fn name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or_default()
    }
}

impl Wire for Reference {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        // With anything else in it, it is kept as it is.
        node.as_object().filter(|fields| fields.len() == 1)?;
        Sourced::read(node.get("id")?, object).map(Self::from)
    }
    fn write(&self) -> Tree {
        let id = Sourced::new(self.id.value.clone(), None);
        Tree { value: Branch::Fields(Vec::from([(Str::new_static("id"), id.write())])), origin: self.id.origin, also: self.also.clone() }
    }
}

wire! {
    /// Addresses that requests are sent to.
    Pool {
        /// The addresses.
        addresses: Vec<Address> = "backendAddresses",
    }
    /// An address of a pool.
    Address {
        /// A name.
        fqdn: Sourced<Str> = "fqdn",
        /// An IP address.
        ip: Sourced<Str> = "ipAddress",
    }
    /// How the addresses of a pool are spoken to.
    Settings {
        /// The name of the cookie that keeps clients at an address.
        affinity_cookie: Sourced<Str> = "affinityCookieName",
        /// Whether a cookie keeps clients at an address: `Enabled` or `Disabled`.
        affinity: Sourced<Str> = "cookieBasedAffinity",
        /// How connections end to an address that goes away.
        draining: Draining = "connectionDraining",
        /// The host that requests are sent with.
        host_name: Sourced<Str> = "hostName",
        /// What takes the place of the matched path.
        path: Sourced<Str> = "path",
        /// Whether requests are sent with the address as their host.
        pick_host_name: Sourced<bool> = "pickHostNameFromBackendAddress",
        /// The port.
        port: Derived<i64> = "port",
        /// How health is asked for.
        probe: Reference = "probe",
        /// `Http` or `Https`.
        protocol: Derived<Str> = "protocol",
        /// How long an answer may take, in seconds.
        request_timeout: Sourced<i64> = "requestTimeout",
        /// The authorities that certificates are checked by.
        trusted_roots: Vec<Reference> = "trustedRootCertificates",
    }
    /// How connections end to an address that goes away.
    Draining {
        /// For how long requests may go on, in seconds.
        timeout: Sourced<i64> = "drainTimeoutInSec",
        /// Whether they may.
        enabled: Sourced<bool> = "enabled",
    }
    /// A question for the health of an address.
    Probe {
        /// The host that it is asked with.
        host: Sourced<Str> = "host",
        /// Seconds between two questions.
        interval: Sourced<i64> = "interval",
        /// Which answers are good.
        answers: ProbeMatch = "match",
        /// How many addresses are always taken for healthy.
        min_servers: Sourced<i64> = "minServers",
        /// The path.
        path: Sourced<Str> = "path",
        /// Whether the host is that of the settings.
        pick_host_name: Sourced<bool> = "pickHostNameFromBackendHttpSettings",
        /// The port; that of the settings unless set.
        port: Derived<i64> = "port",
        /// `Http` or `Https`.
        protocol: Derived<Str> = "protocol",
        /// How long an answer may take, in seconds.
        timeout: Sourced<i64> = "timeout",
        /// After how many bad answers in a row the address counts as unhealthy.
        unhealthy_threshold: Sourced<i64> = "unhealthyThreshold",
    }
    /// Which answers to a probe are good.
    ProbeMatch {
        /// Codes and ranges of codes.
        status_codes: Vec<Sourced<Str>> = "statusCodes",
    }
    /// An address of the gateway.
    Frontend {
        /// The private address.
        private_ip: Sourced<Str> = "privateIPAddress",
        /// The public address.
        public_ip: Reference = "publicIPAddress",
    }
    /// A port of the gateway.
    Port {
        /// Its number.
        port: Sourced<i64> = "port",
    }
    /// Where requests come in: an address, a port, and hosts.
    Listener {
        /// A policy of the firewall.
        firewall_policy: Reference = "firewallPolicy",
        /// The address.
        frontend: Reference = "frontendIPConfiguration",
        /// The port.
        port: Reference = "frontendPort",
        /// The only host.
        host_name: Sourced<Str> = "hostName",
        /// The hosts; all where there are none.
        host_names: Vec<Sourced<Str>> = "hostNames",
        /// `Http` or `Https`.
        protocol: Sourced<Str> = "protocol",
        /// Whether clients must name the host when TLS begins.
        require_sni: Sourced<bool> = "requireServerNameIndication",
        /// The certificate.
        certificate: Reference = "sslCertificate",
        /// Further settings of TLS.
        ssl_profile: Reference = "sslProfile",
    }
    /// A certificate with its key.
    Certificate {
        /// The certificate and its key as PFX. It never holds key material, but its name: `secret:NAMESPACE/NAME`.
        data: Sourced<Str> = "data",
        /// Where a key vault has them.
        key_vault_secret: Sourced<Str> = "keyVaultSecretId",
        /// The password of the PFX.
        password: Sourced<Str> = "password",
    }
    /// A redirect.
    Redirect {
        /// Whether the path is kept.
        include_path: Sourced<bool> = "includePath",
        /// Whether the query is kept.
        include_query: Sourced<bool> = "includeQueryString",
        /// `Permanent`, `Found`, `SeeOther` or `Temporary`.
        redirect_type: Sourced<Str> = "redirectType",
        /// The listener that clients are sent to.
        target_listener: Reference = "targetListener",
        /// The URL that clients are sent to.
        target_url: Sourced<Str> = "targetUrl",
    }
    /// What a listener does with requests.
    Rule {
        /// The pool, for a basic rule.
        pool: Reference = "backendAddressPool",
        /// How it is spoken to, for a basic rule.
        settings: Reference = "backendHttpSettings",
        /// The listener.
        listener: Reference = "httpListener",
        /// Which rule comes first: the smaller number.
        priority: Sourced<i64> = "priority",
        /// The redirect, for a basic rule.
        redirect: Reference = "redirectConfiguration",
        /// What is rewritten, for a basic rule.
        rewrites: Reference = "rewriteRuleSet",
        /// `Basic` or `PathBasedRouting`.
        rule_type: Sourced<Str> = "ruleType",
        /// Where requests go by their paths.
        path_map: Reference = "urlPathMap",
    }
    /// Where requests go by their paths.
    PathMap {
        /// The pool for all other paths.
        default_pool: Reference = "defaultBackendAddressPool",
        /// How it is spoken to.
        default_settings: Reference = "defaultBackendHttpSettings",
        /// The redirect for all other paths.
        default_redirect: Reference = "defaultRedirectConfiguration",
        /// What is rewritten for all other paths.
        default_rewrites: Reference = "defaultRewriteRuleSet",
        /// The paths, the first that matches counts.
        rules: Vec<Part<PathRule>> = "pathRules",
    }
    /// Where requests to some paths go.
    PathRule {
        /// The pool.
        pool: Reference = "backendAddressPool",
        /// How it is spoken to.
        settings: Reference = "backendHttpSettings",
        /// A policy of the firewall.
        firewall_policy: Reference = "firewallPolicy",
        /// The paths; a star at the end stands for anything.
        paths: Vec<Sourced<Str>> = "paths",
        /// The redirect.
        redirect: Reference = "redirectConfiguration",
        /// What is rewritten.
        rewrites: Reference = "rewriteRuleSet",
    }
    /// Rewrites that go together.
    RewriteSet {
        /// The rewrites.
        rules: Vec<Rewrite> = "rewriteRules",
    }
    /// A rewrite.
    Rewrite {
        /// What it does.
        actions: Actions = "actionSet",
        /// When it does so.
        conditions: Vec<Condition> = "conditions",
        /// Its name.
        name: Sourced<Str> = "name",
        /// Which rewrite comes first: the smaller number.
        sequence: Sourced<i64> = "ruleSequence",
    }
    /// What a rewrite does.
    Actions {
        /// Headers of the request.
        request_headers: Vec<HeaderChange> = "requestHeaderConfigurations",
        /// Headers of the answer.
        response_headers: Vec<HeaderChange> = "responseHeaderConfigurations",
        /// The path and the query.
        url: UrlChange = "urlConfiguration",
    }
    /// A header that is set; one that is set to nothing is taken away.
    HeaderChange {
        /// Its name.
        name: Sourced<Str> = "headerName",
        /// Its value.
        value: Sourced<Str> = "headerValue",
    }
    /// A path and a query that take the place of those of the request.
    UrlChange {
        /// The path; empty for the one that is there.
        path: Sourced<Str> = "modifiedPath",
        /// The query; empty for the one that is there.
        query: Sourced<Str> = "modifiedQueryString",
        /// Whether the path map is asked again.
        reroute: Sourced<bool> = "reroute",
    }
    /// When a rewrite is done.
    Condition {
        /// Whether upper and lower case are the same.
        ignore_case: Sourced<bool> = "ignoreCase",
        /// Whether it must not hold.
        negate: Sourced<bool> = "negate",
        /// What the variable must match.
        pattern: Sourced<Str> = "pattern",
        /// A variable of the request or the answer.
        variable: Sourced<Str> = "variable",
    }
    /// The size of the gateway.
    Sku {
        /// Its name.
        name: Sourced<Str> = "name",
        /// `Standard`, `WAF`, `Standard_v2` or `WAF_v2`.
        tier: Sourced<Str> = "tier",
    }
    /// A part that is only looked up by its name.
    Other {}
    /// Everything that a gateway is made of.
    Properties {
        /// Old certificates of pools.
        authentication_certificates: Parts<Other> = "authenticationCertificates",
        /// Pools.
        pools: Parts<Pool> = "backendAddressPools",
        /// Settings of pools.
        settings: Parts<Settings> = "backendHttpSettingsCollection",
        /// Addresses of the gateway.
        frontends: Parts<Frontend> = "frontendIPConfigurations",
        /// Ports of the gateway.
        ports: Parts<Port> = "frontendPorts",
        /// Listeners.
        listeners: Parts<Listener> = "httpListeners",
        /// Probes.
        probes: Parts<Probe> = "probes",
        /// Redirects.
        redirects: Parts<Redirect> = "redirectConfigurations",
        /// What listeners do.
        rules: Parts<Rule> = "requestRoutingRules",
        /// Rewrites.
        rewrites: Parts<RewriteSet> = "rewriteRuleSets",
        /// Certificates.
        certificates: Parts<Certificate> = "sslCertificates",
        /// Authorities.
        trusted_roots: Parts<Other> = "trustedRootCertificates",
        /// Path maps.
        path_maps: Parts<PathMap> = "urlPathMaps",
        /// Settings of TLS.
        ssl_profiles: Parts<Other> = "sslProfiles",
        /// The size.
        sku: Sku = "sku",
        /// Whether it runs; told by Azure.
        operational_state: Sourced<Str> = "operationalState",
    }
}

impl Part<Listener> {
    /// Whether the listener terminates TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.properties.protocol.as_ref().is_some_and(|protocol| *protocol.value == *HTTPS)
    }
}
