//! Compiles all inputs, and makes the snapshot of each gateway.
//!
//! Only this module knows the shape of a compilation; all other modules work with gateways, snapshots and places. The compiler and the memory of
//! each gateway last from build to build, so that an event costs as much as it changes.

use super::bounds::bound_findings;
use super::defaults::Defaults;
use super::intake::{Drained, Unreadable, is_referred};
use super::metrics::BuildSize;
use crate::arm::plan::Plan;
use crate::event::{FindingLine, Place};
use crate::lock;
use crate::replicas::{Replicas, View};
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
use chancery_core::explain::{Finding, OriginView, Positions, findings, ledger, not_utf8};
use chancery_core::ir::SecretReference;
use chancery_core::ir::appgw::Gateway as AppGateway;
use chancery_core::resource::{Input, Inputs, ObjectId, Origin, SourceId};
use chancery_core::text::{Str, TextRange};
use chancery_workspace::threads::Threads;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// If inputs shrink to less than half, and by more than this many bytes, the compiler's memory of them is dropped at once.
const SHRUNK: usize = 1 << 20;

/// The pause before memory is returned: by then, the last users of the large input have dropped it, and the allocator's own delay is over.
const RETURN_AFTER: Duration = Duration::from_secs(5);
/// A block of this size goes to the system directly.
const LARGE_BLOCK: usize = 64 << 20;

/// The most places that one resource is blamed on.
const MOST_PLACES: usize = 8;

/// The resources of one gateway.
#[derive(Debug)]
pub struct Gateway {
    pub id: Arc<str>,
    pub snapshot: Arc<Snapshot>,
    /// Resources that are not sent.
    pub withheld: Vec<Withheld>,
    /// Names of the resources that changed, by the URL of the type.
    pub changed: BTreeMap<Arc<str>, Vec<Arc<str>>>,
}

impl Gateway {
    /// Returns the names of the resources that are not sent, by the URL of their type.
    #[must_use]
    pub fn withheld_names(&self) -> BTreeMap<String, BTreeSet<&str>> {
        let mut out: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for of in &self.withheld {
            out.entry(of.service.type_url()).or_default().insert(&of.name);
        }
        out
    }
}

/// One compile of all inputs.
#[derive(Debug)]
pub struct Build {
    /// The number of the build since the start.
    pub number: u64,
    /// A hash of the resources of this replica's gateways.
    pub version: String,
    pub compilation: Arc<Compilation>,
    /// The gateways of this replica.
    pub gateways: Vec<Gateway>,
    /// The gateways of other replicas, each with its owner. Their Envoy configuration is not built here.
    pub elsewhere: BTreeMap<Arc<str>, Arc<str>>,
    /// Gateways whose controller stops before it configures them, and why. Their Envoys keep their resources.
    pub stopped: Vec<(Arc<str>, String)>,
    /// Dialects whose controller has its defaults, because its own configuration was deleted.
    pub on_defaults: BTreeSet<&'static str>,
    /// The number of inputs.
    pub inputs: usize,
    /// The document for Azure, if an Application Gateway is configured.
    pub plan: Option<Arc<Plan>>,
    /// The name of the Application Gateway that a source reads, if no input configures it.
    pub unplanned: Option<String>,
    /// Names of the parts of an Application Gateway that changed since the build before, by kind.
    pub parts: BTreeMap<String, Vec<String>>,
    /// Findings of files that cannot be read now, with places in the broken files.
    pub unreadable: Vec<Finding>,
    /// The inputs of sources that drafts replace.
    pub beneath: Vec<Input>,
    /// The number of changes of inputs that it contains.
    pub changes: u64,
    /// Names of the inputs that were edited, as many as an event has.
    pub edited: Vec<String>,
    /// The number of errors.
    pub errors: usize,
    /// How long it took.
    pub took: Duration,
    /// How long the first change waited.
    pub waited: Duration,
}

impl Build {
    /// Returns its numbers, for metrics.
    #[must_use]
    pub fn size(&self) -> BuildSize {
        BuildSize { inputs: self.inputs, changes: self.changes, errors: self.errors, took: self.took, waited: self.waited }
    }

    /// Returns all findings, starting with findings of broken files.
    #[must_use]
    pub fn all_findings(&self) -> Vec<Finding> {
        self.unreadable.iter().cloned().chain(findings(&self.compilation, &self.compilation.positions())).collect()
    }

    /// Returns all findings and the findings of `check` at this time in seconds since 1970: certificates expire while
    /// they are served.
    #[must_use]
    pub fn checked(&self, at: i64) -> Vec<Finding> {
        let mut whole = Compilation::clone(&self.compilation);
        check(&mut whole, &Policy { at: Some(at), ..Policy::default() }, &mut EmittedByGateway::default(), &Threads);
        bound_findings(&mut whole);
        self.unreadable.iter().cloned().chain(findings(&whole, &whole.positions())).collect()
    }

