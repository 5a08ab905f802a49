//! Describes a configuration language as a value: everything that the shared modules need to know of it. Contains no dialect: each dialect defines
//! its descriptor, and hosts choose among them.

use super::{Answers, Gateway, Ledger, OptionSpec, Options, ReferencedObject, SettingChange, SideRef, Stages};
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::executor::Executor;
use crate::ir::Tree;
use crate::read::ReadOptions;
use crate::resource::{Object, ObjectId, Objects, ResourceKey};
use crate::schema::{KnownKind, ListedKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::{Node, NodeId};
use core::any::Any;
use hashbrown::HashSet;

/// How a configuration language is recognized, without its compiler: a host may recognize languages whose compilers it has not loaded.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// The name in flags and outputs.
    pub name: &'static str,
    /// The controller's usual name.
    pub controller: &'static str,
    /// Marks of an input in this language.
    pub claims: &'static [Claim],
}

pub struct Dialect {
    /// The name in flags and outputs.
    pub name: &'static str,
    /// The controller's usual name.
    pub controller: &'static str,
    /// Marks of an input in this language.
    pub claims: &'static [Claim],
    /// How its objects are read.
    pub read_options: fn(&Options) -> ReadOptions,
    /// The kinds that users write for it, each in its versions, the newest first.
    pub kinds: fn() -> Vec<KnownKind>,
    /// The kinds that it reads, its own first, for lists.
    pub listing: fn() -> Vec<ListedKind>,
    /// Kinds in the dialect's API groups that other programs read.
    pub foreign_kinds: &'static [&'static str],
    /// Whether it reads an object of this kind.
    pub reads: fn(&ResourceKey) -> bool,
    /// The objects that its objects refer to. Missing ones may be assumed to exist.
    pub references: fn(&Objects, &Options) -> Vec<ReferencedObject>,
    /// The options that change its result.
    pub options: &'static [OptionSpec],
    /// Defaults that users ask about.
    pub defaults: &'static [KnownDefault],
    /// Explanations for objects without effect.
    pub hints: Hints,
    /// The annotations that it reads, by kind if the kinds differ.
    pub annotations: &'static [(&'static str, KnownAnnotations)],
    /// The codes of the dialect's findings, with their pages.
    pub codes: &'static [&'static Code],
    /// The documents that its controller produces in addition to the proxies' configuration.
    pub outputs: &'static [Output],
    /// Its own checks of the whole compilation; they run after the checks that every dialect has.
    pub checks: &'static [fn(SideRef<'_>) -> Vec<Diagnostic>],
    /// Creates an empty memory for [`Task::memory`].
    pub memory: fn() -> Box<dyn Any + Send>,
    /// Compiles objects to gateways.
    pub compile: fn(Task<'_>) -> Draft,
    /// The user's name for an Envoy cluster, if the user wrote neither the cluster's name nor a Kubernetes Service.
    pub cluster_label: fn(cluster: &str) -> Option<String>,
    /// The controller's own settings that differ between two compiles, each with what the change restarts.
    pub setting_changes: fn(&Answers, &Answers) -> Vec<SettingChange>,
}

