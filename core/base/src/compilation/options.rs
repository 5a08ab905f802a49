//! Defines options: settings outside the YAML that change the result. Each dialect lists its own ([`OptionSpec`]); the command line, the page,
//! embedded playgrounds and snapshots read and write them by that list.

use crate::diagnostic::Policy;
use crate::redact::{RedactionMap, Redactor, credentials_of};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_text::{Limits, Node, Object, Str, Value, parse};

#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Options {
    /// The configuration language by name; if `None`, the input decides, and there may be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Str>,
    /// Values that differ from the defaults, by option name.
    #[serde(flatten)]
    pub(super) values: BTreeMap<Str, OptionValue>,
    /// Kinds (group and name) treated as present in the input although it has none, because another side of a comparison has them.
    #[serde(skip)]
    pub held: BTreeSet<(Str, Str)>,
    /// Whether the controller's own configuration is assumed, although no object is.
    #[serde(skip)]
    pub assumes_controller: bool,
    /// How findings are judged. Does not change the compilation.
    #[serde(skip_serializing_if = "Policy::is_default")]
    pub findings: Policy,
}

/// An option of a dialect.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The flag's name, such as `controller-arg`.
    pub name: &'static str,
    /// The type of its value.
    pub kind: OptionKind,
    /// One-line description.
    pub doc: &'static str,
    /// Whether short help shows it.
    pub common: bool,
}

/// The type of an option's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off, without a value.
    Flag,
    /// A string.
    Text {
        /// The placeholder in help.
        placeholder: &'static str,
        default: &'static str,
    },
    /// One of several words, each with its meaning. The first is the default.
    Choice(&'static [(&'static str, &'static str)]),
    /// Several strings, in order.
    List {
        /// The placeholder of one string in help.
        placeholder: &'static str,
    },
    /// Several strings by key, each as `KEY=VALUE`.
    Map,
    /// A file that the host reads.
    File {
        /// The placeholder in help.
        placeholder: &'static str,
    },
    /// Several files that the host reads, each as `KEY=PATH`.
    Files,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
pub enum OptionValue {
    /// On or off.
    Flag(bool),
    /// A string, or a file's content.
    Text(Str),
    /// Several strings.
    List(Vec<Str>),
    /// Several strings by key.
    Map(BTreeMap<Str, Str>),
}

/// Why an option is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// No dialect has this option; holds its name and a similar option's name.
    Unknown(String, Option<&'static str>),
    /// No dialect has this name; holds the existing names.
    UnknownDialect(String, Vec<&'static str>),
    /// The value is not one of the words; holds the words.
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
    /// Sets a value, unless it equals the default.
    pub(super) fn put(&mut self, name: Str, value: OptionValue) {
        if value == OptionValue::Flag(false) {
            self.values.remove(&name);
        } else {
            self.values.insert(name, value);
        }
    }

    /// Sets a value, whichever dialect has the option.
    pub fn insert(&mut self, name: impl Into<Str>, value: OptionValue) {
        self.put(name.into(), value);
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: OptionValue) -> Self {
        self.insert(name, value);
        self
    }

    /// Selects a dialect.
    #[must_use]
    pub fn in_dialect(self, name: impl Into<Str>) -> Self {
        Self { dialect: Some(name.into()), ..self }
    }

    /// Selects the dialects of the input.
    #[must_use]
    pub fn of_any_dialect(self) -> Self {
        Self { dialect: None, ..self }
    }

    /// Fills unset options from `others`.
    #[must_use]
    pub fn or(mut self, others: Self) -> Self {
        for (name, value) in others.values {
            self.values.entry(name).or_insert(value);
        }
        Self { dialect: self.dialect.or(others.dialect), ..self }
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(OptionValue::Flag(true)))
    }

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

    pub fn map(&self, name: &str) -> Option<&BTreeMap<Str, Str>> {
        match self.values.get(name) {
            Some(OptionValue::Map(map)) => Some(map),
            _ => None,
        }
    }

    /// The same options with stand-ins of the same form for secret values.
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

    /// The values that no output may contain.
    pub(crate) fn credentials(&self) -> Vec<Str> {
        let of_value = |value: &OptionValue| match value {
            OptionValue::Flag(_) => Vec::new(),
            OptionValue::Text(text) => credentials_within(text),
            OptionValue::List(texts) => texts.iter().flat_map(credentials_within).collect(),
            OptionValue::Map(texts) => texts.iter().flat_map(|(name, text)| credentials_of_named(name, text)).collect(),
        };
        self.values.values().flat_map(of_value).collect()
    }

    pub fn given(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(Str::as_str)
    }
}

/// Option names in snapshots of the first version, with their current names.
const FORMER: &[(&str, &str)] = &[("arguments", "controller-arg")];

/// A member of serialized options: a value, or (in snapshots of the first version) the options of a dialect.
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
                // `env` is also an object, but it holds strings and belongs to no dialect.
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
    /// Sets a value by its name in snapshots of the first version.
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

/// The credentials in a string.
fn credentials_within(text: &Str) -> Vec<Str> {
    parse(text, &Limits::default()).root.map(|mut root| credentials_of(&mut root)).unwrap_or_default()
}

/// The credentials of a value: by the option's name, by its form, or inside it.
fn credentials_of_named(name: &Str, value: &Str) -> Vec<Str> {
    let mut object = Object::default();
    object.insert(name.clone(), Node::synthesised(Value::String(value.clone())));
    let mut found = credentials_of(&mut Node::synthesised(Value::Object(object)));
    found.extend(credentials_within(value));
    found
}

/// Replaces these credentials by stand-ins. An unreadable text may contain more secrets.
fn with_stand_ins(text: &Str, credentials: Vec<Str>) -> Str {
    let is_whole = || parse(text, &Limits::default()).problems.is_empty();
    let is_held_back = |credential: &Str| credential.len() >= Redactor::SHORTEST;
    match text.contains('\n') && !is_whole() || !credentials.iter().all(is_held_back) {
        true => RedactionMap::new(text).with_stand_ins(text).into(),
        false => Redactor::new(credentials.iter().map(Str::as_str)).scrub(text).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_replace_secret_option_values() {
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
