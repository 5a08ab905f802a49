//! Reads one document by itself, and reports its own errors. Validation against other documents is in `apply` and `graph`.

use super::admission::{self, VERSION};
use super::codes;
use super::documents::{self, What, any_case, group};
use super::entry::{Entry, Kind};
use super::registration::{self, Registered, Used};
use super::schema::{Fault, Leniency, decode};
use super::validate::{normalise, refuse, validate};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_base::diagnostic::{Code, Diagnostic, Findings, Place, codes as shared};
use chancery_base::ir::Tree;
use chancery_base::resource::{Object, ObjectId, nearest};
use chancery_text::{Node, NodeId, Str};

/// The result of reading a document.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The config entry, if it is valid.
    pub(super) entry: Option<Arc<Entry>>,
    /// The instances that it registers.
    pub(super) instances: Vec<super::instance::Instance>,
    pub(super) findings: Findings,
}

/// Reads a document. `used` returns whether a service of the agent uses a port.
pub(super) fn read(object: &Object, what: What, datacenter: &str, used: Used<'_>) -> Document {
    let mut reading = Reading { object, id: object.id, findings: Findings::default() };
    let (mut entry, mut instances) = (None, Vec::new());
    match what {
        What::Entry(Ok(kind)) => entry = reading.entry(kind),
        What::Entry(Err(kind)) => reading.unknown_kind(&kind),
        What::Service => instances = reading.service(datacenter, used),
        What::Catalog => instances = reading.catalog(datacenter),
        What::Agent | What::Leaf | What::Roots | What::Foreign => {}
        What::Nothing => {
            let help = "a config entry has a `Kind`, a service definition a `service`, a registration in the catalog a `Node`";
            let place = Place::value(object.id, object.root.id);
            let finding = Diagnostic::new(&shared::INCOMPLETE_OBJECT, "the document does not say what it is", place);
            reading.findings.report(finding.about(object.key.clone()).help(help));
        }
    }
    Document { entry, instances, findings: reading.findings }
}

/// An error about a whole document, or at a node of it.
pub(super) fn refused(object: &Object, node: NodeId, message: impl Into<String>) -> Diagnostic {
    let node = if node.is_some() { node } else { object.root.id };
    let is_entry = matches!(documents::what(&object.root).0, What::Entry(_));
    let code = if is_entry { &codes::ENTRY_REFUSED } else { &codes::REGISTRATION_REFUSED };
    Diagnostic::new(code, message, Place::value(object.id, node)).about(object.key.clone())
}

/// Finds the node that a message of Consul begins with: `Route[0] PathExact ...`, `Sources[1].Name ...`. Returns the document if the message names
/// none.
fn pointed(root: &Node, why: &str) -> NodeId {
    // For several errors, the first one.
    let (mut at, mut rest) = (root, why.split_once("* ").filter(|(head, _)| head.contains("occurred:")).map_or(why, |(_, first)| first));
    loop {
        rest = rest.trim_start_matches([' ', ',', ':', '.', '(', '"', '\'']);
        let (name, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len()));
        let number = after.strip_prefix('[').and_then(|after| after.split_once(']'));
        let index = number.and_then(|(number, after)| Some((number.parse::<usize>().ok()?, after)));
        let Some(found) = within(at, name) else { return at.id };
        at = found;
        rest = after;
        if let Some((index, after)) = index {
            // A single value is a list of one.
            at = found.as_array().map_or(Some(found), |items| items.get(index)).unwrap_or(found);
            rest = after;
        }
    }
}

/// Fields are searched to this depth.
const MOST_LEVELS: usize = 4;

