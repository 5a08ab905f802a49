//! Key material is in no output.

use chancery_core::backend::envoy::Document;
use chancery_core::explain::{Snapshot, View, Viewed, dump_config, dump_with_origins, explain_line, graph};
use chancery_core::resource::SourceId;
use chancery_core::text::to_json;
use chancery_tests::work::{Work, inputs, options};

/// Not a key, and easily found.
const MARK: &str = "TUFSS0VEIEtFWSBNQVRFUklBTA";
const PLAIN: &str = "MARKED KEY MATERIAL";

fn input() -> String {
    format!(
        "---
apiVersion: v1
kind: Secret
metadata: {{name: shop, namespace: default}}
type: kubernetes.io/tls
data:
  tls.crt: {MARK}==
  tls.key: {MARK}==
---
apiVersion: v1
kind: Secret
metadata: {{name: shop-text, namespace: default}}
stringData:
  tls.crt: {PLAIN}
  tls.key: {PLAIN}
---
apiVersion: v1
kind: Secret
metadata: {{name: 'broken
data:
  tls.key: {MARK}==
---
apiVersion: v1
kind: Secret
metadata: {{name: folded, namespace: default}}
data:
  tls.crt: !!binary |
    {MARK}==
  tls.key: 17
---
apiVersion: v1
kind: Secret
metadata:
  name: annotated
  namespace: default
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{{\"data\": {{\"tls.key\": \"{MARK}==\"}}}}'
data:
  tls.key: {MARK}==
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {{name: https, namespace: default}}
spec: {{port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {{namespace: {{from: ALL}}}}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {{name: shop, namespace: default}}
spec:
  hostname: shop.example.com
  tlsSecret: {{name: shop}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {{name: text, namespace: default}}
spec:
  hostname: text.example.com
  tlsSecret: {{name: shop-text}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {{name: shop, namespace: default}}
spec: {{hostname: shop.example.com, prefix: /, service: shop}}
"
    )
}

#[test]
fn key_material_is_in_no_output() {
    for line in ["", "missing-secrets=assume", "env.AMBASSADOR_FORCE_SECRET_VALIDATION=true"] {
        let text = input();
        let mut work = Work::new(&inputs([("input.yaml", text.as_str())]), &options(line).expect("options"));
        let mut outputs = vec![("bootstrap", work.text(Document::Bootstrap)), ("resources", work.text(Document::Resources))];
        let compilation = &work.compilation;
        let (positions, gateway) = (compilation.positions(), work.gateway());
        outputs.push(("findings", format!("{:?}", work.findings())));
        outputs.push(("findings as JSON", serde_json::to_string(&work.findings()).expect("JSON")));
        outputs.push(("ledger", serde_json::to_string(&work.ledger()).expect("JSON")));
        outputs.push(("ir", to_json(&dump_with_origins(gateway, &positions), false)));
        outputs.push(("ir in Rust", format!("{:?}", gateway.ir)));
        outputs.push(("objects in Rust", format!("{:?}", compilation.objects)));
        outputs.push(("stages in Rust", format!("{:?}", gateway.side.stages)));
        outputs.push(("config", to_json(&dump_config(gateway.of()).0, false)));
        outputs.push(("graph", serde_json::to_string(&graph(compilation, &positions)).expect("JSON")));
        let snapshot = Snapshot::new(compilation, &options(line).expect("options"), &[], false);
        let replayed = Work::new(&snapshot.inputs(), &snapshot.options);
        assert_eq!(replayed.ledger(), work.ledger(), "stand-ins have the form of what they stand for");
        outputs.push(("snapshot", snapshot.write()));
        let viewed = Viewed::new(gateway.ir, View::Envoy, &mut chancery_core::backend::envoy::v3::Emitted::new());
        let documents = [(gateway, viewed)];
        for line in 1..=u32::try_from(text.lines().count()).expect("a few lines") {
            let report = explain_line(compilation, &positions, &documents, SourceId(0), line, None);
            outputs.push(("explain", serde_json::to_string(&report).expect("JSON")));
        }
        for (what, output) in outputs {
            for mark in [MARK, PLAIN] {
                let around = output.find(mark).map(|at| output.chars().skip(at.saturating_sub(300)).take(400).collect::<String>());
                assert_eq!(around, None, "{what} with `{line}` shows key material");
            }
        }
    }
}
