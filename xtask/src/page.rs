//! Builds the page into `dist/`. Installs what the build needs; does not serve the page, see `play`.

use crate::lint::with_clippy;
use crate::setup;
use crate::shell::{cargo, program, root, run as call, target};
use crate::steps::Steps;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{fs, io, thread};

/// The folder of the built page.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// The programs of `web/`: the page, and the worker that compiles.
const PROGRAMS: [&str; 2] = ["chancery-page", "chancery-worker"];

/// Files that the page contains unchanged, except that scripts and styles are minified.
const FILES: [&str; 11] = [
    "index.html",
    "assets/style.css",
    "assets/icon.svg",
    "assets/boot.js",
    "assets/start.js",
    "assets/bytes.js",
    "assets/host.js",
    "assets/worker.js",
    "assets/service-worker.js",
    "assets/editor/dist/editor.js",
    "assets/editor/dist/format.js",
];

/// The Rust target of browsers.
const TARGET: &str = "wasm32-unknown-unknown";

/// The arguments of wasm-opt: the WebAssembly features that rustc uses, and optimisations for the compressed size.
const WASM_OPT: [&str; 15] = [
    "--enable-bulk-memory",
    "--enable-sign-ext",
    "--enable-nontrapping-float-to-int",
    "--enable-mutable-globals",
    "--enable-reference-types",
    "--enable-multivalue",
    // Brotli compresses zeros between constants better than a list of segments.
    "--skip-pass=memory-packing",
    // Rust puts nothing into the first kilobyte of memory.
    "--low-memory-unused",
    "--generate-global-effects",
    "-Oz",
    // A large function with many variables needs longer indexes for them.
    "--one-caller-inline-max-function-size=20",
    // Similar functions compress better next to each other.
    "--reorder-functions-by-name",
    // Engines ignore alignment hints.
    "--dealign",
    "--strip-debug",
    "--strip-producers",
];

/// The purpose of a build of the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To publish: optimised for size.
    Publish,
    /// To try on this machine: builds in minutes and compiles configurations fast enough.
    Try,
    /// To test its behaviour: builds fastest, with Clippy.
    Test,
}

impl Purpose {
    fn profile(self) -> &'static str {
        match self {
            Purpose::Publish => "web",
            Purpose::Try => "web-fast",
            Purpose::Test => "web-test",
        }
    }
}

/// Builds the page, at most once per run.
///
/// # Errors
///
/// A step of the build failed.
pub fn build(purpose: Purpose) -> Result<(), String> {
    static BUILT: Mutex<Option<Purpose>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if *built != Some(purpose) {
        build_now(purpose)?;
        *built = Some(purpose);
    }
    Ok(())
}

const EDITOR: &str = "editor";
const BINDGEN: &str = "wasm-bindgen";
const RUST: &str = "page and worker";
const OPTIMISE: &str = "wasm-opt";
const FINISH: &str = "dist";

fn build_now(purpose: Purpose) -> Result<(), String> {
    let mut names = vec![EDITOR, BINDGEN, RUST, FINISH];
    if purpose == Purpose::Publish {
        names.insert(3, OPTIMISE);
    }
    let steps = Steps::new(&names);
    setup::wasm_target()?;
    thread::scope(|scope| {
        let editor = scope.spawn(|| steps.run(EDITOR, build_editor));
        let bindgen = scope.spawn(|| steps.run(BINDGEN, build_bindgen));
        let programs = steps.run(RUST, || compile(purpose));
        let failed = |_| Err("the step panicked".to_string());
        editor.join().unwrap_or_else(failed).and(bindgen.join().unwrap_or_else(failed)).and(programs)
    })?;
    let folder = target().join("page").join(purpose.profile());
    PROGRAMS.iter().try_for_each(|name| bind(name, purpose, &folder))?;
    if purpose == Purpose::Publish {
        steps.run(OPTIMISE, || optimise(&folder))?;
    }
    steps.run(FINISH, || finish(purpose, &folder))
}

