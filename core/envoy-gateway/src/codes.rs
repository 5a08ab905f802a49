//! The codes of findings that only this dialect has. The first example of each page in `pages/` is run, and must produce its code.

chancery_base::codes! {
    STARTUP_REFUSED = "startup-refused", Error, "Envoy Gateway does not start with its configuration";
    GATEWAY_REFUSED = "gateway-refused", Error, "Envoy Gateway does not accept the GatewayClass, Gateway or ListenerSet";
    LISTENER_REFUSED = "listener-refused", Error, "Envoy does not listen as the listener asks";
    ROUTE_REFUSED = "route-refused", Error, "Envoy Gateway does not accept the route, or one of its rules";
    ROUTE_UNRESOLVED = "route-unresolved", Error, "a reference of the route cannot be resolved";
    ENDPOINTS_NOT_READY = "endpoints-not-ready", Warning, "a backend of the route has no ready endpoints";
    ROUTES_OVERLAP = "routes-overlap", Warning, "routes have the same matches, so that only one of them gets the requests";
    POLICY_REFUSED = "policy-refused", Error, "Envoy Gateway does not accept the policy, Backend or EnvoyProxy";
    POLICY_OVERRIDDEN = "policy-overridden", Notice, "a policy further below replaces this one";
    POLICY_WARNING = "policy-warning", Warning, "Envoy Gateway warns of a field of the policy";
    POLICY_WITHOUT_TARGET = "policy-without-target", Warning, "no object in use is the target of the policy";
    PROTECTION_REPLACED = "protection-replaced", Warning, "A narrower policy removes a check or a limit of a wider policy";
    LOGIN_WITHOUT_ROUTE = "login-without-route", Warning, "No rule of an OIDC policy matches the path that a login returns to";
    PREFLIGHT_WITHOUT_ROUTE = "preflight-without-route", Warning, "No rule of the route matches the preflight requests of a policy's CORS";
    KEY_NEVER_MATCHES = "key-never-matches", Warning, "No request can have an API key as it is stored";
    CLIENT_CHOOSES_ADDRESS = "client-chooses-address", Warning, "A client that connects directly chooses the address that policies see";
    EARLY_HEADER_ADDRESS = "early-header-address", Warning, "An early header gets the address of a proxy instead of the client's";
    LISTENER_WITHOUT_ROUTES = "listener-without-routes", Notice, "A listener has no routes, although other listeners of its Gateway have";
    LIMIT_NEVER_REACHED = "limit-never-reached", Warning, "A rule of a rate limit never decides, because another limit is reached first";
    SETTING_OF_WHOLE_PORT = "setting-of-whole-port", Warning, "A setting of one listener applies to all listeners of its port";
    HTTP2_DISABLED = "http2-disabled", Notice, "Envoy Gateway offers no HTTP/2 to clients of listeners with overlapping certificates";
    RETRY_TIMEOUT_LIMITS_FIRST_ATTEMPT = "retry-timeout-limits-first-attempt", Warning, "The timeout of a retry also ends the first attempt";
    SOURCE_RANGE_IGNORED = "source-range-ignored", Error, "A rate limit rule ignores all but its last sourceCIDR";
    INCOMPLETE_BACK_OFF = "incomplete-back-off", Error, "Envoy Gateway crashes on a service's back-off with one interval";
    PATCH_APPLIED_ALONE = "patch-applied-alone", Warning, "A patch applies although another patch of its policy fails";
    PATCH_FAILED = "patch-failed", Error, "a patch of an EnvoyPatchPolicy cannot be applied";
    NOTHING_PUBLISHED = "nothing-published", Error, "Envoy gets no configuration at all, as a part of it cannot be written";
}

#[cfg(test)]
mod tests;
