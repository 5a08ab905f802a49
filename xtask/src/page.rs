//! Builds the page into `dist/`, as the links of `index.html` that are marked for trunk say.
//!
//! Trunk builds the same from them, and again with every change (`trunk serve`), for those who have it; building trunk itself takes longer than all
//! the rest, so a first visit goes without.
//!
//! What must not be here: installing what that needs (`setup`), and serving (`serve`).

use crate::lint::with_clippy;
use crate::shell::{cargo, program, root, run as call, target};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{fs, io, thread};

/// Where the page lies.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// The target of browsers.
const TARGET: &str = "wasm32-unknown-unknown";

/// What rustc's WebAssembly uses, and what wasm-opt must be given as features.
const FEATURES: [&str; 6] = ["bulk-memory", "sign-ext", "nontrapping-float-to-int", "mutable-globals", "reference-types", "multivalue"];

/// How wasm-opt makes a program small, in this order.
const SMALL: [&str; 6] = [
    // Constants stay in one segment. Many segments need an address each, and brotli packs the zeros between constants to less.
    "--skip-pass=memory-packing",
    // Nothing lies in the first kilobyte, where the stack would end.
    "--low-memory-unused",
    "--generate-global-effects",
    "-Oz",
    // Functions that are called once stay apart, unless they are tiny: in one that has hundreds of variables, each takes more to name.
    "--one-caller-inline-max-function-size=20",
    // What is alike has names that are alike, and packs better where it stands together.
    "--reorder-functions-by-name",
];

/// What is done besides to a program that stays whole: engines do not look at how a place in memory is said to be aligned, and what is alike packs better.
const WHOLE: [&str; 3] = ["--dealign", "--strip-debug", "--strip-producers"];

/// The program that stays whole: the window has it at hand, and others load it seldom.
const ALL: &str = "chancery-worker-all";

/// A program of WebAssembly with nothing in it, which stands for a part of one that is not split.
const EMPTY: &[u8] = b"\0asm\x01\0\0\0";

/// Something that the page is made of.
enum Part {
    /// A style sheet.
    Style(PathBuf),
    /// A file that is taken as it is.
    File(PathBuf),
    /// A program of `web/`, and the feature that it is built with.
    Program(String, Option<String>),
}

/// For whom it is built.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// For people: as small as can be.
    People,
    /// For a look at it, between two changes.
    Look,
    /// For tests of what it does: as soon as can be, under Clippy.
    Tests,
}

/// Builds it, once in a run.
pub fn build(whom: For) -> Result<(), String> {
    static BUILT: Mutex<Option<For>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if *built != Some(whom) {
        build_now(whom)?;
        *built = Some(whom);
    }
    Ok(())
}

fn build_now(whom: For) -> Result<(), String> {
    call(program("npm").args(["run", "--silent", "build"]).current_dir(root().join("assets/editor")))?;
    let index = fs::read_to_string(root().join("index.html")).map_err(|error| format!("index.html: {error}"))?;
    let (index, parts) = recipe(&index);
    let mut made: Vec<PathBuf> = parts.iter().filter_map(Part::file).cloned().collect();
    // While one is built, the one before is made small: that keeps one core busy, and so does most of a build.
    thread::scope(|scope| {
        let mut finishing = Vec::new();
        for part in &parts {
            if let Part::Program(name, feature) = part {
                compile(name, feature.as_deref(), whom)?;
                finishing.push(scope.spawn(move || finished(name, whom)));
            }
        }
        for one in finishing {
            made.extend(one.join().map_err(|_| "making a program small panicked".to_string())??);
        }
        Ok::<(), String>(())
    })?;
    let put = || -> io::Result<()> {
        drop(fs::remove_dir_all(dist()));
        fs::create_dir_all(dist())?;
        fs::write(dist().join("index.html"), &index)?;
        fs::write(dist().join("codes.txt"), codes()?)?;
        made.iter().try_for_each(|from| fs::copy(from, dist().join(from.file_name().unwrap_or_default())).map(drop))
    };
    put().map_err(|error| format!("dist: {error}"))?;
    call(program("node").arg(root().join("assets/first.mjs")).arg(dist()))?;
    stamp().map_err(|error| format!("dist: {error}"))?;
    smaller()?;
    match whom {
        For::People => pack(),
        For::Look | For::Tests => Ok(()),
    }
}

