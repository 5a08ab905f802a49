//! `chancery explain`: shows the origin of a field, or the results of a line, as text or JSON.
//!
//! Does not determine them; see `chancery_core::explain`.

use crate::args::{Deployment, ExplainArgs, Format, In};
use crate::check::Excerpts;
use crate::diff::{Without, effect_of_patch, without};
use crate::input::LoadedInput;
use crate::output::{print, print_json};
use crate::style::{Style, count, plain, some};
use crate::{Outcome, Unusable, gateway_pointer, input};
use chancery_core::compilation::{Compilation, GatewayRef, NamedGateway, Output, SideRef};
use chancery_core::explain::{
    Explanation, LineReport, MadeView, OriginView, Viewed, describe, explain_line, explain_pointer, input_without_line, input_without_patch, resolve,
};
use chancery_core::resource::{Object, SourceId, nearest};
use chancery_core::text::{Node, Value, to_json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// At most this many places are shown as text.
const MOST: usize = 40;

/// Runs it.
pub fn run(args: &ExplainArgs, deployment: &Deployment, style: &Style) -> Outcome {
    let line = line_of(&args.target);
    let mut paths = args.inputs.inputs.clone();
    if let Some(line) = &line
        && paths.is_empty()
    {
        let path = if matches!(line.file.as_str(), "stdin" | input::STDIN) { "-" } else { &line.file };
        paths.push(PathBuf::from(path));
    }
    let given = input::given(&paths, deployment)?;
    let (mut compiler, mut compilation) = match args.view {
        In::Gateway(_) => given.compile()?,
        In::Answer(_) => given.compile_with_statuses()?,
    };
    given.add_findings(&mut compilation, &mut compiler);
    let documents: Vec<_> = match args.view {
        In::Gateway(view) => documents(&compilation, |gateway: GatewayRef<'_>| Viewed::new(gateway.ir, view, compiler.emitted.of(gateway))).collect(),
        In::Answer(output) => answered(&compilation, output).collect(),
    };
    // A controller's document covers all of its gateways.
    let is_of_gateways = matches!(args.view, In::Gateway(_)) && compilation.has_several_gateways();
    if let Some(place) = place_of(line.as_ref(), &args.target, &compilation)? {
        return place.explain(&given, &documents, args.view, args.format, style);
    }
    let mut answers = Vec::new();
    let mut name = args.view.name();
    // A pointer into the output of `compile` starts with the gateway.
    let part = |of: &NamedGateway<'_>| gateway_pointer::within_document(*of, &args.target).filter(|_| is_of_gateways);
    let names_gateway = documents.iter().any(|(gateway, _)| part(gateway).is_some());
    for (gateway, viewed) in documents {
        name = viewed.name;
        let Some(target) = part(&gateway).or_else(|| (!names_gateway).then_some(args.target.as_str())) else { continue };
        let found = resolve(&viewed.root, target);
        if !found.is_empty() {
            answers.push((gateway.label().unwrap_or_default(), answer(gateway, &viewed, &found, args.format, style)?));
        }
    }
    let runs_nothing =
        compilation.gateways().next().is_none() && compilation.app_gateways().next().is_none() && compilation.nginxes().next().is_none();
    if answers.is_empty() && runs_nothing {
        return Err(input::nothing_runs(&compilation));
    }
    if answers.is_empty() {
        let hint = if args.target.contains(':') { ", and it is not a FILE:LINE of the input" } else { "" };
        return Err(format!("nothing in the {name} output is called `{}`{hint}", args.target).into());
    }
    match (args.format, &answers[..]) {
        (Format::Human, [(_, Answer::Text(only))]) if !is_of_gateways => print(only)?,
        (Format::Json, [(_, Answer::Data(only))]) if !is_of_gateways || names_gateway => print_json(only)?,
        (Format::Human, all) => {
            let texts = all.iter().filter_map(|(gateway, answer)| match answer {
                Answer::Text(text) => Some(format!("{}\n\n{text}", style.heading(gateway))),
                Answer::Data(_) => None,
            });
            print(&texts.collect::<Vec<_>>().join("\n"))?;
        }
        (Format::Json, all) => {
            let data = all.iter().filter_map(|(gateway, answer)| match answer {
                Answer::Data(data) => Some((gateway, data)),
                Answer::Text(_) => None,
            });
            print_json(&data.collect::<BTreeMap<_, _>>())?;
        }
    }
    Ok(0)
}

/// Returns the documents of all gateways: the requested document of Envoys, and the parts of Application Gateways and nginxes.
fn documents<'a>(compilation: &'a Compilation, document: impl FnMut(GatewayRef<'a>) -> Viewed) -> impl Iterator<Item = (NamedGateway<'a>, Viewed)> {
    let mut document = document;
    let envoys = compilation.gateways().map(move |gateway| (gateway.named(), document(gateway)));
    let azure = compilation.app_gateways().map(|gateway| (gateway.named, Viewed::app_gateway(gateway.parts)));
    envoys.chain(azure).chain(compilation.nginxes().map(|of| (of.named, Viewed::nginx(of.nginx))))
}

/// Returns the controllers' documents, each once. They are explained like a gateway's document.
fn answered<'a>(compilation: &'a Compilation, output: &'a Output) -> impl Iterator<Item = (NamedGateway<'a>, Viewed)> {
    let of_side = |of: SideRef<'a>| Some((of.gateways().next()?.named(), Viewed::answer(output, of)?));
    compilation.sides().filter_map(of_side)
}

/// A line of an input to explain.
struct PlaceOf<'c> {
    compilation: &'c Compilation,
    source: SourceId,
    line: u32,
    column: Option<u32>,
}

