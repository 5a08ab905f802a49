//! What the worker keeps between questions: the compiler's memory, the last compile, and the documents that were looked at.
//!
//! What must not be here: how a document becomes rows (`tree`), what belongs to a selection (`thread`), and how other answers are put.

use crate::languages::{inputs, is_found, needed};
use crate::protocol::{Answer, Compiled, Doc, GraphFocus, Named, Other, Part, Question, Rows, Spot, Target, Thread, Way, Work, WrittenRequest};
use crate::worker::app_gateway;
use crate::worker::common::{Told, in_its_order, options, told, turns};
use crate::worker::compare::{Changes, Loaded, Proxies};
use crate::worker::configs::Configs;
use crate::worker::drawing;
use crate::worker::reach::{self, Reach};
use crate::worker::request;
use crate::worker::routes;
use crate::worker::share;
use crate::worker::thread;
use crate::worker::tree::{Folding, Tree};
use chancery_core::backend::{OutputMap, envoy};
use chancery_core::check::check;
use chancery_core::compilation::{AppGatewayRef, Compilation, Dialect, GatewayRef, Options, SideRef};
use chancery_core::compile::Compiler;
use chancery_core::diagnostic::Policy;
use chancery_core::envoy_config::{ByPointer, EnvoyConfig};
use chancery_core::explain::{
    self, Completions, Positions, RequestTests, ResourceRef, RouteRow, RouteRows, Thread as CoreThread, TracedGateway, View, Viewed, asking,
    asking_app_gateway, completions, count_clusters, count_routes, graph, hover, ledger, routes as route_rows, routes_of_app_gateway,
};
use chancery_core::ir::Cluster;
use chancery_core::redact::Redactor;
use chancery_core::resource::SourceId;
use chancery_core::simulate::{Gateway, SavedRequest, Verdict};
use chancery_core::text::{Node, Object, Value, to_json, to_yaml};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Of more objects than this, what only other questions need is made again for them and not kept: a worker's memory never shrinks.
const KEPT_OBJECTS: usize = 8_000;

/// The worker's memory.
pub struct Session {
    /// The dialects of this worker.
    dialects: &'static [&'static Dialect],
    compiler: Compiler,
    compilation: Compilation,
    /// The gateway that is shown: its side and its place there.
    shown: (usize, usize),
    /// What it was compiled with.
    options: Options,
    /// The same for others: with a dialect only where a person chose it, or where the input does not say.
    shared: Options,
    /// What Envoys get of it, as far as it was needed.
    configs: Configs,
    /// What no answer may have.
    redactor: Redactor,
    /// What all Envoys get of it, when it was compared.
    proxies: Option<Proxies>,
    /// What was compared with last.
    other: Option<Loaded>,
    trees: BTreeMap<Doc, Tree>,
    /// Which objects made what Envoy gets, where it is not there as a tree.
    map: Option<Arc<OutputMap>>,
    /// How documents of the compile before were folded: what is folded in them stays so.
    before: BTreeMap<Doc, Folding>,
    selected: Option<Target>,
    /// The whole graph, when it was asked for.
    graph: Option<explain::Graph>,
    /// The same as a story, by which requests are named.
    story: Option<explain::Graph>,
    /// The top of each box of the graph as last drawn: what was there keeps its order.
    tops: BTreeMap<String, i32>,
}

impl Session {
    /// With nothing compiled, for these dialects.
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
            story: None,
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

/// What was written, or why it could not be. Apart from `fine`, so that it is there once and not for each type of answer.
#[inline(never)]
fn answered(out: Vec<u8>, written: serde_json::Result<()>) -> String {
    match written {
        Ok(()) => String::from_utf8(out).unwrap_or_default(),
        Err(error) => refused(&error.to_string()),
    }
}

fn refused(why: &str) -> String {
    serde_json::to_string(&Answer::<()>::Refused(why.into())).unwrap_or_default()
}

/// What there is to say, or why there is nothing.
fn said<T: Serialize>(answer: &Result<T, String>) -> String {
    match answer {
        Ok(answer) => fine(answer),
        Err(why) => refused(why),
    }
}

/// The gateway at a place, if it runs.
fn gateway_at(compilation: &Compilation, (side, at): (usize, usize)) -> Option<GatewayRef<'_>> {
    let side = compilation.sides().nth(side)?;
    let id = &side.side.gateways.get(at)?.id;
    side.gateways().find(|gateway| gateway.id == id)
}