/// Finds the nearest field with a name, in any case, or its plural, in an object and its descendants.
fn within<'a>(root: &'a Node, name: &str) -> Option<&'a Node> {
    let is_named = |key: &str| {
        let (mut letters, mut wanted) = (key.bytes().filter(|byte| *byte != b'_'), name.bytes());
        let same = wanted.all(|byte| letters.next().is_some_and(|letter| letter.eq_ignore_ascii_case(&byte)));
        same && matches!((letters.next(), letters.next()), (None | Some(b's'), None))
    };
    let mut level = Vec::from([root]);
    for _ in 0..MOST_LEVELS {
        let fields = || level.iter().filter_map(|node| node.as_object()).flatten();
        if let Some(found) = fields().find(|entry| !name.is_empty() && is_named(&entry.key)) {
            return Some(&found.value);
        }
        level = fields().map(|entry| &entry.value).collect();
    }
    None
}

/// Whether a document is a Kubernetes resource.
pub(super) fn is_resource(object: &Object) -> bool {
    group(&object.root).is_some()
}

/// Whether an agent has already accepted it.
pub(super) fn is_stored(object: &Object) -> bool {
    object.stored && !is_resource(object)
}

struct Reading<'a> {
    object: &'a Object,
    id: ObjectId,
    findings: Findings,
}

