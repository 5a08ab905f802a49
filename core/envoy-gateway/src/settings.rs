//! The controller's own configuration: the `EnvoyGateway` file, laid over its defaults, and what the process is started with.
//!
//! Does not configure any proxy; see `translate`.

use super::Options;
use super::status::CONTROLLER;
use super::versions::Version;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::ir::{Fields, Plain, Tree};
use chancery_base::resource::{Object, Objects, Origin};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::selector::Selector;
use chancery_text::{Limits, Str, parse};

/// How the controller runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    pub(crate) version: Version,
    /// The whole file with defaults.
    pub(crate) file: Tree,
    pub(crate) controller: Str,
    /// The namespace that the controller runs in.
    pub(crate) namespace: Str,
    pub(crate) dns_domain: Str,
    pub(crate) rate_limit: bool,
    pub(crate) envoy_patch_policy: bool,
    pub(crate) backend: bool,
    pub(crate) lua: bool,
    pub(crate) sds_secret_ref: bool,
    /// Proxies run in the namespaces of their Gateways.
    pub(crate) gateway_namespace_mode: bool,
    /// Proxies run on the same host.
    pub(crate) on_host: bool,
    /// Another program runs the proxies.
    pub(crate) infra_is_remote: bool,
    pub(crate) per_resource_system_ca: bool,
    pub(crate) topology_injector: bool,
    pub(crate) watch: Watch,
    /// The proxies of all Gateways have this address; `None` if no proxy runs.
    pub(crate) infra: Option<Infra>,
}

/// Which namespaces the controller reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Watch {
    #[default]
    All,
    Namespaces(Vec<Str>),
    Selector(Tree),
}

/// The facts about running proxies.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Infra {
    pub(crate) address: Str,
    pub(crate) hostname: Str,
    pub(crate) available_replicas: i64,
}

/// The key of the ConfigMap that the controller reads its configuration from.
pub(crate) const FILE: &str = "envoy-gateway.yaml";

/// The name of this ConfigMap in the controller's Helm chart.
const CONFIG_MAP: &str = "envoy-gateway-config";

/// Whether a document is the controller's configuration.
pub(crate) fn is_file(object: &Object) -> bool {
    *object.key.kind == *"EnvoyGateway" && *object.key.group == *super::kinds::GROUP
}

/// The file in the controller's ConfigMap. If several namespaces have such a ConfigMap, the one in the controller's namespace.
pub(crate) fn mounted_file<'o>(objects: &'o Objects, options: &Options) -> Option<&'o Object> {
    let all: Vec<&Object> = objects.iter().filter(|of| of.parent.is_some() && *of.key.kind == *FILE && *of.key.name == *CONFIG_MAP).collect();
    let is_own = |of: &&&Object| of.key.namespace.as_ref() == Some(&options.controller_namespace);
    match all[..] {
        [only] => Some(only),
        _ => all.iter().rfind(is_own).copied(),
    }
}

impl Settings {
    /// Reads the configuration, or says why the controller does not start.
    pub(crate) fn load(objects: &Objects, options: &Options) -> Result<Self, String> {
        let mounted = mounted_file(objects, options);
        // The controller's own configuration says what is on. Without it, nothing that resources need is off.
        let mut file = if mounted.is_some() { installed_defaults() } else { defaults() };
        if mounted.is_some_and(|mounted| mounted.broken || mounted.root.as_object().is_none()) {
            return Err(format!("`{FILE}` in the ConfigMap `{CONFIG_MAP}` is not an object in YAML"));
        }
        if let Some(object) = mounted {
            merge(&mut file, &super::value::tree(Cursor::new(object.id, &object.root)));
        }
        for object in objects.iter().filter(|object| is_file(object) && !object.broken) {
            merge(&mut file, &super::value::tree(Cursor::new(object.id, &object.root)));
        }
        if let Some(given) = &options.envoy_gateway {
            merge(&mut file, &given_tree(given)?);
        }
        let mut settings = Self::of(file, options);
        validate(&settings.file, options.version)?;
        settings.infra = options.infra.as_deref().map(Infra::read).transpose()?;
        Ok(settings)
    }

