//! `chancery compile`: writes the documents.
//!
//! Does not build documents; see the core and the dialects.

use crate::args::{CompileArgs, DataFormat, Deployment, Fields, Kind};
use crate::authority::TemporaryCas;
use crate::output::{Sink, allow_secrets, file_named, message};
use crate::style::{count, plain};
use crate::{Outcome, Unusable, input};
use chancery_core::backend::{Rope, appgw, envoy};
use chancery_core::compilation::{Compilation, GatewayRef, SideRef};
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::{dump_config, dump_tree, dump_with_origins, findings};
use chancery_core::ir::{SecretReference, Spelling};
use chancery_core::text::{Limits, Node, Str, Value, parse, to_json, to_yaml};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

/// Runs it.
pub fn run(args: &CompileArgs, deployment: &Deployment) -> Outcome {
    // With these options no other result is shown, so save the memory for the document.
    let documents_only = args.format == DataFormat::Json && !args.with_secrets && args.output.iter().all(|kind| envoy_document(*kind).is_some());
    let (mut compiler, mut compilation) = input::compile_even_empty(&args.inputs.inputs, deployment, documents_only)?;
    if args.with_secrets {
        allow_secrets();
    }
    if args.fields == Fields::Current {
        compilation.change_irs(|ir| ir.delivery.spelling = Spelling::CURRENT);
    }
    let (authority, answers) = (TemporaryCas::default(), Answers::default());
    let mut kinds = Vec::new();
    args.output.iter().for_each(|kind| {
        if !kinds.contains(kind) {
            kinds.push(*kind)
        }
    });
    // Without --output, write the document that the input produces.
    if kinds.is_empty() {
        kinds.push(default_kind(&compilation));
    }
    let on_terminal = file_named(args.out.as_deref()).is_none() && args.out_dir.is_none() && std::io::stdout().is_terminal();
    let pretty = args.pretty || (on_terminal && !args.compact);
    let has = |kind: Kind| compilation.sides().any(|side| Writer { args, side, pretty, authority: &authority, answers: &answers }.has(kind));
    if let Some(absent) = kinds.iter().find(|kind| !has(**kind)) {
        if absent.is_of_gateway() {
            return Err(input::nothing_runs(&compilation));
        }
        return Err(format!("there is no `{}` for this input", absent.name()).into());
    }
    let notices = notices(&compilation);
    if documents_only && kinds.iter().all(|kind| envoy_document(*kind).is_some()) {
        let views = compilation.take_views();
        std::thread::spawn(move || drop(views));
    }
    let writers: Vec<Writer<'_>> = compilation.sides().map(|side| Writer { args, side, pretty, authority: &authority, answers: &answers }).collect();
    match &args.out_dir {
        Some(folder) => files(&writers, &kinds, folder, &mut compiler)?,
        None => one_document(&writers, &kinds, &mut compiler)?,
    }
    notices.iter().chain(&authority.notice()).for_each(|notice| message(notice));
    // Exit without freeing large inputs, which takes time.
    std::process::exit(0)
}

/// Returns the gateway's document: Envoy's, unless all gateways are Application Gateways.
fn default_kind(compilation: &Compilation) -> Kind {
    match compilation.gateways().next().is_none() {
        true if compilation.app_gateways().next().is_some() => Kind::Answer("appgw"),
        true if compilation.nginxes().next().is_some() => Kind::Answer("conf"),
        _ => Kind::Envoy,
    }
}

/// Returns the document of the chosen Application Gateway, if any.
fn app_gateway_document(kind: Kind) -> Option<appgw::Document> {
    match kind {
        Kind::Answer("appgw") => Some(appgw::Document::Parts),
        Kind::Answer("arm") => Some(appgw::Document::Whole),
        _ => None,
    }
}

