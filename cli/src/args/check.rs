//! The arguments of `check` and `test`.
//!
//! Does not run them; see `check` and `test`.

use super::Inputs;
use crate::judging::Judging;
use chancery_core::diagnostic::Severity;
use clap::{Args, ValueEnum, ValueHint};
use std::path::PathBuf;

/// `check`
#[derive(Args, Default)]
#[command(after_help = "\
Examples:
  chancery check gateway/
  chancery check --fix --diff gateway/        show the certain fixes
  chancery check --fix gateway/               apply them
  chancery check --watch gateway/             check again after every change
  chancery check --write-baseline known.json gateway/
  chancery check --baseline known.json gateway/
  chancery check --format github gateway/     annotations in a pull request
  chancery check --format sarif gateway/ > chancery.sarif
  chancery check --severity rewrite-slashes=error --severity placeholder=off gateway/
  chancery codes secret-not-found             explain a code

Exit codes: 0 no errors, 1 errors (with --strict, warnings too), 2 the input cannot be used.")]
pub struct CheckArgs {
    #[command(flatten)]
    pub inputs: Inputs,
    /// The output format.
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub format: CheckFormat,
    /// Exit with 1 for warnings too
    #[arg(long)]
    pub strict: bool,
    /// Report errors only (with --strict, warnings too), without a summary
    #[arg(short, long)]
    pub quiet: bool,
    /// Report only findings about objects of this namespace; repeatable
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Vec<String>,
    /// Report only findings of at least this severity
    #[arg(long, value_enum, value_name = "SEVERITY")]
    pub at_least: Option<AtLeast>,
    /// Write the certain fixes into the files, then report the remaining findings
    #[arg(long, conflicts_with = "watch")]
    pub fix: bool,
    /// With --fix: show the changes and write nothing
    #[arg(long, requires = "fix")]
    pub diff: bool,
    /// Check again after every change of a file, until you stop it
    #[arg(long)]
    pub watch: bool,
    /// Report only findings that are not in this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub baseline: Option<PathBuf>,
    /// Write all findings into this file, for --baseline
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["baseline", "fix", "watch"])]
    pub write_baseline: Option<PathBuf>,
    #[command(flatten)]
    pub judging: Judging,
}

/// `--at-least`
#[derive(Clone, Copy, ValueEnum)]
pub enum AtLeast {
    /// Everything.
    Notice,
    /// Warnings and errors.
    Warning,
    /// Errors only.
    Error,
}

impl AtLeast {
    /// The least severity that is reported.
    pub fn severity(self) -> Severity {
        match self {
            AtLeast::Notice => Severity::Notice,
            AtLeast::Warning => Severity::Warning,
            AtLeast::Error => Severity::Error,
        }
    }
}

/// `--format` of findings.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Human-readable text with lines.
    #[default]
    Human,
    /// JSON.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Commands of GitHub's workflows.
    Github,
    /// JUnit's XML.
    Junit,
}

/// `test`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery test routes.test.yaml gateway/
  chancery test                              use the files that chancery.toml names
  chancery test --format junit tests/*.yaml gateway/ > report.xml

A test file has a list `tests`. Each test has a `request` and the expected fields of `chancery route --format json`:

  tests:
  - name: the cart gets /cart
    request: {url: http://shop.example.com/cart}
    expect: {outcome: forward, clusters: [{name: cluster_cart}]}

Exit codes: 0 all tests pass, 1 a test fails, 2 the input or a test file cannot be used.")]
pub struct TestArgs {
    /// Test files, and inputs as other commands read them [default: the paths in chancery.toml]
    #[arg(value_name = "FILE|INPUT", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = TestFormat::Human)]
    pub format: TestFormat,
}

/// `--format` of tests.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// Human-readable text.
    Human,
    /// JSON.
    Json,
    /// JUnit's XML.
    Junit,
}
