//! How the controller runs: flags generated from the options that dialects list.
//!
//! Does not name options; see the dialects.

use crate::Unusable;
use chancery_core::compilation::{Dialect, OptionKind, OptionSpec, Options, for_interactive_use};
use chancery_core::dialect;
use chancery_workspace::files::Excludes;
use chancery_workspace::options::{apply, set, specs};
use chancery_workspace::settings::Settings;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::path::Path;

/// The options that change the result and are not in the YAML.
pub struct Deployment {
    /// The compile options, or why they are invalid.
    options: Result<Options, String>,
    /// The gateway that `--gateway` chooses.
    pub gateway: Option<String>,
    /// Whether an input without resources is accepted.
    pub allow_empty: bool,
    /// Whether Helm charts and kustomizations are rendered.
    pub render: bool,
    /// The largest size of all inputs together, in bytes.
    pub max_input: u64,
    /// The content of the settings file.
    pub settings: Result<Settings, String>,
    /// Patterns of files that are left out of folders.
    exclude: Vec<String>,
}

impl Deployment {
    /// Returns the compile options for a user's input, which is often a part of a cluster.
    pub fn options(&self) -> Result<Options, Unusable> {
        Ok(for_interactive_use(self.whole_cluster_options()?))
    }

    /// Returns the compile options for a whole cluster.
    pub fn whole_cluster_options(&self) -> Result<Options, Unusable> {
        self.options.clone().map_err(Unusable)
    }

    /// Returns the patterns of excluded files.
    pub fn patterns(&self) -> Vec<String> {
        let set = self.settings.as_ref().map(|settings| settings.exclude.clone()).unwrap_or_default();
        self.exclude.iter().cloned().chain(set).collect()
    }

    /// Returns the excluded files.
    pub fn excludes(&self) -> Result<Excludes, Unusable> {
        let settings = self.settings.clone()?;
        let typed = Excludes::new(Path::new(""), &self.exclude)?;
        let set = Excludes::new(&settings.folder(), &settings.exclude)?;
        Ok(typed.and(set))
    }
}

/// Reads a number of bytes: `256MB`, `1GiB`, `4096`.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        _ => return Err("write it as 4096, 512KB, 256MB or 1GB".into()),
    };
    // Places are counted in 32 bits.
    const MOST: u64 = 2 << 30;
    let number = digits.parse::<u64>().map_err(|_| "write it as 4096, 512KB, 256MB or 1GB".to_string())?;
    number.checked_mul(unit).filter(|bytes| (1..=MOST).contains(bytes)).ok_or_else(|| "it may be 2 GB at most".into())
}

/// The default of `--max-input`.
pub const MAX_INPUT: u64 = 256 << 20;

const DIALECT: &str = "dialect";
const GATEWAY: &str = "gateway";
const ALLOW_EMPTY: &str = "allow-empty";
const EXCLUDE: &str = "exclude";
const RENDER: &str = "render";
const MAX_INPUT_FLAG: &str = "max-input";
const SETTINGS: &str = "config";
const INPUT: &str = "Input";
const HEADING: &str = "How the controller runs";

fn arg(spec: &'static OptionSpec, dialects: &[&'static Dialect]) -> Arg {
    let whose = if dialects.len() == dialect::ALL.len() { String::new() } else { format!(" [{}]", names(dialects)) };
    let arg =
        Arg::new(spec.name).long(spec.name).global(true).help_heading(HEADING).help(format!("{}{whose}", spec.doc)).hide_short_help(!spec.common);
    match spec.kind {
        OptionKind::Flag => arg.action(ArgAction::SetTrue),
        OptionKind::Text { placeholder, default: "" } => arg.value_name(placeholder),
        OptionKind::Text { placeholder, default } => arg.value_name(placeholder).default_value(default),
        OptionKind::Choice(words) => {
            let values = words.iter().map(|(word, doc)| PossibleValue::new(word).help(doc));
            let arg = arg.value_name("WHAT").value_parser(PossibleValuesParser::new(values));
            let usual = for_interactive_use(Options::default())
                .text(spec.name)
                .and_then(|word| words.iter().find(|(known, _)| known == word))
                .or(words.first());
            usual.iter().fold(arg, |arg, (word, _)| arg.default_value(word))
        }
        OptionKind::List { placeholder } => arg.value_name(placeholder).action(ArgAction::Append).allow_hyphen_values(true),
        OptionKind::Map => arg.value_name("KEY=VALUE").action(ArgAction::Append),
        OptionKind::Files => arg.value_name("KEY=PATH").action(ArgAction::Append),
        OptionKind::File { placeholder } => arg.value_name(placeholder).value_hint(clap::ValueHint::FilePath),
    }
}

