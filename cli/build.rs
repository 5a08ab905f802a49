//! Embeds the built page into the program, if the feature `playground` is on.
//!
//! Does not build the page; `cargo xtask binary` does both.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_PLAYGROUND").is_none() {
        return Ok(());
    }
    let dist = Path::new(&env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?).join("../dist");
    println!("cargo::rerun-if-changed={}", dist.display());
    let listed = fs::read_dir(&dist).map_err(|_| io::Error::other("the page is not built: `cargo xtask binary` builds it, and then this program"))?;
    let mut files = listed.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|path| path.is_file());
    files.sort();
    let mut out = String::from("pub static FILES: &[(&str, &[u8])] = &[\n");
    for file in files {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let _ = writeln!(out, "    ({name:?}, include_bytes!({:?})),", file.canonicalize()?.display().to_string());
    }
    out.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR").map_err(io::Error::other)?).join("page.rs"), out)
}
