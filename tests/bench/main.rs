//! Measures the numbers of `docs/performance.md`, and writes the tables: `bench CHANCERY MODULE.wasm TABLE.md`; `bench mesh` only measures a
//! Consul cluster, `bench migration CHANCERY` only a conversion of Ingresses, `bench growth CHANCERY TABLE.md` only worst cases. `bench edit KIND COUNT ROUNDS`
//! edits one resource of COUNT, ROUNDS times, for use under a profiler.
//!
//! The configurations come from `chancery_tests::generate`, so every measurement uses the same input. Each figure is the best of a few runs,
//! because other programs on the machine only slow a run down.
//!
//! Does not build the programs that it measures.

mod growth;
mod mesh;

use chancery_core::backend::envoy::Document;
use chancery_core::backend::{Rope, appgw, nginx};
use chancery_core::check::check;
use chancery_core::compilation::Options;
use chancery_core::compile::{Compiler, compile};
use chancery_core::diagnostic::{Policy, time};
use chancery_core::dialect;
use chancery_core::envoy_config::EnvoyConfig;
use chancery_core::explain::layout::{Item, Link, Spacing, layout};
use chancery_core::resource::{Input, Inputs};
use chancery_core::simulate::{Gateway, Request};
use chancery_tests::generate::{documents, gateway_routes, ingresses, nginx_ingresses, proxies};
use chancery_tests::work::{emit, inputs};
use mimalloc::MiMalloc;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

/// The same allocator as in the released program.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The number of runs per figure.
const RUNS: usize = 5;

const MAPPINGS: Kind = Kind { name: "Mappings", documents, edit: "  connect_timeout_ms: 100\n", options: "" };
const PROXIES: Kind =
    Kind { name: "HTTPProxies", documents: proxies, edit: "    loadBalancerPolicy: {strategy: Random}\n", options: "dialect=contour" };
const INGRESSES: Kind = Kind {
    name: "Ingresses",
    documents: ingresses,
    edit: "      - path: /edited/\n        pathType: Prefix\n        backend: {service: {name: item-0, port: {number: 80}}}\n",
    options: "dialect=ingress",
};

const ROUTES: Kind = Kind {
    name: "HTTPRoutes",
    documents: gateway_routes,
    edit: "  - matches: [{path: {type: PathPrefix, value: /edited}}]\n    backendRefs: [{name: item-0, port: 80}]\n",
    options: "dialect=envoy-gateway",
};
const NGINX: Kind = Kind {
    name: "nginx Ingresses",
    documents: nginx_ingresses,
    edit: "      - {path: /edited, pathType: Prefix, backend: {service: {name: item-0, port: {number: 80}}}}\n",
    options: "dialect=ingress-nginx",
};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["mesh"] => return println!("{}", cluster()),
        ["growth", program, table] => {
            return in_folder(|folder| fs::write(table, growth::measure(Path::new(program), folder)).expect("the table"));
        }
        ["migration", program] => return in_folder(|folder| println!("{}", migration(Path::new(program), folder))),
        ["edit", kind, count, rounds] => return edits(kind, count.parse().expect("a number"), rounds.parse().expect("a number")),
        _ => {}
    }
    let mut args = env::args().skip(1).map(PathBuf::from);
    let (Some(program), Some(module), Some(table)) = (args.next(), args.next(), args.next()) else {
        eprintln!("usage: bench CHANCERY MODULE.wasm TABLE.md");
        std::process::exit(2);
    };
    in_folder(|folder| tables(&program, &module, &table, folder));
}