/// Returns the line to explain: a line of an input, or an object's first line. Returns nothing for a place in the result.
fn place_of<'c>(line: Option<&LineOf>, target: &str, compilation: &'c Compilation) -> Result<Option<PlaceOf<'c>>, Unusable> {
    if let Some(line) = line {
        let place = |source| PlaceOf { compilation, source, line: line.line, column: line.column };
        return Ok(line.source(compilation).map(place));
    }
    let Some(object) = object_of(target, compilation)? else { return Ok(None) };
    let positions = compilation.positions();
    let source = object.source.source;
    let span = object.value_range(object.root.id).and_then(|range| positions.span(source, range));
    Ok(span.map(|span| PlaceOf { compilation, source, line: span.line, column: None }))
}

impl PlaceOf<'_> {
    fn explain(&self, given: &LoadedInput, documents: &[(NamedGateway<'_>, Viewed)], view: In, format: Format, style: &Style) -> Outcome {
        let positions = self.compilation.positions();
        let mut report = explain_line(self.compilation, &positions, documents, self.source, self.line, self.column)
            .ok_or_else(|| format!("{} has no line {}", positions.file(self.source), self.line))?;
        if let In::Answer(_) = view {
            report.made.iter_mut().for_each(|made| made.gateway = None);
        }
        let document = documents.first().map_or(view.name(), |(_, viewed)| viewed.name);
        // A line that is not the origin of a field may still decide which fields exist.
        let is_of_gateways = matches!(view, In::Gateway(_));
        let is_decided = is_of_gateways && report.whole && self.column.is_none();
        let patch = if is_of_gateways { input_without_patch(self.compilation, self.source, self.line) } else { None };
        let without = match patch {
            Some(patch) => effect_of_patch(given, self.source, patch),
            None if is_decided => input_without_line(self.compilation, self.source, self.line).and_then(|left| without(given, self.source, left)),
            None => None,
        };
        gateway_pointer::complete(&mut report, documents.iter().map(|(gateway, _)| *gateway));
        match format {
            Format::Human => {
                let explainer = Explainer { document, root: None, excerpts: Excerpts::new(&positions, style), style };
                print(&explainer.line(&report, without.as_ref()))?;
            }
            Format::Json => {
                let mut data = json(&report)?;
                if let Some(without) = &without {
                    data[without.key()] = without.data()?;
                }
                print_json(&data)?;
            }
        }
        Ok(0)
    }
}

/// Finds the object for `KIND/NAME` or `KIND/NAME.NAMESPACE`. `None`: the input has no object of that kind.
fn object_of<'c>(target: &str, compilation: &'c Compilation) -> Result<Option<&'c Object>, Unusable> {
    let Some((kind, name)) = target.split_once('/').filter(|(kind, _)| !kind.is_empty()) else { return Ok(None) };
    let of_kind: Vec<&Object> = compilation.objects.iter().filter(|object| object.key.kind.eq_ignore_ascii_case(kind)).collect();
    if of_kind.is_empty() {
        return Ok(None);
    }
    let is_meant = |object: &&&Object| {
        let namespace = object.key.namespace.as_deref().unwrap_or_default();
        *object.key.name == *name || name.strip_prefix(object.key.name.as_str()).and_then(|rest| rest.strip_prefix(['.', '/'])) == Some(namespace)
    };
    let found: Vec<&&Object> = of_kind.iter().filter(is_meant).collect();
    match &found[..] {
        [one] => Ok(Some(**one)),
        [] => {
            let near = nearest(name, of_kind.iter().map(|object| object.key.name.as_str())).map(|near| format!("; did you mean `{near}`?"));
            Err(format!("there is no {kind} `{name}` in the input{}", near.unwrap_or_default()).into())
        }
        several => {
            let namespaces: Vec<&str> = several.iter().filter_map(|object| object.key.namespace.as_deref()).collect();
            if namespaces.is_empty() {
                return Err(format!("there are several {kind}/{name}: name a line of the one that is meant, as FILE:LINE").into());
            }
            Err(format!("there are several: say {kind}/{name}.NAMESPACE, one of {}", some(&namespaces)).into())
        }
    }
}

