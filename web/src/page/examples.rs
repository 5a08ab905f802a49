//! The examples, as data: each a file whose first comment says what it shows.
//!
//! What must not be here: any of them by name, but for the one that is shown first.

use chancery_web::protocol::{SourceFile, Work};

/// An example.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The dialect that it is written in.
    pub dialect: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The YAML.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// The one that a first visit shows: a working gateway with one mistake in it.
pub const FIRST: &str = "play";

impl Example {
    /// As a file of the editor, compiled as its comment asks.
    pub fn work(&self) -> Work {
        let file = SourceFile { name: format!("{}.yaml", self.name), text: self.text.into() };
        let words = self.text.lines().find_map(|line| line.strip_prefix("# Options: ")).map(|words| words.trim().into());
        Work { files: vec![file], dialect: Some(self.dialect.into()), options: words.map(serde_json::Value::String), ..Work::default() }
    }

    /// What its first comment says.
    pub fn told(&self) -> String {
        let comment = self.text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
        comment.take_while(|line| !["Findings:", "Options:"].iter().any(|word| line.starts_with(word))).collect::<Vec<_>>().join(" ")
    }

    /// How many findings it promises.
    pub fn findings(&self) -> usize {
        self.text.lines().find_map(|line| line.strip_prefix("# Findings:")).map_or(0, |list| list.split(',').count())
    }
}

/// The first one of this name, or of this dialect and name: `contour/canary`.
pub fn named(name: &str) -> Option<&'static Example> {
    let of = name.split_once('/');
    ALL.iter().find(|example| example.name == name || of == Some((example.dialect, example.name)))
}
