//! The protocol between page and worker: questions and answers as JSON.
//!
//! Lines count from 1, columns in UTF-16 units from 0, as in the editor.

mod compare;
mod editable;
mod migration;
mod option;
mod reach;
mod request;
mod share;
mod window;

pub use chancery_core::simulate::{Ending, Outcome, SavedRequest, Verdict, WrittenRequest};
pub use compare::{Answered, Change, Comparison, Difference, FieldChange, From, Other, RequestChange, Requests, Witness, Work};
pub use editable::{EditableSort, EditableValue};
pub use migration::{CauseGroup, Migration, MigrationDiff, MigrationNote, MigrationRow, NewController, SideAnswer};
pub use option::{OptionField, OptionPanel, OptionSort};
pub use reach::{Contribution, Reach, ReachCase};
pub use request::{Destination, Hop, Reason, Sent, Step, Tried, Wanting, Way};
pub use share::{Kept, Opened, Shared, Sharing};
pub use window::{Call, EnvoyAt};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    pub name: String,
    /// May have many megabytes. All copies of the file share it.
    pub text: Arc<str>,
}

/// A question from the page to the worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Checks that the worker is ready.
    Hello,
    /// Compiles work; answered by [`Compiled`].
    Compile(Work),
    /// Reads rows of a document; answered by [`Rows`].
    Rows { doc: Doc, from: u32, count: u32 },
    /// Changes how a document is written; answered by empty [`Rows`].
    Form { doc: Doc, form: Form },
    /// Opens or closes a row; answered by empty [`Rows`].
    Toggle { doc: Doc, node: u32 },
    /// Opens or closes all rows; answered by empty [`Rows`].
    Fold {
        doc: Doc,
        /// Whether to open all rows, or close them.
        open: bool,
    },
    /// Finds the next row that contains a text; answered by [`SearchHit`].
    Find {
        doc: Doc,
        /// Ignores case.
        text: String,
        after: Option<u32>,
        /// Whether to search backwards.
        back: bool,
    },
    /// Selects a place; answered by [`SelectionDetails`].
    Select(Target),
    /// Clears the selection; answered by an empty [`SelectionDetails`].
    Release,
    /// Lists the routes that match a filter; answered by [`RouteList`].
    Routes(RouteFilter),
    /// Lists routes and clusters by name; answered by a list of [`Part`].
    Parts,
    /// Draws the graph; answered by [`Drawing`].
    Graph(GraphFocus),
    /// Draws the graph as an SVG file; answered by a string.
    Picture(GraphFocus),
    /// Finds the first node of the graph with this name, drawn or not; answered by the node's optional id.
    Seek {
        /// Part of the name. Ignores case.
        text: String,
        focus: GraphFocus,
    },
    /// Lists the result for every resource; answered by a list of [`LedgerRow`].
    Ledger,
    /// Describes a place in a file; answered by `Option<Hover>`.
    Hover(Spot),
    /// Completes what the user types; answered by [`Completions`].
    Complete {
        spot: Spot,
        /// The file's current text, which may be newer than the last compile.
        text: String,
    },
    /// Writes a whole document; answered by a string.
    Text {
        doc: Doc,
        /// Whether to write YAML, or JSON.
        yaml: bool,
    },
    /// Simulates a request; answered by [`Way`].
    Try(WrittenRequest),
    /// Parses a `curl` command; answered by an optional [`WrittenRequest`], which is empty if the text is not a `curl` command.
    Curl(String),
    /// Suggests a request that matches the route at this pointer; answered by `Option<WrittenRequest>`.
    Suggest(String),
    /// Suggests requests that reach a service, each for another rule; answered by a list of [`WrittenRequest`].
    Suggestions,
    /// Lists the services that the shown proxy of a mesh reaches; answered by a list of [`Destination`].
    Destinations,
    /// Runs saved requests against their expectations; answered by a list of [`Verdict`].
    Judge(Vec<SavedRequest>),
    /// Writes saved requests as a file of `chancery test`; answered by a string.
    Tests(Vec<SavedRequest>),
    /// Explains the part of a place in a request, and why requests do not reach it; answered by an optional [`Reach`], which is empty if the place
    /// belongs to no resource.
    WhyNot { target: Target, request: WrittenRequest },
    /// Exports the current work as a link and as a file; answered by [`Shared`].
    Share(Sharing),
    /// Removes secrets from work, so that the browser can store it; answered by [`Kept`].
    Keep(Kept),
    /// Reads a link, its fragment or an exported file; answered by [`Opened`].
    Open(String),
    /// Compares the current work with another state; answered by [`Comparison`].
    Compare(Other),
    /// Converts the Ingresses of ingress-nginx for another controller, and compares the answers of both; answered by [`Migration`].
    Move(NewController),
    /// Lists the options of the shown dialect; answered by [`OptionPanel`].
    Options,
    /// Applies a form to the options; answered by the options as JSON.
    SetOptions(Vec<OptionField>),
    /// Reads the documentation of a finding code; answered by `Option<String>`, in Markdown.
    CodePage(String),
}

