//! Tests precedence of flags, file and ContourConfiguration, origins of settings, conversion, and the effects of changes.

use super::Settings;
use super::convert::convert;
use super::state::{changes, controller_state};
use crate::cluster::{Cluster, Memory};
use crate::{Options, read_options};
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use chancery_base::compilation::{self, ControllerState, Failure, Ledger, OptionValue, Restart, Serving};
use chancery_base::executor::Sequential;
use chancery_base::read::{self, DocumentCache};
use chancery_base::resource::{Inputs, Objects, Rule};
use chancery_explain::Positions;
use chancery_text::Str;

const FILE: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: contour
  namespace: projectcontour
data:
  contour.yaml: |
    # Who may ask.
    ingress-status-address: 192.0.2.1
    incluster: true
    timeouts:
      # Long enough for uploads.
      request-timeout: 15s  # as of last year
    metrics:
      envoy:
        port: 9100
    # The end.
";

fn inputs(text: &str) -> Inputs {
    Inputs::one("input.yaml", text)
}

fn options(flags: &[&str]) -> Options {
    Options { arguments: flags.iter().map(Str::new).collect(), ..Options::default() }
}

fn objects(text: &str, options: &Options) -> Objects {
    read::read(&inputs(text), &read_options(options), &mut DocumentCache::new()).0
}

/// The settings at startup or the error, and the state of the configuration.
fn started(text: &str, flags: &[&str]) -> (Result<Settings, Failure>, ControllerState) {
    started_with(text, &options(flags))
}

fn started_with(text: &str, options: &Options) -> (Result<Settings, Failure>, ControllerState) {
    let objects = objects(text, options);
    let (mut ledger, mut sink) = (Ledger::new(&objects), chancery_base::diagnostic::Findings::default());
    let file = super::file_name(options);
    let cluster = Cluster::apply(&objects, file.as_ref(), false, &Sequential, &mut Memory::default(), &mut ledger, &mut sink);
    let settings = Settings::load(&cluster, options, &mut ledger, &mut sink);
    let settings = settings.and_then(|settings| settings.start(&cluster, &mut sink).map(|()| settings));
    let state = controller_state(&cluster, options, settings.as_ref());
    (settings, state)
}

fn load(text: &str, flags: &[&str]) -> Result<Settings, Failure> {
    started(text, flags).0
}

fn settings(text: &str, flags: &[&str]) -> Settings {
    load(text, flags).unwrap_or_else(|failure| panic!("{}", failure.error))
}

fn of_crd(spec: &str) -> String {
    alloc::format!(
        "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {{name: contour, namespace: projectcontour}}\nspec: {spec}\n"
    )
}

const BY_FILE: &str = "--config-path=/config/contour.yaml";
const BY_NAME: &str = "--contour-config-name=contour";

#[test]
fn flags_and_file_have_own_defaults() {
    assert_eq!(settings("", &[]).at("envoy.timeouts.connectionIdleTimeout").str(), "60s");
    assert!(!settings(&of_crd("{}"), &[BY_NAME]).at("envoy.timeouts.connectionIdleTimeout").exists());
}

#[test]
fn flags_override_file_except_metrics_port() {
    let settings = settings(FILE, &[BY_FILE, "--ingress-status-address=192.0.2.9", "--stats-port=9200"]);
    assert_eq!(settings.at("ingress.statusAddress").str(), "192.0.2.9");
    assert_eq!(settings.at("envoy.metrics.port").int(), Some(9100));
    assert_eq!(settings.at("envoy.health.port").int(), Some(9200));
}

#[test]
fn settings_from_file_have_lines() {
    let flags = options(&[BY_FILE]);
    let objects = objects(FILE, &flags);
    let inputs = inputs(FILE);
    let line = |origin| Positions::new(&inputs, &objects).place(&chancery_base::diagnostic::Place::origin(Some(origin))).map(|span| span.line);
    let file = settings(FILE, &[BY_FILE, "--xds-port=18001"]);
    assert_eq!(line(file.at("envoy.timeouts.requestTimeout").origin()), Some(13));
    assert_eq!(line(file.at("envoy.metrics.port").origin()), Some(16));
    assert_eq!(file.at("xdsServer.port").origin().rule(), Rule::Environment);
    assert_eq!(file.at("debug.port").origin().rule(), Rule::Default);
}

#[test]
fn file_errors_are_reported_with_line() {
    let text = FILE.replace("15s", "soon");
    let flags = OptionValue::List(Vec::from([BY_FILE.into()]));
    let options = compilation::Options::default().with("controller-arg", flags);
    let compilation = chancery_compile::compile(&inputs(&text), &options, &[&crate::DIALECT]);
    let positions = compilation.positions();
    let lines: Vec<_> =
        compilation.all_diagnostics().filter_map(|finding| Some((finding.code.name, positions.place(&finding.place)?.line))).collect();
    assert_eq!(lines, [("invalid-configuration", 13)]);
}