    /// Returns all findings, as lines.
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

    /// Returns the names of inputs that only matter if others refer to them, and that nothing refers to.
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

    /// Returns the running gateways with their served names.
    pub fn running(&self) -> impl Iterator<Item = (Arc<str>, GatewayRef<'_>)> {
        self.compilation.gateways().map(|gateway| (name_of(gateway), gateway))
    }

    /// Returns the resources that changed, by list. If there are several gateways, each name has its gateway.
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

/// Compiles, and remembers the last build.
pub struct Builder {
    options: Options,
    replicas: Replicas,
    compiler: Compiler,
    defaults: Defaults,
    gateways: BTreeMap<Arc<str>, Memory>,
    /// The last Application Gateway.
    app_gateway: Option<Arc<AppGateway>>,
    /// Files that could not be read for the last build, and their findings.
    unreadable: Vec<(Unreadable, Vec<Finding>)>,
    /// The size of the inputs of the last build.
    bytes: usize,
    builds: u64,
}

/// The memory of a gateway.
#[derive(Default)]
struct Memory {
    emitted: Emitted,
    snapshot: Option<Arc<Snapshot>>,
    provenance: Option<Arc<Provenance>>,
}

fn new_compiler() -> Compiler {
    Compiler::new(dialect::ALL).with_executor(&Threads)
}

/// Returns the name of the gateway that is read from Azure, if no input is written for an Application Gateway.
fn unplanned(compilation: &Compilation, options: &BTreeMap<&'static str, Str>) -> Option<String> {
    let present = options.get(EXISTING_GATEWAY).filter(|_| compilation.side(ingress::DIALECT.name).is_none())?;
    let document: serde_json::Value = serde_json::from_str(present).ok()?;
    Some(document["name"].as_str().unwrap_or_default().to_owned())
}

impl Builder {
    /// Creates a builder with an empty memory.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let compiler = new_compiler();
        Self {
            options,
            replicas: Replicas::default(),
            compiler,
            defaults: Defaults::default(),
            gateways: BTreeMap::new(),
            app_gateway: None,
            unreadable: Vec::new(),
            bytes: 0,
            builds: 0,
        }
    }

    /// Builds the gateways of this replica only. Findings and statuses still cover all gateways.
    #[must_use]
    pub fn with_replicas(self, replicas: Replicas) -> Self {
        Self { replicas, ..self }
    }

    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Compiles inputs.
    pub fn build(&mut self, drained: Drained) -> Build {
        let begin = Instant::now();
        let waited = drained.since.map(|since| begin.saturating_duration_since(since)).unwrap_or_default();
        let options = self.options_with(&drained.options);
        let mut compilation = self.compiler.compile(&drained.inputs, &options);
        let (on_defaults, with_defaults) = self.defaults.apply(&compilation, &drained.inputs, &options);
        compilation = with_defaults.unwrap_or(compilation);
        let findings = (0..).zip(&drained.not_utf8).filter_map(|(at, wrong)| not_utf8(SourceId(at), wrong));
        compilation.diagnostics.splice(..0, findings.collect::<Vec<_>>());
        let mut errors = compilation.all_diagnostics().filter(|finding| finding.severity == Severity::Error).count();
        bound_findings(&mut compilation);
        let compilation = Arc::new(compilation);
        let view = self.replicas.view();
        let own = compilation.gateways().filter(|gateway| view.owner(&name_of(*gateway)).is_none());
        let mut gateways: Vec<Gateway> = own.map(|gateway| self.gateway(&compilation, gateway, drained.since)).collect();
        let stopped: Vec<(Arc<str>, String)> =
            compilation.stopped().map(|(side, id, failure)| (served_name(&compilation, side.dialect.name, id), failure.error.clone())).collect();
        // A stopped gateway keeps its resources.
        gateways.extend(stopped.iter().filter(|(id, _)| view.owner(id).is_none()).filter_map(|(id, _)| self.kept(id)));
        let elsewhere = elsewhere(&compilation, &stopped, &view);
        self.gateways.retain(|id, _| gateways.iter().any(|gateway| gateway.id == *id));
        let plan = Plan::of(&compilation, &options).map(Arc::new);
        let unplanned = unplanned(&compilation, &drained.options);
        let parts = self.changed_parts(&compilation);
        let unreadable = self.unreadable(drained.unreadable, &options);
        errors += unreadable.len();
        self.forget_if_shrunk(drained.inputs.inputs.iter().map(|input| input.text.len()).sum());
        self.builds += 1;
        Build {
            number: self.builds,
            version: version_of(&gateways, plan.as_deref()),
            plan,
            unplanned,
            parts,
            gateways,
            elsewhere,
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
            on_defaults,
        }
    }

