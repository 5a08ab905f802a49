//! What the worker keeps between questions: the compiler's memory, the last compile, and the documents that were looked at.
//!
//! What must not be here: how a document becomes rows (`tree`), what belongs to a selection (`thread`), and how other answers are put.

use crate::asking::asking;
use crate::compare::{Changes, Loaded};
use crate::drawing;
use crate::request::{self, Ground};
use crate::share;
use crate::thread;
use crate::tree::Tree;
use chancery_core::check::check;
use chancery_core::compile::{Compilation, Compiler, Options};
use chancery_core::diagnostic::{Policy, codes};
use chancery_core::dialect::Dialect;
use chancery_core::explain::compare::SideSource;
use chancery_core::explain::simulate::{Gateway, SavedRequest, Verdict};
use chancery_core::explain::{
    self, EnvoyConfig, Finding, Positions, ResourceRef, View, Viewed, completions, count_routes, findings_of_all, graph_of_all, hover, ledger_of_all,
    routes,
};
use chancery_core::redact::HeldBack;
use chancery_core::resource::{Input, Inputs, SourceId};
use chancery_core::text::{to_json, to_yaml};
use chancery_web::protocol::{Answer, Compiled, Doc, Named, Other, Question, Rows, SourceFile, Spot, Target, Thread, Way, Work, WrittenRequest};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The worker's memory.
#[derive(Default)]
pub struct Session {
    compiler: Compiler,
    compilation: Compilation,
    /// The same input for the other dialects that it has.
    others: Vec<Compilation>,
    /// What it was compiled with.
    options: Options,
    /// What Envoy gets of it, when it was asked for.
    config: Option<EnvoyConfig>,
    /// What no answer may have.
    held_back: Vec<HeldBack>,
    /// What was compared with last.
    other: Option<Loaded>,
    trees: BTreeMap<Doc, Tree>,
    /// Documents of the compile before: what is folded in them stays so.
    before: BTreeMap<Doc, Tree>,
    selected: Option<Target>,
    /// The whole graph, when it was asked for.
    graph: Option<explain::Graph>,
    /// The top of each box of the graph as last drawn: what was there keeps its order.
    tops: BTreeMap<String, i32>,
}

fn fine<T: Serialize>(answer: &T) -> String {
    serde_json::to_string(&Answer::Fine(answer)).unwrap_or_else(|error| refused(&error.to_string()))
}

fn refused(why: &str) -> String {
    serde_json::to_string(&Answer::<()>::Refused(why.into())).unwrap_or_default()
}

/// A core's span as the page has it.
pub fn span(of: &explain::Span) -> chancery_web::protocol::Span {
    chancery_web::protocol::Span {
        file: of.file.to_string(),
        line: of.line,
        end_line: of.end_line,
        column: of.column_utf16,
        end_column: of.end_column_utf16,
    }
}

/// What there is to say, or why there is nothing.
fn said<T: Serialize>(answer: &Result<T, String>) -> String {
    match answer {
        Ok(answer) => fine(answer),
        Err(why) => refused(why),
    }
}

/// Files as the core takes them.
pub fn inputs(files: &[SourceFile]) -> Inputs {
    Inputs { inputs: files.iter().map(|file| Input { name: file.name.as_str().into(), text: file.text.as_str().into() }).collect() }
}

/// How work is to be compiled.
pub fn options(work: &Work) -> Result<Options, String> {
    let mut options = match &work.options {
        None => Options::default(),
        Some(serde_json::Value::String(words)) => Options::from_words(words)?,
        Some(data) => serde_json::from_value(data.clone()).map_err(|error| error.to_string())?,
    };
    options.dialect = work.dialect.as_deref().and_then(Dialect::named).or(options.dialect);
    Ok(options)
}

impl Session {
    /// Answers a question.
    pub fn answer(&mut self, question: &str) -> String {
        match serde_json::from_str(question) {
            Ok(question) => {
                // A link has what a person wants in it, and what is opened is theirs.
                let is_own = matches!(question, Question::Share(_) | Question::Keep(_) | Question::Open(_));
                let answer = self.dispatch(question);
                if is_own { answer } else { self.scrubbed(answer) }
            }
            Err(error) => refused(&format!("this is no question: {error}")),
        }
    }

    /// An answer without credentials of what was compiled.
    fn scrubbed(&self, answer: String) -> String {
        let held_back = self.held_back.iter().chain(self.other.iter().map(Loaded::held_back));
        held_back.fold(answer, |answer, held_back| match held_back.scrub(&answer) {
            Cow::Owned(scrubbed) => scrubbed,
            Cow::Borrowed(_) => answer,
        })
    }