/// The Application Gateway at a place.
fn app_gateway_at(compilation: &Compilation, (side, at): (usize, usize)) -> Option<AppGatewayRef<'_>> {
    let side = compilation.sides().nth(side)?;
    let id = &side.side.gateways.get(at)?.id;
    side.app_gateways().find(|gateway| gateway.named.id == id)
}

/// How many routes and clusters, or pools, all gateways have.
fn counts(compilation: &Compilation) -> (usize, usize) {
    let of_envoys = compilation.gateways().map(|gateway| (count_routes(gateway), count_clusters(gateway)));
    let pools = |gateway: AppGatewayRef<'_>| gateway.parts.properties.as_ref().and_then(|of| of.pools.as_ref()).map_or(0, Vec::len);
    let of_others = compilation.app_gateways().map(|gateway| (routes_of_app_gateway(gateway).len(), pools(gateway)));
    of_envoys.chain(of_others).fold((0, 0), |(routes, clusters), (more, others)| (routes + more, clusters + others))
}

/// Which gateway is to be shown: the one that is asked for, or the first.
fn shown(compilation: &Compilation, dialect: Option<&str>, gateway: Option<&str>) -> (usize, usize) {
    let side = compilation.sides.iter().position(|side| Some(side.dialect.name) == dialect).unwrap_or_default();
    let gateways = compilation.sides.get(side).map(|side| side.gateways.as_slice()).unwrap_or_default();
    (side, gateways.iter().position(|of| Some(of.id.as_str()) == gateway).unwrap_or_default())
}

impl Session {
    /// Answers a question, which is JSON.
    pub fn answer(&mut self, question: Vec<u8>) -> String {
        let question = String::from_utf8(question).unwrap_or_default();
        let read = serde_json::from_str(&question);
        drop(question);
        match read {
            Ok(question) => {
                // A link has what a person wants in it, and what is opened is theirs.
                let is_own = matches!(question, Question::Share(_) | Question::Keep(_) | Question::Open(_));
                let is_file = matches!(question, Question::Text { .. } | Question::Tests(_));
                let answer = self.dispatch(question);
                match (is_own, is_file) {
                    (true, _) => answer,
                    (_, true) => self.scrubbed(answer),
                    _ => in_its_order(self.scrubbed(answer)),
                }
            }
            Err(error) => refused(&format!("this is no question: {error}")),
        }
    }

    /// An answer without credentials of what was compiled.
    fn scrubbed(&self, answer: String) -> String {
        let redactor = core::iter::once(&self.redactor).chain(self.other.iter().map(Loaded::redactor));
        redactor.fold(answer, |answer, redactor| match redactor.scrub(&answer) {
            Cow::Owned(scrubbed) => scrubbed,
            Cow::Borrowed(_) => answer,
        })
    }

    /// Whether views of the compile take much memory.
    fn is_large(&self) -> bool {
        self.compilation.objects.len() > KEPT_OBJECTS
    }

