//! Answers the server's own requests, which `docs/guides/editor.md` documents: `chancery/route`, `graph`, `explain`, `compile`, `diff` and `files`.
//!
//! Does not compute answers; see `chancery_core::explain`.

use crate::analysis::Analysis;
use crate::context::{Answer, Context, Refused, parameters};
use crate::revision;
use crate::uri::{path_of, uri_of};
use chancery_core::check::check;
use chancery_core::compare::compare_inputs;
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::Policy;
use chancery_core::dialect;
use chancery_core::explain::{Focus, explain_line, graph as graph_of, sample_for_object, try_request};
use chancery_core::resource::{Object, ObjectId};
use chancery_core::simulate::WrittenRequest;
use chancery_core::text::{to_json, to_yaml};
use chancery_workspace::threads::Threads;
use serde::Deserialize;
use serde_json::{Value, json};

/// Larger graphs are folded.
const MOST_NODES: usize = 2_000;

fn analysis(context: &Context) -> Result<&Analysis, Refused> {
    context.analysis.as_deref().ok_or_else(|| "No folder is open".into())
}

/// Writes an answer without the credentials of the input.
fn redacted(analysis: &Analysis, answer: &Value) -> Answer {
    let text = analysis.redacted(&answer.to_string());
    serde_json::from_str(&text).map_err(|error| Refused(error.to_string()))
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct RouteParams {
    /// A request; without one, a request for the object.
    request: Option<WrittenRequest>,
    /// A `curl` command instead.
    curl: Option<String>,
    /// The number of an object, as lenses name it.
    object: Option<usize>,
    /// The line of an object in the document, from 0.
    line: Option<u32>,
}

/// Tries a request: `{uri, request | curl | object | line}` gives `{request, trials}`.
///
/// # Errors
///
/// The request is invalid.
pub fn route(context: &Context, params: Value) -> Answer {
    let uri = params["uri"].as_str().unwrap_or_default().to_string();
    let asked: RouteParams = parameters(params)?;
    let analysis = analysis(context)?;
    let positions = analysis.positions();
    let at_line = || {
        let (analysis, source) = context.source(&uri)?;
        let line = analysis.lines(source)?.line(analysis.text(source), asked.line?)?;
        let holds = |object: &&Object| {
            object.value_range(object.root.id).is_some_and(|range| range.start as usize <= line.end && line.start <= range.end as usize)
        };
        analysis.objects_of(source).filter(holds).last().and_then(|object| object.id.index())
    };
    let request = match (asked.request, asked.curl, asked.object.or_else(at_line)) {
        (Some(request), ..) => request,
        (None, Some(curl), _) => WrittenRequest::from_curl(&curl)?,
        (None, None, Some(object)) => {
            let sample = sample_for_object(&analysis.compilation, &positions, ObjectId::from_index(object));
            sample.ok_or("No request reaches this object")?.0
        }
        (None, None, None) => return Err("There is no request: give `request`, `curl`, `object` or the `line` of an object".into()),
    };
    let trials = try_request(&analysis.compilation, &positions, &request, &mut analysis.emitted())?;
    redacted(analysis, &json!({ "request": request, "trials": trials }))
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct GraphParams {
    /// Names or ids of nodes.
    from: Vec<String>,
    depth: Option<u32>,
}

/// Returns the graph: `{uri, from?, depth?}`.
///
/// # Errors
///
/// No folder is open.
pub fn graph(context: &Context, params: Value) -> Answer {
    let asked: GraphParams = parameters(params)?;
    let analysis = analysis(context)?;
    let mut graph = graph_of(&analysis.compilation, &analysis.positions());
    let from: Vec<String> = asked.from.iter().flat_map(|name| graph.named(name).into_iter().map(|node| node.id.to_string())).collect();
    if from.is_empty() && !asked.from.is_empty() {
        return Err(format!("There is no `{}` in the graph", asked.from.join("`, `")).into());
    }
    Focus { from, depth: asked.depth, ..Focus::default() }.apply(&mut graph);
    graph.fold(MOST_NODES, &[]);
    redacted(analysis, &serde_json::to_value(&graph).unwrap_or_default())
}

#[derive(Deserialize)]
struct LineParams {
    uri: String,
    /// From 0.
    line: u32,
}

/// Explains a line: `{uri, line}`.
///
/// # Errors
///
/// The file is not part of the input.
pub fn explain(context: &Context, params: Value) -> Answer {
    let asked: LineParams = parameters(params)?;
    let (analysis, source) = context.source(&asked.uri).ok_or("The file is not part of the input")?;
    let documents: Vec<_> =
        analysis.documents().iter().filter_map(|document| Some((analysis.gateway_of(document)?, document.viewed.clone()))).collect();
    let report = explain_line(&analysis.compilation, &analysis.positions(), &documents, source, asked.line + 1, None);
    let report = report.ok_or("The file has no such line")?;
    redacted(analysis, &serde_json::to_value(&report).unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct CompileParams {
    /// `yaml` or `json`.
    format: String,
    /// Only this gateway.
    gateway: Option<String>,
}

/// Returns the documents of all gateways: `{uri, format?, gateway?}`.
///
/// # Errors
///
/// No folder is open.
pub fn compile(context: &Context, params: Value) -> Answer {
    let asked: CompileParams = parameters(params)?;
    let analysis = analysis(context)?;
    let is_asked = |id: &str| asked.gateway.as_deref().is_none_or(|gateway| gateway == id);
    let documents = analysis.documents().iter().filter(|document| is_asked(&document.id)).map(|document| {
        let root = &document.viewed.root;
        let text = if asked.format == "json" { to_json(root, true) } else { to_yaml(root) };
        let dialect = analysis.compilation.sides.get(document.side).map(|side| side.dialect.name);
        json!({ "dialect": dialect, "gateway": document.id, "document": document.viewed.name, "text": analysis.redacted(&text) })
    });
    let stopped: Vec<Value> = analysis
        .compilation
        .stopped()
        .map(|(side, id, failure)| json!({ "dialect": side.dialect.name, "gateway": id, "error": analysis.redacted(&failure.error) }))
        .collect();
    Ok(json!({ "gateways": documents.collect::<Vec<_>>(), "stopped": stopped }))
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct DiffParams {
    /// A revision of git; by default `HEAD`.
    revision: Option<String>,
}

/// Compares the input with a revision: `{uri, revision?}`.
///
/// # Errors
///
/// git cannot read the revision.
pub fn diff(context: &Context, params: Value) -> Answer {
    let asked: DiffParams = parameters(params)?;
    let analysis = analysis(context)?;
    let revision = asked.revision.unwrap_or_else(|| "HEAD".into());
    let before = revision::inputs(context, analysis, &revision)?;
    let mut compiler = Compiler::new(dialect::ALL).with_executor(&Threads).without_memory().without_statuses();
    let mut old = compiler.compile(&before, &analysis.options);
    check(&mut old, &Policy::default(), &mut compiler.emitted, &Threads);
    let changes = compare_inputs((&old, &mut compiler.emitted), (&analysis.compilation, &mut analysis.emitted()));
    let text = old.redactor().scrub(&json!({ "revision": revision, "changes": changes }).to_string()).into_owned();
    redacted(analysis, &serde_json::from_str(&text).unwrap_or_default())
}

/// Returns the inputs of the folder, for the page: `{uri}` gives `{files: [{name, uri, text}], dialects}`. Secrets are masked.
///
/// # Errors
///
/// No folder is open.
pub fn files(context: &Context, params: Value) -> Answer {
    let analysis = analysis(context)?;
    let own = params["uri"].as_str().and_then(path_of);
    let safe = chancery_core::explain::with_stand_ins(&analysis.compilation.inputs);
    let files = safe
        .inputs
        .iter()
        .zip(&analysis.paths)
        .map(|(input, path)| json!({ "name": input.name, "uri": uri_of(path), "text": &*input.text, "shown": own.as_ref() == Some(path) }));
    let dialects: Vec<&str> = analysis.compilation.sides.iter().map(|side| side.dialect.name).collect();
    Ok(json!({ "files": files.collect::<Vec<_>>(), "dialects": dialects }))
}
