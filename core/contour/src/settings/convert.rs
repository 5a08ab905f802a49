//! Converts the file in the ConfigMap and the flags to an equivalent ContourConfiguration, with comments.

use super::super::cluster::Cluster;
use super::super::options::Options;
use super::super::status::{object, text};
use super::defaults::{defaults, get};
use super::overlay::is_empty;
use super::{Flags, file_and_flags, sources};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::Failure;
use chancery_base::compilation::Ledger;
use chancery_base::diagnostic::{Findings, Place};
use chancery_base::executor::Sequential;
use chancery_base::resource::{Object, Objects};
use chancery_text::{Limits, LineIndex, Node, NodeId, Value, parse, to_yaml};

/// The name of a ContourConfiguration if no flag sets another.
const NAME: &str = "contour";

/// A ContourConfiguration, and the settings that it lacks.
#[derive(Clone, Debug)]
pub struct Converted {
    /// YAML.
    pub text: String,
    /// The settings that could not be converted.
    pub left: Vec<UnconvertedSetting>,
}

/// A setting that no ContourConfiguration has a place for.
#[derive(Clone, Debug)]
pub struct UnconvertedSetting {
    /// The field or flag.
    pub name: String,
    /// Advice for the user.
    pub why: &'static str,
    /// Where it is written; nowhere for flags.
    pub place: Place,
}

/// Fields of the file that only the process itself reads.
const ONLY_IN_FILE: &[(&str, &str)] = &[
    ("debug", "start Contour with --debug"),
    ("incluster", "start Contour with --incluster"),
    ("kubeconfig", "start Contour with --kubeconfig"),
    ("kubernetesClientQPS", "start Contour with --kubernetes-client-qps"),
    ("kubernetesClientBurst", "start Contour with --kubernetes-client-burst"),
    ("server", "it has no effect, leave it out"),
];

/// Flags that only the process itself reads.
const ONLY_FLAGS: &[&str] = &[
    "debug",
    "disable-feature",
    "disable-leader-election",
    "incluster",
    "kubeconfig",
    "kubernetes-client-burst",
    "kubernetes-client-qps",
    "kubernetes-debug",
    "leader-election-lease-duration",
    "leader-election-renew-deadline",
    "leader-election-resource-name",
    "leader-election-resource-namespace",
    "leader-election-retry-period",
    "log-format",
    "watch-namespaces",
];

/// Converts flags and file. Fails if Contour would not start with them.
pub fn convert(objects: &Objects, options: &Options) -> Result<Converted, Failure> {
    let flags = Flags::of_serve(&options.arguments).map_err(|error| Failure::new("flags", error))?;
    let (mut ledger, mut sink) = (Ledger::new(objects), Findings::default());
    let (file, mut memory) = (super::file_name(options), super::super::cluster::Memory::default());
    let cluster = Cluster::apply(objects, file.as_ref(), options.skip_validation, &Sequential, &mut memory, &mut ledger, &mut sink);
    let (file, source) = file_and_flags(&cluster, &options.namespace, &flags, &mut ledger, &mut sink)?;
    let mut spec = sources::spec(&flags, &file);
    let has_json_log = get(&spec, "envoy.logging.accessLogFormat").and_then(Node::as_str) == Some("json");
    leave_out(&mut spec, Some(&defaults()), has_json_log);
    let name = flags.get("contour-config-name").map_or(NAME, |name| name);
    let document = object(alloc::vec![
        ("apiVersion", text("projectcontour.io/v1alpha1")),
        ("kind", text("ContourConfiguration")),
        ("metadata", object(alloc::vec![("name", text(name)), ("namespace", text(&options.namespace))])),
        ("spec", spec),
    ]);
    let yaml = to_yaml(&document);
    let text = objects.get(source).map_or(yaml.clone(), |file| with_comments(&yaml, &document, file));
    let mut left: Vec<UnconvertedSetting> = Vec::new();
    for (field, why) in ONLY_IN_FILE {
        if let Some(node) = file.get(field) {
            left.push(UnconvertedSetting { name: (*field).to_string(), why, place: Place::key(source, node.id) });
        }
    }
    for flag in flags.order.iter().filter(|flag| ONLY_FLAGS.contains(flag)) {
        left.push(UnconvertedSetting { name: format!("--{flag}"), why: "keep this flag", place: Place::Whole });
    }
    Ok(Converted { text, left })
}

