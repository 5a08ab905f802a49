//! `cargo xtask package`: packages for Debian, one of the command line and one of the window, into `target/debian`.
//!
//! It is made by `dpkg-deb` alone, which needs no network: the bundlers of Tauri fetch theirs. AppImage, dmg and msi are configured in
//! `desktop/tauri.conf.json` for machines that may fetch them.
//!
//! What must not be here: building the programs.

use crate::shell::{output, program, root, run as call, show, target, timed};
use crate::{desktop, page, play};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How the system shows the window, and what it opens by it.
const ENTRY: &str = "\
[Desktop Entry]
Type=Application
Name=Chancery
Comment=See what your gateway's configuration does, live
Exec=chancery-desktop %u
Icon=chancery
Terminal=false
Categories=Development;
MimeType=application/yaml;x-scheme-handler/chancery;
StartupWMClass=chancery-desktop
";

/// A package: its name, what it needs, and what it is.
struct Package {
    name: &'static str,
    depends: &'static str,
    described: &'static str,
    /// The most that it may take where it is installed, in kilobytes.
    most: Option<u64>,
}

const WINDOW: Package = Package {
    name: "chancery-desktop",
    depends: "Depends: libc6 (>= 2.36), libwebkit2gtk-4.1-0, libgtk-3-0\nRecommends: chancery\n",
    described: "Shows what your gateway's configuration does, live\n A window that follows a folder or a cluster, and real Envoys.\n",
    most: Some(25_000),
};

const COMMANDS: Package = Package {
    name: "chancery",
    depends: "Suggests: chancery-desktop\n",
    described: "Compiles and explains the configuration of Envoy-based gateways\n The command line, with the playground in it.\n",
    most: None,
};

/// Runs it; `--quick` packs what is built soon.
pub fn run(args: &[String]) -> ExitCode {
    let quick = args.iter().any(|arg| arg == "--quick");
    let whom = if quick { page::For::Look } else { page::For::People };
    let both = || Ok::<_, String>([window(whom, if quick { "fast" } else { "window" })?, commands(whom, if quick { "fast" } else { "release" })?]);
    let (packed, time) = timed(both);
    match packed {
        Ok(packages) => {
            packages.iter().for_each(|package| println!("{}", package.display()));
            println!("Packed in {}.", show(time));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("package: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The package of the window, built with this profile.
pub fn window(whom: page::For, profile: &str) -> Result<PathBuf, String> {
    let built = desktop::build(whom, &["--profile", profile])?;
    let tree = fresh(&WINDOW)?;
    let put = || -> io::Result<()> {
        copy(&tree, &built, "usr/bin/chancery-desktop")?;
        for (icon, size) in [("32", "32x32"), ("128", "128x128"), ("256", "256x256"), ("icon", "512x512")] {
            copy(&tree, &root().join(format!("desktop/icons/{icon}.png")), &format!("usr/share/icons/hicolor/{size}/apps/chancery.png"))?;
        }
        copy(&tree, &root().join("assets/icon.svg"), "usr/share/icons/hicolor/scalable/apps/chancery.svg")?;
        copy(&tree, &root().join("desktop/chancery-desktop.1"), "usr/share/man/man1/chancery-desktop.1")?;
        write(&tree, "usr/share/applications/chancery.desktop", ENTRY)
    };
    put().map_err(|error| format!("{}: {error}", tree.display()))?;
    packed(&WINDOW, &tree)
}

/// The package of the command line, built with this profile.
fn commands(whom: page::For, profile: &str) -> Result<PathBuf, String> {
    page::build(whom)?;
    play::embedded(&["--profile", profile])?;
    let (tree, program_) = (fresh(&COMMANDS)?, target().join(profile).join("chancery"));
    copy(&tree, &program_, "usr/bin/chancery").map_err(|error| format!("{}: {error}", tree.display()))?;
    call(program(&program_).args(["man", "--out-dir"]).arg(tree.join("usr/share/man/man1")))?;
    packed(&COMMANDS, &tree)
}

/// An empty tree, with the licence in it.
fn fresh(package: &Package) -> Result<PathBuf, String> {
    let tree = target().join("debian").join(package.name);
    let put = || -> io::Result<()> {
        drop(fs::remove_dir_all(&tree));
        fs::create_dir_all(tree.join("usr/share/man/man1"))?;
        copy(&tree, &root().join("LICENSE"), &format!("usr/share/doc/{}/copyright", package.name))
    };
    put().map_err(|error| format!("{}: {error}", tree.display()))?;
    Ok(tree)
}

fn copy(tree: &Path, from: &Path, to: &str) -> io::Result<()> {
    let to = tree.join(to);
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::copy(from, to).map(drop)
}

fn write(tree: &Path, to: &str, text: &str) -> io::Result<()> {
    let to = tree.join(to);
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(to, text)
}

/// The package of a tree.
fn packed(package: &Package, tree: &Path) -> Result<PathBuf, String> {
    let size = output(program("du").args(["-sk", "--apparent-size"]).arg(tree)).and_then(|said| said.split_whitespace().next()?.parse::<u64>().ok());
    let size = size.ok_or_else(|| format!("the size of {} is not known", tree.display()))?;
    println!("{}: {size} kB installed", package.name);
    let text = format!(
        "Package: {}\nVersion: {}\nArchitecture: {}\nMaintainer: The Chancery authors <chancery@users.noreply.github.com>\nInstalled-Size: {size}\n\
         {}Section: devel\nPriority: optional\nHomepage: {}\nDescription: {}",
        package.name,
        env!("CARGO_PKG_VERSION"),
        architecture(),
        package.depends,
        env!("CARGO_PKG_REPOSITORY"),
        package.described,
    );
    write(tree, "DEBIAN/control", &text).map_err(|error| format!("{}: {error}", tree.display()))?;
    let file = target().join(format!("debian/{}_{}_{}.deb", package.name, env!("CARGO_PKG_VERSION"), architecture()));
    call(program("dpkg-deb").args(["--root-owner-group", "--build"]).arg(tree).arg(&file))?;
    match package.most.filter(|most| size > *most) {
        Some(most) => Err(format!("{} takes {size} kB where it is installed; {most} is the limit", package.name)),
        None => Ok(file),
    }
}

fn architecture() -> String {
    output(program("dpkg").arg("--print-architecture")).map_or_else(|| "amd64".into(), |said| said.trim().to_owned())
}
