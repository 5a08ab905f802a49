//! Defines the result of a compile: sides, gateways, and the controllers' other results.
//!
//! An input may contain several configuration languages. Each has its own controller, a [`Side`]; a controller may run several proxies, each a
//! [`Gateway`]. All sides share the input's objects, so that a place means the same for all of them.
//!
//! Also defines what every dialect shares: the [`Ledger`], [`Relation`]s, [`Answers`], and the descriptor of a [`Dialect`]. Does not compile; see
//! `chancery-compile`.

mod answers;
mod call;
mod dialect;
mod ledger;
mod missing;
mod options;
mod parse_options;
mod policies;
mod recompile;
mod relation;
mod served;
mod stages;

pub use answers::{Answers, ControllerState, Created, OwnConfiguration, Refused, Restart, Serving, SettingChange, StatusOf};
pub use call::{Call, CallDecision, CallEffect, CallEnd, CallRule};
pub use dialect::{
    AnnotationDoc, Claim, Dialect, Draft, Hints, KnownAnnotations, KnownDefault, Language, OrderRule, Output, PrecedenceChange, Problem, Purpose,
    Task,
};
pub use ledger::{Ledger, LedgerEntry, State, Why};
pub use missing::{Assumptions, MISSING_OPTION, MISSING_SECRETS_OPTION, Missing, ReferencedObject, as_written, for_interactive_use};
pub use options::{OptionError, OptionKind, OptionSpec, OptionValue, Options};
pub use policies::{ChosenRoute, EffectivePolicy};
pub use relation::{Absent, Relation};
pub use stages::{Issued, Loaded, Stages};

use crate::diagnostic::Diagnostic;
use crate::ir::appgw::Gateway as AppGateway;
use crate::ir::nginx::Nginx;
use crate::ir::{Ir, SecretReference};
use crate::redact::{Redactor, may_be_value};
use crate::resource::{Inputs, Object, ObjectId, Objects, ResourceKey};
use alloc::collections::BTreeSet;
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
    /// The objects of the input, shared by all sides.
    pub objects: Objects,
    /// Findings of reading the text, and findings that concern several sides.
    pub diagnostics: Vec<Diagnostic>,
    /// One side per dialect of the input, in the order of the host's list; at least one.
    pub sides: Vec<Side>,
}

/// The result of one dialect's controller.
#[derive(Clone, Debug)]
pub struct Side {
    pub dialect: &'static Dialect,
    /// How its controller runs.
    pub options: Options,
    /// The values of the dialect's own stages, for views.
    pub stages: Arc<dyn Stages>,
    /// The fate of every object.
    pub ledger: Ledger,
    /// The controller's results in addition to the proxies' configuration.
    pub answers: Answers,
    /// The proxies that the controller configures, in a stable order.
    pub gateways: Vec<Gateway>,
    /// This side's findings, in the order of its stages.
    pub diagnostics: Vec<Diagnostic>,
}

/// One proxy, or a set of proxies with the same configuration.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// Unique in its side.
    pub id: GatewayId,
    /// The input object that requests the gateway, if any.
    pub owner: Option<ObjectId>,
    pub outcome: Outcome,
}

/// The name of a gateway: `NAMESPACE/NAME`, or the id of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct GatewayId(Str);

/// Whether a gateway runs.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// An Envoy with this configuration.
    Runs(Arc<Ir>),
    /// An Application Gateway with these parts.
    AppGateway(Arc<AppGateway>),
    /// It is an nginx with this configuration.
    Nginx(Arc<Nginx>),
    /// Its controller does not get as far as configuring it.
    Stopped(Failure),
}

/// Why a controller does not serve a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The failing stage in the controller's own term, such as `flags` or `serve`.
    pub stage: Str,
    /// The controller's message, verbatim.
    pub error: String,
}

/// One side of a compilation, with everything that all sides share.
#[derive(Clone, Copy, Debug)]
pub struct SideRef<'a> {
    pub compilation: &'a Compilation,
    pub side: &'a Side,
}

/// One running Envoy, with its side and everything that all sides share.
#[derive(Clone, Copy, Debug)]
pub struct GatewayRef<'a> {
    pub compilation: &'a Compilation,
    pub side: &'a Side,
    pub id: &'a GatewayId,
    /// Its configuration.
    pub ir: &'a Arc<Ir>,
}