impl Question {
    /// Whether the worker can answer before the first compile.
    pub fn needs_no_work(&self) -> bool {
        use Question::{CodePage, Compile, Curl, Hello, Keep, Open, Tests};
        matches!(self, Hello | Compile(_) | Curl(_) | Keep(_) | Open(_) | Tests(_) | CodePage(_))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// Something that the user can select.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    Line {
        file: String,
        line: u32,
    },
    /// A place in a document, as a JSON pointer.
    Place {
        doc: Doc,
        pointer: String,
    },
    Row {
        doc: Doc,
        node: u32,
    },
}

/// A document that the page shows as a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doc {
    /// The configuration as the controller loads it.
    Config,
    /// The intermediate representation.
    Ir,
    /// The Envoy bootstrap, or the Application Gateway.
    Envoy,
}

impl Doc {
    pub const ALL: [Doc; 3] = [Doc::Config, Doc::Ir, Doc::Envoy];
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer<T> {
    Fine(T),
    /// The question was refused, for this reason.
    Refused(String),
}

/// The result of a compile. The page has its own types for findings, which read the core's JSON.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compiled<F = Vec<Finding>> {
    pub dialect: String,
    /// The name of the shown gateway's document: `Envoy` or `Gateway`.
    pub output: String,
    /// The controllers that the input configures.
    pub read_as: Vec<String>,
    /// If the input belongs to other programs: what Chancery does not read, and the next step.
    #[serde(default)]
    pub unsupported: Option<String>,
    /// The id of the shown gateway.
    pub gateway: String,
    /// The ids of all gateways of the shown dialect.
    pub gateways: Vec<String>,
    /// Why controllers do not start, one sentence each.
    pub stopped: Vec<String>,
    pub resources: usize,
    pub routes: usize,
    pub clusters: usize,
    /// The duration in milliseconds.
    pub took: f64,
    /// All findings, sorted by file and place.
    pub findings: F,
    /// The findings by their causes.
    #[serde(default)]
    pub groups: Vec<Group>,
    pub names: Vec<Named>,
    /// The files without secrets, for the browser to store. Missing if the files are large.
    pub kept: Option<Vec<SourceFile>>,
}

/// A part of Envoy's configuration, with the name that users know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// `route` or `cluster`.
    pub sort: String,
    /// The path of a route, or the name of a cluster.
    pub label: String,
    /// More details, for example the host.
    pub detail: String,
    /// A JSON pointer into the bootstrap.
    pub pointer: String,
}

/// A resource and the place of its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// Kind and name.
    pub label: String,
    pub file: String,
    pub line: u32,
}

/// A range of a file.
#[derive(Clone, Debug, Default, PartialEq, Hash, Eq, Serialize, Deserialize)]
pub struct Span {
    pub file: String,
    pub line: u32,
    pub end_line: u32,
    #[serde(rename = "column_utf16")]
    pub column: u32,
    #[serde(rename = "end_column_utf16")]
    pub end_column: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ResourceRef {
    pub kind: String,
    pub name: String,
    pub namespace: Option<String>,
}

impl std::fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", if self.kind.is_empty() { "object" } else { &self.kind }, self.name)
    }
}

/// A finding, as `chancery_core::explain::Finding` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub code: String,
    /// `error`, `warning` or `notice`.
    pub severity: String,
    pub message: String,
    #[serde(flatten)]
    pub span: Option<Span>,
    /// The path of the field.
    pub path: Option<String>,
    /// The resource whose status contains the finding.
    pub resource: Option<ResourceRef>,
    /// The object that contains the place.
    pub object: Option<ResourceRef>,
    /// Other places that explain the finding.
    pub related: Vec<Related>,
    pub help: Option<String>,
    /// An edit that certainly fixes the problem.
    pub fix: Option<Fix>,
    /// A simpler message, if the message itself quotes the controller.
    #[serde(default)]
    pub plain: Option<String>,
}

impl Finding {
    /// The message to show first: the simpler one if available.
    pub fn shown_message(&self) -> &str {
        self.plain.as_ref().unwrap_or(&self.message)
    }
}

/// Findings with one cause, by their indexes, as `chancery_core::explain::FindingGroup` writes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    pub first: usize,
    /// The same finding at other places.
    pub others: Vec<usize>,
    /// Findings of other objects that refer to the place of this error.
    pub consequences: Vec<usize>,
}

