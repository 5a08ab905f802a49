//! Traces a place in a document to its makers, and a line to everything that it made.

use super::{Finding, LedgerRow, OriginView, Positions, ResourceRef, Span, Viewed, describe, findings, get, ledger, rule_text};
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chancery_base::compilation::{Compilation, NamedGateway};
use chancery_base::output_map::{MappedPlace, and_ancestors};
use chancery_base::resource::{Object, ObjectId, Origin, SourceId};
use chancery_text::{Node, NodeId, Str, TextRange, Value, to_json};

/// The makers of a place in a document.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    pub pointer: String,
    /// Its readable name, from the outside in.
    pub place: Vec<String>,
    /// Its value; `None` for an unset field.
    pub value: Option<Node>,
    /// The nearest place that has origins: the place itself, or an enclosing one.
    pub from: Option<String>,
    pub origins: Vec<OriginView>,
    /// The controller's default, if the place has the value of a known one and no line sets it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// Further enclosing places with their origins, nearest first.
    pub within: Vec<MadeView>,
    /// Places inside it, with their origins.
    pub inside: Vec<MadeView>,
}

/// A place in a document and its makers.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MadeView {
    pub pointer: String,
    /// Its readable name.
    pub place: Vec<String>,
    /// Its gateway, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// Left out if it is large.
    pub value: Option<Node>,
    pub origins: Vec<OriginView>,
}

/// What a line of the input made.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LineReport {
    pub file: Str,
    /// Counted from 1.
    pub line: u32,
    /// Its text, with key material masked.
    pub text: String,
    /// The resource that it belongs to.
    pub resource: Option<ResourceRef>,
    /// The fields on the line.
    pub fields: Vec<String>,
    /// Whether the report covers the whole resource, because the line alone made nothing.
    pub whole: bool,
    pub made: Vec<MadeView>,
    /// What happened to the resource.
    pub ledger: Option<LedgerRow>,
    /// What happened to it in the controllers of other dialects that read it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ledger_of_others: Vec<LedgerRow>,
    /// The findings on the line, about a field around it, or that name the line as a further place; the findings of the resource if the line made
    /// nothing and has none.
    pub findings: Vec<Finding>,
}