/// Bundles CodeMirror.
fn build_editor() -> Result<(), String> {
    setup::editor()?;
    call(program("npm").args(["run", "--silent", "build"]).current_dir(root().join("assets/editor")))
}

/// Builds the program that writes the JavaScript of a WebAssembly program.
fn build_bindgen() -> Result<(), String> {
    call(cargo().args(["build", "--quiet", "--package", "xtask-bindgen", "--profile", "fast"]))
}

/// Compiles the programs of `web/`.
fn compile(purpose: Purpose) -> Result<(), String> {
    match purpose {
        // Separately: together, the worker would contain the features of libraries that only the page needs.
        Purpose::Publish => PROGRAMS.iter().try_for_each(|name| {
            let features: &[&str] = if *name == "chancery-page" { &["--features", "page"] } else { &[] };
            call(build_command(purpose).args(["--bin", name]).args(features))
        }),
        // Together, so that cargo builds shared libraries once.
        Purpose::Try => call(build_command(purpose).args(["--bins", "--features", "page"])),
        Purpose::Test => call(with_clippy(&mut programs_of_tests())),
    }
}

fn build_command(purpose: Purpose) -> Command {
    let mut build = cargo();
    build.args(["build", "--package", "chancery-web", "--target", TARGET, "--profile", purpose.profile()]);
    build
}

/// The command that compiles everything for WebAssembly that tests run: the programs of `web/`, and the core for [`parity`].
pub fn programs_of_tests() -> Command {
    let mut build = build_command(Purpose::Test);
    build.args(["--package", "chancery-parity", "--quiet", "--lib", "--bins", "--features", "chancery-web/page,chancery-web/language-server"]);
    build
}

/// The core as WebAssembly, for the tests that compare its answers with the native core's.
pub fn parity() -> PathBuf {
    target().join(TARGET).join(Purpose::Test.profile()).join("chancery_parity.wasm")
}

/// Builds the language server of editors without the command line. Returns its JavaScript and its program.
///
/// # Errors
///
/// A step of the build failed.
pub fn language_server(purpose: Purpose) -> Result<[PathBuf; 2], String> {
    const NAME: &str = "chancery-language-server";
    setup::wasm_target()?;
    build_bindgen()?;
    call(build_command(purpose).args(["--bin", NAME, "--features", "language-server"]))?;
    let folder = target().join("page").join(purpose.profile());
    bind(NAME, purpose, &folder)?;
    let built = [folder.join(format!("{NAME}.js")), folder.join(wasm(NAME))];
    if purpose == Purpose::Publish {
        setup::editor()?;
        optimise_program(&built[1])?;
    }
    Ok(built)
}

/// Writes a program with its JavaScript into a folder.
fn bind(name: &str, purpose: Purpose, folder: &Path) -> Result<(), String> {
    let compiled = target().join(TARGET).join(purpose.profile()).join(format!("{name}.wasm"));
    call(program(target().join("fast/xtask-bindgen")).arg(compiled).arg(name).arg(folder))
}

fn wasm(name: &str) -> String {
    format!("{name}_bg.wasm")
}

/// Optimises the programs in a folder, both at the same time. Reuses earlier results for the same programs.
fn optimise(folder: &Path) -> Result<(), String> {
    thread::scope(|scope| {
        let running = PROGRAMS.map(|name| scope.spawn(move || optimise_program(&folder.join(wasm(name)))));
        running.into_iter().try_for_each(|one| one.join().unwrap_or_else(|_| Err("wasm-opt panicked".into())))
    })
}

fn optimise_program(wasm: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", wasm.display());
    let mut hasher = DefaultHasher::new();
    (fs::read(wasm).map_err(failed)?, WASM_OPT).hash(&mut hasher);
    let optimised = wasm.with_extension(format!("{:016x}.optimised", hasher.finish()));
    if !optimised.is_file() {
        // The binaryen package of npm: the one of Debian 12 breaks tables of references.
        let wasm_opt = root().join("assets/editor/node_modules/binaryen/bin/wasm-opt");
        call(program("node").arg(wasm_opt).args(WASM_OPT).arg("-o").arg(&optimised).arg(wasm))?;
    }
    fs::copy(&optimised, wasm).map(drop).map_err(failed)
}

