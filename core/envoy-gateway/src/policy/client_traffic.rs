//! ClientTrafficPolicy: how listeners treat clients and their connections.

use super::super::cluster::{Admitted, Name};
use super::super::cluster_settings;
use super::super::context::{ListenerId, Scope, Translator};
use super::super::model::{ClientSettings, HttpListener, Xds};
use super::super::status::{Reference, sentence};
use super::super::value::tree;
use super::super::xds::proto::Setting as _;
use super::attach::{gateway_name, gateway_of, set_has_listener, set_of, status};
use super::backend_traffic::failure;
use super::target::{self, Target};
use super::{client_tls, headers};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::ObjectId;
use chancery_base::schema::go_quoted;
use chancery_text::Str;

/// A listener by the name of its ListenerSet, if it is from one, and its own.
type Section = (Option<Name>, Str);

/// What a policy is for at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Gateway,
    ListenerSet,
    Listener,
}

#[derive(Default)]
struct Claims {
    /// Whole Gateways, and ListenerSets of Gateways.
    wholes: BTreeSet<(usize, Option<Name>)>,
    sections: BTreeMap<usize, BTreeSet<Section>>,
    handled: BTreeSet<ObjectId>,
}

/// Applies all ClientTrafficPolicies: those for listeners, then for ListenerSets, then for Gateways.
pub(super) fn run<'a>(t: &mut Translator<'a>) {
    let policies: Vec<&'a Admitted<'a>> = t.resources.client_traffic_policies.clone();
    let mut candidates: Vec<&'a Admitted<'a>> = t.gateways.iter().map(|gateway| gateway.object).collect();
    candidates.extend(t.resources.listener_sets.iter().copied());
    let mut claims = Claims::default();
    for policy in &policies {
        for target in target::of_references(policy).into_iter().filter(|target| target.section.is_some()) {
            claims.handled.insert(policy.id());
            claims.section(t, policy, &target);
        }
    }
    let targets: Vec<Vec<Target>> = policies.iter().map(|policy| target::resolve(t, policy, &candidates)).collect();
    for kind in ["ListenerSet", "Gateway"] {
        for (policy, targets) in policies.iter().zip(&targets) {
            for target in targets.iter().filter(|target| target.section.is_none() && *target.kind == *kind) {
                claims.handled.insert(policy.id());
                claims.whole(t, policy, target);
            }
        }
    }
    for id in &claims.handled {
        if let Some(status) = t.policies.get_mut(id) {
            status.truncate();
        }
    }
}

/// Notes that the policy is attached to this target, and whether it is invalid there.
fn note(t: &mut Translator<'_>, policy: &Admitted<'_>, target: &Target, is_refused: bool) {
    if let Some(scope) = Scope::named(&target.kind, &target.full_name(), target.section()) {
        t.in_force.put("ClientTrafficPolicy", scope, policy.id(), is_refused);
    }
}

/// Returns the Gateway of a target, and the ListenerSet if it is one.
fn resolve<'a>(t: &Translator<'a>, target: &Target) -> Option<(usize, Option<&'a Admitted<'a>>)> {
    if target.is_listener_set() {
        let set = set_of(t, &target.full_name())?;
        return Some((gateway_of(t, &gateway_name(set))?, Some(set)));
    }
    Some((gateway_of(t, &target.full_name())?, None))
}

