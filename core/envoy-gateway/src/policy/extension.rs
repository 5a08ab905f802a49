//! EnvoyExtensionPolicy: services, scripts and modules that process requests.

use super::super::cluster::Admitted;
use super::super::cluster_settings::traffic_features;
use super::super::context::{ListenerId, Translator};
use super::super::load::resources::EnvoyProxy;
use super::super::lua_syntax;
use super::super::model::{AppProtocol, DynamicModule, ExtProc, Extensions, HttpRoute, Lua, Wasm, WasmCode};
use super::super::names;
use super::super::translate::certificates;
use super::attach::{Attached, Effective};
use super::backend_traffic::failure;
use super::matching::value_or_first;
use super::merge::Keys;
use super::reference::{Purpose, data, secret, service};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::ir::Tree;
use chancery_base::resource::Origin;
use chancery_base::schema::go_quoted;
use chancery_text::Str;
use sha2::{Digest as _, Sha256};

/// EnvoyExtensionPolicy as a kind of policies.
pub(super) struct ExtensionPolicy;

const OCI: &str = "oci://";

impl Attached for ExtensionPolicy {
    const KIND: &'static str = "EnvoyExtensionPolicy";
    const FOR_ROUTES: &'static str = "envoyExtensionPolicies";
    const MANY: &'static str = "envoyExtensionPolicies";
    const KEYS: Keys = &[];

