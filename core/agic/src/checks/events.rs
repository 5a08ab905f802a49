//! Reports the controller's own events, at the place that each is about.

use super::{Checked, Run};
use crate::annotations;
use crate::certificate;
use crate::codes;
use crate::events::{Event, Reason};
use crate::kinds::Kind;
use crate::model::Target;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Place};
use chancery_base::resource::{Object, Origin};
use chancery_text::{Str, series};

pub(super) fn check(checked: &mut Run<'_, '_, '_>) {
    let processed = checked.processed;
    let findings: Vec<Diagnostic> = processed.recorder.iter().filter_map(|(event, at)| finding(checked, event, at)).collect();
    findings.into_iter().for_each(|finding| checked.report(finding));
}

/// Converts an event to a finding. Events of the controller's pod repeat an Ingress's event, or are about the whole.
fn finding(checked: &Checked<'_, '_>, event: &Event, at: Option<Origin>) -> Option<Diagnostic> {
    if event.reason == Reason::Panic {
        // For an unreadable document, only that must be fixed.
        if checked.sink.iter().any(|finding| *finding.code == codes::UNREADABLE_GATEWAY) {
            return None;
        }
        return Some(crash_finding(checked, at));
    }
    let code = code(event)?;
    let message = match event.reason {
        Reason::SecretNotFound => secret(checked, at),
        _ => sentence(&event.message),
    };
    if *code == codes::UNCLEAR_BACKEND_PORT
        && let Some((message, help)) = unresolved_port(checked, &event.message)
    {
        return Some(checked.finding(code, message, at).help(help));
    }
    let advice = (event.reason == Reason::InvalidAnnotation).then(|| annotation_advice(&message)).flatten();
    let finding = checked.finding(code, message, at);
    if let Some(advice) = advice {
        return Some(finding.help(advice));
    }
    Some(if *code == codes::MISSING_GATEWAY_PART { finding.help(OF_GATEWAY) } else { finding })
}

/// The help for a value that the controller cannot read. The message is the controller's own.
fn annotation_advice(message: &str) -> Option<String> {
    let (name, value) = message.strip_prefix("annotation ")?.split_once(" does not contain a valid value (")?;
    let annotation = annotations::ALL.iter().find(|annotation| annotation.name == name)?;
    Some(super::values::advice(annotation, value.strip_suffix(')')?))
}

/// The help for parts that are installed by others.
const OF_GATEWAY: &str = "parts that are on the gateway already are known by its document: `--existing-gateway FILE`";

fn code(event: &Event) -> Option<&'static Code> {
    Some(match (event.reason, event.kind) {
        (Reason::FailedValidatonError, _) if event.message.starts_with("ConfigBuilder") => &codes::INVALID_PATH_MAP,
        (Reason::FailedValidatonError, _) => &codes::CONTROLLER_NOT_STARTED,
        (Reason::ProcessEvent, _) => &codes::AZURE_REFUSES,
        (_, "Pod" | "Process") => return None,
        (Reason::BackendPortTargetMatch, _) => &codes::PORT_OUTSIDE_OF_ENDPOINTS,
        (Reason::EndpointsEmpty, _) => &codes::BACKEND_WITHOUT_ENDPOINTS,
        (Reason::IngressServiceTargetMatch, _) => &codes::BACKEND_WITHOUT_SERVICE,
        (Reason::PortResolutionError, _) if event.message.contains("ErrorServiceNotFound") => &codes::BACKEND_WITHOUT_SERVICE,
        (Reason::PortResolutionError, _) => &codes::UNCLEAR_BACKEND_PORT,
        (Reason::InvalidAnnotation, _) => &codes::ANNOTATION_VALUE,
        (Reason::NoPrivateIp | Reason::NoPublicIp, _) => &codes::MISSING_GATEWAY_ADDRESS,
        (Reason::RedirectWithNoTls, _) => &codes::REDIRECT_WITHOUT_TLS,
        (Reason::ResetIngressStatus, _) => &codes::GATEWAY_NOT_RUNNING,
        (Reason::SecretNotFound, _) => &codes::UNUSABLE_TLS_SECRET,
        _ => &codes::MISSING_GATEWAY_PART,
    })
}