impl Claims {
    fn section<'a>(&mut self, t: &mut Translator<'a>, policy: &'a Admitted<'a>, target: &Target) {
        let Some((gateway, set)) = resolve(t, target) else { return };
        let section = target.section.clone().unwrap_or_default();
        let kind = if set.is_some() { "ListenerSet" } else { "Gateway" };
        let (namespace, name) = target.full_name();
        let ancestor = Reference::new(kind, &namespace, &name, target.section.clone());
        let missing = match set {
            Some(set) if !set_has_listener(set, &section) => {
                Some(format!("ListenerSet {namespace}/{name} does not have a listener named {}", go_quoted(&section)))
            }
            None if !t.gateways[gateway].listeners.iter().any(|listener| listener.name == section) => {
                Some(format!("No section name {section} found for Gateway {namespace}/{name}"))
            }
            _ => None,
        };
        if let Some(message) = missing {
            status(t, policy).set(&ancestor, "Accepted", false, "TargetNotFound", &message);
            return;
        }
        let key: Section = (set.map(Admitted::full_name), section.clone());
        if !self.sections.entry(gateway).or_default().insert(key) {
            let message = format!("Unable to target section of {name}, another ClientTrafficPolicy has already attached to it");
            status(t, policy).set(&ancestor, "Accepted", false, "Conflicted", &message);
            return;
        }
        let own = set.map(Admitted::full_name);
        let is_meant = |listener: &super::super::context::Listener<'a>| listener.name == section && (own.is_none() || listener.set_name == own);
        let found = t.gateways[gateway].listeners.iter().position(is_meant);
        let (mut errors, mut disabled) = (Vec::new(), Vec::new());
        if let Some(listener) = found {
            apply(t, policy, ListenerId { gateway, listener }, Width::Listener, &mut errors, &mut disabled);
        }
        note(t, policy, target, !errors.is_empty());
        conclude(t, policy, &ancestor, &errors, disabled);
    }

    fn whole<'a>(&mut self, t: &mut Translator<'a>, policy: &'a Admitted<'a>, target: &Target) {
        let Some((gateway, set)) = resolve(t, target) else { return };
        let (namespace, name) = target.full_name();
        let kind = if set.is_some() { "ListenerSet" } else { "Gateway" };
        let ancestor = Reference::new(kind, &namespace, &name, None);
        let own = set.map(Admitted::full_name);
        if !self.wholes.insert((gateway, own.clone())) {
            let message = format!("Unable to target {kind} {name}, another ClientTrafficPolicy has already attached to it");
            status(t, policy).set(&ancestor, "Accepted", false, "Conflicted", &message);
            return;
        }
        let claimed = self.sections.get(&gateway).cloned().unwrap_or_default();
        let mut overriding: Vec<&str> = claimed.iter().filter(|(set, _)| own.is_none() || *set == own).map(|(_, section)| section.as_str()).collect();
        overriding.sort_unstable();
        if !overriding.is_empty() {
            let message = format!("There are existing ClientTrafficPolicies that are overriding these sections [{}]", overriding.join(" "));
            status(t, policy).set(&ancestor, "Overridden", true, "Overridden", &message);
        }
        let (mut errors, mut disabled) = (Vec::new(), Vec::new());
        let width = if own.is_some() { Width::ListenerSet } else { Width::Gateway };
        for place in 0..t.gateways[gateway].listeners.len() {
            let listener = &t.gateways[gateway].listeners[place];
            let key: Section = (listener.set_name.clone(), listener.name.clone());
            if own.is_some() && listener.set_name != own || claimed.contains(&key) {
                continue;
            }
            let is_applied = apply(t, policy, ListenerId { gateway, listener: place }, width, &mut errors, &mut disabled);
            if is_applied && own.is_some() {
                self.sections.entry(gateway).or_default().insert(key);
            }
        }
        note(t, policy, target, !errors.is_empty());
        conclude(t, policy, &ancestor, &errors, disabled);
    }
}

fn conclude(t: &mut Translator<'_>, policy: &Admitted<'_>, ancestor: &Reference, errors: &[String], mut disabled: Vec<Str>) {
    let spec = policy.spec();
    let status = status(t, policy);
    if !errors.is_empty() {
        status.set(ancestor, "Accepted", false, "Invalid", &sentence(&errors.join("\n")));
    }
    status.accept(core::slice::from_ref(ancestor));
    if !disabled.is_empty() {
        disabled.sort();
        let which = match disabled.as_slice() {
            [only] => format!("listener {}", go_quoted(only)),
            all => format!("listeners [{}]", all.iter().map(Str::as_str).collect::<Vec<_>>().join(" ")),
        };
        let message = format!("HTTP/3 was disabled for {which} because Envoy does not support downstream client TLS validation over QUIC");
        status.warn(ancestor, "UnsupportedHTTP3ClientValidation", &message);
    }
    let fields = [
        (spec.field("enableProxyProtocol").exists(), "spec.enableProxyProtocol", "spec.proxyProtocol"),
        (spec.at("headers.preserveXRequestID").exists(), "spec.headers.preserveXRequestID", "spec.headers.requestID"),
        (spec.field("targetRef").exists(), "spec.targetRef", "spec.targetRefs"),
        (spec.at("tls.clientValidation.optional").is_true(), "spec.tls.clientValidation.optional", "spec.tls.clientValidation.mode"),
    ];
    let used: Vec<String> =
        fields.into_iter().filter(|(is_used, ..)| *is_used).map(|(_, old, new)| format!("{old} is deprecated, use {new} instead")).collect();
    status.warn(ancestor, "DeprecatedField", &used.join("; "));
}

