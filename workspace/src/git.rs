//! Puts the files of a git revision into a temporary folder. Paths are git's: `REVISION:PATH` starts at the root of the
//! repository, `REVISION:./PATH` at the current folder.
//!
//! Does not read the files; see `folder`.

use crate::reason;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

const NO_REASON: &str = "it does not say why";

/// The content of a revision at a path.
pub struct Checkout {
    folder: TempDir,
    /// The path, from the root of the repository.
    path: String,
}

/// A revision and its path, from an argument that is not a file: `REVISION:PATH`, or `REVISION` for the current folder.
pub fn revision_of(argument: &Path) -> Option<(String, String)> {
    let text = argument.to_str().filter(|text| !text.contains("://") && !text.is_empty() && !text.starts_with('-'))?;
    if argument.exists() {
        return None;
    }
    if let Some((revision, path)) = text.split_once(':') {
        return Some((revision.into(), path.into()));
    }
    let commit = format!("{text}^{{commit}}");
    run(&["rev-parse", "--verify", "--quiet", &commit], &[]).is_ok().then(|| (text.into(), "./".into()))
}

/// Returns the path of a revision in the working folder.
///
/// # Errors
///
/// The path is outside of the repository.
pub fn working_path(revision: &str, path: &str) -> Result<PathBuf, String> {
    let cannot = |why: String| format!("git cannot read {revision}:{path}: {why}");
    let prefix = run(&["rev-parse", "--show-prefix"], &[]).map_err(cannot)?;
    let prefix = String::from_utf8_lossy(&prefix).trim().to_string();
    let from_root = path_from_root(&prefix, path).ok_or_else(|| cannot("it is outside of the repository".into()))?;
    // Relative to the current folder, because names are shown this way.
    let steps = prefix.split('/').filter(|step| !step.is_empty()).count();
    let inner = Path::new(&from_root);
    let path = inner.strip_prefix(&prefix).map(Path::to_owned).unwrap_or_else(|_| (0..steps).map(|_| "..").collect::<PathBuf>().join(inner));
    Ok(if path.as_os_str().is_empty() { PathBuf::from(".") } else { path })
}

/// Checks that a revision exists.
///
/// # Errors
///
/// git cannot read the revision.
pub fn verify(revision: &str) -> Result<(), String> {
    let commit = format!("{revision}^{{commit}}");
    run(&["rev-parse", "--verify", "--quiet", &commit], &[]).map(drop).map_err(|why| {
        let why = if why.is_empty() || why == NO_REASON { "there is no such revision here; in CI, fetch it first".into() } else { why };
        format!("git cannot read {revision}: {why}")
    })
}

/// Returns an absolute path of the repository as a path from the current folder.
///
/// # Errors
///
/// The current folder is gone.
pub fn from_current_folder(path: &Path) -> Result<String, String> {
    let here = std::env::current_dir().map_err(|error| format!("cannot find the current folder: {}", reason(&error)))?;
    let relative = pathdiff::diff_paths(path, here).unwrap_or_else(|| path.to_owned());
    Ok(format!("./{}", relative.display()))
}

impl Checkout {
    /// The content of a revision; `None` if the revision has no such path.
    ///
    /// # Errors
    ///
    /// The path is outside of the repository, or git does not run.
    pub fn if_there(revision: &str, path: &str) -> Result<Option<Self>, String> {
        let cannot = |why: String| format!("git cannot read {revision}:{path}: {why}");
        let prefix = run(&["rev-parse", "--show-prefix"], &[]).map_err(cannot)?;
        let Some(from_root) = path_from_root(String::from_utf8_lossy(&prefix).trim(), path) else {
            return Err(cannot("it is outside of the repository".into()));
        };
        match run(&["cat-file", "-e", &format!("{revision}:{from_root}")], &[]) {
            Ok(_) => Self::of(revision, path).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Writes the files of a revision into a separate folder.
    ///
    /// # Errors
    ///
    /// git cannot read the revision or the path.
    pub fn of(revision: &str, path: &str) -> Result<Self, String> {
        Self::seen_from(Path::new("."), revision, path)
    }

    /// The same, with paths relative to this folder.
    ///
    /// # Errors
    ///
    /// git cannot read the revision or the path.
    pub fn seen_from(here: &Path, revision: &str, path: &str) -> Result<Self, String> {
        let run = |arguments: &[&str], env: &[(&str, &str)]| feed(here, arguments, env, &[]);
        let cannot = |why: String| format!("git cannot read {revision}:{path}: {why}");
        let prefix = run(&["rev-parse", "--show-prefix"], &[]).map_err(cannot)?;
        let from_root =
            path_from_root(String::from_utf8_lossy(&prefix).trim(), path).ok_or_else(|| cannot("it is outside of the repository".into()))?;
        run(&["cat-file", "-e", &format!("{revision}:{from_root}")], &[]).map_err(cannot)?;
        let folder = TempDir::with_prefix("chancery-").map_err(|error| format!("cannot make a folder for {revision}: {}", reason(&error)))?;
        let index = folder.path().join(".index").display().to_string();
        let env = [("GIT_INDEX_FILE", index.as_str())];
        run(&["read-tree", revision], &env).map_err(cannot)?;
        let root = run(&["rev-parse", "--show-toplevel"], &[]).map_err(cannot)?;
        let root = String::from_utf8_lossy(&root).trim().to_string();
        let inside = if from_root.is_empty() { "." } else { &from_root };
        let names = run(&["-C", &root, "ls-files", "-z", "--", inside], &env).map_err(cannot)?;
        let prefix = format!("--prefix={}/", folder.path().display());
        feed(here, &["-C", &root, "checkout-index", "-q", "-z", "--stdin", &prefix], &env, &names).map_err(cannot)?;
        Ok(Self { folder, path: from_root })
    }

    /// The folder that replaces the repository's root.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the path lies in it.
    pub fn path(&self) -> PathBuf {
        if self.path.is_empty() { self.folder().to_owned() } else { self.folder().join(&self.path) }
    }
}

/// Returns a path from the repository's root, without `.` and `..`. Returns nothing if it leaves the repository.
fn path_from_root(prefix: &str, path: &str) -> Option<String> {
    let is_relative = path.starts_with("./") || path.starts_with("../") || matches!(path, "." | "..");
    let whole = if is_relative { format!("{prefix}{path}") } else { path.to_string() };
    let mut steps: Vec<&str> = Vec::new();
    for step in whole.split('/').filter(|step| !matches!(*step, "" | ".")) {
        if step == ".." {
            steps.pop()?;
        } else {
            steps.push(step);
        }
    }
    Some(steps.join("/"))
}

fn run(arguments: &[&str], env: &[(&str, &str)]) -> Result<Vec<u8>, String> {
    feed(Path::new("."), arguments, env, &[])
}

/// Runs git in a folder with an input. Returns its output, or why it failed.
fn feed(here: &Path, arguments: &[&str], env: &[(&str, &str)], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut command = Command::new("git");
    command.current_dir(here).args(arguments).envs(env.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("it does not run: {}", reason(&error)))?;
    if let Some(mut stdin) = child.stdin.take() {
        // git may exit without reading all of its input.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| reason(&error))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(why.lines().next().unwrap_or(NO_REASON).trim_start_matches("fatal: ").to_string())
}