/// Writes the explanation of places in a gateway's document, in the requested format.
enum Answer {
    Text(String),
    Data(serde_json::Value),
}

fn answer(gateway: NamedGateway<'_>, viewed: &Viewed, found: &[String], format: Format, style: &Style) -> Result<Answer, Unusable> {
    let positions = gateway.of.compilation.positions();
    let most = if format == Format::Human { MOST } else { usize::MAX };
    let all: Vec<Explanation> = found.iter().take(most).map(|pointer| explain_pointer(gateway, &positions, viewed, pointer)).collect();
    if format == Format::Json {
        let data = match &all[..] {
            [one] => json(one)?,
            all => json(&all)?,
        };
        return Ok(Answer::Data(data));
    }
    let mut text = Explainer { document: viewed.name, root: Some(&viewed.root), excerpts: Excerpts::new(&positions, style), style }.pointers(&all);
    if found.len() > MOST {
        let _ = writeln!(text, "\n{}", style.dim(format!("... and {} more; a longer pointer shows them", found.len() - MOST)));
    }
    Ok(Answer::Text(text))
}

fn json(data: &impl serde::Serialize) -> Result<serde_json::Value, Unusable> {
    serde_json::to_value(data).map_err(|error| format!("cannot write JSON: {error}").into())
}

/// A place in an input.
struct LineOf {
    file: String,
    line: u32,
    column: Option<u32>,
}

impl LineOf {
    /// Returns the input at this place, if it exists.
    fn source(&self, compilation: &Compilation) -> Option<SourceId> {
        let positions = compilation.positions();
        let name = if matches!(self.file.as_str(), "-" | "stdin") { input::STDIN } else { &self.file };
        positions.source(name).or_else(|| positions.source(name.strip_prefix("./")?))
    }
}

/// Returns the common prefix of these pointers.
fn shared<'p>(pointers: impl Iterator<Item = &'p str>) -> &'p str {
    let common = |a: &'p str, b: &'p str| {
        let ends = a.match_indices('/').map(|(at, _)| at).chain([a.len()]);
        let holds = |at: &usize| b.get(..*at) == a.get(..*at) && matches!(b.as_bytes().get(*at), None | Some(b'/'));
        a.get(..ends.filter(holds).max().unwrap_or_default()).unwrap_or_default()
    };
    pointers.reduce(common).unwrap_or_default()
}

