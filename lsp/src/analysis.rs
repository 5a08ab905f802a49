//! Holds one compile of a folder, which requests read: the compilation, its findings, and indexes that are built when first needed.
//!
//! Does not change after it is made, so several threads read it at the same time. Does not compile; see `compiling`.

use crate::text::{Encoding, Lines};
use chancery_core::backend::OutputMap;
use chancery_core::compilation::{Compilation, Dialect, NamedGateway, Options};
use chancery_core::compile::EmittedByGateway;
use chancery_core::explain::{Finding, LedgerRow, Names, Positions, RouteRow, Span, View, Viewed, app_gateway_routes, ledger, nginx_routes, routes};
use chancery_core::redact::Redactor;
use chancery_core::resource::{Object, ObjectId, SourceId};
use lsp_types::Range;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// For inputs with more objects, Envoy's documents are built only on request: they need much memory.
pub const MANY_OBJECTS: usize = 3_000;

/// A compile of a folder.
pub struct Analysis {
    pub root: PathBuf,
    /// The version of the folder's input.
    pub version: u64,
    pub options: Options,
    pub compilation: Compilation,
    /// All findings, after checks.
    pub findings: Vec<Finding>,
    /// The file of each input.
    pub paths: Vec<PathBuf>,
    sources: HashMap<PathBuf, SourceId>,
    lines: Vec<OnceLock<Lines>>,
    redactor: Redactor,
    /// What the compiler emitted before, so that unchanged parts are not emitted again.
    emitted: Arc<Mutex<EmittedByGateway>>,
    names: OnceLock<Names>,
    ledger: OnceLock<HashMap<ObjectId, LedgerRow>>,
    rows: OnceLock<RowIndex>,
    documents: OnceLock<Vec<ShownDocument>>,
    maps: OnceLock<Vec<OutputMap>>,
}

/// The document of a gateway.
pub struct ShownDocument {
    /// The number of the gateway's side, and its id.
    pub side: usize,
    pub id: String,
    pub viewed: Viewed,
}

/// The routes of all gateways, and the routes of each object.
#[derive(Default)]
pub struct RowIndex {
    pub rows: Vec<RouteRow>,
    by_maker: HashMap<(String, String, Option<String>), Vec<usize>>,
}

impl RowIndex {
    /// The routes that an object makes.
    pub fn of<'r>(&'r self, object: &Object) -> impl Iterator<Item = &'r RouteRow> {
        let key = (object.key.kind.to_string(), object.key.name.to_string(), object.key.namespace.as_ref().map(ToString::to_string));
        self.by_maker.get(&key).into_iter().flatten().filter_map(|at| self.rows.get(*at))
    }
}

impl Analysis {
    #[must_use]
    pub fn new(
        root: PathBuf,
        version: u64,
        (compilation, options): (Compilation, Options),
        findings: Vec<Finding>,
        paths: Vec<PathBuf>,
        emitted: Arc<Mutex<EmittedByGateway>>,
    ) -> Self {
        let sources = paths.iter().enumerate().map(|(at, path)| (path.clone(), SourceId(at as u32))).collect();
        let lines = paths.iter().map(|_| OnceLock::new()).collect();
        let redactor = compilation.redactor();
        Self {
            root,
            version,
            options,
            compilation,
            findings,
            paths,
            sources,
            lines,
            redactor,
            emitted,
            names: OnceLock::new(),
            ledger: OnceLock::new(),
            rows: OnceLock::new(),
            documents: OnceLock::new(),
            maps: OnceLock::new(),
        }
    }

