//! `chancery.toml`: the settings of a repository, so that users need not type them.
//!
//! The file is searched upwards from the current folder. Its paths are relative to its folder. Typed options win.
//!
//! Does not interpret options; see `options`.

use crate::{disk, reason};
use chancery_core::diagnostic::Level;
use chancery_core::dialect;
use chancery_core::resource::nearest;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The name of the file.
pub const FILE: &str = "chancery.toml";

/// The content of the file. If there is no file, everything has its default.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The file.
    pub file: Option<PathBuf>,
    /// The configuration language.
    pub dialect: Option<String>,
    /// The only gateway to show.
    pub gateway: Option<String>,
    /// Patterns of files that are left out of folders.
    pub exclude: Vec<String>,
    /// Whether Helm charts and kustomizations are rendered.
    pub render: bool,
    /// Files of request tests, or patterns of such.
    pub tests: Vec<String>,
    /// Known findings, which are not reported.
    pub baseline: Option<PathBuf>,
    /// Options by name, each with values as they would be typed.
    pub options: BTreeMap<String, Vec<String>>,
    /// The severity of findings, by code.
    pub severities: BTreeMap<&'static str, Level>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    dialect: Option<String>,
    gateway: Option<String>,
    exclude: Vec<String>,
    render: bool,
    tests: Vec<String>,
    baseline: Option<PathBuf>,
    options: toml::Table,
    severities: BTreeMap<String, String>,
}

impl Settings {
    /// Reads the named file, or the nearest file upwards.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or contains an unknown setting.
    pub fn find(named: Option<&str>) -> Result<Self, String> {
        let file = match named {
            Some("none") => None,
            Some(file) => Some(PathBuf::from(file)),
            None => {
                let here = std::env::current_dir().unwrap_or_default();
                // A path relative to the current folder reads better.
                let up = here.ancestors().position(|folder| folder.join(FILE).is_file());
                up.map(|steps| (0..steps).map(|_| "..").collect::<PathBuf>().join(FILE))
            }
        };
        file.map_or_else(|| Ok(Self::default()), Self::read)
    }

    fn read(file: PathBuf) -> Result<Self, String> {
        let name = file.display().to_string();
        let text = disk::read_to_string(&file).map_err(|error| format!("cannot read {name}: {}", reason(&error)))?;
        let written: Written = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            format!("{name}:{line}: {}", error.message().lines().next().unwrap_or_default())
        })?;
        let mut options = BTreeMap::new();
        for (option, value) in &written.options {
            options.insert(option.clone(), words(value).ok_or_else(|| format!("{name}: the option `{option}` cannot have such a value"))?);
        }
        let mut severities = BTreeMap::new();
        for (code, level) in &written.severities {
            let known = dialect::code(code).ok_or_else(|| {
                let near = nearest(code, dialect::codes().map(|code| code.name)).map(|near| format!("; did you mean `{near}`?"));
                format!("{name}: there is no code `{code}`{}", near.unwrap_or_default())
            })?;
            let level = Level::named(level).ok_or_else(|| format!("{name}: there is no severity `{level}`: it is error, warning, notice or off"))?;
            severities.insert(known.name, level);
        }
        let Written { dialect, gateway, exclude, render, tests, baseline, .. } = written;
        let baseline = baseline.map(|path| file.with_file_name("").join(path));
        Ok(Self { file: Some(file), dialect, gateway, exclude, render, tests, baseline, options, severities })
    }

    /// The base folder of relative paths.
    pub fn folder(&self) -> PathBuf {
        self.file.as_deref().and_then(Path::parent).map(Path::to_owned).unwrap_or_default()
    }

    /// The file's name, for messages.
    pub fn name(&self) -> String {
        self.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default()
    }
}

/// Returns the values of an option as they would be typed, one by one. Returns nothing for a value that cannot be typed.
fn words(value: &toml::Value) -> Option<Vec<String>> {
    let scalar = |value: &toml::Value| match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(flag) => Some(flag.to_string()),
        _ => None,
    };
    match value {
        toml::Value::Array(all) => all.iter().map(scalar).collect(),
        toml::Value::Table(table) => table.iter().map(|(key, value)| Some(format!("{key}={}", scalar(value)?))).collect(),
        one => scalar(one).map(|word| vec![word]),
    }
}
