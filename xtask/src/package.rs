//! `cargo xtask package`: a package for Debian with both programs, into `target/debian`.
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

/// What the window needs of the system.
const DEPENDS: &str = "libwebkit2gtk-4.1-0, libgtk-3-0";

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

/// Runs it; `--quick` packs what is built soon.
pub fn run(args: &[String]) -> ExitCode {
    let quick = args.iter().any(|arg| arg == "--quick");
    let (packed, time) = timed(|| pack(quick));
    match packed {
        Ok(package) => {
            println!("{} in {}", package.display(), show(time));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("package: {error}");
            ExitCode::FAILURE
        }
    }
}

fn pack(quick: bool) -> Result<PathBuf, String> {
    let (whom, profile, folder) =
        if quick { (page::For::Tests, ["--profile", "fast"], "fast") } else { (page::For::People, ["--profile", "release"], "release") };
    let window = desktop::build(whom, &profile)?;
    play::embedded(&profile)?;
    let programs = [window, target().join(folder).join("chancery")];
    let tree = target().join("debian/tree");
    let put = || lay_out(&tree, &programs);
    put().map_err(|error| format!("{}: {error}", tree.display()))?;
    call(program(&programs[1]).args(["man", "--out-dir"]).arg(tree.join("usr/share/man/man1")))?;
    control(&tree)?;
    let package = target().join(format!("debian/chancery_{}_{}.deb", env!("CARGO_PKG_VERSION"), architecture()));
    call(program("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&tree).arg(&package))?;
    Ok(package)
}

/// Programs, desktop entry, icons and licence where Debian has them.
fn lay_out(tree: &Path, programs: &[PathBuf]) -> io::Result<()> {
    drop(fs::remove_dir_all(tree));
    let put = |from: &Path, to: &str| {
        let to = tree.join(to);
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(from, to).map(drop)
    };
    for from in programs {
        put(from, &format!("usr/bin/{}", from.file_name().unwrap_or_default().to_string_lossy()))?;
    }
    for (icon, size) in [("32", "32x32"), ("128", "128x128"), ("256", "256x256"), ("icon", "512x512")] {
        put(&root().join(format!("desktop/icons/{icon}.png")), &format!("usr/share/icons/hicolor/{size}/apps/chancery.png"))?;
    }
    put(&root().join("assets/icon.svg"), "usr/share/icons/hicolor/scalable/apps/chancery.svg")?;
    put(&root().join("LICENSE"), "usr/share/doc/chancery/copyright")?;
    fs::create_dir_all(tree.join("usr/share/applications"))?;
    fs::create_dir_all(tree.join("usr/share/man/man1"))?;
    fs::write(tree.join("usr/share/applications/chancery.desktop"), ENTRY)
}

fn control(tree: &Path) -> Result<(), String> {
    let size = output(program("du").args(["-sk"]).arg(tree)).and_then(|said| said.split_whitespace().next().map(str::to_owned)).unwrap_or_default();
    let text = format!(
        "Package: chancery\nVersion: {}\nArchitecture: {}\nMaintainer: The Chancery authors <chancery@users.noreply.github.com>\nInstalled-Size: {size}\n\
         Depends: {DEPENDS}\nSection: devel\nPriority: optional\nHomepage: {}\n\
         Description: Compiles and explains the configuration of Envoy-based gateways\n \
         The command line, and a window that follows a folder or a cluster.\n",
        env!("CARGO_PKG_VERSION"),
        architecture(),
        env!("CARGO_PKG_REPOSITORY"),
    );
    let put = || -> io::Result<()> {
        fs::create_dir_all(tree.join("DEBIAN"))?;
        fs::write(tree.join("DEBIAN/control"), text)
    };
    put().map_err(|error| format!("{}: {error}", tree.display()))
}

fn architecture() -> String {
    output(program("dpkg").arg("--print-architecture")).map_or_else(|| "amd64".into(), |said| said.trim().to_owned())
}