    fn dispatch(&mut self, question: Question) -> String {
        match question {
            Question::Compile(work) => said(&self.compile(&work)),
            Question::Rows { doc, from, count } => fine(&self.rows(doc, from, count)),
            Question::Form { doc, form } => {
                self.tree(doc).write(form);
                fine(&self.rows(doc, 0, 0))
            }
            Question::Toggle { doc, node } => {
                self.tree(doc).toggle(node);
                fine(&self.rows(doc, 0, 0))
            }
            Question::Fold { doc, open } => {
                self.tree(doc).fold(open);
                fine(&self.rows(doc, 0, 0))
            }
            Question::Find { doc, text, after, back } => fine(&self.tree(doc).find(&text, after, back)),
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
            Question::Routes => fine(&routes(&self.compilation)),
            Question::RoutesFor { host, path } => fine(&Gateway::new(self.envoy_config()).routes_for(host.as_deref(), &path)),
            Question::Graph(focus) => {
                self.whole_graph();
                let drawing = self.graph.as_ref().map(|graph| drawing::draw(graph, &focus, &mut self.tops));
                fine(&drawing)
            }
            Question::Picture(focus) => fine(&drawing::picture_of(self.whole_graph(), &focus)),
            Question::Seek { text, focus } => fine(&drawing::seek(self.whole_graph(), &focus, &text)),
            Question::Ledger => fine(&ledger_of_all(&self.sides())),
            Question::Hover(spot) => {
                let found = self.spot(&spot).and_then(|(source, offset)| hover(&self.compilation, &self.positions(), source, offset));
                let makes = if found.is_some() { self.makes(spot) } else { Vec::new() };
                fine(&found.map(|found| serde_json::json!({ "found": found, "makes": makes })))
            }
            Question::Complete { spot, text } => {
                let lines = chancery_core::text::LineIndex::new(&text);
                let offset = lines.offset_utf16(&text, spot.line.saturating_sub(1), spot.column).unwrap_or_default();
                let mut found = completions(self.compilation.dialect, &text, offset);
                found.from = lines.position(&text, found.from).column_utf16;
                fine(&found)
            }
            Question::Text { doc, yaml } => {
                let root = self.tree(doc).root();
                fine(&if yaml { to_yaml(root) } else { to_json(root, true) })
            }
            Question::Page { code } => match codes::find(&code) {
                Some(code) => fine(&code.page),
                None => refused("there is no such code"),
            },
            Question::Try(written) => said(&self.way(&written)),
            Question::Curl(text) => match WrittenRequest::is_curl(&text) {
                true => said(&WrittenRequest::from_curl(&text).map(Some)),
                false => fine(&None::<WrittenRequest>),
            },
            Question::Suggest(pointer) => {
                let rows = routes(&self.compilation);
                fine(&asking(&rows, pointer.as_deref(), self.tree(Doc::Envoy).root()))
            }
            Question::Judge(saved) => fine(&self.judge(&saved)),
            Question::Share(sharing) => fine(&share::shared(&self.compilation, &self.options, &sharing)),
            Question::Keep(kept) => fine(&share::kept(kept)),
            Question::Open(text) => said(&share::opened(&text)),
            Question::Compare(other) => said(&self.compare(other)),
        }
    }

    fn envoy_config(&mut self) -> &EnvoyConfig {
        let compilation = &self.compilation;
        self.config.get_or_insert_with(|| EnvoyConfig::of(compilation))
    }

    fn way(&mut self, written: &WrittenRequest) -> Result<Way, String> {
        self.tree(Doc::Envoy);
        self.envoy_config();
        let (Some(config), Some(tree)) = (&self.config, self.trees.get(&Doc::Envoy)) else { return Ok(Way::default()) };
        request::way(&Ground { compilation: &self.compilation, positions: &self.positions(), config, map: tree.map() }, written)
    }

    fn judge(&mut self, saved: &[SavedRequest]) -> Vec<Verdict> {
        let gateway = Gateway::new(self.envoy_config());
        saved.iter().map(|saved| saved.judge(&gateway)).collect()
    }

    fn compare(&mut self, other: Other) -> Result<Changes, String> {
        self.tree(Doc::Envoy);
        self.envoy_config();
        let loaded = match self.other.take().filter(|loaded| loaded.is(&other)) {
            Some(loaded) => loaded,
            None => Loaded::new(other)?,
        };
        let loaded = self.other.insert(loaded);
        let positions = Positions::new(&self.compilation.inputs, &self.compilation.objects);
        let (Some(config), Some(tree)) = (&self.config, self.trees.get(&Doc::Envoy)) else { return Ok(Changes::default()) };
        let now = SideSource { compilation: &self.compilation, positions: &positions, map: tree.map() };
        Ok(loaded.compare(&now, config))
    }

    /// Of all dialects, the one that is shown first.
    fn sides(&self) -> Vec<&Compilation> {
        std::iter::once(&self.compilation).chain(&self.others).collect()
    }

