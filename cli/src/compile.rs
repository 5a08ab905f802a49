//! `chancery compile`: the documents, as text.
//!
//! What must not be here: what is in the documents.

use crate::args::{CompileArgs, DataFormat, Deployment, Fields, Kind};
use crate::output::{Sink, tell_all};
use crate::style::{complain, count};
use crate::{Outcome, Unusable, input};
use chancery_core::backend::{Rope, envoy};
use chancery_core::compile::{Compilation, Compiler};
use chancery_core::config::Answer;
use chancery_core::diagnostic::Severity;
use chancery_core::explain::{Positions, dump_config, dump_tree, dump_with_origins, findings_of_all};
use chancery_core::ir::{SecretReference, Spelling};
use chancery_core::text::{Limits, Node, Value, parse, to_json, to_yaml};
use std::io::IsTerminal;

/// Runs it.
pub fn run(args: &CompileArgs, deployment: &Deployment) -> Outcome {
    let (mut compiler, mut sides) = input::compile_each_even_empty(&args.inputs.inputs, deployment)?;
    if args.with_secrets {
        tell_all();
    }
    if args.fields == Fields::Current {
        sides.iter_mut().for_each(|side| side.ir.spelling = Spelling::CURRENT);
    }
    let mut kinds = args.output.clone();
    let mut seen = Vec::new();
    kinds.retain(|kind| {
        !seen.contains(kind) && {
            seen.push(*kind);
            true
        }
    });
    if let Some(absent) = kinds.iter().find(|kind| !sides.iter().any(|side| has(side, **kind))) {
        return Err(format!("there is no `{}` for this input", absent.name()).into());
    }
    let on_terminal = args.out.is_none() && args.out_dir.is_none() && std::io::stdout().is_terminal();
    let pretty = args.pretty || (on_terminal && !args.compact);
    let writers: Vec<Writer<'_>> = sides.iter().map(|compilation| Writer { args, compilation, pretty }).collect();
    let several = sides.len() > 1;
    if let Some(folder) = &args.out_dir {
        let ending = if args.format == DataFormat::Yaml { "yaml" } else { "json" };
        for writer in &writers {
            let folder = if several { folder.join(writer.dialect()) } else { folder.clone() };
            std::fs::create_dir_all(&folder)
                .map_err(|error| format!("cannot make the folder {}: {}", folder.display(), crate::output::reason(&error)))?;
            for kind in writer.there(&kinds) {
                let text = writer.document(kind, &mut compiler)?;
                Sink::file(&folder.join(format!("{}.{ending}", kind.name())))?.write(text.pieces().chain(["\n"]))?;
            }
        }
    } else {
        let mut sink = args.out.as_deref().map_or(Ok(Sink::Standard), Sink::file)?;
        match (&writers[..], args.format) {
            ([only], DataFormat::Yaml) => sink.write([to_yaml(&only.whole(&kinds, &mut compiler)?).as_str()])?,
            ([only], DataFormat::Json) => only.json(&kinds, &mut compiler, &mut sink)?,
            (all, DataFormat::Yaml) => {
                for writer in all {
                    let side = writer.whole(&kinds, &mut compiler)?;
                    sink.write([to_yaml(&named([(writer.dialect(), side)])).as_str()])?;
                }
            }
            (all, DataFormat::Json) => {
                for (at, writer) in all.iter().enumerate() {
                    sink.write([format!("{}\"{}\":", if at == 0 { "{" } else { "," }, writer.dialect()).as_str()])?;
                    writer.json(&kinds, &mut compiler, &mut sink)?;
                }
                sink.write(["}"])?;
            }
        }
        if args.format == DataFormat::Json {
            sink.write(["\n"])?;
        }
    }
    if several {
        let names: Vec<&str> = writers.iter().map(Writer::dialect).collect();
        complain(&format!("the input is of several dialects: there is one answer for each ({}); --dialect chooses one", names.join(", ")));
    }
    if std::io::stderr().is_terminal() {
        summary(&sides);
    }
    // Whoever compiles large inputs does not wait for them to be taken apart.
    std::process::exit(0)
}

/// Whether there is such a document.
fn has(side: &Compilation, kind: Kind) -> bool {
    !kind.is_answer() || side.answers.documents.contains_key(kind.name())
}

fn named(fields: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
    Node::synthesised(Value::Object(fields.into_iter().collect()))
}