/// Another place that explains a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Related {
    pub message: String,
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// An edit of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// The effect of the edit.
    pub message: String,
    pub replacement: String,
    /// The replaced range.
    #[serde(flatten)]
    pub span: Span,
    /// Further replacements, all later in the same file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Edit>,
}

/// One more replacement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    pub replacement: String,
    /// The replaced range.
    #[serde(flatten)]
    pub span: Span,
}

/// How a document is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Rows that fold.
    #[default]
    Tree,
    /// YAML, line by line.
    Yaml,
    /// JSON, line by line.
    Json,
}

/// Some rows of a document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    pub form: Form,
    /// The number of rows in the current form, with the current folding.
    pub total: u32,
    /// The first row that belongs to the selection.
    pub lit: Option<u32>,
    /// The index of the first row in `rows`.
    pub from: u32,
    pub rows: Vec<Row>,
}

/// One line of a tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The number of the row's node. Folding does not change it.
    pub node: u32,
    pub depth: u32,
    /// The key, or the index in a list.
    pub key: String,
    /// Whether it is a list item.
    pub item: bool,
    /// The value on one line, or a summary of the contents.
    pub text: String,
    /// `object`, `array`, `string`, `number`, `bool` or `null`; `close` for a line with only a closing bracket.
    pub sort: String,
    /// Whether it is open. Missing if it has no contents.
    pub open: Option<bool>,
    /// The line of the input that produced it.
    pub from: Option<Span>,
    /// The rule that produced it.
    pub rule: Option<String>,
    /// The rule in words.
    pub why: Option<String>,
    /// Whether it belongs to the selection.
    pub lit: bool,
    /// Whether something inside it belongs to the selection.
    pub holds_lit: bool,
    /// In YAML and JSON, the text before and after the value: indentation, dashes and commas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<(String, String)>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The index of the row. The search opens closed rows to show it.
    pub row: Option<u32>,
    /// The number of the row's node.
    pub node: Option<u32>,
    /// How many rows contain the text.
    pub count: u32,
    /// How many rows the document has now.
    pub total: u32,
}

/// Everything that belongs to a selection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionDetails {
    /// A short name of the selection.
    pub title: String,
    /// Facts about the selection, one sentence each.
    pub facts: Vec<String>,
    /// The lines that produced it.
    pub spans: Vec<Span>,
    /// The resources of these lines.
    pub resources: Vec<ResourceRef>,
    /// Boxes of the graph, by id.
    pub nodes: Vec<String>,
    /// For each box, the box that contains it in the folded graph.
    pub groups: Vec<String>,
    /// JSON pointers into the bootstrap.
    pub envoy: Vec<String>,
    /// The first row of each document that belongs to it, with the current folding.
    pub rows: Vec<(Doc, u32)>,
    /// The weights, timeouts and switches of the selected resource.
    #[serde(default)]
    pub values: Vec<EditableValue>,
}

/// A gateway by dialect and id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Which {
    pub dialect: String,
    pub id: String,
}

/// A route with its context, as `chancery_core::explain::RouteRow` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteRow {
    /// The display name of its gateway, if there are several gateways.
    pub of: Option<String>,
    /// Its gateway, if it is not the shown gateway.
    pub gateway: Option<Which>,
    /// A JSON pointer into the bootstrap.
    pub pointer: String,
    pub listener: String,
    /// The address and port of the listener.
    pub address: String,
    /// The connections that the filter chain matches.
    pub chain: String,
    /// The domains of the virtual host.
    pub domains: Vec<String>,
    /// Its position in the virtual host, from 1.
    pub order: u32,
    /// How the path is matched.
    pub path: String,
    /// The other conditions.
    pub conditions: Vec<String>,
    /// `forward`, `redirect`, `respond` or `tcp`.
    pub action: String,
    /// The effect, in words.
    pub summary: String,
    /// The clusters that it forwards to.
    pub upstreams: Vec<String>,
    /// Other effects on the request.
    pub policies: Vec<String>,
    /// The resources that produced it.
    pub made_by: Vec<ResourceRef>,
    /// The position of an earlier route that matches all its requests.
    pub shadowed_by: Option<u32>,
}

/// A filter of routes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteFilter {
    /// A request, for example `shop.example.com/cart/1`, or words. An empty text matches all routes.
    pub text: String,
    /// Whether to search for the words even if the text looks like a request.
    pub as_words: bool,
    /// Whether to include routes that the controller adds itself.
    pub built_in: bool,
}

/// The routes that match a filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RouteList<Row = RouteRow> {
    /// The first matching routes, in the order in which each gateway tries them.
    pub rows: Vec<Row>,
    /// How many more routes match.
    pub more: usize,
    /// How many routes there are in total.
    pub all: usize,
    /// How many of all routes the controller adds itself.
    pub built_in: usize,
    /// The request that the filter was parsed as: an optional host, and a path.
    pub request: Option<String>,
    /// What happens to this request, if it names a host.
    #[serde(default)]
    pub verdict: Option<RouteVerdict>,
}

