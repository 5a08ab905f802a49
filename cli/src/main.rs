//! The command line.
use chancery_core::backend::envoy;
use chancery_core::compile::{Compiler, Options};
use chancery_core::dialect::{Dialect, ambassador};
use chancery_core::diagnostic::{Place, Severity};
use chancery_core::resource::{Input, Inputs};
use clap::{Args, Parser, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Compile {
        #[command(flatten)]
        common: Common,
        #[arg(long, default_value = "envoy")]
        output: String,
    },
    Check {
        #[command(flatten)]
        common: Common,
        #[arg(long, default_value = "json")]
        format: String,
    },
}

#[derive(Args)]
struct Common {
    #[arg(long)]
    dialect: Option<String>,
    #[arg(long, default_value = "default")]
    ambassador_id: String,
    #[arg(long, default_value = "default")]
    ambassador_namespace: String,
    #[arg(long)]
    single_namespace: bool,
    #[arg(long, default_value = "error")]
    missing_secrets: String,
    #[arg(long)]
    env: Vec<String>,
    files: Vec<PathBuf>,
}

impl Common {
    fn options(&self) -> Options {
        let mut o = ambassador::Options {
            ambassador_id: self.ambassador_id.as_str().into(),
            ambassador_namespace: self.ambassador_namespace.as_str().into(),
            single_namespace: self.single_namespace,
            missing_secrets: if self.missing_secrets == "assume" { ambassador::MissingSecrets::Assume } else { ambassador::MissingSecrets::Error },
            ..ambassador::Options::default()
        };
        for pair in &self.env {
            if let Some((k, v)) = pair.split_once('=') {
                o.env.insert(k.into(), v.into());
            }
        }
        Options { dialect: self.dialect.as_deref().and_then(Dialect::named), ambassador: o }
    }
    fn inputs(&self) -> Inputs {
        let inputs = self.files.iter().map(|f| Input { name: f.display().to_string().into(), text: std::fs::read_to_string(f).unwrap_or_default().into() }).collect();
        Inputs { inputs }
    }
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Compile { common, output } => {
            let mut compiler = Compiler::new();
            let c = compiler.compile(&common.inputs(), &common.options());
            let document = if output == "xds" { envoy::Document::Resources } else { envoy::Document::Bootstrap };
            let rope = envoy::v3::emit(&c.ir, &envoy::Options { document, ..envoy::Options::default() }, &mut compiler.emitted);
            let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            for piece in rope.pieces() {
                let _ = out.write_all(piece.as_bytes());
            }
            let _ = out.flush();
            std::process::exit(0)
        }
        Command::Check { common, .. } => {
            let c = Compiler::new().compile(&common.inputs(), &common.options());
            let rows: Vec<_> = c.diagnostics.iter().map(|d| {
                let at = match &d.place {
                    Place::Node { object, node, .. } => c.objects.get(*object).map(|o| format!("{} {}", o.key, o.path(*node))),
                    _ => None,
                };
                serde_json::json!({
                    "code": d.code.name, "severity": d.severity.name(), "message": d.message, "at": at,
                    "resource": d.resource.as_ref().map(|r| serde_json::json!({"kind": r.kind.as_str(), "name": r.name.as_str(), "namespace": r.namespace.as_ref().map(|n| n.as_str())})),
                })
            }).collect();
            println!("{}", serde_json::json!({ "diagnostics": rows }));
            ExitCode::from(u8::from(c.diagnostics.iter().any(|d| d.severity == Severity::Error)))
        }
    }
}
