//! The events that the controller records on objects.
//!
//! AGIC `pkg/events`.

use super::model::Ingress;
use alloc::collections::BTreeMap;
use alloc::string::String;
use chancery_base::resource::Origin;
use chancery_kubernetes::status::{list, object, text};
use chancery_text::{Node, Str};

/// An event. The order is that of the output.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The kind of the object: `Ingress`, `Pod` for the controller's own, `Process` for events that the cluster does not show.
    pub kind: &'static str,
    pub namespace: Str,
    pub name: Str,
    pub reason: Reason,
    pub message: String,
}

/// The reason of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No endpoint has the port of a backend.
    BackendPortTargetMatch,
    /// A Service has no Endpoints.
    EndpointsEmpty,
    /// Azure refused the new configuration.
    FailedApplyingAppGwConfig,
    /// The variables or the resulting configuration are invalid.
    FailedValidatonError,
    /// A backend's Service is missing.
    IngressServiceTargetMatch,
    /// An annotation has an invalid value.
    InvalidAnnotation,
    /// A root certificate is not on the gateway.
    NoPreInstalledRootCertificate,
    /// A certificate is not on the gateway.
    NoPreInstalledSslCertificate,
    /// A TLS profile is not on the gateway.
    NoPreInstalledSslProfile,
    /// The gateway has no private address.
    NoPrivateIp,
    /// The gateway has no public address.
    NoPublicIp,
    /// The controller crashes.
    Panic,
    /// A port of a backend is ambiguous.
    PortResolutionError,
    /// An event was not processed.
    ProcessEvent,
    /// A redirect to TLS without TLS.
    RedirectWithNoTls,
    /// The address of an Ingress was removed.
    ResetIngressStatus,
    /// A Secret is missing, or is not a certificate.
    SecretNotFound,
    /// The gateway could not be read.
    UnableToFetchAppGw,
}

impl Reason {
    /// The controller's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::BackendPortTargetMatch => "BackendPortTargetMatch",
            Reason::EndpointsEmpty => "EndpointsEmpty",
            Reason::FailedApplyingAppGwConfig => "FailedApplyingAppGwConfig",
            Reason::FailedValidatonError => "FailedValidatonError",
            Reason::IngressServiceTargetMatch => "IngressServiceTargetMatch",
            Reason::InvalidAnnotation => "InvalidAnnotation",
            Reason::NoPreInstalledRootCertificate => "NoPreInstalledRootCertificate",
            Reason::NoPreInstalledSslCertificate => "NoPreInstalledSslCertificate",
            Reason::NoPreInstalledSslProfile => "NoPreInstalledSslProfile",
            Reason::NoPrivateIp => "NoPrivateIP",
            Reason::NoPublicIp => "NoPublicIP",
            Reason::Panic => "Panic",
            Reason::PortResolutionError => "PortResolutionError",
            Reason::ProcessEvent => "ProcessEvent",
            Reason::RedirectWithNoTls => "RedirectWithNoTLS",
            Reason::ResetIngressStatus => "ResetIngressStatus",
            Reason::SecretNotFound => "SecretNotFound",
            Reason::UnableToFetchAppGw => "UnableToFetchAppGw",
        }
    }

    fn event_type(self) -> &'static str {
        match self {
            Reason::ResetIngressStatus => "Normal",
            Reason::ProcessEvent => "Error",
            Reason::Panic => "Fatal",
            _ => "Warning",
        }
    }
}

impl PartialOrd for Reason {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reason {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.name().cmp(other.name())
    }
}

/// The controller's own pod in the answers.
pub const POD: (&str, &str) = ("agic-system", "agic-pod");

/// The recorded events, each once, with their places.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorder {
    events: BTreeMap<Event, Option<Origin>>,
}

impl Recorder {
    /// An event of an Ingress, about a place in it.
    pub fn ingress(&mut self, ingress: &Ingress, reason: Reason, message: impl Into<String>, at: impl Into<Option<Origin>>) {
        let (namespace, name) = (ingress.namespace.clone(), ingress.name.clone());
        let event = Event { kind: "Ingress", namespace, name, reason, message: message.into() };
        self.events.entry(event).or_insert(at.into().or(Some(ingress.origin)));
    }

    /// An event of the controller's pod.
    pub fn pod(&mut self, reason: Reason, message: impl Into<String>) {
        let (namespace, name) = (Str::new_static(POD.0), Str::new_static(POD.1));
        self.events.insert(Event { kind: "Pod", namespace, name, reason, message: message.into() }, None);
    }

    /// An event of the controller's process.
    pub fn process(&mut self, reason: Reason, message: impl Into<String>, at: Option<Origin>) {
        let event = Event { kind: "Process", namespace: Str::default(), name: Str::new_static("agic"), reason, message: message.into() };
        self.events.insert(event, at);
    }

    /// All events in order, with their places.
    pub fn iter(&self) -> impl Iterator<Item = (&Event, Option<Origin>)> {
        self.events.iter().map(|(event, at)| (event, *at))
    }

    /// The events as a document.
    pub fn document(&self) -> Node {
        let event = |event: &Event| {
            object(alloc::vec![
                ("kind", text(event.kind)),
                ("message", text(&event.message)),
                ("name", text(&event.name)),
                ("namespace", text(&event.namespace)),
                ("reason", text(event.reason.name())),
                ("type", text(event.reason.event_type())),
            ])
        };
        list(self.events.keys().map(event).collect())
    }
}
