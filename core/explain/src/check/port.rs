//! Reports ports that Services do not have.
//!
//! Does not check listener ports (see `listening`) or Services that dialects look up while they compile.

use super::naming::{is_called, names_of};
use super::whole::Whole;
use crate::relation::Reference;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::diagnostic::codes;
use chancery_base::ir::EndpointAddress;
use chancery_base::resource::Object;
use chancery_kubernetes::at_name;
use chancery_text::Node;

/// At most this many ports are named.
const MOST: usize = 4;

pub(super) fn check(whole: &mut Whole<'_>) {
    let objects = whole.side.objects();
    let service_of = |reference: &Reference| objects.get(*reference.to.as_ref().ok()?).filter(|object| *object.key.kind == *"Service");
    let references = whole.references.clone();
    for (name, reference) in whole.named_services(&references, |reference| service_of(reference).is_some()) {
        let Some(service) = service_of(reference) else { continue };
        let (Some(ports), Some(cluster)) = (ports(service), whole.clusters.get(name).copied()) else { continue };
        let mut addresses = names_of(cluster).iter().map(|endpoint| &endpoint.value.address);
        let asked = addresses.find(|address| address.host().is_some_and(|host| is_called(host, &service.key.name)));
        let Some(port) = asked.and_then(EndpointAddress::port).filter(|port| !ports.contains(port)) else { continue };
        let all: Vec<String> = ports.iter().take(MOST).map(ToString::to_string).collect();
        let more = if ports.len() > MOST { " and others" } else { "" };
        let message = format!("the Service `{}` has no port {port}, but {}{more}: connections to it fail", service.key.name, all.join(", "));
        let finding = whole.finding(&codes::NO_SUCH_PORT, reference.at, message).related(at_name(service), "the Service");
        let help = match &ports[..] {
            [one] => format!("write the port: `{}:{one}`", service.key.name),
            _ => "name one of its ports".into(),
        };
        whole.report(finding.help(help));
    }
}

/// Returns the ports at which a Service can be reached by its name; `None` if they cannot be determined.
fn ports(service: &Object) -> Option<Vec<u16>> {
    let spec = service.root.get("spec")?;
    if spec.get("type").and_then(Node::as_str) == Some("ExternalName") {
        return None;
    }
    let number = |node: Option<&Node>| node.and_then(Node::as_i64).and_then(|port| u16::try_from(port).ok());
    let headless = spec.get("clusterIP").and_then(Node::as_str) == Some("None");
    let mut out = Vec::new();
    for port in spec.get("ports").and_then(Node::as_array)? {
        let own = number(port.get("port"))?;
        out.push(match port.get("targetPort") {
            // A headless Service's name resolves to the pods themselves.
            Some(target) if headless => number(Some(target))?,
            _ => own,
        });
    }
    (!out.is_empty()).then_some(out)
}
