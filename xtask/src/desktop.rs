//! Runs `cargo xtask desktop`: builds and opens the desktop window. Installs what it needs on Debian.

use crate::shell::{cargo, program, root, run as call, show, target, timed, works};
use crate::{page, setup};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Runs `cargo xtask desktop`. The arguments are passed to the window.
pub fn run(args: &[String]) -> ExitCode {
    let ended = (|| {
        let (built, time) = timed(|| build(page::Purpose::Try, &["--profile", "fast"]));
        let program = built?;
        println!("Built in {}.", show(time));
        if args.first().is_some_and(|arg| arg == "--build-only") {
            return Ok(());
        }
        let mut command = on_display(&program);
        call(command.args(args))
    })();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("desktop: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Builds the window's program with the page inside, and returns its path.
pub fn build(purpose: page::Purpose, profile: &[&str]) -> Result<PathBuf, String> {
    setup::window()?;
    page::build(purpose)?;
    let folder = profile.last().copied().unwrap_or("debug");
    let mut command = cargo();
    command.args(["build", "--package", "chancery-desktop", "--bin", "chancery-desktop", "--features", "window"]).args(profile);
    call(&mut command)?;
    Ok(target().join(folder).join("chancery-desktop"))
}

/// A command that opens windows on the current display, or on a virtual display if there is none.
fn on_display(name: &Path) -> Command {
    if env::var_os("DISPLAY").is_some() || env::var_os("WAYLAND_DISPLAY").is_some() {
        return program(name);
    }
    println!("There is no display: the window opens on a display without a screen.");
    let mut command = program("xvfb-run");
    // Without `-noreset`, the display resets when the last window closes, and a window that opens meanwhile fails.
    command.args(["-a", "-s", "-screen 0 1440x900x24 -noreset", "dbus-run-session", "--"]).arg(name);
    // A virtual display has no graphics processor, and WebKit's replacement sometimes crashes.
    command.env("WEBKIT_SKIA_ENABLE_CPU_RENDERING", "1");
    command
}

/// Runs all tests of the window, with a real API server and a real Envoy if available.
pub fn test(window: &Path) -> Result<(), String> {
    let driver = setup::window_driver()?;
    let mut command = drive(window, "test");
    match setup::envoy() {
        Ok(envoy) => drop(command.env("CHANCERY_ENVOY", envoy)),
        Err(error) => println!("No Envoy is served: {error}"),
    }
    if works("go", &["version"]) {
        command.env("CHANCERY_APISERVER_PROGRAM", api_server()?);
    } else {
        println!("No cluster is connected to: there is no Go to build an API server with");
    }
    call(command.env("CHANCERY_TAURI_DRIVER", driver))
}

/// Runs the tests that are part of every test run: the window opens, follows a folder and saves.
pub fn smoke(window: &Path) -> Result<(), String> {
    call(drive(window, "folder").env_remove("CHANCERY_TAURI_DRIVER"))
}

/// Tests the window that a Debian package installs: size, start time and idle CPU.
pub fn installed(package: &Path) -> Result<(), String> {
    setup::window()?;
    setup::web_driver()?;
    let is_root = works("test", &["-w", "/var/lib/dpkg"]);
    let tree = target().join("debian/installed");
    let window = if is_root {
        call(program("dpkg").arg("--install").arg(package))?;
        PathBuf::from("/usr/bin/chancery-desktop")
    } else {
        println!("Without root it is unpacked, not installed.");
        call(program("dpkg-deb").arg("--extract").arg(package).arg(&tree))?;
        tree.join("usr/bin/chancery-desktop")
    };
    let tried = call(drive(&window, "installed").env_remove("CHANCERY_TAURI_DRIVER"));
    if is_root {
        call(program("dpkg").args(["--purge", "chancery-desktop"]))?;
    }
    tried
}

/// Runs tests with a window's program.
fn drive(window: &Path, script: &str) -> Command {
    let mut command = on_display("npm".as_ref());
    command.args(["run", "--silent", script]).current_dir(root().join("tests/desktop")).env("CHANCERY_DESKTOP", window);
    command
}

/// Builds the API server of the tests with Go.
fn api_server() -> Result<PathBuf, String> {
    let built = target().join("apiserver");
    call(program(root().join("live/tests/apiserver/build")).arg(&built))?;
    Ok(built)
}
