//! The sources of options for `serve` and `watch`: flags first, then the environment, then a file.
//!
//! Each flag `--spacing` is `CHANCERY_SPACING` in the environment and `spacing` in the TOML file of `--config-file` (or `CHANCERY_CONFIG_FILE`).
//! Does not interpret flags; see `live`.

use clap::{Arg, ArgAction, Command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The commands that run for long.
const LASTING: [&str; 2] = ["serve", "watch"];
/// The flag that names the file.
const FILE: &str = "config-file";

/// The name of a flag in the environment.
pub fn variable(flag: &str) -> String {
    format!("CHANCERY_{}", flag.to_ascii_uppercase().replace('-', "_"))
}

/// The flags of a command that the other layers have too.
pub fn layered(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|arg| is_layered(arg))
}

fn is_layered(arg: &Arg) -> bool {
    !arg.is_global_set() && arg.get_long().is_some_and(|flag| !matches!(flag, "help" | "version"))
}

/// Lets environment variables set the arguments too.
pub fn with_environment(command: Command) -> Command {
    let one = |arg: Arg| match arg.get_long() {
        // The names live as long as the process, because a process has a single command line.
        Some(flag) if is_layered(&arg) => {
            let name: &'static str = variable(flag).leak();
            arg.env(name).hide_env(true)
        }
        _ => arg,
    };
    LASTING.into_iter().fold(command, |command, name| command.mut_subcommand(name, |command| command.mut_args(one)))
}

/// Uses the file's values for arguments that neither flags nor the environment set.
///
/// # Errors
///
/// The file cannot be read, or it contains an unknown option or a wrong value.
pub fn with_file(command: Command, typed: &[OsString]) -> Result<Command, String> {
    let Some(name) = typed.iter().skip(1).find_map(|word| LASTING.into_iter().find(|name| word == name)) else { return Ok(command) };
    let Some(path) = file(typed) else { return Ok(command) };
    let shown = path.display();
    let text = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {shown}: {}", crate::output::reason(&error)))?;
    let table: toml::Table = toml::from_str(&text).map_err(|error| format!("{shown} is not TOML: {}", error.message()))?;
    let mut values = Vec::new();
    for (flag, value) in table {
        let known = command.find_subcommand(name).into_iter().flat_map(layered).find(|arg| arg.get_long() == Some(&*flag));
        let known = known.filter(|_| flag != FILE).ok_or_else(|| format!("{shown}: `{flag}` is not an option of `chancery {name}`"))?;
        let wrong = || format!("{shown}: `{flag}` must be a string, a number, true or false");
        let value = words(&value).ok_or_else(wrong)?;
        if matches!(known.get_action(), ArgAction::SetTrue) && !matches!(&*value, "true" | "false") {
            return Err(format!("{shown}: `{flag}` must be true or false"));
        }
        values.push((flag, value));
    }
    let set = |command: Command, (flag, value): (String, String)| {
        let value: &'static str = value.leak();
        command.mut_args(|arg| if arg.get_long() == Some(&*flag) { arg.default_value(value) } else { arg })
    };
    Ok(command.mut_subcommand(name, |command| values.into_iter().fold(command, set)))
}

/// Returns the path of the file. The rest of the command line is not parsed yet.
fn file(typed: &[OsString]) -> Option<PathBuf> {
    let flag = format!("--{FILE}");
    for (at, word) in typed.iter().enumerate() {
        let word = word.to_string_lossy();
        if word == "--" {
            break;
        }
        if word == flag {
            return typed.get(at + 1).map(PathBuf::from);
        }
        if let Some(path) = word.strip_prefix(&flag).and_then(|rest| rest.strip_prefix('=')) {
            return Some(Path::new(path).to_path_buf());
        }
    }
    std::env::var_os(variable(FILE)).filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn words(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(is) => Some(is.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command as Asked};
    use clap::{CommandFactory, FromArgMatches};

    fn serve(typed: &[&str]) -> Result<crate::args::ServeArgs, String> {
        let typed: Vec<OsString> = typed.iter().map(OsString::from).collect();
        let command = with_file(with_environment(Cli::command()), &typed)?;
        let matches = command.try_get_matches_from(&typed).map_err(|error| error.to_string())?;
        match Cli::from_arg_matches(&matches).map_err(|error| error.to_string())?.command {
            Asked::Serve(args) => Ok(args),
            _ => Err("not serve".into()),
        }
    }

    #[test]
    fn layers_prefer_flags_and_refuse_wrong_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("serve.toml");
        let named = path.to_string_lossy().into_owned();
        let write = |text: &str| std::fs::write(&path, text).expect("a file");
        write("spacing = \"5s\"\nxds = \"127.0.0.1:9\"\nwrite-status = true\nkube = true\n");
        let args = serve(&["chancery", "serve", "--config-file", &named, "--xds", "off"]).expect("arguments");
        assert_eq!((args.live.spacing.as_secs(), args.xds.to_string().as_str()), (5, "off"));
        assert!(args.write_status && args.live.kube);
        assert!(!serve(&["chancery", "serve", "."]).expect("arguments").write_status, "nothing is left of the file");
        for (text, why) in [
            ("spacin = 1\n", "`spacin` is not an option"),
            ("spacing = [1]\n", "must be a string"),
            ("kube = 3\n", "must be true or false"),
            ("{", "is not TOML"),
            ("spacing = \"soon\"\n", "not a time"),
        ] {
            write(text);
            let failure = serve(&["chancery", "serve", &format!("--config-file={named}")]).err().unwrap_or_default();
            assert!(failure.contains(why), "{text}: {failure}");
        }
        assert!(serve(&["chancery", "serve", "--config-file", "/nowhere"]).err().is_some_and(|why| why.contains("cannot read /nowhere")));
    }

    /// The book has one table with all options.
    #[test]
    fn the_book_has_every_option_of_serve() {
        let command = Cli::command();
        let serve = command.find_subcommand("serve").expect("serve");
        let mut table = String::from("| flag | environment | file | meaning |\n|---|---|---|---|\n");
        for arg in layered(serve) {
            let flag = arg.get_long().unwrap_or_default();
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('|', "\\|").replace('<', "&lt;");
            table.push_str(&format!("| `--{flag}` | `{}` | `{flag}` | {help} |\n", variable(flag)));
        }
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/commands/serve.md");
        let page = std::fs::read_to_string(&path).expect("the page of serve");
        let (begin, end) = ("<!-- options -->\n", "<!-- end of options -->\n");
        let (before, rest) = page.split_once(begin).expect("where the table begins");
        let (known, after) = rest.split_once(end).expect("where it ends");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).expect("a page");
        } else {
            assert_eq!(known, table, "run UPDATE_DOCS=1 cargo test -p chancery the_book_has_every_option");
        }
    }
}
