//! How the controller runs: flags made from the options that dialects list.
//!
//! What must not be here: any option's name.

use crate::Unusable;
use crate::output::reason;
use chancery_core::compilation::{Dialect, OptionKind, OptionSpec, Options};
use chancery_core::dialect;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// How the controller runs: what changes the answer and is not in the YAML.
pub struct Deployment {
    /// How to compile, or why that cannot be said.
    options: Result<Options, String>,
    /// The only gateway to speak of.
    pub gateway: Option<String>,
    /// Whether an input without resources is meant.
    pub allow_empty: bool,
}

impl Deployment {
    /// How to compile.
    pub fn options(&self) -> Result<Options, Unusable> {
        self.options.clone().map_err(Unusable)
    }
}

const DIALECT: &str = "dialect";
const GATEWAY: &str = "gateway";
const ALLOW_EMPTY: &str = "allow-empty";
const HEADING: &str = "How the controller runs";

/// The options of all dialects, each once, with the dialects that have it.
fn specs() -> Vec<(&'static OptionSpec, Vec<&'static Dialect>)> {
    let mut all: Vec<(&'static OptionSpec, Vec<&'static Dialect>)> = Vec::new();
    for dialect in dialect::ALL {
        for spec in dialect.options {
            match all.iter_mut().find(|(known, _)| known.name == spec.name) {
                Some((_, dialects)) => dialects.push(dialect),
                None => all.push((spec, vec![dialect])),
            }
        }
    }
    all
}

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
            words.first().iter().fold(arg, |arg, (word, _)| arg.default_value(word))
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
        let dialect =
            format!("Configuration language: {}. Found from the input when not given; an input of several is compiled for each", names(dialect::ALL));
        let gateway = "The only gateway to speak of, where a controller runs several: NAMESPACE/NAME, or a proxy's id";
        let empty = "Take an input without resources as it is. Otherwise it is an error, as what should have written it probably failed";
        let own = [
            Arg::new(ALLOW_EMPTY).long(ALLOW_EMPTY).global(true).help_heading("Input").hide_short_help(true).action(ArgAction::SetTrue).help(empty),
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
        Ok(Self { options: options(matches), gateway: matches.get_one::<String>(GATEWAY).cloned(), allow_empty: matches.get_flag(ALLOW_EMPTY) })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn options(matches: &ArgMatches) -> Result<Options, String> {
    let mut options = Options::default();
    if let Some(name) = matches.get_one::<String>(DIALECT) {
        options.choose(name, dialect::ALL).map_err(|error| error.to_string())?;
    }
    for (spec, _) in specs() {
        if matches.value_source(spec.name) != Some(ValueSource::CommandLine) {
            continue;
        }
        let values: Vec<String> = match spec.kind {
            OptionKind::Flag => Vec::from(["true".into()]),
            OptionKind::Files => {
                let read = |given: &String| match given.split_once('=') {
                    Some((key, path)) => {
                        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {}", reason(&error)))?;
                        Ok(format!("{key}={text}"))
                    }
                    None => Ok(given.clone()),
                };
                matches.get_many::<String>(spec.name).into_iter().flatten().map(read).collect::<Result<_, String>>()?
            }
            OptionKind::File { .. } => {
                let paths = matches.get_many::<String>(spec.name).into_iter().flatten();
                let read = |path: &String| std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {}", reason(&error)));
                paths.map(read).collect::<Result<_, _>>()?
            }
            _ => matches.get_many::<String>(spec.name).into_iter().flatten().cloned().collect(),
        };
        for value in values {
            options.set(spec.name, &value, dialect::ALL).map_err(|error| error.to_string())?;
        }
    }
    Ok(options)
}
