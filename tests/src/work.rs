//! Compiles inputs, and returns every view of the result as plain data.
//!
//! Does not contain expectations.

use chancery_core::backend::envoy::Document;
use chancery_core::check::check;
use chancery_core::compilation::{Compilation, GatewayRef, Options};
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::Policy;
use chancery_core::dialect;
use chancery_core::executor::Sequential;
use chancery_core::explain::{Finding, LedgerRow, findings, ledger};
use chancery_core::resource::{Input, Inputs};
use serde_json::Value;

pub use chancery_parity::{emit, options};

/// Builds inputs from named files.
pub fn inputs<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Inputs {
    files.into_iter().map(|(name, text)| Input { name: name.into(), text: text.into() }).collect::<Vec<_>>().into()
}

/// A compilation and its views.
pub struct Work {
    /// The compiler that made the compilation, with its memory.
    pub compiler: Compiler,
    /// The results of every stage.
    pub compilation: Compilation,
}

impl Work {
    /// Compiles from scratch.
    pub fn new(inputs: &Inputs, options: &Options) -> Self {
        let mut compiler = Compiler::new(dialect::ALL);
        let compilation = compiler.compile(inputs, options);
        Self { compiler, compilation }
    }

    /// Compiles one text with the default options.
    pub fn of(text: &str) -> Self {
        Self::new(&inputs([("input.yaml", text)]), &Options::default())
    }

    /// Returns the first running gateway.
    pub fn gateway(&self) -> GatewayRef<'_> {
        self.compilation.gateways().next().expect("a gateway that runs")
    }

    /// Returns a document as text.
    pub fn text(&mut self, document: Document) -> String {
        emit(&self.compilation, document, &mut self.compiler).text()
    }

    /// Returns the bootstrap.
    pub fn envoy(&mut self) -> Value {
        let text = self.text(Document::Bootstrap);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("the bootstrap is no JSON: {error}"))
    }

    /// Returns all findings.
    pub fn findings(&self) -> Vec<Finding> {
        findings(&self.compilation, &self.compilation.positions())
    }

    /// Runs all checks, and returns all findings.
    pub fn checked_findings(&mut self) -> Vec<Finding> {
        check(&mut self.compilation, &Policy::default(), &mut self.compiler.emitted, &Sequential);
        self.findings()
    }

    /// Returns the state of every object.
    pub fn ledger(&self) -> Vec<LedgerRow> {
        ledger(&self.compilation, &self.compilation.positions())
    }

    /// Returns the errors as `line code`.
    pub fn errors(&self) -> Vec<String> {
        let errors = self.findings().into_iter().filter(|finding| finding.severity == "error");
        errors.map(|finding| format!("{} {}", finding.span.map_or(0, |span| span.line), finding.code)).collect()
    }
}
