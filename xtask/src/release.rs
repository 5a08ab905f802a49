//! Runs `cargo xtask release`: builds every package of the command line for one platform into `target/release-files`, and the files that name
//! all of them: checksums, the manifest for kubectl's krew, the formula for Homebrew.
//!
//! Does not publish; see `packaging/release/release.yml`. Does not test packages; see `packages`. Packages for Debian are in `package`.

use crate::shell::{cargo, output, program, root, run as call, show, target, timed};
use crate::{package, page, play};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The platforms of releases: Rust's name, npm's name, the name in an image, the tags of a wheel.
pub const PLATFORMS: [Platform; 7] = [
    Platform { target: "x86_64-unknown-linux-gnu", npm: "linux-x64", architecture: "amd64", wheel: "manylinux_2_36_x86_64" },
    Platform {
        target: "x86_64-unknown-linux-musl",
        npm: "linux-x64",
        architecture: "amd64",
        wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    },
    Platform {
        target: "aarch64-unknown-linux-musl",
        npm: "linux-arm64",
        architecture: "arm64",
        wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    },
    Platform { target: "aarch64-unknown-linux-gnu", npm: "linux-arm64", architecture: "arm64", wheel: "manylinux_2_36_aarch64" },
    Platform { target: "x86_64-apple-darwin", npm: "darwin-x64", architecture: "amd64", wheel: "macosx_10_12_x86_64" },
    Platform { target: "aarch64-apple-darwin", npm: "darwin-arm64", architecture: "arm64", wheel: "macosx_11_0_arm64" },
    Platform { target: "x86_64-pc-windows-msvc", npm: "win32-x64", architecture: "amd64", wheel: "win_amd64" },
];

/// A platform and its names.
pub struct Platform {
    pub target: &'static str,
    pub npm: &'static str,
    architecture: &'static str,
    wheel: &'static str,
}

pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The arguments.
struct Release {
    platform: &'static Platform,
    /// A program that is already built.
    program: Option<PathBuf>,
    out: PathBuf,
    /// Only write the files that name all packages of the folder.
    collects: bool,
}

/// Runs it.
pub fn run(args: &[String]) -> ExitCode {
    let (done, time) = timed(|| parse(args).and_then(|release| if release.collects { collect(&release.out) } else { build(&release) }));
    match done {
        Ok(()) => {
            println!("Released in {}.", show(time));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("release: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Where packages are written by default.
pub fn folder() -> PathBuf {
    target().join("release-files")
}

fn parse(args: &[String]) -> Result<Release, String> {
    let mut release = Release { platform: platform(&host()?)?, program: None, out: folder(), collects: false };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--program" => release.program = Some(PathBuf::from(value()?)),
            "--target" => release.platform = platform(value()?)?,
            "--out" => release.out = std::path::absolute(value()?).map_err(|error| error.to_string())?,
            "--collect" => release.collects = true,
            other => return Err(format!("there is no option `{other}`; there are --program, --target, --out and --collect")),
        }
    }
    Ok(release)
}

fn platform(name: &str) -> Result<&'static Platform, String> {
    let names = || PLATFORMS.iter().map(|of| of.target).collect::<Vec<_>>().join(", ");
    PLATFORMS.iter().find(|of| of.target == name).ok_or_else(|| format!("no release for `{name}`; there are {}", names()))
}

/// The platform of the compiler.
pub fn host() -> Result<String, String> {
    let said = output(program("rustc").args(["--version", "--verbose"])).ok_or("rustc does not run")?;
    said.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned).ok_or_else(|| "rustc does not name its host".into())
}