/// One Application Gateway, with its side and everything that all sides share.
#[derive(Clone, Copy, Debug)]
pub struct AppGatewayRef<'a> {
    /// Its name and side.
    pub named: NamedGateway<'a>,
    pub parts: &'a Arc<AppGateway>,
}

/// One nginx, with its side and what all sides share.
#[derive(Clone, Copy, Debug)]
pub struct NginxRef<'a> {
    /// Its name, and where it belongs.
    pub named: NamedGateway<'a>,
    /// Its configuration.
    pub nginx: &'a Arc<Nginx>,
}

/// Which gateway is meant, whatever it runs.
#[derive(Clone, Copy, Debug)]
pub struct NamedGateway<'a> {
    pub of: SideRef<'a>,
    /// Its name.
    pub id: &'a GatewayId,
}

impl Compilation {
    /// Removes everything that only views need: texts, objects, stage values and ledgers. Findings, answers and gateways stay.
    ///
    /// For hosts that write a large document and show nothing else: the document needs the memory. Dropping the result takes time, which can be
    /// spent on another thread.
    pub fn take_views(&mut self) -> impl Send + use<> {
        let nothing: Arc<dyn Stages> = Arc::new(stages::Taken);
        let of_sides: Vec<_> =
            self.sides.iter_mut().map(|side| (mem::replace(&mut side.stages, nothing.clone()), mem::take(&mut side.ledger))).collect();
        (mem::take(&mut self.inputs), mem::take(&mut self.objects), of_sides)
    }

    /// The redactor for outputs without key material. Names of files stay. Words of ConfigMaps, Secrets and objects that no dialect reads stay if they
    /// name an object, its namespace or its kind, or are parts of such a name: every output shows them. No output copies a word of these objects as a
    /// setting. Credentials in objects that become settings are always removed.
    pub fn redactor(&self) -> Redactor {
        let of_options: Vec<Str> = self.sides.iter().flat_map(|side| side.options.credentials()).collect();
        let is_data = |key: &ResourceKey| key.group.is_empty() && matches!(key.kind.as_str(), "ConfigMap" | "Secret");
        let is_setting = |object: &Object| !is_data(&object.key) && self.sides.iter().any(|side| side.dialect.reads(&object.key));
        let mut settings: BTreeSet<&str> = of_options.iter().map(Str::as_str).collect();
        let mut values: BTreeSet<&str> = BTreeSet::new();
        for object in self.objects.iter() {
            let credentials = object.credentials.iter().map(|value| value.expose().as_str());
            if is_setting(object) { settings.extend(credentials) } else { values.extend(credentials) }
        }
        for key in self.objects.iter().map(|object| &object.key) {
            if values.is_empty() {
                break;
            }
            for name in [Some(&key.name), key.namespace.as_ref(), Some(&key.kind)].into_iter().flatten() {
                for part in parts_of_name(name).filter(|part| !may_be_value(part)) {
                    values.remove(part);
                }
            }
        }
        values.extend(settings);
        Redactor::new(values).with_files(self.inputs.inputs.iter().map(|input| input.name.clone()))
    }

    pub fn sides(&self) -> impl ExactSizeIterator<Item = SideRef<'_>> + Clone {
        self.sides.iter().map(|side| SideRef { compilation: self, side })
    }

    pub fn side(&self, dialect: &str) -> Option<SideRef<'_>> {
        self.sides().find(|of| of.side.dialect.name == dialect)
    }

    /// All running Envoys, side by side.
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

    /// All findings: first those about the text or several sides, then side by side.
    pub fn all_diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().chain(self.sides.iter().flat_map(|side| &side.diagnostics))
    }

    /// Changes the IR of every gateway, for hosts with other needs.
    pub fn change_irs(&mut self, change: impl Fn(&mut Ir)) {
        for gateway in self.sides.iter_mut().flat_map(|side| &mut side.gateways) {
            if let Outcome::Runs(ir) = &mut gateway.outcome {
                change(Arc::make_mut(ir));
            }
        }
    }
}

