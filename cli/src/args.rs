//! The arguments. Flag names and exit codes are a contract, because scripts use them.
//!
//! Does not run commands; see the module of each command.

mod check;
mod convert;
mod deployment;
mod diff;
mod editor;
pub mod layers;
mod listing;
mod live;
mod replay;

pub use check::{CheckArgs, CheckFormat, TestArgs, TestFormat};
pub use convert::{Conversion, ConversionTarget, ConvertArgs};

pub use deployment::{Deployment, MAX_INPUT};
pub use diff::{Counts, DiffArgs, DiffFormat, DriftArgs};
pub use editor::{LspArgs, McpArgs};
pub use listing::{CodesArgs, LedgerArgs, ListArgs, ManArgs, WatchesArgs};
pub use live::{AskArgs, AzureArgs, BootstrapArgs, CollectArgs, LiveArgs, ManifestsArgs, ServeArgs, WatchArgs};
pub use replay::{ReplayArgs, ReplayFormat, Scheme};

use crate::judging::Judging;
use chancery_core::compilation::Output;
use chancery_core::dialect;
use chancery_core::explain::View;
use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Compute and explain the configuration that a gateway controller generates from your YAML.
///
/// Reads the resources that you would `kubectl apply` for Ambassador (Emissary-ingress), Contour, Consul, Envoy Gateway, ingress-nginx or Azure's
/// ingress controller. Computes exactly the configuration that the controller would send, and explains it: the line behind each field, wrong
/// fields, and resources without effect.
#[derive(Parser)]
#[command(name = "chancery", version, long_version = long_version(), styles = STYLES, subcommand_required = true, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 success, 1 `check` found errors or --exit-code found a difference, 2 the input cannot be used.")]
#[command(after_long_help = "\
Examples:
  chancery check gateway/                       report findings with their lines
  chancery compile gateway.yaml > envoy.json    write Envoy's configuration
  kubectl get mapping,host -A -o yaml | chancery compile -
  chancery explain gateway.yaml:12              show what a line generates
  chancery explain route/timeout gateway.yaml   show the lines behind a field
  chancery route https://example.com/api gateway/   show what happens to a request

Exit codes: 0 success, 1 `check` found errors or --exit-code found a difference, 2 the input cannot be used.")]
pub struct Cli {
    /// Colour the output
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: Color,
    /// The controller's options.
    #[command(flatten)]
    pub deployment: Deployment,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The version, with the versions of the controllers and of Envoy. It lives as long as the process.
fn long_version() -> &'static str {
    let names: Vec<String> = dialect::CONTROLLERS.iter().map(|(name, version)| format!("  {name:<14} {version}")).collect();
    format!("{}\nfollows:\n{}\n  {:<14} {}", env!("CARGO_PKG_VERSION"), names.join("\n"), "envoy", dialect::ENVOY).leak()
}

