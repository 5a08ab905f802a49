//! Answers one question, natively and in WebAssembly. Both answers must be equal, byte for byte.
//!
//! A question is a line of options (`missing-secrets=assume env.X=1`) and, from the next line on, the text of one input. An answer is the
//! bootstrap, the resources by kind, the findings and the ledger, one line each.
//!
//! Does not compare the answers; see `suite/wasm.rs`. Contains no code for only one of the two sides.

use chancery_core::backend::envoy::{self, Document};
use chancery_core::backend::{Rope, appgw};
use chancery_core::compilation::{Compilation, Options};
use chancery_core::compile::Compiler;
use chancery_core::dialect::{self, ambassador};
use chancery_core::explain::{findings, ledger};
use chancery_core::resource::Inputs;

/// The parts of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The bootstrap alone.
    Envoy,
    /// The bootstrap, the resources, the findings and the ledger.
    All,
}

/// Reads options as fixtures write them. The default dialect is Ambassador.
pub fn options(line: &str) -> Result<Options, String> {
    let options = Options::from_words(line, dialect::ALL).map_err(|error| error.to_string())?;
    Ok(if options.dialect.is_none() { options.in_dialect(ambassador::DIALECT.name) } else { options })
}

/// Returns a document of the first gateway, or the parts of the first Application Gateway, or nothing without a gateway.
pub fn emit(compilation: &Compilation, document: Document, compiler: &mut Compiler) -> Rope {
    let Some(gateway) = compilation.gateways().next() else {
        let parts = compilation.app_gateways().next().map(|gateway| gateway.parts);
        let emit = |parts| appgw::emit(parts, appgw::Document::Parts, false, compiler.executor(), &mut appgw::Emitted::default());
        return parts.map(|parts| emit(parts)).unwrap_or_default();
    };
    envoy::v3::emit(gateway.ir, &envoy::Options { document, ..envoy::Options::default() }, compiler.emitted.of(gateway))
}

/// Answers a question.
pub fn answer(question: &str, what: What) -> String {
    let (line, text) = question.split_once('\n').unwrap_or((question, ""));
    let options = match options(line) {
        Ok(options) => options,
        Err(error) => return error,
    };
    let inputs = Inputs::one("input.yaml", text);
    let mut compiler = Compiler::new(dialect::ALL);
    let compilation = compiler.compile(&inputs, &options);
    let mut answer = emit(&compilation, Document::Bootstrap, &mut compiler).text();
    if what == What::All {
        let positions = compilation.positions();
        answer.push('\n');
        answer.push_str(&emit(&compilation, Document::Resources, &mut compiler).text());
        answer.push('\n');
        answer.push_str(&serde_json::to_string(&findings(&compilation, &positions)).unwrap_or_default());
        answer.push('\n');
        answer.push_str(&serde_json::to_string(&ledger(&compilation, &positions)).unwrap_or_default());
    }
    answer
}

#[cfg(target_arch = "wasm32")]
mod exports;
