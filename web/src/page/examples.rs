//! The examples. Each is a file whose first comment describes it.

use chancery_web::protocol::{SourceFile, Work};

#[derive(Clone, Copy, Debug)]
pub struct Example {
    pub dialect: &'static str,
    pub name: &'static str,
    /// The YAML.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// The example of a first visit: a working gateway with one mistake.
pub const FIRST: &str = "play";

impl Example {
    /// The example as work, with the options that its comment names.
    pub fn work(&self) -> Work {
        let file = SourceFile { name: format!("{}.yaml", self.name), text: self.text.into() };
        let words = self.text.lines().find_map(|line| line.strip_prefix("# Options: ")).map(|words| words.trim().into());
        Work { files: vec![file], dialect: Some(self.dialect.into()), options: words.map(serde_json::Value::String), ..Work::default() }
    }

    /// The description in its first comment.
    pub fn description(&self) -> String {
        let comment = self.text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim);
        comment.take_while(|line| !["Findings:", "Options:"].iter().any(|word| line.starts_with(word))).collect::<Vec<_>>().join(" ")
    }

    /// The number of findings that its comment lists.
    pub fn findings(&self) -> usize {
        self.text.lines().find_map(|line| line.strip_prefix("# Findings:")).map_or(0, |list| list.split(',').count())
    }
}

/// The first example with this name, or with this dialect and name, for example `contour/canary`.
pub fn named(name: &str) -> Option<&'static Example> {
    let of = name.split_once('/');
    ALL.iter().find(|example| example.name == name || of == Some((example.dialect, example.name)))
}
