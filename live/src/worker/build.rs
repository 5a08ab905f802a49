//! One compile of all inputs, and what it gives each gateway.
//!
//! The only place that knows the shape of a compilation: all else works with gateways, snapshots and places. The compiler and the memory of
//! each gateway's resources last from build to build, so that an event costs what it changes.

use super::intake::{Drained, Unreadable, is_referred};
use super::metrics::BuildSize;
use crate::arm::plan::Plan;
use crate::event::{FindingLine, Place};
use crate::lock;
use crate::threads::Threads;
use crate::xds::snapshot::{Blame, Resources, Snapshot};
use chancery_core::backend::OutputMap;
use chancery_core::backend::envoy::v3::{Emitted, Encoded, Encoding, Service, Withheld, encode, output_map};
use chancery_core::backend::envoy::{self, Document};
use chancery_core::check::check;
use chancery_core::compare::{AppGatewaySide, compare_app_gateways};
use chancery_core::compilation::{Compilation, GatewayId, GatewayRef, OptionValue, Options};
use chancery_core::compile::{Compiler, EmittedByGateway, compile};
use chancery_core::diagnostic::{Diagnostic, Place as DiagnosticPlace, Policy, Severity, codes};
use chancery_core::dialect::ingress::options::EXISTING_GATEWAY;
use chancery_core::dialect::{self, ingress};
use chancery_core::explain::{Finding, OriginView, findings, ledger, not_utf8};
use chancery_core::ir::SecretReference;
use chancery_core::ir::appgw::Gateway as AppGateway;
use chancery_core::resource::{Input, Inputs, ObjectId, Origin, SourceId};
use chancery_core::text::{Str, TextRange};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The most places that one resource is blamed on.
const MOST_PLACES: usize = 8;

/// What one gateway is given.
#[derive(Debug)]
pub struct Gateway {
    /// Its id.
    pub id: Arc<str>,
    /// What its Envoys are to have.
    pub snapshot: Arc<Snapshot>,
    /// What Envoy would refuse, and therefore is not sent.
    pub withheld: Vec<Withheld>,
    /// Names of the resources that are not as they were, by the URL of the type.
    pub changed: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

/// One compile of all inputs.
#[derive(Debug)]
pub struct Build {
    /// Which build since the start.
    pub number: u64,
    /// A hash of what all gateways' Envoys are to have.
    pub version: String,
    /// What was compiled.
    pub compilation: Arc<Compilation>,
    /// What each gateway is given.
    pub gateways: Vec<Gateway>,
    /// Gateways whose controller does not get as far as configuring them, and why. What their Envoys have stays.
    pub stopped: Vec<(Arc<str>, String)>,
    /// How many inputs there are.
    pub inputs: usize,
    /// What would be sent to Azure, where an Application Gateway is configured.
    pub plan: Option<Arc<Plan>>,
    /// The name of the Application Gateway that a source reads, where no input is for it.
    pub unplanned: Option<String>,
    /// Names of the parts of an Application Gateway that are not as the build before wanted them, by what they are.
    pub parts: BTreeMap<String, Vec<String>>,
    /// What is wrong with files that cannot be read now: places are those of the files as they are.
    pub unreadable: Vec<Finding>,
    /// What sources give where a person tries another text.
    pub beneath: Vec<Input>,
    /// How many changes of inputs went into it.
    pub changes: u64,
    /// Names of the inputs that changed, at most so many as an event names.
    pub edited: Vec<String>,
    /// How many errors were found.
    pub errors: usize,
    /// How long it took.
    pub took: Duration,
    /// How long the first change waited for it.
    pub waited: Duration,
}

impl Build {
    /// What it took and found, for counters.
    #[must_use]
    pub fn size(&self) -> BuildSize {
        BuildSize { inputs: self.inputs, changes: self.changes, errors: self.errors, took: self.took, waited: self.waited }
    }

    /// All that was found: first what is wrong with files that cannot be read.
    #[must_use]
    pub fn all_findings(&self) -> Vec<Finding> {
        self.unreadable.iter().cloned().chain(findings(&self.compilation, &self.compilation.positions())).collect()
    }