/// A mark of an input in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The start of an `apiVersion`, such as `projectcontour.io/`.
    Version(&'static str),
    /// The start of an annotation key.
    Annotation(&'static str),
    IngressClass(&'static str),
    /// A key, ignoring case, with the start of its value; an empty start matches any value.
    Field(&'static str, &'static str),
    /// The name of an HCL block without labels at the top level.
    Block(&'static str),
    /// A document with a string at the first of these keys, and with the other keys. All are top-level and case-sensitive.
    Keys(&'static str, &'static [&'static str]),
    /// The start of an `apiVersion`; it decides only if no dialect has another claim.
    SharedVersion(&'static str),
    /// The start of an annotation key; it decides only if no dialect has another claim.
    SharedAnnotation(&'static str),
}

impl Claim {
    /// Whether several dialects share this mark, so that it decides only if no other claim does.
    pub fn is_shared(&self) -> bool {
        matches!(self, Claim::SharedVersion(_) | Claim::SharedAnnotation(_))
    }
}

impl core::fmt::Display for Claim {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Claim::Version(group) | Claim::SharedVersion(group) => write!(f, "`apiVersion: {group}...`"),
            Claim::Annotation(prefix) | Claim::SharedAnnotation(prefix) => write!(f, "an annotation `{prefix}...`"),
            Claim::IngressClass(class) => write!(f, "the class `{class}`"),
            Claim::Field(key, "") => write!(f, "the key `{key}`"),
            Claim::Field(key, value) => write!(f, "`{key}: {value}...`"),
            Claim::Block(name) => write!(f, "the block `{name}`"),
            Claim::Keys(first, others) => write!(f, "the keys `{first}`, `{}`", others.join("`, `")),
        }
    }
}

/// A default that users ask about.
#[derive(Clone, Copy, Debug)]
pub struct KnownDefault {
    /// The end of a pointer, in Envoy's or the IR's names.
    pub pointer: &'static str,
    /// The value as JSON; empty for any value.
    pub value: &'static str,
    /// The explanation.
    pub doc: &'static str,
}

/// Explanations for objects without effect.
#[derive(Clone, Copy, Debug)]
pub struct Hints {
    /// Why a valid, unreferenced object of this kind has no effect.
    pub why_idle: fn(kind: &str) -> &'static str,
    /// Why an object that should have a route has none.
    pub why_unreached: fn(SideRef<'_>, &Object) -> Option<&'static str>,
    /// The fields of an object that have no effect until a finding about it is fixed.
    pub disabled_fields: fn(&Problem<'_>) -> Vec<NodeId>,
    /// A change that would put the first object's rules before the second's, if a field of the first decides the order.
    pub precedence_change: fn(&Object, &Object) -> Option<PrecedenceChange>,
    /// The controller's rules for the order of a host's routes; none if they are not known for the input.
    pub route_order: fn(&Objects) -> &'static [OrderRule],
}

impl Hints {
    /// Explains idle objects, and nothing else.
    #[must_use]
    pub const fn only(why_idle: fn(kind: &str) -> &'static str) -> Self {
        Self { why_idle, why_unreached: |_, _| None, disabled_fields: |_| Vec::new(), precedence_change: |_, _| None, route_order: |_| &[] }
    }
}

/// A rule for the order of a host's routes. The first rule that distinguishes two routes decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderRule {
    /// The larger number in this field of `spec` first; it is 0 if it is not set.
    LargerField(&'static str),
    /// Exact paths first, then regular expressions, then prefixes.
    PathKind,
    /// The longer path first. `/` as a prefix is the shortest.
    LongerPath,
    /// A route with a method first.
    Method,
    /// A route with conditions on headers first; the host and the scheme do not count.
    Headers,
    /// More conditions on headers first.
    MoreHeaders,
    /// More conditions on headers first, where a method does not count.
    MoreOtherHeaders,
    /// More exact conditions on headers first.
    MoreExactHeaders,
    /// More conditions on cookies first.
    MoreCookies,
    /// More exact conditions on cookies first.
    MoreExactCookies,
    /// More conditions on query parameters first.
    MoreQueryParameters,
    /// More exact conditions on query parameters first.
    MoreExactQueryParameters,
    /// The older object first.
    Age,
    /// By namespace and name of the object.
    Name,
    /// As written in the object.
    Place,
    /// As written in the object, if it is of one of these kinds. Routes of other objects have an order that is not known.
    PlaceIn(&'static [&'static str]),
}

/// A finding about an object.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    pub finding: &'a Diagnostic,
    pub object: &'a Object,
    /// The objects that made routes, virtual hosts, filter chains or listeners.
    pub served: &'a HashSet<ObjectId>,
}

/// A change that would put one object's rules before another's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrecedenceChange {
    /// Why the other object's rules come first, as a sentence.
    pub why: String,
    /// The field of `spec` that decides the order.
    pub field: &'static str,
    /// The value that would change the order.
    pub value: String,
}

/// The annotations of a kind that a controller reads.
#[derive(Clone, Copy, Debug)]
pub struct KnownAnnotations {
    /// The prefixes of the controller's own annotations.
    pub prefixes: &'static [&'static str],
    /// The full names.
    pub names: &'static [&'static str],
    /// Descriptions of some annotations.
    pub docs: &'static [AnnotationDoc],
}

/// The description of an annotation.
#[derive(Clone, Copy, Debug)]
pub struct AnnotationDoc {
    pub name: &'static str,
    /// The type of its value.
    pub takes: &'static str,
    /// The allowed values, if they are restricted.
    pub values: &'static [&'static str],
    pub default: &'static str,
    /// Its effect.
    pub doc: &'static str,
}

/// A document that a controller produces in addition to the proxies' configuration.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// The name on the command line.
    pub name: &'static str,
    /// One-line description.
    pub doc: &'static str,
    /// The document; `None` if this input has none.
    pub document: fn(SideRef<'_>) -> Option<Node>,
    /// The document with the origins of its values, if they are known.
    pub traced: Option<fn(SideRef<'_>) -> Option<Tree>>,
}

/// The part of a draft that the caller uses. A dialect may omit the rest or drop it early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    All,
    /// The documents of the proxies.
    Documents,
    /// Only statuses and created objects.
    Answers,
}

/// The input of a dialect's compile.
pub struct Task<'a> {
    /// The objects of the input. A dialect may drop objects after reading them if the caller only needs documents.
    pub objects: &'a mut Objects,
    /// How the controller runs.
    pub options: &'a Options,
    /// Runs independent jobs, perhaps in parallel.
    pub executor: &'a dyn Executor,
    /// Results of this dialect's earlier compiles; [`Dialect::memory`] created it.
    pub memory: &'a mut (dyn Any + Send),
    /// Whether a later compile can use the memory. If not, a dialect drops early what only the memory needs.
    pub remembers: bool,
    /// The part of the draft that the caller uses.
    pub purpose: Purpose,
    /// Records the fate of every object.
    pub ledger: &'a mut Ledger,
    /// Receives findings.
    pub sink: &'a mut Findings,
}

/// The result of a dialect's compile.
pub struct Draft {
    /// The values of its stages.
    pub stages: Arc<dyn Stages>,
    /// Its controller's other results.
    pub answers: Answers,
    pub gateways: Vec<Gateway>,
}

impl core::fmt::Debug for Dialect {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Dialect").field(&self.name).finish()
    }
}

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Dialect {}

impl Dialect {
    /// The dialect of this name in a list.
    pub fn named(name: &str, all: &[&'static Dialect]) -> Option<&'static Dialect> {
        all.iter().copied().find(|dialect| dialect.name == name)
    }

    pub fn reads(&self, key: &ResourceKey) -> bool {
        (self.reads)(key)
    }

    pub fn output(&self, name: &str) -> Option<&'static Output> {
        self.outputs.iter().find(|output| output.name == name)
    }
}
