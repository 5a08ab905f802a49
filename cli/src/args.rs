//! The arguments. Flag names and exit codes are a contract, because scripts use them.
//!
//! Does not run commands; see the module of each command.

mod check;
mod convert;
mod deployment;
mod diff;
pub mod layers;
mod live;

pub use check::{CheckArgs, CheckFormat, TestArgs, TestFormat};
pub use convert::{Conversion, ConversionTarget, ConvertArgs};

pub use deployment::{Deployment, MAX_INPUT};
pub use diff::{Counts, DiffArgs, DiffFormat, DriftArgs};
pub use live::{AskArgs, AzureArgs, BootstrapArgs, LiveArgs, ManifestsArgs, ServeArgs, WatchArgs};

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

/// What an Envoy-based gateway makes of your YAML, explained.
///
/// Reads the resources that you would `kubectl apply` for Ambassador (Emissary-ingress), Contour, Consul or Azure's ingress controller, works out
/// exactly the configuration that the controller would make of them, and explains it: which line made which field, what is wrong, and what had no
/// effect.
#[derive(Parser)]
#[command(name = "chancery", version, styles = STYLES, subcommand_required = true, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 fine, 1 `check` found errors or --exit-code a difference, 2 the input cannot be used.")]
#[command(after_long_help = "\
Examples:
  chancery check gateway/                       what is wrong, with the lines
  chancery compile gateway.yaml > envoy.json    what Envoy gets
  kubectl get mapping,host -A -o yaml | chancery compile -
  chancery explain gateway.yaml:12              what a line makes
  chancery explain route/timeout gateway.yaml   what makes a field
  chancery route https://example.com/api gateway/   what happens to a request

Exit codes: 0 fine, 1 `check` found errors or --exit-code a difference, 2 the input cannot be used.")]
pub struct Cli {
    /// Colours: on a terminal unless NO_COLOR is set, always, or never.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN", help_heading = "Output")]
    pub color: Color,
    /// How the controller runs.
    #[command(flatten)]
    pub deployment: Deployment,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one in the process")]
pub enum Command {
    /// Write the Envoy configuration that the controller would make.
    Compile(CompileArgs),
    /// Report what is wrong, and where; mend what can be mended for certain.
    Check(CheckArgs),
    /// Try requests, and report those that do not end as expected.
    Test(TestArgs),
    /// Show the settings that are in effect, and the file that they come from.
    Config(ListArgs),
    /// Explain what made a field of the result, or what a line makes.
    Explain(ExplainArgs),
    /// Show what happens to a request, and why.
    Route(RouteArgs),
    /// Draw what refers to what, and what Envoy gets of it.
    Graph(GraphArgs),
    /// Show how one thing leads to another, by which fields.
    Why(WhyArgs),
    /// Write inputs and options into one file that gives the same answer elsewhere. Every command takes it as its input.
    Snapshot(SnapshotArgs),
    /// Report what is wrong in the snapshot of a link. Every command takes such a link as its input.
    Open(OpenArgs),
    /// Write objects of one configuration language as objects of another.
    Convert(ConvertArgs),
    /// Compare what several controllers do with the same Ingresses.
    Across(AcrossArgs),
    /// Compare two configurations: resources, what Envoy gets, and requests that they treat differently.
    Diff(DiffArgs),
    /// Compare the source with what a running Envoy has.
    Drift(DriftArgs),
    /// Read the configuration dump of a running Envoy.
    #[command(subcommand)]
    Dump(DumpCommand),
    /// Account for every resource: emitted, merged, shadowed, ignored or invalid.
    Ledger(LedgerArgs),
    /// Show what each proxy watches, why, what it brought, and what is still missing.
    Watches(WatchesArgs),
    /// List the kinds of resources that are read.
    Kinds(ListArgs),
    /// List the codes of findings, or show the page of one.
    Codes(CodesArgs),
    /// Follow a folder, a cluster or a stream of events, and report what each change does.
    Watch(WatchArgs),
    /// Serve the configuration to real Envoys by xDS, as it changes.
    Serve(ServeArgs),
    /// Write the bootstrap of an Envoy that gets everything from `chancery serve`.
    Bootstrap(BootstrapArgs),
    /// Write the manifests with which `chancery serve` runs in a cluster, with the permissions that it needs and no others.
    Manifests(ManifestsArgs),
    /// List the Envoys that are connected to a server, and what each accepted and rejected.
    Envoys(AskArgs),
    /// List the events of a server: builds, and which Envoys accepted them.
    Events(AskArgs),
    /// Serve the playground, a page that shows all of this, to this machine only.
    Play(PlayArgs),
    /// Open the desktop's window, which follows a folder or a cluster.
    Desktop(DesktopArgs),
    /// Write completions for a shell.
    #[command(after_help = "Example:\n  chancery completions bash > ~/.local/share/bash-completion/completions/chancery")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write man pages: the main one, or all of them into a folder.
    Man(ManArgs),
}

/// `--color`
#[derive(Clone, Copy, Default, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to read.
#[derive(Args, Default)]
pub struct Inputs {
    /// Files, folders, globs, or `-` for standard input; or one snapshot. Of folders, the .yaml, .yml, .json and .hcl files that hold resources are read.
    #[arg(value_name = "INPUT", value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,
}

/// `play`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery play                http://127.0.0.1:8137/, or another port if that is taken
  chancery play --port 9000")]
pub struct PlayArgs {
    /// Port on loopback; 8137, or any free port, when not given.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
}

/// `desktop`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery desktop gateway/                          a folder, followed
  chancery desktop --context prod --namespace shop   a cluster, followed")]
pub struct DesktopArgs {
    /// A folder or file to open.
    pub path: Option<PathBuf>,
    /// A context of the kubeconfig to connect to.
    #[arg(long, value_name = "NAME", conflicts_with = "path")]
    pub context: Option<String>,
    /// Only this namespace.
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

An input of several dialects gives one answer for each, as one object by dialect, or with --out-dir in a folder each; --dialect chooses one.
Where a controller runs several gateways, there is one object by gateway, or with --out-dir a file GATEWAY.KIND.json each; --gateway chooses one.")]
pub struct CompileArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// What to write. May be given several times: then the output is one JSON object by kind, or with --out-dir a file for each.
    ///
    /// Unless given, `envoy`; `appgw` where the input makes an Application Gateway and no Envoy.
    #[arg(long, value_parser = Kind::parser(), value_name = "KIND")]
    pub output: Vec<Kind>,
    /// JSON or YAML.
    #[arg(long, value_enum, default_value_t = DataFormat::Json)]
    pub format: DataFormat,
    /// Write no blanks; the default where the output is not a terminal.
    #[arg(long, conflicts_with = "pretty")]
    pub compact: bool,
    /// Indent; the default on a terminal.
    #[arg(long)]
    pub pretty: bool,
    /// Write into this file; `-` is standard output.
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "out_dir")]
    pub out: Option<PathBuf>,
    /// Write each kind into a file of its own in this folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
    /// Put certificates, keys and credentials into the output, which then runs without a management server. In the place of what Consul's authority
    /// issues, a throw-away authority issues it.
    #[arg(long)]
    pub with_secrets: bool,
    /// Which of Envoy's fields are used: those of the controller, or only those that Envoy does not call deprecated.
    #[arg(long, value_enum, default_value_t = Fields::AsController, value_name = "WHICH")]
    pub fields: Fields,
    /// With `--output ir`: write each value with its origin.
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
    /// What the gateway does, before it becomes Envoy's messages.
    Ir,
    /// The resources as the controller loads them.
    Config,
    /// What a controller answers besides, by the name of the output.
    Answer(&'static str),
}

