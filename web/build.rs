//! Includes the examples of `assets/examples` in the page.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../assets/examples");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut out = String::from("/// All examples.\npub const ALL: &[Example] = &[\n");
    for dialect in sorted(&folder)?.into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", dialect.display());
        for path in sorted(&dialect)?.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "yaml")) {
            let word = |path: &Path| path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let _ = writeln!(
                out,
                "    Example {{ dialect: {:?}, name: {:?}, text: include_str!({:?}) }},",
                word(&dialect),
                word(&path),
                path.canonicalize()?.display().to_string()
            );
        }
    }
    out.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("examples.rs"), out)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