    /// The same with what `check` finds when it looks at the whole, at this time in seconds since 1970: as certificates expire while they are served.
    #[must_use]
    pub fn checked(&self, at: i64) -> Vec<Finding> {
        let mut whole = Compilation::clone(&self.compilation);
        check(&mut whole, &Policy { at: Some(at), ..Policy::default() }, &mut EmittedByGateway::default(), &Threads);
        self.unreadable.iter().cloned().chain(findings(&whole, &whole.positions())).collect()
    }

    /// All that was found, one line each.
    #[must_use]
    pub fn findings(&self) -> BTreeSet<FindingLine> {
        let line = |finding: Finding| FindingLine {
            code: finding.code.into(),
            severity: finding.severity.into(),
            file: finding.span.as_ref().map(|span| span.file.to_string()).unwrap_or_default(),
            line: finding.span.as_ref().map(|span| span.line).unwrap_or_default(),
            message: finding.message,
        };
        self.all_findings().into_iter().map(line).collect()
    }

    /// The names of the inputs that say something only where others refer to them, and that nothing refers to.
    #[must_use]
    pub fn idle(&self) -> BTreeSet<String> {
        let referred = self.compilation.inputs.inputs.iter().map(|input| input.name.as_str()).filter(|name| is_referred(name));
        let mut idle: BTreeSet<String> = referred.map(str::to_owned).collect();
        if !idle.is_empty() {
            let rows = ledger(&self.compilation, &self.compilation.positions());
            for file in rows.iter().filter(|row| row.state != "ignored").filter_map(|row| row.span.as_ref()).map(|span| &span.file) {
                idle.remove(file.as_str());
            }
        }
        idle
    }

    /// The gateways that run, by the names under which they are served.
    pub fn running(&self) -> impl Iterator<Item = (Arc<str>, GatewayRef<'_>)> {
        self.compilation.gateways().map(|gateway| (name_of(gateway), gateway))
    }

    /// The resources that changed, by list; where there are several gateways each says whose it is.
    #[must_use]
    pub fn changed(&self) -> BTreeMap<String, Vec<String>> {
        let mut out: BTreeMap<String, Vec<String>> = self.parts.clone();
        let are_several = self.gateways.len() > 1;
        for gateway in &self.gateways {
            let named = |name: &Arc<str>| if are_several { format!("{name} of {}", gateway.id) } else { name.to_string() };
            for (url, names) in &gateway.changed {
                let list = Service::ALL.into_iter().find(|service| service.type_url() == **url).map_or("other", Service::list);
                out.entry(list.to_owned()).or_default().extend(names.iter().map(named));
            }
        }
        out
    }
}

/// Compiles, and remembers.
pub struct Builder {
    options: Options,
    compiler: Compiler,
    gateways: BTreeMap<Arc<str>, Memory>,
    /// The Application Gateway that was wanted last.
    app_gateway: Option<Arc<AppGateway>>,
    /// Files that could not be read for the last build, and what was wrong with them.
    unreadable: Vec<(Unreadable, Vec<Finding>)>,
    builds: u64,
}

/// What is remembered of a gateway.
#[derive(Default)]
struct Memory {
    emitted: Emitted,
    snapshot: Option<Arc<Snapshot>>,
    provenance: Option<Arc<Provenance>>,
}

/// The name of the gateway that is read from Azure, where no input is written for an Application Gateway.
fn unplanned(compilation: &Compilation, told: &BTreeMap<&'static str, Str>) -> Option<String> {
    let present = told.get(EXISTING_GATEWAY).filter(|_| compilation.side(ingress::DIALECT.name).is_none())?;
    let document: serde_json::Value = serde_json::from_str(present).ok()?;
    Some(document["name"].as_str().unwrap_or_default().to_owned())
}

impl Builder {
    /// With an empty memory.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let compiler = Compiler::new(dialect::ALL).with_executor(&Threads);
        Self { options, compiler, gateways: BTreeMap::new(), app_gateway: None, unreadable: Vec::new(), builds: 0 }
    }

