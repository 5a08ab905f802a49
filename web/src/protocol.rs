//! What page and worker say to each other: questions and answers, as JSON.
//!
//! Lines count from 1, columns in UTF-16 units from 0, as the editor has them.
//!
//! What must not be here: what either does with it.

mod compare;
mod reach;
mod request;
mod share;
mod window;

pub use chancery_core::simulate::{Ending, Outcome, SavedRequest, Verdict, WrittenRequest};
pub use compare::{Answered, Change, Comparison, Difference, FieldChange, From, Other, RequestChange, Requests, Witness, Work};
pub use reach::{Reach, ReachCase};
pub use request::{Hop, Reason, Sent, Step, Tried, Wanting, Way};
pub use share::{Kept, Opened, Shared, Sharing};
pub use window::{Call, EnvoyAt};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A file of the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its name.
    pub name: String,
    /// Its text, which may have many megabytes. All copies of the file share it.
    pub text: Arc<str>,
}

/// What the page may ask.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Nothing; the answer says that the worker is there.
    Hello,
    /// Compile this; answered by [`Compiled`].
    Compile(Work),
    /// Rows of a document; answered by [`Rows`].
    Rows {
        /// Which document.
        doc: Doc,
        /// The first row.
        from: u32,
        /// How many.
        count: u32,
    },
    /// Write a document in another way; answered by [`Rows`] with none in it.
    Form {
        /// Which document.
        doc: Doc,
        /// How.
        form: Form,
    },
    /// Open or close a row; answered by [`Rows`] with none in it.
    Toggle {
        /// Which document.
        doc: Doc,
        /// The row's number.
        node: u32,
    },
    /// Open or close everything; answered like `Toggle`.
    Fold {
        /// Which document.
        doc: Doc,
        /// Whether all is to be open.
        open: bool,
    },
    /// The next row that holds a text; answered by [`SearchHit`].
    Find {
        /// Which document.
        doc: Doc,
        /// What to look for; case does not count.
        text: String,
        /// Start after this row.
        after: Option<u32>,
        /// Towards the start.
        back: bool,
    },
    /// Everything that belongs to a place; answered by [`Thread`].
    Select(Target),
    /// Nothing is selected any more.
    Release,
    /// The routes that a filter finds; answered by [`RouteList`].
    Routes(RouteFilter),
    /// Routes and clusters by their names; answered by a list of [`Part`].
    Parts,
    /// The graph; answered by [`Drawing`].
    Graph(GraphFocus),
    /// The graph as a picture of its own, for a file; answered by a string.
    Picture(GraphFocus),
    /// The first node of the graph that is called so, drawn or not; answered by its id, or nothing.
    Seek {
        /// A part of its name, in letters of any case.
        text: String,
        /// The part of the graph.
        focus: GraphFocus,
    },
    /// What became of every resource; answered by a list of [`LedgerRow`].
    Ledger,
    /// What there is to say of a place; answered by `Option<Hover>`.
    Hover(Spot),
    /// What may be written; answered by [`Completions`].
    Complete {
        /// Where.
        spot: Spot,
        /// The file as it is now.
        text: String,
    },
    /// A whole document as text; answered by a string.
    Text {
        /// Which document.
        doc: Doc,
        /// YAML rather than JSON.
        yaml: bool,
    },
    /// What becomes of a request; answered by [`Way`].
    Try(WrittenRequest),
    /// The request of a `curl` command; answered by [`WrittenRequest`], or nothing where the text is no such command.
    Curl(String),
    /// A request that the route at this place takes, or else one that something takes; answered by `Option<WrittenRequest>`.
    Suggest(Option<String>),
    /// Whether requests end as expected; answered by a list of [`Verdict`].
    Judge(Vec<SavedRequest>),
    /// Requests that were kept, as a file of `chancery test`; answered by a string.
    Tests(Vec<SavedRequest>),
    /// Why requests do not reach what is at a place; answered by [`Reach`], or nothing where no resource is there.
    WhyNot(Target),
    /// The present work as a link and as a file; answered by [`Shared`].
    Share(Sharing),
    /// Work without what may be secret in it, for the browser to keep; answered by [`Kept`].
    Keep(Kept),
    /// What a link, its fragment or a file holds; answered by [`Opened`].
    Open(String),
    /// How the present state differs from another; answered by [`Comparison`].
    Compare(Other),
}

