//! The options of the shown dialect as fields of a form. Does not define options; see `chancery_core::compilation`.

use serde::{Deserialize, Serialize};

/// An option and its value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OptionField {
    /// The name of the command line's flag.
    pub name: String,
    pub doc: String,
    pub sort: OptionSort,
    /// The hint for an empty field.
    pub placeholder: String,
    /// The words of a choice. The first is the default.
    pub choices: Vec<String>,
    /// The value; a list and a map have one entry per line. Empty for the default.
    pub value: String,
    /// Whether many users need it.
    pub common: bool,
}

/// How an option is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OptionSort {
    Flag,
    #[default]
    Text,
    Choice,
    /// One value per line.
    Lines,
    /// A file's content.
    File,
}

/// The options of the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OptionPanel {
    pub fields: Vec<OptionField>,
    /// The same options as flags of the command line.
    pub flags: String,
}
