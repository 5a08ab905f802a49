//! What a compile establishes, as data: sides, gateways, and what controllers answer besides.
//!
//! An input may hold several configuration languages. Each has a controller of its own, a [`Side`]; and a controller may run several
//! proxies, each a [`Gateway`]. All sides share the objects of the input, so that a place means the same for all of them.
//!
//! Beside that stands what every dialect shares: the [`Ledger`], [`Relation`]s, typed [`Answers`], and the descriptor of a [`Dialect`].
//!
//! What must not be here: how anything is compiled (`compile`, `dialect`), and any dialect's name.

mod again;
mod answers;
mod dialect;
mod ledger;
mod missing;
mod options;
mod relation;
mod served;
mod stages;
mod words;

pub use answers::{Answers, Created, Life, OwnConfiguration, Refused, Serving, SettingChange, StatusOf, Takes};
pub use dialect::{Ahead, AnnotationDoc, Claim, Dialect, Draft, Hints, KnownAnnotations, KnownDefault, Language, Output, Purpose, Task};
pub use ledger::{Ledger, LedgerEntry, State, Why};
pub use missing::{Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, Missing, ReferencedObject, as_written, for_people};
pub use options::{OptionError, OptionKind, OptionSpec, OptionValue, Options};
pub use relation::{Absent, Relation};
pub use stages::{Issued, Loaded, Stages};

use crate::diagnostic::Diagnostic;
use crate::ir::appgw::Gateway as AppGateway;
use crate::ir::nginx::Nginx;
use crate::ir::{Ir, SecretReference};
use crate::redact::HeldBack;
use crate::resource::{Inputs, ObjectId, Objects};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::sync::Arc;
use alloc::vec::Vec;
use chancery_text::Str;
use core::mem;

/// What a compile established.
#[derive(Clone, Debug, Default)]
pub struct Compilation {
    /// What was compiled.
    pub inputs: Inputs,
    /// The objects of the input, the same for all sides.
    pub objects: Objects,
    /// What was found while the text was read, whatever the dialect, and what concerns several sides.
    pub diagnostics: Vec<Diagnostic>,
    /// One for each dialect of the input, in the order of the host's list; at least one.
    pub sides: Vec<Side>,
}

/// What the controller of one dialect makes of the input.
#[derive(Clone, Debug)]
pub struct Side {
    /// The configuration language.
    pub dialect: &'static Dialect,
    /// How its controller runs.
    pub options: Options,
    /// The values of the dialect's own stages, for views that look at them.
    pub stages: Arc<dyn Stages>,
    /// What became of every object.
    pub ledger: Ledger,
    /// What the controller answers besides the configuration of proxies.
    pub answers: Answers,
    /// The proxies that the controller configures, in a stable order.
    pub gateways: Vec<Gateway>,
    /// What was found while this side was compiled, in the order of its stages.
    pub diagnostics: Vec<Diagnostic>,
}

/// One proxy, or one set of proxies that all get the same configuration.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// Its name, unique in its side.
    pub id: GatewayId,
    /// The object of the input that asks for it, if there is one.
    pub owner: Option<ObjectId>,
    /// What it does.
    pub outcome: Outcome,
}

/// The name of a gateway: `NAMESPACE/NAME`, or the id of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct GatewayId(Str);

/// Whether a gateway runs.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It is an Envoy that does this.
    Runs(Arc<Ir>),
    /// It is an Application Gateway with these parts.
    AppGateway(Arc<AppGateway>),
    /// It is an nginx that is told this.
    Nginx(Arc<Nginx>),
    /// Its controller does not get as far as configuring it.
    Stopped(Failure),
}

/// Why a controller does not serve a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stage that fails, by the controller's own word, such as `flags` or `serve`.
    pub stage: Str,
    /// The controller's own message.
    pub error: String,
}

/// One side of a compilation, with what all sides share.
#[derive(Clone, Copy, Debug)]
pub struct SideRef<'a> {
    /// The whole.
    pub compilation: &'a Compilation,
    /// The side.
    pub side: &'a Side,
}

/// One Envoy that runs, with its side and what all sides share.
#[derive(Clone, Copy, Debug)]
pub struct GatewayRef<'a> {
    /// The whole.
    pub compilation: &'a Compilation,
    /// Its side.
    pub side: &'a Side,
    /// Its name.
    pub id: &'a GatewayId,
    /// What it does.
    pub ir: &'a Arc<Ir>,
}

