//! Prepares the window: copies the page from `dist` and declares the two commands that the page may call. Does not build the page; see
//! `cargo xtask desktop`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    #[cfg(feature = "window")]
    {
        page::prepare()?;
        let commands = tauri_build::AppManifest::new().commands(&["listen", "call"]);
        tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands))?;
    }
    Ok(())
}

#[cfg(feature = "window")]
mod page {
    use std::path::Path;
    use std::{fs, io};

    /// Copies the page. Removes its content policy: the window sets a stricter one, which lets the page call the window.
    pub fn prepare() -> io::Result<()> {
        let (from, to) = (Path::new("../dist"), Path::new("page"));
        println!("cargo::rerun-if-changed=../dist");
        if !from.join("index.html").is_file() {
            return Err(io::Error::other("dist contains no page; run `cargo xtask desktop`"));
        }
        drop(fs::remove_dir_all(to));
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match name.as_str() {
                "index.html" => fs::write(to.join(&name), without_policy(&fs::read_to_string(&path)?))?,
                // The window always has its files, and compresses them itself.
                "service-worker.js" => {}
                _ if name.ends_with(".br") => {}
                _ => drop(fs::copy(&path, to.join(&name))?),
            }
        }
        Ok(())
    }

    fn without_policy(page: &str) -> String {
        let policy = page.find("http-equiv=\"Content-Security-Policy\"");
        let start = policy.and_then(|at| page[..at].rfind("<meta"));
        let end = policy.and_then(|at| page[at..].find("/>").map(|length| at + length + 2));
        match (start, end) {
            (Some(start), Some(end)) => format!("{}{}", &page[..start], &page[end..]),
            _ => page.to_owned(),
        }
    }
}
