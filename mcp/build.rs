//! Finds the guides: in the repository beside this crate, or in the package, which contains a copy. A checkout without symbolic links only has the
//! first.

fn main() {
    let own = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let shared = own.join("../docs/guides");
    let guides = if shared.is_dir() { shared } else { own.join("guides") };
    println!("cargo::rustc-env=CHANCERY_GUIDES={}", guides.display());
    println!("cargo::rerun-if-changed=build.rs");
}