/// The commands.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one in the process")]
pub enum Command {
    /// Write the configuration that the controller would send.
    Compile(CompileArgs),
    /// Report problems with their lines, and apply certain fixes.
    Check(CheckArgs),
    /// Simulate requests, and report those with an unexpected result.
    Test(TestArgs),
    /// Show the settings in effect and their file.
    Config(ListArgs),
    /// Explain a field of the result, or a line of the input.
    Explain(ExplainArgs),
    /// Show what happens to a request, and why.
    Route(RouteArgs),
    /// Draw the references between resources and the parts of the gateway.
    Graph(GraphArgs),
    /// Show how one resource leads to another, and through which fields.
    Why(WhyArgs),
    /// Write inputs and options into one file that gives the same result elsewhere. Every command accepts it as its input.
    Snapshot(SnapshotArgs),
    /// Write the objects of a cluster into one snapshot without keys, for a bug report.
    Collect(CollectArgs),
    /// Check the snapshot in a link. Every command accepts such a link as its input.
    Open(OpenArgs),
    /// Convert objects of one configuration language to another.
    Convert(ConvertArgs),
    /// Compare how several controllers treat the same Ingresses.
    Across(AcrossArgs),
    /// Compare two configurations: resources, Envoy's configuration, and requests with different results.
    Diff(DiffArgs),
    /// Compare the source with the configuration of a running Envoy.
    Drift(DriftArgs),
    /// Read the configuration dump of a running Envoy.
    #[command(subcommand)]
    Dump(DumpCommand),
    /// Replay access logs: find requests that a configuration answers differently, and routes without requests.
    Replay(ReplayArgs),
    /// Show the result of every resource: emitted, merged, shadowed, ignored or invalid.
    Ledger(LedgerArgs),
    /// Show the watches of each proxy: their reasons, their results, and missing answers.
    Watches(WatchesArgs),
    /// List the kinds of resources that Chancery reads.
    Kinds(ListArgs),
    /// List the codes of findings, or show the page of a code or rule.
    Codes(CodesArgs),
    /// Follow a folder, a cluster or a stream of events, and report the effect of each change.
    Watch(WatchArgs),
    /// Serve the configuration to real Envoys by xDS, and update it after each change.
    Serve(ServeArgs),
    /// Write the bootstrap of an Envoy that gets its configuration from `chancery serve`.
    Bootstrap(BootstrapArgs),
    /// Write manifests that run `chancery serve` in a cluster with the fewest permissions.
    Manifests(ManifestsArgs),
    /// List the Envoys that are connected to a server, with the resources that they accepted and rejected.
    Envoys(AskArgs),
    /// List the events of a server: builds, and the Envoys that accepted them.
    Events(AskArgs),
    /// Serve the playground to this machine only.
    Play(PlayArgs),
    /// Open the desktop window for a folder or a cluster.
    Desktop(DesktopArgs),
    /// Serve an editor over the language server protocol.
    Lsp(LspArgs),
    /// Serve a coding agent over the Model Context Protocol; read-only.
    Mcp(McpArgs),
    /// Write completions for a shell.
    #[command(after_help = "Example:\n  chancery completions bash > ~/.local/share/bash-completion/completions/chancery")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the main man page, or all man pages into a folder.
    Man(ManArgs),
}

/// `--color`
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Color {
    /// Colours on a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Colours always.
    Always,
    /// No colours.
    Never,
}

/// The inputs of a command.
#[derive(Args, Default)]
pub struct Inputs {
    /// Files, folders, globs, `-` for standard input, or one snapshot. Chancery reads the .yaml, .yml, .json and .hcl files of folders that contain resources.
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,
}

/// `play`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery play                http://127.0.0.1:8137/, or another port if 8137 is in use
  chancery play --port 9000")]
pub struct PlayArgs {
    /// Port on loopback [default: 8137, or any free port]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
}

/// `desktop`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery desktop gateway/                          follow a folder
  chancery desktop --context prod --namespace shop   follow a cluster")]
pub struct DesktopArgs {
    /// Folder or file to open
    pub path: Option<PathBuf>,
    /// Connect to the cluster of this context of the kubeconfig
    #[arg(long, value_name = "NAME", conflicts_with = "path")]
    pub context: Option<String>,
    /// Follow this namespace only
    #[arg(long, short, value_name = "NAME", requires = "context")]
    pub namespace: Option<String>,
}

/// `compile`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery compile gateway.yaml                        Envoy's bootstrap, as JSON
  chancery compile gateway/ --output xds --format yaml
  chancery compile 'gateway/*.yaml' --output envoy --output ir --out-dir build/
  chancery compile --with-secrets gateway/ -o envoy.json && envoy -c envoy.json