/// The pages of all codes as one file: each begins with a form feed and a line with its name.
fn codes() -> io::Result<String> {
    let crates = fs::read_dir(root().join("core"))?.map(|entry| Ok(entry?.path().join("src"))).collect::<io::Result<Vec<_>>>()?;
    let folders = crates.iter().flat_map(|sources| [sources.join("pages"), sources.join("diagnostic/pages")]).filter(|folder| folder.is_dir());
    let mut files = Vec::new();
    for folder in folders {
        files.extend(fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?);
    }
    files.sort();
    let page = |file: &PathBuf| Ok(format!("\u{c}{}\n{}", file.file_stem().unwrap_or_default().to_string_lossy(), fs::read_to_string(file)?));
    files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "md")).map(page).collect()
}

/// Packs each file with brotli, beside itself, for servers that hand it on so.
fn pack() -> Result<(), String> {
    let script = "const fs = require('fs'), zlib = require('zlib');\
        for (const file of process.argv.slice(1)) fs.writeFileSync(file + '.br', zlib.brotliCompressSync(fs.readFileSync(file)));";
    let listed = fs::read_dir(dist()).map_err(|error| format!("dist: {error}"))?;
    let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    files.sort();
    call(program("node").args(["-e", script]).args(files))
}

/// Whether a file is another one, packed.
fn is_packed(path: &Path) -> bool {
    path.to_string_lossy().ends_with(crate::serve::PACKED)
}

/// Builds the element around the page as it is in `dist`: all that its package holds.
pub fn element() -> Result<(), String> {
    let package = root().join("web/npm");
    call(program("npm").args(["run", "--silent", "build"]).current_dir(&package))?;
    let put = || -> io::Result<()> {
        let page = package.join("page");
        drop(fs::remove_dir_all(&page));
        fs::create_dir_all(&page)?;
        let files = fs::read_dir(dist())?.collect::<io::Result<Vec<_>>>()?;
        let mut plain = files.iter().filter(|entry| !is_packed(&entry.path()));
        plain.try_for_each(|entry| fs::copy(entry.path(), page.join(entry.file_name())).map(drop))
    };
    put().map_err(|error| format!("{}: {error}", package.display()))
}

/// What the page is made of, and the page without the marks.
fn recipe(index: &str) -> (String, Vec<Part>) {
    let (mut page, mut parts) = (String::new(), Vec::new());
    for line in index.lines() {
        if !line.trim_start().starts_with("<link data-trunk ") {
            page.push_str(line.trim_start());
            page.push('\n');
            continue;
        }
        let path = root().join(attribute(line, "href"));
        match attribute(line, "rel") {
            "rust" => {
                let feature = Some(attribute(line, "data-cargo-features").to_string()).filter(|feature| !feature.is_empty());
                parts.push(Part::Program(attribute(line, "data-bin").into(), feature));
            }
            "css" => {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                page.push_str(&format!("<link rel=\"stylesheet\" href=\"./{name}\" />\n"));
                parts.push(Part::Style(path));
            }
            _ => parts.push(Part::File(path)),
        }
    }
    (page, parts)
}

fn attribute<'a>(line: &'a str, name: &str) -> &'a str {
    line.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default()
}

impl Part {
    fn file(&self) -> Option<&PathBuf> {
        match self {
            Part::Style(path) | Part::File(path) => Some(path),
            Part::Program(..) => None,
        }
    }
}

/// Builds a program of `web/`.
fn compile(name: &str, feature: Option<&str>, whom: For) -> Result<(), String> {
    match whom {
        // One by one: together, each would have what the libraries of the other switch on in those that they share.
        For::People => call(programs("web").args(["--bin", name]).args(feature.iter().flat_map(|feature| ["--features", feature]))),
        // Together, so that what they share is built once.
        For::Look => call(programs("web-fast").args(["--bins", "--all-features"])),
        For::Tests => call(with_clippy(&mut programs_of_tests())),
    }
}

fn programs(profile: &str) -> Command {
    let mut build = cargo();
    build.args(["build", "--quiet", "--package", "chancery-web", "--target", TARGET, "--profile", profile]);
    build
}

/// The build of all programs of `web/` as tests have them.
pub fn programs_of_tests() -> Command {
    let mut build = programs("web-test");
    build.args(["--bins", "--all-features"]);
    build
}

/// What cargo makes of a program.
fn built(profile: &str, name: &str) -> PathBuf {
    target().join(TARGET).join(profile).join(format!("{name}.wasm"))
}

/// A program as the page has it, and its JavaScript.
fn finished(name: &str, whom: For) -> Result<Vec<PathBuf>, String> {
    let whole = |profile: &str, folder: &str| {
        let folder = target().join(folder);
        bound(name, &built(profile, name), &folder)?;
        with_no_parts(name, &folder)?;
        Ok(files(name, &folder))
    };
    match whom {
        For::People => optimised(name),
        For::Look => whole("web-fast", "page/quick"),
        For::Tests => whole("web-test", "page/test"),
    }
}

