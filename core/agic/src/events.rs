//! Events that the controller records, as people see them on objects.
//!
//! AGIC `pkg/events`. What must not be here: when they are recorded.

use super::model::Ingress;
use alloc::collections::BTreeMap;
use alloc::string::String;
use chancery_base::resource::Origin;
use chancery_kubernetes::status::{list, object, text};
use chancery_text::{Node, Str};

/// An event. Ordered as they are shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The kind of the object: `Ingress`, `Pod` for the controller's own, `Process` for what is not visible in the cluster.
    pub kind: &'static str,
    /// Its namespace.
    pub namespace: Str,
    /// Its name.
    pub name: Str,
    /// Why.
    pub reason: Reason,
    /// What.
    pub message: String,
}

/// Why an event is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No endpoint has the port of a backend.
    BackendPortTargetMatch,
    /// A Service has no Endpoints.
    EndpointsEmpty,
    /// The new configuration was not taken.
    FailedApplyingAppGwConfig,
    /// The variables, or the configuration that was made, are not in order.
    FailedValidatonError,
    /// A backend's Service is not there.
    IngressServiceTargetMatch,
    /// An annotation has another form than it should have.
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
    /// The controller dies.
    Panic,
    /// A port of a backend is not clear.
    PortResolutionError,
    /// An event was not processed.
    ProcessEvent,
    /// A redirect to TLS, but no TLS.
    RedirectWithNoTls,
    /// The address of an Ingress was taken away.
    ResetIngressStatus,
    /// A Secret is not there, or is no certificate.
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

/// The controller's own pod, in the answers.
pub const POD: (&str, &str) = ("agic-system", "agic-pod");

/// What was recorded, each once, and what it is about.
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

    /// What happens to the controller's process.
    pub fn process(&mut self, reason: Reason, message: impl Into<String>, at: Option<Origin>) {
        let event = Event { kind: "Process", namespace: Str::default(), name: Str::new_static("agic"), reason, message: message.into() };
        self.events.insert(event, at);
    }

    /// All of them, in order, each with what it is about.
    pub fn iter(&self) -> impl Iterator<Item = (&Event, Option<Origin>)> {
        self.events.iter().map(|(event, at)| (event, *at))
    }

    /// As a document.
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
