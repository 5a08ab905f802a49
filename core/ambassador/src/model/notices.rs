//! Collects the reference's errors and notices by resource, since some decisions depend on them, and returns them as findings.

use crate::config::Resource;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use chancery_base::diagnostic::{Code, Diagnostic, DistinctFindings, Findings, Place, Reported, Severity, codes};
use chancery_base::resource::{Origin, ResourceKey, Sourced};
use chancery_text::{NodeId, Str};
use hashbrown::HashSet;

/// Help for a value that the controller sends and Envoy rejects.
pub const REFUSED_HELP: &str =
    "Envoy refuses the whole configuration because of it, and the controller keeps the last good one; Chancery leaves it out";

/// The identity of a model's resource: its source resource, or its own name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The reference's key for errors. Not unique across kinds.
    pub rkey: Str,
    pub kind: Str,
    /// Name; the model's own resources have names like `ir.ambassador`.
    pub name: Str,
    /// `None` for a generated resource without namespace.
    pub namespace: Option<Str>,
    /// The object that it was made from.
    pub origin: Option<Origin>,
    /// The resource that receives its errors, if it is not itself.
    pub reported: Option<Arc<ResourceKey>>,
}

impl Identity {
    /// The identity of a resource of the configuration.
    pub fn of(resource: &Resource) -> Self {
        Self {
            rkey: resource.rkey.clone(),
            kind: resource.kind.clone(),
            name: resource.name.clone(),
            namespace: Some(resource.namespace.clone()),
            origin: Some(Origin::field(resource.object, NodeId(0))),
            reported: None,
        }
    }

    /// The identity of a generated resource.
    pub fn internal(rkey: impl Into<Str>, kind: &str, name: impl Into<Str>) -> Self {
        Self { rkey: rkey.into(), kind: kind.into(), name: name.into(), namespace: None, origin: None, reported: None }
    }

    /// Another part of the same resource: it has its own name, and its errors belong to the resource.
    pub fn part(&self, kind: &str, name: impl Into<Str>) -> Self {
        let reported = Some(self.reported.clone().unwrap_or_else(|| Arc::new(self.key())));
        Self { kind: kind.into(), name: name.into(), reported, ..self.clone() }
    }

    /// A cluster: errors of clusters are posted under their long names.
    pub fn cluster(name: &Str, origin: Option<Origin>) -> Self {
        Self { rkey: name.clone(), kind: "IRCluster".into(), name: name.clone(), origin, ..Self::default() }
    }

    /// The key in findings.
    ///
    /// Generated resources have no name and namespace; the reference splits their key instead (`ir.tracing`).
    pub fn key(&self) -> ResourceKey {
        if let Some(reported) = &self.reported {
            return (**reported).clone();
        }
        let (name, namespace) = match (&self.namespace, self.rkey.split_once('.')) {
            (Some(namespace), _) => (self.name.clone(), Some(namespace.clone())),
            (None, Some((name, namespace))) => (name.into(), Some(namespace.into())),
            (None, None) => (self.rkey.clone(), None),
        };
        ResourceKey { group: Str::new_static("getambassador.io"), kind: self.kind.clone(), namespace, name }
    }
}

/// One report, before it is known about which resource.
pub struct ControllerNotice {
    pub(super) code: &'static Code,
    pub(super) message: String,
    pub(super) origin: Option<Origin>,
    pub(super) help: Option<String>,
}

impl ControllerNotice {
    /// A report of this kind at this place (`None`: at the resource itself).
    pub fn new(code: &'static Code, message: impl Into<String>, origin: impl Into<Option<Origin>>) -> Self {
        Self { code, message: message.into(), origin: origin.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Something that this version of Emissary does not do.
pub fn unsupported(message: impl Into<String>, origin: impl Into<Option<Origin>>) -> ControllerNotice {
    ControllerNotice::new(&codes::UNSUPPORTED_FEATURE, message, origin)
}

/// Errors and notices by resource.
#[derive(Default)]
pub struct Notices {
    errored: HashSet<Str>,
    findings: DistinctFindings,
}

impl Notices {
    /// An error on a resource.
    pub fn error(&mut self, on: &Identity, post: ControllerNotice) -> Reported {
        self.errored.insert(on.rkey.clone());
        let place = Place::origin(post.origin.or(on.origin));
        let mut diagnostic = Diagnostic::new(post.code, post.message, place).about(on.key());
        diagnostic.help = post.help;
        self.findings.report(diagnostic)
    }

    /// An error about the whole, at a place.
    pub fn overall(&mut self, post: ControllerNotice) -> Reported {
        let mut diagnostic = Diagnostic::new(post.code, post.message, Place::origin(post.origin));
        diagnostic.help = post.help;
        self.findings.report(diagnostic)
    }

    /// A notice about the whole.
    pub fn overall_notice(&mut self, post: ControllerNotice) -> Reported {
        let mut diagnostic = Diagnostic::new(post.code, post.message, Place::origin(post.origin));
        diagnostic.severity = Severity::Notice;
        diagnostic.help = post.help;
        self.findings.report(diagnostic)
    }

    /// A surprising setting that the reference does not report.
    pub fn warning(&mut self, on: &Identity, post: ControllerNotice) -> Reported {
        self.post_notice(on, post, Severity::Warning)
    }

    /// A notice on a resource, which changes nothing.
    pub fn notice(&mut self, on: &Identity, post: ControllerNotice) -> Reported {
        self.post_notice(on, post, Severity::Notice)
    }

    fn post_notice(&mut self, on: &Identity, post: ControllerNotice, severity: Severity) -> Reported {
        let place = Place::origin(post.origin.or(on.origin));
        let mut diagnostic = Diagnostic::new(post.code, post.message, place).about(on.key());
        diagnostic.severity = severity;
        diagnostic.help = post.help;
        self.findings.report(diagnostic)
    }

    /// A member of a group whose name the reference cannot tell from another's.
    pub fn duplicate_member(&mut self, member: &Identity, group: &Identity) -> Reported {
        let message = format!("{} is dropped: up to its first dot its name is that of another Mapping for the same requests", member.name);
        let post = ControllerNotice::new(&codes::DUPLICATE_MEMBER, message, None);
        let place = Place::origin(member.origin);
        let mut diagnostic = Diagnostic::new(post.code, post.message, place).about(member.key());
        diagnostic = diagnostic.related(Place::origin(group.origin), "the other one");
        self.findings.report(diagnostic)
    }

    /// How often something was reported, duplicates included.
    pub(super) fn reports(&self) -> usize {
        self.findings.reports()
    }

    /// The findings.
    pub(super) fn take(&mut self) -> Findings {
        self.findings.take()
    }

    /// Whether anything with this key has an error: the reference's keys are shared between kinds.
    pub fn has_error(&self, rkey: &str) -> bool {
        self.errored.contains(rkey)
    }
}

/// The string of a value; empty if absent.
pub fn text(value: Option<&Sourced<Str>>) -> &str {
    value.map_or("", |value| value.value.as_str())
}
