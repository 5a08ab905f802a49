//! Compiles, and gives every view of the result as plain data.
//!
//! What must not be here: expectations.

use chancery_core::backend::envoy::Document;
use chancery_core::compilation::{Compilation, GatewayRef, Options};
use chancery_core::compile::Compiler;
use chancery_core::dialect;
use chancery_core::explain::{Finding, LedgerRow, findings, ledger};
use chancery_core::resource::{Input, Inputs};
use serde_json::Value;

pub use chancery_parity::{emit, options};

/// Named texts as inputs.
pub fn inputs<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Inputs {
    files.into_iter().map(|(name, text)| Input { name: name.into(), text: text.into() }).collect::<Vec<_>>().into()
}

/// A compilation and its views.
pub struct Work {
    /// The memory that made it.
    pub compiler: Compiler,
    /// The value of every stage.
    pub compilation: Compilation,
}

impl Work {
    /// Compiles from scratch.
    pub fn new(inputs: &Inputs, options: &Options) -> Self {
        let mut compiler = Compiler::new(dialect::ALL);
        let compilation = compiler.compile(inputs, options);
        Self { compiler, compilation }
    }

    /// Compiles one text with the defaults.
    pub fn of(text: &str) -> Self {
        Self::new(&inputs([("input.yaml", text)]), &Options::default())
    }

    /// The first gateway that runs.
    pub fn gateway(&self) -> GatewayRef<'_> {
        self.compilation.gateways().next().expect("a gateway that runs")
    }

    /// A document as text.
    pub fn text(&mut self, document: Document) -> String {
        emit(&self.compilation, document, &mut self.compiler).text()
    }

    /// The bootstrap.
    pub fn envoy(&mut self) -> Value {
        let text = self.text(Document::Bootstrap);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("the bootstrap is no JSON: {error}"))
    }

    /// What was found.
    pub fn findings(&self) -> Vec<Finding> {
        findings(&self.compilation, &self.compilation.positions())
    }

    /// What became of every object.
    pub fn ledger(&self) -> Vec<LedgerRow> {
        ledger(&self.compilation, &self.compilation.positions())
    }

    /// The errors, as `line code`.
    pub fn errors(&self) -> Vec<String> {
        let errors = self.findings().into_iter().filter(|finding| finding.severity == "error");
        errors.map(|finding| format!("{} {}", finding.span.map_or(0, |span| span.line), finding.code)).collect()
    }
}