/// Writes each document into a separate file. Several dialects get separate folders.
fn files(writers: &[Writer<'_>], kinds: &[Kind], folder: &Path, compiler: &mut Compiler) -> Result<(), Unusable> {
    for writer in writers {
        let folder = if writers.len() > 1 { folder.join(writer.dialect()) } else { folder.to_path_buf() };
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make the folder {}: {}", folder.display(), crate::output::reason(&error)))?;
        let ending = if writer.args.format == DataFormat::Yaml { "yaml" } else { "json" };
        for kind in kinds.iter().copied().filter(|kind| writer.has(*kind)) {
            for gateway in writer.gateways_of(kind) {
                let name = gateway.filter(|_| writer.is_by_gateway(kind)).map(|of| format!("{}.", of.id.file_name())).unwrap_or_default();
                let mut sink = Sink::file(&folder.join(format!("{name}{}.{ending}", kind.name())))?;
                writer.document(kind, gateway, compiler, &mut sink)?;
                sink.write(["\n"])?;
            }
        }
    }
    Ok(())
}

/// Writes one document to standard output or to the named file.
fn one_document(writers: &[Writer<'_>], kinds: &[Kind], compiler: &mut Compiler) -> Result<(), Unusable> {
    let Some(args) = writers.first().map(|writer| writer.args) else { return Ok(()) };
    let mut sink = file_named(args.out.as_deref()).map_or(Ok(Sink::Standard), Sink::file)?;
    match (writers, args.format) {
        ([only], DataFormat::Yaml) => sink.write([to_yaml(&only.whole(kinds, compiler)?).as_str()]),
        (all, DataFormat::Yaml) => {
            let sides = all.iter().map(|writer| Ok((writer.dialect(), writer.whole(kinds, compiler)?)));
            sink.write([to_yaml(&named(sides.collect::<Result<Vec<_>, Unusable>>()?)).as_str()])
        }
        (all, DataFormat::Json) => {
            match all {
                [only] => only.json(kinds, compiler, &mut sink)?,
                all => object(all, &mut sink, |writer| writer.dialect(), |writer, sink| writer.json(kinds, compiler, sink))?,
            }
            sink.write(["\n"])
        }
    }
}

/// Writes an object with a member for each of these.
fn object<T>(
    of: &[T],
    sink: &mut Sink,
    name: impl Fn(&T) -> &str,
    mut value: impl FnMut(&T, &mut Sink) -> Result<(), Unusable>,
) -> Result<(), Unusable> {
    for (at, of) in of.iter().enumerate() {
        let name = to_json(&Node::given(name(of)), false);
        sink.write([if at == 0 { "{" } else { "," }, &name, ":"])?;
        value(of, sink)?;
    }
    sink.write([if of.is_empty() { "{}" } else { "}" }])
}

fn named<K: Into<Str>>(fields: impl IntoIterator<Item = (K, Node)>) -> Node {
    Node::synthesised(Value::Object(fields.into_iter().map(|(name, value)| (name.into(), value)).collect()))
}

/// Answers of dialects that are computed and not written yet, by dialect and name.
type Answers = RefCell<BTreeMap<(&'static str, &'static str), Option<Node>>>;

/// Writes the documents of one side.
struct Writer<'a> {
    args: &'a CompileArgs,
    side: SideRef<'a>,
    pretty: bool,
    /// The CA that issues certificates instead of the cluster's.
    authority: &'a TemporaryCas,
    answers: &'a Answers,
}

impl<'a> Writer<'a> {
    fn dialect(&self) -> &'static str {
        self.side.dialect().name
    }

    /// Whether there is a document for each gateway.
    fn is_by_gateway(&self, kind: Kind) -> bool {
        kind.is_of_gateway() && (self.side.side.gateways.len() != 1)
    }

    /// Whether there is such a document.
    fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Answer(_) if app_gateway_document(kind).is_some() && self.side.app_gateways().next().is_some() => true,
            Kind::Answer(name) => self.answers.borrow_mut().entry((self.dialect(), name)).or_insert_with(|| self.compute(name)).is_some(),
            Kind::Config => true,
            _ => self.side.gateways().next().is_some(),
        }
    }

    /// Returns an answer of the dialect, for the last time.
    fn take_answer(&self, name: &'static str) -> Option<Node> {
        let computed = self.answers.borrow_mut().remove(&(self.dialect(), name));
        computed.unwrap_or_else(|| self.compute(name))
    }

    fn compute(&self, name: &str) -> Option<Node> {
        (self.side.dialect().output(name)?.document)(self.side)
    }

    /// Returns the requested document. For several kinds, an object by kind.
    fn whole(&self, kinds: &[Kind], compiler: &mut Compiler) -> Result<Node, Unusable> {
        let of_kind = |kind: Kind, compiler: &mut Compiler| {
            if !self.is_by_gateway(kind) {
                return self.node(kind, self.side.gateways().next(), compiler);
            }
            let nodes = self.side.gateways().map(|gateway| Ok((gateway.id.as_str(), self.node(kind, Some(gateway), compiler)?)));
            Ok(named(nodes.collect::<Result<Vec<_>, Unusable>>()?))
        };
        if let [kind] = kinds {
            return of_kind(*kind, compiler);
        }
        let there = kinds.iter().copied().filter(|kind| self.has(*kind));
        Ok(named(there.map(|kind| Ok((kind.name(), of_kind(kind, compiler)?))).collect::<Result<Vec<_>, Unusable>>()?))
    }

    /// Writes the same as JSON, without a line end after it.
    fn json(&self, kinds: &[Kind], compiler: &mut Compiler, sink: &mut Sink) -> Result<(), Unusable> {
        let mut of_kind = |kind: Kind, sink: &mut Sink| {
            let gateways = self.gateways_of(kind);
            if self.is_by_gateway(kind) {
                let gateways: Vec<GatewayRef<'_>> = gateways.into_iter().flatten().collect();
                return object(&gateways, sink, |of| of.id.as_str(), |of, sink| self.document(kind, Some(*of), compiler, sink));
            }
            gateways.into_iter().try_for_each(|gateway| self.document(kind, gateway, compiler, sink))
        };
        if let [kind] = kinds {
            return of_kind(*kind, sink);
        }
        let there: Vec<Kind> = kinds.iter().copied().filter(|kind| self.has(*kind)).collect();
        object(&there, sink, |kind| kind.name(), |kind, sink| of_kind(*kind, sink))
    }

    /// Returns the gateways that each have a document of this kind. If the document belongs to the whole side, returns one entry.
    fn gateways_of(&self, kind: Kind) -> Vec<Option<GatewayRef<'a>>> {
        if self.is_by_gateway(kind) {
            return self.side.gateways().map(Some).collect();
        }
        vec![self.side.gateways().next()]
    }

    /// Writes a document.
    fn document(&self, kind: Kind, gateway: Option<GatewayRef<'_>>, compiler: &mut Compiler, sink: &mut Sink) -> Result<(), Unusable> {
        if self.args.format == DataFormat::Json
            && let (Some(document), Some(gateway)) = (envoy_document(kind), gateway)
        {
            return self.envoy(document, gateway, compiler, &mut |part| sink.write(part.pieces()));
        }
        if self.args.format == DataFormat::Json
            && let (Some(which), Some(gateway)) = (app_gateway_document(kind), self.side.app_gateways().next())
        {
            let text = appgw::emit(gateway.parts, which, self.pretty, compiler.executor(), &mut appgw::Emitted::default());
            return sink.write(text.pieces());
        }
        let node = self.node(kind, gateway, compiler)?;
        // A plain-text document is written verbatim.
        if let (Kind::Answer(_), Value::String(text)) = (kind, &node.value) {
            return sink.write([text.as_str()]);
        }
        let text = match self.args.format {
            DataFormat::Json => to_json(&node, self.pretty),
            DataFormat::Yaml => to_yaml(&node),
        };
        sink.write([text.as_str()])
    }

    /// Passes the parts of an Envoy document to `put`, until it fails. Large documents are not kept in memory.
    fn envoy(
        &self,
        document: envoy::Document,
        gateway: GatewayRef<'_>,
        compiler: &mut Compiler,
        put: &mut dyn FnMut(&Rope) -> Result<(), Unusable>,
    ) -> Result<(), Unusable> {
        let lookup = |reference: &SecretReference| {
            let given = gateway.of().key_material(reference);
            given.or_else(|| self.authority.material(gateway.of(), reference))
        };
        let layout = if self.pretty { envoy::Layout::Pretty } else { envoy::Layout::Compact };
        let secrets = self.args.with_secrets.then_some(&lookup as envoy::Lookup<'_>);
        let options = envoy::Options { document, layout, secrets, executor: compiler.executor() };
        let mut outcome = Ok(());
        envoy::v3::stream(gateway.ir, &options, compiler.emitted.of(gateway), &mut |part| {
            if outcome.is_ok() {
                outcome = put(part);
            }
        });
        outcome
    }

    fn node(&self, kind: Kind, gateway: Option<GatewayRef<'_>>, compiler: &mut Compiler) -> Result<Node, Unusable> {
        let absent = || Unusable(format!("there is no `{}` for this input", kind.name()));
        if let Kind::Answer(name) = kind {
            return self.take_answer(name).ok_or_else(absent);
        }
        if kind == Kind::Config {
            return Ok(dump_config(self.side).0);
        }
        let gateway = gateway.ok_or_else(absent)?;
        if let Some(document) = envoy_document(kind) {
            let limits = Limits { max_nodes: u32::MAX, max_bytes: u32::MAX, ..Limits::default() };
            let mut text = String::new();
            self.envoy(document, gateway, compiler, &mut |part| {
                part.pieces().for_each(|piece| text.push_str(piece));
                Ok(())
            })?;
            return parse(&text, &limits).root.ok_or_else(|| "the output is nested too deeply for this format".into());
        }
        Ok(if self.args.origins { dump_with_origins(gateway, &self.side.compilation.positions()) } else { dump_tree(gateway.ir) })
    }
}

