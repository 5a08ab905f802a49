//! Formats the generated files and writes them, or compares them with what is on disk.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::source;

/// The folder of generated files, relative to the workspace's root.
const FOLDER: &str = "envoy-api/src/generated";

/// Writes `files` (name to content) and removes outdated files. With `check`, only returns whether all are fresh.
pub fn write(files: BTreeMap<String, String>, check: bool) -> Result<bool, String> {
    let folder = source::workspace().join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let (mut fresh, mut total) = (true, 0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let list: Vec<(String, String)> = files.into_iter().collect();
    let formatted: Vec<Result<(String, String), String>> = std::thread::scope(|scope| {
        let chunks: Vec<_> = list
            .chunks(list.len().div_ceil(threads).max(1))
            .map(|chunk| scope.spawn(move || chunk.iter().map(|(n, t)| Ok((n.clone(), format(t)?))).collect::<Vec<_>>()))
            .collect();
        chunks.into_iter().flat_map(|c| c.join().unwrap_or_else(|_| vec![Err("a formatter panicked".to_owned())])).collect()
    });
    let mut names = Vec::new();
    for file in formatted {
        let (name, text) = file?;
        total += text.len();
        let path = folder.join(&name);
        if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
            fresh = false;
            if check {
                eprintln!("codegen: {} differs", path.display());
            } else {
                std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
            }
        }
        names.push(name);
    }
    for path in stale(&folder, &names)? {
        fresh = false;
        if check {
            eprintln!("codegen: {} is no longer generated", path.display());
        } else {
            std::fs::remove_file(&path).map_err(|e| e.to_string())?;
        }
    }
    println!("codegen: {} files, {} KiB", names.len(), total / 1024);
    Ok(fresh || !check)
}

fn stale(folder: &Path, names: &[String]) -> Result<Vec<std::path::PathBuf>, String> {
    let mut stale = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        if !path.file_name().and_then(|n| n.to_str()).is_some_and(|n| names.iter().any(|known| known == n)) {
            stale.push(path);
        }
    }
    Ok(stale)
}

/// Formats code with rustfmt.
fn format(text: &str) -> Result<String, String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition=2024", "--quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("rustfmt: {e}"))?;
    let mut input = child.stdin.take().ok_or("rustfmt takes no input")?;
    std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(text.as_bytes()));
        let out = child.wait_with_output().map_err(|e| format!("rustfmt: {e}"))?;
        if !out.status.success() {
            return Err(format!("rustfmt: {}", String::from_utf8_lossy(&out.stderr)));
        }
        String::from_utf8(out.stdout).map_err(|e| e.to_string())
    })
}