/// Runs something with an empty folder.
fn in_folder(act: impl FnOnce(&Path)) {
    let folder = env::temp_dir().join(format!("chancery-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    act(&folder);
    let _ = fs::remove_dir_all(&folder);
}

/// Measures everything, and writes the tables.
fn tables(program: &Path, module: &Path, table: &Path, folder: &Path) {
    let mut rows = String::from(
        "| resources | input | JSON | libyaml | `chancery compile` | one core | memory | `chancery check` | memory | all checks | one of them edited | as an object | WebAssembly |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    const ALL: [(usize, Kind); 12] = [
        (1_000, MAPPINGS),
        (10_000, MAPPINGS),
        (50_000, MAPPINGS),
        (100_000, MAPPINGS),
        (1_000, PROXIES),
        (10_000, PROXIES),
        (1_000, INGRESSES),
        (10_000, INGRESSES),
        (1_000, ROUTES),
        (10_000, ROUTES),
        (1_000, NGINX),
        (10_000, NGINX),
    ];
    let mut looks = Vec::new();
    for (count, of) in ALL {
        let (kind, documents) = (of.name, (of.documents)(count, 7));
        let text = documents.concat();
        let input = folder.join(format!("{count}-{kind}.yaml"));
        fs::write(&input, &text).expect("the input");
        let output = folder.join("envoy.json");
        let compile = best(|| run(Command::new(program).arg("compile").arg(&input).arg("--out").arg(&output)));
        let one_core = best(|| run(Command::new(program).arg("compile").arg(&input).arg("--out").arg(&output).env("RAYON_NUM_THREADS", "1")));
        let check = best(|| run(Command::new(program).args(["check", "--quiet"]).arg(&input)));
        let written = fs::metadata(&output).map_or(0, |it| it.len());
        let (scratch, edited) = edit(&documents, of.edit, RUNS, &AS_TEXT);
        let (scratch_of_objects, edited_object) = edit(&documents, of.edit, RUNS, &AS_OBJECTS);
        let checks = checks(&text);
        let wasm = web(module, &input, folder, of.options, (200_000 / count).clamp(RUNS, 4 * RUNS));
        let times =
            |scratch: Duration, edited: Duration| format!("{} ({}\u{d7})", shown(edited), (scratch.as_secs_f64() / edited.as_secs_f64()).round());
        let _ = writeln!(
            rows,
            "| {count} {kind} | {} | {} | {} | {} | {} | {} | {} | {} | {} ({:.1}\u{d7}) | {} | {} | {} |",
            size(text.len() as u64),
            size(written),
            libyaml(&input).map_or("not measured".into(), shown),
            shown(compile.wall),
            shown(one_core.wall),
            size(compile.memory),
            shown(check.wall),
            size(check.memory),
            shown(checks),
            checks.as_secs_f64() / scratch.as_secs_f64(),
            times(scratch, edited),
            times(scratch_of_objects, edited_object),
            wasm.map_or("not measured".into(), |wasm| format!("{} ({:.1}\u{d7})", shown(wasm), wasm.as_secs_f64() / scratch.as_secs_f64()))
        );
        if count == 10_000 {
            looks.push((kind, look(program, &input, &text, check.processor, compile.processor)));
        }
    }
    rows.push_str("\nlibyaml is what that library alone takes to read the same text, in the same run.\n");
    rows.push_str(&looked(&looks));
    rows.push_str(&cluster());
    rows.push_str("\n| explained | took |\n|---|--:|\n");
    let compared = diff(program, folder);
    let _ = writeln!(rows, "| `chancery diff` of two inputs of 10,000 Mappings, with requests | {} |", shown(compared));
    let (index, request) = simulation();
    let _ =
        writeln!(rows, "| one request through 10,000 Mappings | {:.1} \u{b5}s, after {} for the index |", request.as_secs_f64() * 1e6, shown(index));
    let _ = writeln!(rows, "| layout of 2,000 boxes | {} |", shown(boxes(2_000)));
    rows.push_str(&migration(program, folder));
    println!("\n{rows}");
    fs::write(table, rows).expect("the table");
}

/// Returns a Consul cluster of 10,000 services.
fn cluster() -> String {
    let figures = mesh::measure(10_000, 1_000, RUNS);
    format!(
        "\n| Consul cluster | from text to the bytes of all proxies | one service edited | proxies made again for it |\n|---|--:|--:|--:|\n\
         | 10,000 services, 1,000 proxies | {} | {} | {} |\n",
        shown(figures.scratch),
        shown(figures.edited),
        figures.touched
    )
}

/// A kind of resource to measure with.
struct Kind {
    name: &'static str,
    documents: fn(usize, u64) -> Vec<String>,
    /// The text that an edit adds to one resource.
    edit: &'static str,
    /// The options, as [`chancery_tests::work::options`] reads them.
    options: &'static str,
}

/// The cost of one run of a program.
#[derive(Clone, Copy, Default)]
struct Cost {
    wall: Duration,
    /// The time of all processors.
    processor: Duration,
    memory: u64,
}

/// Returns the smallest times and the largest memory of a few runs.
fn best(run: impl FnMut() -> Cost) -> Cost {
    best_of(RUNS, run)
}

fn best_of(runs: usize, mut run: impl FnMut() -> Cost) -> Cost {
    let better = |a: Cost, b: Cost| Cost { wall: a.wall.min(b.wall), processor: a.processor.min(b.processor), memory: a.memory.max(b.memory) };
    (0..runs).map(|_| run()).reduce(better).unwrap_or_default()
}

/// Runs a program. Linux only reports the peak memory while the program runs.
fn run(command: &mut Command) -> Cost {
    let (start, before) = (Instant::now(), processor_of_children());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut memory = 0;
    loop {
        memory = memory.max(peak(&status));
        if child.try_wait().expect("the program").is_some() {
            return Cost { wall: start.elapsed(), processor: processor_of_children() - before, memory };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns the processor time of all child processes that have exited. Linux counts it in hundredths of a second.
fn processor_of_children() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    Duration::from_millis(10 * fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>())
}

/// The views that are compared with a compile.
const LOOKS: [&str; 4] = ["check --quiet INPUT", "ledger INPUT", "graph --format json INPUT", "explain INPUT:LINE INPUT"];

/// Returns the processor time of each of [`LOOKS`], as a multiple of a compile's.
fn look(program: &Path, input: &Path, text: &str, check: Duration, compile: Duration) -> [f64; 4] {
    let line = format!("{}:{}", input.display(), text.lines().count() / 2);
    let cost = |args: &[&str]| best(|| run(Command::new(program).args(args).arg(input))).processor;
    let all = [check, cost(&["ledger"]), cost(&["graph", "--format", "json"]), cost(&["explain", &line])];
    all.map(|of| of.as_secs_f64() / compile.as_secs_f64())
}

/// Formats a table of views, with a column for each kind.
fn looked(kinds: &[(&str, [f64; 4])]) -> String {
    let names: String = kinds.iter().map(|(kind, _)| format!(" 10,000 {kind} |")).collect();
    let mut out = format!("\n| processor time, in compiles |{names}\n|---|{}\n", "--:|".repeat(kinds.len()));
    for (at, name) in LOOKS.iter().enumerate() {
        let cells: String = kinds.iter().map(|(_, times)| format!(" {:.1}\u{d7} |", times[at])).collect();
        let _ = writeln!(out, "| `chancery {name}` |{cells}");
    }
    out
}

fn peak(status: &Path) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).unwrap_or_default() * 1024
}

/// How a compiler receives documents.
struct Given {
    /// Builds the inputs from all documents, the range of changed documents, and the previous inputs.
    inputs: fn(&[String], Range<usize>, &Inputs) -> Inputs,
    compiler: fn() -> Compiler,
}

/// As the page does it: without statuses.
const AS_TEXT: Given = Given { inputs: as_one_text, compiler: || Compiler::new(dialect::ALL).without_statuses() };

/// As a live controller does it.
const AS_OBJECTS: Given = Given { inputs: as_objects, compiler: || Compiler::new(dialect::ALL) };

/// Joins documents into one input, like a file.
fn as_one_text(documents: &[String], _: Range<usize>, _: &Inputs) -> Inputs {
    inputs([("input.yaml", documents.concat().as_str())])
}

/// Makes each document a separate input, as a cluster does. Documents outside of `changed` keep their previous strings.
fn as_objects(documents: &[String], changed: Range<usize>, before: &Inputs) -> Inputs {
    let mut now = before.clone();
    now.inputs.truncate(documents.len());
    for (at, document) in documents.iter().enumerate() {
        match now.inputs.get_mut(at) {
            Some(known) if changed.contains(&at) => known.text = document.as_str().into(),
            Some(_) => {}
            None => now.inputs.push(Input { name: format!("{at}.yaml").into(), text: document.as_str().into() }),
        }
    }
    now
}

/// Measures inputs to JSON in one process: from scratch, and again after an edit of one resource in the middle.
fn edit(documents: &[String], line: &str, rounds: usize, given: &Given) -> (Duration, Duration) {
    let options = Options::default();
    // The host keeps the written form of Application Gateways.
    let work = |compiler: &mut Compiler, written: &mut appgw::Emitted, inputs: &Inputs| {
        let start = Instant::now();
        let compilation = compiler.compile(inputs, &options);
        let emitted = |text: Rope| text.pieces().map(str::len).sum::<usize>();
        let length = match (compilation.app_gateways().next(), compilation.nginxes().next()) {
            (Some(gateway), _) => emitted(appgw::emit(gateway.parts, appgw::Document::Parts, false, compiler.executor(), written)),
            (None, Some(of)) => nginx::conf::text(of.nginx, &compilation.positions()).len(),
            (None, None) => emitted(emit(&compilation, Document::Bootstrap, compiler)),
        };
        let took = start.elapsed();
        assert!(length > 0, "something is written");
        took
    };
    let before = (given.inputs)(documents, 0..documents.len(), &Inputs::default());
    let scratch = (0..RUNS).map(|_| work(&mut (given.compiler)(), &mut appgw::Emitted::default(), &before)).min().unwrap_or_default();
    let (mut compiler, mut written) = ((given.compiler)(), appgw::Emitted::default());
    work(&mut compiler, &mut written, &before);
    let mut edited = Duration::MAX;
    for round in 0..rounds {
        let mut documents = documents.to_vec();
        // After the resources that others depend on.
        let at = documents.len() * 3 / 4 + round;
        documents[at].push_str(line);
        edited = edited.min(work(&mut compiler, &mut written, &(given.inputs)(&documents, at..at + 1, &before)));
        work(&mut compiler, &mut written, &before);
    }
    (scratch, edited)
}

/// Prints the cost of an edit of one of `count` resources: in one input, and as a separate object.
fn edits(kind: &str, count: usize, rounds: usize) {
    let of = [MAPPINGS, PROXIES, INGRESSES, ROUTES, NGINX].into_iter().find(|of| of.name == kind).expect("a kind of the first table");
    let documents = (of.documents)(count, 7);
    for (name, given) in [("one text", &AS_TEXT), ("objects", &AS_OBJECTS)] {
        let (scratch, edited) = edit(&documents, of.edit, rounds, given);
        println!("{name}: {} from scratch, {} edited, {:.1}\u{d7}", shown(scratch), shown(edited), scratch.as_secs_f64() / edited.as_secs_f64());
    }
}

/// Measures all checks after a compile.
fn checks(text: &str) -> Duration {
    let inputs = inputs([("input.yaml", text)]);
    let policy = Policy { at: time::parse("2026-11-21"), ..Policy::default() };
    let once = || {
        let mut compiler = Compiler::new(dialect::ALL);
        let mut compilation = compiler.compile(&inputs, &Options::default());
        let start = Instant::now();
        let executor = compiler.executor();
        check(&mut compilation, &policy, &mut compiler.emitted, executor);
        start.elapsed()
    };
    (0..RUNS).map(|_| once()).min().unwrap_or_default()
}

/// Measures a comparison of two inputs of 10,000 Mappings that differ in a few: as a program, from files to the printed report.
fn diff(program: &Path, folder: &Path) -> Duration {
    let mut documents = documents(10_000, 7);
    let (before, after) = (folder.join("before.yaml"), folder.join("after.yaml"));
    fs::write(&before, documents.concat()).expect("the input");
    for at in [100, 2_500, 5_000, 7_500] {
        documents[at] = documents[at].replace("service: ", "service: other-");
    }
    documents.remove(9_000);
    fs::write(&after, documents.concat()).expect("the input");
    best(|| run(Command::new(program).arg("diff").arg(&before).arg(&after))).wall
}

/// Measures reading 2,000 Ingresses of ingress-nginx, and their conversion with a comparison of all requests: as programs.
fn migration(program: &Path, folder: &Path) -> String {
    let input = folder.join("ingresses.yaml");
    fs::write(&input, nginx_ingresses(2_000, 7).concat()).expect("the input");
    let read = best(|| run(Command::new(program).args(["compile", "--output", "model"]).arg(&input)));
    let converts = || run(Command::new(program).args(["convert", "ingress-nginx-to-gateway"]).arg(&input));
    let converted = best(converts);
    format!(
        "| `chancery compile --output model` of 2,000 Ingresses of ingress-nginx | {} |\n\
         | `chancery convert ingress-nginx-to-gateway` of them, with all requests compared | {} |\n",
        shown(read.wall),
        shown(converted.wall)
    )
}

/// Measures indexing the Envoy of 10,000 Mappings, and then one request that a Mapping in the middle matches.
fn simulation() -> (Duration, Duration) {
    let documents = documents(10_000, 7);
    let compilation = compile(&inputs([("input.yaml", documents.concat().as_str())]), &Options::default(), dialect::ALL);
    let config = EnvoyConfig::of(compilation.gateways().next().expect("a gateway").ir);
    let requests: Vec<Request> = (4_990..5_010)
        .flat_map(|number| ["item", "api", "v2/api", "shop"].map(|root| format!("http://shop{}.example.com/{root}/{number}/x", number % 12)))
        .filter_map(|url| Request::new("GET", &url).ok())
        .collect();
    let round = || {
        let start = Instant::now();
        let gateway = Gateway::new(&config);
        // The index is built lazily, so the first request includes that time.
        assert!(requests.iter().map(|request| gateway.simulate(request)).any(|found| found.route.is_some()), "some request is taken");
        let index = start.elapsed();
        let start = Instant::now();
        let taken = requests.iter().filter(|request| gateway.simulate(request).route.is_some()).count();
        let each = start.elapsed() / u32::try_from(requests.len()).unwrap_or(1);
        assert!(taken > 0, "some request is taken");
        (index, each)
    };
    let rounds: Vec<_> = (0..RUNS).map(|_| round()).collect();
    (rounds.iter().map(|of| of.0).min().unwrap_or_default(), rounds.iter().map(|of| of.1).min().unwrap_or_default())
}

/// Measures the placement of this many boxes in the columns of a gateway: listeners, hosts, Mappings with their routes, clusters.
fn boxes(count: usize) -> Duration {
    let columns = [2, 20, count * 3 / 10, count * 4 / 10, count * 3 / 10 - 22];
    let (mut links, mut start) = (Vec::new(), 0);
    for pair in columns.windows(2) {
        links.extend((0..pair[1]).map(|to| Link { from: start + to * pair[0] / pair[1], to: start + pair[0] + to }));
        links.extend((0..pair[1]).step_by(4).map(|to| Link { from: start + to * 7 % pair[0], to: start + pair[0] + to }));
        start += pair[0];
    }
    let items = vec![Item { width: 200, height: 24, ..Item::default() }; columns.iter().sum()];
    let round = || {
        let start = Instant::now();
        let placed = layout(&items, &links, &Spacing::default());
        let took = start.elapsed();
        drop(placed);
        took
    };
    (0..RUNS).map(|_| round()).min().unwrap_or_default()
}

/// Measures how long libyaml alone reads an input, if Python with PyYAML is installed.
fn libyaml(input: &Path) -> Option<Duration> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/libyaml.py");
    let output = Command::new("python3").arg(script).arg(input).arg(RUNS.to_string()).output().ok()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().ok().map(Duration::from_secs_f64)
}

/// Measures text to JSON in WebAssembly, in Node. The engine has not yet optimised the code in the first runs.
fn web(module: &Path, input: &Path, folder: &Path, options: &str, runs: usize) -> Option<Duration> {
    let question = folder.join("question");
    fs::write(&question, format!("{options}\n{}", fs::read_to_string(input).ok()?)).ok()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("wasm/run.mjs");
    let output = Command::new("node").arg(script).arg(module).args(["--time", &runs.to_string()]).arg(&question).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.parse::<f64>().ok()).min_by(f64::total_cmp).map(|best| Duration::from_secs_f64(best / 1000.0))
}

fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 0.01 {
        format!("{:.0} ms", seconds * 1000.0)
    } else {
        format!("{:.1} ms", seconds * 1000.0)
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
fn size(bytes: u64) -> String {
    let mib = bytes as f64 / f64::from(1 << 20);
    if mib >= 10.0 { format!("{mib:.0} MiB") } else { format!("{mib:.1} MiB") }
}