    fn dispatch(&mut self, question: Question) -> String {
        let is_about_requests = match &question {
            Question::Try(_) | Question::Suggest(_) | Question::Judge(_) => true,
            Question::Routes(filter) => routes::request_of(filter).is_some(),
            _ => false,
        };
        if self.is_large() && !is_about_requests {
            self.configs = Configs::default();
        }
        match question {
            Question::Hello => fine(&()),
            Question::Compile(work) => said(&self.compile(&work)),
            Question::Rows { .. } | Question::Form { .. } | Question::Toggle { .. } | Question::Fold { .. } | Question::Find { .. } => {
                self.about_tree(question)
            }
            Question::Graph(_) | Question::Picture(_) | Question::Seek { .. } => self.about_graph(question),
            Question::Try(_) | Question::Curl(_) | Question::Suggest(_) | Question::Judge(_) | Question::Tests(_) => self.about_requests(question),
            Question::WhyNot(target) => fine(&self.why_not(&target)),
            Question::Select(target) => {
                self.selected = Some(target);
                fine(&self.thread())
            }
            Question::Release => {
                self.selected = None;
                self.trees.values_mut().for_each(|tree| {
                    let _ = tree.light(&[]);
                });
                fine(&Thread::default())
            }
            Question::Routes(filter) => {
                self.story();
                let Self { compilation, configs, shown, story, .. } = self;
                fine(&routes::Finder { compilation, configs, shown: *shown, story: story.get_or_insert_default() }.find(&filter))
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
            Question::Open(text) => said(&share::opened(&text)),
            Question::Compare(other) => said(&self.compare(other)),
        }
    }

    /// Questions about a document as a tree.
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
            _ => return refused("this question is about no document"),
        };
        fine(&self.rows(doc, 0, 0))
    }

    /// Questions about the graph.
    fn about_graph(&mut self, question: Question) -> String {
        match question {
            Question::Graph(focus) => {
                let graph = self.altitude(&focus);
                fine(&drawing::draw(graph, &focus, &mut self.tops))
            }
            Question::Picture(focus) => {
                let graph = self.altitude(&focus);
                fine(&drawing::picture_of(graph, &focus, self.tops.clone()))
            }
            Question::Seek { text, focus } => {
                let graph = self.altitude(&focus);
                fine(&drawing::seek(graph, &focus, &text))
            }
            _ => refused("this question is not about the graph"),
        }
    }

    /// Questions about requests.
    fn about_requests(&mut self, question: Question) -> String {
        match question {
            Question::Try(written) => said(&self.way(&written)),
            Question::Curl(text) => match WrittenRequest::is_curl(&text) {
                true => said(&WrittenRequest::from_curl(&text).map(Some)),
                false => fine(&None::<WrittenRequest>),
            },
            Question::Suggest(pointer) => fine(&match self.app_gateway() {
                Some(gateway) => asking_app_gateway(&routes_of_app_gateway(gateway), pointer.as_deref()),
                None => {
                    let config = self.envoy_config();
                    asking(&|| self.routes(), pointer.as_deref(), &ByPointer::of(&config))
                }
            }),
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
        let mut found = completions(&self.dialects(), text, offset);
        found.from = lines.position(text, found.from).column_utf16;
        found
    }

    /// Routes and clusters by their names.
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

    /// What the Envoy that is shown gets.
    fn envoy_config(&mut self) -> Arc<EnvoyConfig> {
        let ir = self.gateway().map(|gateway| gateway.ir.clone());
        ir.map(|ir| self.configs.of(&ir)).unwrap_or_default()
    }

    fn way(&mut self, written: &WrittenRequest) -> Result<Way, String> {
        self.story();
        if let (Some(gateway), Some(story)) = (self.app_gateway(), &self.story) {
            return app_gateway::way(gateway, &self.positions(), story, written);
        }
        let (config, map) = (&self.envoy_config(), &self.map(Doc::Envoy));
        let (Some(gateway), Some(story)) = (self.gateway(), &self.story) else {
            return Ok(Way::default());
        };
        let ground = TracedGateway { side: gateway.of(), positions: &self.positions(), config, map };
        request::way(gateway, &ground, story, written)
    }

    /// Why requests do not reach what is at a place.
    fn why_not(&mut self, target: &Target) -> Option<Reach> {
        let resources = self.core_thread(target).resources(&self.compilation);
        let again = reach::Again { dialects: self.dialects, options: &self.options };
        reach::reach(&self.compilation, self.side()?, &resources, &again)
    }

    /// The story of what was written.
    fn story(&mut self) -> &explain::Graph {
        if self.story.is_none() {
            self.story = Some(drawing::written_story(self.whole_graph()));
            if self.is_large() {
                self.graph = None;
            }
        }
        self.story.get_or_insert_default()
    }

    fn judge(&mut self, saved: &[SavedRequest]) -> Vec<Verdict> {
        if let Some(gateway) = self.app_gateway() {
            return saved.iter().map(|saved| app_gateway::judge(gateway, &self.positions(), saved)).collect();
        }
        let config = self.envoy_config();
        let gateway = Gateway::new(&config);
        saved.iter().map(|saved| saved.judge(&gateway)).collect()
    }

    // Apart from the rest, so that it can be loaded apart (`assets/split.mjs`); so is what is marked like this elsewhere.
    #[inline(never)]
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

    /// The gateway that is shown, if it runs.
    fn gateway(&self) -> Option<GatewayRef<'_>> {
        gateway_at(&self.compilation, self.shown)
    }

    /// The Application Gateway that is shown, if it is one.
    fn app_gateway(&self) -> Option<AppGatewayRef<'_>> {
        app_gateway_at(&self.compilation, self.shown)
    }

    /// The side of the gateway that is shown.
    fn side(&self) -> Option<SideRef<'_>> {
        self.compilation.sides().nth(self.shown.0)
    }

    /// The dialect that is shown.
    fn dialects(&self) -> Vec<&'static Dialect> {
        self.side().map(SideRef::dialect).into_iter().collect()
    }

    /// The routes of the gateway that is shown, each made when it is asked for.
    fn routes(&self) -> RouteRows<'_> {
        let of_app_gateway = || self.app_gateway().map(routes_of_app_gateway).unwrap_or_default();
        self.gateway().map_or_else(|| Box::new(of_app_gateway().into_iter()) as RouteRows<'_>, route_rows)
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

    /// What a line makes of Envoy's configuration.
    fn makes(&mut self, spot: Spot) -> Vec<String> {
        let core = self.core_thread(&Target::Line { file: spot.file, line: spot.line });
        // Nobody waits for a document of hundreds of megabytes to read a hint.
        if self.is_large() && !self.trees.contains_key(&Doc::Envoy) {
            let map = self.map(Doc::Envoy);
            return thread::counts(&core, &self.compilation, &map).into_iter().collect();
        }
        self.tree(Doc::Envoy);
        self.trees.get(&Doc::Envoy).map(|tree| thread::makes(&core, &self.compilation, tree)).unwrap_or_default()
    }

    /// Lets go of the last compile, and of what was made of it to look at it: beside the next one, it would take memory twice. What the compiler goes
    /// on from, it keeps itself.
    fn let_go(&mut self) {
        self.compilation = Compilation::default();
        self.before.extend(core::mem::take(&mut self.trees).into_iter().map(|(doc, tree)| (doc, tree.folding())));
        self.map = None;
        self.graph = None;
        self.story = None;
        self.configs = Configs::default();
        self.proxies = None;
    }

    fn compile(&mut self, work: &Work) -> Result<Compiled<Vec<Told>>, String> {
        let start = js_sys::Date::now();
        let inputs = inputs(&work.files);
        let (needs, wanted) = needed(&inputs, work);
        if needs.iter().any(|name| Dialect::named(name, self.dialects).is_none()) {
            let needs = needs.into_iter().map(String::from).collect();
            return Ok(Compiled { needs, ..Compiled::default() });
        }
        self.options = options(work, wanted, self.dialects)?;
        self.let_go();
        let is_told = work.chosen || !is_found(&inputs, wanted);
        self.shared = if is_told { self.options.clone() } else { self.options.clone().of_any_dialect() };
        // An input of several dialects is compiled for each; one of them is shown, and what is found by all.
        let mut compilation = self.compiler.compile(&inputs, &self.options.clone().of_any_dialect());
        if wanted.is_some_and(|wanted| compilation.side(wanted).is_none()) {
            compilation = self.compiler.compile(&inputs, &self.options);
        }
        let policy = Policy { at: self.options.findings.at.or(Some((start / 1000.0) as i64)), ..self.options.findings.clone() };
        let executor = self.compiler.executor();
        check(&mut compilation, &policy, &mut self.compiler.emitted, executor);
        let found = told(&compilation);
        self.redactor = compilation.redactor();
        self.shown = shown(&compilation, wanted, work.gateway.as_deref());
        self.compilation = compilation;
        let took = js_sys::Date::now() - start;
        let (compilation, positions) = (&self.compilation, self.positions());
        let names = compilation.objects.iter().filter_map(|object| {
            let span = positions.object(object.id)?;
            Some(Named { label: ResourceRef::from(&object.key).to_string(), file: span.file.to_string(), line: span.line })
        });
        let counts = counts(compilation);
        Ok(Compiled {
            dialect: self.side().map(|side| side.dialect().name.into()).unwrap_or_default(),
            read_as: compilation.sides.iter().map(|side| side.dialect.controller.into()).collect(),
            needs: Vec::new(),
            gateway: self.gateway_names().get(self.shown.1).cloned().unwrap_or_default(),
            gateways: self.gateway_names(),
            stopped: compilation
                .stopped()
                .map(|(side, _, failure)| format!("{} does not start: {}", side.dialect.controller, failure.error))
                .collect(),
            resources: compilation.objects.len(),
            routes: counts.0,
            clusters: counts.1,
            output: if self.app_gateway().is_some() { "Gateway" } else { "Envoy" }.into(),
            took,
            names: names.collect(),
            kept: share::kept_if_small(&work.files).filter(|files| !files.iter().any(|file| file.text.contains(turns))),
            findings: found,
        })
    }

    /// The gateways of the side that is shown.
    fn gateway_names(&self) -> Vec<String> {
        self.side().map(|of| of.side.gateways.iter().map(|gateway| gateway.id.to_string()).collect()).unwrap_or_default()
    }

    fn whole_graph(&mut self) -> &explain::Graph {
        let graph = self.graph.take().unwrap_or_else(|| graph(&self.compilation, &self.positions()));
        self.graph.insert(graph)
    }

    /// The graph at the altitude that is asked for.
    fn altitude(&mut self, focus: &GraphFocus) -> explain::Graph {
        if drawing::is_written_story(focus) { self.story().clone() } else { drawing::altitude(self.whole_graph(), focus) }
    }

    /// A document, made when it is first asked for.
    pub fn tree(&mut self, doc: Doc) -> &mut Tree {
        let Self { compiler, compilation, trees, before, shown, .. } = self;
        trees.entry(doc).or_insert_with(|| {
            let (gateway, side) = (gateway_at(compilation, *shown), compilation.sides().nth(shown.0));
            let document = match (doc, gateway) {
                (Doc::Envoy, Some(gateway)) => {
                    let viewed = Viewed::new(gateway.ir, View::Envoy, compiler.emitted.of(gateway));
                    Some((viewed.root, viewed.map))
                }
                (Doc::Envoy, None) => app_gateway_at(compilation, *shown).map(|gateway| {
                    let viewed = Viewed::app_gateway(gateway.parts);
                    (viewed.root, viewed.map)
                }),
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

    /// Which objects made a document. What Envoy gets need not be there as a tree for that.
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

    /// The thread of a target. Of a large input the IR, which nobody may have opened, does not tell what a line makes.
    fn core_thread(&mut self, target: &Target) -> CoreThread {
        match target {
            Target::Line { file, line } => {
                let mut maps = vec![self.map(Doc::Envoy)];
                if !self.is_large() || self.trees.contains_key(&Doc::Ir) {
                    maps.push(self.map(Doc::Ir));
                }
                let source = self.positions().source(file);
                let maps: Vec<&OutputMap> = maps.iter().map(|map| &**map).collect();
                source.and_then(|source| CoreThread::of_line(&self.compilation, source, *line, &maps)).unwrap_or_default()
            }
            Target::Place { doc, pointer } => CoreThread::of_place(&self.map(*doc), pointer),
            Target::Row { doc, node } => self.trees.get(doc).map(|tree| CoreThread::of_place(tree.map(), &tree.pointer(*node))).unwrap_or_default(),
        }
    }

    fn rows(&mut self, doc: Doc, from: u32, count: u32) -> Rows {
        let is_new = !self.trees.contains_key(&doc);
        self.tree(doc);
        // What was selected before it was there.
        if let Some(target) = self.selected.clone().filter(|_| is_new) {
            let core = self.core_thread(&target);
            if let Some(tree) = self.trees.get_mut(&doc) {
                let _ = tree.light(&thread::places(&target, &core, &self.compilation, doc, Some(tree), tree.map()));
            }
        }
        match self.trees.get(&doc) {
            Some(tree) => self.side().map(|side| tree.rows(from, count, side)).unwrap_or_default(),
            None => Rows::default(),
        }
    }

    fn thread(&mut self) -> Thread {
        let Some(target) = self.selected.clone() else { return Thread::default() };
        // A place is named by what its document has there.
        if let Target::Place { doc, .. } = &target {
            self.tree(*doc);
        }
        if !self.is_large() {
            self.tree(Doc::Envoy);
            self.tree(Doc::Ir);
        }
        let core = self.core_thread(&target);
        let map = self.map(Doc::Envoy);
        let mut thread = self.side().map(|side| thread::told(&target, &core, side, &self.trees)).unwrap_or_default();
        let mut rows = Vec::new();
        for (doc, tree) in &mut self.trees {
            let pointers = thread::places(&target, &core, &self.compilation, *doc, Some(tree), tree.map());
            if let Some(row) = tree.light(&pointers) {
                rows.push((*doc, row));
            }
        }
        thread.envoy = thread::places(&target, &core, &self.compilation, Doc::Envoy, self.trees.get(&Doc::Envoy), &map);
        self.story();
        self.whole_graph();
        if let (Some(graph), Some(told)) = (&self.graph, &self.story) {
            (thread.nodes, thread.groups) = drawing::lit(graph, told, &self.compilation, &core);
        }
        if self.is_large() {
            self.graph = None;
        }
        thread.rows = rows;
        thread
    }
}
