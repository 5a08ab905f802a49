//! Prepares the window: the page as it is in `dist`, and the two commands that it may call.
//!
//! What must not be here: building the page (`cargo xtask desktop` does).

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

    /// The program of the workers that knows all dialects.
    const ALL: &str = "chancery-worker-all";

    /// Copies the page. Its own content policy knows nothing of the window, which has a stricter one that lets the page call it.
    pub fn prepare() -> io::Result<()> {
        let (from, to) = (Path::new("../dist"), Path::new("page"));
        println!("cargo::rerun-if-changed=../dist");
        if !from.join("index.html").is_file() {
            return Err(io::Error::other("there is no page in dist: `cargo xtask desktop` builds it"));
        }
        drop(fs::remove_dir_all(to));
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(from)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match name.as_str() {
                "index.html" => fs::write(to.join(&name), without_policy(&fs::read_to_string(&path)?))?,
                "worker.js" => fs::write(to.join(&name), with_one_program(&fs::read_to_string(&path)?)?)?,
                // The window's own files need no keeping, and are packed by the window.
                "service-worker.js" => {}
                _ if name.ends_with(".br") => {}
                _ if name.starts_with("chancery-worker-") && !name.starts_with(ALL) => {}
                _ => drop(fs::copy(&path, to.join(&name))?),
            }
        }
        Ok(())
    }

    /// All workers of the window run the program that knows all dialects: nothing is loaded over a network, and one takes less room than five.
    fn with_one_program(script: &str) -> io::Result<String> {
        let named = ["`./chancery-worker-${", "}.js`"];
        let start = script.find(named[0]);
        let end = start.and_then(|at| script[at..].find(named[1]).map(|length| at + length + named[1].len()));
        match (start, end) {
            (Some(start), Some(end)) => Ok(format!("{}\"./{ALL}.js\"{}", &script[..start], &script[end..])),
            _ => Err(io::Error::other("worker.js does not name the program of a dialect")),
        }
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
