//! Tests of the desktop program's command line, without a display.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_chancery-desktop")).args(arguments).env_remove("DISPLAY").output().expect("the program")
}

#[test]
fn help_and_version_need_no_display() {
    let (help, version) = (run(&["--help"]), run(&["--version"]));
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("--context"));
    assert!(version.status.success());
    assert_eq!(String::from_utf8_lossy(&version.stdout), concat!("chancery-desktop ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn unknown_option_shows_usage() {
    let refused = run(&["--no-such-option"]);
    let output = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2));
    assert!(output.contains("--no-such-option") && output.contains("--context"), "{output}");
}
