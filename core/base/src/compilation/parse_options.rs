//! Parses options that users type, for the dialects of a host.

use super::{Dialect, OptionError, OptionKind, OptionValue, Options};
use crate::resource::nearest;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec::Vec;
use chancery_text::Str;

impl Options {
    /// One dialect with all options at their defaults.
    pub fn of(dialect: &Dialect) -> Self {
        Self { dialect: Some(Str::new_static(dialect.name)), ..Self::default() }
    }

    /// Reads them from words `KEY=VALUE`, with the names of the command line's flags; `env.KEY=VALUE` for variables.
    ///
    /// # Errors
    ///
    /// None of these dialects has an option with this name, or the option does not accept the value.
    pub fn from_words(words: &str, dialects: &[&'static Dialect]) -> Result<Self, OptionError> {
        let mut options = Self::default();
        for word in words.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, "true"));
            match name.split_once('.') {
                _ if name == "dialect" => options.choose(value, dialects)?,
                Some((name, key)) => options.set(name, &format!("{key}={value}"), dialects)?,
                None => options.set(name, value, dialects)?,
            }
        }
        Ok(options)
    }

    /// Chooses the dialect by its name.
    ///
    /// # Errors
    ///
    /// There is no dialect of this name.
    pub fn choose(&mut self, name: &str, dialects: &[&'static Dialect]) -> Result<(), OptionError> {
        let Some(dialect) = Dialect::named(name, dialects) else {
            return Err(OptionError::UnknownDialect(name.into(), dialects.iter().map(|dialect| dialect.name).collect()));
        };
        self.dialect = Some(Str::new_static(dialect.name));
        Ok(())
    }

    /// Sets a typed option; lists and maps get one more value.
    ///
    /// # Errors
    ///
    /// No dialect has such an option, or its value is invalid.
    pub fn set(&mut self, name: &str, value: &str, dialects: &[&'static Dialect]) -> Result<(), OptionError> {
        let specs = || dialects.iter().flat_map(|dialect| dialect.options);
        let Some(spec) = specs().find(|spec| spec.name == name) else {
            return Err(OptionError::Unknown(name.into(), nearest(name, specs().map(|spec| spec.name))));
        };
        let key = Str::new_static(spec.name);
        match spec.kind {
            OptionKind::Flag => self.put(key, OptionValue::Flag(value == "true")),
            OptionKind::Text { .. } | OptionKind::File { .. } => self.put(key, OptionValue::Text(value.into())),
            OptionKind::Choice(words) => {
                if !words.iter().any(|(word, _)| *word == value) {
                    return Err(OptionError::NotAChoice(value.into(), spec.name, words.iter().map(|(word, _)| *word).collect()));
                }
                self.put(key, OptionValue::Text(value.into()));
            }
            OptionKind::List { .. } => match self.values.entry(key).or_insert_with(|| OptionValue::List(Vec::new())) {
                OptionValue::List(all) => all.push(value.into()),
                other => *other = OptionValue::List(Vec::from([value.into()])),
            },
            OptionKind::Map | OptionKind::Files => {
                let Some((key_of, value)) = value.split_once('=').filter(|(key, _)| !key.is_empty()) else {
                    return Err(OptionError::NotAPair(value.into(), spec.name));
                };
                match self.values.entry(key).or_insert_with(|| OptionValue::Map(BTreeMap::new())) {
                    OptionValue::Map(all) => drop(all.insert(key_of.into(), value.into())),
                    other => *other = OptionValue::Map(BTreeMap::from([(key_of.into(), value.into())])),
                }
            }
        }
        Ok(())
    }

    /// Options that are set but that none of these dialects has.
    pub fn foreign_to<'a>(&'a self, dialects: &[&'static Dialect]) -> Vec<&'a str> {
        let known: BTreeSet<&str> = dialects.iter().flat_map(|dialect| dialect.options).map(|spec| spec.name).collect();
        self.given().filter(|name| !known.contains(name)).collect()
    }
}
