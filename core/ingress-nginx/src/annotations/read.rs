//! Reads annotations as the controller's parser does: finds each by its name or an older name, checks its form, and converts its value.
//!
//! ingress-nginx `internal/ingress/annotations/parser/main.go`. Does not know groups; see `groups`.

use super::table::{self, Annotation, Risk};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use chancery_base::resource::{Origin, Sourced};
use chancery_kubernetes::cursor::Cursor;
use chancery_kubernetes::go;
use chancery_text::{Node, Str};

/// The reason why an annotation has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The annotation is missing.
    Missing,
    /// The value is empty or cannot be converted.
    Content(String),
    /// The value has the wrong form.
    Validation(String),
    /// The Ingress must not serve requests.
    Denied(String),
    Other(String),
}

impl Fault {
    /// Returns the controller's message.
    pub fn text(&self) -> &str {
        match self {
            Fault::Missing => "ingress rule without annotations",
            Fault::Content(text) | Fault::Validation(text) | Fault::Denied(text) | Fault::Other(text) => text,
        }
    }

    /// Builds a denial from a reason, with the controller's message.
    pub fn denied(reason: &str) -> Self {
        Fault::Denied(format!("location denied, reason: {reason}"))
    }

    /// Whether the value has the wrong form.
    pub fn is_validation(&self) -> bool {
        matches!(self, Fault::Validation(_))
    }
}

/// A value that the controller does not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The name of the annotation, without the prefix.
    pub name: &'static str,
    pub origin: Option<Origin>,
    pub fault: Fault,
}

/// The annotations of one Ingress.
#[derive(Clone, Debug, Default)]
pub struct Annotations {
    /// All annotations with string values, by full name.
    entries: Vec<(Str, Sourced<Str>)>,
    prefix: Str,
    validates: bool,
}

impl Annotations {
    /// Reads the annotations at a place.
    pub fn at(at: Cursor<'_>, prefix: &Str, validates: bool) -> Self {
        let entries = at.node().and_then(Node::as_object).into_iter().flatten();
        let text = |name: &Str| {
            let at = at.field(name);
            Some((name.clone(), Sourced::new(Str::new(at.some_str()?), at.origin())))
        };
        Self { entries: entries.filter_map(|entry| text(&entry.key)).collect(), prefix: prefix.clone(), validates }
    }

    /// Returns all annotations, by full name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Sourced<Str>)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the annotations with the controller's prefix, by name without the prefix.
    pub fn own(&self) -> impl Iterator<Item = (&str, &Sourced<Str>)> {
        self.all().filter_map(|(name, value)| Some((name.strip_prefix(self.prefix.as_str())?.strip_prefix('/')?, value)))
    }

    /// Returns the value of a full name.
    pub fn full(&self, name: &str) -> Option<&Sourced<Str>> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn raw(&self, name: &str) -> Option<&Sourced<Str>> {
        self.own().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Returns the value and the full name of an annotation, if the value has the right form.
    fn checked_value(&self, annotation: &'static Annotation) -> Result<(&Sourced<Str>, String), Fault> {
        if self.entries.is_empty() {
            return Err(Fault::Missing);
        }
        let alias = || annotation.aliases.iter().find_map(|alias| Some((self.raw(alias).filter(|value| !value.is_empty())?, *alias)));
        let own = self.raw(annotation.name);
        let found = own.filter(|value| !value.is_empty()).map(|value| (value, annotation.name)).or_else(alias);
        let (value, name) = found.or_else(|| own.map(|value| (value, annotation.name))).ok_or(Fault::Missing)?;
        let full = format!("{}/{name}", self.prefix);
        if self.validates && !value.is_empty() && !annotation.form.accepts(value) {
            return Err(Fault::Validation(format!("annotation {full} contains invalid value")));
        }
        Ok((value, full))
    }

    fn converted<T>(&self, name: &str, convert: impl Fn(&str) -> Option<T>) -> Result<Sourced<T>, Fault> {
        let annotation = table::find(name).ok_or(Fault::Missing)?;
        let (value, full) = self.checked_value(annotation)?;
        let converted =
            convert(value).ok_or_else(|| Fault::Content(format!("the annotation {full} does not contain a valid value ({})", value.value)))?;
        Ok(Sourced::new(converted, value.origin))
    }

    /// Returns the value as a string. Removes blanks around each line.
    ///
    /// # Errors
    ///
    /// The annotation is missing, is empty or has the wrong form.
    pub fn text(&self, name: &str) -> Result<Sourced<Str>, Fault> {
        self.converted(name, |value| {
            let lines: Vec<&str> = value.split('\n').map(str::trim).collect();
            Some(Str::from(lines.join("\n"))).filter(|text| !text.is_empty())
        })
    }

    /// Returns the value as a boolean.
    ///
    /// # Errors
    ///
    /// The annotation is missing or has the wrong form.
    pub fn flag(&self, name: &str) -> Result<Sourced<bool>, Fault> {
        self.converted(name, go::parse_bool)
    }

    /// Returns the value as an integer.
    ///
    /// # Errors
    ///
    /// The annotation is missing or has the wrong form.
    pub fn number(&self, name: &str) -> Result<Sourced<i64>, Fault> {
        self.converted(name, |value| go::atoi(value).ok())
    }

    /// Returns the annotations above a risk, in the order of the Ingress.
    pub fn risky(&self, most: Risk) -> impl Iterator<Item = (&'static Annotation, &Sourced<Str>)> {
        let known = self.own().filter_map(|(name, value)| Some((table::find(name)?, value)));
        known.filter(move |(annotation, _)| annotation.risk > most)
    }

    /// Returns the values that are not empty and have the wrong form.
    pub fn rejected(&self) -> Vec<Rejected> {
        let wrong = table::ALL.iter().filter_map(|annotation| match self.checked_value(annotation) {
            Err(fault @ Fault::Validation(_)) => {
                let origin =
                    self.raw(annotation.name).or_else(|| annotation.aliases.iter().find_map(|alias| self.raw(alias))).and_then(|value| value.origin);
                Some(Rejected { name: annotation.name, origin, fault })
            }
            _ => None,
        });
        wrong.collect()
    }
}
