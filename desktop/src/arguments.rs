//! Parses the command line, and restores the login shell's PATH if the program was not started in a terminal.

use std::ffi::OsString;
use std::path::PathBuf;

pub const USAGE: &str = "\
usage: chancery-desktop [PATH | LINK] [--context NAME [--namespace NAME]]

  PATH               Follow a folder or file
  LINK               Open exported work from a link chancery://open#snapshot=...; the window asks first
  --context NAME     Follow a cluster, by its context in the kubeconfig
  --namespace NAME   Follow only this namespace
";

#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    Help,
    Version,
    Open(OpenRequest),
}

/// What to open first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenRequest {
    /// A folder or file.
    pub path: Option<PathBuf>,
    /// A context of the kubeconfig.
    pub context: Option<String>,
    pub namespace: Option<String>,
    /// A link to exported work. The page asks before it opens the link.
    pub link: Option<String>,
}

/// The scheme of links that open the desktop program.
pub const SCHEME: &str = "chancery:";

/// Parses the arguments.
///
/// # Errors
///
/// The arguments are invalid; the error is a sentence.
pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut request = OpenRequest::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = |of: &str| {
            let value = words.next().and_then(|value| value.into_string().ok());
            value.ok_or_else(|| format!("{of} needs a name"))
        };
        match word.to_str() {
            Some("--help" | "-h") => return Ok(Command::Help),
            Some("--version" | "-V") => return Ok(Command::Version),
            Some("--context") => request.context = Some(value("--context")?),
            Some("--namespace" | "-n") => request.namespace = Some(value("--namespace")?),
            Some("--") => {}
            Some(flag) if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
            Some(link) if link.starts_with(SCHEME) => request.link = Some(link.into()),
            _ if request.path.is_some() => return Err("more than one path was given".into()),
            _ => request.path = Some(word.into()),
        }
    }
    if request.namespace.is_some() && request.context.is_none() {
        return Err("--namespace needs --context".into());
    }
    if request.path.is_some() && request.context.is_some() {
        return Err("give a path or --context, not both".into());
    }
    Ok(Command::Open(request))
}

/// Set if the PATH is the login shell's already.
const MARK: &str = "CHANCERY_DESKTOP_PATH";

/// Starts the program again with the login shell's PATH. A program that was started by a click has the session's PATH, which often lacks the programs
/// that get credentials for clusters.
pub fn with_path_of_login_shell() {
    #[cfg(unix)]
    {
        use std::io::IsTerminal;
        use std::os::unix::process::CommandExt;
        if std::env::var_os(MARK).is_some() || std::io::stdin().is_terminal() || std::env::var_os("SHLVL").is_some() {
            return;
        }
        if let (Some(path), Ok(program)) = (login_path(), std::env::current_exe()) {
            // `exec` returns only if it fails. Then the PATH stays unchanged.
            let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).env("PATH", path).env(MARK, "1").exec();
            eprintln!("cannot use the PATH of the login shell: {error}");
        }
    }
}

/// The PATH of the login shell, if the shell answers soon.
#[cfg(unix)]
fn login_path() -> Option<String> {
    use std::process::{Command, Stdio};
    let shell = std::env::var_os("SHELL")?;
    let mut process = Command::new(shell)
        .args(["-l", "-c", "printf '\\n%s' \"$PATH\""])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    for _ in 0..150 {
        if process.try_wait().ok()?.is_some() {
            let output = process.wait_with_output().ok()?;
            let output = String::from_utf8(output.stdout).ok()?;
            return output.lines().last().map(str::to_owned).filter(|path| !path.is_empty());
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // A shell that waits for input is ended.
    let _ = process.kill();
    let _ = process.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(words: &[&str]) -> Result<Command, String> {
        read(words.iter().map(OsString::from))
    }

    #[test]
    fn read_accepts_paths_links_and_contexts() {
        assert_eq!(read_all(&[]), Ok(Command::Open(OpenRequest::default())));
        assert_eq!(read_all(&["a"]), Ok(Command::Open(OpenRequest { path: Some("a".into()), ..OpenRequest::default() })));
        let cluster = OpenRequest { context: Some("prod".into()), namespace: Some("shop".into()), ..OpenRequest::default() };
        assert_eq!(read_all(&["--context", "prod", "-n", "shop"]), Ok(Command::Open(cluster)));
        let link = "chancery://open#snapshot=x";
        assert_eq!(read_all(&[link]), Ok(Command::Open(OpenRequest { link: Some(link.into()), ..OpenRequest::default() })));
        assert_eq!(read_all(&["--help", "--wrong"]), Ok(Command::Help));
        for wrong in [&["--wrong"][..], &["a", "b"], &["--context"], &["-n", "shop"], &["a", "--context", "prod"]] {
            assert!(read_all(wrong).is_err(), "{wrong:?}");
        }
    }
}
