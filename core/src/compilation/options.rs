//! Options: what changes the answer and is not in the YAML. Each dialect lists its own ([`OptionSpec`]); the command line, the page, embedded
//! playgrounds and snapshots read and write them by that list.
//!
//! What must not be here: what an option does.

use crate::diagnostic::Policy;
use crate::text::Str;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Options {
    /// The configuration language by name; found from the input when not given, where there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Str>,
    /// The values that differ from defaults, by the names of options.
    #[serde(flatten)]
    pub(super) values: BTreeMap<Str, OptionValue>,
    /// Kinds (group and name) that count as held by the input although it holds none: another side of a comparison does.
    #[serde(skip)]
    pub held: BTreeSet<(Str, Str)>,
    /// Whether it is assumed how the controller itself is configured, though no object is assumed.
    #[serde(skip)]
    pub assumes_controller: bool,
    /// How findings are judged. It changes nothing of what is compiled.
    #[serde(skip_serializing_if = "Policy::is_default")]
    pub findings: Policy,
}

/// An option that a dialect has.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// Its name, as the flag has it: `controller-arg`.
    pub name: &'static str,
    /// What may be given.
    pub kind: OptionKind,
    /// One line for people.
    pub doc: &'static str,
    /// Whether short help shows it.
    pub common: bool,
}

/// What may be given for an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// Nothing: it is on or off.
    Flag,
    /// A text.
    Text {
        /// What stands for it in help.
        placeholder: &'static str,
        /// What counts when none is given.
        default: &'static str,
    },
    /// One of some words, each with its meaning. The first counts when none is given.
    Choice(&'static [(&'static str, &'static str)]),
    /// Several texts, in order.
    List {
        /// What stands for one of them in help.
        placeholder: &'static str,
    },
    /// Several texts by name, each as `KEY=VALUE`.
    Map,
    /// A file that the host reads.
    File {
        /// What stands for it in help.
        placeholder: &'static str,
    },
    /// Several files that the host reads, each as `KEY=PATH`.
    Files,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// On or off.
    Flag(bool),
    /// A text, or a file's text.
    Text(Str),
    /// Several texts.
    List(Vec<Str>),
    /// Several texts by name.
    Map(BTreeMap<Str, Str>),
}

/// Why an option cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// No dialect has an option of this name; the nearest one, if one is near.
    Unknown(String, Option<&'static str>),
    /// There is no dialect of this name; the names that there are.
    UnknownDialect(String, Vec<&'static str>),
    /// The value is not one of the words; the words.
    NotAChoice(String, &'static str, Vec<&'static str>),
    /// A value of a map is not `KEY=VALUE`.
    NotAPair(String, &'static str),
}

impl core::fmt::Display for OptionError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            OptionError::Unknown(name, Some(near)) => write!(f, "there is no option `{name}`; did you mean `{near}`?"),
            OptionError::Unknown(name, None) => write!(f, "there is no option `{name}`"),
            OptionError::UnknownDialect(name, known) => write!(f, "there is no dialect `{name}`; this version knows {}", known.join(", ")),
            OptionError::NotAChoice(value, name, words) => write!(f, "`{name}` takes {}, not `{value}`", words.join(" or ")),
            OptionError::NotAPair(value, name) => write!(f, "`{name}` takes KEY=VALUE, not `{value}`"),
        }
    }
}

impl core::error::Error for OptionError {}

impl Options {
    /// Puts in a value, unless it says what counts without it.
    pub(super) fn put(&mut self, name: Str, value: OptionValue) {
        if value == OptionValue::Flag(false) {
            self.values.remove(&name);
        } else {
            self.values.insert(name, value);
        }
    }

    /// Sets a value as data, whatever dialect has such an option.
    pub fn insert(&mut self, name: impl Into<Str>, value: OptionValue) {
        self.put(name.into(), value);
    }

    /// The same options with one more value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: OptionValue) -> Self {
        self.insert(name, value);
        self
    }

    /// The same options for the dialect of this name.
    #[must_use]
    pub fn in_dialect(self, name: impl Into<Str>) -> Self {
        Self { dialect: Some(name.into()), ..self }
    }

    /// The same options, for whatever dialects the input has.
    #[must_use]
    pub fn of_any_dialect(self) -> Self {
        Self { dialect: None, ..self }
    }

    /// The same options, and for what they leave open those of `others`.
    #[must_use]
    pub fn or(mut self, others: Self) -> Self {
        for (name, value) in others.values {
            self.values.entry(name).or_insert(value);
        }
        Self { dialect: self.dialect.or(others.dialect), ..self }
    }

    /// Whether a flag is on.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(OptionValue::Flag(true)))
    }

    /// A text, if one is given.
    pub fn text(&self, name: &str) -> Option<&Str> {
        match self.values.get(name) {
            Some(OptionValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// A list; empty if none is given.
    pub fn list(&self, name: &str) -> &[Str] {
        match self.values.get(name) {
            Some(OptionValue::List(list)) => list,
            _ => &[],
        }
    }

    /// A map, if one is given.
    pub fn map(&self, name: &str) -> Option<&BTreeMap<Str, Str>> {
        match self.values.get(name) {
            Some(OptionValue::Map(map)) => Some(map),
            _ => None,
        }
    }

    /// The names of the options that are given.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(Str::as_str)
    }
}

/// Members that snapshots of the first version had for each dialect, and what they are called now.
const FORMER: &[(&str, &str)] = &[("arguments", "controller-arg")];

/// What stands in data: a value, or (in snapshots of the first version) the options of a dialect.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Member {
    Former(BTreeMap<String, OptionValue>),
    Value(OptionValue),
}

impl<'de> serde::Deserialize<'de> for Options {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, serde::Deserialize)]
        #[serde(default)]
        struct Whole {
            dialect: Option<Str>,
            findings: Policy,
            #[serde(flatten)]
            members: BTreeMap<String, Member>,
        }
        let Whole { dialect, findings, members } = Whole::deserialize(deserializer)?;
        let mut options = Self { dialect, findings, ..Self::default() };
        for (name, member) in members {
            match member {
                // `env` is an object as well: of texts, and no dialect's.
                Member::Former(fields) if name != "env" => fields.into_iter().for_each(|(name, value)| options.put_former(&name, value)),
                Member::Former(fields) => {
                    let text = |(name, value)| if let OptionValue::Text(text) = value { Some((Str::from(name), text)) } else { None };
                    options.put(name.into(), OptionValue::Map(fields.into_iter().filter_map(text).collect()));
                }
                Member::Value(value) => options.put(name.into(), value),
            }
        }
        Ok(options)
    }
}

impl Options {
    /// Puts in a value under the name that it had in snapshots of the first version.
    fn put_former(&mut self, name: &str, value: OptionValue) {
        let name = FORMER.iter().find(|(former, _)| *former == name).map_or_else(|| name.replace('_', "-"), |(_, now)| (*now).to_string());
        let value = match value {
            OptionValue::Text(word) if matches!(name.as_str(), "controller") => OptionValue::Text(word.replace('_', "-").into()),
            OptionValue::List(list) if list.is_empty() => return,
            OptionValue::Map(map) if map.is_empty() => return,
            other => other,
        };
        self.put(name.into(), value);
    }
}
