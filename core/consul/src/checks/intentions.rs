//! Checks intentions: those that no proxy applies, name missing services, or repeat the default; and JWT providers.

use super::{Mesh, is_transparent};
use crate::codes;
use crate::entry::{Entry, Kind};
use crate::instance::Instance;
use crate::intention::{self, Intention};
use crate::validate::is_set;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use chancery_base::diagnostic::Place;
use chancery_base::ir::Tree;
use chancery_text::Str;

pub(super) fn check(mesh: &mut Mesh<'_>) {
    for entry in mesh.entries(Kind::ServiceIntentions) {
        destination(mesh, entry);
        for source in entry.tree.get("Sources").items() {
            self::source(mesh, entry, source);
        }
    }
    providers(mesh);
}

fn destination(mesh: &mut Mesh<'_>, entry: &Entry) {
    let name = &entry.name;
    let in_mesh = || {
        let behind = mesh
            .state
            .instances
            .of_kind("terminating-gateway")
            .filter(|instance| instance.node.datacenter == mesh.state.datacenter)
            .any(|gateway| mesh.state.behind(&gateway.service).contains(name));
        behind || mesh.state.instances.in_mesh_for(name).next().is_some()
    };
    // An API outside of the input may still add a proxy: only a service without any proxy is reported.
    if name != "*" && !in_mesh() {
        let message = format!("no proxy applies this intention: `{name}` has no sidecar and is behind no terminating gateway");
        let help = mesh.intended_service(name);
        mesh.report_with(&codes::INTENTION_WITHOUT_SERVICE, message, entry.tree.get("Name"), Some(entry.object), help);
    }
}

fn source(mesh: &mut Mesh<'_>, entry: &Entry, source: &Tree) {
    let name = source.get("Name").str();
    let known = |name: &Str| mesh.names.contains(name) || mesh.state.instances.of_service(name).next().is_some();
    if name != "*" && !is_set(source.get("Peer")) && !is_set(source.get("SamenessGroup")) && !known(&name) {
        let message = format!("there is no service `{name}`, which this intention is about");
        let help = mesh.intended_service(&name);
        mesh.report_with(&codes::INTENTION_WITHOUT_SOURCE, message, source.get("Name"), Some(entry.object), help);
    }
    let allows = source.get("Action").is("allow");
    if allows && name == "*" && entry.name == "*" {
        mesh.report(&codes::INTENTION_FOR_ALL, "every service may call every service", source.get("Action"), Some(entry.object));
    }
    shadowed_permissions(mesh, entry, source);
    redundant(mesh, entry, source, allows);
    other_targets(mesh, entry, source);
    passed_on(mesh, entry, source);
}

/// The service's own chain may send requests to other services. Their own intentions decide there.
fn other_targets(mesh: &mut Mesh<'_>, entry: &Entry, source: &Tree) {
    let action = source.get("Action");
    if !is_set(action) || entry.name == "*" {
        return;
    }
    let allows = action.is("allow");
    let chain = [Kind::ServiceRouter, Kind::ServiceSplitter, Kind::ServiceResolver].map(|kind| (kind, entry.name.clone()));
    let first = chain.iter().find_map(|key| mesh.state.entries.get(key).filter(|entry| leads(entry).next().is_some())).cloned();
    let Some(first) = first else { return };
    let caller = source.get("Name").str();
    for target in leads(&first) {
        let to = target.get("Service").str();
        let is_here = !["Peer", "Datacenter", "SamenessGroup"].iter().any(|field| is_set(target.get(field)));
        if to == entry.name || !is_here || allows_call(mesh, &caller, &to) != Some(!allows) {
            continue;
        }
        let sends = if first.kind == Kind::ServiceResolver { "redirects these requests" } else { "sends some of these requests" };
        let (end, help) = if allows {
            ("which denies them (403)", format!("add an intention that allows `{caller}` to call `{to}`"))
        } else {
            ("which allows them", format!("add an intention that denies `{caller}` for `{to}` too"))
        };
        let message = format!("the {} `{}` {sends} to `{to}`, {end}: the intentions of `{to}` decide there", first.kind.name(), entry.name);
        mesh.report_with(&codes::TARGET_INTENTION_DIFFERS, message, action, Some(entry.object), Some(help));
        if let Some(place) = target.get("Service").origin {
            mesh.relate(Place::origin(place), "requests go here");
        }
    }
}

