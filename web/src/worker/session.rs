//! The worker's state between questions: the compiler's memory, the last compile, and the viewed documents. Does not write answers; see `tree`,
//! `thread` and the other modules.

use crate::languages::{inputs, is_detected, requested};
use crate::protocol::{
    Answer, Compiled, Doc, GraphFocus, Named, Other, Part, Question, Rows, SelectionDetails, Spot, Target, Way, Work, WrittenRequest,
};
use crate::worker::common::{PageFinding, changes_direction, in_its_order, options, page_findings, unsupported};
use crate::worker::compare::{Changes, Loaded, Proxies};
use crate::worker::configs::Configs;
use crate::worker::drawing;
use crate::worker::migration::migration;
use crate::worker::option_panel;
use crate::worker::reach::{self, Reach};
use crate::worker::request;
use crate::worker::routes;
use crate::worker::selection;
use crate::worker::share;
use crate::worker::tree::{Folding, Tree};
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::check::check;
use chancery_core::compilation::{AppGatewayRef, Compilation, Dialect, GatewayRef, NginxRef, Options, SideRef};
use chancery_core::compile::{Compiler, ENVOY, is_envoy_config};
use chancery_core::diagnostic::Policy;
use chancery_core::dialect;
use chancery_core::envoy_config::{ByPointer, EnvoyConfig};
use chancery_core::explain::{
    self, Completions, Lineage, Positions, RequestTests, ResourceRef, RouteRow, RouteRows, RunningGateway, ServiceNames, View, Viewed,
    app_gateway_routes, app_gateway_sample_request, complete, count_clusters, count_routes, graph, hover, ledger, nginx_routes, nginx_sample_request,
    routes as route_rows, sample_request,
};
use chancery_core::ir::Cluster;
use chancery_core::redact::Redactor;
use chancery_core::resource::SourceId;
use chancery_core::simulate::{SavedRequest, Verdict};
use chancery_core::text::{Node, Object, Value, to_json, to_yaml};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// For inputs with more objects, the session computes views again instead of keeping them: a worker's memory never shrinks.
const KEPT_OBJECTS: usize = 8_000;

pub struct Session {
    dialects: &'static [&'static Dialect],
    compiler: Compiler,
    compilation: Compilation,
    /// The indexes of the shown side and of its shown gateway.
    shown: (usize, usize),
    /// The options of the last compile.
    options: Options,
    /// The options to export. They name a dialect only if the user chose it, or if detection does not find it.
    shared: Options,
    /// The Envoy configurations that were needed so far.
    configs: Configs,
    /// Removes credentials from answers.
    redactor: Redactor,
    /// The configuration of all Envoys, if it was compared.
    proxies: Option<Proxies>,
    /// The last state that was compared.
    other: Option<Loaded>,
    trees: BTreeMap<Doc, Tree>,
    /// Which objects produced the Envoy configuration. Only if the configuration is not in `trees`.
    map: Option<Arc<OutputMap>>,
    /// The folding of the previous compile's documents. The same rows stay folded.
    before: BTreeMap<Doc, Folding>,
    selected: Option<Target>,
    /// The whole graph, if it was needed.
    graph: Option<explain::Graph>,
    /// The overview of the graph. It also names the steps of requests.
    overview: Option<explain::Graph>,
    /// The number of each route in the list of routes, by pointer, if it was needed.
    numbers: Option<HashMap<String, u32>>,
    /// The box of the last drawing that represents each joined box.
    joined: HashMap<String, String>,
    /// The top of each box in the last drawing. Existing boxes keep their order.
    tops: BTreeMap<String, i32>,
}

impl Session {
    pub fn new(dialects: &'static [&'static Dialect]) -> Self {
        Self {
            dialects,
            compiler: Compiler::new(dialects).without_statuses(),
            compilation: Compilation::default(),
            shown: (0, 0),
            options: Options::default(),
            shared: Options::default(),
            configs: Configs::default(),
            proxies: None,
            other: None,
            trees: BTreeMap::new(),
            map: None,
            before: BTreeMap::new(),
            selected: None,
            graph: None,
            overview: None,
            numbers: None,
            joined: HashMap::new(),
            tops: BTreeMap::new(),
            redactor: Default::default(),
        }
    }
}