impl Question {
    /// Whether it can be answered before anything was compiled.
    pub fn needs_no_work(&self) -> bool {
        matches!(self, Question::Hello | Question::Compile(_) | Question::Curl(_) | Question::Keep(_) | Question::Open(_) | Question::Tests(_))
    }
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// The file's name.
    pub file: String,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// What can be selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A line of a file.
    Line {
        /// The file's name.
        file: String,
        /// Line.
        line: u32,
    },
    /// A place in a document, as a JSON pointer.
    Place {
        /// Which document.
        doc: Doc,
        /// Where.
        pointer: String,
    },
    /// A row of a document.
    Row {
        /// Which document.
        doc: Doc,
        /// The row's number.
        node: u32,
    },
}

/// A document that is shown as a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doc {
    /// The configuration as the controller loads it.
    Config,
    /// The intermediate representation.
    Ir,
    /// One Envoy bootstrap.
    Envoy,
}

impl Doc {
    /// All of them.
    pub const ALL: [Doc; 3] = [Doc::Config, Doc::Ir, Doc::Envoy];
}

/// An answer to a question, or why there is none.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T> {
    /// The answer.
    Fine(T),
    /// Why there is none.
    Refused(String),
}

/// What a compile found. The page has types of its own for findings, which read what the core writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compiled<F = Vec<Finding>> {
    /// The dialect.
    pub dialect: String,
    /// The dialects that the input needs, where this worker lacks one of them; nothing else is answered then.
    pub needs: Vec<String>,
    /// What the document of the gateway that is shown is called: `Envoy`, or `Gateway`.
    pub output: String,
    /// The controllers whose configuration the input holds.
    pub read_as: Vec<String>,
    /// The gateway that is shown, by its id.
    pub gateway: String,
    /// The gateways of the dialect that is shown.
    pub gateways: Vec<String>,
    /// Why controllers do not start, one sentence each.
    pub stopped: Vec<String>,
    /// How many resources.
    pub resources: usize,
    /// How many routes.
    pub routes: usize,
    /// How many clusters.
    pub clusters: usize,
    /// Milliseconds that it took.
    pub took: f64,
    /// Everything found, by file and place.
    pub findings: F,
    /// Resources by name and place.
    pub names: Vec<Named>,
    /// The files as a browser may keep them, where that is little.
    pub kept: Option<Vec<SourceFile>>,
}

/// A part of Envoy's configuration, by what people call it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// `route` or `cluster`.
    pub sort: String,
    /// Its path, or its name.
    pub label: String,
    /// What more there is to say, as the host.
    pub detail: String,
    /// Where it stands in the bootstrap.
    pub pointer: String,
}

/// A resource and where its name stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// Kind and name.
    pub label: String,
    /// File.
    pub file: String,
    /// Line.
    pub line: u32,
}

/// A range of a file.
#[derive(Clone, Debug, Default, PartialEq, Hash, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The file's name.
    pub file: String,
    /// First line.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
    /// First column.
    #[serde(rename = "column_utf16")]
    pub column: u32,
    /// Column of the end.
    #[serde(rename = "end_column_utf16")]
    pub end_column: u32,
}

/// A resource by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceRef {
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Namespace, where it has one.
    pub namespace: Option<String>,
}

impl std::fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.kind.is_empty() { "object" } else { &self.kind }, self.name)
    }
}

/// A finding, as `chancery_core::explain::Finding` tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its code.
    pub code: String,
    /// `error`, `warning` or `notice`.
    pub severity: String,
    /// One sentence.
    pub message: String,
    /// Where it stands.
    #[serde(flatten)]
    pub span: Option<Span>,
    /// The field.
    pub path: Option<String>,
    /// The resource on which the controller reports it.
    pub resource: Option<ResourceRef>,
    /// The object where it stands.
    pub object: Option<ResourceRef>,
    /// Other places that explain it.
    pub related: Vec<Related>,
    /// What would help.
    pub help: Option<String>,
    /// A change that certainly mends it.
    pub fix: Option<Fix>,
    /// The same in plain words, where the sentence is the controller's own.
    #[serde(default)]
    pub plain: Option<String>,
}

impl Finding {
    /// What is shown first: in plain words.
    pub fn said(&self) -> &str {
        self.plain.as_ref().unwrap_or(&self.message)
    }
}

