//! Filters that run other people's code: scripts, modules, and services that process requests.

use super::{HttpFilters, disabled, enabled, set_config};
use crate::model::{DynamicModule, ExtProc, Extensions, HttpListener, HttpRoute, Lua, Wasm};
use crate::xds::cluster::ClusterArgs;
use crate::xds::proto::{Setting as _, any, copied, derived, duration, empty, extension, list, message};
use crate::xds::resources::ResourceBuilder;
use crate::xds::retries::service_retry_policy;
use crate::xds::url::UrlCluster;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use chancery_base::ir::Tree;
use chancery_text::Str;

pub(crate) const WASM_CLUSTER: &str = "wasm_cluster";

fn name(filter: &str, own: &Str) -> String {
    format!("envoy.filters.http.{filter}/{own}")
}

fn extensions(listener: &HttpListener) -> impl Iterator<Item = &Extensions> {
    listener.routes.iter().filter_map(|route| route.extensions.as_deref())
}

pub(super) fn add_filters(filters: &mut HttpFilters, listener: &HttpListener) -> Result<(), String> {
    for of in extensions(listener) {
        for module in &of.dynamic_modules {
            let kind = "envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter";
            filters.add(disabled(extension(&name("dynamic_modules", &module.name), kind, dynamic_module(module)?)).or_from(module.origin));
        }
        for service in &of.ext_procs {
            let kind = "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor";
            filters.add(disabled(extension(&name("ext_proc", &service.name), kind, ext_proc(service)?)).or_from(service.origin));
        }
        for script in &of.luas {
            let kind = "envoy.extensions.filters.http.lua.v3.Lua";
            let config = message! { "default_source_code": message! { "inline_string": script.code.clone() } };
            filters.add(disabled(extension(&name("lua", &script.name), kind, config)).or_from(script.origin));
        }
        for module in &of.wasms {
            let kind = "envoy.extensions.filters.http.wasm.v3.Wasm";
            filters.add(disabled(extension(&name("wasm", &module.name), kind, wasm(module))).or_from(module.origin));
        }
    }
    Ok(())
}

pub(super) fn configure(out: &mut Tree, route: &HttpRoute) -> Result<(), String> {
    let Some(of) = &route.extensions else { return Ok(()) };
    for module in &of.dynamic_modules {
        set_config(out, &name("dynamic_modules", &module.name), enabled().or_from(module.origin));
    }
    for service in &of.ext_procs {
        set_config(out, &name("ext_proc", &service.name), enabled().or_from(service.origin));
    }
    for script in &of.luas {
        set_config(out, &name("lua", &script.name), lua(script).or_from(script.origin));
    }
    for module in &of.wasms {
        set_config(out, &name("wasm", &module.name), enabled().or_from(module.origin));
    }
    Ok(())
}

pub(super) fn add_resources(resources: &mut ResourceBuilder, routes: &[Arc<HttpRoute>]) -> Result<(), String> {
    for of in routes.iter().filter_map(|route| route.extensions.as_ref()) {
        for url in of.dynamic_modules.iter().filter_map(|module| module.remote.get("url").some()) {
            let url = UrlCluster::of(url)?;
            resources.add_cluster(&url.args(None));
        }
        for service in &of.ext_procs {
            resources.add_cluster(&ClusterArgs::of_service(&service.destination, service.traffic.as_ref()));
        }
    }
    Ok(())
}

fn lua(of: &Lua) -> Tree {
    match of.context.some() {
        Some(context) => any("envoy.extensions.filters.http.lua.v3.LuaPerRoute", message! { "filter_context": context.clone() }),
        None => enabled(),
    }
}