fn fine<T: Serialize>(answer: &T) -> String {
    let mut out = Vec::with_capacity(128);
    let written = serde_json::to_writer(&mut out, &Answer::Fine(answer));
    answered(out, written)
}

/// The JSON that was written, or a refusal if writing failed. Separate from `fine`, which is compiled once per type of answer.
fn answered(out: Vec<u8>, written: serde_json::Result<()>) -> String {
    match written {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(error) => refused(&error.to_string()),
    }
}

fn refused(why: &str) -> String {
    serde_json::to_string(&Answer::<()>::Refused(why.into())).unwrap_or_default()
}

/// The documentation page of a finding code, in Markdown.
fn code_page(code: &str) -> Option<&'static str> {
    dialect::code(code).map(|code| code.page)
}

fn answer_result<T: Serialize>(answer: &Result<T, String>) -> String {
    match answer {
        Ok(answer) => fine(answer),
        Err(why) => refused(why),
    }
}

/// The gateway at these indexes, if it runs.
fn gateway_at(compilation: &Compilation, (side, at): (usize, usize)) -> Option<GatewayRef<'_>> {
    let side = compilation.sides().nth(side)?;
    let id = &side.side.gateways.get(at)?.id;
    side.gateways().find(|gateway| gateway.id == id)
}

/// The Application Gateway at these indexes.
fn app_gateway_at(compilation: &Compilation, (side, at): (usize, usize)) -> Option<AppGatewayRef<'_>> {
    let side = compilation.sides().nth(side)?;
    let id = &side.side.gateways.get(at)?.id;
    side.app_gateways().find(|gateway| gateway.named.id == id)
}

/// The nginx at these indexes.
fn nginx_at(compilation: &Compilation, (side, at): (usize, usize)) -> Option<NginxRef<'_>> {
    let side = compilation.sides().nth(side)?;
    let id = &side.side.gateways.get(at)?.id;
    side.nginxes().find(|gateway| gateway.named.id == id)
}

/// The number of routes and of clusters or pools in all gateways.
fn counts(compilation: &Compilation) -> (usize, usize) {
    let of_envoys = compilation.gateways().map(|gateway| (count_routes(gateway), count_clusters(gateway)));
    let pools = |gateway: AppGatewayRef<'_>| gateway.parts.properties.as_ref().and_then(|of| of.pools.as_ref()).map_or(0, Vec::len);
    let of_others = compilation.app_gateways().map(|gateway| (app_gateway_routes(gateway).len(), pools(gateway)));
    let of_nginxes = compilation.nginxes().map(|gateway| (nginx_routes(gateway).len(), gateway.nginx.upstreams.len()));
    of_envoys.chain(of_others).chain(of_nginxes).fold((0, 0), |(routes, clusters), (more, others)| (routes + more, clusters + others))
}

/// The indexes of the requested gateway, or of the first gateway.
fn shown(compilation: &Compilation, dialect: Option<&str>, gateway: Option<&str>) -> (usize, usize) {
    let side = compilation.sides.iter().position(|side| Some(side.dialect.name) == dialect).unwrap_or_default();
    let gateways = compilation.sides.get(side).map(|side| side.gateways.as_slice()).unwrap_or_default();
    (side, gateways.iter().position(|of| Some(of.id.as_str()) == gateway).unwrap_or_default())
}

impl Session {
    /// Answers a question. Both are JSON.
    pub fn answer(&mut self, question: Vec<u8>) -> String {
        let question = String::from_utf8(question).unwrap_or_default();
        let read = serde_json::from_str(&question);
        drop(question);
        match read {
            Ok(question) => {
                // Exported and imported work belongs to the user and keeps its credentials.
                let is_own = matches!(question, Question::Share(_) | Question::Keep(_) | Question::Open(_));
                let is_file = matches!(question, Question::Text { .. } | Question::Tests(_));
                let answer = self.dispatch(question);
                match (is_own, is_file) {
                    (true, _) => answer,
                    (_, true) => self.scrubbed(answer),
                    _ => in_its_order(self.scrubbed(answer)),
                }
            }
            Err(error) => refused(&format!("invalid question: {error}")),
        }
    }