    /// Drops the memory of earlier builds after a large input was removed: otherwise it keeps that input until the next build.
    fn forget_if_shrunk(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.bytes, bytes);
        if bytes < before / 2 && before - bytes > SHRUNK {
            self.compiler = new_compiler();
            self.defaults.forget_inputs();
            self.gateways.values_mut().for_each(|memory| memory.emitted = Emitted::new());
            // Without a thread, the memory stays until the next large block is freed.
            let _ = std::thread::Builder::new().spawn(return_memory);
        }
    }

    /// Returns the findings of broken files. Unchanged files are not checked again.
    fn unreadable(&mut self, files: Vec<Unreadable>, options: &Options) -> Vec<Finding> {
        let mut before = std::mem::take(&mut self.unreadable);
        for file in files {
            let known = before.iter().position(|(known, _)| *known == file).map(|at| before.swap_remove(at));
            self.unreadable.push(known.unwrap_or_else(|| {
                let found = file_errors(&file, options);
                (file, found)
            }));
        }
        self.unreadable.iter().flat_map(|(_, found)| found).cloned().collect()
    }

    /// Returns the options with the sources' own options.
    fn options_with(&self, of_sources: &BTreeMap<&'static str, Str>) -> Options {
        let mut options = self.options.clone();
        for (name, value) in of_sources {
            options.insert(*name, OptionValue::Text(value.clone()));
        }
        options
    }

    /// Returns the parts of an Application Gateway that changed since the build before.
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

    fn gateway(&mut self, compilation: &Arc<Compilation>, gateway: GatewayRef<'_>, changed_at: Option<Instant>) -> Gateway {
        let id = name_of(gateway);
        let memory = self.gateways.entry(id.clone()).or_default();
        let lookup = |reference: &SecretReference| gateway.of().key_material(reference);
        let Encoding { served, withheld, is_as_before } = encode(gateway.ir, Some(&lookup), &mut memory.emitted);
        if let (Some(snapshot), Some(provenance)) = (&memory.snapshot, &memory.provenance)
            && is_as_before
        {
            // Lines may have moved in files without another change: this compilation knows the present places.
            provenance.follow(compilation);
            return Gateway { id, snapshot: snapshot.clone(), withheld, changed: BTreeMap::new() };
        }
        let mut indexes = BTreeMap::new();
        let mut by_service: BTreeMap<Service, Vec<Arc<Encoded>>> = BTreeMap::new();
        for of in served {
            indexes.insert((of.service, of.resource.name.to_string()), of.index);
            by_service.entry(of.service).or_default().push(of.resource);
        }
        indexes.extend(withheld.iter().map(|of| ((of.service, of.name.to_string()), of.index)));
        let before = memory.snapshot.clone().unwrap_or_default();
        // A withheld resource keeps its last version.
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
        snapshot.changed_at = changed_at;
        memory.provenance = Some(provenance);
        let changed = snapshot.changed_from(&before);
        let snapshot = Arc::new(snapshot);
        memory.snapshot = Some(snapshot.clone());
        Gateway { id, snapshot, withheld, changed }
    }
}

/// Returns the errors of a file that cannot be read: the failure itself, and the errors of its text.
fn file_errors(file: &Unreadable, options: &Options) -> Vec<Finding> {
    let bytes = file.bytes.as_deref().unwrap_or_default();
    let (input, not_utf8_at) = Input::from_bytes(file.name.as_str(), bytes.to_vec());
    let mut alone = compile(&Inputs::from(vec![input]), options, dialect::ALL);
    // The rest of the file is not served, so its meaning does not matter.
    alone.sides.clear();
    let start = DiagnosticPlace::Text(SourceId(0), TextRange::empty(0));
    let first = Diagnostic::new(&codes::SYNTAX, file.message.clone(), start);
    alone.diagnostics.retain(|finding| finding.severity == Severity::Error);
    alone.diagnostics.splice(..0, std::iter::once(first).chain(not_utf8(SourceId(0), &not_utf8_at)));
    bound_findings(&mut alone);
    let redactor = alone.redactor();
    let scrubbed = |finding: Finding| Finding { message: redactor.scrub(&finding.message).into_owned(), ..finding };
    findings(&alone, &alone.positions()).into_iter().map(scrubbed).collect()
}