    #[must_use]
    pub fn positions(&self) -> Positions<'_> {
        self.compilation.positions()
    }

    /// The input of a file.
    #[must_use]
    pub fn source(&self, path: &Path) -> Option<SourceId> {
        self.sources.get(path).copied()
    }

    #[must_use]
    pub fn path(&self, source: SourceId) -> Option<&Path> {
        self.paths.get(source.0 as usize).map(PathBuf::as_path)
    }

    #[must_use]
    pub fn text(&self, source: SourceId) -> &str {
        self.compilation.inputs.inputs.get(source.0 as usize).map_or("", |input| &input.text)
    }

    /// The lines of an input.
    #[must_use]
    pub fn lines(&self, source: SourceId) -> Option<&Lines> {
        Some(self.lines.get(source.0 as usize)?.get_or_init(|| Lines::new(self.text(source))))
    }

    /// The client's range of a place.
    #[must_use]
    pub fn range(&self, span: &Span, encoding: Encoding) -> Range {
        self.range_of(span.source, span.offset as usize..span.end_offset as usize, encoding)
    }

    /// The client's range of a byte range.
    #[must_use]
    pub fn range_of(&self, source: SourceId, range: std::ops::Range<usize>, encoding: Encoding) -> Range {
        self.lines(source).map(|lines| lines.range(self.text(source), range, encoding)).unwrap_or_default()
    }

    /// The dialects of the input.
    #[must_use]
    pub fn dialects(&self) -> Vec<&'static Dialect> {
        self.compilation.sides.iter().map(|side| side.dialect).collect()
    }

    /// A text without the credentials of the input.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        self.redactor.scrub(text).into_owned()
    }

    /// Whether views of the whole configuration need much memory.
    #[must_use]
    pub fn is_large(&self) -> bool {
        self.compilation.objects.len() > MANY_OBJECTS
    }

    /// The written objects of an input, in the order of the text.
    pub fn objects_of(&self, source: SourceId) -> impl Iterator<Item = &Object> {
        self.compilation.objects.iter().filter(move |object| object.source.source == source)
    }

    /// All places of names.
    #[must_use]
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::of(&self.compilation, &self.positions()))
    }

    /// What happened to each object. If several controllers read it, the first that uses it.
    #[must_use]
    pub fn ledger(&self) -> &HashMap<ObjectId, LedgerRow> {
        self.ledger.get_or_init(|| {
            let mut all: HashMap<ObjectId, LedgerRow> = HashMap::new();
            for row in ledger(&self.compilation, &self.positions()) {
                let is_used = |row: &LedgerRow| matches!(row.state, "emitted" | "merged" | "read");
                if all.get(&row.object).is_none_or(|known| !is_used(known) && is_used(&row)) {
                    all.insert(row.object, row);
                }
            }
            all
        })
    }

    /// The routes of all gateways.
    #[must_use]
    pub fn rows(&self) -> &RowIndex {
        self.rows.get_or_init(|| {
            let envoys = self.compilation.gateways().flat_map(routes);
            let app_gateways = self.compilation.app_gateways().flat_map(app_gateway_routes);
            let nginxes = self.compilation.nginxes().flat_map(nginx_routes);
            let mut index = RowIndex::default();
            for row in envoys.chain(app_gateways).chain(nginxes) {
                for made in &row.made_by {
                    let key = (made.kind.to_string(), made.name.to_string(), made.namespace.as_ref().map(ToString::to_string));
                    index.by_maker.entry(key).or_default().push(index.rows.len());
                }
                index.rows.push(row);
            }
            index
        })
    }

    /// The emitted resources, for functions that need them.
    pub fn emitted(&self) -> MutexGuard<'_, EmittedByGateway> {
        self.emitted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The documents of all gateways.
    #[must_use]
    pub fn documents(&self) -> &[ShownDocument] {
        self.documents.get_or_init(|| {
            let mut out = Vec::new();
            for (at, side) in self.compilation.sides().enumerate() {
                for gateway in side.gateways() {
                    let viewed = Viewed::new(gateway.ir, View::Envoy, self.emitted().of(gateway));
                    out.push(ShownDocument { side: at, id: gateway.id.to_string(), viewed });
                }
                for gateway in side.app_gateways() {
                    out.push(ShownDocument { side: at, id: gateway.named.id.to_string(), viewed: Viewed::app_gateway(gateway.parts) });
                }
                for output in side.dialect().outputs.iter().filter(|_| side.nginxes().next().is_some()) {
                    if let Some(viewed) = Viewed::answer(output, side) {
                        out.push(ShownDocument { side: at, id: output.name.to_string(), viewed });
                    }
                }
            }
            out
        })
    }

    /// Which objects made each part of the Envoys' documents. Does not build the documents.
    #[must_use]
    pub fn maps(&self) -> &[OutputMap] {
        self.maps.get_or_init(|| {
            use chancery_core::backend::envoy::v3::output_map;
            let options = chancery_core::backend::envoy::Options::default();
            self.compilation.gateways().map(|gateway| output_map(gateway.ir, &options, self.emitted().of(gateway))).collect()
        })
    }

    /// Builds what the next hover needs, while the user still types or reads.
    #[cfg(not(target_family = "wasm"))]
    pub fn prepare(&self) {
        if self.is_large() {
            let _ = self.maps();
        } else {
            let _ = self.documents();
        }
        let _ = self.names();
    }

    /// The gateway of a document.
    #[must_use]
    pub fn gateway_of(&self, document: &ShownDocument) -> Option<NamedGateway<'_>> {
        let side = self.compilation.sides().nth(document.side)?;
        let gateway = side.side.gateways.iter().find(|gateway| gateway.id.as_str() == document.id).or_else(|| side.side.gateways.first())?;
        Some(NamedGateway { of: side, id: &gateway.id })
    }
}