/// Omits defaults that were not set. Flags and file have their own defaults, which stay.
fn leave_out(node: &mut Node, default: Option<&Node>, has_json_log: bool) {
    let Value::Object(fields) = &mut node.value else { return };
    for (name, value) in fields.iter_mut() {
        leave_out(value, default.and_then(|default| default.get(name)), has_json_log);
    }
    fields.retain(|entry| {
        let default = default.and_then(|default| default.get(&entry.key));
        let unsaid = entry.value.id == NodeId::NONE;
        let same = default.is_some_and(|default| *default == entry.value) || (entry.key == "accessLogJSONFields" && !has_json_log);
        let hollow = entry.value.as_object().is_some_and(chancery_text::Object::is_empty) || (default.is_none() && is_empty(&entry.value));
        !(unsaid && (same || hollow))
    });
}

/// The comments of a file by the nodes next to them.
#[derive(Default)]
struct Comments {
    before: BTreeMap<NodeId, Vec<String>>,
    behind: BTreeMap<NodeId, String>,
    last: Vec<String>,
}

impl Comments {
    fn of(file: &Object) -> Self {
        let mut comments = Self::default();
        let Some(text) = &file.content.text else { return comments };
        let spans = &file.document.spans;
        let starts: Vec<(u32, NodeId)> = (0..spans.len() as u32).filter_map(|id| Some((spans.get(NodeId(id))?.whole().start, NodeId(id)))).collect();
        let root = file.root.id;
        for comment in &file.document.comments {
            let words = comment.range.slice(text).to_string();
            let after = starts.partition_point(|(start, _)| *start <= comment.range.start);
            if comment.own_line {
                match starts.iter().skip(after).find(|(_, id)| *id != root) {
                    Some((_, id)) => comments.before.entry(*id).or_default().push(words),
                    None => comments.last.push(words),
                }
            } else if let Some((_, id)) = after.checked_sub(1).and_then(|at| starts.get(at)) {
                comments.behind.insert(*id, words);
            }
        }
        comments
    }
}

/// Puts the comments of a file to the lines that its nodes have in `yaml`.
fn with_comments(yaml: &str, document: &Node, file: &Object) -> String {
    let mut comments = Comments::of(file);
    let written = parse(yaml, &Limits::default());
    let mut lines = BTreeMap::new();
    let index = LineIndex::new(yaml);
    let line_of = |id: NodeId| written.spans.get(id).map(|span| index.position(yaml, span.whole().start).line);
    if let Some(root) = &written.root {
        number(document, root, &line_of, &mut lines);
    }
    // A missing node passes its comments to the next existing one.
    let place = |id: NodeId| lines.get(&id).copied().or_else(|| lines.range(id..).next().map(|(_, line)| *line));
    let mut before: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for (id, words) in core::mem::take(&mut comments.before) {
        match place(id) {
            Some(line) => before.entry(line).or_default().extend(words),
            None => comments.last.extend(words),
        }
    }
    let mut behind: BTreeMap<u32, String> = BTreeMap::new();
    for (id, words) in comments.behind {
        match (lines.get(&id), place(id)) {
            (Some(line), _) => _ = behind.insert(*line, words),
            (None, Some(line)) => before.entry(line).or_default().push(words),
            (None, None) => comments.last.push(words),
        }
    }
    let mut out = String::new();
    for (number, line) in yaml.lines().enumerate() {
        let indent = line.get(..line.len() - line.trim_start_matches([' ', '-']).len()).unwrap_or_default().replace('-', " ");
        for comment in before.get(&(number as u32)).into_iter().flatten() {
            out.push_str(&format!("{indent}{comment}\n"));
        }
        out.push_str(line);
        if let Some(comment) = behind.get(&(number as u32)).filter(|_| !line.ends_with(['|', '>', '-', '+'])) {
            out.push_str(&format!("  {comment}"));
        }
        out.push('\n');
    }
    for comment in comments.last {
        out.push_str(&format!("{comment}\n"));
    }
    out
}

/// The lines of a file's nodes: `written` is `document` after it was read again.
fn number(document: &Node, written: &Node, line_of: &dyn Fn(NodeId) -> Option<u32>, lines: &mut BTreeMap<NodeId, u32>) {
    if document.id.is_some()
        && let Some(line) = line_of(written.id)
    {
        lines.entry(document.id).or_insert(line);
    }
    match (&document.value, &written.value) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (one, other) in ours.iter().zip(theirs) {
                number(&one.value, &other.value, line_of, lines);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            for (one, other) in ours.iter().zip(theirs) {
                number(one, other, line_of, lines);
            }
        }
        _ => {}
    }
}