If the input contains several dialects, the output is one object with a field per dialect, or with --out-dir a folder per dialect.
--dialect chooses one. If a controller runs several gateways, the output has a field per gateway, or with --out-dir a file
GATEWAY.KIND.json per gateway. --gateway chooses one.")]
pub struct CompileArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Write this document. Repeat the flag to write one JSON object by kind, or with --out-dir one file per kind.
    ///
    /// The default is `envoy`, or the native document of an input that generates no Envoy, such as `appgw`.
    #[arg(long, value_parser = Kind::parser(), value_name = "KIND")]
    pub output: Vec<Kind>,
    /// Output format
    #[arg(long, value_enum, default_value_t = DataFormat::Json)]
    pub format: DataFormat,
    /// Write no blanks [default if the output is not a terminal]
    #[arg(long, conflicts_with = "pretty")]
    pub compact: bool,
    /// Indent the output [default on a terminal]
    #[arg(long)]
    pub pretty: bool,
    /// Write into this file; `-` is standard output
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out_dir")]
    pub out: Option<PathBuf>,
    /// Write each kind into a separate file in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
    /// Put certificates, keys and credentials into the output, so that Envoy runs without a management server. A temporary CA issues the
    /// certificates that Consul's CA would issue.
    #[arg(long)]
    pub with_secrets: bool,
    /// Write the controller's fields, or only fields that Envoy has not deprecated
    #[arg(long, value_enum, default_value_t = Fields::AsController, value_name = "WHICH")]
    pub fields: Fields,
    /// With `--output ir`: write the origin of each value
    #[arg(long)]
    pub origins: bool,
}

/// `--output`
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One Envoy bootstrap, routes inline.
    Envoy,
    /// Envoy's resources by kind.
    Xds,
    /// The gateway's behaviour, before it is written as Envoy's messages.
    Ir,
    /// The resources as the controller loads them.
    Config,
    /// Another output of a controller, by its name.
    Answer(&'static str),
}

/// The documents that every dialect has, with descriptions.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Envoy, "One Envoy bootstrap, routes inline"),
    (Kind::Xds, "Envoy's resources by kind: listeners, routes, clusters, endpoints, secrets, runtimes"),
    (Kind::Ir, "The gateway's behaviour, before it is written as Envoy's messages"),
    (Kind::Config, "The resources as the controller loads them"),
];

impl Kind {
    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Envoy => "envoy",
            Kind::Xds => "xds",
            Kind::Ir => "ir",
            Kind::Config => "config",
            Kind::Answer(name) => name,
        }
    }

    /// Whether each gateway has its own document.
    pub fn is_of_gateway(self) -> bool {
        matches!(self, Kind::Envoy | Kind::Xds | Kind::Ir)
    }

    /// All documents, including those of dialects, each once.
    fn all() -> Vec<(Kind, &'static str)> {
        let mut all = KINDS.to_vec();
        for output in dialect::ALL.iter().flat_map(|dialect| dialect.outputs) {
            if !all.iter().any(|(known, _)| known.name() == output.name) {
                all.push((Kind::Answer(output.name), output.doc));
            }
        }
        all
    }

    /// Reads the word.
    fn parser() -> impl TypedValueParser<Value = Kind> {
        let values = Self::all().into_iter().map(|(kind, doc)| PossibleValue::new(kind.name()).help(doc));
        PossibleValuesParser::new(values)
            .try_map(|word| Self::all().into_iter().find(|(kind, _)| kind.name() == word).map(|(kind, _)| kind).ok_or("unknown"))
    }
}

/// `--format` of data.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DataFormat {
    /// JSON.
    Json,
    /// YAML.
    Yaml,
}

/// `--fields`
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Fields {
    /// The controller's fields.
    AsController,
    /// No deprecated fields.
    Current,
}

/// `explain`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery explain gateway.yaml:12                show what line 12 generates
  chancery explain gateway.yaml:12:9 gateway/     the value at column 9, with the rest of the folder
  chancery explain /static_resources/clusters/0/connect_timeout gateway/
  chancery explain route/timeout gateway/         the end of a pointer is enough
  chancery explain Mapping/shop gateway/          show what an object generates
  chancery explain cluster:cluster_quote_default gateway/
  chancery explain --in chain Targets mesh.yaml   the targets of Consul's discovery chains")]