impl Reading<'_> {
    fn report(&mut self, node: NodeId, message: impl Into<String>) {
        self.findings.report(refused(self.object, node, message));
    }

    fn faults(&mut self, unfit: Vec<Fault>, unknown: Vec<Fault>) {
        for fault in unfit {
            let finding = Diagnostic::new(&shared::WRONG_TYPE, fault.text, Place::value(self.id, fault.node));
            self.findings.report(finding.about(self.object.key.clone()));
        }
        for fault in unknown {
            let message = match admission::edition(&fault.text) {
                Some(edition) => format!("`{}` needs {edition}: the community edition refuses the whole entry", fault.text),
                None => format!("there is no field `{}`: the whole entry is refused", fault.text),
            };
            self.unknown_field(&codes::UNKNOWN_ENTRY_FIELD, message, fault.node, fault.meant);
        }
    }

    fn unread(&mut self, fault: &Fault) {
        let message = format!("there is no field `{}` that Chancery reads: it has no effect on the served configuration", fault.text);
        self.unknown_field(&shared::UNKNOWN_FIELD, message, fault.node, fault.meant);
    }

    fn unknown_field(&mut self, code: &'static Code, message: String, node: NodeId, meant: Option<&str>) {
        let mut finding = Diagnostic::new(code, message, Place::key(self.id, node));
        if let Some(meant) = meant {
            finding = finding.help(format!("did you mean `{meant}`?"));
        }
        self.findings.report(finding.about(self.object.key.clone()));
    }

    fn unknown_kind(&mut self, kind: &Str) {
        let object = self.object;
        let at = ["kind", "Kind"].into_iter().find_map(|key| any_case(&object.root, key)).map_or(object.root.id, |node| node.id);
        let finding = Diagnostic::new(&codes::UNKNOWN_ENTRY_KIND, format!("invalid config entry kind: {kind}"), Place::value(self.id, at));
        let names = if is_resource(object) {
            Kind::resources().map(Kind::resource).collect::<Vec<_>>()
        } else {
            Kind::ALL.iter().map(|kind| kind.name()).collect()
        };
        let meant = nearest(kind, names).map(|meant| format!("did you mean `{meant}`?"));
        let finding = finding.about(object.key.clone());
        self.findings.report(match meant {
            Some(meant) => finding.help(meant),
            None => finding,
        });
    }

    /// Reports fields that an API server drops of a resource, and why it refuses it. Returns the config entry unless it is refused.
    fn admit(&mut self, root: &Node, kind: Kind) -> Option<Node> {
        let version = root
            .get("apiVersion")
            .filter(|version| version.as_str().and_then(|text| text.rsplit_once('/')).is_some_and(|(_, version)| version != VERSION));
        if let Some(version) = version {
            let message = format!("there is no `{}`: the version is {VERSION}", version.as_str().unwrap_or_default());
            let finding = Diagnostic::new(&shared::UNSUPPORTED_VERSION, message, Place::value(self.id, version.id));
            self.findings.report(finding.about(self.object.key.clone()));
            return None;
        }
        let admitted = admission::admit(root, kind);
        for dropped in admitted.dropped {
            let message = match admission::edition(&dropped.path) {
                Some(edition) => format!("`{}` needs {edition}: it has no effect on what Chancery shows", dropped.path),
                None if dropped.is_elsewhere => {
                    format!("there is no field `{}` in Consul 1.16, which Chancery follows: it has no effect on what Chancery shows", dropped.path)
                }
                None => format!("there is no field `{}`: Kubernetes drops it", dropped.path),
            };
            self.unknown_field(&shared::UNKNOWN_FIELD, message, dropped.node, dropped.meant.as_deref());
        }
        let is_taken = admitted.refused.is_empty();
        for (code, why, node) in admitted.refused {
            self.findings.report(Diagnostic::new(code, why, Place::value(self.id, node)).about(self.object.key.clone()));
        }
        is_taken.then_some(admitted.entry)
    }

    fn entry(&mut self, kind: Kind) -> Option<Arc<Entry>> {
        let object = self.object;
        let root = documents::read_words(object);
        let written = if is_resource(object) { Cow::Owned(self.admit(&root, kind)?) } else { Cow::Borrowed(&*root) };
        let read = decode(&written, kind.shape(), self.id, Leniency::Entry);
        let mut unknown = read.unknown;
        // Fields that the agent writes when an entry is read may be written back (Consul `agent/structs/config_entry_oss.go`,
        // `validateUnusedKeys`).
        unknown.retain(|fault| is_resource(object) || !matches!(&*fault.text, "CreateIndex" | "ModifyIndex"));
        // A stored entry was already accepted.
        let stored = is_stored(object);
        if stored {
            core::mem::take(&mut unknown).iter().for_each(|fault| self.unread(fault));
        }
        if !read.unfit.is_empty() || !unknown.is_empty() {
            self.faults(read.unfit, unknown);
            return None;
        }
        let mut tree = read.tree;
        let secret = object.secrets.first().map(|(_, secret)| secret.clone());
        let key_text = secret.as_ref().map_or("", |secret| secret.expose().as_str());
        // An assumed certificate has no key.
        let is_valid = |tree: &_| if object.assumed || stored { Ok(()) } else { validate(kind, tree, key_text) };
        let nameless = |tree: &Tree| !stored && kind != Kind::Mesh && tree.get("Name").text().is_empty();
        let verdict = normalise(kind, &mut tree).and_then(|()| is_valid(&tree));
        let verdict = verdict.and_then(|()| refuse(nameless(&tree), || "Name is required".into()));
        if let Err(why) = verdict {
            self.report(pointed(&root, why.as_str()), why);
            return None;
        }
        Some(Arc::new(Entry { kind, name: tree.get("Name").str(), tree, key: secret, object: self.id }))
    }

    fn service(&mut self, datacenter: &str, used: Used<'_>) -> Vec<super::instance::Instance> {
        let registered = registration::service(&documents::read_words(self.object), self.object.document.hcl, self.id, datacenter, used);
        // An assumed gateway listens at every address.
        let is_assumed = self.object.assumed;
        self.registered(registered, |first| if is_assumed { Ok(()) } else { registration::has_address(first) })
    }

    fn catalog(&mut self, datacenter: &str) -> Vec<super::instance::Instance> {
        let mut registered = registration::catalog(&documents::read_words(self.object), self.id, datacenter);
        // A stored registration was already accepted.
        if self.object.stored {
            registered.faults.clear();
        }
        self.registered(registered, |_| Ok(()))
    }

    fn registered(
        &mut self,
        of: Registered,
        has_address: impl Fn(&super::instance::Instance) -> super::validate::Verdict,
    ) -> Vec<super::instance::Instance> {
        if !of.faults.is_empty() {
            of.faults.into_iter().for_each(|fault| self.report(fault.node, fault.text));
            return Vec::new();
        }
        if let Err(why) = of.verdict.and_then(|()| of.instances.first().map_or(Ok(()), has_address)) {
            self.report(pointed(&self.object.root, why.as_str()), why);
            return Vec::new();
        }
        of.instances
    }
}