/// `FILE:LINE` or `FILE:LINE:COLUMN`.
fn line_of(target: &str) -> Option<LineOf> {
    let (rest, last) = target.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let with_column = rest.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
    let (file, line, column) = match with_column {
        Some((file, line)) => (file, line, Some(last)),
        None => (rest, last, None),
    };
    (!file.is_empty()).then(|| LineOf { file: file.into(), line, column })
}

struct Explainer<'a> {
    /// The name of the document.
    document: &'static str,
    /// The document that places are in.
    root: Option<&'a Node>,
    excerpts: Excerpts<'a>,
    style: &'a Style,
}

/// Formats a value on one line, shortened to fit.
fn short(value: &Node, width: usize) -> String {
    let text = plain(&to_json(value, false)).into_owned();
    let fits = text.chars().count() <= width;
    match &value.value {
        Value::Object(object) if !fits => format!("{{ {} }}", count(object.len(), "member")),
        Value::Array(items) if !fits => format!("[ {} ]", count(items.len(), "element")),
        _ if !fits => text.chars().take(width.saturating_sub(3)).collect::<String>() + "...",
        _ => text,
    }
}

/// The same answer for several places.
type Groups<K> = Vec<(K, Vec<usize>)>;

fn group<K: PartialEq>(keys: impl Iterator<Item = K>) -> Groups<K> {
    let mut groups: Groups<K> = Vec::new();
    for (at, key) in keys.enumerate() {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, all)) => all.push(at),
            None => groups.push((key, vec![at])),
        }
    }
    groups
}

