//! Options: what changes the answer and is not in the YAML. Each dialect lists its own ([`OptionSpec`]); the command line, the page, embedded
//! playgrounds and snapshots read and write them by that list.
//!
//! What must not be here: what an option does.

use crate::diagnostic::Policy;
use crate::redact::{HeldBack, Veil, credentials_of};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::{Limits, Node, Object, Str, Value, parse};

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

    /// The same without anything secret: stand-ins of the same form are in its place.
    #[must_use]
    pub fn with_stand_ins(&self) -> Self {
        let mut safe = self.clone();
        for value in safe.values.values_mut() {
            match value {
                OptionValue::Flag(_) => {}
                OptionValue::Text(text) => *text = with_stand_ins(text, credentials_within(text)),
                OptionValue::List(texts) => texts.iter_mut().for_each(|text| *text = with_stand_ins(text, credentials_within(text))),
                OptionValue::Map(texts) => texts.iter_mut().for_each(|(name, text)| *text = with_stand_ins(text, credentials_of_named(name, text))),
            }
        }
        safe
    }

    /// What no output may have of the values.
    pub(crate) fn credentials(&self) -> Vec<Str> {
        let of_value = |value: &OptionValue| match value {
            OptionValue::Flag(_) => Vec::new(),
            OptionValue::Text(text) => credentials_within(text),
            OptionValue::List(texts) => texts.iter().flat_map(credentials_within).collect(),
            OptionValue::Map(texts) => texts.iter().flat_map(|(name, text)| credentials_of_named(name, text)).collect(),
        };
        self.values.values().flat_map(of_value).collect()
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

/// What is secret in a text.
fn credentials_within(text: &Str) -> Vec<Str> {
    parse(text, &Limits::default()).root.map(|mut root| credentials_of(&mut root)).unwrap_or_default()
}

/// What is secret of a value by its name, by its look, or in it.
fn credentials_of_named(name: &Str, value: &Str) -> Vec<Str> {
    let mut object = Object::default();
    object.insert(name.clone(), Node::synthesised(Value::String(value.clone())));
    let mut found = credentials_of(&mut Node::synthesised(Value::Object(object)));
    found.extend(credentials_within(value));
    found
}

/// A text without these credentials. In one that cannot be read more may be secret.
fn with_stand_ins(text: &Str, credentials: Vec<Str>) -> Str {
    let is_whole = || parse(text, &Limits::default()).problems.is_empty();
    let is_held_back = |credential: &Str| credential.len() >= HeldBack::SHORTEST;
    match text.contains('\n') && !is_whole() || !credentials.iter().all(is_held_back) {
        true => Veil::new(text).with_stand_ins(text).into(),
        false => HeldBack::new(credentials.iter().map(Str::as_str)).scrub(text).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_take_the_place_of_what_is_secret_by_its_name_or_its_look() {
        let map = |pairs: &[(&str, &str)]| OptionValue::Map(pairs.iter().map(|(name, value)| (Str::new(name), Str::new(value))).collect());
        let options = Options::default()
            .with(
                "env",
                map(&[("AMBASSADOR_FORCE_SECRET_VALIDATION", "true"), ("AZURE_CLIENT_SECRET", "hunter2hunter2"), ("DB_PASSWORD", "hunter2")]),
            )
            .with("existing-gateway", OptionValue::Text(Str::new(r#"{"id": "/g", "tags": {"password": "hunter3"}, "properties": {"probes": []}}"#)));
        let safe = options.with_stand_ins();
        assert_eq!(
            safe.map("env"),
            options
                .clone()
                .with(
                    "env",
                    map(&[("AMBASSADOR_FORCE_SECRET_VALIDATION", "true"), ("AZURE_CLIENT_SECRET", "-redacted-"), ("DB_PASSWORD", "-redacted-")])
                )
                .map("env")
        );
        assert_eq!(
            safe.text("existing-gateway").map(Str::as_str),
            Some(r#"{"id": "/g", "tags": {"password": "-redacted-"}, "properties": {"probes": []}}"#)
        );
        assert_eq!(options.credentials(), ["hunter2hunter2", "hunter2", "hunter3"]);
    }
}
