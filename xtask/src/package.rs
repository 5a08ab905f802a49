//! Runs `cargo xtask package`: writes two Debian packages into `target/debian`, one of the command line and one of the window.
//!
//! Uses only `dpkg-deb`, which needs no network; Tauri's bundlers download their tools. `desktop/tauri.conf.json` configures AppImage, dmg and
//! msi on machines with a network. Does not build programs; see `desktop` and `play`.

use crate::shell::{output, program, root, run as call, show, target, timed};
use crate::{desktop, page, play};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The desktop entry: how the system shows the window, and which files and links the window opens.
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

/// The control data of a package.
struct Package {
    name: &'static str,
    depends: &'static str,
    described: &'static str,
    /// The largest allowed `.deb` file, in bytes.
    limit: Option<u64>,
}

const WINDOW: Package = Package {
    name: "chancery-desktop",
    depends: "Depends: libc6 (>= 2.36), libwebkit2gtk-4.1-0, libgtk-3-0\nRecommends: chancery\n",
    described: "Shows what your gateway's configuration does, live\n A window that follows a folder or a cluster, and real Envoys.\n",
    limit: Some(40_000_000),
};

const COMMANDS: Package = Package {
    name: "chancery",
    depends: "Suggests: chancery-desktop\n",
    described: "Compiles and explains the configuration of Envoy-based gateways\n The command line, with the playground in it.\n",
    limit: None,
};

/// Runs `cargo xtask package`. `--quick` builds with less optimisation.
pub fn run(args: &[String]) -> ExitCode {
    let quick = args.iter().any(|arg| arg == "--quick");
    let purpose = if quick { page::Purpose::Try } else { page::Purpose::Publish };
    let profile = if quick { "fast" } else { "release" };
    let both = || Ok::<_, String>([window(purpose, profile)?, commands(purpose, profile)?]);
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

/// Builds the window's package with a cargo profile.
pub fn window(purpose: page::Purpose, profile: &str) -> Result<PathBuf, String> {
    let built = desktop::build(purpose, &["--profile", profile])?;
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

/// Builds the command line's package with a cargo profile.
fn commands(purpose: page::Purpose, profile: &str) -> Result<PathBuf, String> {
    page::build(purpose)?;
    play::embedded(&["--profile", profile])?;
    commands_of(&target().join(profile).join("chancery"))
}

/// Packs a built command line with its man pages and completions.
pub fn commands_of(built: &Path) -> Result<PathBuf, String> {
    let tree = fresh(&COMMANDS)?;
    copy(&tree, built, "usr/bin/chancery").map_err(|error| format!("{}: {error}", tree.display()))?;
    call(program(built).args(["man", "--out-dir"]).arg(tree.join("usr/share/man/man1")))?;
    for (shell, file) in COMPLETIONS {
        let text = output(program(built).args(["completions", shell])).ok_or_else(|| format!("no completions for {shell}"))?;
        write(&tree, file, &text).map_err(|error| format!("{}: {error}", tree.display()))?;
    }
    packed(&COMMANDS, &tree)
}

/// Where Debian expects completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/chancery"),
    ("zsh", "usr/share/zsh/vendor-completions/_chancery"),
    ("fish", "usr/share/fish/vendor_completions.d/chancery.fish"),
];

/// Creates the package's file tree with only the licence inside.
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

/// Packs a file tree and checks the size.
fn packed(package: &Package, tree: &Path) -> Result<PathBuf, String> {
    let size = output(program("du").args(["-sk", "--apparent-size"]).arg(tree)).and_then(|said| said.split_whitespace().next()?.parse::<u64>().ok());
    let size = size.ok_or_else(|| format!("the size of {} cannot be measured", tree.display()))?;
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
    let packed = fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?.len();
    println!("{}: {packed} bytes packed", package.name);
    match package.limit.filter(|limit| packed > *limit) {
        Some(limit) => Err(format!("{} has {packed} bytes; the limit is {limit}", file.display())),
        None => Ok(file),
    }
}

fn architecture() -> String {
    output(program("dpkg").arg("--print-architecture")).map_or_else(|| "amd64".into(), |said| said.trim().to_owned())
}
