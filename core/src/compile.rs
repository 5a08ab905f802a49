//! The whole, from text to the IR: one function, with a memory.
//!
//! A [`Compiler`] keeps what earlier compiles established; a compile from scratch is one with an empty memory, so the result
//! is the same either way. A [`Compilation`] keeps the value of every stage, so that every view of it is a look and never a
//! second computation.
//!
//! An input may hold several configuration languages. Each is compiled on its own, as each has a controller and an Envoy of its own; what they
//! have in common is the cluster, and the hosts and ports that several claim.
//!
//! Nothing here decides what a gateway does.

mod conflict;

use crate::backend::envoy::v3::Emitted;
use crate::config::{Answers, Config, Ledger, Loaded, Payload, Presence};
use crate::diagnostic::{Diagnostic, Policy, codes};
use crate::dialect::kubernetes::secret;
use crate::dialect::{Dialect, ambassador, contour, detect};
use crate::ir::{Ir, SecretReference};
use crate::redact::HeldBack;
use crate::resource::{DocumentCache, Inputs, Objects, ResourceKey, read};
use crate::text::Str;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// How to compile.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The configuration language; found from the input when not given, where there may be several.
    pub dialect: Option<Dialect>,
    /// How Ambassador is deployed.
    pub ambassador: ambassador::Options,
    /// How Contour is started.
    pub contour: contour::Options,
    /// How findings are judged. It changes nothing of what is compiled.
    #[serde(skip_serializing_if = "Policy::is_default")]
    pub findings: Policy,
}

impl Options {
    /// Reads them from words `KEY=VALUE`, with the names of the command line's flags; `env.KEY=VALUE` for variables.
    ///
    /// # Errors
    ///
    /// A word says nothing that is known; names it.
    pub fn from_words(words: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for word in words.split_whitespace() {
            match word.split_once('=').unwrap_or((word, "true")) {
                ("dialect", name) => options.dialect = Some(Dialect::named(name).ok_or_else(|| format!("there is no dialect `{name}`"))?),
                ("controller", "serve") => options.contour.controller = contour::Controller::Serve,
                ("controller", "gateway-provisioner") => options.contour.controller = contour::Controller::GatewayProvisioner,
                ("controller-arg", flag) => options.contour.arguments.push(flag.into()),
                ("skip-validation", _) => options.contour.skip_validation = true,
                ("ambassador-id", id) => options.ambassador.ambassador_id = id.into(),
                ("ambassador-namespace", namespace) => options.ambassador.ambassador_namespace = namespace.into(),
                ("single-namespace", _) => options.ambassador.single_namespace = true,
                ("missing-secrets", "assume") => options.ambassador.missing_secrets = ambassador::MissingSecrets::Assume,
                ("missing-secrets", "error") => options.ambassador.missing_secrets = ambassador::MissingSecrets::Error,
                (key, value) => match key.strip_prefix("env.") {
                    Some(name) => {
                        options.ambassador.env.insert(name.into(), value.into());
                    }
                    None => return Err(format!("no option is called `{word}`")),
                },
            }
        }
        Ok(options)
    }
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
    /// What the controller answers besides.
    pub answers: Answers,
    /// Everything found on the way, in the order of the stages.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compilation {
    /// The configuration as loaded, for people, by kind or key.
    pub fn loaded(&self) -> Vec<(Str, Vec<Loaded>)> {
        match self.dialect {
            Dialect::Ambassador => self.config.loaded(),
            Dialect::Contour => contour::loaded(&self.objects, &self.answers),
        }
    }

    /// What no output may have that a person did not ask for with key material.
    pub fn held_back(&self) -> HeldBack {
        HeldBack::new(self.objects.iter().flat_map(|object| &object.credentials).map(|value| value.expose().as_str()))
    }

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
    documents: BTreeMap<Dialect, DocumentCache>,
    ambassador: ambassador::Memory,
    contour: contour::Memory,
    /// Envoy resources as JSON, for back ends.
    pub emitted: Emitted,
}

impl Compiler {
    /// A compiler without memories.
    pub fn new() -> Self {
        Self::default()
    }

    /// Compiles for one dialect: the first of the input's, where none is given.
    pub fn compile(&mut self, inputs: &Inputs, options: &Options) -> Compilation {
        self.side(inputs, options, dialects(inputs, options).first().copied().unwrap_or_default())
    }

    /// Compiles for each dialect of the input, in the order of [`Dialect::ALL`]; there is at least one. What two claim is told of by one of
    /// them, the later if both say so in the input.
    pub fn compile_each(&mut self, inputs: &Inputs, options: &Options) -> Vec<Compilation> {
        let dialects = dialects(inputs, options);
        let mut sides: Vec<Compilation> = dialects.iter().map(|dialect| self.side(inputs, options, *dialect)).collect();
        for (at, dialect) in dialects.iter().enumerate() {
            let (before, rest) = sides.split_at_mut(at);
            let Some((side, _)) = rest.split_first_mut() else { continue };
            // What this controller does not read is there for the other.
            let is_read = |key: &ResourceKey| dialects.iter().any(|other| other != dialect && other.reads(key));
            side.diagnostics.retain(|finding| *finding.code != codes::UNKNOWN_KIND || !finding.resource.as_ref().is_some_and(is_read));
            for other in before {
                conflict::tell(other, side);
            }
        }
        sides
    }

    fn side(&mut self, inputs: &Inputs, options: &Options, dialect: Dialect) -> Compilation {
        let reading = match dialect {
            Dialect::Ambassador => ambassador::fetch::read_options(),
            Dialect::Contour => contour::read_options(&options.contour),
        };
        let (objects, mut diagnostics) = read::read(inputs, &reading, self.documents.entry(dialect).or_default());
        let mut ledger = Ledger::new(&objects);
        let (config, ir, answers) = match dialect {
            Dialect::Ambassador => {
                let (config, ir) = ambassador::compile(&objects, &options.ambassador, &mut self.ambassador, &mut ledger, &mut diagnostics);
                (config, ir, Answers::default())
            }
            Dialect::Contour => {
                let (ir, answers) = contour::compile(&objects, &options.contour, &mut self.contour, &mut ledger, &mut diagnostics);
                (Config::default(), ir, answers)
            }
        };
        Compilation { inputs: inputs.clone(), dialect, objects, config, ledger, ir, answers, diagnostics }
    }
}

/// The dialect that is asked for, or those of the input.
fn dialects(inputs: &Inputs, options: &Options) -> Vec<Dialect> {
    options.dialect.map_or_else(|| detect(inputs.inputs.iter().map(|input| &*input.text)), |dialect| Vec::from([dialect]))
}

/// Compiles for one dialect without a memory.
pub fn compile(inputs: &Inputs, options: &Options) -> Compilation {
    Compiler::new().compile(inputs, options)
}

/// Compiles for each dialect of the input without a memory.
pub fn compile_each(inputs: &Inputs, options: &Options) -> Vec<Compilation> {
    Compiler::new().compile_each(inputs, options)
}