impl<'a> SideRef<'a> {
    pub fn objects(self) -> &'a Objects {
        &self.compilation.objects
    }

    pub fn dialect(self) -> &'static Dialect {
        self.side.dialect
    }

    /// The Application Gateways of the side.
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

    /// The running Envoys of the side.
    pub fn gateways(self) -> impl Iterator<Item = GatewayRef<'a>> + Clone {
        let Self { compilation, side } = self;
        side.gateways.iter().filter_map(move |gateway| match &gateway.outcome {
            Outcome::Runs(ir) => Some(GatewayRef { compilation, side, id: &gateway.id, ir }),
            Outcome::AppGateway(_) | Outcome::Nginx(_) | Outcome::Stopped(_) => None,
        })
    }

    /// The configurations of the side's running Envoys.
    pub fn irs(self) -> impl Iterator<Item = &'a Ir> + Clone {
        self.gateways().map(|gateway| &**gateway.ir)
    }

    /// The findings of the text and of this side.
    pub fn diagnostics(self) -> impl Iterator<Item = &'a Diagnostic> + Clone {
        self.compilation.diagnostics.iter().chain(&self.side.diagnostics)
    }

    /// The key material for a reference, for outputs that must contain it.
    pub fn key_material(self, reference: &SecretReference) -> Option<Vec<u8>> {
        self.side.stages.key_material(&self.compilation.objects, reference)
    }

    /// The certificate that the cluster itself issues for a reference at run time.
    pub fn issued(self, reference: &SecretReference) -> Option<Issued> {
        self.side.stages.issued(reference)
    }

    /// The references between the side's objects.
    pub fn relations(self) -> Vec<Relation> {
        self.side.stages.relations(&self.compilation.objects)
    }

    /// The rules about calls between services.
    pub fn call_rules(self) -> Vec<CallRule> {
        self.side.stages.call_rules(&self.compilation.objects)
    }
}

impl<'a> GatewayRef<'a> {
    pub fn of(self) -> SideRef<'a> {
        SideRef { compilation: self.compilation, side: self.side }
    }

    /// The gateway's name and side.
    pub fn named(self) -> NamedGateway<'a> {
        NamedGateway { of: self.of(), id: self.id }
    }

    /// See [`NamedGateway::label`].
    pub fn label(self) -> Option<String> {
        self.named().label()
    }
}

impl NamedGateway<'_> {
    /// The gateway's label if there are several gateways: its dialect, its id, or both.
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
    /// The Envoy's configuration, if the gateway is a running Envoy.
    pub fn ir(&self) -> Option<&Arc<Ir>> {
        match self {
            Outcome::Runs(ir) => Some(ir),
            Outcome::AppGateway(_) | Outcome::Nginx(_) | Outcome::Stopped(_) => None,
        }
    }
}

impl GatewayId {
    /// A gateway with this name.
    pub fn new(name: impl Into<Str>) -> Self {
        Self(name.into())
    }

    /// A gateway named `NAMESPACE/NAME`.
    pub fn named(namespace: &str, name: &str) -> Self {
        Self(format!("{namespace}/{name}").into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name for files: `.` replaces `/`.
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
    pub fn new(stage: impl Into<Str>, error: impl Into<String>) -> Self {
        Self { stage: stage.into(), error: error.into() }
    }
}

/// A name and its parts between hyphens and dots, also several parts together, as in `shop` and `shop-api` of `shop-api-web`.
fn parts_of_name(name: &str) -> impl Iterator<Item = &str> {
    const MOST: usize = 8;
    let is_mark = |c: char| matches!(c, '-' | '.');
    let starts = core::iter::once(0).chain(name.match_indices(is_mark).map(|(at, _)| at + 1)).take(MOST);
    starts.flat_map(move |start| {
        let ends = name.match_indices(is_mark).map(|(at, _)| at).chain([name.len()]).filter(move |end| *end > start).take(MOST);
        ends.map(move |end| &name[start..end])
    })
}

#[cfg(test)]
mod tests {
    use super::parts_of_name;
    use alloc::vec::Vec;

    #[test]
    fn names_have_parts() {
        let mut parts: Vec<&str> = parts_of_name("shop-api.web").collect();
        parts.sort_unstable();
        assert_eq!(parts, ["api", "api.web", "shop", "shop-api", "shop-api.web", "web"]);
    }
}