/// The message of an event without the controller's codes.
fn sentence(message: &str) -> alloc::string::String {
    let inner = message.split_once("Message=\"").map_or(message, |(_, rest)| rest);
    let text = inner.strip_suffix('"').unwrap_or(inner).replace("\" InnerError=\"", ": ");
    text.trim_end_matches('.').into()
}

/// What is wrong with a named target port that resolves to no number, and the help; `None` for other events.
fn unresolved_port(checked: &Checked<'_, '_>, message: &str) -> Option<(String, String)> {
    let (_, named) = message.split_once("service ")?;
    let (service, rest) = named.split_once(" and service port ")?;
    let (port, _) = rest.split_once(" was resolved to an invalid service-backend port")?;
    let (namespace, name) = service.split_once('/')?;
    let key = (Str::new(namespace), Str::new(name));
    let meant = checked.source.service(&key)?.ports_meant(port).find_map(|port| match &port.target {
        Target::Name(target) => Some((port.name.clone(), target.clone())),
        Target::Number(_) => None,
    });
    let Some((wanted, target)) = meant else {
        let message = format!("the Service `{name}` has no TCP port `{port}`, so AGIC uses port 80");
        return Some((message, "write a port of the Service".into()));
    };
    let known: Vec<&str> =
        checked.source.subsets(&key).unwrap_or_default().iter().flat_map(|subset| &subset.ports).map(|port| port.name.as_str()).collect();
    let why = match known[..] {
        [] => "no pod is ready yet".into(),
        [..] => format!("they have {}", series(&known)),
    };
    let wanted = if wanted.is_empty() { "without a name".into() } else { format!("`{wanted}`") };
    let message = format!("the endpoints of `{name}` have no port {wanted} ({why}), so AGIC uses port 80");
    let help = format!("start the pods with a container port `{target}`, or set `targetPort` to a number; AGIC's event names port 65536");
    Some((message, help))
}

fn crash_finding(checked: &Checked<'_, '_>, at: Option<Origin>) -> Diagnostic {
    let why = checked.processed.crash.as_ref().map_or("", |crash| crash.why.as_str());
    let finding = checked.finding(&codes::CONTROLLER_CRASHES, format!("{why}: AGIC crashes, and the gateway does not change"), at);
    finding.help("no part of the configuration takes effect until this is fixed")
}

/// Why a Secret cannot be used.
fn secret(checked: &Checked<'_, '_>, at: Option<Origin>) -> alloc::string::String {
    let object = at.and_then(|origin| checked.objects.get(origin.object()));
    let name = at.and_then(|origin| text_at(object?, origin));
    let namespace = object.and_then(|object| object.key.namespace.clone()).unwrap_or_default();
    let name = name.unwrap_or_default();
    match checked.source.cluster.get(Kind::Secret, &namespace, name) {
        None => format!("there is no Secret `{name}` in `{namespace}`, so the hosts get no certificate from it"),
        Some(held) => match certificate::converts(held.object) {
            Err(why) => format!("the Secret `{name}` {}, so the hosts get no certificate from it", why.words()),
            Ok(()) => format!("the Secret `{name}` cannot be used"),
        },
    }
}

/// The string at a node.
fn text_at(object: &Object, origin: Origin) -> Option<&str> {
    let Place::Node { node, .. } = Place::origin(origin) else { return None };
    object.root.at(&["spec", "tls"]).or_else(|| object.root.at(&["spec", "template", "tls"]))?.as_array()?.iter().find_map(|item| {
        let secret = item.get("secretName")?;
        (secret.id == node).then(|| secret.as_str()).flatten()
    })
}