fn build(release: &Release) -> Result<(), String> {
    let platform = release.platform;
    fs::create_dir_all(&release.out).map_err(|error| format!("{}: {error}", release.out.display()))?;
    let built = match &release.program {
        Some(program) => std::path::absolute(program).map_err(|error| error.to_string())?,
        None => {
            page::build(page::Purpose::Publish)?;
            play::embedded(&["--release", "--target", platform.target])?;
            target().join(platform.target).join("release").join(program_name(platform))
        }
    };
    let tree = tree(platform, &built)?;
    archive(&release.out, &tree, platform)?;
    pack(&["wheel", &text(&built), VERSION, platform.wheel, &text(&release.out)])?;
    npm(&release.out, &built, platform)?;
    if platform.target == host()? && platform.target.contains("linux") {
        let packed = package::commands_of(&built)?;
        copy(&packed, &release.out.join(packed.file_name().unwrap_or_default()))?;
        rpm(&release.out, &tree, platform)?;
    }
    if platform.target.contains("musl") {
        let image = release.out.join(format!("chancery-image-{}.tar", platform.architecture));
        pack(&["image", &text(&built), VERSION, platform.architecture, &text(&image)])?;
    }
    chart(&release.out)?;
    sbom(&release.out)?;
    collect(&release.out)
}

