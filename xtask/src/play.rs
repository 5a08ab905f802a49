//! `cargo xtask play`: the page, built and served on loopback. `cargo xtask binary`: the command line with the page in it. `cargo xtask element`:
//! the package that shows it in other pages.
//!
//! What must not be here: what the page shows.

use crate::shell::{cargo, program, run as call, show, target, timed};
use crate::{page, serve, setup};
use std::borrow::Cow;
use std::path::{Component, Path};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs it.
pub fn run(args: &[String]) -> ExitCode {
    let has = |name: &str| args.iter().any(|arg| arg == name);
    ended("play", played(if has("--small") { page::For::People } else { page::For::Look }, has("--build-only")))
}

/// Builds the command line with the page in it.
pub fn binary() -> ExitCode {
    ended(
        "binary",
        built(page::For::People).and_then(|()| embedded(&["--release"])).inspect(|()| println!("\n{}/release/chancery play", target().display())),
    )
}

/// Packs the element that shows the page in other pages.
pub fn element() -> ExitCode {
    let pack = || {
        let folder = target().join("npm");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        page::element()?;
        call(program("npm").args(["pack", "--silent", "--pack-destination"]).arg(&folder).current_dir(crate::shell::root().join("web/npm")))
    };
    ended("element", built(page::For::People).and_then(|()| pack()))
}

/// Builds the command line with the page, as it is in `dist`, in it.
pub fn embedded(profile: &[&str]) -> Result<(), String> {
    call(cargo().args(["build", "--quiet", "--package", "chancery", "--features", "playground"]).args(profile))
}

fn ended(what: &str, ended: Result<(), String>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{what}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn built(whom: page::For) -> Result<(), String> {
    match whom {
        page::For::People => println!("Building the page as it is published: the two programs are optimised as a whole, which takes longest."),
        page::For::Look | page::For::Tests => {
            println!("Building the page; compiling the core takes longest, minutes the first time. `--small` builds what is published.")
        }
    }
    let (built, time) = timed(|| {
        setup::toolchain()?;
        setup::page()?;
        page::build(whom)
    });
    built?;
    println!("Built in {}.", show(time));
    Ok(())
}

fn played(whom: page::For, build_only: bool) -> Result<(), String> {
    built(whom)?;
    if build_only {
        return Ok(());
    }
    let listener = serve::bind(None).map_err(|error| format!("no port of loopback is free: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("\nThe playground is at  http://{address}/\n");
    println!("It opens with a small shop that has one mistake in it. Nothing that you type there leaves the page.");
    println!("The same on the command line:  cargo run --release -p chancery -- check assets/examples/ambassador/play.yaml");
    println!("Ctrl C ends it.");
    serve::serve(&listener, Arc::new(file));
    Ok(())
}

/// A file of the page: one below its folder.
fn file(path: &str) -> Option<Cow<'static, [u8]>> {
    let below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let path = below.then(|| page::dist().join(path)).filter(|path| path.is_file())?;
    std::fs::read(path).ok().map(Cow::Owned)
}