/// Returns the gateways of other replicas, each with its owner.
fn elsewhere(compilation: &Compilation, stopped: &[(Arc<str>, String)], view: &View) -> BTreeMap<Arc<str>, Arc<str>> {
    let all = compilation.gateways().map(name_of).chain(stopped.iter().map(|(id, _)| id.clone()));
    all.filter_map(|id| Some((id.clone(), view.owner(&id)?.clone()))).collect()
}

/// Returns the served name of a gateway.
pub(crate) fn name_of(gateway: GatewayRef<'_>) -> Arc<str> {
    served_name(gateway.compilation, gateway.side.dialect.name, gateway.id)
}

/// Returns the served name of a gateway: its id, after the dialect if two controllers have a gateway of the same id.
fn served_name(compilation: &Compilation, dialect: &str, id: &GatewayId) -> Arc<str> {
    let others = compilation.sides.iter().filter(|side| side.dialect.name != dialect);
    if others.flat_map(|side| &side.gateways).any(|other| other.id == *id) {
        return Arc::from(format!("{dialect}:{id}"));
    }
    Arc::from(id.as_str())
}

/// Whether these resources are the known ones, each the same shared value.
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

/// Makes the allocator return free memory to the system. mimalloc does that when it frees a large block; a server without changes would never free
/// one. Tried with mimalloc 2: without this, most of the memory of a removed input of 10 MB stays.
fn return_memory() {
    std::thread::sleep(RETURN_AFTER);
    drop(std::hint::black_box(vec![1u8; LARGE_BLOCK]));
}

/// Knows the places that made the resources of a build. The output map is made when it is first needed.
struct Provenance {
    /// The last compile with this state of the gateway.
    compilation: Mutex<Arc<Compilation>>,
    gateway: Arc<str>,
    /// The place of each resource in its list.
    indexes: BTreeMap<(Service, String), usize>,
    map: OnceLock<OutputMap>,
}

impl Provenance {
    /// Notes a later compile with the same gateway, which knows the present places.
    fn follow(&self, compilation: &Arc<Compilation>) {
        *lock(&self.compilation) = compilation.clone();
    }

    fn origins<'a>(map: &'a OutputMap, resource: &str, field: Option<&str>) -> Vec<&'a Origin> {
        let real = |origins: &'a [Origin]| origins.iter().filter(|origin| origin.object() != ObjectId::BUILT_IN).collect::<Vec<_>>();
        let below = |pointer: &str| map.descendants(pointer).into_iter().flat_map(|made| real(made.origins)).collect::<Vec<_>>();
        // The field itself, then its parts, then what it is a part of.
        let of_field = field.map(|field| format!("{resource}{field}"));
        let near = of_field.iter().flat_map(|field| {
            let own = map.get(field).map(real).unwrap_or_default();
            let around = map.chain(field).map(|made| real(made.origins)).collect::<Vec<_>>();
            [own, below(field)].into_iter().chain(around)
        });
        let own = map.get(resource).map(real);
        let found = near.chain(own).find(|origins| !origins.is_empty());
        found.unwrap_or_else(|| below(resource))
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

    fn line_inside(&self, field: &Place, line: u32) -> Option<Place> {
        let compilation = lock(&self.compilation).clone();
        line_of_block(field, line, &compilation.positions())
    }
}

/// Returns the place of a line, from 1, of a block scalar (`lua: |`) whose key is at this place.
fn line_of_block(key: &Place, line: u32, positions: &Positions<'_>) -> Option<Place> {
    let source = positions.source(&key.file)?;
    let text_of = |line: u32| {
        let range = positions.lines(source)?.line_range(line.checked_sub(1)?)?;
        positions.text(source).get(range.start as usize..range.end as usize)
    };
    let indent = |text: &str| text.len() - text.trim_start().len();
    let header = text_of(key.line)?;
    let is_block = header.split_whitespace().next_back().is_some_and(|end| end.starts_with('|'));
    let inside = text_of(key.line.checked_add(line)?).filter(|text| is_block && indent(text) > indent(header))?;
    Some(Place { line: key.line + line, column: indent(inside) as u32 + 1, ..key.clone() })
}

/// Returns the events of withheld resources, with the places that made them.
pub fn withheld_events(gateway: &Gateway) -> impl Iterator<Item = crate::event::Event> + '_ {
    let places = move |of: &Withheld| {
        let blame = gateway.snapshot.blame.as_ref();
        blame.map(|blame| blame.places(&of.service.type_url(), &of.name, of.field().as_deref())).unwrap_or_default()
    };
    let event = move |of: &Withheld| crate::event::Event::Withheld {
        r#type: of.service.type_url(),
        resource: of.name.to_string(),
        message: of.reason(),
        places: places(of),
        gateway: gateway.id.to_string(),
    };
    gateway.withheld.iter().map(event)
}
