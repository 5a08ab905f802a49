//! The program of the window, as a shell starts it: what it answers without a display.

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
fn an_unknown_option_is_named_with_the_usage() {
    let refused = run(&["--no-such-option"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2));
    assert!(said.contains("--no-such-option") && said.contains("--context"), "{said}");
}