/// Explains a place, given as a JSON pointer ([`super::resolve`] finds it from tolerant forms).
///
/// ```
/// use chancery_base::compilation::Options;
/// use chancery_compile::Compiler;
/// use chancery_base::resource::Inputs;
/// use chancery_explain::{View, Viewed, explain_pointer, resolve};
///
/// let inputs = Inputs::one("quote.yaml", "\
/// apiVersion: getambassador.io/v3alpha1
/// kind: Listener
/// metadata: {name: web}
/// spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
/// ---
/// apiVersion: getambassador.io/v3alpha1
/// kind: Mapping
/// metadata: {name: quote}
/// spec: {hostname: \"*\", prefix: /quote/, service: quote, timeout_ms: 9000}
/// ");
/// let mut compiler = Compiler::new(&[&chancery_ambassador::DIALECT]);
/// let compilation = compiler.compile(&inputs, &Options::default());
/// let gateway = compilation.gateways().next().expect("Emissary runs one gateway");
///
/// let viewed = Viewed::new(gateway.ir, View::Envoy, compiler.emitted.of(gateway));
/// let timeouts = resolve(&viewed.root, "timeout");
/// let positions = compilation.positions();
/// let lines = timeouts.iter().flat_map(|pointer| explain_pointer(gateway.named(), &positions, &viewed, pointer).origins);
/// // `timeout_ms` is on the ninth line.
/// assert!(lines.filter_map(|origin| origin.span).any(|span| span.line == 9));
/// ```
pub fn explain_pointer(gateway: NamedGateway<'_>, positions: &Positions<'_>, viewed: &Viewed, pointer: &str) -> Explanation {
    let view = |pointer: String, origins: &[Origin]| made(gateway, positions, viewed, pointer, origins);
    let mut chain = viewed.map.chain(pointer);
    let nearest = chain.next();
    let within = chain.map(|made| view(made.pointer, made.origins)).collect();
    let value = get(&viewed.root, pointer);
    let holds = value.is_some_and(|value| value.as_object().is_some() || value.as_array().is_some());
    let inside = if holds { viewed.map.descendants(pointer) } else { Vec::new() };
    let inside = inside.into_iter().filter(|made| made.pointer != pointer && get(&viewed.root, &made.pointer).is_some());
    let inside = inside.map(|made| view(made.pointer, made.origins)).collect();
    let views = |of: &MappedPlace<'_>| OriginView::at(&of.pointer, get(&viewed.root, &of.pointer), of.origins, gateway.of, positions);
    let mut origins = nearest.as_ref().map(views).unwrap_or_default();
    // A reference to a cluster has all origins of the cluster's name.
    let name = value.and_then(|value| named_cluster(&viewed.root, pointer, value)).and_then(|name| viewed.map.lookup(&name));
    for origin in name.iter().flat_map(views) {
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
    let is_inherited = nearest.as_ref().is_none_or(|nearest| nearest.pointer != pointer);
    let small = value.filter(|value| is_inherited && value.as_array().is_none() && value.as_object().is_none());
    let default = small.and_then(|value| rule_text::known_default(pointer, &to_json(value, false), gateway.of.dialect()));
    Explanation {
        default,
        pointer: pointer.to_string(),
        place: describe(&viewed.root, pointer),
        value: value.cloned(),
        origins,
        from: nearest.map(|nearest| nearest.pointer),
        within,
        inside,
    }
}

/// Returns the name of the cluster that a place refers to: the target of a route, a mirror or a filter, or the key of a traffic share.
fn named_cluster(root: &Node, pointer: &str, value: &Node) -> Option<String> {
    let step = pointer.rsplit('/').next().unwrap_or_default();
    let is_weighted = || step == "name" && pointer.contains("/weighted_clusters/clusters/");
    if !matches!(step, "cluster" | "cluster_name" | "runtime_key") && !is_weighted() {
        return None;
    }
    let name = value.as_str().map(|name| name.strip_prefix("routing.traffic_shift.").unwrap_or(name))?;
    let lists = ["/static_resources/clusters", "/clusters"];
    let (list, clusters) = lists.into_iter().find_map(|list| Some((list, get(root, list)?.as_array()?)))?;
    let at = clusters.iter().position(|cluster| cluster.get("name").and_then(Node::as_str) == Some(name))?;
    Some(alloc::format!("{list}/{at}/name")).filter(|place| place != pointer)
}

fn made(gateway: NamedGateway<'_>, positions: &Positions<'_>, viewed: &Viewed, pointer: String, origins: &[Origin]) -> MadeView {
    let value = get(&viewed.root, &pointer);
    MadeView {
        place: describe(&viewed.root, &pointer),
        gateway: gateway.label(),
        value: value.filter(|value| is_small(value)).cloned(),
        origins: OriginView::at(&pointer, value, origins, gateway.of, positions),
        pointer,
    }
}

/// Whether a value is small enough to be shown in passing.
fn is_small(value: &Node) -> bool {
    fn count(node: &Node, left: &mut u32) -> bool {
        *left = left.saturating_sub(1);
        *left > 0
            && match &node.value {
                Value::Array(items) => items.iter().all(|item| count(item, left)),
                Value::Object(object) => object.iter().all(|entry| count(&entry.value, left)),
                _ => true,
            }
    }
    count(value, &mut 256)
}

/// Explains what a line made in the documents of gateways; `None` if the line does not exist. Lines and columns (in characters) count from 1.
pub fn explain_line(
    compilation: &Compilation,
    positions: &Positions<'_>,
    documents: &[(NamedGateway<'_>, Viewed)],
    source: SourceId,
    line: u32,
    column: Option<u32>,
) -> Option<LineReport> {
    let text = positions.text(source);
    let range = positions.lines(source)?.line_range(line.checked_sub(1)?)?;
    let written = range.slice(text).trim_end();
    let content = content_of(range, text);
    let point = column.map(|column| {
        let before: usize = written.chars().take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
        range.start + before as u32
    });
    let chosen = choose(compilation, source, content, point);
    let all = findings(compilation, positions);
    let mut report = LineReport {
        file: positions.file(source),
        line,
        text: positions.masked(source, range).trim_end().to_string(),
        resource: None,
        fields: Vec::new(),
        whole: false,
        made: Vec::new(),
        ledger: None,
        ledger_of_others: Vec::new(),
        findings: Vec::new(),
    };
    let is_on_line = |span: &Option<Span>| span.as_ref().is_some_and(|span| span.source == source && span.line == line);
    report.findings.extend(all.iter().filter(|finding| is_on_line(&finding.span)).cloned());
    // The effect of the line may be lost elsewhere.
    let names_line = |finding: &&Finding| !is_on_line(&finding.span) && finding.related.iter().any(|related| is_on_line(&related.span));
    report.findings.extend(all.iter().filter(names_line).cloned());
    let Some(ChosenObject { object, nodes }) = chosen else { return Some(report) };
    report.resource = Some(ResourceRef::from(&object.key)).filter(|resource| !resource.kind.is_empty());
    report.fields = nodes.iter().map(|node| positions.path(object, *node)).filter(|path| !path.is_empty()).collect();
    let is_around = |finding: &Finding| {
        let path = finding.path.as_deref().unwrap_or_default();
        let is_of_whole = path.is_empty() || path == "metadata.name";
        is_of_whole || report.fields.iter().any(|field| field.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '['])))
    };
    let around: Vec<Finding> = all
        .iter()
        .filter(|finding| finding.object == report.resource && finding.severity != "notice" && is_around(finding))
        .filter(|finding| report.resource.is_some() && !report.findings.contains(finding))
        .cloned()
        .collect();
    report.findings.extend(around);
    let mut rows = ledger(compilation, positions);
    rows.retain(|row| row.object == object.id);
    if !rows.is_empty() {
        report.ledger = Some(rows.remove(0));
    }
    report.ledger_of_others = rows;
    let spans = &object.document.spans;
    let below = |node: NodeId| core::iter::successors(Some(node), |at| spans.get(*at).map(|span| span.parent)).any(|at| nodes.contains(&at));
    let above: BTreeSet<NodeId> =
        nodes.iter().flat_map(|node| core::iter::successors(Some(*node), |at| spans.get(*at).map(|span| span.parent))).collect();
    let of = |origin: Origin| below(origin.node()) || origin.is_whole() && above.contains(&origin.node());
    report.made = documents.iter().flat_map(|(gateway, viewed)| made_by(*gateway, positions, viewed, object.id, of)).collect();
    if report.made.is_empty() {
        report.whole = true;
        report.made = documents.iter().flat_map(|(gateway, viewed)| made_by_whole(*gateway, positions, viewed, object.id)).collect();
        if report.findings.is_empty() {
            report.findings = all
                .into_iter()
                .filter(|finding| report.resource.is_some() && (finding.resource == report.resource || finding.object == report.resource))
                .collect();
        }
    }
    Some(report)
}