/// The targets of an entry that name a service and get requests. Failover targets get requests only while instances are down.
fn leads(entry: &Entry) -> impl Iterator<Item = &Tree> {
    let routes = entry.tree.get("Routes").items().iter().map(|route| route.get("Destination"));
    let splits = entry.tree.get("Splits").items().iter().filter(|split| split.get("Weight").float() > 0.0);
    let all = routes.chain(splits).chain([entry.tree.get("Redirect")]);
    all.filter(|target| is_set(target.get("Service")))
}

/// Whether a service may call another one. `None` if that depends on the request.
fn allows_call(mesh: &Mesh<'_>, from: &Str, to: &Str) -> Option<bool> {
    let is_for = |of: &Intention| !is_set(of.source.get("Peer")) && [from.as_str(), "*"].contains(&of.source.get("Name").text());
    let Some(found) = intention::of(mesh.state, to).into_iter().find(is_for) else { return Some(!mesh.stages.options.default_deny) };
    let depends = is_set(&found.jwt) || is_set(found.source.get("Permissions"));
    (!depends).then(|| found.source.get("Action").is("allow"))
}

/// A denied destination outside of the mesh: a transparent proxy then has no listener for it, and passes its connections on like those to any
/// other address (agent/xds/listeners.go, `MeshDestinationsOnly`).
fn passed_on(mesh: &mut Mesh<'_>, entry: &Entry, source: &Tree) {
    let only_mesh = mesh.state.tree(Kind::Mesh, "mesh").at(&["TransparentProxy", "MeshDestinationsOnly"]).bool();
    if !source.get("Action").is("deny") || only_mesh || !mesh.state.is_outside(&entry.name) {
        return;
    }
    let caller = source.get("Name");
    let is_caller = |proxy: &Instance| caller.is("*") || caller.is(&proxy.destination());
    let mut proxies = mesh.proxies().filter(|proxy| is_caller(proxy) && is_transparent(mesh, proxy));
    if proxies.next().is_none() {
        return;
    }
    let message = format!("this does not stop connections to `{}`: transparent proxies pass on what is outside of the mesh", entry.name);
    let help = "set `TransparentProxy { MeshDestinationsOnly = true }` in the config entry `mesh`".into();
    mesh.report_with(&codes::INEFFECTIVE_DENY, message, source.get("Action"), Some(entry.object), Some(help));
}

/// Permissions that never apply: the first permission that matches a request decides, and an earlier one matches all requests of a later one.
fn shadowed_permissions(mesh: &mut Mesh<'_>, entry: &Entry, source: &Tree) {
    let permissions = source.get("Permissions").items();
    for (at, permission) in permissions.iter().enumerate() {
        let earlier = permissions.iter().take(at).find(|earlier| covers(earlier, permission));
        let Some((earlier, place)) = earlier.and_then(|earlier| Some((earlier, earlier.origin?))) else { continue };
        let message = "this permission never applies: an earlier one matches all of its requests, and the first match decides";
        let differs = !earlier.get("Action").is(permission.get("Action").text());
        let help = if differs { "move it before the other permission" } else { "remove it" };
        mesh.report_with(&codes::SHADOWED_PERMISSION, message, permission, Some(entry.object), Some(help.into()));
        mesh.relate(Place::origin(place), "this permission matches first");
    }
}

/// Whether a permission certainly matches all requests of another one.
fn covers(wide: &Tree, narrow: &Tree) -> bool {
    let (wide_http, http) = (wide.get("HTTP"), narrow.get("HTTP"));
    let has_more = ["Header", "PathRegex"].iter().any(|field| is_set(wide_http.get(field))) || is_set(wide.get("JWT"));
    let methods = wide_http.get("Methods").items();
    let own = http.get("Methods").items();
    let takes_methods = methods.is_empty() || !own.is_empty() && own.iter().all(|own| methods.iter().any(|method| method.is(own.text())));
    let paths = ["PathExact", "PathPrefix"].map(|field| http.get(field)).into_iter().filter(|path| is_set(path));
    let own_path = paths.map(|path| path.str()).next();
    let takes_path = match (wide_http.get("PathExact").str(), wide_http.get("PathPrefix").str()) {
        (exact, prefix) if exact.is_empty() && prefix.is_empty() => true,
        (exact, _) if !exact.is_empty() => is_set(http.get("PathExact")) && own_path == Some(exact),
        (_, prefix) => prefix == "/" || own_path.is_some_and(|own| own.starts_with(&*prefix)),
    };
    !has_more && takes_methods && takes_path
}

