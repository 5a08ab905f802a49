//! Assumes Contour's own configuration if nothing states it: most users only have the resources that Contour reads. Does not assume referenced
//! objects; see `compile::assume`.

use super::kinds::Kind;
use super::options::{Controller, Options};
use super::ownership::CONTROLLER;
use super::settings::{CONFIG_MAP, Flags};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Diagnostic, Findings, codes};
use chancery_base::resource::{Object, Objects};
use chancery_kubernetes::at_name;
use chancery_kubernetes::gateway_api::owners::Owners;
use chancery_text::Node;

/// The file of the installation that Contour comes with, below the ConfigMap's key.
pub(super) const FILE: &str = "contour.yaml";

/// The name of the ContourConfiguration in Contour's documentation.
const USUAL_NAME: &str = "contour";

/// The options with assumptions: a configuration in the input is Contour's, and several Gateways belong to the provisioner.
pub(super) fn options<'o>(objects: &Objects, given: &'o Options, sink: &mut Findings) -> Cow<'o, Options> {
    if given.controller.is_some() || names_configuration(given) {
        return Cow::Borrowed(given);
    }
    // A ContourConfiguration of the usual name counts for a server, too, which assumes nothing else.
    let is_usual = |object: &Object| object.key.kind == Kind::ContourConfiguration.definition().name && object.key.name == USUAL_NAME;
    if let Some((object, flag)) = configuration(objects, &given.namespace).filter(|(object, _)| given.assumes || is_usual(object)) {
        sink.report(notice(object, format!("no flag of Contour names a configuration; `{flag}` is assumed, as the input contains this one")));
        return Cow::Owned(Options { arguments: given.arguments.iter().cloned().chain([flag.into()]).collect(), ..given.clone() });
    }
    if !given.assumes {
        return Cow::Borrowed(given);
    }
    let gateways = gateways(objects);
    let is_served = |object: &Object| ["HTTPProxy", "Ingress"].contains(&object.key.kind.as_str());
    let names_deployment = |class: &Object| class.root.at(&["spec", "parametersRef", "kind"]).and_then(Node::as_str) == Some("ContourDeployment");
    let why = match &gateways[..] {
        [_, ..] if of_kind(objects, Kind::GatewayClass).any(names_deployment) => "a GatewayClass names a ContourDeployment",
        [_, _, ..] if !objects.iter().any(is_served) => "there are several Gateways",
        _ => return Cow::Borrowed(given),
    };
    if let (Some(first), true) = (gateways.first(), given.arguments.is_empty()) {
        let message = format!(
            "no configuration of Contour is in the input, and {why}; each Gateway is assumed to be served by its own Contour, as the Gateway \
             provisioner makes it"
        );
        sink.report(notice(first, message));
        return Cow::Owned(Options { controller: Some(Controller::GatewayProvisioner), ..given.clone() });
    }
    Cow::Borrowed(given)
}

/// The Gateway that is assumed to be Contour's if the input lacks its configuration: the only one of a Contour class.
pub(super) fn gateway<'o>(objects: &'o Objects, options: &Options, sink: &mut Findings) -> Option<&'o Object> {
    if !options.assumes {
        return None;
    }
    let gateways = gateways(objects);
    let [gateway] = gateways[..] else { return gateways.into_iter().find(|gateway| gateway.assumed) };
    if !gateway.assumed {
        let message = format!("no configuration of Contour is in the input; it is assumed to name the {} in `gateway.gatewayRef`", gateway.key);
        sink.report(notice(gateway, message));
    }
    Some(gateway)
}

fn notice(object: &Object, message: String) -> Diagnostic {
    Diagnostic::new(&codes::ASSUMED_OBJECT, message, at_name(object)).about(object.key.clone())
}

/// Whether flags name the configuration, or are invalid.
fn names_configuration(options: &Options) -> bool {
    let named = |flags: Flags| ["contour-config-name", "config-path"].iter().any(|flag| flags.get(flag).is_some());
    Flags::of_serve(&options.arguments).map_or(true, named)
}

/// The only configuration that the input holds, and the flag that leads Contour to it.
fn configuration<'o>(objects: &'o Objects, namespace: &str) -> Option<(&'o Object, String)> {
    let own = |kind: Kind| of_kind(objects, kind).filter(|object| object.key.namespace.as_deref() == Some(namespace));
    let configurations: Vec<&Object> = own(Kind::ContourConfiguration).collect();
    match configurations[..] {
        [only] => Some((only, format!("--contour-config-name={}", only.key.name))),
        [] => {
            let map = own(Kind::ConfigMap).find(|map| map.key.name == CONFIG_MAP && map.root.at(&["data", FILE]).is_some())?;
            Some((map, format!("--config-path=/config/{FILE}")))
        }
        _ => None,
    }
}

/// The Gateways without another known controller.
fn gateways(objects: &Objects) -> Vec<&Object> {
    let owners = Owners::of(objects.all(), CONTROLLER);
    of_kind(objects, Kind::Gateway).filter(|gateway| owners.other(gateway).is_none()).collect()
}

fn of_kind(objects: &Objects, kind: Kind) -> impl Iterator<Item = &Object> {
    let definition = kind.definition();
    objects.all().filter(move |object| !object.broken && object.key.kind == definition.name && object.key.group == definition.group)
}