    fn positions(&self) -> Positions<'_> {
        Positions::new(&self.compilation.inputs, &self.compilation.objects)
    }

    fn spot(&self, spot: &Spot) -> Option<(SourceId, u32)> {
        let positions = self.positions();
        let source = positions.source(&spot.file)?;
        let offset = positions.offset_utf16(source, spot.line, spot.column)?;
        Some((source, offset))
    }

    /// What a line makes of Envoy's configuration.
    fn makes(&mut self, spot: Spot) -> Vec<String> {
        self.tree(Doc::Envoy);
        let core = thread::core_thread(&Target::Line { file: spot.file, line: spot.line }, &self.compilation, &self.trees);
        self.trees.get(&Doc::Envoy).map(|tree| thread::makes(&core, &self.compilation, tree)).unwrap_or_default()
    }

    fn compile(&mut self, work: &Work) -> Result<Compiled<Vec<Finding>>, String> {
        let start = js_sys::Date::now();
        self.options = options(work)?;
        let (inputs, wanted) = (inputs(&work.files), self.options.dialect);
        // An input of several dialects is compiled for each; one of them is shown, and what is found by all.
        let mut sides = self.compiler.compile_each(&inputs, &Options { dialect: None, ..self.options.clone() });
        if wanted.is_some_and(|wanted| sides.iter().all(|side| side.dialect != wanted)) {
            sides = self.compiler.compile_each(&inputs, &self.options);
        }
        let policy = Policy { at: self.options.findings.at.or(Some((start / 1000.0) as i64)), ..self.options.findings.clone() };
        for side in &mut sides {
            check(side, &policy, &mut self.compiler.emitted);
        }
        let found = findings_of_all(&sides);
        self.held_back = sides.iter().map(Compilation::held_back).filter(|held_back| !held_back.is_empty()).collect();
        let shown = sides.iter().position(|side| Some(side.dialect) == wanted).unwrap_or_default();
        self.compilation = if shown < sides.len() { sides.remove(shown) } else { Compilation::default() };
        self.others = sides;
        let took = js_sys::Date::now() - start;
        self.before.append(&mut self.trees);
        self.graph = None;
        self.config = None;
        let (compilation, positions) = (&self.compilation, self.positions());
        let names = compilation.objects.iter().filter_map(|object| {
            let span = positions.object(object.id)?;
            Some(Named { label: ResourceRef::from(&object.key).to_string(), file: span.file.to_string(), line: span.line })
        });
        Ok(Compiled {
            dialect: compilation.dialect.name().into(),
            dialects: Dialect::ALL.iter().map(|dialect| dialect.name().into()).collect(),
            resources: compilation.objects.len(),
            routes: count_routes(compilation),
            clusters: compilation.ir.clusters.len(),
            took,
            names: names.collect(),
            findings: found,
        })
    }

    fn whole_graph(&mut self) -> &explain::Graph {
        let graph = self.graph.take().unwrap_or_else(|| graph_of_all(&self.sides()));
        self.graph.insert(graph)
    }

    /// A document, made when it is first asked for.
    pub fn tree(&mut self, doc: Doc) -> &mut Tree {
        let Self { compiler, compilation, trees, before, .. } = self;
        trees.entry(doc).or_insert_with(|| {
            let (root, map) = match doc {
                Doc::Envoy => {
                    let viewed = Viewed::new(compilation, View::Envoy, &mut compiler.emitted);
                    (viewed.root, viewed.map)
                }
                Doc::Ir => explain::dump(&compilation.ir),
                Doc::Config => explain::dump_config(compilation),
            };
            let tree = Tree::new(root, map);
            match before.remove(&doc) {
                Some(before) => tree.like(before),
                None => tree,
            }
        })
    }

    fn rows(&mut self, doc: Doc, from: u32, count: u32) -> Rows {
        let is_new = !self.trees.contains_key(&doc);
        self.tree(doc);
        // What was selected before it was there.
        if let Some(target) = self.selected.as_ref().filter(|_| is_new) {
            let core = thread::core_thread(target, &self.compilation, &self.trees);
            if let Some(tree) = self.trees.get_mut(&doc) {
                let _ = tree.light(&thread::places(target, &core, &self.compilation, doc, tree));
            }
        }
        match self.trees.get(&doc) {
            Some(tree) => tree.rows(from, count, &self.compilation),
            None => Rows::default(),
        }
    }

    fn thread(&mut self) -> Thread {
        let Some(target) = self.selected.clone() else { return Thread::default() };
        self.tree(Doc::Envoy);
        self.tree(Doc::Ir);
        let core = thread::core_thread(&target, &self.compilation, &self.trees);
        let mut thread = thread::told(&target, &core, &self.compilation, &self.trees);
        let mut rows = Vec::new();
        for (doc, tree) in &mut self.trees {
            let pointers = thread::places(&target, &core, &self.compilation, *doc, tree);
            if let Some(row) = tree.light(&pointers) {
                rows.push((*doc, row));
            }
            if *doc == Doc::Envoy {
                thread.envoy = pointers;
            }
        }
        self.whole_graph();
        (thread.nodes, thread.groups) = self.graph.as_ref().map(|graph| drawing::lit(graph, &self.compilation, &core)).unwrap_or_default();
        thread.rows = rows;
        thread
    }
}
