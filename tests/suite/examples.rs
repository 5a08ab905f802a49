//! Checks that `assets/examples` compile with the results that their first lines promise.
//!
//! The first comment lines of an example may contain `Findings: CODE, CODE`: the example must have exactly these codes. Without the line it must
//! have no findings. They may also contain `Options: WORDS`, as in fixtures.

use chancery_core::backend::OutputMap;
use chancery_core::backend::envoy::{self, v3::output_map};
use chancery_core::compare::{RequestOptions, Side, SideSource, compare_envoy, requests};
use chancery_core::compilation::{GatewayRef, Options};
use chancery_core::compile::EmittedByGateway;
use chancery_core::envoy_config::{ByPointer, EnvoyConfig};
use chancery_core::explain::{self, RunningGateway};
use chancery_core::resource::Inputs;
use chancery_core::simulate::WrittenRequest;
use chancery_tests::work::{Work, inputs, options};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// An example: a file or a folder of files.
pub struct Example {
    pub name: String,
    pub inputs: Inputs,
    pub options: Options,
    promised: BTreeSet<String>,
}

pub fn examples() -> Vec<Example> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../assets/examples");
    let mut paths = Vec::new();
    for dialect in fs::read_dir(folder).expect("a folder for each dialect").flatten().filter(|entry| entry.path().is_dir()) {
        paths.extend(fs::read_dir(dialect.path()).expect("examples").flatten().map(|entry| entry.path()));
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "yaml"));
    paths.sort();
    let example = |path: PathBuf| {
        let file = |path: &std::path::Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let dialect = path.parent().map(file).unwrap_or_default();
        let name = format!("{dialect}/{}", file(&path));
        let text = fs::read_to_string(&path).expect("an example");
        let told = |what: &str| text.lines().take_while(|line| line.starts_with('#')).find_map(|line| line.strip_prefix(what));
        let options = options(&format!("dialect={dialect} {}", told("# Options: ").unwrap_or_default())).expect("options");
        let promised = told("# Findings: ").into_iter().flat_map(|codes| codes.split(", ")).map(str::to_string).collect();
        Example { inputs: inputs([(name.as_str(), text.as_str())]), name, options, promised }
    };
    paths.into_iter().map(example).collect()
}

#[test]
fn examples_have_promised_findings() {
    let examples = examples();
    assert!(examples.len() >= 15, "there are {} examples", examples.len());
    for example in &examples {
        let mut work = Work::new(&example.inputs, &example.options);
        let found = work.findings();
        let codes: BTreeSet<String> = found.iter().map(|finding| finding.code.to_string()).collect();
        let told: Vec<_> = found.iter().map(|finding| (finding.span.as_ref().map(|span| span.line), finding.code, &finding.message)).collect();
        assert_eq!(codes, example.promised, "{}: {told:#?}", example.name);
        let Some(side) = work.compilation.sides().next() else { panic!("{} has no side", example.name) };
        if side.gateways().next().is_none() {
            // The side has no Envoy, so its first output is the gateway's configuration.
            let output = side.dialect().outputs.first().expect("an output");
            assert!((output.document)(side).is_some_and(|document| !document.is_null()), "{} gives `{}`", example.name, output.name);
            continue;
        }
        let envoy = work.envoy();
        let listeners = envoy["static_resources"]["listeners"].as_array().map_or(0, Vec::len);
        // Emissary always has a port for its readiness checks.
        let always = usize::from(example.name.starts_with("ambassador/"));
        assert!(listeners > always, "{} gives Envoy something to listen to", example.name);
    }
}