    /// Removes the credentials of the compiled work from an answer.
    fn scrubbed(&self, answer: String) -> String {
        let redactor = core::iter::once(&self.redactor).chain(self.other.iter().map(Loaded::redactor));
        redactor.fold(answer, |answer, redactor| match redactor.scrub(&answer) {
            Cow::Owned(scrubbed) => scrubbed,
            Cow::Borrowed(_) => answer,
        })
    }

    /// Whether views of the compile need much memory.
    fn is_large(&self) -> bool {
        self.compilation.objects.len() > KEPT_OBJECTS
    }

    fn dispatch(&mut self, question: Question) -> String {
        let is_about_requests = match &question {
            Question::Try(_) | Question::Suggest(_) | Question::Suggestions | Question::Destinations | Question::Judge(_) => true,
            Question::Routes(filter) => routes::request_of(filter).is_some(),
            _ => false,
        };
        if self.is_large() && !is_about_requests {
            self.configs = Configs::default();
        }
        match question {
            Question::Hello => fine(&()),
            Question::Compile(work) => answer_result(&self.compile(&work)),
            Question::Rows { .. } | Question::Form { .. } | Question::Toggle { .. } | Question::Fold { .. } | Question::Find { .. } => {
                self.about_tree(question)
            }
            Question::Graph(_) | Question::Picture(_) | Question::Seek { .. } => self.about_graph(question),
            Question::Try(_) | Question::Curl(_) | Question::Suggest(_) => self.about_requests(question),
            Question::Suggestions | Question::Destinations | Question::Judge(_) | Question::Tests(_) => self.about_requests(question),
            Question::WhyNot { target, request } => fine(&self.why_not(&target, &request)),
            Question::Select(target) => {
                self.selected = Some(target);
                fine(&self.selection())
            }
            Question::Release => {
                self.selected = None;
                self.trees.values_mut().for_each(|tree| {
                    let _ = tree.light(&[]);
                });
                fine(&SelectionDetails::default())
            }
            Question::Routes(filter) => {
                self.overview();
                let Self { compilation, configs, shown, overview, .. } = self;
                let mut found = routes::Finder { compilation, configs, shown: *shown, overview: overview.get_or_insert_default() }.find(&filter);
                found.verdict = self.with_router(|router| router.first_good(routes::requests_of(&filter)));
                fine(&found)
            }
            Question::Parts => fine(&self.parts()),
            Question::Ledger => fine(&ledger(&self.compilation, &self.positions())),
            Question::Hover(spot) => fine(&self.hover(spot)),
            Question::Complete { spot, text } => fine(&self.complete(&spot, &text)),
            Question::Text { doc, yaml } => {
                let root = self.tree(doc).root();
                fine(&if yaml { to_yaml(root) } else { to_json(root, true) })
            }
            Question::Share(sharing) => fine(&share::shared(&self.compilation, &self.shared, &sharing)),
            Question::Keep(kept) => fine(&share::kept(kept)),
            Question::Open(text) => answer_result(&share::opened(&text)),
            Question::Compare(other) => answer_result(&self.compare(other)),
            Question::Move(to) => answer_result(&migration(&self.compilation.inputs, &self.options, to)),
            Question::Options => fine(&option_panel::panel(&self.options, &self.dialects())),
            Question::SetOptions(fields) => answer_result(&option_panel::changed(&self.options, &fields, self.dialects)),
            Question::CodePage(code) => fine(&code_page(&code)),
        }
    }