fn program_name(platform: &Platform) -> &'static str {
    if platform.target.contains("windows") { "chancery.exe" } else { "chancery" }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(from, to)).map(drop).map_err(|error| format!("{}: {error}", to.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}

fn pack(args: &[&str]) -> Result<(), String> {
    call(program("python3").arg("packaging/release/pack.py").args(args))
}

/// Writes the program with its documents, man pages and completions into a folder. A foreign program cannot write them.
fn tree(platform: &Platform, built: &Path) -> Result<PathBuf, String> {
    let tree = target().join(format!("release-tree/chancery-{VERSION}-{}", platform.target));
    drop(fs::remove_dir_all(&tree));
    copy(built, &tree.join(program_name(platform)))?;
    for name in ["LICENSE", "README.md", "CHANGELOG.md"] {
        copy(&root().join(name), &tree.join(name))?;
    }
    if output(program(built).arg("--version")).is_some() {
        call(program(built).args(["man", "--out-dir"]).arg(tree.join("man")))?;
        for (shell, file) in [("bash", "chancery.bash"), ("zsh", "_chancery"), ("fish", "chancery.fish")] {
            let completions = output(program(built).args(["completions", shell])).ok_or_else(|| format!("no completions for {shell}"))?;
            write(&tree.join("completions").join(file), &completions)?;
        }
    }
    Ok(tree)
}

fn tar(out: &Path, folder: &Path, name: &str) -> Result<(), String> {
    pack(&["archive", &text(folder), name, &text(out)])
}

fn archive(out: &Path, tree: &Path, platform: &Platform) -> Result<(), String> {
    let (folder, name) = (tree.parent().ok_or("the tree has no folder")?, tree.file_name().unwrap_or_default().to_string_lossy().into_owned());
    tar(&out.join(format!("chancery-{}.tar.gz", platform.target)), folder, &name)
}

/// Packs the launcher, and the platform's package with the program.
fn npm(out: &Path, built: &Path, platform: &Platform) -> Result<(), String> {
    let folder = target().join("release-tree/npm");
    drop(fs::remove_dir_all(&folder));
    let launcher = folder.join("launcher/package");
    let source = root().join("packaging/npm");
    copy(&source.join("bin/chancery.js"), &launcher.join("bin/chancery.js"))?;
    copy(&source.join("README.md"), &launcher.join("README.md"))?;
    let described = fs::read_to_string(source.join("package.json")).map_err(|error| error.to_string())?;
    let mut names: Vec<&str> = PLATFORMS.iter().map(|of| of.npm).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    let optional: Vec<String> = names.iter().map(|name| format!("\"@chancery/{name}\": \"{VERSION}\"")).collect();
    let described = described
        .replace("\"version\": \"0.0.0\"", &format!("\"version\": \"{VERSION}\""))
        .replace("\"optionalDependencies\": {}", &format!("\"optionalDependencies\": {{{}}}", optional.join(", ")));
    write(&launcher.join("package.json"), &described)?;
    tar(&out.join(format!("chancery-{VERSION}.tgz")), &folder.join("launcher"), "package")?;
    let own = folder.join("platform/package");
    copy(built, &own.join("bin").join(program_name(platform)))?;
    let (os, cpu) = platform.npm.split_once('-').ok_or("the platform has no architecture")?;
    let described = format!(
        "{{\n  \"name\": \"@chancery/{}\",\n  \"version\": \"{VERSION}\",\n  \"description\": \"The program of chancery for {}\",\n  \
         \"license\": \"Apache-2.0\",\n  \"repository\": \"github:chancery-dev/chancery\",\n  \"os\": [\"{os}\"],\n  \"cpu\": [\"{cpu}\"],\n  \
         \"files\": [\"bin\"]\n}}\n",
        platform.npm, platform.npm
    );
    write(&own.join("package.json"), &described)?;
    tar(&out.join(format!("chancery-{}-{VERSION}.tgz", platform.npm)), &folder.join("platform"), "package")
}

/// Builds the package for Fedora and others, if the machine has `rpmbuild`.
fn rpm(out: &Path, tree: &Path, platform: &Platform) -> Result<(), String> {
    if output(program("rpmbuild").arg("--version")).is_none() {
        println!("There is no rpmbuild, so the .rpm is left out.");
        return Ok(());
    }
    let architecture = platform.target.split('-').next().unwrap_or_default();
    let spec = format!(
        "Name: chancery\nVersion: {VERSION}\nRelease: 1\nSummary: Compiles and explains the configuration of Envoy-based gateways\n\
         License: Apache-2.0\nURL: {}\nBuildArch: {architecture}\nAutoReqProv: yes\n%define _build_id_links none\n%define debug_package %{{nil}}\n\
         %description\nThe command line, with the playground in it.\n\
         %install\nmkdir -p %{{buildroot}}/usr/bin %{{buildroot}}/usr/share/man/man1 %{{buildroot}}/usr/share/bash-completion/completions \
         %{{buildroot}}/usr/share/zsh/site-functions %{{buildroot}}/usr/share/fish/vendor_completions.d\n\
         install -m755 {tree}/chancery %{{buildroot}}/usr/bin/chancery\ncp {tree}/man/*.1 %{{buildroot}}/usr/share/man/man1/\n\
         cp {tree}/completions/chancery.bash %{{buildroot}}/usr/share/bash-completion/completions/chancery\n\
         cp {tree}/completions/_chancery %{{buildroot}}/usr/share/zsh/site-functions/_chancery\n\
         cp {tree}/completions/chancery.fish %{{buildroot}}/usr/share/fish/vendor_completions.d/chancery.fish\n\
         %files\n/usr/bin/chancery\n/usr/share/man/man1/*\n/usr/share/bash-completion/completions/chancery\n\
         /usr/share/zsh/site-functions/_chancery\n/usr/share/fish/vendor_completions.d/chancery.fish\n",
        env!("CARGO_PKG_REPOSITORY"),
        tree = tree.display(),
    );
    let folder = target().join("release-tree/rpm");
    write(&folder.join("chancery.spec"), &spec)?;
    let top = format!("_topdir {}", folder.display());
    let place = format!("_rpmdir {}", out.display());
    call(
        program("rpmbuild")
            .args(["-bb", "--quiet", "--define", &top, "--define", &place, "--define", "_rpmfilename %%{NAME}-%%{VERSION}.%%{ARCH}.rpm"])
            .arg(folder.join("chancery.spec")),
    )
}

/// Packs the Helm chart: an archive of its folder.
fn chart(out: &Path) -> Result<(), String> {
    tar(&out.join(format!("chancery-chart-{VERSION}.tgz")), &root().join("packaging/helm"), "chancery")
}

fn sbom(out: &Path) -> Result<(), String> {
    let metadata = output(cargo().args(["metadata", "--format-version", "1", "--locked"])).ok_or("`cargo metadata` does not run")?;
    let file = target().join("release-tree/metadata.json");
    write(&file, &metadata)?;
    pack(&["sbom", &text(&file), &text(&out.join("chancery-sbom.cdx.json"))])
}

/// Writes the files that name all packages of a folder.
fn collect(out: &Path) -> Result<(), String> {
    let archives: Vec<(&Platform, String)> = PLATFORMS
        .iter()
        .filter_map(|platform| {
            let file = out.join(format!("chancery-{}.tar.gz", platform.target));
            file.is_file().then(|| Ok((platform, checksum(&file)?)))
        })
        .collect::<Result<_, String>>()?;
    let releases = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download");
    write(&out.join("krew.yaml"), &krew(&archives, releases))?;
    write(&out.join("chancery.rb"), &formula(&archives, releases))?;
    let mut names: Vec<String> = fs::read_dir(out)
        .map_err(|error| format!("{}: {error}", out.display()))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name != "SHA256SUMS")
        .collect();
    names.sort();
    let mut sums = String::new();
    for name in names {
        sums.push_str(&format!("{}  {name}\n", checksum(&out.join(&name))?));
    }
    write(&out.join("SHA256SUMS"), &sums)?;
    print!("{sums}");
    Ok(())
}