/// Puts everything into `dist`.
fn finish(purpose: Purpose, folder: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("dist: {error}");
    let files = FILES.iter().map(|file| root().join(file));
    let programs = PROGRAMS.iter().flat_map(|name| [format!("{name}.js"), wasm(name)]).map(|file| folder.join(file));
    let copy = || -> io::Result<()> {
        drop(fs::remove_dir_all(dist()));
        fs::create_dir_all(dist())?;
        files.chain(programs).try_for_each(|from| fs::copy(&from, dist().join(from.file_name().unwrap_or_default())).map(drop))
    };
    copy().map_err(failed)?;
    call(program("node").arg(root().join("assets/first.mjs")).arg(dist()))?;
    stamp().map_err(failed)?;
    minify()?;
    if purpose == Purpose::Publish { compress() } else { Ok(()) }
}

/// The files of `dist`, sorted.
fn built_files() -> Result<Vec<PathBuf>, String> {
    let files = || fs::read_dir(dist())?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut files = files().map_err(|error| format!("dist: {error}"))?;
    files.sort();
    Ok(files)
}

/// Compresses each file with brotli, next to the file, for servers that send it so.
fn compress() -> Result<(), String> {
    let script = "const fs = require('fs'), zlib = require('zlib');\
        for (const file of process.argv.slice(1)) fs.writeFileSync(file + '.br', zlib.brotliCompressSync(fs.readFileSync(file)));";
    call(program("node").args(["-e", script]).args(built_files()?))
}

/// Removes blanks and comments from scripts and styles.
fn minify() -> Result<(), String> {
    let mut esbuild = program(root().join("assets/editor/node_modules/.bin/esbuild"));
    esbuild.args(["--minify", "--legal-comments=none", "--log-level=warning", "--allow-overwrite"]);
    // wasm-bindgen lists a module once per imported function.
    esbuild.arg("--log-override:duplicate-object-key=silent").arg(format!("--outdir={}", dist().display()));
    let mut scripts = built_files()?;
    scripts.retain(|path| path.extension().is_some_and(|ending| ending == "js" || ending == "css"));
    call(esbuild.args(scripts))
}

/// Writes the version, a hash of all files, into the page and its service worker, so that browsers notice a new version.
fn stamp() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for file in built_files().map_err(io::Error::other)? {
        fs::read(file)?.hash(&mut hasher);
    }
    let version = format!("{:016x}", hasher.finish());
    replace(&dist().join("service-worker.js"), "\"development\"", &format!("\"{version}\""))?;
    replace(&dist().join("index.html"), "<html lang=\"en\"", &format!("<html lang=\"en\" data-version=\"{version}\""))
}

fn replace(file: &Path, from: &str, to: &str) -> io::Result<()> {
    let text = fs::read_to_string(file)?;
    if !text.contains(from) {
        return Err(io::Error::other(format!("{} does not contain {from}", file.display())));
    }
    fs::write(file, text.replacen(from, to, 1))
}

/// Builds the npm package of the element that shows the page in `dist`.
///
/// # Errors
///
/// npm failed, or files cannot be copied.
pub fn element() -> Result<(), String> {
    setup::element()?;
    let package = root().join("web/npm");
    call(program("npm").args(["run", "--silent", "build"]).current_dir(&package))?;
    let files = built_files()?;
    let copy = || -> io::Result<()> {
        let page = package.join("page");
        drop(fs::remove_dir_all(&page));
        fs::create_dir_all(&page)?;
        let plain = files.iter().filter(|file| !file.to_string_lossy().ends_with(crate::serve::PACKED));
        plain.into_iter().try_for_each(|file| fs::copy(file, page.join(file.file_name().unwrap_or_default())).map(drop))
    };
    copy().map_err(|error| format!("{}: {error}", package.display()))
}