/// Returns the places that an object made as a whole, without places of its single fields.
fn made_by_whole(gateway: NamedGateway<'_>, positions: &Positions<'_>, viewed: &Viewed, object: ObjectId) -> Vec<MadeView> {
    let mut made = made_by(gateway, positions, viewed, object, |_| true);
    let pointers: BTreeSet<String> = made.iter().map(|made| made.pointer.clone()).collect();
    made.retain(|made| !and_ancestors(&made.pointer).skip(1).any(|outer| pointers.contains(outer)));
    made
}

fn made_by(gateway: NamedGateway<'_>, positions: &Positions<'_>, viewed: &Viewed, object: ObjectId, of: impl Fn(Origin) -> bool) -> Vec<MadeView> {
    let pointers = viewed.map.made_by(object, &of);
    let view = |pointer: String| {
        let origins: Vec<Origin> = viewed.map.get(&pointer).unwrap_or_default().to_vec();
        let ours: Vec<Origin> = origins.into_iter().filter(|origin| origin.object() == object && of(*origin)).collect();
        made(gateway, positions, viewed, pointer, &ours)
    };
    pointers.into_iter().filter(|pointer| get(&viewed.root, pointer).is_some()).map(view).collect()
}

/// Returns a line without the spaces around it.
fn content_of(line: TextRange, text: &str) -> TextRange {
    let written = line.slice(text).trim_end();
    let indent = written.len() - written.trim_start().len();
    TextRange::new(line.start + indent as u32, line.start + written.len() as u32)
}

/// Returns the object that a line (from 1) belongs to, and its nodes that begin there.
pub(super) fn choose_line(compilation: &Compilation, source: SourceId, line: u32) -> Option<(ObjectId, Vec<NodeId>)> {
    let positions = compilation.positions();
    let range = positions.lines(source)?.line_range(line.checked_sub(1)?)?;
    let chosen = choose(compilation, source, content_of(range, positions.text(source)), None)?;
    Some((chosen.object.id, chosen.nodes))
}

struct ChosenObject<'a> {
    object: &'a Object,
    nodes: Vec<NodeId>,
}

/// Returns the object that a line belongs to, and its nodes that begin there; with a point, the innermost node there.
fn choose<'a>(compilation: &'a Compilation, source: SourceId, line: TextRange, point: Option<u32>) -> Option<ChosenObject<'a>> {
    let mut best: Option<ChosenObject<'a>> = None;
    let here = compilation.objects.iter().filter(|object| object.source.source == source);
    for object in here {
        let Some(whole) = object.value_range(object.root.id) else { continue };
        if whole.end <= line.start || line.end < whole.start {
            continue;
        }
        // An object in an annotation comes after its holder, and is the inner one.
        let spans = &object.document.spans;
        let mut ids = (0..spans.len() as u32).map(NodeId);
        let range = |id: NodeId| spans.get(id).map(|span| span.whole().shifted(object.source.offset));
        let within = |id: NodeId| core::iter::successors(Some(id), |at| spans.get(*at).map(|span| span.parent)).any(|at| at == object.root.id);
        let nodes: Vec<NodeId> = match point {
            Some(point) => ids.rfind(|id| range(*id).is_some_and(|range| range.contains(point)) && within(*id)).into_iter().collect(),
            None => {
                let on_line = |id: &NodeId| range(*id).is_some_and(|range| line.start <= range.start && range.start <= line.end && !range.is_empty());
                let mut nodes: Vec<NodeId> = ids.filter(on_line).filter(|id| within(*id)).collect();
                if nodes.is_empty() {
                    // A line in the middle of a value.
                    nodes = (0..spans.len() as u32)
                        .map(NodeId)
                        .rfind(|id| range(*id).is_some_and(|range| range.contains(line.start)) && within(*id))
                        .into_iter()
                        .collect();
                }
                nodes
            }
        };
        if !nodes.is_empty() || best.is_none() {
            best = Some(ChosenObject { object, nodes });
        }
    }
    best
}