fn checksum(file: &Path) -> Result<String, String> {
    let said = output(program("sha256sum").arg(file)).or_else(|| output(program("shasum").args(["-a", "256"]).arg(file)));
    said.and_then(|said| said.split_whitespace().next().map(str::to_owned)).ok_or_else(|| format!("{} has no checksum", file.display()))
}

/// The plugin of kubectl: `kubectl chancery ...`.
fn krew(archives: &[(&Platform, String)], releases: &str) -> String {
    let mut out = format!(
        "apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\nmetadata:\n  name: chancery\nspec:\n  version: v{VERSION}\n  \
         homepage: {}\n  shortDescription: Check and explain the configuration of Envoy-based gateways\n  description: |\n    \
         Computes the configuration that a gateway's controller sends to Envoy, and explains every field of it.\n    \
         `kubectl chancery watch` follows the current cluster.\n  platforms:\n",
        env!("CARGO_PKG_REPOSITORY")
    );
    for (platform, sum) in archives.iter().filter(|(platform, _)| !platform.target.ends_with("linux-gnu")) {
        let os = if platform.target.contains("darwin") {
            "darwin"
        } else if platform.target.contains("windows") {
            "windows"
        } else {
            "linux"
        };
        let name = program_name(platform);
        out.push_str(&format!(
            "  - selector: {{matchLabels: {{os: {os}, arch: {}}}}}\n    uri: {releases}/v{VERSION}/chancery-{}.tar.gz\n    sha256: {sum}\n    \
             files: [{{from: \"*/{name}\", to: .}}, {{from: \"*/LICENSE\", to: .}}]\n    bin: {name}\n",
            platform.architecture, platform.target
        ));
    }
    out
}

/// The formula of Homebrew.
fn formula(archives: &[(&Platform, String)], releases: &str) -> String {
    let mut out = format!(
        "class Chancery < Formula\n  desc \"Check and explain the configuration of Envoy-based gateways\"\n  homepage \"{}\"\n  version \"{VERSION}\"\n  \
         license \"Apache-2.0\"\n",
        env!("CARGO_PKG_REPOSITORY")
    );
    for (os, mark) in [("macos", "darwin"), ("linux", "linux-musl")] {
        out.push_str(&format!("\n  on_{os} do\n"));
        for (platform, sum) in archives.iter().filter(|(platform, _)| platform.target.contains(mark)) {
            let cpu = if platform.architecture == "arm64" { "arm" } else { "intel" };
            out.push_str(&format!(
                "    on_{cpu} do\n      url \"{releases}/v{VERSION}/chancery-{}.tar.gz\"\n      sha256 \"{sum}\"\n    end\n",
                platform.target
            ));
        }
        out.push_str("  end\n");
    }
    out.push_str(
        "\n  def install\n    bin.install \"chancery\"\n    man1.install Dir[\"man/*.1\"]\n    \
         bash_completion.install \"completions/chancery.bash\" => \"chancery\"\n    zsh_completion.install \"completions/_chancery\"\n    \
         fish_completion.install \"completions/chancery.fish\"\n  end\n\n  test do\n    \
         assert_match version.to_s, shell_output(\"#{bin}/chancery --version\")\n  end\nend\n",
    );
    out
}