    /// How it compiles.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Compiles these inputs.
    pub fn build(&mut self, drained: Drained) -> Build {
        let begin = Instant::now();
        let waited = drained.since.map(|since| begin.saturating_duration_since(since)).unwrap_or_default();
        let options = self.options_with(&drained.options);
        let mut compilation = self.compiler.compile(&drained.inputs, &options);
        let findings = (0..).zip(&drained.not_utf8).filter_map(|(at, wrong)| not_utf8(SourceId(at), wrong));
        compilation.diagnostics.splice(..0, findings.collect::<Vec<_>>());
        let compilation = Arc::new(compilation);
        let mut gateways: Vec<Gateway> = compilation.gateways().map(|gateway| self.gateway(&compilation, gateway)).collect();
        let stopped: Vec<(Arc<str>, String)> =
            compilation.stopped().map(|(side, id, failure)| (served_name(&compilation, side.dialect.name, id), failure.error.clone())).collect();
        // Of one that is stopped, what it had is kept as it is.
        gateways.extend(stopped.iter().filter_map(|(id, _)| self.kept(id)));
        self.gateways.retain(|id, _| gateways.iter().any(|gateway| gateway.id == *id));
        let plan = Plan::of(&compilation, &options).map(Arc::new);
        let unplanned = unplanned(&compilation, &drained.options);
        let parts = self.changed_parts(&compilation);
        let unreadable = self.unreadable(drained.unreadable, &options);
        let errors = unreadable.len() + compilation.all_diagnostics().filter(|finding| finding.severity == Severity::Error).count();
        self.builds += 1;
        Build {
            number: self.builds,
            version: version_of(&gateways, plan.as_deref()),
            plan,
            unplanned,
            parts,
            gateways,
            inputs: drained.inputs.inputs.len(),
            unreadable,
            beneath: drained.beneath,
            changes: drained.changes,
            edited: drained.edited,
            errors,
            took: begin.elapsed(),
            waited,
            compilation,
            stopped,
        }
    }

    /// What is wrong with these files. Those that are as they were are not looked at again.
    fn unreadable(&mut self, files: Vec<Unreadable>, options: &Options) -> Vec<Finding> {
        let mut before = std::mem::take(&mut self.unreadable);
        for file in files {
            let known = before.iter().position(|(known, _)| *known == file).map(|at| before.swap_remove(at));
            self.unreadable.push(known.unwrap_or_else(|| {
                let found = what_is_wrong(&file, options);
                (file, found)
            }));
        }
        self.unreadable.iter().flat_map(|(_, found)| found).cloned().collect()
    }

    /// How it compiles, with what sources tell of that.
    fn options_with(&self, told: &BTreeMap<&'static str, Str>) -> Options {
        let mut options = self.options.clone();
        for (name, value) in told {
            options.insert(*name, OptionValue::Text(value.clone()));
        }
        options
    }

    /// The parts of an Application Gateway that are not as they were wanted one build before.
    fn changed_parts(&mut self, compilation: &Compilation) -> BTreeMap<String, Vec<String>> {
        let now = compilation.app_gateways().next().map(|gateway| gateway.parts.clone());
        let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if let Some(now) = now
            && self.app_gateway.as_ref() != Some(&now)
        {
            let nothing = AppGateway::default();
            let before = self.app_gateway.as_deref().unwrap_or(&nothing);
            for change in compare_app_gateways(&AppGatewaySide::existing(before), &AppGatewaySide::existing(&now)) {
                parts.entry(change.kind).or_default().push(change.name);
            }
            self.app_gateway = Some(now);
        }
        parts
    }

    fn kept(&self, id: &Arc<str>) -> Option<Gateway> {
        let snapshot = self.gateways.get(id)?.snapshot.clone()?;
        Some(Gateway { id: id.clone(), snapshot, withheld: Vec::new(), changed: BTreeMap::new() })
    }

