//! Runs `cargo xtask editor` (builds the extension of VS Code with this platform's program) and the tests of editors in a real VS Code, Neovim and
//! Emacs.
//!
//! Does not contain the extension or its tests; see `editors/`.

use crate::shell::{cargo, program, root, run as call, show, target, timed, tools, works};
use crate::{page, setup};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// VS Code for browsers, from npm.
const CODE_SERVER: &str = "code-server@4.139.1";
/// The Node that it needs.
const NODE: &str = "node@24";
/// What drives the browser.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";

/// Builds the extension. `--quick` takes an unoptimised program, and the page only if it is built.
pub fn run(args: &[String]) -> ExitCode {
    let quick = args.iter().any(|arg| arg == "--quick");
    let (built, time) = timed(|| build(quick));
    match built {
        Ok(path) => {
            println!("\n{} in {}", path.display(), show(time));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("editor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn folder() -> PathBuf {
    root().join("editors/vscode")
}

/// Checks the types of the extension, and bundles its modules.
pub fn bundle() -> Result<(), String> {
    setup::node()?;
    let npm = |arguments: &[&str]| call(program("npm").args(arguments).current_dir(folder()));
    npm(&["ci", "--no-audit", "--no-fund"])?;
    ["check", "build:machine", "build:browser"].iter().try_for_each(|script| npm(&["run", script]))
}

/// Builds the extension into `target/editor`, and returns its path.
pub fn build(quick: bool) -> Result<PathBuf, String> {
    bundle()?;
    let inside = folder().join("server");
    empty(&inside)?;
    for file in page::language_server(if quick { page::Purpose::Test } else { page::Purpose::Publish })? {
        copy(&file, &inside.join(file.file_name().unwrap_or_default()))?;
    }
    call(program("npm").args(["run", "build:worker"]).current_dir(folder()))?;
    let profile = if quick { "debug" } else { "release" };
    let mut build = cargo();
    build.args(["build", "--package", "chancery"]);
    if !quick {
        build.arg("--release");
        page::build(page::Purpose::Publish)?;
    }
    call(&mut build)?;
    let name = if cfg!(windows) { "chancery.exe" } else { "chancery" };
    let bin = folder().join("bin");
    empty(&bin)?;
    copy(&target().join(profile).join(name), &bin.join(name))?;
    let shown = folder().join("page");
    empty(&shown)?;
    if page::dist().is_dir() {
        copy_folder(&page::dist(), &shown)?;
        // A worker in a webview cannot load other scripts.
        call(program("npm").args(["run", "build:panel"]).current_dir(folder()))?;
    }
    copy(&root().join("LICENSE"), &folder().join("LICENSE"))?;
    let out = target().join("editor");
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let path = out.join(format!("chancery-{}.vsix", env!("CARGO_PKG_VERSION")));
    let vsce = folder().join("node_modules/.bin/vsce");
    call(program(vsce).args(["package", "--no-dependencies", "--out"]).arg(&path).current_dir(folder()))?;
    Ok(path)
}

/// Tests the extension in VS Code, and the server in Neovim and Emacs. Returns the editors that are missing.
pub fn test() -> Result<Vec<&'static str>, String> {
    let extension = build(true)?;
    let server = target().join("debug/chancery");
    let mut missing = Vec::new();
    for (name, editor) in [("Neovim", "nvim"), ("Emacs", "emacs")] {
        if !works(editor, &["--version"]) {
            missing.push(name);
            continue;
        }
        call(program("python3").arg(root().join("editors/test/editors.py")).arg(editor).arg(&server))?;
    }
    let code = match (setup::browser(), code_server()) {
        (Ok(browser), Ok(code)) => Some((browser, code)),
        _ => None,
    };
    let Some((browser, code)) = code else {
        missing.push("VS Code");
        return Ok(missing);
    };
    // With the program, without it, and in a browser.
    for host in ["machine", "worker", "browser"] {
        let mut command = program("node");
        command.arg(root().join("editors/test/vscode.mjs")).arg(&extension).arg(host);
        command.env("CHANCERY_CODE", &code).env("CHANCERY_CHROMIUM", &browser).env("CHANCERY_EDITOR_TOOLS", folder_of_tools());
        call(command.env("CHANCERY_PICTURES", target().join("editor")))?;
    }
    Ok(missing)
}

fn folder_of_tools() -> PathBuf {
    tools().join("editor")
}

/// Installs VS Code for browsers. Returns its folder.
fn code_server() -> Result<PathBuf, String> {
    let folder = folder_of_tools();
    let code = folder.join("node_modules/code-server");
    let ready = folder.join("ready");
    if ready.is_file() {
        return Ok(code);
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    write(&folder.join("package.json"), "{\"private\": true}\n")?;
    let node = folder.join("node_modules/node/bin");
    let path = std::env::join_paths(std::iter::once(node).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())));
    let path = path.map_err(|error| error.to_string())?;
    let npm =
        |at: &Path, arguments: &[&str]| call(program("npm").args(arguments).args(["--no-audit", "--no-fund"]).current_dir(at).env("PATH", &path));
    npm(&folder, &["install", NODE, PLAYWRIGHT])?;
    // Its own installation script builds modules that need headers of Kerberos.
    npm(&folder, &["install", "--ignore-scripts", CODE_SERVER])?;
    let vscode = code.join("lib/vscode");
    npm(&vscode, &["install", "--omit=dev", "--ignore-scripts"])?;
    for (script, name) in [("remote-cli/code-linux.sh", "remote-cli/code-server"), ("helpers/browser-linux.sh", "helpers/browser.sh")] {
        let name = vscode.join("bin").join(name);
        if !name.exists() {
            copy(&vscode.join("bin").join(script), &name)?;
        }
    }
    npm(&vscode, &["rebuild", "@vscode/spdlog", "@vscode/native-watchdog"])?;
    write(&ready, "")?;
    Ok(code)
}

fn empty(folder: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(failed)?;
    }
    fs::create_dir_all(folder).map_err(failed)
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("cannot copy {}: {error}", from.display()))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(|error| format!("{}: {error}", to.display()))?;
    for entry in fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy_folder(&path, &target)? } else { copy(&path, &target)? }
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