/// Applies a policy to a listener. Returns whether it was tried.
fn apply<'a>(
    t: &mut Translator<'a>,
    policy: &'a Admitted<'a>,
    id: ListenerId,
    width: Width,
    errors: &mut Vec<String>,
    disabled: &mut Vec<Str>,
) -> bool {
    let key = t.ir_key(t.gateways[id.gateway].object);
    let (ir_name, name) = (t.listener(id).ir_name.clone(), t.listener(id).name.clone());
    let Some(xds) = t.xds.get(&key) else { return false };
    if let Err(error) = check_ports(xds, &ir_name, width) {
        errors.push(error);
        return false;
    }
    let spec = tree(policy.spec());
    let has_tls = xds.http.iter().find(|http| http.core.name == ir_name).is_some_and(|http| http.tls.is_some());
    let disables = has_tls && !spec.get("http3").is_null() && !spec.at(&["tls", "clientValidation"]).is_null();
    if disables {
        disabled.push(name);
    }
    let mut xds = t.xds.remove(&key).unwrap_or_default();
    errors.extend(translate(t, policy, &spec, &mut xds, &ir_name, disables));
    t.xds.insert(key, xds);
    true
}

/// Refuses a policy for one of several listeners without TLS that share a port.
fn check_ports(xds: &Xds, name: &Str, width: Width) -> Result<(), String> {
    let Some(http) = xds.http.iter().find(|http| http.core.name == *name && http.tls.is_none()) else { return Ok(()) };
    let parts: Vec<&str> = name.split('/').collect();
    let prefix = match width {
        Width::Gateway => Some(parts[..parts.len().min(2)].join("/")),
        Width::ListenerSet if parts.len() >= 4 => Some(format!("{}/", parts[..4].join("/"))),
        Width::ListenerSet => Some(String::from(name.as_str())),
        Width::Listener => None,
    };
    let others: Vec<&str> = xds
        .http
        .iter()
        .filter(|other| other.core.name != *name && other.core.port.value == http.core.port.value)
        .map(|other| other.core.name.as_str())
        .filter(|other| prefix.as_ref().is_none_or(|prefix| !other.starts_with(&**prefix)))
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    let listeners = others.join(", ");
    Err(format!("ClientTrafficPolicy is being applied to multiple http (non https) listeners ({listeners}) on the same port, which is not allowed"))
}

fn connection(spec: &Tree) -> Result<(), String> {
    let limit = spec.at(&["connection", "bufferLimit"]);
    if limit.is_null() {
        return Ok(());
    }
    let text = cluster_settings::quantity_text(limit);
    match limit.quantity() {
        None => Err(format!("Connection: invalid BufferLimit value {text}")),
        Some(bytes) if !(0..=i64::from(u32::MAX)).contains(&bytes) => {
            Err(format!("Connection: BufferLimit value {text} is out of range, must be between 0 and {}", u32::MAX))
        }
        Some(_) => Ok(()),
    }
}

