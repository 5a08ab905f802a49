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
  chancery check --since origin/main gateway/ what a branch adds or breaks
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
    /// Show every place of a repeated finding, and every assumed object [default: the first three]
    #[arg(long)]
    pub all: bool,
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
    /// Report only findings in objects that changed since this git revision, and new findings elsewhere
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["fix", "watch", "write_baseline"])]
    pub since: Option<String>,
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
    /// A Code Climate report, for GitLab.
    Codeclimate,
    /// One self-contained HTML file.
    Html,
}

/// `test`
#[derive(Args)]
#[command(after_help = "\
Examples:
  chancery test routes.test.yaml gateway/
  chancery test                              use the files that chancery.toml names
  chancery test --format junit tests/*.yaml gateway/ > report.xml
  chancery test --coverage --fail-under 90   what no test reaches
  chancery test --write gateway/ > routes.test.yaml   tests that reach everything, with today's answers

A test file has a list `tests`. Each test has a `request` and the expected fields of `chancery route --format json`:

  tests:
  - name: the cart gets /cart
    request: {url: http://shop.example.com/cart}
    expect: {outcome: forward, clusters: [{name: cluster_cart}]}

Exit codes: 0 all tests pass, 1 a test fails or tests reach less than --fail-under, 2 the input or a test file cannot be used.")]
pub struct TestArgs {
    /// Test files, and inputs as other commands read them [default: the paths in chancery.toml]
    #[arg(value_name = "FILE|INPUT", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// The output format.
    #[arg(long, value_enum, default_value_t = TestFormat::Human)]
    pub format: TestFormat,
    /// Report the rules, conditions, splits, redirects and policies that no test reaches.
    #[arg(long)]
    pub coverage: bool,
    /// Exit with 1 if tests reach less than this percentage.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    pub fail_under: Option<f64>,
    /// Write the coverage into this file as an LCOV tracefile.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub lcov: Option<PathBuf>,
    /// Write the coverage into this file as Cobertura XML.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub cobertura: Option<PathBuf>,
    /// Write tests for everything that no test reaches, with today's answers, to standard output or this file.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["format", "coverage", "fail_under", "lcov", "cobertura"]
    )]
    pub write: Option<PathBuf>,
}

/// Parses a number from 0 to 100.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..=100.0).contains(&number) { Ok(number) } else { Err(format!("`{text}` is not between 0 and 100")) }
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