    /// Answers questions about a document as a tree.
    fn about_tree(&mut self, question: Question) -> String {
        let doc = match question {
            Question::Rows { doc, from, count } => return fine(&self.rows(doc, from, count)),
            Question::Find { doc, text, after, back } => return fine(&self.tree(doc).find(&text, after, back)),
            Question::Form { doc, form } => {
                self.tree(doc).write(form);
                doc
            }
            Question::Toggle { doc, node } => {
                self.tree(doc).toggle(node);
                doc
            }
            Question::Fold { doc, open } => {
                self.tree(doc).fold(open);
                doc
            }
            _ => return refused("this question is not about a document"),
        };
        fine(&self.rows(doc, 0, 0))
    }

    /// Answers questions about the graph.
    fn about_graph(&mut self, question: Question) -> String {
        match question {
            Question::Graph(focus) => {
                let graph = self.at_level(&focus);
                fine(&drawing::draw(graph, &focus, &mut self.tops, &mut self.joined))
            }
            Question::Picture(focus) => {
                let graph = self.at_level(&focus);
                fine(&drawing::picture_of(graph, &focus, self.tops.clone()))
            }
            Question::Seek { text, focus } => {
                let graph = self.at_level(&focus);
                fine(&drawing::seek(graph, &focus, &text))
            }
            _ => refused("this question is not about the graph"),
        }
    }

    /// Answers questions about requests.
    fn about_requests(&mut self, question: Question) -> String {
        match question {
            Question::Try(written) => answer_result(&self.way(&written)),
            Question::Curl(text) => match WrittenRequest::is_curl(&text) {
                true => answer_result(&WrittenRequest::from_curl(&text).map(Some)),
                false => fine(&None::<WrittenRequest>),
            },
            Question::Suggest(pointer) => fine(&match (self.app_gateway(), self.nginx()) {
                (Some(gateway), _) => app_gateway_sample_request(&app_gateway_routes(gateway), Some(&pointer)),
                (None, Some(gateway)) => nginx_sample_request(&nginx_routes(gateway), Some(&pointer)),
                (None, None) => {
                    let config = self.envoy_config();
                    sample_request(&|| self.routes(), Some(&pointer), &ByPointer::of(&config))
                }
            }),
            Question::Suggestions => fine(&self.with_router(|router| router.suggestions())),
            Question::Destinations => fine(&self.with_router(|router| router.destinations())),
            Question::Judge(saved) => fine(&self.judge(&saved)),
            Question::Tests(saved) => fine(&RequestTests::write(&saved)),
            _ => refused("this question is not about a request"),
        }
    }

    fn hover(&mut self, spot: Spot) -> Option<serde_json::Value> {
        let found = self.spot(&spot).and_then(|(source, offset)| hover(&self.compilation, &self.positions(), source, offset))?;
        let makes = self.makes(spot);
        Some(serde_json::json!({ "found": found, "makes": makes }))
    }

    fn complete(&self, spot: &Spot, text: &str) -> Completions {
        let lines = chancery_core::text::LineIndex::new(text);
        let offset = lines.offset_utf16(text, spot.line.saturating_sub(1), spot.column).unwrap_or_default();
        let mut found = complete(&self.compilation, &self.dialects(), text, offset);
        found.from = lines.position(text, found.from).column_utf16;
        found
    }

    /// Routes and clusters by name.
    fn parts(&self) -> Vec<Part> {
        let written = self.routes().filter(|row| !row.made_by.is_empty());
        let route = |row: RouteRow| {
            let detail = format!("route of {} at {}", row.domains.join(", "), row.address);
            Part { sort: "route".into(), label: row.path, detail, pointer: row.pointer }
        };
        let clusters = self.gateway().into_iter().flat_map(|gateway| gateway.ir.clusters.iter().enumerate());
        let cluster = |(at, cluster): (usize, &Arc<Cluster>)| Part {
            sort: "cluster".into(),
            label: cluster.name.value.to_string(),
            detail: "cluster".into(),
            pointer: format!("/static_resources/clusters/{at}"),
        };
        written.map(route).chain(clusters.map(cluster)).collect()
    }

