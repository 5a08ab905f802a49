//! Runs `cargo xtask play` (builds the page and serves it on loopback), `binary` (builds the command line with the page inside) and `element`
//! (packs the npm package that shows the page inside other pages).

use crate::shell::{cargo, program, run as call, show, target, timed};
use crate::{page, serve};
use std::borrow::Cow;
use std::path::{Component, Path};
use std::process::ExitCode;
use std::sync::Arc;

/// Runs `cargo xtask play`. `--small` builds the published form of the page; `--build-only` does not serve it.
pub fn run(args: &[String]) -> ExitCode {
    let has = |name: &str| args.iter().any(|arg| arg == name);
    ended("play", played(if has("--small") { page::Purpose::Publish } else { page::Purpose::Try }, has("--build-only")))
}

/// Runs `cargo xtask binary`.
pub fn binary() -> ExitCode {
    ended(
        "binary",
        built(page::Purpose::Publish)
            .and_then(|()| embedded(&["--release"]))
            .inspect(|()| println!("\n{}/release/chancery play", target().display())),
    )
}

/// Runs `cargo xtask element`.
pub fn element() -> ExitCode {
    let pack = || {
        let folder = target().join("npm");
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        page::element()?;
        call(program("npm").args(["pack", "--silent", "--pack-destination"]).arg(&folder).current_dir(crate::shell::root().join("web/npm")))
    };
    ended("element", built(page::Purpose::Publish).and_then(|()| pack()))
}

/// Builds the command line with the page of `dist` inside.
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

fn built(purpose: page::Purpose) -> Result<(), String> {
    match purpose {
        page::Purpose::Publish => println!("Building the published form of the page. The first build optimises for size and takes about 15 minutes."),
        page::Purpose::Try | page::Purpose::Test => println!("Building the page. The first build takes about 6 minutes on 2 cores."),
    }
    let (built, time) = timed(|| page::build(purpose));
    built?;
    println!("Built in {}.", show(time));
    Ok(())
}

fn played(purpose: page::Purpose, build_only: bool) -> Result<(), String> {
    built(purpose)?;
    if build_only {
        return Ok(());
    }
    let listener = serve::bind(None).map_err(|error| format!("no port of the loopback interface is free: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    println!("\nThe playground is at  http://{address}/\n");
    println!("It shows a small shop with one mistake. Nothing that you type leaves the page.");
    println!("The same on the command line:  cargo run --release -p chancery -- check assets/examples/ambassador/play.yaml");
    println!("Press Ctrl C to stop.");
    serve::serve(&listener, Arc::new(file));
    Ok(())
}

/// Reads a file of the page. Refuses paths outside its folder.
fn file(path: &str) -> Option<Cow<'static, [u8]>> {
    let below = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let path = below.then(|| page::dist().join(path)).filter(|path| path.is_file())?;
    std::fs::read(path).ok().map(Cow::Owned)
}
