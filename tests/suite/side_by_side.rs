//! Checks two dialects in one input: each is compiled separately, and hosts or ports that both claim are reported.

use chancery_core::compilation::{Compilation, Options, SideRef};
use chancery_core::compile::{Compiler, compile};
use chancery_core::dialect;
use chancery_core::explain::{Finding, Graph, LedgerRow, NodeKind};
use chancery_core::text::to_json;
use chancery_tests::work::{Work, inputs};

const EMISSARY: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: default}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shops, namespace: default}
spec:
  hostname: '*.example.com'
  requestPolicy: {insecure: {action: Route}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop, namespace: default}
spec:
  hostname: shop.example.com
  requestPolicy: {insecure: {action: Route}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: shop, namespace: default}
spec: {hostname: '*', prefix: /, service: web}
---
";

const CONTOUR: &str = "\
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: default}
spec:
  virtualhost:
    fqdn: shop.example.com
  routes: [{services: [{name: web, port: 80}]}]
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: stock, namespace: default}
spec:
  virtualhost:
    fqdn: stock.example.com
  routes: [{services: [{name: web, port: 80}]}]
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: other, namespace: default}
spec:
  virtualhost:
    fqdn: other.example.org
  routes: [{services: [{name: web, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80}]}
";

fn compiled(text: &str) -> Compilation {
    compile(&inputs([("input.yaml", text)]), &Options::default(), dialect::ALL)
}

fn findings(of: &Compilation) -> Vec<Finding> {
    chancery_core::explain::findings(of, &of.positions())
}

fn ledger(of: &Compilation) -> Vec<LedgerRow> {
    chancery_core::explain::ledger(of, &of.positions())
}

fn graph(of: &Compilation) -> Graph {
    chancery_core::explain::graph(of, &of.positions())
}

fn names(of: &Compilation) -> Vec<&'static str> {
    of.sides.iter().map(|side| side.dialect.name).collect()
}

fn both() -> String {
    format!("{EMISSARY}{CONTOUR}")
}

fn line(text: &str, what: &str) -> u32 {
    1 + text.lines().position(|line| line.contains(what)).expect("the line") as u32
}

fn place(finding: &Finding) -> (u32, Vec<u32>) {
    let related = finding.related.iter().map(|related| related.span.as_ref().map_or(0, |span| span.line)).collect();
    (finding.span.as_ref().map_or(0, |span| span.line), related)
}

#[test]
fn two_dialects_compile_separately() {
    let text = both();
    let both = compiled(&text);
    assert_eq!(names(&both), ["ambassador", "contour"]);
    for side in both.sides() {
        let name = side.dialect().name;
        let alone = Work::new(&inputs([("input.yaml", text.as_str())]), &Options::of(side.dialect())).compilation;
        let alone = alone.sides().next().expect("a side");
        assert!(side.irs().eq(alone.irs()), "{name}");
        let documents = |of: SideRef<'_>| {
            let documents = of.dialect().outputs.iter().filter_map(|output| (output.document)(of));
            documents.map(|document| to_json(&document, false)).collect::<Vec<_>>()
        };
        assert_eq!(documents(side), documents(alone), "{name}");
    }
}

#[test]
fn one_dialect_alone_is_one_side() {
    assert_eq!(names(&compiled(CONTOUR)), ["contour"]);
    assert_eq!(names(&compiled(EMISSARY)), ["ambassador"]);
    let asked = Options::default().in_dialect("contour");
    assert_eq!(names(&compile(&inputs([("input.yaml", both().as_str())]), &asked, dialect::ALL)), ["contour"]);
}

#[test]
fn shared_host_is_reported_with_both_lines() {
    let text = both();
    let all = findings(&compiled(&text));
    let found: Vec<_> = all.iter().filter(|finding| finding.code == "host-claimed-twice").collect();
    let places: Vec<_> = found.iter().map(|finding| place(finding)).collect();
    let (exact, wide) = (line(&text, "hostname: shop.example.com"), line(&text, "hostname: '*.example.com'"));
    assert_eq!(places, [(line(&text, "fqdn: shop.example.com"), vec![exact]), (line(&text, "fqdn: stock.example.com"), vec![wide])]);
    assert!(found.iter().all(|finding| finding.dialect == Some("contour") && finding.severity == "warning"));
}

#[test]
fn shared_port_is_reported_at_its_line() {
    let text = both();
    let all = findings(&compiled(&text));
    let found: Vec<_> = all.iter().filter(|finding| finding.code == "port-claimed-twice").collect();
    let [one] = found[..] else { panic!("one port, not {found:?}") };
    // Contour listens there by default, so no line sets the port.
    assert_eq!(place(one), (line(&text, "port: 8080"), vec![0]));
    let elsewhere = text.replace("port: 8080", "port: 8000");
    assert!(!findings(&compiled(&elsewhere)).iter().any(|finding| finding.code == "port-claimed-twice"));
}

#[test]
fn a_catch_all_claims_no_host_in_particular() {
    let text = both().replace("hostname: shop.example.com", "hostname: '*'").replace("hostname: '*.example.com'", "hostname: inner.example.net");
    assert!(!findings(&compiled(&text)).iter().any(|finding| finding.code == "host-claimed-twice"));
}

#[test]
fn object_ignored_by_one_controller_belongs_to_other() {
    let sides = compiled(&both());
    let findings = findings(&sides);
    assert!(!findings.iter().any(|finding| finding.code == "unknown-kind"));
    let rows = ledger(&sides);
    let of = |kind: &str| rows.iter().filter(|row| row.resource.kind == kind).map(|row| (row.dialect, row.state)).collect::<Vec<_>>();
    assert_eq!(of("Mapping"), [(Some("ambassador"), "emitted")]);
    assert_eq!(of("HTTPProxy"), [(Some("contour"), "emitted"); 3]);
    let both: Vec<_> = of("Service").into_iter().map(|(dialect, _)| dialect).collect();
    assert_eq!(both, [Some("ambassador"), Some("contour")], "both read Services");
}

#[test]
fn errors_of_the_text_are_reported_once() {
    let text = format!("{}---\na: [\n", both());
    let all = findings(&compiled(&text));
    let syntax: Vec<_> = all.iter().filter(|finding| finding.code == "syntax").collect();
    assert!(matches!(syntax[..], [one] if one.dialect.is_none()), "{syntax:?}");
}

#[test]
fn graph_has_resources_once_and_envoys_separately() {
    let graph = graph(&compiled(&both()));
    let services = graph.nodes.iter().filter(|node| node.id == "Service/web/default");
    assert_eq!(services.count(), 1);
    for side in ["ambassador", "contour"] {
        let clusters = graph.nodes.iter().filter(|node| node.kind == NodeKind::Cluster && node.gateway.as_deref() == Some(side));
        assert!(clusters.count() > 0, "{side}");
    }
    let known = |id: &str| graph.nodes.iter().any(|node| node.id == id);
    assert!(graph.edges.iter().all(|edge| known(&edge.from) && known(&edge.to)));
}

#[test]
fn memory_of_two_dialects_equals_scratch() {
    let mut compiler = Compiler::new(dialect::ALL);
    for text in [both(), CONTOUR.to_string(), both().replace("shop.example.com", "new.example.com"), EMISSARY.to_string(), both()] {
        let inputs = inputs([("input.yaml", text.as_str())]);
        let told = |of: &Compilation| serde_json::to_string(&(findings(of), ledger(of), graph(of))).expect("JSON");
        assert_eq!(told(&compiler.compile(&inputs, &Options::default())), told(&compile(&inputs, &Options::default(), dialect::ALL)));
    }
}