    fn of(file: Tree, options: &Options) -> Self {
        let flag = |path: &[&str]| file.at(path).bool();
        let apis = file.get("extensionApis");
        let is_disabled = match apis.find("disableLua") {
            Some(disabled) => disabled.bool(),
            // Before 1.9 the file has no `enableLua`: scripts run unless they are disabled.
            None => !options.version.is_1_8() && !apis.get("enableLua").bool(),
        };
        let provider = file.get("provider");
        let is_custom = provider.get("type").is("Custom");
        let infrastructure = provider.at(&["custom", "infrastructure", "type"]);
        let kubernetes = if is_custom { provider.at(&["custom", "resource", "kubernetes"]) } else { provider.get("kubernetes") };
        let watch = kubernetes.get("watch");
        let enabled = file.at(&["runtimeFlags", "enabled"]);
        let disabled = file.at(&["runtimeFlags", "disabled"]);
        let has = |list: &Tree, name: &str| list.items().iter().any(|item| item.is(name));
        Self {
            controller: file.at(&["gateway", "controllerName"]).str(),
            version: options.version,
            namespace: options.controller_namespace.clone(),
            dns_domain: options.dns_domain.clone(),
            rate_limit: !file.get("rateLimit").is_null(),
            envoy_patch_policy: flag(&["extensionApis", "enableEnvoyPatchPolicy"]),
            backend: flag(&["extensionApis", "enableBackend"]),
            lua: !is_disabled,
            sds_secret_ref: flag(&["extensionApis", "enableSDSSecretRef"]),
            gateway_namespace_mode: kubernetes.at(&["deploy", "type"]).is("GatewayNamespace"),
            on_host: is_custom && infrastructure.is("Host"),
            infra_is_remote: is_custom && infrastructure.is("Remote"),
            per_resource_system_ca: has(enabled, "PerResourceSystemCASecret") && !has(disabled, "PerResourceSystemCASecret"),
            topology_injector: !kubernetes.at(&["proxyTopologyInjector", "disabled"]).bool(),
            watch: match watch.get("type").text() {
                "Namespaces" => Watch::Namespaces(watch.get("namespaces").items().iter().map(Tree::str).collect()),
                "NamespaceSelector" => Watch::Selector(watch.get("namespaceSelector").clone()),
                _ => Watch::All,
            },
            infra: None,
            file,
        }
    }

    /// Whether the controller reads objects of this namespace.
    pub(crate) fn watches<'l>(&self, namespace: &str, label: impl Fn(&str) -> Option<&'l str>) -> bool {
        match &self.watch {
            Watch::All => true,
            Watch::Namespaces(names) => names.iter().any(|name| name == namespace),
            Watch::Selector(selector) => {
                if namespace == self.namespace {
                    return true;
                }
                let node = selector.node();
                let Ok(selector) = Selector::of_fields(Cursor::new(chancery_base::resource::ObjectId::BUILT_IN, &node)) else { return false };
                selector.matches(label)
            }
        }
    }
}

impl Infra {
    fn read(text: &str) -> Result<Self, String> {
        let tree = given_tree(text)?;
        let available_replicas = tree.find("availableReplicas").map_or(1, Tree::int);
        Ok(Self { address: tree.get("address").str(), hostname: tree.get("hostname").str(), available_replicas })
    }
}

/// Reads a file that an option names.
fn given_tree(text: &str) -> Result<Tree, String> {
    let parsed = parse(text, &Limits::default());
    let root = parsed.root.ok_or_else(|| String::from("the file is not YAML or JSON"))?;
    Ok(Tree::of(&root, &|_| Some(Origin::built_in())))
}

/// The defaults of the controller (Envoy Gateway `api/v1alpha1/envoygateway_helpers.go`, `SetEnvoyGatewayDefaults`).
fn installed_defaults() -> Tree {
    Tree::object([
        ("gateway", Tree::object([("controllerName", Tree::from(CONTROLLER))])),
        ("provider", Tree::object([("type", Tree::from("Kubernetes"))])),
    ])
}

/// The defaults of a controller in which rate limits, EnvoyPatchPolicy, Backend and Lua are on.
fn defaults() -> Tree {
    let flags = ["enableEnvoyPatchPolicy", "enableBackend", "enableLua"];
    let apis = Tree::object(flags.map(|flag| (flag, Tree::from(true))));
    let redis = Tree::object([("url", Tree::from("redis.redis-system.svc.cluster.local:6379"))]);
    let backend = Tree::object([("type", Tree::from("Redis")), ("redis", redis)]);
    Tree::object([
        ("gateway", Tree::object([("controllerName", Tree::from(CONTROLLER))])),
        ("provider", Tree::object([("type", Tree::from("Kubernetes"))])),
        ("extensionApis", apis),
        ("rateLimit", Tree::object([("backend", backend)])),
    ])
}

/// Applies a JSON merge patch.
pub(crate) fn merge(target: &mut Tree, patch: &Tree) {
    let Plain::Object(fields) = &patch.value else {
        *target = patch.clone();
        return;
    };
    if !matches!(target.value, Plain::Object(_)) {
        *target = Tree { value: Plain::Object(Fields::default()), origin: patch.origin };
    }
    for (key, value) in &fields.0 {
        if value.is_null() {
            target.set(key, Tree::NULL);
        } else if let Some(known) = target.get_mut(key) {
            merge(known, value);
        } else {
            let mut fresh = Tree::NULL;
            merge(&mut fresh, value);
            target.set(key, fresh);
        }
    }
}