/// The documents that every dialect has, with what they are.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Envoy, "One Envoy bootstrap, routes inline"),
    (Kind::Xds, "Envoy's resources by kind: listeners, routes, clusters, endpoints, secrets, runtimes"),
    (Kind::Ir, "What the gateway does, before it becomes Envoy's messages"),
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

    /// Whether each gateway has one of its own.
    pub fn is_of_gateway(self) -> bool {
        matches!(self, Kind::Envoy | Kind::Xds | Kind::Ir)
    }

    /// All of them, those of dialects included, each once.
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
    /// As the controller does.
    AsController,
    /// None that Envoy calls deprecated.
    Current,
}

/// `explain`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery explain gateway.yaml:12                what line 12 makes
  chancery explain gateway.yaml:12:9 gateway/     the value at column 9, with the rest of the folder
  chancery explain /static_resources/clusters/0/connect_timeout gateway/
  chancery explain route/timeout gateway/         the end of a pointer is enough
  chancery explain Mapping/shop gateway/          what an object makes
  chancery explain cluster:cluster_quote_default gateway/
  chancery explain --in chain Targets mesh.yaml   where the requests to Consul's services end")]
pub struct ExplainArgs {
    /// A place in the result (JSON pointer, its end, or KIND:NAME), an object (KIND/NAME), or FILE:LINE or FILE:LINE:COLUMN (FILE is `stdin`
    /// for standard input).
    #[arg(value_name = "POINTER|OBJECT|FILE:LINE")]
    pub target: String,
    #[command(flatten)]
    pub inputs: Inputs,
    /// The result that the place is in.
    #[arg(long = "in", value_parser = In::parser(), default_value = "envoy", value_name = "KIND")]
    pub view: In,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `--in`
#[derive(Clone, Copy)]
pub enum In {
    /// What a gateway does, in one of its forms.
    Gateway(View),
    /// What a controller answers besides, with where each value comes from.
    Answer(&'static Output),
}

impl In {
    /// All of them, each with a line for people.
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

/// For people or programs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
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
  chancery route http://example.com/ dump.json        in what a running Envoy has")]
pub struct RouteArgs {
    /// The URL of the request; http:// when it has no scheme. With --curl or --requests, the first input.
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    #[command(flatten)]
    pub inputs: Inputs,
    /// The method.
    #[arg(short = 'X', long = "request", value_name = "METHOD", default_value = "GET")]
    pub method: String,
    /// A header, as in 'name: value'; may be given several times.
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = header)]
    pub headers: Vec<(String, String)>,
    /// The request as a curl command.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["method", "headers"])]
    pub curl: Option<String>,
    /// Requests to ingress-nginx, one after another: a JSON file with a list of {scheme, method, host, path, headers, ...}.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["method", "headers", "curl"])]
    pub requests: Option<PathBuf>,
    /// The port of the connection; the URL's, or the default of its scheme, when not given.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,
    /// The server name in the TLS handshake; the URL's host when not given.
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// The connection is TLS, whatever the URL says.
    #[arg(long)]
    pub tls: bool,
    /// Protocol that the TLS handshake offers; may be given several times.
    #[arg(long, value_name = "PROTOCOL")]
    pub alpn: Vec<String>,
    /// The client shows a certificate.
    #[arg(long)]
    pub client_cert: bool,
    /// Address that the connection comes from.
    #[arg(long, value_name = "IP")]
    pub source: Option<std::net::IpAddr>,
    /// Address that the connection goes to.
    #[arg(long, value_name = "IP")]
    pub destination: Option<std::net::IpAddr>,
    /// The request is HTTP/2.
    #[arg(long)]
    pub http2: bool,
    /// The random number by which weighted clusters, and routes that take a fraction of the requests, are chosen.
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Show every route that was tried, and every host.
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
  chancery graph --format svg dump.json > envoy.svg   what a running Envoy has")]
pub struct GraphArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,
    /// Only the resources and what they refer to.
    #[arg(long)]
    pub resources: bool,
    /// Only what this node leads to and what leads to it, as `quote`, `Mapping/quote` or `cluster:NAME`; may be given several times.
    #[arg(long, value_name = "NODE")]
    pub from: Vec<String>,
    /// At most N relations away from it.
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Only these kinds, of resources (`Mapping`) or of Envoy's parts (`cluster`); may be given several times.
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only what is wrong or missing, and its neighbours.
    #[arg(long)]
    pub only_errors: bool,
    /// With `--format svg`: also what the controller adds by itself, such as its readiness checks.
    #[arg(long)]
    pub all: bool,
    /// With more than N nodes, those of a kind and a namespace become one; 0 for never. JSON is folded only if this is given.
    #[arg(long, value_name = "N")]
    pub fold: Option<usize>,
}

/// `why`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery why Host/shop cluster_quote_default gateway/
  chancery why http quote gateway.yaml

Exit codes: 0 there is a way, 1 there is none, 2 the input cannot be used.")]
pub struct WhyArgs {
    /// Where the way begins: `quote`, `Mapping/quote`, `cluster:NAME` or an id of `chancery graph --format json`.
    #[arg(value_name = "NODE")]
    pub from: String,
    /// Where it ends.
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
    /// A picture, light or dark as the viewer prefers.
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
    /// Write into this file; `-` is standard output.
    #[arg(short = 'o', long = "out", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,
    /// Keep keys and other values of Secrets. Otherwise placeholders of the same form take their place.
    #[arg(long)]
    pub with_secrets: bool,
    /// Write a link to this page that holds the snapshot, instead of a file. Nothing is sent anywhere.
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
    /// A link that `chancery snapshot --link` or the playground made. It is read on this machine, and nothing is sent.
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
    /// Show what is in a dump: what Envoy uses, what it accepted last, what it rejected.
    #[command(after_help = "Example:\n  curl -s localhost:9901/config_dump?include_eds | chancery dump read -")]
    Read(DumpArgs),
}

/// `dump read`
#[derive(Args)]
pub struct DumpArgs {
    /// Envoy's /config_dump or a bootstrap, as JSON or YAML; `-` for standard input.
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
  chancery across ingresses/                 the requests that the controllers treat differently
  chancery across --format json ingresses/   the same for programs

Every Ingress gets the class of each controller in turn: Azure's Application Gateway, Contour, Emissary. Nothing else of it changes. \
Services and Endpoints that the input lacks are taken to exist.

Exit codes: 0 fine, 1 with --exit-code if a request differs, 2 the input cannot be used.")]
pub struct AcrossArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Exit with 1 if a request differs.
    #[arg(long)]
    pub exit_code: bool,
}

/// `ledger`
#[derive(Args)]
#[command(after_help = "Example:\n  chancery ledger gateway/")]
pub struct LedgerArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `watches`
#[derive(Args)]
#[command(after_help = "Examples:\n  chancery watches mesh/\n  chancery watches mesh/ --proxy web-sidecar-proxy")]
pub struct WatchesArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `kinds`
#[derive(Args)]
pub struct ListArgs {
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `codes`
#[derive(Args)]
#[command(after_help = "Examples:\n  chancery codes\n  chancery codes unknown-field")]
pub struct CodesArgs {
    /// The code to show.
    pub code: Option<String>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `man`
#[derive(Args)]
pub struct ManArgs {
    /// Write all pages into this folder.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out_dir: Option<PathBuf>,
}