#[test]
fn lazy_clusters_equal_eager_clusters() {
    for example in examples() {
        let work = Work::new(&example.inputs, &example.options);
        for gateway in work.compilation.gateways() {
            let (lazy, all) = (EnvoyConfig::on_demand(gateway.ir), EnvoyConfig::of(gateway.ir));
            let names: Vec<&str> = all.clusters.iter().map(|cluster| cluster.message.name.as_str()).collect();
            assert_eq!(lazy.clusters.names().collect::<Vec<_>>(), names, "{}", example.name);
            let Some(last) = names.last() else { continue };
            assert_eq!(lazy.cluster(last), all.cluster(last), "{}", example.name);
            assert_eq!(lazy.clone().clusters.all_mut(), &all.clusters.iter().cloned().collect::<Vec<_>>(), "{}", example.name);
            assert!(lazy == all, "{}", example.name);
        }
    }
}

/// Removes each document of each example in turn. Clusters that both sides share are not built, and this must not change the result.
#[test]
fn compare_lazy_clusters_equals_compare_eager_clusters() {
    let mut shared = 0;
    for example in examples() {
        let file = example.inputs.inputs.first().expect("a file");
        let documents: Vec<&str> = file.text.split("\n---\n").collect();
        for without in 0..documents.len().min(6) {
            let left: Vec<&str> = documents.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, text)| *text).collect();
            let mut work = Work::new(&example.inputs, &example.options);
            let edited = work.compiler.compile(&inputs([(&*file.name, left.join("\n---\n").as_str())]), &example.options);
            let positions = [work.compilation.positions(), edited.positions()];
            for (before, after) in work.compilation.gateways().zip(edited.gateways()) {
                let maps: [OutputMap; 2] =
                    [before, after].map(|gateway| output_map(gateway.ir, &envoy::Options::default(), work.compiler.emitted.of(gateway)));
                let told = |configs: [EnvoyConfig; 2]| {
                    let source = |at: usize, gateway| Some(SideSource { gateway, positions: &positions[at], map: &maps[at] });
                    let sides = [Side { config: &configs[0], source: source(0, before) }, Side { config: &configs[1], source: source(1, after) }];
                    (compare_envoy(&sides[0], &sides[1]), requests(&sides[0], &sides[1], &RequestOptions::default()))
                };
                let lazy = [before, after].map(|gateway| EnvoyConfig::on_demand(gateway.ir));
                for name in lazy[0].clusters.shared_with(&lazy[1].clusters) {
                    assert_eq!(lazy[0].cluster(name).map(|of| &of.message), lazy[1].cluster(name).map(|of| &of.message), "{}", example.name);
                    shared += 1;
                }
                let lazy = told([before, after].map(|gateway| EnvoyConfig::on_demand(gateway.ir)));
                assert_eq!(lazy, told([before, after].map(|gateway| EnvoyConfig::of(gateway.ir))), "{} without document {without}", example.name);
            }
        }
    }
    assert!(shared > 50, "{shared} clusters are shared");
}

/// The page starts with a request if an example routes HTTP.
#[test]
fn examples_of_http_have_a_request() {
    for example in examples() {
        let work = Work::new(&example.inputs, &example.options);
        let positions = work.compilation.positions();
        let names = explain::overview(&work.compilation, &positions);
        let running = RunningGateway::all(&work.compilation);
        let suggested = |gateway: &RunningGateway<'_>| {
            let config = match gateway {
                RunningGateway::Envoy(of) => EnvoyConfig::of(of.ir),
                RunningGateway::AppGateway(_) | RunningGateway::Nginx(_) => EnvoyConfig::default(),
            };
            let parts = ByPointer::of(&config);
            let has_route = |of: &GatewayRef<'_>| explain::routes(*of).any(|row| !row.made_by.is_empty() && parts.route(&row.pointer).is_some());
            if let RunningGateway::Envoy(of) = gateway
                && !has_route(of)
            {
                return true;
            }
            let verdict = |written: &WrittenRequest| {
                let request = written.read().ok()?;
                Some(gateway.receiver(&request).route(&positions, &request, &mut EmittedByGateway::default(), &names).verdict().clone())
            };
            !explain::suggested_requests(*gateway, &parts, verdict).is_empty()
        };
        assert!(running.iter().any(suggested), "{}", example.name);
    }
}