    /// The configuration of the shown Envoy.
    fn envoy_config(&mut self) -> Arc<EnvoyConfig> {
        let ir = self.gateway().map(|gateway| gateway.ir.clone());
        ir.map(|ir| self.configs.of(&ir)).unwrap_or_default()
    }

    /// Answers with a router of the shown gateway, if it runs.
    fn with_router<T: Default>(&mut self, answer: impl FnOnce(&request::Router<'_>) -> T) -> T {
        self.overview();
        if self.numbers.is_none() && !self.is_large() {
            let names = self.overview.as_ref().map(ServiceNames::of);
            self.numbers = names.zip(self.gateway()).map(|(names, gateway)| routes::numbers(route_rows(gateway), &names));
        }
        let (config, map) = (self.envoy_config(), self.map(Doc::Envoy));
        let (Some(shown), Some(overview)) = (self.running(), &self.overview) else { return T::default() };
        let numbers = self.numbers.as_ref();
        answer(&request::Router { shown, positions: &self.positions(), config: &config, map: &map, overview, numbers })
    }

    fn way(&mut self, written: &WrittenRequest) -> Result<Way, String> {
        let mut way = self.with_router(|router| Some(router.way(written))).unwrap_or_else(|| Ok(Way::default()))?;
        if !self.is_large() {
            self.whole_graph();
            if let (Some(whole), Some(overview)) = (&self.graph, &self.overview) {
                way.parts = explain::parts_on_path(whole, overview, &way.nodes);
            }
        }
        Ok(way)
    }

    fn judge(&mut self, saved: &[SavedRequest]) -> Vec<Verdict> {
        self.with_router(|router| router.judge(saved))
    }

    fn why_not(&mut self, target: &Target, request: &WrittenRequest) -> Option<Reach> {
        let resources = self.core_thread(target).resources(&self.compilation);
        let again = reach::Again { dialects: self.dialects, options: &self.options };
        let mut reach = reach::reach(&self.compilation, self.side()?, &resources, &again)?;
        let object = resources.first().and_then(|of| reach::id_of(self.side()?, of));
        reach.request = object.map(|object| self.with_router(|router| router.contributions(request, object))).unwrap_or_default();
        Some(reach)
    }

    /// The overview of the graph.
    fn overview(&mut self) -> &explain::Graph {
        if self.overview.is_none() {
            self.overview = Some(drawing::written_overview(self.whole_graph()));
            if self.is_large() {
                self.graph = None;
            }
        }
        self.overview.get_or_insert_default()
    }

    fn compare(&mut self, other: Other) -> Result<Changes, String> {
        let loaded = match self.other.take().filter(|loaded| loaded.is(&other)) {
            Some(loaded) => loaded,
            None => Loaded::new(other, &self.options, self.dialects, &mut self.compiler)?,
        };
        let now = self.proxies.get_or_insert_with(|| Proxies::new(self.compilation.clone(), &mut self.compiler.emitted, &mut self.configs));
        let shown = gateway_at(&self.compilation, self.shown);
        let is_shown = |of: GatewayRef<'_>| shown.is_some_and(|shown| shown.id == of.id && shown.side.dialect == of.side.dialect);
        let shown = self.compilation.gateways().position(is_shown);
        Ok(self.other.insert(loaded).compare(now, shown))
    }

    /// The shown gateway, if it is an Envoy that runs.
    fn gateway(&self) -> Option<GatewayRef<'_>> {
        gateway_at(&self.compilation, self.shown)
    }