/// An intention that repeats the default is redundant, unless another intention says the opposite for more services.
fn redundant(mesh: &mut Mesh<'_>, entry: &Entry, source: &Tree, allows: bool) {
    let default = !mesh.stages.options.default_deny;
    let permissions = source.get("Permissions").items();
    let word = if allows { "open" } else { "closed" };
    let is_http = entry.name != "*" && ["http", "http2", "grpc"].iter().any(|known| mesh.state.protocol(&entry.name).eq_ignore_ascii_case(known));
    let asks = is_set(entry.tree.get("JWT")) || permissions.iter().any(|permission| is_set(permission.get("JWT")));
    let is_default = |permission: &Tree| permission.get("Action").is("allow") == default;
    let says_default = !permissions.is_empty() && is_http && !asks && permissions.iter().all(is_default);
    // The intention for all sources that would decide without this one.
    let wider = [entry.name.clone(), Str::new_static("*")].into_iter().find_map(|name| {
        let sources = mesh.state.tree(Kind::ServiceIntentions, &name).get("Sources").items();
        sources.iter().find(|other| other.get("Name").is("*") && *other != source)
    });
    if let Some(wider) = wider {
        let leaves_rest = !permissions.iter().any(|permission| covers(permission, &Tree::NULL));
        if default && wider.get("Action").is("deny") && !permissions.is_empty() && is_http && !asks && leaves_rest {
            open_permissions(mesh, entry, source);
        }
        return;
    }
    if is_set(source.get("Action")) && allows == default {
        let message = format!("`{}` is {word} without this intention, by the default policy", entry.name);
        let help = allows.then(|| "if the agents deny by default, set `--default-policy deny`".into());
        mesh.report_with(&codes::REDUNDANT_INTENTION, message, source.get("Action"), Some(entry.object), help);
    }
    // If the proxy checks connections and not requests, each permission denies. Tokens are still required.
    if says_default {
        let name = source.get("Name").text().to_owned();
        let message = if default {
            format!("this intention only allows, and so does the default policy: every request of `{name}` to `{}` is allowed", entry.name)
        } else {
            format!("this intention only denies, and so does the default policy: every request of `{name}` to `{}` gets 403", entry.name)
        };
        let help = default.then(|| {
            "if the agents deny by default, set `--default-policy deny`; or deny everything else with a last permission with `Action: deny`".into()
        });
        mesh.report_with(&codes::REDUNDANT_INTENTION, message, source.get("Permissions"), Some(entry.object), help);
    }
}

/// Permissions that leave requests to the default policy, which allows them, although a wider intention denies: Consul drops permissions that say the
/// same as the default policy, and takes the source out of the wider intention (agent/xds/rbac.go, `removePermissionPrecedence`).
fn open_permissions(mesh: &mut Mesh<'_>, entry: &Entry, source: &Tree) {
    let name = source.get("Name").str();
    let denies = source.get("Permissions").items().iter().any(|permission| permission.get("Action").is("deny"));
    let which = if denies { " that these permissions do not deny" } else { ", not only the requests of these permissions" };
    let message =
        format!("`{name}` may send every request to `{}`{which}: others follow the default policy (allow), not the intention for `*`", entry.name);
    let help = "add a last permission with `Action: deny` and `PathPrefix: /`, or let the agents deny by default (`--default-policy deny`)".into();
    mesh.report_with(&codes::OPEN_PERMISSIONS, message, source.get("Permissions"), Some(entry.object), Some(help));
}

fn providers(mesh: &mut Mesh<'_>) {
    let mut used: BTreeSet<Str> = BTreeSet::new();
    for entry in mesh.state.entries.values() {
        names(&entry.tree, &mut used);
    }
    for entry in mesh.entries(Kind::JwtProvider).filter(|entry| !used.contains(&entry.name)) {
        let message = format!("no intention asks for tokens of `{}`", entry.name);
        mesh.report(&codes::UNUSED_JWT_PROVIDER, message, entry.tree.get("Name"), Some(entry.object));
    }
}

/// Collects the providers that a tree names.
fn names(tree: &Tree, found: &mut BTreeSet<Str>) {
    found.extend(tree.get("Providers").items().iter().map(|provider| provider.get("Name").str()));
    tree.fields().iter().for_each(|(_, value)| names(value, found));
    tree.items().iter().for_each(|value| names(value, found));
}