pub struct ExplainArgs {
    /// A place in the result (JSON pointer, its end, or KIND:NAME), an object (KIND/NAME), or FILE:LINE or FILE:LINE:COLUMN (FILE is `stdin`
    /// for standard input)
    #[arg(value_name = "POINTER|OBJECT|FILE:LINE")]
    pub target: String,
    #[command(flatten)]
    pub inputs: Inputs,
    /// The document that contains the place
    #[arg(long = "in", value_parser = In::parser(), default_value = "envoy", value_name = "KIND")]
    pub view: In,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `--in`
#[derive(Clone, Copy)]
pub enum In {
    /// A gateway's configuration, in one of its forms.
    Gateway(View),
    /// Another output of a controller, with the origin of each value.
    Answer(&'static Output),
}

impl In {
    /// All results, each with a description.
    fn all() -> impl Iterator<Item = (&'static str, &'static str, In)> {
        let forms = [("One Envoy bootstrap", View::Envoy), ("Envoy's resources by kind", View::Xds), ("The IR", View::Ir)];
        let answers = dialect::ALL.iter().flat_map(|dialect| dialect.outputs).filter(|output| output.traced.is_some());
        forms.into_iter().map(|(doc, view)| (view.name(), doc, In::Gateway(view))).chain(answers.map(|of| (of.name, of.doc, In::Answer(of))))
    }

    /// The word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            In::Gateway(view) => view.name(),
            In::Answer(output) => output.name,
        }
    }

    /// Reads the word.
    fn parser() -> impl TypedValueParser<Value = In> {
        let values = Self::all().map(|(name, doc, _)| PossibleValue::new(name).help(doc));
        PossibleValuesParser::new(values).try_map(|word| Self::all().find(|(name, ..)| *name == word).map(|(.., of)| of).ok_or("unknown"))
    }
}

/// Human-readable text or JSON.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for a terminal.
    Human,
    /// JSON.
    Json,
}

/// `route`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery route http://example.com/backend/ gateway/
  chancery route -X POST -H 'x-version: 2' https://example.com/api?debug gateway.yaml
  chancery route --port 8443 --sni example.com https://10.0.0.1/ gateway/
  chancery route --curl \"curl -H 'x-version: 2' https://example.com/api\" gateway/
  chancery route --format json http://example.com/ gateway/ | jq .outcome
  chancery route http://example.com/ dump.json        in the dump of a running Envoy")]
pub struct RouteArgs {
    /// The URL of the request; without a scheme, http://. With --curl or --requests, the first input
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    #[command(flatten)]
    pub inputs: Inputs,
    /// The method
    #[arg(short = 'X', long = "request", value_name = "METHOD", default_value = "GET")]
    pub method: String,
    /// A header, such as 'name: value'; repeatable
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = header)]
    pub headers: Vec<(String, String)>,
    /// The request as a curl command
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["method", "headers"])]
    pub curl: Option<String>,
    /// Send several requests to ingress-nginx: a JSON file with a list of {scheme, method, host, path, headers, ...}
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "headers", "curl"])]
    pub requests: Option<PathBuf>,
    /// The port of the connection [default: the URL's port]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// The server name in the TLS handshake [default: the URL's host]
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Use TLS even if the URL is http://
    #[arg(long)]
    pub tls: bool,
    /// Offer this protocol in the TLS handshake; repeatable
    #[arg(long, value_name = "PROTOCOL")]
    pub alpn: Vec<String>,
    /// Present a client certificate
    #[arg(long)]
    pub client_cert: bool,
    /// The address of the client
    #[arg(long, value_name = "IP")]
    pub source: Option<std::net::IpAddr>,
    /// The address that the client connects to
    #[arg(long, value_name = "IP")]
    pub destination: Option<std::net::IpAddr>,
    /// Send the request by HTTP/2
    #[arg(long)]
    pub http2: bool,
    /// The random number that chooses between weighted clusters and decides for routes that match a fraction of the requests
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Show every host and every route that was tried
    #[arg(short = 'v', long, visible_alias = "verbose")]
    pub all: bool,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

fn header(text: &str) -> Result<(String, String), String> {
    match text.split_once(':').filter(|(name, _)| !name.is_empty()).or_else(|| text.strip_prefix(':')?.split_once(':')) {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().into(), value.trim().into())),
        _ => Err("write it as 'name: value'".into()),
    }
}

