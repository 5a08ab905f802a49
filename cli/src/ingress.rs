//! `--dialect ingress`: what the Application Gateway gets.
//!
//! It stands by itself as long as the core's list of dialects has one output only. What must not be here: what is in the documents.

use crate::args::{CompileArgs, DataFormat, Deployment, Kind};
use crate::output::{Sink, reason};
use crate::{Outcome, Unusable, input};
use chancery_core::backend::appgw::{self, Document};
use chancery_core::config::{Answer, Ledger};
use chancery_core::dialect::ingress::{self, Compiled, GatewayFile, Options};
use chancery_core::resource::{DocumentCache, ReadOptions, read};
use chancery_core::text::{Limits, Node, Str, Value, parse, to_json, to_yaml};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

/// Whether it is asked for.
pub fn is_meant(deployment: &Deployment) -> bool {
    deployment.dialect.as_deref() == Some("ingress")
}

/// Writes the documents that are asked for.
pub fn compile(args: &CompileArgs, deployment: &Deployment) -> Outcome {
    let mut inputs = input::texts(&args.inputs.inputs)?;
    let (mut objects, mut findings) = read(&inputs, &ReadOptions::default(), &mut DocumentCache::default());
    let mut ledger = Ledger::new(&objects);
    let compiled = ingress::compile(&mut inputs, &mut objects, &options(deployment)?, &mut ledger, &mut findings);
    let pretty = args.pretty || (args.out.is_none() && std::io::stdout().is_terminal() && !args.compact);
    let documents: Vec<(&str, Node)> =
        args.output.iter().map(|kind| Ok((kind.name(), document(&compiled, *kind)?))).collect::<Result<_, Unusable>>()?;
    let whole = match &documents[..] {
        [(_, only)] => only.clone(),
        _ => Node::synthesised(Value::Object(documents.into_iter().collect())),
    };
    let text = match args.format {
        DataFormat::Json => to_json(&whole, pretty) + "\n",
        DataFormat::Yaml => to_yaml(&whole),
    };
    args.out.as_deref().map_or(Ok(Sink::Standard), Sink::file)?.write([text.as_str()])?;
    Ok(0)
}

fn document(compiled: &Compiled, kind: Kind) -> Result<Node, Unusable> {
    let gateway = |which| compiled.gateway.as_ref().map_or(Node::synthesised(Value::Null), |gateway| appgw::document(gateway, which));
    Ok(match kind {
        // What is written where nothing else is asked for.
        Kind::Envoy | Kind::Appgw => gateway(Document::Parts),
        Kind::Arm => gateway(Document::Whole),
        other => {
            let answer = compiled.answers.documents.get(other.name()).map(Answer::node);
            answer.ok_or_else(|| format!("there is no `{}` for this input", other.name()))?
        }
    })
}

fn options(deployment: &Deployment) -> Result<Options, Unusable> {
    let text = |path: &Path| std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {}", path.display(), reason(&error)));
    let existing_gateway = match &deployment.existing_gateway {
        Some(path) => Some(GatewayFile { name: path.display().to_string().into(), text: text(path)?.into() }),
        None => None,
    };
    let public_ips = match &deployment.public_ips {
        Some(path) => Some(addresses(&text(path)?).ok_or_else(|| format!("{} is not an object of addresses by ids", path.display()))?),
        None => None,
    };
    Ok(Options {
        existing_gateway,
        env: deployment.env.iter().map(|(key, value)| (key.as_str().into(), value.as_str().into())).collect(),
        public_ips,
        get_error: deployment.get_error.as_deref().map(Str::new),
        update_error: deployment.update_error.as_deref().map(Str::new),
        old_ingress_api: deployment.old_ingress_api,
    })
}

fn addresses(text: &str) -> Option<BTreeMap<Str, Str>> {
    let root = parse(text, &Limits::default()).root?;
    root.as_object()?.iter().map(|entry| Some((entry.key.clone(), Str::new(entry.value.as_str()?)))).collect()
}