fn ext_proc(of: &ExtProc) -> Result<Tree, String> {
    let spec = &of.spec;
    let mut service = message! {
        "envoy_grpc": message! { "cluster_name": Tree::from(&of.destination.name).or_from(of.destination.origin), "authority": copied(&of.authority) },
        "timeout": "10s",
    };
    if let Some(retry) = of.traffic.as_ref().and_then(|traffic| traffic.retry.some()) {
        service.set("retry_policy", service_retry_policy(retry)?);
    }
    let (forwarded, received) = (spec.at(&["metadata", "accessibleNamespaces"]), spec.at(&["metadata", "writableNamespaces"]));
    let spaces = |of: &Tree| {
        let mut own = empty();
        own.set("untyped", list(of.items().to_vec()));
        own.or_from(of.origin)
    };
    let options = message! {
        "forwarding_namespaces": forwarded.some().map(spaces),
        "receiving_namespaces": received.some().map(spaces),
    };
    let mode = spec.get("processingMode");
    Ok(message! {
        "grpc_service": service,
        "processing_mode": processing_mode(mode),
        "observability_mode": spec.get("shadowMode").clone(),
        "failure_mode_allow": spec.get("failOpen").clone(),
        "message_timeout": duration(spec.get("messageTimeout")),
        "request_attributes": list(mode.at(&["request", "attributes"]).items().to_vec()),
        "response_attributes": list(mode.at(&["response", "attributes"]).items().to_vec()),
        "metadata_options": if options.fields().is_empty() { Tree::NULL } else { options },
        "allow_mode_override": mode.get("allowModeOverride").clone(),
        "status_on_error": spec.get("statusOnError").some().map(|status| message! { "code": status.clone() }),
    })
}

fn processing_mode(of: &Tree) -> Tree {
    let body = |of: &Tree| {
        let mode = of.get("body");
        let word = match mode.text() {
            "Buffered" => "BUFFERED",
            "BufferedPartial" => "BUFFERED_PARTIAL",
            "Streamed" => "STREAMED",
            "FullDuplexStreamed" => "FULL_DUPLEX_STREAMED",
            _ => "NONE",
        };
        derived(word, mode)
    };
    // A direction that is there, even empty, is sent.
    let sent = |of: &Tree| if of.is_null() { "SKIP".into() } else { derived("SEND", of) };
    let trailers = |body: &Tree| derived(if body.is("FULL_DUPLEX_STREAMED") { "SEND" } else { "SKIP" }, body);
    let (request, response) = (of.get("request"), of.get("response"));
    let (asked, answered) = (body(request), body(response));
    message! {
        "request_header_mode": sent(request),
        "response_header_mode": sent(response),
        "request_trailer_mode": trailers(&asked),
        "response_trailer_mode": trailers(&answered),
        "request_body_mode": asked,
        "response_body_mode": answered,
    }
    .or_from(of.origin)
}

fn wasm(of: &Wasm) -> Tree {
    let code = of.code.clone().unwrap_or_default();
    let retry = message! { "num_retries": 10_i64, "retry_back_off": message! { "base_interval": "1s", "max_interval": "30s" } };
    let remote = message! {
        "http_uri": message! { "uri": code.serving_url, "cluster": WASM_CLUSTER, "timeout": "10s" },
        "sha256": code.sha256,
        "retry_policy": retry,
    };
    let keys = if of.host_keys.is_empty() {
        Tree::NULL
    } else {
        message! { "host_env_keys": list(of.host_keys.clone()) }
    };
    let machine = message! {
        "vm_id": &of.name,
        "runtime": "envoy.wasm.runtime.v8",
        "code": message! { "remote": remote },
        "environment_variables": keys,
    };
    let config = if of.config.is_null() { String::new() } else { of.config.json() };
    let configuration = any("google.protobuf.StringValue", message! { "value": Tree::from(config).or_from(of.config.origin) });
    let plugin = message! {
        "name": copied(&of.wasm_name),
        "root_id": of.root_id.clone(),
        "vm_config": machine,
        "configuration": configuration,
        "fail_open": of.fail_open.clone(),
    };
    message! { "config": plugin }
}

fn dynamic_module(of: &DynamicModule) -> Result<Tree, String> {
    let source = match of.remote.some() {
        Some(remote) => {
            let url = remote.get("url");
            let cluster = UrlCluster::of(url)?;
            let uri = message! { "uri": url.clone(), "cluster": derived(cluster.name, url), "timeout": "10s" };
            message! { "remote": message! { "http_uri": uri, "sha256": remote.get("sha256").clone() } }
        }
        None => message! { "local": message! { "filename": of.path.clone() } },
    };
    let module = message! { "do_not_close": of.do_not_close.clone(), "load_globally": of.load_globally.clone(), "module": source };
    let config = of
        .spec
        .get("config")
        .some()
        .map(|config| any("google.protobuf.StringValue", message! { "value": derived(config.json(), config) }).or_from(config.origin));
    Ok(message! {
        "dynamic_module_config": module,
        "filter_name": copied(of.spec.get("filterName")),
        "terminal_filter": of.spec.get("terminalFilter").clone(),
        "filter_config": config,
    })
}