fn envoy_document(kind: Kind) -> Option<envoy::Document> {
    match kind {
        Kind::Envoy => Some(envoy::Document::Bootstrap),
        Kind::Xds => Some(envoy::Document::Resources),
        _ => None,
    }
}

/// Reports on standard error: gateways without a document, several gateways, and missing or assumed objects.
fn notices(compilation: &Compilation) -> Vec<String> {
    let mut notices = input::gaps(compilation);
    if compilation.sides.len() > 1 {
        let names: Vec<&str> = compilation.sides.iter().map(|side| side.dialect.name).collect();
        notices.push(format!("the input is of several dialects: there is one answer for each ({}); --dialect chooses one", names.join(", ")));
    }
    for (side, id, failure) in compilation.stopped() {
        notices.push(plain(&format!("{} does not start for {id}: {}", side.dialect.controller, failure.error)).into());
    }
    notices.extend(std::io::stderr().is_terminal().then(|| summary(compilation)).flatten());
    notices
}

fn summary(compilation: &Compilation) -> Option<String> {
    let findings = findings(compilation, &compilation.positions());
    let number = |severity| findings.iter().filter(|finding| finding.level() == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    let any = errors + warnings > 0;
    any.then(|| format!("{}, {}; `chancery check` shows them", count(errors, "error"), count(warnings, "warning")))
}