/// `graph`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery graph --format svg gateway/ > gateway.svg
  chancery graph --format mermaid --from Mapping/quote gateway/
  chancery graph --only-errors gateway/ | dot -Tpng > wrong.png
  chancery graph --format svg dump.json > envoy.svg   the configuration of a running Envoy")]
pub struct GraphArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,
    /// Show only resources and their references
    #[arg(long)]
    pub resources: bool,
    /// Show only the nodes before and after this node: `quote`, `Mapping/quote` or `cluster:NAME`; repeatable
    #[arg(long, value_name = "NODE")]
    pub from: Vec<String>,
    /// Show nodes that are at most N relations away from it
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Show only this kind of resources (`Mapping`) or of Envoy's parts (`cluster`); repeatable
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Show only wrong and missing nodes, and their neighbours
    #[arg(long)]
    pub only_errors: bool,
    /// With `--format svg`: also show parts that the controller adds, such as its readiness checks
    #[arg(long)]
    pub all: bool,
    /// Join the nodes of a kind and namespace if there are more than N nodes; 0 never joins. JSON is joined only with this flag
    #[arg(long, value_name = "N")]
    pub fold: Option<usize>,
}

/// `why`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery why Host/shop cluster_quote_default gateway/
  chancery why http quote gateway.yaml

Exit codes: 0 a path exists, 1 there is no path, 2 the input cannot be used.")]
pub struct WhyArgs {
    /// The start of the path: `quote`, `Mapping/quote`, `cluster:NAME` or an id of `chancery graph --format json`
    #[arg(value_name = "NODE")]
    pub from: String,
    /// The end of the path
    #[arg(value_name = "NODE")]
    pub to: String,
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `--format` of graphs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
    /// JSON.
    Json,
    /// A picture, light or dark by the viewer's preference.
    Svg,
}

/// `snapshot`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery snapshot gateway/ -o gateway.snapshot.json
  chancery check gateway.snapshot.json
  chancery snapshot gateway/ --link https://chancery.example/")]
pub struct SnapshotArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// Write into this file; `-` is standard output
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Keep keys and other values of Secrets. By default, placeholders of the same form replace them
    #[arg(long)]
    pub with_secrets: bool,
    /// Write a link to this page that contains the snapshot, instead of a file. Nothing is sent
    #[arg(long, value_name = "PAGE", value_hint = ValueHint::Url, value_parser = page)]
    pub link: Option<String>,
    #[command(flatten)]
    pub judging: Judging,
}

fn page(text: &str) -> Result<String, &'static str> {
    if text.contains("://") { Ok(text.to_string()) } else { Err("write the address of a page, such as https://chancery.example/") }
}

/// `open`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery open 'https://chancery.example/#snapshot=1...'
  chancery graph --format svg 'https://chancery.example/#snapshot=1...'")]
pub struct OpenArgs {
    /// A link from `chancery snapshot --link` or the playground. Chancery reads it on this machine and sends nothing
    #[arg(value_name = "LINK", value_hint = ValueHint::Url)]
    pub link: PathBuf,
    /// The output format.
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub format: CheckFormat,
    #[command(flatten)]
    pub judging: Judging,
}

/// `dump`
#[derive(Subcommand)]
pub enum DumpCommand {
    /// Show the configuration in a dump: active, last accepted, and rejected resources.
    #[command(after_help = "Example:\n  curl -s localhost:9901/config_dump?include_eds | chancery dump read -")]
    Read(DumpArgs),
}

/// `dump read`
#[derive(Args)]
pub struct DumpArgs {
    /// Envoy's /config_dump or a bootstrap, as JSON or YAML; `-` for standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `across`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery across ingresses/                 list the requests that the controllers treat differently
  chancery across --format json ingresses/   the same as JSON

Each Ingress gets the class of each controller in turn and is otherwise unchanged. Missing Services and Endpoints are assumed to exist.

Exit codes: 0 success, 1 with --exit-code if a request differs, 2 the input cannot be used.")]
pub struct AcrossArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Exit with 1 if a request differs
    #[arg(long)]
    pub exit_code: bool,
}