/// Another place that explains a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Related {
    /// What is there.
    pub message: String,
    /// Where.
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// What it does.
    pub message: String,
    /// What takes the place of the text there.
    pub replacement: String,
    /// What is replaced.
    #[serde(flatten)]
    pub span: Span,
    /// Further replacements behind it in the same file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Edit>,
}

/// One more replacement of text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// What takes the place of the text there.
    pub replacement: String,
    /// What is replaced.
    #[serde(flatten)]
    pub span: Span,
}

/// How a document is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As rows that fold.
    #[default]
    Tree,
    /// As YAML, a line each.
    Yaml,
    /// As JSON, a line each.
    Json,
}

/// Some rows of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// How it is written.
    pub form: Form,
    /// How many rows the document has as it is written and folded now.
    pub total: u32,
    /// The first row that belongs to the selection.
    pub lit: Option<u32>,
    /// The first of `rows`.
    pub from: u32,
    /// The rows.
    pub rows: Vec<Row>,
}

/// One line of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number in the document, whatever is folded.
    pub node: u32,
    /// How deep it stands.
    pub depth: u32,
    /// The key, or the number in a list.
    pub key: String,
    /// Whether it is an element of a list.
    pub item: bool,
    /// The value in one line, or what it holds.
    pub text: String,
    /// `object`, `array`, `string`, `number`, `bool` or `null`; `close` where only what was opened is closed.
    pub sort: String,
    /// Whether it is open; nothing for what holds nothing.
    pub open: Option<bool>,
    /// Where it comes from.
    pub from: Option<Span>,
    /// By which rule.
    pub rule: Option<String>,
    /// The same in words.
    pub why: Option<String>,
    /// Whether it belongs to the selection.
    pub lit: bool,
    /// Whether something in it does.
    pub holds_lit: bool,
    /// Of text, what stands before and behind: blanks and dashes, and a comma.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<(String, String)>,
}

/// Where a search led.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The row as folded now, which may have been opened for it.
    pub row: Option<u32>,
    /// Its number in the document.
    pub node: Option<u32>,
    /// How many rows hold the text.
    pub count: u32,
    /// How many rows the document has now.
    pub total: u32,
}

/// Everything that belongs to a selection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// What is selected, in a few words.
    pub title: String,
    /// What there is to say, a sentence each.
    pub told: Vec<String>,
    /// The lines that made it.
    pub spans: Vec<Span>,
    /// The resources that they belong to.
    pub resources: Vec<ResourceRef>,
    /// Boxes of the graph, by id.
    pub nodes: Vec<String>,
    /// The box of each where the graph is folded.
    pub groups: Vec<String>,
    /// Places in the bootstrap.
    pub envoy: Vec<String>,
    /// The first row of each document that belongs to it, as folded now.
    pub rows: Vec<(Doc, u32)>,
}

/// A gateway by its dialect and its id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Which {
    /// The dialect.
    pub dialect: String,
    /// The id.
    pub id: String,
}

/// A route in its place, as `chancery_core::explain::RouteRow` tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteRow {
    /// What its gateway is called, where there are several.
    pub of: Option<String>,
    /// Its gateway, unless it is the one that is shown.
    pub gateway: Option<Which>,
    /// JSON pointer of the route in the bootstrap.
    pub pointer: String,
    /// Name of the listener.
    pub listener: String,
    /// Where it listens.
    pub address: String,
    /// Which connections.
    pub chain: String,
    /// Domains of the virtual host.
    pub domains: Vec<String>,
    /// Its place in the virtual host, from 1.
    pub order: u32,
    /// How the path is matched.
    pub path: String,
    /// What else must match.
    pub conditions: Vec<String>,
    /// `forward`, `redirect`, `respond` or `tcp`.
    pub action: String,
    /// What happens, in words.
    pub told: String,
    /// Clusters that it forwards to.
    pub upstreams: Vec<String>,
    /// What else happens on the way.
    pub policies: Vec<String>,
    /// The resources that made it.
    pub made_by: Vec<ResourceRef>,
    /// The order of a route before it that takes all its requests.
    pub shadowed_by: Option<u32>,
}

/// Which routes are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteFilter {
    /// A request, as `shop.example.com/cart/1`, or words; where it is empty, all routes fit.
    pub text: String,
    /// Whether what looks like a request is words as well.
    pub as_words: bool,
    /// Whether routes that the controller adds by itself are wanted.
    pub built_in: bool,
}