    fn gateway(&mut self, compilation: &Arc<Compilation>, gateway: GatewayRef<'_>) -> Gateway {
        let id = name_of(gateway);
        let memory = self.gateways.entry(id.clone()).or_default();
        let lookup = |reference: &SecretReference| gateway.of().key_material(reference);
        let Encoding { served, withheld, is_as_before } = encode(gateway.ir, Some(&lookup), &mut memory.emitted);
        if let (Some(snapshot), Some(provenance)) = (&memory.snapshot, &memory.provenance)
            && is_as_before
        {
            // Lines may have moved in files that say the same: who asks where something comes from is told by this compilation.
            provenance.follow(compilation);
            return Gateway { id, snapshot: snapshot.clone(), withheld, changed: BTreeMap::new() };
        }
        let mut indexes = BTreeMap::new();
        let mut by_service: BTreeMap<Service, Vec<Arc<Encoded>>> = BTreeMap::new();
        for of in served {
            indexes.insert((of.service, of.resource.name.to_string()), of.index);
            by_service.entry(of.service).or_default().push(of.resource);
        }
        let before = memory.snapshot.clone().unwrap_or_default();
        // Of what Envoy would refuse, what it had before is kept.
        for of in withheld.iter().filter(|of| !of.in_part) {
            if let Some(kept) = before.get(&of.service.type_url()).and_then(|resources| resources.by_name.get(of.name.as_str())) {
                by_service.entry(of.service).or_default().push(kept.clone());
            }
        }
        let mut snapshot = Snapshot::new(id.clone());
        for service in Service::ALL {
            let url = service.type_url();
            let resources = by_service.remove(&service).unwrap_or_default();
            let same = before.get(&url).filter(|known| is_same(known, &resources)).cloned();
            snapshot.set(url, same.unwrap_or_else(|| Arc::new(Resources::new(resources))));
        }
        let provenance = Arc::new(Provenance { compilation: Mutex::new(compilation.clone()), gateway: id.clone(), indexes, map: OnceLock::new() });
        snapshot.blame = Some(provenance.clone());
        memory.provenance = Some(provenance);
        let changed = snapshot.changed_from(&before);
        let snapshot = Arc::new(snapshot);
        memory.snapshot = Some(snapshot.clone());
        Gateway { id, snapshot, withheld, changed }
    }
}

/// The errors of a file that cannot be read: that it cannot, and where its text is wrong.
fn what_is_wrong(file: &Unreadable, options: &Options) -> Vec<Finding> {
    let bytes = file.bytes.as_deref().unwrap_or_default();
    let (input, not_utf8_at) = Input::from_bytes(file.name.as_str(), bytes.to_vec());
    let mut alone = compile(&Inputs::from(vec![input]), options, dialect::ALL);
    // What the rest of the file means is not asked: it is not served.
    alone.sides.clear();
    let start = DiagnosticPlace::Text(SourceId(0), TextRange::empty(0));
    let first = Diagnostic::new(&codes::SYNTAX, file.message.clone(), start);
    alone.diagnostics.retain(|finding| finding.severity == Severity::Error);
    alone.diagnostics.splice(..0, std::iter::once(first).chain(not_utf8(SourceId(0), &not_utf8_at)));
    let redactor = alone.redactor();
    let scrubbed = |finding: Finding| Finding { message: redactor.scrub(&finding.message).into_owned(), ..finding };
    findings(&alone, &alone.positions()).into_iter().map(scrubbed).collect()
}

/// The name under which a gateway is served.
pub(crate) fn name_of(gateway: GatewayRef<'_>) -> Arc<str> {
    served_name(gateway.compilation, gateway.side.dialect.name, gateway.id)
}

/// The name under which a gateway is served: its id, with the dialect before it where two controllers have one of the same id.
fn served_name(compilation: &Compilation, dialect: &str, id: &GatewayId) -> Arc<str> {
    let others = compilation.sides.iter().filter(|side| side.dialect.name != dialect);
    if others.flat_map(|side| &side.gateways).any(|other| other.id == *id) {
        return Arc::from(format!("{dialect}:{id}"));
    }
    Arc::from(id.as_str())
}

/// Whether these are the resources that are known, each the same shared value.
fn is_same(known: &Resources, resources: &[Arc<Encoded>]) -> bool {
    known.by_name.len() == resources.len()
        && resources.iter().all(|of| known.by_name.get(of.name.as_str()).is_some_and(|before| Arc::ptr_eq(before, of)))
}