/// Writes what one side says.
struct Writer<'a> {
    args: &'a CompileArgs,
    compilation: &'a Compilation,
    pretty: bool,
}

impl Writer<'_> {
    fn dialect(&self) -> &'static str {
        self.compilation.dialect.name()
    }

    /// The documents of these kinds that there are.
    fn there(&self, kinds: &[Kind]) -> Vec<Kind> {
        kinds.iter().copied().filter(|kind| has(self.compilation, *kind)).collect()
    }

    /// The document that is asked for; of several kinds, an object by kind.
    fn whole(&self, kinds: &[Kind], compiler: &mut Compiler) -> Result<Node, Unusable> {
        match (kinds, &self.there(kinds)[..]) {
            ([_], [kind]) => self.node(*kind, compiler),
            (_, there) => {
                let nodes = there.iter().map(|kind| Ok((kind.name(), self.node(*kind, compiler)?)));
                Ok(named(nodes.collect::<Result<Vec<_>, Unusable>>()?))
            }
        }
    }

    /// The same as JSON, without a line end after it.
    fn json(&self, kinds: &[Kind], compiler: &mut Compiler, sink: &mut Sink) -> Result<(), Unusable> {
        match (kinds, &self.there(kinds)[..]) {
            ([_], [kind]) => sink.write(self.document(*kind, compiler)?.pieces()),
            (_, there) => {
                for (at, kind) in there.iter().enumerate() {
                    let text = self.document(*kind, compiler)?;
                    let name = format!("{}\"{}\":", if at == 0 { "{" } else { "," }, kind.name());
                    sink.write([name.as_str()].into_iter().chain(text.pieces()))?;
                }
                sink.write([if there.is_empty() { "{}" } else { "}" }])
            }
        }
    }

    fn document(&self, kind: Kind, compiler: &mut Compiler) -> Result<Rope, Unusable> {
        if self.args.format == DataFormat::Json
            && let Some(document) = envoy_document(kind)
        {
            return Ok(self.envoy(document, compiler));
        }
        let node = self.node(kind, compiler)?;
        let mut rope = Rope::new();
        rope.push_str(&match self.args.format {
            DataFormat::Json => to_json(&node, self.pretty),
            DataFormat::Yaml => to_yaml(&node),
        });
        Ok(rope)
    }

    fn envoy(&self, document: envoy::Document, compiler: &mut Compiler) -> Rope {
        let lookup = |reference: &SecretReference| self.compilation.key_material(reference);
        let layout = if self.pretty { envoy::Layout::Pretty } else { envoy::Layout::Compact };
        let secrets = self.args.with_secrets.then_some(&lookup as envoy::Lookup<'_>);
        envoy::v3::emit(&self.compilation.ir, &envoy::Options { document, layout, secrets }, &mut compiler.emitted)
    }

    fn node(&self, kind: Kind, compiler: &mut Compiler) -> Result<Node, Unusable> {
        if let Some(document) = envoy_document(kind) {
            let limits = Limits { max_nodes: u32::MAX, max_bytes: u32::MAX, ..Limits::default() };
            let text = self.envoy(document, compiler).text();
            return parse(&text, &limits).root.ok_or_else(|| "the output is too deep to be written so".into());
        }
        let compilation = self.compilation;
        Ok(match kind {
            Kind::Config => dump_config(compilation).0,
            kind if kind.is_answer() => compilation
                .answers
                .documents
                .get(kind.name())
                .map(Answer::node)
                .ok_or_else(|| format!("there is no `{}` for this input", kind.name()))?,
            _ if self.args.origins => dump_with_origins(compilation, &Positions::new(&compilation.inputs, &compilation.objects)),
            _ => dump_tree(&compilation.ir),
        })
    }
}

fn envoy_document(kind: Kind) -> Option<envoy::Document> {
    match kind {
        Kind::Envoy => Some(envoy::Document::Bootstrap),
        Kind::Xds => Some(envoy::Document::Resources),
        _ => None,
    }
}

fn summary(sides: &[Compilation]) {
    let findings = findings_of_all(sides);
    let number = |severity| findings.iter().filter(|finding| finding.level() == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    if errors + warnings > 0 {
        complain(&format!("{}, {}; `chancery check` shows them", count(errors, "error"), count(warnings, "warning")));
    }
}
