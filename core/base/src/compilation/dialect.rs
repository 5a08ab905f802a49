//! A configuration language as a value: everything that shared rooms need to know of it.
//!
//! What must not be here: any dialect; each has its descriptor in its own folder, and hosts say which of them they want.

use super::{Answers, Gateway, Ledger, OptionSpec, Options, ReferencedObject, SettingChange, SideRef, Stages};
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::executor::Executor;
use crate::ir::Tree;
use crate::read::ReadOptions;
use crate::resource::{Object, Objects, ResourceKey};
use crate::schema::{KnownKind, ListedKind};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Node;
use core::any::Any;

/// By what a configuration language is recognised, apart from all that compiles it: a host may know languages whose compilers it has not loaded.
#[derive(Clone, Copy, Debug)]
pub struct Language {
    /// The word by which flags and outputs name it.
    pub name: &'static str,
    /// What people call its controller.
    pub controller: &'static str,
    /// By what an input is known to be written in it.
    pub claims: &'static [Claim],
}

/// A configuration language and its controller.
pub struct Dialect {
    /// The word by which flags and outputs name it.
    pub name: &'static str,
    /// What people call its controller.
    pub controller: &'static str,
    /// By what an input is known to be written in it.
    pub claims: &'static [Claim],
    /// How its objects are read.
    pub read_options: fn(&Options) -> ReadOptions,
    /// The kinds that people write for it, each in the versions that it has, the newest first.
    pub kinds: fn() -> Vec<KnownKind>,
    /// The kinds that it reads, its own first, for lists.
    pub listing: fn() -> Vec<ListedKind>,
    /// Kinds of its own API groups that other programs read.
    pub of_others: &'static [&'static str],
    /// Whether it reads an object of this kind.
    pub reads: fn(&ResourceKey) -> bool,
    /// What its objects ask for that other objects must bring; what the input does not hold may be assumed to exist.
    pub wanted: fn(&Objects, &Options) -> Vec<ReferencedObject>,
    /// The options that change its answer.
    pub options: &'static [OptionSpec],
    /// Defaults that people ask about.
    pub defaults: &'static [KnownDefault],
    /// What it means that an object has no effect.
    pub hints: Hints,
    /// The annotations that it reads, of each kind where those of its own can be told from others.
    pub annotations: &'static [(&'static str, KnownAnnotations)],
    /// The codes of findings that only it has; their pages come with it.
    pub codes: &'static [&'static Code],
    /// The documents that its controller answers besides the configuration of proxies.
    pub outputs: &'static [Output],
    /// Checks over the whole that only its kinds need; they run beside those that every dialect has.
    pub checks: &'static [fn(SideRef<'_>) -> Vec<Diagnostic>],
    /// An empty memory for [`Task::memory`].
    pub memory: fn() -> Box<dyn Any + Send>,
    /// From objects to gateways.
    pub compile: fn(Task<'_>) -> Draft,
    /// What people call a cluster of Envoy's, by its name, where they wrote neither that name nor a Kubernetes Service.
    pub called: fn(cluster: &str) -> Option<String>,
    /// The settings of the controller itself that differ between two compiles, each with what a change of it takes.
    pub setting_changes: fn(&Answers, &Answers) -> Vec<SettingChange>,
}