/// Returns why the controller refuses its configuration.
fn validate(file: &Tree, version: Version) -> Result<(), String> {
    let refuse = |message: &str| Err(String::from(message));
    if file.get("gateway").is_null() {
        return refuse("gateway is unspecified");
    }
    if file.at(&["gateway", "controllerName"]).text().is_empty() {
        return refuse("gateway controllerName is unspecified");
    }
    let provider = file.get("provider");
    match provider.get("type").text() {
        _ if provider.is_null() => return refuse("provider is unspecified"),
        "Kubernetes" => validate_watch(provider.at(&["kubernetes", "watch"]))?,
        "Custom" => validate_custom(provider.get("custom"))?,
        _ => return refuse("unsupported provider type"),
    }
    validate_logging(file.at(&["logging", "level"]))?;
    validate_rate_limit(file.get("rateLimit"))?;
    let managers = file.get("extensionManagers");
    if !file.get("extensionManager").is_null() && !managers.items().is_empty() {
        return refuse("extensionManager and extensionManagers are mutually exclusive");
    }
    if let Some(hooks) = file.find("extensionManager").map(|manager| manager.at(&["hooks", "xdsTranslator"]))
        && hooks.get("pre").items().is_empty()
        && hooks.get("post").items().is_empty()
    {
        return refuse("registered extension has no hooks specified");
    }
    let apis = file.get("extensionApis");
    if !version.is_1_8()
        && let Some(disabled) = apis.find("disableLua")
        && disabled.bool() == apis.get("enableLua").bool()
    {
        return refuse("disableLua and enableLua must not have the same value");
    }
    Ok(())
}

fn validate_watch(watch: &Tree) -> Result<(), String> {
    match watch.get("type").text() {
        _ if watch.is_null() => Ok(()),
        "Namespaces" if watch.get("namespaces").items().is_empty() => {
            Err("namespaces should be specified when envoy gateway watch mode is 'Namespaces'".into())
        }
        "NamespaceSelector" if watch.get("namespaceSelector").is_null() => {
            Err("namespaceSelector should be specified when envoy gateway watch mode is 'NamespaceSelector'".into())
        }
        "Namespaces" | "NamespaceSelector" => Ok(()),
        _ => Err("envoy gateway watch mode invalid, should be 'Namespaces' or 'NamespaceSelector'".into()),
    }
}

fn validate_custom(custom: &Tree) -> Result<(), String> {
    if custom.is_null() {
        return Err("empty custom provider settings".into());
    }
    let resource = custom.get("resource");
    match resource.get("type").text() {
        "File" if resource.get("file").is_null() => return Err("field 'file' should be specified when resource type is 'File'".into()),
        "File" if resource.at(&["file", "paths"]).items().is_empty() => {
            return Err("no paths were assigned for file resource provider to watch".into());
        }
        "File" => {}
        "Kubernetes" => validate_watch(resource.at(&["kubernetes", "watch"]))?,
        other => return Err(format!("unsupported resource provider: {other}")),
    }
    let infrastructure = custom.get("infrastructure");
    match infrastructure.get("type").text() {
        _ if infrastructure.is_null() => Ok(()),
        "Host" if infrastructure.get("host").is_null() => Err("field 'host' should be specified when infrastructure type is 'Host'".into()),
        "Remote" if infrastructure.get("remote").is_null() => Err("field 'remote' should be specified when infrastructure type is 'Remote'".into()),
        "Remote" if infrastructure.at(&["remote", "service"]).is_null() => {
            Err("field 'service' should be specified when infrastructure type is 'Remote'".into())
        }
        "Host" | "Remote" => Ok(()),
        other => Err(format!("unsupported infrastructure provider: {other}")),
    }
}

fn validate_logging(levels: &Tree) -> Result<(), String> {
    const COMPONENTS: [&str; 8] = ["default", "provider", "gateway-api", "xds-translator", "xds-server", "xds", "infrastructure", "global-ratelimit"];
    for (component, level) in levels.fields() {
        if !COMPONENTS.contains(&component.as_str()) {
            let known = "system/provider/gateway-api/xds-translator/xds-server/xds/infrastructure";
            return Err(format!("envoy gateway logging components invalid. valid options: {known}"));
        }
        if !["debug", "error", "warn", "info"].contains(&level.text()) {
            return Err("envoy gateway logging level invalid. valid options: info/debug/warn/error".into());
        }
    }
    Ok(())
}

fn validate_rate_limit(limit: &Tree) -> Result<(), String> {
    if limit.is_null() {
        return Ok(());
    }
    let backend = limit.get("backend");
    if !backend.get("type").is("Redis") {
        return Err(format!("unsupported ratelimit backend {}", backend.get("type").text()));
    }
    let redis = backend.get("redis");
    if redis.is_null() {
        return Err("empty ratelimit redis settings".into());
    }
    if redis.get("url").text().is_empty() == redis.get("urlRef").is_null() {
        return Err("exactly one of ratelimit redis url or urlRef must be set".into());
    }
    let secret = redis.at(&["urlRef", "secretKeyRef"]);
    if !redis.get("urlRef").is_null() && (secret.get("name").text().is_empty() || secret.get("key").text().is_empty()) {
        return Err("ratelimit redis urlRef.secretKeyRef must set both name and key".into());
    }
    Ok(())
}
