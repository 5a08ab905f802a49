//! Builds the page, by trunk, into `dist/`.
//!
//! What must not be here: installing what that needs (`setup`), and serving (`serve`).

use crate::shell::{program, root, run as call};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Where the page lies.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// Builds it.
pub fn build() -> Result<(), String> {
    call(program("npm").args(["run", "--silent", "build"]).current_dir(root().join("assets/editor")))?;
    let cargo_bin = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let mut path = cargo_bin.map(|home| home.join("bin").into_os_string()).unwrap_or_default();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    // Trunk wants NO_COLOR to be true or false, where others want it to be there.
    call(program("trunk").args(["build", "--release"]).env("PATH", path).env("TRUNK_SKIP_VERSION_CHECK", "true").env_remove("NO_COLOR"))?;
    stamp().map_err(|error| format!("dist: {error}"))
}

/// Writes the version, a hash of everything, into the page and its service worker, so that browsers notice a new one.
fn stamp() -> io::Result<()> {
    let mut files: Vec<PathBuf> = fs::read_dir(dist())?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in &files {
        fs::read(file)?.hash(&mut hasher);
    }
    let version = format!("{:016x}", hasher.finish());
    replace(&dist().join("service-worker.js"), "\"development\"", &format!("\"{version}\""))?;
    replace(&dist().join("index.html"), "<html lang=\"en\"", &format!("<html lang=\"en\" data-version=\"{version}\""))
}

fn replace(file: &Path, from: &str, to: &str) -> io::Result<()> {
    let text = fs::read_to_string(file)?;
    // Minified pages do without quotes.
    let bare = from.replace('"', "");
    let changed = if text.contains(from) { text.replacen(from, to, 1) } else { text.replacen(&bare, to, 1) };
    fs::write(file, changed)
}
