//! What the worker keeps between questions: the compiler's memory, the last compile, and the documents that were looked at.
//!
//! What must not be here: how a document becomes rows (`tree`), and what belongs to a selection (`thread`).

use crate::drawing;
use crate::thread;
use crate::tree::Tree;
use chancery_core::backend::OutputMap;
use chancery_core::check::check;
use chancery_core::compile::{Compilation, Compiler, Options};
use chancery_core::diagnostic::{Policy, codes};
use chancery_core::dialect::Dialect;
use chancery_core::explain::{self, Positions, View, Viewed, completions, findings_of_all, hover, ledger, routes};
use chancery_core::resource::{Input, Inputs, SourceId};
use chancery_core::text::{to_json, to_yaml};
use chancery_web::protocol::{Answer, Compiled, Doc, Named, Question, Rows, SourceFile, Spot, Target, Thread};
use serde::Serialize;
use std::collections::BTreeMap;

/// The worker's memory.
#[derive(Default)]
pub struct Session {
    compiler: Compiler,
    compilation: Compilation,
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
    serde_json::to_string(&serde_json::json!({ "fine": answer })).unwrap_or_else(|error| refused(&error.to_string()))
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

impl Session {
    /// Answers a question.
    pub fn answer(&mut self, question: &str) -> String {
        match serde_json::from_str(question) {
            Ok(question) => self.dispatch(question),
            Err(error) => refused(&format!("this is no question: {error}")),
        }
    }

    fn dispatch(&mut self, question: Question) -> String {
        match question {
            Question::Compile { files, dialect } => fine(&self.compile(files, dialect.as_deref())),
            Question::Rows { doc, from, count } => fine(&self.rows(doc, from, count)),
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
            Question::Graph(focus) => {
                self.whole_graph();
                let drawing = self.graph.as_ref().map(|graph| drawing::draw(graph, &focus, &mut self.tops));
                fine(&drawing)
            }
            Question::Picture(focus) => fine(&drawing::picture_of(self.whole_graph(), &focus)),
            Question::Ledger => fine(&ledger(&self.compilation, &self.positions())),
            Question::Hover(spot) => {
                let found = self.spot(&spot).and_then(|(source, offset)| hover(&self.compilation, &self.positions(), source, offset));
                fine(&found)
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
        }
    }

    fn positions(&self) -> Positions<'_> {
        Positions::new(&self.compilation.inputs, &self.compilation.objects)
    }

    fn spot(&self, spot: &Spot) -> Option<(SourceId, u32)> {
        let positions = self.positions();
        let source = positions.source(&spot.file)?;
        let offset = positions.lines(source)?.offset_utf16(positions.text(source), spot.line.checked_sub(1)?, spot.column)?;
        Some((source, offset))
    }

    fn compile(&mut self, files: Vec<SourceFile>, dialect: Option<&str>) -> Compiled {
        let start = js_sys::Date::now();
        let inputs = files.into_iter().map(|file| Input { name: file.name.into(), text: file.text.into() }).collect();
        let inputs = Inputs { inputs };
        let wanted = dialect.and_then(Dialect::named);
        // An input of several dialects is compiled for each; one of them is shown, and what is found by all.
        let mut sides = self.compiler.compile_each(&inputs, &Options::default());
        if wanted.is_some_and(|wanted| sides.iter().all(|side| side.dialect != wanted)) {
            sides = self.compiler.compile_each(&inputs, &Options { dialect: wanted, ..Options::default() });
        }
        let policy = Policy { at: Some((start / 1000.0) as i64), ..Policy::default() };
        for side in &mut sides {
            check(side, &policy, &mut self.compiler.emitted);
        }
        let found = findings_of_all(&sides);
        let shown = sides.iter().position(|side| Some(side.dialect) == wanted).unwrap_or_default();
        self.compilation = if shown < sides.len() { sides.swap_remove(shown) } else { Compilation::default() };
        let took = js_sys::Date::now() - start;
        self.before.append(&mut self.trees);
        self.graph = None;
        let compilation = &self.compilation;
        let rows = ledger(compilation, &self.positions());
        let names = rows.iter().filter_map(|row| {
            let span = row.span.as_ref()?;
            Some(Named { label: row.resource.to_string(), file: span.file.to_string(), line: span.line })
        });
        Compiled {
            dialect: compilation.dialect.name().into(),
            dialects: Dialect::ALL.iter().map(|dialect| dialect.name().into()).collect(),
            resources: rows.len(),
            routes: routes(compilation).len(),
            clusters: compilation.ir.clusters.len(),
            idle: rows.iter().filter(|row| matches!(row.state, "ignored" | "shadowed" | "invalid")).count(),
            took,
            names: names.collect(),
            // The page has types of its own, which read what the core writes.
            findings: serde_json::to_value(&found).and_then(serde_json::from_value).unwrap_or_default(),
        }
    }

    fn whole_graph(&mut self) -> &explain::Graph {
        let compilation = &self.compilation;
        self.graph.get_or_insert_with(|| explain::graph(compilation, &Positions::new(&compilation.inputs, &compilation.objects)))
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
                Doc::Config => (compilation.config.dump(), OutputMap::default()),
            };
            let tree = Tree::new(root, map);
            match before.remove(&doc) {
                Some(before) => tree.like(before),
                None => tree,
            }
        })
    }

    fn rows(&mut self, doc: Doc, from: u32, count: u32) -> Rows {
        self.tree(doc);
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
            let own = thread::own_place(&target, *doc, tree);
            let pointers = own.map_or_else(|| core.places(&self.compilation, tree.map()), |own| vec![own]);
            if let Some(row) = tree.light(&pointers) {
                rows.push((*doc, row));
            }
            if *doc == Doc::Envoy {
                thread.envoy = pointers;
            }
        }
        self.whole_graph();
        thread.nodes = self.graph.as_ref().map(|graph| drawing::lit(graph, &self.compilation, &core)).unwrap_or_default();
        thread.rows = rows;
        thread
    }
}
