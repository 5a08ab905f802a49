//! The codes of findings that only this dialect has. Their pages are in `pages/`; the first `yaml` block of each is run as a test, and must produce
//! its code.

chancery_base::codes! {
    ENTRY_REFUSED = "entry-refused", Error, "Consul refuses the config entry";
    REGISTRATION_REFUSED = "registration-refused", Error, "Consul refuses the registration";
    UNKNOWN_ENTRY_KIND = "unknown-entry-kind", Error, "there is no config entry of this kind";
    UNKNOWN_ENTRY_FIELD = "unknown-entry-field", Error, "a field that the kind does not have, so Consul refuses the whole document";
    PROXY_WITHOUT_CONFIGURATION = "proxy-without-configuration", Error, "one bad value leaves a proxy without any configuration";
    BOOTSTRAP_REFUSED = "bootstrap-refused", Error, "`consul connect envoy` refuses a value, so that Envoy does not start";
    KEY_IN_ANOTHER_CASE = "key-in-another-case", Notice, "a key is not written as Consul writes it";
    DURATION_IN_NANOSECONDS = "duration-in-nanoseconds", Warning, "a number instead of a duration: it counts nanoseconds";
    UNKNOWN_PROXY_SETTING = "unknown-proxy-setting", Warning, "Consul does not read this key of a proxy's `Config`";
    ENTERPRISE_FIELD = "enterprise-field", Warning, "only Consul Enterprise acts on this field";
    UNKNOWN_UPSTREAM = "unknown-upstream", Warning, "an upstream that is neither registered nor configured";
    UNKNOWN_DATACENTER = "unknown-datacenter", Warning, "no instance is registered in this datacenter";
    PEER_NOT_GIVEN = "peer-not-given", Warning, "the documents of a peer are not given";
    PORT_OUT_OF_RANGE = "port-out-of-range", Warning, "an instance is registered with a port that no program can have";
    LOCAL_PORT_COLLISION = "local-port-collision", Warning, "two listeners of one node have the same port";
    SIDECAR_WITHOUT_SERVICE = "sidecar-without-service", Warning, "the service of a sidecar is not registered";
    MESH_GATEWAY_MISSING = "mesh-gateway-missing", Warning, "traffic goes through a mesh gateway that does not exist";
    PROTOCOL_DIFFERS = "protocol-differs", Warning, "an upstream has another protocol than its service";
    ESCAPE_HATCH_WITHOUT_EFFECT = "escape-hatch-without-effect", Warning, "Envoy JSON of an upstream does not count, as the service has a chain";
    PERMISSIVE_TLS = "permissive-tls", Notice, "a service also takes traffic without TLS";
    OVERRIDE_WITHOUT_SERVICE = "override-without-service", Warning, "settings of an upstream name a service that does not exist";
    SERVICE_DOWN = "service-down", Warning, "all instances of a service are critical";
    INTENTION_WITHOUT_SERVICE = "intention-without-service", Warning, "an intention applies to no proxy";
    INTENTION_WITHOUT_SOURCE = "intention-without-source", Warning, "the source of an intention does not exist";
    REDUNDANT_INTENTION = "redundant-intention", Notice, "an intention changes nothing: the default does the same";
    INTENTION_FOR_ALL = "intention-for-all", Notice, "an intention lets every service call every service";
    UNUSED_JWT_PROVIDER = "unused-jwt-provider", Notice, "no intention asks for the tokens of a provider";
    UNREACHED_CHAIN = "unreached-chain", Notice, "no proxy reaches the service that a router, splitter or resolver is for";
    ROUTE_AFTER_CATCH_ALL = "route-after-catch-all", Warning, "an earlier route takes all requests of a later one";
    ROUTE_WITHOUT_INSTANCES = "route-without-instances", Warning, "a route leads to a service without instances";
    SPLIT_WITHOUT_INSTANCES = "split-without-instances", Warning, "a share of the requests goes to a service without instances";
    EMPTY_SPLIT = "empty-split", Notice, "a split gets no requests";
    REDIRECT_WITHOUT_INSTANCES = "redirect-without-instances", Warning, "a redirect leads to a service without instances";
    FAILOVER_TO_ITSELF = "failover-to-itself", Warning, "a failover leads to where the requests already go, so Consul leaves it out";
    FAILOVER_WITHOUT_INSTANCES = "failover-without-instances", Warning, "a failover target has no instances";
    SUBSET_WITHOUT_INSTANCES = "subset-without-instances", Warning, "no instance belongs to a subset";
    UNUSED_SUBSET = "unused-subset", Notice, "nothing leads to a subset";
    GATEWAY_WITHOUT_ENTRY = "gateway-without-entry", Warning, "a gateway runs, and no config entry says what it does";
    ENTRY_WITHOUT_GATEWAY = "entry-without-gateway", Warning, "a config entry is for a gateway that is not registered";
    ROUTE_WITHOUT_GATEWAY = "route-without-gateway", Warning, "a route names a gateway or a listener that does not exist";
    ROUTE_NOT_BOUND = "route-not-bound", Warning, "an API gateway does not take a route that names it";
    GATEWAY_WITHOUT_SERVICE = "gateway-without-service", Warning, "a gateway serves a service that does not exist";
    EXPORT_WITHOUT_SERVICE = "export-without-service", Warning, "a service that is exported does not exist";
    NOT_IN_CONSUL_API = "not-in-consul-api", Notice, "a proxy needs what Consul's API does not give";
}

#[cfg(test)]
mod tests;