/// The routes that a filter finds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteList<Row = RouteRow> {
    /// The first of them, in the order in which each gateway tries them.
    pub rows: Vec<Row>,
    /// How many others it finds.
    pub more: usize,
    /// How many routes there are, whatever the filter is.
    pub all: usize,
    /// How many of these the controller adds by itself.
    pub built_in: usize,
    /// The request that the text was read as: its host, if it has one, and its path.
    pub request: Option<String>,
}

impl<Row> Default for RouteList<Row> {
    fn default() -> Self {
        Self { rows: Vec::new(), more: 0, all: 0, built_in: 0, request: None }
    }
}

/// What became of a resource, as `chancery_core::explain::LedgerRow` tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// Whose controller it is about, where several stand side by side.
    #[serde(default)]
    pub dialect: Option<String>,
    /// Its name.
    pub resource: ResourceRef,
    /// `emitted`, `merged`, `shadowed`, `ignored` or `invalid`.
    pub state: String,
    /// What was made of it.
    pub into: Vec<String>,
    /// Who took its place.
    pub by: Option<ResourceRef>,
    /// Why it was ignored, as one word.
    pub why: Option<String>,
    /// The same in words.
    pub detail: Option<String>,
    /// Where it stands.
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// Which part of the graph is drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphFocus {
    /// Only what these nodes lead to and what leads to them, by id.
    pub from: Vec<String>,
    /// At most this many steps away.
    pub depth: Option<u32>,
    /// These kinds are left out.
    pub without: Vec<String>,
    /// Only what is wrong, and its neighbours.
    pub only_errors: bool,
    /// Each part of Envoy's configuration rather than the story of what was written.
    #[serde(default)]
    pub machine: bool,
    /// One lane from top to bottom, for a narrow page.
    #[serde(default)]
    pub narrow: bool,
    /// The width that it should fit into.
    #[serde(default)]
    pub room: Option<i32>,
    /// Without what the controller adds by itself.
    pub written_only: bool,
    /// Whether what is alike is joined; where nothing is said, where there is much.
    pub fold: Option<bool>,
    /// Groups that stay open, by the ids of their boxes.
    pub open: Vec<String>,
}

/// The graph as it is drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// Width of the whole.
    pub width: i32,
    /// Height of the whole.
    pub height: i32,
    /// Where the band of what supports begins.
    pub supporting: Option<i32>,
    /// Whether boxes have one line only.
    pub compact: bool,
    /// Boxes.
    pub frames: Vec<Frame>,
    /// Lines.
    pub lines: Vec<Line>,
    /// How many nodes are in boxes that stand for many.
    pub folded: usize,
    /// All kinds that the whole graph has, each with how many nodes.
    pub kinds: Vec<(String, usize)>,
}

/// A box of the graph.
#[derive(Clone, Debug, Default, PartialEq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Its id.
    pub id: String,
    /// Its kind, as the legend has it.
    pub kind: String,
    /// The small line.
    pub caption: String,
    /// The large line.
    pub title: String,
    /// Why it is not there.
    pub reason: String,
    /// What else there is to say: the conditions of a rule.
    pub note: String,
    /// All that is written on it, however long.
    pub tip: String,
    /// Left end.
    pub x: i32,
    /// Top.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
    /// Whether it is not there.
    pub missing: bool,
    /// Whether it stands for many that are alike.
    pub folded: bool,
    /// Whether that is fine, or it has no effect.
    pub faint: bool,
    /// Errors found in it.
    pub errors: u32,
    /// Warnings found in it.
    pub warnings: u32,
    /// Where it stands, or what made it does.
    pub span: Option<Span>,
}

/// A line of the graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The box where it starts, by its index.
    pub from: usize,
    /// The box where it ends.
    pub to: usize,
    /// What it says.
    pub relation: String,
    /// Its field, or what it is for.
    pub label: String,
    /// The share of the requests that go this way, in percent; nothing for all of them.
    pub share: Option<u32>,
    /// How wide it is.
    pub width: f64,
    /// Where its share is written: the end of the text, on its base line.
    pub share_at: (i32, i32),
    /// Whether it is part of a circle.
    pub cycle: bool,
    /// Its course, in the words of SVG's `d`.
    pub course: String,
}