/// One Application Gateway, with its side and what all sides share.
#[derive(Clone, Copy, Debug)]
pub struct AppGatewayRef<'a> {
    /// Its name, and where it belongs.
    pub named: NamedGateway<'a>,
    /// Its parts.
    pub parts: &'a Arc<AppGateway>,
}

/// One nginx, with its side and what all sides share.
#[derive(Clone, Copy, Debug)]
pub struct NginxRef<'a> {
    /// Its name, and where it belongs.
    pub named: NamedGateway<'a>,
    /// What it is told.
    pub nginx: &'a Arc<Nginx>,
}

/// Which gateway is meant, whatever it runs.
#[derive(Clone, Copy, Debug)]
pub struct NamedGateway<'a> {
    /// Its side, with what all sides share.
    pub of: SideRef<'a>,
    /// Its name.
    pub id: &'a GatewayId,
}

impl Compilation {
    /// Takes out what only views look at: the texts, the objects, the values of stages and what became of each object. Findings, answers and
    /// gateways stay.
    ///
    /// For hosts that write a large document and show nothing else: its memory is better spent on the document. Dropping it takes time,
    /// which can be spent on another thread.
    pub fn take_views(&mut self) -> impl Send + use<> {
        let nothing: Arc<dyn Stages> = Arc::new(stages::Taken);
        let of_sides: Vec<_> =
            self.sides.iter_mut().map(|side| (mem::replace(&mut side.stages, nothing.clone()), mem::take(&mut side.ledger))).collect();
        (mem::take(&mut self.inputs), mem::take(&mut self.objects), of_sides)
    }

    /// What no output may have that a person did not ask for with key material.
    pub fn held_back(&self) -> HeldBack {
        let of_options: Vec<Str> = self.sides.iter().flat_map(|side| side.options.credentials()).collect();
        let of_objects = self.objects.iter().flat_map(|object| &object.credentials).map(|value| value.expose().as_str());
        HeldBack::new(of_objects.chain(of_options.iter().map(Str::as_str)))
    }

    /// All sides.
    pub fn sides(&self) -> impl ExactSizeIterator<Item = SideRef<'_>> + Clone {
        self.sides.iter().map(|side| SideRef { compilation: self, side })
    }

    /// The side of this dialect.
    pub fn side(&self, dialect: &str) -> Option<SideRef<'_>> {
        self.sides().find(|of| of.side.dialect.name == dialect)
    }

    /// All Envoys that run, side by side.
    pub fn gateways(&self) -> impl Iterator<Item = GatewayRef<'_>> + Clone {
        self.sides().flat_map(SideRef::gateways)
    }

    /// All gateways that do not run, with their sides.
    pub fn stopped(&self) -> impl Iterator<Item = (&Side, &GatewayId, &Failure)> {
        self.sides.iter().flat_map(|side| {
            side.gateways.iter().filter_map(move |gateway| match &gateway.outcome {
                Outcome::Stopped(failure) => Some((side, &gateway.id, failure)),
                Outcome::Runs(_) | Outcome::AppGateway(_) | Outcome::Nginx(_) => None,
            })
        })
    }

    /// All Application Gateways, side by side.
    pub fn app_gateways(&self) -> impl Iterator<Item = AppGatewayRef<'_>> + Clone {
        self.sides().flat_map(SideRef::app_gateways)
    }

    /// All nginx gateways, side by side.
    pub fn nginxes(&self) -> impl Iterator<Item = NginxRef<'_>> + Clone {
        self.sides().flat_map(SideRef::nginxes)
    }

    /// Whether views must say which gateway they speak of, as there are several.
    pub fn has_several_gateways(&self) -> bool {
        self.sides.len() > 1 || self.sides.iter().any(|side| side.gateways.len() > 1)
    }

    /// Everything that was found: what concerns the text or several sides first, then side by side.
    pub fn all_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().chain(self.sides.iter().flat_map(|side| &side.diagnostics))
    }

    /// Replaces the IR of every gateway by what `change` makes of it, for hosts that want it otherwise.
    pub fn change_irs(&mut self, change: impl Fn(&mut Ir)) {
        for gateway in self.sides.iter_mut().flat_map(|side| &mut side.gateways) {
            if let Outcome::Runs(ir) = &mut gateway.outcome {
                change(Arc::make_mut(ir));
            }
        }
    }
}

