//! Applies `builtin/wasm`: a plugin before the last filter.

use super::input::ExtensionInput;
use super::insert;
use crate::extension::{argument, argument_at};
use crate::go::Errors;
use crate::xds::context::Resources;
use crate::xds::parts::proto::{copied, duration, extension, flag, message, non_zero};
use alloc::format;
use chancery_base::ir::Tree;
use chancery_base::resource::Sourced;
use chancery_base::schema::duration;
use chancery_kubernetes::reason::Reason;

pub(super) fn apply(given: &ExtensionInput<'_>, resources: &mut Resources) -> Result<(), Reason> {
    if argument(given.arguments, "Protocol").text() != given.protocol {
        return Ok(());
    }
    let mut errors = Errors::default();
    let inbound = argument(given.arguments, "ListenerType").text() == "inbound";
    let http = given.is_http();
    let act = |chain: &mut Tree| {
        let config = plugin(given).map_err(|why| format!("failed to encode Envoy Wasm plugin configuration: {why}"))?;
        let config = message! { "config": config };
        let place = insert::Place::last(http);
        if http {
            let filter = extension("envoy.filters.http.wasm", "envoy.extensions.filters.http.wasm.v3.Wasm", config);
            insert::http(chain, &filter, &place)
        } else {
            let filter = extension("envoy.filters.network.wasm", "envoy.extensions.filters.network.wasm.v3.Wasm", config);
            insert::network(chain, &filter, &place)
        }
    };
    insert::each(&mut resources.listeners, inbound, act, &mut errors);
    errors.result()
}

const SECOND: i64 = 1_000_000_000;

/// A string in an `Any`.
fn configuration(text: &Tree) -> Tree {
    if text.text().is_empty() {
        return Tree::NULL;
    }
    Tree::object([("@type", Tree::from("type.googleapis.com/google.protobuf.StringValue")), ("value", text.clone())])
}

fn plugin(given: &ExtensionInput<'_>) -> Result<Tree, Reason> {
    let plugin = argument(given.arguments, "PluginConfig");
    let machine = argument(plugin, "VmConfig");
    let runtime = match argument(machine, "Runtime").text() {
        "" => "v8",
        runtime => runtime,
    };
    let environment = argument(machine, "EnvironmentVariables");
    let environment = if environment.is_null() {
        Tree::NULL
    } else {
        message! {
            "host_env_keys": argument(environment, "HostEnvKeys").clone(),
            "key_values": argument(environment, "KeyValues").clone(),
        }
    };
    let vm = message! {
        "vm_id": copied(argument(machine, "VmID")),
        "runtime": format!("envoy.wasm.runtime.{runtime}"),
        "code": code(given, argument(machine, "Code"))?,
        "configuration": configuration(argument(machine, "Configuration")),
        "environment_variables": environment,
    };
    let capabilities = argument(argument(plugin, "CapabilityRestrictionConfiguration"), "AllowedCapabilities");
    let allowed = capabilities.fields().iter().map(|(name, _)| (name.clone(), crate::xds::parts::proto::empty()));
    let restriction = if capabilities.fields().is_empty() {
        Tree::NULL
    } else {
        message! { "allowed_capabilities": Tree::object(allowed) }
    };
    Ok(message! {
        "name": copied(argument(plugin, "Name")),
        "root_id": copied(argument(plugin, "RootID")),
        "vm_config": vm,
        "configuration": configuration(argument(plugin, "Configuration")),
        "capability_restriction_config": restriction,
        "fail_open": flag(given.required.map(|required| !required)),
    })
}

fn nanos(text: &Tree) -> Option<Sourced<i64>> {
    Some(Sourced::new(duration::read(text.text()).ok()?, text.origin))
}

fn code(given: &ExtensionInput<'_>, code: &Tree) -> Result<Tree, Reason> {
    let file = argument_at(code, &["Local", "Filename"]);
    if !file.text().is_empty() {
        return Ok(message! { "local": message! { "filename": file.clone() } });
    }
    let remote = argument(code, "Remote");
    let uri = argument(remote, "HttpURI");
    let cluster = given.cluster_of(argument(uri, "Service"))?;
    let timeout = nanos(argument(uri, "Timeout")).unwrap_or(SECOND.into());
    let uri = message! {
        "uri": argument(uri, "URI").clone(),
        "cluster": cluster,
        "timeout": duration(timeout.map(|nanos| nanos / SECOND * SECOND)),
    };
    let policy = argument(remote, "RetryPolicy");
    let back_off = argument(policy, "RetryBackOff");
    let interval = |name: &str| -> Tree { nanos(argument(back_off, name)).map(duration).into() };
    let back_off = message! { "base_interval": interval("BaseInterval"), "max_interval": interval("MaxInterval") };
    let policy = if policy.is_null() {
        Tree::NULL
    } else {
        message! {
            "num_retries": non_zero(argument(policy, "NumRetries").number()),
            "retry_back_off": if back_off.fields().is_empty() { Tree::NULL } else { back_off },
        }
    };
    let remote = message! { "http_uri": uri, "sha256": copied(argument(remote, "SHA256")), "retry_policy": policy };
    Ok(message! { "remote": remote })
}