fn translate(t: &Translator<'_>, policy: &Admitted<'_>, spec: &Tree, xds: &mut Xds, name: &Str, disables_http3: bool) -> Option<String> {
    let mut errors: Vec<String> = Vec::new();
    errors.extend(connection(spec).err());
    let proxy_protocol = match spec.find("proxyProtocol") {
        Some(written) => written.clone(),
        None if spec.get("enableProxyProtocol").bool() => Tree::object::<&str>([]).with_origin(spec.get("enableProxyProtocol").origin),
        None => Tree::NULL,
    };
    let common = |client: &mut ClientSettings| {
        client.tcp_keepalive = spec.get("tcpKeepalive").clone();
        client.connection = spec.get("connection").clone();
        client.proxy_protocol = proxy_protocol.clone();
        client.timeout = spec.get("timeout").clone();
    };
    if let Some(http) = xds.http.iter_mut().find(|http| http.core.name == *name) {
        http_settings(spec, http, disables_http3, &mut errors);
        if let Some(tls) = &mut http.tls
            && let Err(error) = client_tls::apply(t, policy, spec, tls)
        {
            errors.push(format!("TLS: {error}"));
        }
        if !errors.is_empty() {
            for route in &mut http.routes {
                Arc::make_mut(route).direct_response = Some(Box::new(failure(policy.spec().origin())));
            }
            return Some(errors.join("\n"));
        }
        common(&mut http.client);
    }
    if let Some(tcp) = xds.tcp.iter_mut().find(|tcp| tcp.core.name == *name) {
        if let Some(tls) = &mut tcp.tls
            && let Err(error) = client_tls::apply(t, policy, spec, tls)
        {
            errors.push(format!("TLS: {error}"));
        }
        if !errors.is_empty() {
            tcp.routes.clear();
            return Some(errors.join("\n"));
        }
        common(&mut tcp.client);
        for route in tcp.routes.iter_mut().filter(|route| route.terminate.is_some()) {
            route.terminate.clone_from(&tcp.tls);
        }
    }
    None
}

fn http_settings(spec: &Tree, http: &mut HttpListener, disables_http3: bool, errors: &mut Vec<String>) {
    let set = |into: &mut Tree, field: &str| {
        if let Some(written) = spec.find(field) {
            into.clone_from(written);
        }
    };
    set(&mut http.client.client_ip_detection, "clientIPDetection");
    if let Some(written) = spec.find("headers") {
        match headers::clean(written) {
            Ok(clean) => http.client.headers = clean,
            Err(error) => errors.push(format!("Headers: {error}")),
        }
    }
    set(&mut http.client.path, "path");
    if let Some(written) = spec.find("http1") {
        match http1(written, spec, http) {
            Ok(found) => http.client.http1 = found,
            Err(error) => errors.push(format!("HTTP1: {error}")),
        }
    }
    match cluster_settings::http2(spec) {
        Ok(()) => http.client.http2 = spec.get("http2").clone(),
        Err(error) => errors.push(format!("HTTP2: {error}")),
    }
    if http.tls.is_some() && !spec.get("http3").is_null() && !disables_http3 {
        http.client.http3 = spec.get("http3").clone();
    }
    if let Some(grpc) = spec.find("grpc") {
        if http.client.grpc.is_null() {
            http.client.grpc = Tree::object::<&str>([]).with_origin(grpc.origin);
        }
        http.client.grpc.set("enableGRPCWeb", grpc.get("enableWeb").clone());
    }
    set(&mut http.client.health_check, "healthCheck");
    if spec.get("scheme").is("MatchBackend") {
        http.client.scheme = spec.get("scheme").clone();
    }
}

fn http1(written: &Tree, spec: &Tree, http: &HttpListener) -> Result<Tree, String> {
    let mut out = written.clone();
    if spec.at(&["connection", "connectionLimit", "maxConnectionDuration"]).is_null() {
        out.take("disableSafeMaxConnectionDuration");
    }
    let old = written.get("http10");
    if old.is_null() {
        return Ok(out);
    }
    let mut host = Tree::NULL;
    if old.get("useDefaultHost").bool() {
        let is_plain = |text: &str| !text.contains('*');
        if let Some(found) = http.hostnames.iter().find(|name| is_plain(&name.value)) {
            host = Tree::from(found.clone());
        } else {
            const CANNOT: &str = "cannot set http10 default host on listener with only wildcard hostnames";
            let mut found = http.routes.iter().filter(|route| !route.hostname.value.is_empty() && is_plain(&route.hostname.value));
            let Some(route) = found.next() else { return Err(CANNOT.into()) };
            if found.next().is_some() {
                return Err(format!("{CANNOT} and more than one possible default route"));
            }
            host = Tree::from(route.hostname.clone());
        }
    }
    out.set("http10", Tree::object([("defaultHost", host)]).with_origin(old.origin));
    Ok(out)
}