    /// The shown gateway, if it is an Application Gateway.
    fn app_gateway(&self) -> Option<AppGatewayRef<'_>> {
        app_gateway_at(&self.compilation, self.shown)
    }

    /// The shown gateway, if it is an nginx.
    fn nginx(&self) -> Option<NginxRef<'_>> {
        nginx_at(&self.compilation, self.shown)
    }

    /// The shown gateway, if it runs.
    fn running(&self) -> Option<RunningGateway<'_>> {
        let of_envoy = self.gateway().map(RunningGateway::Envoy);
        of_envoy.or_else(|| self.app_gateway().map(RunningGateway::AppGateway)).or_else(|| self.nginx().map(RunningGateway::Nginx))
    }

    /// The side of the shown gateway.
    fn side(&self) -> Option<SideRef<'_>> {
        self.compilation.sides().nth(self.shown.0)
    }

    /// The shown dialect, as a list.
    fn dialects(&self) -> Vec<&'static Dialect> {
        self.side().map(SideRef::dialect).into_iter().collect()
    }

    /// The routes of the shown gateway, created one by one.
    fn routes(&self) -> RouteRows<'_> {
        let of_app_gateway = || self.app_gateway().map(app_gateway_routes).unwrap_or_default();
        let of_nginx = || self.nginx().map(nginx_routes).unwrap_or_default();
        self.gateway().map_or_else(|| Box::new(of_app_gateway().into_iter().chain(of_nginx())) as RouteRows<'_>, route_rows)
    }

    fn positions(&self) -> Positions<'_> {
        self.compilation.positions()
    }

    fn spot(&self, spot: &Spot) -> Option<(SourceId, u32)> {
        let positions = self.positions();
        let source = positions.source(&spot.file)?;
        let offset = positions.offset_utf16(source, spot.line, spot.column)?;
        Some((source, offset))
    }

    /// The parts of Envoy's configuration that a line produces.
    fn makes(&mut self, spot: Spot) -> Vec<String> {
        let core = self.core_thread(&Target::Line { file: spot.file, line: spot.line });
        // A hint must not build a document of hundreds of megabytes.
        if self.is_large() && !self.trees.contains_key(&Doc::Envoy) {
            let map = self.map(Doc::Envoy);
            return selection::counts(&core, &self.compilation, &map).into_iter().collect();
        }
        self.tree(Doc::Envoy);
        self.trees.get(&Doc::Envoy).map(|tree| selection::makes(&core, &self.compilation, tree)).unwrap_or_default()
    }

    /// Drops the last compile and its views. Otherwise both compiles would need memory at the same time. The compiler keeps its own memory.
    fn drop_last_compile(&mut self) {
        self.compilation = Compilation::default();
        self.before.extend(core::mem::take(&mut self.trees).into_iter().map(|(doc, tree)| (doc, tree.folding())));
        self.map = None;
        self.graph = None;
        self.overview = None;
        self.numbers = None;
        self.configs = Configs::default();
        self.proxies = None;
    }

    fn compile(&mut self, work: &Work) -> Result<Compiled<Vec<PageFinding>>, String> {
        let start = js_sys::Date::now();
        let inputs = inputs(&work.files);
        let wanted = requested(&inputs, work);
        self.options = options(work, wanted, self.dialects)?;
        self.drop_last_compile();
        let is_chosen = work.chosen || !is_detected(&inputs, wanted);
        self.shared = if is_chosen { self.options.clone() } else { self.options.clone().of_any_dialect() };
        // Compiles an input of several dialects for each of them. The page shows one dialect, and the findings of all.
        let mut compilation = match &work.files[..] {
            [one] if is_envoy_config(&one.text) => Compiler::new(&[&ENVOY]).without_memory().compile(&inputs, &Options::default()),
            _ => self.compiler.compile(&inputs, &self.options.clone().of_any_dialect()),
        };
        let is_envoy = compilation.sides.iter().any(|side| side.dialect.name == ENVOY.name);
        if wanted.is_some_and(|wanted| !is_envoy && compilation.side(wanted).is_none()) {
            compilation = self.compiler.compile(&inputs, &self.options);
        }
        let policy = Policy { at: self.options.findings.at.or(Some((start / 1000.0) as i64)), ..self.options.findings.clone() };
        let executor = self.compiler.executor();
        check(&mut compilation, &policy, &mut self.compiler.emitted, executor);
        let (found, groups) = page_findings(&compilation);
        self.redactor = compilation.redactor();
        self.shown = shown(&compilation, wanted, work.gateway.as_deref());
        self.compilation = compilation;
        let took = js_sys::Date::now() - start;
        let (compilation, positions) = (&self.compilation, self.positions());
        let names = compilation.objects.iter().filter_map(|object| {
            let span = positions.object(object.id)?;
            Some(Named { label: ResourceRef::from(&object.key).to_string(), file: span.file.to_string(), line: span.line })
        });
        let unsupported = unsupported(compilation);
        let counts = if unsupported.is_some() { (0, 0) } else { counts(compilation) };
        Ok(Compiled {
            dialect: self.side().map(|side| side.dialect().name.into()).unwrap_or_default(),
            unsupported,
            read_as: compilation.sides.iter().map(|side| side.dialect.controller.into()).collect(),
            gateway: self.gateway_names().get(self.shown.1).cloned().unwrap_or_default(),
            gateways: self.gateway_names(),
            stopped: compilation
                .stopped()
                .map(|(side, _, failure)| format!("{} does not start: {}", side.dialect.controller, failure.error))
                .collect(),
            resources: compilation.objects.len(),
            routes: counts.0,
            clusters: counts.1,
            output: match (self.app_gateway(), self.nginx()) {
                (Some(_), _) => "Gateway",
                (None, Some(_)) => "nginx",
                (None, None) => "Envoy",
            }
            .into(),
            took,
            names: names.collect(),
            kept: share::kept_if_small(&work.files).filter(|files| !files.iter().any(|file| file.text.contains(changes_direction))),
            findings: found,
            groups,
        })
    }

    /// The ids of the gateways of the shown side.
    fn gateway_names(&self) -> Vec<String> {
        self.side().map(|of| of.side.gateways.iter().map(|gateway| gateway.id.to_string()).collect()).unwrap_or_default()
    }

    fn whole_graph(&mut self) -> &explain::Graph {
        let graph = self.graph.take().unwrap_or_else(|| graph(&self.compilation, &self.positions()));
        self.graph.insert(graph)
    }

    /// The graph at the requested level of detail.
    fn at_level(&mut self, focus: &GraphFocus) -> explain::Graph {
        let graph = if drawing::is_written_overview(focus) { self.overview().clone() } else { drawing::at_level(self.whole_graph(), focus) };
        // Envoy's own configuration has no resources to show in an overview. For unsupported input, the controller's own parts would mislead.
        match graph.nodes.is_empty() && !focus.envoy_parts && unsupported(&self.compilation).is_none() {
            true => drawing::at_level(self.whole_graph(), &GraphFocus { envoy_parts: true, ..focus.clone() }),
            false => graph,
        }
    }

    /// A document, built when it is first needed.
    pub fn tree(&mut self, doc: Doc) -> &mut Tree {
        let Self { compiler, compilation, trees, before, shown, .. } = self;
        trees.entry(doc).or_insert_with(|| {
            let (gateway, side) = (gateway_at(compilation, *shown), compilation.sides().nth(shown.0));
            let document = match (doc, gateway) {
                (Doc::Envoy, Some(gateway)) => {
                    let viewed = Viewed::new(gateway.ir, View::Envoy, compiler.emitted.of(gateway));
                    Some((viewed.root, viewed.map))
                }
                (Doc::Envoy, None) => {
                    let of_nginx = || nginx_at(compilation, *shown).map(|gateway| Viewed::nginx(gateway.nginx));
                    let viewed = app_gateway_at(compilation, *shown).map(|gateway| Viewed::app_gateway(gateway.parts)).or_else(of_nginx);
                    viewed.map(|viewed| (viewed.root, viewed.map))
                }
                (Doc::Ir, Some(gateway)) => Some(explain::dump(gateway.ir)),
                (Doc::Config, _) => side.map(explain::dump_config),
                (Doc::Ir, None) => None,
            };
            let (root, map) = document.unwrap_or_else(|| (Node::synthesised(Value::Object(Object::new())), OutputMap::default()));
            let tree = Tree::new(root, Arc::new(map));
            match before.remove(&doc) {
                Some(before) => tree.like(&before),
                None => tree,
            }
        })
    }

    /// Which objects produced a document. Does not build the document of an Envoy.
    fn map(&mut self, doc: Doc) -> Arc<OutputMap> {
        if let Some(tree) = self.trees.get(&doc) {
            return tree.map().clone();
        }
        let Self { compiler, compilation, shown, .. } = self;
        let gateway = gateway_at(compilation, *shown).filter(|_| doc == Doc::Envoy);
        let Some(gateway) = gateway else { return self.tree(doc).map().clone() };
        let make = || Arc::new(envoy::v3::output_map(gateway.ir, &envoy::Options::default(), compiler.emitted.of(gateway)));
        self.map.get_or_insert_with(make).clone()
    }

    /// The core's thread of a target. For a large input, leaves out the IR unless the user opened it.
    fn core_thread(&mut self, target: &Target) -> Lineage {
        match target {
            Target::Line { file, line } => {
                let mut maps = vec![self.map(Doc::Envoy)];
                if !self.is_large() || self.trees.contains_key(&Doc::Ir) {
                    maps.push(self.map(Doc::Ir));
                }
                let source = self.positions().source(file);
                let maps: Vec<&OutputMap> = maps.iter().map(|map| &**map).collect();
                source.and_then(|source| Lineage::of_line(&self.compilation, source, *line, &maps)).unwrap_or_default()
            }
            Target::Place { doc, pointer } => Lineage::of_place(&self.map(*doc), pointer),
            Target::Row { doc, node } => self.trees.get(doc).map(|tree| Lineage::of_place(tree.map(), &tree.pointer(*node))).unwrap_or_default(),
        }
    }

    fn rows(&mut self, doc: Doc, from: u32, count: u32) -> Rows {
        let is_new = !self.trees.contains_key(&doc);
        self.tree(doc);
        // Highlights an earlier selection in a new document.
        if let Some(target) = self.selected.clone().filter(|_| is_new) {
            let core = self.core_thread(&target);
            if let Some(tree) = self.trees.get_mut(&doc) {
                let _ = tree.light(&selection::places(&target, &core, &self.compilation, doc, Some(tree), tree.map()));
            }
        }
        match self.trees.get(&doc) {
            Some(tree) => self.side().map(|side| tree.rows(from, count, side)).unwrap_or_default(),
            None => Rows::default(),
        }
    }

    fn selection(&mut self) -> SelectionDetails {
        let Some(target) = self.selected.clone() else { return SelectionDetails::default() };
        // The document contains the names for a place.
        if let Target::Place { doc, .. } = &target {
            self.tree(*doc);
        }
        if !self.is_large() {
            self.tree(Doc::Envoy);
            self.tree(Doc::Ir);
        }
        let core = self.core_thread(&target);
        let map = self.map(Doc::Envoy);
        let mut details = self.side().map(|side| selection::describe_selection(&target, &core, side, &self.trees)).unwrap_or_default();
        let mut rows = Vec::new();
        for (doc, tree) in &mut self.trees {
            let pointers = selection::places(&target, &core, &self.compilation, *doc, Some(tree), tree.map());
            if let Some(row) = tree.light(&pointers) {
                rows.push((*doc, row));
            }
        }
        details.envoy = selection::places(&target, &core, &self.compilation, Doc::Envoy, self.trees.get(&Doc::Envoy), &map);
        self.overview();
        self.whole_graph();
        if let (Some(graph), Some(overview)) = (&self.graph, &self.overview) {
            (details.nodes, details.groups) = drawing::boxes_of_selection(graph, overview, &self.compilation, &core);
            details.facts.extend(explain::callers(overview, &details.nodes));
            for (node, group) in details.nodes.iter().zip(&mut details.groups) {
                self.joined.get(node).into_iter().for_each(|joined| group.clone_from(joined));
            }
        }
        if self.is_large() {
            self.graph = None;
        }
        details.rows = rows;
        details
    }
}
