//! The whole, from text to the IR: one function, with a memory.
//!
//! A [`Compiler`] keeps what earlier compiles established; a compile from scratch is one with an empty memory, so the result
//! is the same either way. A [`Compilation`] keeps the value of every stage, so that every view of it is a look and never a
//! second computation.
//!
//! Nothing here decides what a gateway does.

use crate::backend::envoy::v3::Emitted;
use crate::config::{Config, Ledger, Payload, Presence};
use crate::diagnostic::{Diagnostic, Policy};
use crate::dialect::kubernetes::secret;
use crate::dialect::{Dialect, ambassador, contour, detect};
use crate::ir::{Ir, SecretReference};
use crate::resource::{DocumentCache, Inputs, Objects, read};
use crate::text::Node;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The configuration language; found from the input when not given.
    pub dialect: Option<Dialect>,
    /// How Ambassador is deployed.
    pub ambassador: ambassador::Options,
    /// How Contour is started.
    pub contour: contour::Options,
    /// How findings are judged. It changes nothing of what is compiled.
    #[serde(skip_serializing_if = "Policy::is_default")]
    pub findings: Policy,
}

/// What a compile established, stage by stage.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// What was compiled.
    pub inputs: Inputs,
    /// The configuration language.
    pub dialect: Dialect,
    /// The objects of the input.
    pub objects: Objects,
    /// The configuration as loaded.
    pub config: Config,
    /// What became of every object.
    pub ledger: Ledger,
    /// What the gateway does.
    pub ir: Ir,
    /// What the controller answers besides: statuses, what the API server refused, its own configuration... by the name of the output.
    pub documents: BTreeMap<&'static str, Node>,
    /// Everything found on the way, in the order of the stages.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compilation {
    /// The data that a certificate's reference names, for outputs that are to hold key material.
    pub fn key_material(&self, reference: &SecretReference) -> Option<Vec<u8>> {
        match self.dialect {
            Dialect::Ambassador => self.loaded_material(reference),
            Dialect::Contour => contour::lower::key_material(&self.objects, reference),
        }
    }

    /// From a Secret that the configuration has loaded.
    fn loaded_material(&self, reference: &SecretReference) -> Option<Vec<u8>> {
        let Presence::Known(resource) = self.config.secret(&reference.namespace, &reference.name) else { return None };
        let Payload::Secret(data) = &resource.payload else { return None };
        let (_, value) = data.data.get(reference.part.key())?;
        let text = value.expose();
        // What is PEM already counts as it is.
        if text.starts_with("-----BEGIN") { Some(text.as_bytes().into()) } else { secret::decode(text) }
    }
}

/// Compiles, and remembers.
#[derive(Default)]
pub struct Compiler {
    documents: DocumentCache,
    ambassador: ambassador::Memory,
    /// Envoy resources as JSON, for back ends.
    pub emitted: Emitted,
}

impl Compiler {
    /// A compiler without memories.
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles.
    pub fn compile(&mut self, inputs: &Inputs, options: &Options) -> Compilation {
        let dialect = options.dialect.unwrap_or_else(|| detect(inputs.inputs.iter().map(|input| &*input.text)));
        let reading = match dialect {
            Dialect::Ambassador => ambassador::fetch::read_options(),
            Dialect::Contour => contour::read_options(&options.contour),
        };
        let (objects, mut diagnostics) = read::read(inputs, &reading, &mut self.documents);
        let mut ledger = Ledger::new(&objects);
        let mut documents = BTreeMap::new();
        let (config, ir) = match dialect {
            Dialect::Ambassador => ambassador::compile(&objects, &options.ambassador, &mut self.ambassador, &mut ledger, &mut diagnostics),
            Dialect::Contour => {
                let (ir, answers) = contour::compile(&objects, &options.contour, &mut ledger, &mut diagnostics);
                documents = answers;
                (Config::default(), ir)
            }
        };
        Compilation { inputs: inputs.clone(), dialect, objects, config, ledger, ir, documents, diagnostics }
    }
}

/// Compiles without a memory.
pub fn compile(inputs: &Inputs, options: &Options) -> Compilation {
    Compiler::new().compile(inputs, options)
}
