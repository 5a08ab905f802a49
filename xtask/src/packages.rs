//! Runs `cargo xtask test packages`: builds the packages of this platform, installs each into an empty environment, and runs `check` on the demo
//! repository. Prints the time from the empty environment to the first answer. Also builds each crate from its own package.
//!
//! `CHANCERY_PROGRAM` may name a built program; otherwise the program is built like a release. Does not build packages; see `release`.

use crate::release::{PLATFORMS, VERSION, folder, host};
use crate::shell::{cargo, output, program, root, run as call, show, target, timed};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

/// Runs it.
pub fn test() -> Result<(), String> {
    let mut args = Vec::new();
    if let Some(built) = env::var_os("CHANCERY_PROGRAM") {
        args.extend(["--program".to_owned(), built.to_string_lossy().into_owned()]);
    }
    if crate::release::run(&args) != ExitCode::SUCCESS {
        return Err("the packages cannot be built".into());
    }
    let here = target().join("packages-test");
    drop(fs::remove_dir_all(&here));
    let out = folder();
    let mut times: Vec<(&str, Duration)> = Vec::new();
    let (result, time) = timed(|| archive(&out, &here.join("archive")));
    result?;
    times.push(("archive", time));
    let (result, time) = timed(|| wheel(&out, &here.join("wheel")));
    result?;
    times.push(("wheel", time));
    let (result, time) = timed(|| npm(&out, &here.join("npm")));
    result?;
    times.push(("npm", time));
    let (result, time) = timed(|| debian(&out, &here.join("deb")));
    result?;
    times.push((".deb", time));
    match find(&out, "chancery-", ".rpm") {
        Ok(file) => {
            let (result, time) = timed(|| rpm(&file, &here.join("rpm")));
            result?;
            times.push((".rpm", time));
        }
        Err(_) => println!("There is no .rpm: this machine has no rpmbuild."),
    }
    let (result, time) = timed(crates);
    result?;
    println!("crates   {:>6}", show(time));
    call(program("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&out))?;
    println!("\n=== from an empty environment to the first answer");
    times.iter().for_each(|(name, time)| println!("{name:<8} {:>6}", show(*time)));
    Ok(())
}

/// Builds each published crate from its package, as a user of the registry would. In a folder apart: the programs of `target` stay.
fn crates() -> Result<(), String> {
    let apart = target().join("packages-test/crates");
    call(cargo().args(["publish", "--workspace", "--dry-run", "--allow-dirty", "--quiet", "--target-dir"]).arg(apart))
}

/// Checks that an installed program answers.
fn answers(mut command: Command, what: &str) -> Result<(), String> {
    let demo = root().join("tests/demo");
    let said = command.args(["check", "gateway"]).current_dir(&demo).output().map_err(|error| format!("{what}: {error}"))?;
    let text = String::from_utf8_lossy(&said.stdout);
    if text.contains("unknown-field") && said.status.code() == Some(0) {
        return Ok(());
    }
    Err(format!("{what}: `check` on the demo ends with {}: {text}{}", said.status, String::from_utf8_lossy(&said.stderr)))
}

fn create(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn find(folder: &Path, start: &str, end: &str) -> Result<PathBuf, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found = entries.filter_map(|entry| Some(entry.ok()?.path()));
    found
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start) && name.to_string_lossy().ends_with(end)))
        .ok_or_else(|| format!("no {start}*{end} in {}", folder.display()))
}

fn archive(out: &Path, empty: &Path) -> Result<(), String> {
    create(empty)?;
    call(program("tar").arg("--extract").arg("--file").arg(out.join(format!("chancery-{}.tar.gz", host()?))).arg("--directory").arg(empty))?;
    let folder = empty.join(format!("chancery-{VERSION}-{}", host()?));
    for file in ["LICENSE", "man/chancery-check.1", "completions/_chancery"] {
        if !folder.join(file).is_file() {
            return Err(format!("the archive has no {file}"));
        }
    }
    answers(program(folder.join("chancery")), "archive")
}

fn wheel(out: &Path, empty: &Path) -> Result<(), String> {
    call(program("python3").args(["-m", "venv"]).arg(empty))?;
    let pip = empty.join("bin/pip");
    call(program(pip).args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]).arg(find(out, "chancery-", ".whl")?))?;
    answers(program(empty.join("bin/chancery")), "wheel")
}

fn npm(out: &Path, empty: &Path) -> Result<(), String> {
    create(empty)?;
    fs::write(empty.join("package.json"), "{}\n").map_err(|error| error.to_string())?;
    let name = PLATFORMS.iter().find(|of| Ok(of.target) == host().as_deref()).map_or("", |of| of.npm);
    let own = out.join(format!("chancery-{name}-{VERSION}.tgz"));
    let launcher = out.join(format!("chancery-{VERSION}.tgz"));
    // The other platforms' packages are optional, so that their absence is not an error.
    call(program("npm").args(["install", "--offline", "--silent", "--no-audit", "--no-fund"]).arg(own).arg(launcher).current_dir(empty))?;
    answers(program(empty.join("node_modules/.bin/chancery")), "npm")
}

/// Installs the package into an empty root. Its dependency, glibc, is that of this machine.
fn rpm(file: &Path, empty: &Path) -> Result<(), String> {
    create(empty)?;
    call(program("rpm").arg("--root").arg(empty).args(["--dbpath", "/rpmdb", "--nodeps", "--install", "--quiet"]).arg(file))?;
    for file in ["usr/share/man/man1/chancery.1", "usr/share/bash-completion/completions/chancery"] {
        if !empty.join(file).is_file() && !empty.join(format!("{file}.gz")).is_file() {
            return Err(format!("the .rpm has no {file}"));
        }
    }
    answers(program(empty.join("usr/bin/chancery")), ".rpm")
}

/// Unpacks the package into an empty folder; installing it would change this machine.
fn debian(out: &Path, empty: &Path) -> Result<(), String> {
    create(empty)?;
    let file = find(out, "chancery_", ".deb")?;
    call(program("dpkg-deb").arg("--extract").arg(&file).arg(empty))?;
    for file in ["usr/share/man/man1/chancery.1", "usr/share/bash-completion/completions/chancery"] {
        if !empty.join(file).is_file() {
            return Err(format!("the .deb has no {file}"));
        }
    }
    let depends = output(program("dpkg-deb").arg("--field").arg(&file).arg("Package")).unwrap_or_default();
    if depends.trim() != "chancery" {
        return Err(format!("the .deb is of {depends}"));
    }
    answers(program(empty.join("usr/bin/chancery")), ".deb")
}
