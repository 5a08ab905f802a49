//! Defines the properties of each kind of part in Azure's terms (`Microsoft.Network/applicationGateways`, 2021-03-01).

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
    pub id: Sourced<Str>,
    /// Further origins of the id.
    pub also: Also,
}

impl From<Sourced<Str>> for Reference {
    fn from(id: Sourced<Str>) -> Self {
        Self { id, also: Also::default() }
    }
}

impl Reference {
    /// Adds further origins of the id.
    #[must_use]
    pub fn with(self, also: &Also) -> Self {
        Self { also: also.clone(), ..self }
    }

    /// The name of the referenced part.
    pub fn name(&self) -> &str {
        self.id.rsplit('/').next().unwrap_or_default()
    }
}

impl Wire for Reference {
    fn read(node: &Node, object: ObjectId) -> Option<Self> {
        // A reference with other fields is kept verbatim.
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
        addresses: Vec<Address> = "backendAddresses",
    }
    Address {
        fqdn: Sourced<Str> = "fqdn",
        ip: Sourced<Str> = "ipAddress",
    }
    /// How the gateway connects to the addresses of a pool.
    Settings {
        /// The name of the cookie that binds a client to an address.
        affinity_cookie: Sourced<Str> = "affinityCookieName",
        /// Whether a cookie binds clients to an address: `Enabled` or `Disabled`.
        affinity: Sourced<Str> = "cookieBasedAffinity",
        /// How connections to a removed address end.
        draining: Draining = "connectionDraining",
        /// The host header sent to the pool.
        host_name: Sourced<Str> = "hostName",
        /// Replaces the matched path.
        path: Sourced<Str> = "path",
        /// Whether the address is sent as the host.
        pick_host_name: Sourced<bool> = "pickHostNameFromBackendAddress",
        port: Derived<i64> = "port",
        /// The health probe.
        probe: Reference = "probe",
        /// `Http` or `Https`.
        protocol: Derived<Str> = "protocol",
        /// The maximum time for a response, in seconds.
        request_timeout: Sourced<i64> = "requestTimeout",
        /// The CAs that verify certificates.
        trusted_roots: Vec<Reference> = "trustedRootCertificates",
    }
    /// How connections to a removed address end.
    Draining {
        /// The time for open requests to finish, in seconds.
        timeout: Sourced<i64> = "drainTimeoutInSec",
        /// Whether draining is on.
        enabled: Sourced<bool> = "enabled",
    }
    /// A health probe.
    Probe {
        /// The host sent with the probe.
        host: Sourced<Str> = "host",
        /// Seconds between two probes.
        interval: Sourced<i64> = "interval",
        /// Which responses are healthy.
        answers: ProbeMatch = "match",
        /// The number of addresses that are always treated as healthy.
        min_servers: Sourced<i64> = "minServers",
        path: Sourced<Str> = "path",
        /// Whether the settings' host is sent.
        pick_host_name: Sourced<bool> = "pickHostNameFromBackendHttpSettings",
        /// The port [default: the settings' port].
        port: Derived<i64> = "port",
        /// `Http` or `Https`.
        protocol: Derived<Str> = "protocol",
        /// The maximum time for a response, in seconds.
        timeout: Sourced<i64> = "timeout",
        /// The number of consecutive failures that make an address unhealthy.
        unhealthy_threshold: Sourced<i64> = "unhealthyThreshold",
    }
    /// Which responses to a probe are healthy.
    ProbeMatch {
        /// Status codes and ranges.
        status_codes: Vec<Sourced<Str>> = "statusCodes",
    }
    Frontend {
        /// The private address.
        private_ip: Sourced<Str> = "privateIPAddress",
        /// The public address.
        public_ip: Reference = "publicIPAddress",
    }
    Port {
        port: Sourced<i64> = "port",
    }
    /// Where requests arrive: an address, a port, and hosts.
    Listener {
        firewall_policy: Reference = "firewallPolicy",
        frontend: Reference = "frontendIPConfiguration",
        port: Reference = "frontendPort",
        /// The only host.
        host_name: Sourced<Str> = "hostName",
        /// The hosts; empty for all.
        host_names: Vec<Sourced<Str>> = "hostNames",
        /// `Http` or `Https`.
        protocol: Sourced<Str> = "protocol",
        /// Whether clients must send SNI.
        require_sni: Sourced<bool> = "requireServerNameIndication",
        certificate: Reference = "sslCertificate",
        /// Further TLS settings.
        ssl_profile: Reference = "sslProfile",
    }
    /// A certificate with its key.
    Certificate {
        /// The certificate and its key as PFX. It holds the name `secret:NAMESPACE/NAME` instead of key material.
        data: Sourced<Str> = "data",
        /// The key vault entry that holds them.
        key_vault_secret: Sourced<Str> = "keyVaultSecretId",
        /// The password of the PFX.
        password: Sourced<Str> = "password",
    }
    Redirect {
        /// Whether the path is kept.
        include_path: Sourced<bool> = "includePath",
        /// Whether the query is kept.
        include_query: Sourced<bool> = "includeQueryString",
        /// `Permanent`, `Found`, `SeeOther` or `Temporary`.
        redirect_type: Sourced<Str> = "redirectType",
        target_listener: Reference = "targetListener",
        target_url: Sourced<Str> = "targetUrl",
    }
    /// What a listener does with requests.
    Rule {
        /// The pool of a basic rule.
        pool: Reference = "backendAddressPool",
        /// The settings of a basic rule.
        settings: Reference = "backendHttpSettings",
        listener: Reference = "httpListener",
        /// The priority: the smaller number wins.
        priority: Sourced<i64> = "priority",
        /// The redirect of a basic rule.
        redirect: Reference = "redirectConfiguration",
        /// The rewrites of a basic rule.
        rewrites: Reference = "rewriteRuleSet",
        /// `Basic` or `PathBasedRouting`.
        rule_type: Sourced<Str> = "ruleType",
        /// The path map of a path-based rule.
        path_map: Reference = "urlPathMap",
    }
    /// Routes requests by path.
    PathMap {
        /// The pool for all other paths.
        default_pool: Reference = "defaultBackendAddressPool",
        /// The settings for all other paths.
        default_settings: Reference = "defaultBackendHttpSettings",
        /// The redirect for all other paths.
        default_redirect: Reference = "defaultRedirectConfiguration",
        /// The rewrites for all other paths.
        default_rewrites: Reference = "defaultRewriteRuleSet",
        /// The rules; the first matching path wins.
        rules: Vec<Part<PathRule>> = "pathRules",
    }
    /// Routes requests with certain paths.
    PathRule {
        pool: Reference = "backendAddressPool",
        settings: Reference = "backendHttpSettings",
        firewall_policy: Reference = "firewallPolicy",
        /// The paths; a trailing star matches anything.
        paths: Vec<Sourced<Str>> = "paths",
        redirect: Reference = "redirectConfiguration",
        rewrites: Reference = "rewriteRuleSet",
    }
    RewriteSet {
        rules: Vec<Rewrite> = "rewriteRules",
    }
    Rewrite {
        /// The changes.
        actions: Actions = "actionSet",
        /// When the changes apply.
        conditions: Vec<Condition> = "conditions",
        name: Sourced<Str> = "name",
        /// The order: the smaller number comes first.
        sequence: Sourced<i64> = "ruleSequence",
    }
    /// The changes of a rewrite.
    Actions {
        request_headers: Vec<HeaderChange> = "requestHeaderConfigurations",
        response_headers: Vec<HeaderChange> = "responseHeaderConfigurations",
        /// The path and the query.
        url: UrlChange = "urlConfiguration",
    }
    /// A header that is set; an empty value removes it.
    HeaderChange {
        name: Sourced<Str> = "headerName",
        value: Sourced<Str> = "headerValue",
    }
    /// A path and a query that replace the request's.
    UrlChange {
        /// The path; empty keeps the current one.
        path: Sourced<Str> = "modifiedPath",
        /// The query; empty keeps the current one.
        query: Sourced<Str> = "modifiedQueryString",
        /// Whether the path map is evaluated again.
        reroute: Sourced<bool> = "reroute",
    }
    /// A condition of a rewrite.
    Condition {
        /// Whether case is ignored.
        ignore_case: Sourced<bool> = "ignoreCase",
        /// Whether the condition is negated.
        negate: Sourced<bool> = "negate",
        /// The pattern that the variable must match.
        pattern: Sourced<Str> = "pattern",
        /// A variable of the request or the response.
        variable: Sourced<Str> = "variable",
    }
    /// The size of the gateway.
    Sku {
        name: Sourced<Str> = "name",
        /// `Standard`, `WAF`, `Standard_v2` or `WAF_v2`.
        tier: Sourced<Str> = "tier",
    }
    /// A part that is only looked up by name.
    Other {}
    /// All parts of a gateway.
    Properties {
        authentication_certificates: Parts<Other> = "authenticationCertificates",
        pools: Parts<Pool> = "backendAddressPools",
        settings: Parts<Settings> = "backendHttpSettingsCollection",
        frontends: Parts<Frontend> = "frontendIPConfigurations",
        ports: Parts<Port> = "frontendPorts",
        listeners: Parts<Listener> = "httpListeners",
        probes: Parts<Probe> = "probes",
        redirects: Parts<Redirect> = "redirectConfigurations",
        /// What listeners do.
        rules: Parts<Rule> = "requestRoutingRules",
        rewrites: Parts<RewriteSet> = "rewriteRuleSets",
        certificates: Parts<Certificate> = "sslCertificates",
        /// CA certificates.
        trusted_roots: Parts<Other> = "trustedRootCertificates",
        path_maps: Parts<PathMap> = "urlPathMaps",
        /// TLS settings.
        ssl_profiles: Parts<Other> = "sslProfiles",
        sku: Sku = "sku",
        /// Whether it runs; Azure reports it.
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