impl Explainer<'_> {
    fn heading(&self, place: &[String], pointer: &str) -> String {
        let (last, outer) = place.split_last().map_or(("the whole", &[][..]), |(last, outer)| (last.as_str(), outer));
        let outer: String = outer.iter().map(|crumb| format!("{} {} ", plain(crumb), self.style.dim("›"))).collect();
        format!("{outer}{}\n{}\n", self.style.bold(plain(last)), self.style.dim(plain(pointer)))
    }

    fn origin(&self, out: &mut String, origin: &OriginView) {
        let (rule, words) = match origin.why.split_once(": ") {
            Some((rule, words)) => (rule.to_string(), words.to_string()),
            None => (origin.rule.name().to_string(), origin.why.clone()),
        };
        let _ = writeln!(out, "  {} {}", self.style.green(format!("{rule}:")), plain(&words));
        if let Some(span) = &origin.span {
            for line in self.excerpts.place(span).lines() {
                let _ = writeln!(out, "    {line}");
            }
        }
    }

    fn pointers(&self, all: &[Explanation]) -> String {
        let mut out = String::new();
        if let [one] = all {
            self.pointer(&mut out, one);
            return out;
        }
        let _ = writeln!(out, "{}", self.style.bold(count(all.len(), "place")));
        // Values with the same value and the same rule are shown once.
        for ((.., origins), places) in group(all.iter().map(|of| (of.place.last(), &of.value, &of.origins))) {
            let Some(first) = places.first().and_then(|at| all.get(*at)) else { continue };
            let name = first.place.last().map_or("the whole", String::as_str);
            let value = first.value.as_ref().map_or_else(|| "nothing".into(), |value| short(value, self.style.width.saturating_sub(16)));
            let _ = writeln!(out, "\n{} {} {}", self.style.bold(plain(name)), self.style.dim("="), self.style.cyan(value));
            self.places(&mut out, places.iter().filter_map(|at| all.get(*at)).map(|of| (of.place.clone(), of.pointer.as_str())), "  ");
            out.push('\n');
            self.origins(&mut out, first.from.as_deref() == Some(first.pointer.as_str()), origins);
        }
        out
    }

    /// Places by name and pointer.
    fn places<'p>(&self, out: &mut String, places: impl Iterator<Item = (Vec<String>, &'p str)>, indent: &str) {
        let places: Vec<_> = places.collect();
        for (place, pointer) in places.iter().take(6) {
            let outer = place.split_last().map(|(_, outer)| outer.join(" › ")).unwrap_or_default();
            let outer = if outer.is_empty() { String::new() } else { format!("{}\n{indent}  ", plain(&outer)) };
            let _ = writeln!(out, "{indent}{outer}{}", self.style.dim(plain(pointer)));
        }
        if places.len() > 6 {
            let _ = writeln!(out, "{indent}{}", self.style.dim(format!("... and in {}", count(places.len() - 6, "more place"))));
        }
    }

    fn origins(&self, out: &mut String, own: bool, origins: &[OriginView]) {
        if origins.is_empty() {
            let _ = writeln!(out, "  no resource sets it: the controller always writes this value");
        } else if !own {
            let _ = writeln!(out, "  no line sets this field by itself; the object around it comes from");
        }
        for origin in origins {
            self.origin(out, origin);
        }
    }

    fn pointer(&self, out: &mut String, of: &Explanation) {
        out.push_str(&self.heading(&of.place, &of.pointer));
        match &of.value {
            Some(value) => {
                let _ = writeln!(out, "  {} {}\n", self.style.dim("="), self.style.cyan(short(value, self.style.width.saturating_sub(8))));
            }
            None => {
                let _ = writeln!(out, "  {}\n", self.style.yellow("nothing is set there: Envoy's default applies"));
            }
        }
        if let Some(default) = &of.default {
            let _ = writeln!(out, "  {}", plain(default));
        }
        match of.from.as_ref().filter(|from| **from != of.pointer) {
            Some(from) => {
                let place = self.root.map(|root| describe(root, from).join(" › ")).unwrap_or_default();
                let _ = writeln!(out, "  no line sets this field by itself; it is part of {}, which comes from", self.style.bold(plain(&place)));
                self.origins(out, true, &of.origins);
            }
            // A field without a value has no origin.
            None if of.value.is_none() && of.origins.is_empty() => {}
            None => self.origins(out, true, &of.origins),
        }
        if !of.inside.is_empty() {
            let _ = writeln!(out, "\n{}", self.style.bold("In it"));
            self.rows(out, &of.inside, &of.pointer);
        }
        if !of.within.is_empty() {
            let _ = writeln!(out, "\n{}", self.style.bold("It is part of"));
            for outer in &of.within {
                let place = outer.place.last().map_or("the whole", String::as_str);
                let _ = writeln!(out, "  {}{}", plain(place), self.from(&outer.origins));
            }
        }
    }

    /// Lists the places of origins briefly.
    fn from(&self, origins: &[OriginView]) -> String {
        let mut words: Vec<String> = Vec::new();
        for origin in origins {
            let word = match (&origin.resource, &origin.span) {
                (Some(resource), Some(span)) => format!("{resource} {}", self.style.dim(format!("{}:{}", span.file, span.line))),
                _ => origin.rule.name().to_string(),
            };
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if words.is_empty() { String::new() } else { format!("  {} {}", self.style.dim("from"), words.join(", ")) }
    }

    /// Lists the places within a place, one per line.
    fn rows(&self, out: &mut String, rows: &[MadeView], outer: &str) {
        for row in rows.iter().take(MOST) {
            let pointer = row.pointer.strip_prefix(outer).unwrap_or(&row.pointer).trim_start_matches('/');
            let value = row.value.as_ref().map_or_else(|| "...".into(), |value| short(value, 48));
            let _ = writeln!(out, "  {} {} {}{}", plain(pointer), self.style.dim("="), self.style.cyan(value), self.from(&row.origins));
        }
        if rows.len() > MOST {
            let _ = writeln!(out, "  {}", self.style.dim(format!("... and {} more", rows.len() - MOST)));
        }
    }

    fn line(&self, report: &LineReport, without: Option<&Without>) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{}", self.style.bold(format!("{}:{}", report.file, report.line)));
        let _ = writeln!(out, "  {} {}\n", self.style.dim("|"), self.style.cyan(plain(&report.text.replace('\t', "    "))));
        let Some(resource) = &report.resource else {
            let _ = writeln!(out, "There is no resource on this line.");
            self.findings(&mut out, report);
            return out;
        };
        let fields = report.fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ");
        let of = if fields.is_empty() { resource.to_string() } else { format!("{fields} of {resource}") };
        if report.whole && !fields.is_empty() {
            let _ = writeln!(out, "No field of the {} output has its value from {}.\n", self.document, plain(&of));
        }
        if let Some(without) = without {
            let _ = writeln!(out, "{}", without.report(self.style));
        }
        if report.made.is_empty() {
            let _ = writeln!(out, "{} as a whole makes nothing in the {} output.", self.style.bold(plain(&resource.to_string())), self.document);
        } else if report.whole {
            let _ = writeln!(out, "{} as a whole makes", self.style.bold(plain(&resource.to_string())));
        } else {
            let verb = if report.fields.len() > 1 { "make" } else { "makes" };
            let _ = writeln!(out, "{} {verb}", self.style.bold(plain(&of)));
        }
        self.made(&mut out, &report.made);
        for row in report.ledger.iter().chain(&report.ledger_of_others) {
            let dialect = row.dialect.map(|dialect| format!("{dialect}: ")).unwrap_or_default();
            let _ = writeln!(out, "\n{dialect}{} {}", self.style.bold(plain(&resource.to_string())), crate::ledger::sentence(row, self.style));
            if let Some((by, span)) = row.by.as_ref().zip(row.by_at.as_ref()) {
                let _ = writeln!(out, "  {} is at {}:{}", plain(&by.to_string()), plain(&span.file), span.line);
            }
        }
        self.findings(&mut out, report);
        out
    }

    /// Lists results by their parent. Equal results in several parents (a route in two listeners) are shown once.
    fn made(&self, out: &mut String, made: &[MadeView]) {
        let things = group(made.iter().map(|made| made.place.split_last().map_or(&[][..], |(_, outer)| outer)));
        let width = self.style.width.saturating_sub(16);
        let row = |at: usize| {
            let made = made.get(at)?;
            let field = made.place.last().map_or("the whole", String::as_str);
            let value = made.value.as_ref().map_or_else(|| "...".into(), |value| short(value, width));
            let rule = made.origins.first().map(|origin| origin.rule.name()).filter(|rule| *rule != "field");
            let rule = rule.map(|rule| self.style.dim(format!("  ({rule})"))).unwrap_or_default();
            Some(format!("{} {} {}{rule}", self.style.bold(plain(field)), self.style.dim("="), self.style.cyan(value)))
        };
        let rows: Vec<Vec<String>> = things.iter().map(|(_, all)| all.iter().filter_map(|at| row(*at)).collect()).collect();
        let same = group(rows.iter());
        for (rows, all) in same.iter().take(MOST) {
            out.push('\n');
            for row in rows.iter().take(MOST) {
                let _ = writeln!(out, "  {row}");
            }
            let places = all.iter().filter_map(|thing| {
                let rows = || things.get(*thing).into_iter().flat_map(|(_, rows)| rows).filter_map(|at| made.get(*at));
                let first = rows().next()?;
                Some((first.gateway.iter().chain(&first.place).cloned().collect(), shared(rows().map(|made| made.pointer.as_str()))))
            });
            self.places(out, places, "    ");
        }
        if same.len() > MOST {
            let _ = writeln!(out, "\n  {}", self.style.dim(format!("... and {} more", same.len() - MOST)));
        }
    }

    fn findings(&self, out: &mut String, report: &LineReport) {
        for finding in &report.findings {
            let _ = writeln!(out, "\n{}", self.excerpts.finding(finding));
        }
    }
}