/// A text by which an input is known to be written in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// An `apiVersion` that begins so, such as `projectcontour.io/`.
    Version(&'static str),
    /// The key of an annotation that begins so.
    Annotation(&'static str),
    /// An Ingress of this class.
    IngressClass(&'static str),
    /// A key, in any case, with a value that begins so; any value where it is empty.
    Field(&'static str, &'static str),
    /// A block of HCL with this name and without labels, that is in no other block.
    Block(&'static str),
    /// A document with a text at the first of these keys, and with the others; all in no other object, and in this case.
    Keys(&'static str, &'static [&'static str]),
    /// An `apiVersion` that begins so, where no dialect claims the input by itself.
    SharedVersion(&'static str),
    /// The key of an annotation that begins so, where no dialect claims the input by itself.
    SharedAnnotation(&'static str),
}

impl Claim {
    /// Whether several dialects write this, so that it decides only if no other claim does.
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

/// A default that people ask about.
#[derive(Clone, Copy, Debug)]
pub struct KnownDefault {
    /// The end of a pointer, in Envoy's or the IR's names.
    pub pointer: &'static str,
    /// The value as JSON; empty for any.
    pub value: &'static str,
    /// What is to be said about it.
    pub doc: &'static str,
}

/// What it means that an object of a kind has no effect.
#[derive(Clone, Copy, Debug)]
pub struct Hints {
    /// Why nothing was made of an object that is in order and that nothing refers to.
    pub why_idle: fn(kind: &str) -> &'static str,
    /// Why no route was made of an object of which there should be one.
    pub why_unreached: fn(SideRef<'_>, &Object) -> Option<&'static str>,
    /// What would put the rules of the first object before those of the second, where a field of it decides that.
    pub ahead: fn(&Object, &Object) -> Option<Ahead>,
}

/// What would put the rules of one object before those of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Why the other's come first, as a sentence.
    pub why: String,
    /// The field of `spec` that decides it.
    pub field: &'static str,
    /// The value that would change it.
    pub value: String,
}

/// The annotations of a kind that a controller reads.
#[derive(Clone, Copy, Debug)]
pub struct KnownAnnotations {
    /// What the controller's own begin with.
    pub prefixes: &'static [&'static str],
    /// Those that it reads.
    pub names: &'static [&'static str],
    /// What there is to say of each of those that are described.
    pub docs: &'static [AnnotationDoc],
}

/// What there is to say of an annotation.
#[derive(Clone, Copy, Debug)]
pub struct AnnotationDoc {
    /// Its name.
    pub name: &'static str,
    /// What sort of value it takes.
    pub takes: &'static str,
    /// What may stand there, where only some values may.
    pub values: &'static [&'static str],
    /// What counts without it.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// A document that a controller answers besides the configuration of proxies.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// The word by which the command line names it.
    pub name: &'static str,
    /// One line for people.
    pub doc: &'static str,
    /// The document; `None` where this input has none.
    pub document: fn(SideRef<'_>) -> Option<Node>,
    /// The same with where each value comes from, where that is known.
    pub traced: Option<fn(SideRef<'_>) -> Option<Tree>>,
}

/// What is looked at of a draft. A dialect may leave out the rest, or drop it early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Everything.
    All,
    /// The documents of the proxies.
    Documents,
    /// What the controller answers besides: statuses, and objects that it creates.
    Answers,
}

/// What a dialect compiles.
pub struct Task<'a> {
    /// The objects of the input. A dialect may drop those that it has read where only documents are looked at.
    pub objects: &'a mut Objects,
    /// How the controller runs.
    pub options: &'a Options,
    /// What runs work on many things, perhaps at the same time.
    pub executor: &'a dyn Executor,
    /// What earlier compiles of this dialect found out; what [`Dialect::memory`] made at first.
    pub memory: &'a mut (dyn Any + Send),
    /// Whether a later compile can use the memory. Where none will come, a dialect drops early what only the memory needs.
    pub remembers: bool,
    /// What is looked at of the draft.
    pub purpose: Purpose,
    /// What becomes of every object, to be filled in.
    pub ledger: &'a mut Ledger,
    /// Where findings go.
    pub sink: &'a mut Findings,
}

/// What a dialect made of its task.
pub struct Draft {
    /// The values of its stages.
    pub stages: Arc<dyn Stages>,
    /// What its controller answers besides.
    pub answers: Answers,
    /// The proxies that its controller configures.
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

    /// Whether it reads an object of this kind.
    pub fn reads(&self, key: &ResourceKey) -> bool {
        (self.reads)(key)
    }

    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&'static Output> {
        self.outputs.iter().find(|output| output.name == name)
    }
}