fn version_of(gateways: &[Gateway], plan: Option<&Plan>) -> String {
    match gateways {
        [] if plan.is_some() => plan.map(Plan::version).unwrap_or_default(),
        [only] => only.snapshot.version(),
        all => {
            let versions: Vec<String> = all.iter().map(|gateway| gateway.snapshot.version()).collect();
            let parts: Vec<&[u8]> = versions.iter().map(String::as_bytes).collect();
            envoy::v3::Fingerprint::of(&parts).to_string().chars().take(16).collect()
        }
    }
}

/// Where the resources of a build come from. The output map is made when somebody asks for the first time.
struct Provenance {
    /// The last compile in which the gateway is what it is here.
    compilation: Mutex<Arc<Compilation>>,
    gateway: Arc<str>,
    /// The place of each resource in its list.
    indexes: BTreeMap<(Service, String), usize>,
    map: OnceLock<OutputMap>,
}

impl Provenance {
    /// The gateway is the same in a later compile: places are told by that one.
    fn follow(&self, compilation: &Arc<Compilation>) {
        *lock(&self.compilation) = compilation.clone();
    }

    fn origins<'a>(map: &'a OutputMap, resource: &str, field: Option<&str>) -> Vec<&'a Origin> {
        let real = |origins: &'a [Origin]| origins.iter().filter(|origin| origin.object() != ObjectId::BUILT_IN).collect::<Vec<_>>();
        let near = field.into_iter().flat_map(|field| map.chain(&format!("{resource}{field}")).map(|made| real(made.origins)).collect::<Vec<_>>());
        let own = map.get(resource).map(real);
        let found = near.chain(own).find(|origins| !origins.is_empty());
        found.unwrap_or_else(|| map.descendants(resource).into_iter().flat_map(|made| real(made.origins)).collect())
    }
}

impl Blame for Provenance {
    fn places(&self, type_url: &str, name: &str, field: Option<&str>) -> Vec<Place> {
        let service = Service::ALL.into_iter().find(|service| service.type_url() == type_url);
        let index = service.and_then(|service| self.indexes.get(&(service, name.to_owned())));
        let compilation = lock(&self.compilation).clone();
        let gateway = compilation.gateways().find(|gateway| name_of(*gateway) == self.gateway);
        let (Some(service), Some(index), Some(gateway)) = (service, index, gateway) else { return Vec::new() };
        let map = self.map.get_or_init(|| {
            let options = envoy::Options { document: Document::Resources, ..Default::default() };
            output_map(gateway.ir, &options, &mut Emitted::new())
        });
        let positions = compilation.positions();
        let resource = format!("/{}/{index}", service.list());
        let mut out: Vec<Place> = Vec::new();
        for origin in Self::origins(map, &resource, field) {
            let view = OriginView::of(*origin, gateway.of(), &positions);
            let Some(span) = view.span else { continue };
            let place = Place {
                file: span.file.to_string(),
                line: span.line,
                column: span.column,
                object: view.resource.map(|of| of.to_string()).unwrap_or_default(),
                field: view.path.unwrap_or_default(),
            };
            if !out.contains(&place) {
                out.push(place);
            }
            if out.len() == MOST_PLACES {
                break;
            }
        }
        out
    }
}

/// How a withheld resource is reported, with what made it.
#[must_use]
pub fn withheld_events(gateway: &Gateway) -> Vec<crate::event::Event> {
    let places =
        |of: &Withheld| gateway.snapshot.blame.as_ref().map(|blame| blame.places(&of.service.type_url(), &of.name, None)).unwrap_or_default();
    let event = |of: &Withheld| crate::event::Event::Withheld {
        r#type: of.service.type_url(),
        resource: of.name.to_string(),
        message: of.broken.first().map(|broken| format!("{}: {}", broken.pointer, broken.message)).unwrap_or_default(),
        places: places(of),
        gateway: gateway.id.to_string(),
    };
    gateway.withheld.iter().map(event).collect()
}
