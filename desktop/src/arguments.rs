//! What the command line asks for, and the PATH that a program gets that was not started in a terminal.
//!
//! What must not be here: windows.

use std::ffi::OsString;
use std::path::PathBuf;

/// How it is called.
pub const USAGE: &str = "\
usage: chancery-desktop [PATH | LINK] [--context NAME [--namespace NAME]]

  PATH               a folder or file that is opened and followed
  LINK               chancery://open#snapshot=...: shared work; the window asks before it opens it
  --context NAME     a context of the kubeconfig that is followed
  --namespace NAME   only this namespace
";

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// How it is called.
    Help,
    /// Which version it is.
    Version,
    /// A window.
    Open(OpenRequest),
}

/// What is opened first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenRequest {
    /// A folder or file.
    pub path: Option<PathBuf>,
    /// A context of the kubeconfig.
    pub context: Option<String>,
    /// The one namespace.
    pub namespace: Option<String>,
    /// A link to shared work, which is opened when the person agrees.
    pub link: Option<String>,
}

/// How links of the desktop begin.
pub const SCHEME: &str = "chancery:";

/// Reads it.
///
/// # Errors
///
/// What is wrong, as a sentence.
pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut wanted = OpenRequest::default();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let mut value = |of: &str| {
            let value = words.next().and_then(|value| value.into_string().ok());
            value.ok_or_else(|| format!("{of} wants a name"))
        };
        match word.to_str() {
            Some("--help" | "-h") => return Ok(Command::Help),
            Some("--version" | "-V") => return Ok(Command::Version),
            Some("--context") => wanted.context = Some(value("--context")?),
            Some("--namespace" | "-n") => wanted.namespace = Some(value("--namespace")?),
            Some("--") => {}
            Some(flag) if flag.starts_with('-') => return Err(format!("there is no flag {flag}")),
            Some(link) if link.starts_with(SCHEME) => wanted.link = Some(link.into()),
            _ if wanted.path.is_some() => return Err("one path is opened at a time".into()),
            _ => wanted.path = Some(word.into()),
        }
    }
    if wanted.namespace.is_some() && wanted.context.is_none() {
        return Err("--namespace goes with --context".into());
    }
    if wanted.path.is_some() && wanted.context.is_some() {
        return Err("a path or a context is followed, not both".into());
    }
    Ok(Command::Open(wanted))
}

/// Says that the PATH is the login shell's already.
const MARK: &str = "CHANCERY_DESKTOP_PATH";

/// A program that was started by a click has the PATH of the session, without what people add in their shell, where programs lie that get
/// credentials for clusters. So it starts itself once more with the login shell's.
pub fn with_path_of_login_shell() {
    #[cfg(unix)]
    {
        use std::io::IsTerminal;
        use std::os::unix::process::CommandExt;
        if std::env::var_os(MARK).is_some() || std::io::stdin().is_terminal() || std::env::var_os("SHLVL").is_some() {
            return;
        }
        if let (Some(path), Ok(program)) = (login_path(), std::env::current_exe()) {
            // It returns only where it fails: then the PATH stays as it is.
            let error = std::process::Command::new(program).args(std::env::args_os().skip(1)).env("PATH", path).env(MARK, "1").exec();
            eprintln!("the PATH of the login shell is not used: {error}");
        }
    }
}

/// The PATH of the login shell, if it says it soon.
#[cfg(unix)]
fn login_path() -> Option<String> {
    use std::process::{Command, Stdio};
    let shell = std::env::var_os("SHELL")?;
    let mut asked = Command::new(shell)
        .args(["-l", "-c", "printf '\\n%s' \"$PATH\""])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    for _ in 0..150 {
        if asked.try_wait().ok()?.is_some() {
            let said = asked.wait_with_output().ok()?;
            let said = String::from_utf8(said.stdout).ok()?;
            return said.lines().last().map(str::to_owned).filter(|path| !path.is_empty());
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    // One that waits for somebody is ended.
    let _ = asked.kill();
    let _ = asked.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(words: &[&str]) -> Result<Command, String> {
        read(words.iter().map(OsString::from))
    }

    #[test]
    fn the_command_line_is_read() {
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