impl<'a> SideRef<'a> {
    /// The objects of the input.
    pub fn objects(self) -> &'a Objects {
        &self.compilation.objects
    }

    /// The configuration language.
    pub fn dialect(self) -> &'static Dialect {
        self.side.dialect
    }

    /// Its Application Gateways.
    pub fn app_gateways(self) -> impl Iterator<Item = AppGatewayRef<'a>> + Clone {
        self.side.gateways.iter().filter_map(move |gateway| match &gateway.outcome {
            Outcome::AppGateway(parts) => Some(AppGatewayRef { named: NamedGateway { of: self, id: &gateway.id }, parts }),
            Outcome::Runs(_) | Outcome::Nginx(_) | Outcome::Stopped(_) => None,
        })
    }

    /// Its nginx gateways.
    pub fn nginxes(self) -> impl Iterator<Item = NginxRef<'a>> + Clone {
        self.side.gateways.iter().filter_map(move |gateway| match &gateway.outcome {
            Outcome::Nginx(nginx) => Some(NginxRef { named: NamedGateway { of: self, id: &gateway.id }, nginx }),
            Outcome::Runs(_) | Outcome::AppGateway(_) | Outcome::Stopped(_) => None,
        })
    }

    /// Its Envoys that run.
    pub fn gateways(self) -> impl Iterator<Item = GatewayRef<'a>> + Clone {
        let Self { compilation, side } = self;
        side.gateways.iter().filter_map(move |gateway| match &gateway.outcome {
            Outcome::Runs(ir) => Some(GatewayRef { compilation, side, id: &gateway.id, ir }),
            Outcome::AppGateway(_) | Outcome::Nginx(_) | Outcome::Stopped(_) => None,
        })
    }

    /// What its Envoys that run do.
    pub fn irs(self) -> impl Iterator<Item = &'a Ir> + Clone {
        self.gateways().map(|gateway| &**gateway.ir)
    }

    /// What was found in the text, and while this side was compiled.
    pub fn diagnostics(self) -> impl Iterator<Item = &'a Diagnostic> + Clone {
        self.compilation.diagnostics.iter().chain(&self.side.diagnostics)
    }

    /// The key material that a reference names, for outputs that are to hold it.
    pub fn key_material(self, reference: &SecretReference) -> Option<Vec<u8>> {
        self.side.stages.key_material(&self.compilation.objects, reference)
    }

    /// What the cluster itself issues for a reference while it runs.
    pub fn issued(self, reference: &SecretReference) -> Option<Issued> {
        self.side.stages.issued(reference)
    }

    /// What its fields refer to.
    pub fn relations(self) -> Vec<Relation> {
        self.side.stages.relations(&self.compilation.objects)
    }
}

impl<'a> GatewayRef<'a> {
    /// Its side.
    pub fn of(self) -> SideRef<'a> {
        SideRef { compilation: self.compilation, side: self.side }
    }

    /// Which gateway it is.
    pub fn named(self) -> NamedGateway<'a> {
        NamedGateway { of: self.of(), id: self.id }
    }

    /// As [`NamedGateway::label`].
    pub fn label(self) -> Option<String> {
        self.named().label()
    }
}

impl NamedGateway<'_> {
    /// What to call it where there are several: its dialect, its id, or both. Nothing where there is only one.
    pub fn label(self) -> Option<String> {
        let dialect = self.of.dialect().name;
        match (self.of.compilation.sides.len() > 1, self.of.side.gateways.len() > 1) {
            (false, false) => None,
            (true, false) => Some(dialect.to_string()),
            (false, true) => Some(self.id.to_string()),
            (true, true) => Some(format!("{dialect} {}", self.id)),
        }
    }
}

impl Outcome {
    /// What the Envoy does, if it is one and runs.
    pub fn ir(&self) -> Option<&Arc<Ir>> {
        match self {
            Outcome::Runs(ir) => Some(ir),
            Outcome::AppGateway(_) | Outcome::Nginx(_) | Outcome::Stopped(_) => None,
        }
    }
}

impl GatewayId {
    /// A gateway by its name.
    pub fn new(name: impl Into<Str>) -> Self {
        Self(name.into())
    }

    /// `NAMESPACE/NAME`.
    pub fn named(namespace: &str, name: &str) -> Self {
        Self(format!("{namespace}/{name}").into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as part of a file's name: `.` for `/`.
    pub fn file_name(&self) -> String {
        self.0.replace('/', ".")
    }
}

impl core::fmt::Display for GatewayId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Failure {
    /// A failure of this stage.
    pub fn new(stage: impl Into<Str>, error: impl Into<String>) -> Self {
        Self { stage: stage.into(), error: error.into() }
    }
}
