//! `chancery compile`: the documents, as text.
//!
//! What must not be here: what is in the documents.

use crate::args::{CompileArgs, DataFormat, Deployment, Fields, Kind};
use crate::output::Sink;
use crate::style::{complain, count};
use crate::{Outcome, Unusable, input};
use chancery_core::backend::{Rope, envoy};
use chancery_core::compile::{Compilation, Compiler};
use chancery_core::diagnostic::Severity;
use chancery_core::explain::{Positions, dump_tree, dump_with_origins};
use chancery_core::ir::{SecretReference, Spelling};
use chancery_core::text::{Limits, Node, Value, parse, to_json, to_yaml};
use std::io::IsTerminal;

/// Runs it.
pub fn run(args: &CompileArgs, deployment: &Deployment) -> Outcome {
    let (mut compiler, mut compilation) = input::compile(&args.inputs.inputs, deployment)?;
    if args.fields == Fields::Current {
        compilation.ir.spelling = Spelling::CURRENT;
    }
    let mut kinds = args.output.clone();
    let mut seen = Vec::new();
    kinds.retain(|kind| {
        !seen.contains(kind) && {
            seen.push(*kind);
            true
        }
    });
    let on_terminal = args.out.is_none() && args.out_dir.is_none() && std::io::stdout().is_terminal();
    let pretty = args.pretty || (on_terminal && !args.compact);
    let writer = Writer { args, compilation: &compilation, pretty };
    if let Some(folder) = &args.out_dir {
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot make the folder {}: {}", folder.display(), crate::output::reason(&error)))?;
        let ending = if args.format == DataFormat::Yaml { "yaml" } else { "json" };
        for kind in kinds {
            let text = writer.document(kind, &mut compiler)?;
            Sink::file(&folder.join(format!("{}.{ending}", kind.name())))?.write(text.pieces().chain(["\n"]))?;
        }
    } else {
        let mut sink = args.out.as_deref().map_or(Ok(Sink::Standard), Sink::file)?;
        if let [kind] = kinds[..] {
            let text = writer.document(kind, &mut compiler)?;
            let end = if args.format == DataFormat::Yaml { "" } else { "\n" };
            sink.write(text.pieces().chain([end]))?;
        } else {
            writer.all(&kinds, &mut compiler, &mut sink)?;
        }
    }
    if std::io::stderr().is_terminal() {
        summary(&compilation);
    }
    // Whoever compiles large inputs does not wait for them to be taken apart.
    std::process::exit(0)
}

struct Writer<'a> {
    args: &'a CompileArgs,
    compilation: &'a Compilation,
    pretty: bool,
}

impl Writer<'_> {
    /// One object by kind.
    fn all(&self, kinds: &[Kind], compiler: &mut Compiler, sink: &mut Sink) -> Result<(), Unusable> {
        let yaml = self.args.format == DataFormat::Yaml;
        for (at, kind) in kinds.iter().enumerate() {
            if yaml {
                let node = self.node(*kind, compiler)?;
                let named = Node::synthesised(Value::Object([(kind.name(), node)].into_iter().collect()));
                sink.write([to_yaml(&named).as_str()])?;
            } else {
                let text = self.document(*kind, compiler)?;
                let name = format!("{}\"{}\":", if at == 0 { "{" } else { "," }, kind.name());
                sink.write([name.as_str()].into_iter().chain(text.pieces()))?;
            }
        }
        if yaml { Ok(()) } else { sink.write(["}\n"]) }
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
            Kind::Config => compilation.config.dump(),
            Kind::Status | Kind::Admission | Kind::Error | Kind::ContourConfiguration | Kind::Provisioned => {
                compilation.documents.get(kind.name()).cloned().ok_or_else(|| format!("there is no `{}` for this input", kind.name()))?
            }
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

fn summary(compilation: &Compilation) {
    let number = |severity| compilation.diagnostics.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (number(Severity::Error), number(Severity::Warning));
    if errors + warnings > 0 {
        complain(&format!("{}, {}; `chancery check` shows them", count(errors, "error"), count(warnings, "warning")));
    }
}