/// The verdict on the request of a filter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RouteVerdict {
    pub url: String,
    pub sentence: String,
    pub good: bool,
}

impl<Row> Default for RouteList<Row> {
    fn default() -> Self {
        Self { rows: Vec::new(), more: 0, all: 0, built_in: 0, request: None, verdict: None }
    }
}

/// The result for a resource, as `chancery_core::explain::LedgerRow` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The dialect of the controller, if there are several.
    #[serde(default)]
    pub dialect: Option<String>,
    pub resource: ResourceRef,
    /// `emitted`, `merged`, `shadowed`, `ignored` or `invalid`.
    pub state: String,
    /// The parts of the configuration that it produced.
    pub into: Vec<String>,
    /// The resource that replaced it.
    pub by: Option<ResourceRef>,
    /// Why it was ignored, as one word.
    pub why: Option<String>,
    /// Why it was ignored, in words.
    pub detail: Option<String>,
    #[serde(flatten)]
    pub span: Option<Span>,
}

/// Which part of the graph is drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphFocus {
    /// Only these nodes and their connected nodes, by id. Empty means all nodes.
    pub from: Vec<String>,
    /// The largest distance from these nodes.
    pub depth: Option<u32>,
    /// Kinds to leave out.
    pub without: Vec<String>,
    /// Only nodes with problems and their neighbours.
    pub only_problems: bool,
    /// Whether to draw each part of Envoy's configuration, or the overview of the resources.
    #[serde(default)]
    pub envoy_parts: bool,
    /// Whether to use one lane from top to bottom, for a narrow page.
    #[serde(default)]
    pub narrow: bool,
    /// The available width.
    #[serde(default)]
    pub room: Option<i32>,
    /// Whether to leave out everything that the controller adds itself.
    pub written_only: bool,
    /// Whether to join similar nodes. If missing, only large graphs join them.
    pub fold: Option<bool>,
    /// If there are more boxes than these, they are joined further. If missing, the level of detail decides.
    #[serde(default)]
    pub most: Option<u32>,
    pub open: Vec<String>,
    /// Boxes that are not joined: the way of a request.
    #[serde(default)]
    pub keep: Vec<String>,
}

/// The laid out graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    pub width: i32,
    pub height: i32,
    /// The top of the band with supporting resources.
    pub supporting: Option<i32>,
    /// Whether boxes have only one line.
    pub compact: bool,
    pub frames: Vec<Frame>,
    pub lines: Vec<Line>,
    /// How many nodes are inside boxes that represent several nodes.
    pub folded: usize,
    /// All kinds of the whole graph, each with its number of nodes.
    pub kinds: Vec<(String, usize)>,
}

#[derive(Clone, Debug, Default, PartialEq, Hash, Serialize, Deserialize)]
pub struct Frame {
    pub id: String,
    /// Its kind, as in the legend.
    pub kind: String,
    /// The small line.
    pub caption: String,
    /// The large line.
    pub title: String,
    /// Why the resource is missing.
    pub reason: String,
    /// The conditions of a rule.
    pub note: String,
    /// The full text of the box.
    pub tip: String,
    pub x: i32,
    pub y: i32,
    pub width: i32,
    pub height: i32,
    /// Whether the input lacks the resource.
    pub missing: bool,
    /// Whether it represents several similar nodes.
    pub folded: bool,
    /// Whether the resource may be missing, or has no effect.
    pub faint: bool,
    pub errors: u32,
    pub warnings: u32,
    /// The place of the resource, or of the resource that produced it.
    pub span: Option<Span>,
}

/// A line of the graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The index of the box where it starts.
    pub from: usize,
    /// The index of the box where it ends.
    pub to: usize,
    /// The meaning of the line.
    pub relation: String,
    /// The field or the purpose.
    pub label: String,
    /// The share of requests, with the name of its weight if there is room. Missing if all requests follow the line.
    pub share: Option<String>,
    /// The stroke width.
    pub width: f64,
    /// The position of the share: the end of the text, on its baseline.
    pub share_at: (i32, i32),
    /// For a rule about calls between services: `allow`, `deny`, or `rules` if conditions decide.
    #[serde(default)]
    pub effect: Option<String>,
    /// The position of the effect: the middle of the text, on its baseline. Missing if it would cover something.
    #[serde(default)]
    pub effect_at: Option<(i32, i32)>,
    /// Whether it is part of a cycle.
    pub cycle: bool,
    /// The path data of SVG's `d`.
    pub course: String,
    /// The place of the field that refers, if it is known.
    #[serde(default)]
    pub span: Option<Span>,
}
