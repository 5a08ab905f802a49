//! Registers the codes that only Consul has. A test runs the first `yaml` block of each page in `pages/`, which must produce the code.

chancery_base::codes! {
    ENTRY_REFUSED = "entry-refused", Error, "Consul refuses the config entry";
    REGISTRATION_REFUSED = "registration-refused", Error, "Consul refuses the registration";
    UNKNOWN_ENTRY_KIND = "unknown-entry-kind", Error, "Consul has no config entry of this kind";
    UNKNOWN_ENTRY_FIELD = "unknown-entry-field", Error, "The entry has an unknown field, so Consul refuses the whole document";
    PROXY_WITHOUT_CONFIGURATION = "proxy-without-configuration", Error, "One invalid value leaves a proxy without any configuration";
    BOOTSTRAP_REFUSED = "bootstrap-refused", Error, "`consul connect envoy` refuses a value, so Envoy does not start";
    KEY_IN_ANOTHER_CASE = "key-in-another-case", Notice, "A key is not written in Consul's case";
    DURATION_IN_NANOSECONDS = "duration-in-nanoseconds", Warning, "A duration is a number, which Consul reads as nanoseconds";
    UNKNOWN_PROXY_SETTING = "unknown-proxy-setting", Warning, "Consul does not read this key of a proxy's `Config`";
    ENTERPRISE_FIELD = "enterprise-field", Warning, "Only Consul Enterprise uses this field";
    UNKNOWN_UPSTREAM = "unknown-upstream", Warning, "An upstream is neither registered nor configured";
    UNKNOWN_DATACENTER = "unknown-datacenter", Warning, "No instance is registered in this datacenter";
    PEER_NOT_GIVEN = "peer-not-given", Warning, "The input does not contain the documents of a peer";
    PORT_OUT_OF_RANGE = "port-out-of-range", Warning, "An instance is registered with a port that does not exist";
    LOCAL_PORT_COLLISION = "local-port-collision", Warning, "Two listeners of one node have the same port";
    SIDECAR_WITHOUT_SERVICE = "sidecar-without-service", Warning, "The service of a sidecar is not registered";
    MESH_GATEWAY_MISSING = "mesh-gateway-missing", Warning, "Traffic goes through a mesh gateway that does not exist";
    PROTOCOL_DIFFERS = "protocol-differs", Warning, "An upstream has another protocol than its service";
    ESCAPE_HATCH_WITHOUT_EFFECT = "escape-hatch-without-effect", Warning, "Envoy JSON of an upstream has no effect, because the service has a chain";
    PERMISSIVE_TLS = "permissive-tls", Notice, "A service also accepts traffic without TLS";
    OVERRIDE_WITHOUT_SERVICE = "override-without-service", Warning, "Settings of an upstream name a service that does not exist";
    SERVICE_DOWN = "service-down", Warning, "All instances of a service are critical";
    INTENTION_WITHOUT_SERVICE = "intention-without-service", Warning, "An intention applies to no proxy";
    INTENTION_WITHOUT_SOURCE = "intention-without-source", Warning, "The source of an intention does not exist";
    REDUNDANT_INTENTION = "redundant-intention", Notice, "An intention has the same effect as the default policy";
    SHADOWED_PERMISSION = "shadowed-permission", Warning, "A permission never applies, because an earlier one matches all of its requests";
    OPEN_PERMISSIONS = "open-permissions", Warning, "Permissions leave other requests of a source to the default policy, which allows them";
    TARGET_INTENTION_DIFFERS = "target-intention-differs", Warning, "A chain sends requests to a service whose intentions decide otherwise";
    INEFFECTIVE_DENY = "ineffective-deny", Warning, "Transparent proxies pass on the connections that an intention denies";
    INTENTION_FOR_ALL = "intention-for-all", Notice, "An intention lets every service call every service";
    UNUSED_JWT_PROVIDER = "unused-jwt-provider", Notice, "No intention requires the tokens of a provider";
    UNREACHED_CHAIN = "unreached-chain", Notice, "No proxy reaches the service of a router, splitter or resolver";
    BYPASSED_CHAIN_ENTRY = "bypassed-chain-entry", Warning, "A router or a timeout does not apply to requests that another entry leads";
    ROUTE_AFTER_CATCH_ALL = "route-after-catch-all", Warning, "An earlier route matches all requests of a later one";
    ROUTE_WITHOUT_INSTANCES = "route-without-instances", Warning, "A route leads to a service without instances";
    SPLIT_WITHOUT_INSTANCES = "split-without-instances", Warning, "A share of the requests goes to a service without instances";
    EMPTY_SPLIT = "empty-split", Notice, "A split gets no requests";
    REDIRECT_WITHOUT_INSTANCES = "redirect-without-instances", Warning, "A redirect leads to a service without instances";
    FAILOVER_TO_ITSELF = "failover-to-itself", Warning, "A failover leads to its own service, so Consul leaves it out";
    FAILOVER_WITHOUT_INSTANCES = "failover-without-instances", Warning, "A failover target has no instances";
    SUBSET_WITHOUT_INSTANCES = "subset-without-instances", Warning, "No instance belongs to a subset";
    UNUSED_SUBSET = "unused-subset", Notice, "Nothing leads to a subset";
    GATEWAY_WITHOUT_ENTRY = "gateway-without-entry", Warning, "A gateway runs, and no config entry configures it";
    ENTRY_WITHOUT_GATEWAY = "entry-without-gateway", Warning, "A config entry is for a gateway that is not registered";
    ROUTE_WITHOUT_GATEWAY = "route-without-gateway", Warning, "A route names a gateway or a listener that does not exist";
    ROUTE_NOT_BOUND = "route-not-bound", Warning, "An API gateway does not accept a route that names it";
    GATEWAY_WITHOUT_SERVICE = "gateway-without-service", Warning, "A gateway serves a service that does not exist";
    EXPORT_WITHOUT_SERVICE = "export-without-service", Warning, "An exported service does not exist";
    NOT_IN_CONSUL_API = "not-in-consul-api", Notice, "A proxy needs information that Consul's API does not return";
}

#[cfg(test)]
mod tests;