#[test]
fn keys_and_types_of_the_file_are_strict() {
    let error = |yaml: &str| {
        let file =
            alloc::format!("{}  contour.yaml: |\n    {}\n", FILE.split("  contour.yaml").next().unwrap_or_default(), yaml.replace('\n', "\n    "));
        load(&file, &[BY_FILE]).map(|_| ()).map_err(|failure| failure.error.replace("failed to parse configuration: yaml: ", ""))
    };
    assert_eq!(error("debug: y"), Ok(()));
    let unknown = "unmarshal errors:\n  line 2: field tiemouts not found in type config.Parameters";
    assert_eq!(error("debug: true\ntiemouts: {}"), Err(unknown.to_string()));
    let wrong = "unmarshal errors:\n  line 1: cannot unmarshal !!str `many` into int";
    assert_eq!(error("kubernetesClientBurst: many"), Err(wrong.to_string()));
}

#[test]
fn conversion_keeps_comments_and_lists_unconverted() {
    let flags = options(&[BY_FILE, "--watch-namespaces=teams"]);
    let converted = convert(&objects(FILE, &flags), &flags).unwrap_or_else(|failure| panic!("{}", failure.error));
    let spec = converted.text.split("spec:\n").nth(1).unwrap_or_default();
    assert!(spec.contains("    # Who may ask.\n    statusAddress: "), "{spec}");
    assert!(spec.contains("      # Long enough for uploads.\n      requestTimeout: 15s  # as of last year\n"), "{spec}");
    assert!(spec.ends_with("# The end.\n"), "{spec}");
    let left: Vec<&str> = converted.left.iter().map(|left| left.name.as_str()).collect();
    assert_eq!(left, ["incluster", "--watch-namespaces"]);
}

#[test]
fn a_conversion_does_the_same() {
    for flags in [&[BY_FILE][..], &[BY_FILE, "--accesslog-format=json", "--root-namespaces=a,b", "--insecure"], &["--stats-port=9"]] {
        let text = if flags.contains(&BY_FILE) { FILE } else { "" };
        let before = settings(text, flags);
        let options = options(flags);
        let converted = convert(&objects(text, &options), &options).unwrap_or_else(|failure| panic!("{}", failure.error));
        let differences = changes(&before.root, &settings(&converted.text, &[BY_NAME]).root);
        let only_json_fields =
            differences.iter().all(|change| change.path == "envoy.logging.accessLogJSONFields" && !flags.contains(&"--accesslog-format=json"));
        assert!(only_json_fields, "{differences:?}\n{}", converted.text);
    }
}

#[test]
fn contour_serves_waits_or_falls_back() {
    let (_, ready) = started(&of_crd("{debug: {port: 6061}}"), &[BY_NAME]);
    assert_eq!((ready.serving, ready.error), (Serving::Ready, None));
    let (broken, unready) = started(&of_crd("{envoy: {timeouts: {requestTimeout: tomorrow}}}"), &[BY_NAME]);
    let error = broken.expect_err("it is broken").error;
    assert_eq!((unready.serving, unready.error.as_ref()), (Serving::Unready, Some(&error)));
    let configuration = unready.configuration.expect("the configuration is there");
    let message = configuration.at(&["status", "conditions"]).and_then(|all| all.as_array()?.first()?.get("message")?.as_str());
    assert_eq!(message, Some(error.as_str()));
    assert_eq!(configuration.get("finalizers").and_then(|all| Some(all.as_array()?.len())), Some(1));
    let (_, gone) = started("", &[BY_NAME]);
    assert_eq!((gone.serving, gone.configuration), (Serving::Defaults, None));
}

#[test]
fn a_change_requires_the_restart_its_setting_requires() {
    let one = settings(&of_crd("{envoy: {timeouts: {requestTimeout: 1s}}, xdsServer: {port: 1}}"), &[BY_NAME]);
    let other = settings(&of_crd("{envoy: {timeouts: {requestTimeout: 2s}}, httpproxy: {rootNamespaces: [a]}}"), &[BY_NAME]);
    let found = changes(&one.root, &other.root);
    let restart = |path: &str| found.iter().find(|found| found.path == path).map(|found| found.restart);
    assert_eq!(restart("envoy.timeouts.requestTimeout"), Some(Restart::Nothing));
    assert_eq!(restart("httpproxy.rootNamespaces"), Some(Restart::Controllers));
    assert_eq!(restart("xdsServer.port"), Some(Restart::Process));
    assert_eq!(found.len(), 3);
}

#[test]
fn startup_uses_named_configuration_in_own_namespace() {
    let text = "apiVersion: projectcontour.io/v1alpha1\nkind: ContourConfiguration\nmetadata: {name: c, namespace: edge}\n\
                spec: {envoy: {metrics: {port: 9100}}}\n";
    for name in ["contour-config", "contour-config-name"] {
        let mut given = compilation::Options::of(&crate::DIALECT);
        given.insert(name, OptionValue::Text("c".into()));
        let elsewhere = started_with(text, &Options::of(&given)).0.err().map(|failure| failure.error).unwrap_or_default();
        assert!(elsewhere.contains("projectcontour/c"), "{elsewhere}");
        given.insert("contour-namespace", OptionValue::Text("edge".into()));
        let (settings, state) = started_with(text, &Options::of(&given));
        assert!(settings.is_ok_and(|settings| settings.at("envoy.metrics.port").int() == Some(9100)));
        assert!(state.configuration.is_some_and(|of| of.at(&["namespace"]).and_then(|of| of.as_str()) == Some("edge")));
        let made = chancery_compile::compile(&inputs(text), &given, &[&crate::DIALECT]);
        let gateways: Vec<String> = made.gateways().map(|gateway| gateway.id.to_string()).collect();
        assert_eq!(gateways, ["edge/contour"]);
    }
}