/// The parts of a program that are loaded when they are needed (`assets/split.mjs`).
fn parts(name: &str) -> &'static [&'static str] {
    match name {
        "chancery-page" => &["host"],
        _ => &["more", "seldom", "rest"],
    }
}

/// The files of a program.
fn files(name: &str, folder: &Path) -> Vec<PathBuf> {
    let parts = parts(name).iter().map(|part| format!("{name}_{part}.wasm"));
    [format!("{name}.js"), format!("{name}_bg.wasm")].into_iter().chain(parts).map(|file| folder.join(file)).collect()
}

/// Puts the JavaScript beside a program.
fn bound(name: &str, built: &Path, folder: &Path) -> Result<(), String> {
    let bindgen = crate::setup::cargo_bin("wasm-bindgen");
    call(program(bindgen).args(["--target", "web", "--no-typescript", "--out-name", name, "--out-dir"]).arg(folder).arg(built))
}

/// Puts empty parts beside a program that is whole, so that there are the same files however it was built.
fn with_no_parts(name: &str, folder: &Path) -> Result<(), String> {
    let put = |part: &&str| fs::write(folder.join(format!("{name}_{part}.wasm")), EMPTY);
    parts(name).iter().try_for_each(put).map_err(|error| format!("{}: {error}", folder.display()))
}

/// A program with its JavaScript, made small: minutes of work that are done once for the same program.
fn optimised(name: &str) -> Result<Vec<PathBuf>, String> {
    let folder = target().join("page").join(format!("{name}-{:016x}", made_from(name).map_err(|error| format!("{name}: {error}"))?));
    let made = files(name, &folder);
    if made.iter().all(|file| file.is_file()) {
        return Ok(made);
    }
    let rough = target().join("page/rough").join(name);
    bound(name, &built("web", name), &rough)?;
    let [wasm, small] = ["bg", "small"].map(|which| rough.join(format!("{name}_{which}.wasm")));
    let features = FEATURES.map(|feature| format!("--enable-{feature}"));
    // Debian's of 2022 breaks tables of references.
    let optimiser = root().join("assets/editor/node_modules/binaryen/bin/wasm-opt");
    // What is split needs its names.
    let last: &[&str] = if name == ALL { &WHOLE } else { &["-g"] };
    call(program("node").arg(optimiser).args(features).args(SMALL).args(last).arg("-o").arg(&small).arg(&wasm))?;
    fs::rename(&small, &wasm).map_err(|error| format!("{}: {error}", wasm.display()))?;
    if name == ALL {
        with_no_parts(name, &rough)?;
    } else {
        call(program("node").arg(root().join("assets/split.mjs")).arg(name).arg(&rough))?;
    }
    let keep = || -> io::Result<()> {
        fs::create_dir_all(&folder)?;
        files(name, &rough).iter().zip(&made).try_for_each(|(from, to)| fs::copy(from, to).map(drop))
    };
    keep().map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(made)
}

/// A hash of all that a small program is made from.
fn made_from(name: &str) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    (fs::read(built("web", name))?, FEATURES, SMALL, WHOLE).hash(&mut hasher);
    let scripts = ["split.mjs", "usual.mjs"].map(|script| root().join("assets").join(script));
    let dialect = name.trim_start_matches("chancery-worker-");
    let mut usual = scripts.to_vec();
    for folder in [root().join("assets/examples").join(dialect), root().join("tests/fixtures").join(dialect)].iter().filter(|folder| folder.is_dir())
    {
        usual.extend(fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?);
    }
    usual.retain(|path| path.is_file());
    usual.sort();
    for file in usual {
        fs::read(file)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Takes the blanks and comments out of scripts and styles.
fn smaller() -> Result<(), String> {
    let mut esbuild = program(root().join("assets/editor/node_modules/.bin/esbuild"));
    esbuild.args(["--minify", "--legal-comments=none", "--log-level=warning", "--allow-overwrite"]).arg(format!("--outdir={}", dist().display()));
    let listed = fs::read_dir(dist()).map_err(|error| format!("dist: {error}"))?;
    let mut scripts: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    scripts.retain(|path| path.extension().is_some_and(|ending| ending == "js" || ending == "css"));
    scripts.sort();
    call(esbuild.args(scripts))
}

/// Writes the version, a hash of everything, into the page and its service worker, so that browsers notice a new one.
fn stamp() -> io::Result<()> {
    let mut files: Vec<PathBuf> = fs::read_dir(dist())?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
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
    if !text.contains(from) {
        return Err(io::Error::other(format!("{} does not say {from}", file.display())));
    }
    fs::write(file, text.replacen(from, to, 1))
}