fn names(dialects: &[&'static Dialect]) -> String {
    dialects.iter().map(|dialect| dialect.name).collect::<Vec<_>>().join(", ")
}

impl Args for Deployment {
    fn augment_args(command: Command) -> Command {
        let dialect = format!(
            "Configuration language: {}. An input with several languages is compiled for each [default: detected from the input]",
            names(dialect::ALL)
        );
        let gateway = "Choose a gateway if a controller runs several: NAMESPACE/NAME, or the id of a proxy";
        let empty = "Accept an input without resources. By default it is an error, because the tool that writes it may have failed";
        let exclude = "Skip files in folders that match this pattern, as in a .gitignore; repeatable";
        let render = "Render Helm charts and kustomizations in folders with this machine's helm, kustomize or kubectl";
        let max = "Read at most this many bytes of all inputs together, such as 512MB [default: 256MB]";
        let settings = "Settings file; `none` for none [default: the first chancery.toml upwards from this folder]";
        let input =
            |name: &'static str, help: &'static str| Arg::new(name).long(name).global(true).help_heading(INPUT).hide_short_help(true).help(help);
        let own = [
            input(EXCLUDE, exclude).value_name("PATTERN").action(ArgAction::Append),
            input(RENDER, render).action(ArgAction::SetTrue),
            input(ALLOW_EMPTY, empty).action(ArgAction::SetTrue),
            input(MAX_INPUT_FLAG, max).value_name("BYTES").value_parser(bytes),
            input(SETTINGS, settings).value_name("FILE").value_hint(clap::ValueHint::FilePath),
            Arg::new(DIALECT).long(DIALECT).global(true).help_heading(HEADING).value_name("NAME").help(dialect),
            Arg::new(GATEWAY).long(GATEWAY).visible_alias("proxy").global(true).help_heading(HEADING).value_name("ID").help(gateway),
        ];
        command.args(own).args(specs().into_iter().map(|(spec, dialects)| arg(spec, &dialects)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Deployment {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let settings = Settings::find(matches.get_one::<String>(SETTINGS).map(String::as_str));
        let of_settings = settings.as_ref().ok();
        Ok(Self {
            options: settings.as_ref().map_err(String::clone).and_then(|settings| options(matches, settings)),
            gateway: matches.get_one::<String>(GATEWAY).cloned().or_else(|| of_settings?.gateway.clone()),
            allow_empty: matches.get_flag(ALLOW_EMPTY),
            render: matches.get_flag(RENDER) || of_settings.is_some_and(|settings| settings.render),
            max_input: matches.get_one(MAX_INPUT_FLAG).copied().unwrap_or(MAX_INPUT),
            exclude: matches.get_many::<String>(EXCLUDE).into_iter().flatten().cloned().collect(),
            settings,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Returns the options of the command line, completed by the settings.
fn options(matches: &ArgMatches, settings: &Settings) -> Result<Options, String> {
    let mut options = Options::default();
    if let Some(name) = matches.get_one::<String>(DIALECT).or(settings.dialect.as_ref()) {
        options.choose(name, dialect::ALL).map_err(|error| error.to_string())?;
    }
    options.findings.severities.extend(settings.severities.iter().map(|(code, level)| ((*code).into(), *level)));
    let is_typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    for (spec, _) in specs().into_iter().filter(|(spec, _)| is_typed(spec.name)) {
        let flag = Vec::from(["true".to_string()]);
        let values = match spec.kind {
            OptionKind::Flag => flag,
            _ => matches.get_many::<String>(spec.name).into_iter().flatten().cloned().collect(),
        };
        set(&mut options, spec, &values, Path::new(""))?;
    }
    apply(&mut options, settings, &is_typed)?;
    Ok(options)
}