    fn all<'a>(t: &Translator<'a>) -> Vec<&'a Admitted<'a>> {
        t.resources.envoy_extension_policies.clone()
    }

    fn deprecated(spec: &Tree) -> Vec<(&'static str, &'static str)> {
        if spec.get("targetRef").is_null() { Vec::new() } else { [("spec.targetRef", "spec.targetRefs")].into() }
    }

    fn on_route(
        t: &mut Translator<'_>,
        policy: &Effective<'_>,
        route: usize,
        rule: Option<&str>,
        listener: Option<ListenerId>,
    ) -> Result<(), String> {
        let mut errors = Vec::new();
        let wasms = wasms(t, policy);
        errors.extend(wasms.error("Wasm"));
        let spans = t.routes[route].spans.clone();
        for place in 0..t.routes[route].parents.len() {
            let listeners = t.routes[route].parents[place].listeners.clone();
            let Some(gateway) = listeners.first().map(|id| id.gateway) else { continue };
            if listener.is_some_and(|id| id.gateway != gateway) {
                continue;
            }
            let luas = luas(t, policy, gateway);
            let ext_procs = ext_procs(t, policy, gateway);
            let proxy = t.gateways[gateway].envoy_proxy.clone();
            let modules = dynamic_modules(policy, proxy.as_deref());
            errors.extend(luas.error("Lua"));
            errors.extend(ext_procs.error("ExtProc"));
            errors.extend(modules.error("DynamicModule"));
            let built = Built { wasms: &wasms, luas: &luas, ext_procs: &ext_procs, modules: &modules, origin: policy.object.spec().origin() };
            let key = t.ir_key(t.gateways[gateway].object);
            for id in listeners.into_iter().filter(|id| listener.is_none_or(|only| only == *id)) {
                let name = t.listener(id).ir_name.clone();
                let Some(xds) = t.xds.get_mut(&key) else { continue };
                let Some((at, http)) = xds.http.iter_mut().enumerate().find(|(_, http)| http.core.name == name) else { continue };
                let is_rule = |route: &HttpRoute| rule.is_none_or(|rule| *route.metadata.section.value == *rule);
                for span in spans.iter().filter(|span| span.ir_key == key && span.listener == at) {
                    let routes = http.routes[span.routes.clone()].iter_mut().filter(|route| is_rule(route));
                    routes.for_each(|route| built.apply(Arc::make_mut(route)));
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }

    fn on_listeners(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize, listeners: &[ListenerId], _is_whole: bool) -> Result<(), String> {
        let ext_procs = ext_procs(t, policy, gateway);
        let wasms = wasms(t, policy);
        let luas = luas(t, policy, gateway);
        let proxy = t.gateways[gateway].envoy_proxy.clone();
        let modules = dynamic_modules(policy, proxy.as_deref());
        let errors: Vec<String> =
            [ext_procs.error("ExtProc"), wasms.error("Wasm"), luas.error("Lua"), modules.error("DynamicModule")].into_iter().flatten().collect();
        let built = Built { wasms: &wasms, luas: &luas, ext_procs: &ext_procs, modules: &modules, origin: policy.object.spec().origin() };
        let names: BTreeSet<Str> = listeners.iter().map(|id| t.listener(*id).ir_name.clone()).collect();
        let key = t.ir_key(t.gateways[gateway].object);
        if let Some(xds) = t.xds.get_mut(&key) {
            let all = xds.http.iter_mut().filter(|http| names.contains(&http.core.name));
            all.flat_map(|http| &mut http.routes).for_each(|route| built.apply(Arc::make_mut(route)));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }
}

/// Extensions of a kind, and what is wrong with others.
struct Found<V> {
    all: Vec<V>,
    errors: Vec<String>,
    /// Whether requests must not pass without those that are wrong.
    fails: bool,
}

impl<V> Found<V> {
    fn new() -> Self {
        Self { all: Vec::new(), errors: Vec::new(), fails: false }
    }

    fn add(&mut self, found: Result<V, String>, fails_open: bool) {
        match found {
            Ok(found) => self.all.push(found),
            Err(error) => {
                self.errors.push(error);
                self.fails |= !fails_open;
            }
        }
    }

    fn error(&self, what: &str) -> Option<String> {
        (!self.errors.is_empty()).then(|| format!("{what}: {}", self.errors.join("\n")))
    }
}

struct Built<'b> {
    wasms: &'b Found<Wasm>,
    luas: &'b Found<Lua>,
    ext_procs: &'b Found<ExtProc>,
    modules: &'b Found<DynamicModule>,
    origin: Origin,
}

impl Built<'_> {
    fn apply(&self, route: &mut HttpRoute) {
        if route.extensions.is_some() {
            return;
        }
        if self.luas.fails || self.wasms.fails || self.ext_procs.fails || self.modules.fails {
            route.direct_response = Some(Box::new(failure(self.origin)));
            return;
        }
        route.extensions = Some(Arc::new(Extensions {
            ext_procs: self.ext_procs.all.clone(),
            wasms: self.wasms.all.clone(),
            luas: self.luas.all.clone(),
            dynamic_modules: self.modules.all.clone(),
        }));
    }
}

fn has(field: &'static str) -> impl Fn(&Tree) -> bool {
    move |spec| !spec.get(field).items().is_empty()
}

fn luas(t: &Translator<'_>, policy: &Effective<'_>, gateway: usize) -> Found<Lua> {
    let mut found = Found::new();
    let written = policy.spec.get("lua").items();
    if !written.is_empty() && !t.settings.lua {
        found.add(Err("Skipping Lua EnvoyExtensionPolicy as feature is disabled in the Gateway".into()), false);
        return found;
    }
    let owner = policy.owner(has("lua"));
    let checks_syntax = !t.gateways[gateway].proxy(&["luaValidation"]).is("Disabled");
    for (at, of) in written.iter().enumerate() {
        found.add(lua(t, owner, at, of, checks_syntax), false);
        if found.fails {
            found.all.clear();
            break;
        }
    }
    found
}

fn lua(t: &Translator<'_>, owner: &Admitted<'_>, at: usize, of: &Tree, checks_syntax: bool) -> Result<Lua, String> {
    let name = format!("{}/lua/{at}", names::config(owner));
    let code = if of.get("type").is("ValueRef") {
        let (namespace, held) = (owner.namespace(), of.at(&["valueRef", "name"]).text());
        let Some(map) = t.resources.config_map(namespace, held) else {
            return Err(format!("can't find the referenced configmap {held} in namespace {namespace}"));
        };
        value_or_first(map, "lua").ok_or_else(|| format!("can't find the key lua in the referenced configmap {held}"))?
    } else {
        of.get("inline").clone()
    };
    // Envoy Gateway also runs the script, with a stand-in for Envoy.
    if let Some(why) = lua_syntax::refusal(code.text(), checks_syntax) {
        return Err(format!("validation failed for lua body in policy with name {name}: {why}"));
    }
    Ok(Lua { name: Str::from(name), code, context: of.get("filterContext").clone(), origin: of.origin })
}

fn ext_procs(t: &mut Translator<'_>, policy: &Effective<'_>, gateway: usize) -> Found<ExtProc> {
    let mut found = Found::new();
    let owner = policy.owner(has("extProc"));
    for (at, of) in policy.spec.get("extProc").items().iter().enumerate() {
        let built = ext_proc(t, owner, at, of, gateway);
        found.add(built, of.get("failOpen").bool());
    }
    found
}

fn ext_proc(t: &mut Translator<'_>, owner: &Admitted<'_>, index: usize, of: &Tree, gateway: usize) -> Result<ExtProc, String> {
    let references = of.get("backendRefs").items();
    let purpose = Purpose { name: "extproc", index, protocol: AppProtocol::Grpc };
    let destination = service(t, owner, references, purpose, gateway)?;
    let first = references.first().cloned().unwrap_or_default();
    let there = first.find("namespace").map_or_else(|| owner.namespace().clone(), Tree::str);
    let port = first.find("port").map(|port| format!(":{}", port.int())).unwrap_or_default();
    Ok(ExtProc {
        name: Str::from(format!("{}/extproc/{index}", names::config(owner))),
        destination,
        traffic: traffic_features(of.get("backendSettings"))?,
        authority: Tree::from(format!("{}.{there}{port}", first.get("name").text())).with_origin(first.origin),
        spec: of.clone(),
        origin: of.origin,
    })
}

fn wasms(t: &Translator<'_>, policy: &Effective<'_>) -> Found<Wasm> {
    let mut found = Found::new();
    let owner = policy.owner(has("wasm"));
    for (at, of) in policy.spec.get("wasm").items().iter().enumerate() {
        found.add(wasm(t, owner, at, of), of.get("failOpen").bool());
    }
    found
}

fn wasm(t: &Translator<'_>, owner: &Admitted<'_>, index: usize, of: &Tree) -> Result<Wasm, String> {
    let code = of.get("code");
    let (source, url) = match code.get("type").text() {
        "HTTP" => {
            let http = code.get("http");
            if http.is_null() {
                return Err("missing HTTP field in Wasm code source".into());
            }
            (http, String::from(http.get("url").text()))
        }
        "Image" => {
            let image = code.get("image");
            if image.is_null() {
                return Err("missing Image field in Wasm code source".into());
            }
            (image, image_url(image.get("url").text()))
        }
        other => return Err(format!("unsupported Wasm code source type {}", go_quoted(other))),
    };
    if let Some(ca) = source.at(&["tls"]).find("caCertificateRef") {
        data(t, owner, ca, &["ca.crt"])?;
    }
    if let Some(pull) = source.find("pullSecretRef") {
        const KEY: &str = ".dockerconfigjson";
        let held = secret(t, owner, pull)?;
        if certificates::value(held, KEY).is_none() {
            return Err(format!("missing {KEY} key in secret {}", held.path()));
        }
    }
    let name = format!("{}/wasm/{index}", names::config(owner));
    let digest: String = Sha256::digest(url.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let server = format!("envoy-gateway.{}.svc.{}", t.settings.namespace, t.settings.dns_domain);
    let at = source.get("url").origin;
    Ok(Wasm {
        root_id: of.get("rootID").clone(),
        wasm_name: of.find("name").cloned().unwrap_or_else(|| Tree::from(&*name).with_origin(of.origin)),
        config: of.get("config").clone(),
        fail_open: of.get("failOpen").clone(),
        code: Some(WasmCode {
            serving_url: Tree::from(format!("https://{server}:18002/{digest}.wasm")).with_origin(at),
            sha256: source.get("sha256").clone(),
            original_url: Tree::from(url).with_origin(at),
        }),
        host_keys: of.at(&["env", "hostKeys"]).items().to_vec(),
        name: Str::from(name),
        origin: of.origin,
    })
}

/// Returns the address of an image, with scheme and tag.
fn image_url(written: &str) -> String {
    let bare = written.strip_prefix(OCI).unwrap_or(written);
    let has_tag = bare.rsplit_once(':').is_some_and(|(_, tag)| !tag.contains('/'));
    let tag = if has_tag || bare.contains('@') { "" } else { ":latest" };
    format!("{OCI}{bare}{tag}")
}

fn dynamic_modules(policy: &Effective<'_>, proxy: Option<&EnvoyProxy>) -> Found<DynamicModule> {
    let mut found = Found::new();
    let owner = policy.owner(has("dynamicModule"));
    for (at, of) in policy.spec.get("dynamicModule").items().iter().enumerate() {
        found.add(dynamic_module(owner, at, of, proxy), false);
    }
    found
}

fn dynamic_module(owner: &Admitted<'_>, index: usize, of: &Tree, proxy: Option<&EnvoyProxy>) -> Result<DynamicModule, String> {
    let called = of.get("name");
    let quoted = go_quoted(called.text());
    let registered = proxy.map(|proxy| proxy.spec.get("dynamicModules").items()).unwrap_or_default();
    let Some(entry) = registered.iter().rev().find(|entry| entry.get("name").text() == called.text()) else {
        return Err(format!("dynamic module {quoted} is not registered in the EnvoyProxy dynamicModules allowlist"));
    };
    let source = entry.get("source");
    let (mut path, mut remote) = (Tree::NULL, Tree::NULL);
    match source.get("type").text() {
        "Remote" => {
            remote = source.get("remote").clone();
            let missing = [("url", "URL "), ("sha256", "SHA256 ")].into_iter().find(|(field, _)| remote.get(field).text().is_empty());
            match missing {
                _ if remote.is_null() => return Err(format!("dynamic module {quoted} has no remote source configured")),
                Some((_, words)) => return Err(format!("dynamic module {quoted} has no remote source {words}configured")),
                None => {}
            }
        }
        "" | "Local" if source.get("local").is_null() => return Err(format!("dynamic module {quoted} has no local source configured")),
        "" | "Local" => path = source.at(&["local", "path"]).clone(),
        other => return Err(format!("dynamic module {quoted} has unsupported source type {}", go_quoted(other))),
    }
    Ok(DynamicModule {
        name: Str::from(format!("{}/dynamic-module/{index}", names::config(owner))),
        path,
        remote,
        spec: of.clone(),
        do_not_close: entry.get("doNotClose").clone(),
        load_globally: entry.get("loadGlobally").clone(),
        module: called.str(),
        origin: of.origin,
    })
}
