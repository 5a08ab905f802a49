//! Checks that a compiler with remembered results returns the same as one without, after any edit.

use chancery_core::backend::Rope;
use chancery_core::backend::appgw;
use chancery_core::backend::envoy::{self, Document};
use chancery_core::compilation::{Compilation, Options};
use chancery_core::compile::Compiler;
use chancery_core::dialect;
use chancery_core::explain::dump_with_origins;
use chancery_core::ir::appgw::Document as AppGatewayDocument;
use chancery_core::ir::{NetworkFilter, Route};
use chancery_core::resource::Inputs;
use chancery_core::text::to_json;
use chancery_tests::chance::Chance;
use chancery_tests::fixture;
use chancery_tests::generate::{documents, ingresses, mesh, proxies};
use chancery_tests::threads::Threads;
use chancery_tests::work::{Work, inputs, options};
use std::collections::BTreeSet;
use std::sync::Arc;

mod edits;
mod gateway;
mod nginx;

use edits::{edit, edit_around, edit_ingresses, edit_lines, split};

#[test]
fn memories_change_nothing_of_ingresses() {
    const AROUND: &str = "
---
apiVersion: v1
kind: Pod
metadata: {name: pod, namespace: default, labels: {app: web}}
spec: {containers: [{name: a, ports: [{name: http, containerPort: 8080}], readinessProbe: {httpGet: {port: http, path: /ready}}}]}
---
apiVersion: v1
kind: Service
metadata: {name: item-0, namespace: default}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Secret
metadata: {name: cert, namespace: default}
type: kubernetes.io/tls
data: {tls.crt: bm90IG9uZQ==, tls.key: bm90IG9uZQ==}
---
apiVersion: appgw.ingress.azure.io/v1beta1
kind: AzureApplicationGatewayRewrite
metadata: {name: set, namespace: default}
spec: {rewriteRules: [{name: one, ruleSequence: 1, actions: {requestHeaderConfigurations: [{actionType: set, headerName: a, headerValue: b}]}}]}
---
apiVersion: appgw.ingress.k8s.io/v1
kind: AzureIngressProhibitedTarget
metadata: {name: theirs, namespace: default}
spec: {hostname: item3.example.com, paths: [/api/*]}
";
    let around = |count, seed| {
        let mut documents = ingresses(count, seed);
        documents.extend(split(AROUND));
        documents
    };
    let mut before = Vec::new();
    memories_change_nothing_of(
        around,
        |seed| {
            let word = if seed % 3 == 0 { "dialect=ingress env.APPGW_ENABLE_SHARED_APPGW=true" } else { "dialect=ingress" };
            options(word).expect("options")
        },
        move |documents, chance| {
            if before.is_empty() {
                before.clone_from(documents);
            }
            edit_ingresses(documents, &before, chance);
        },
    );
}

/// Edits the inputs of a dialect's fixtures and examples at random, to cover every feature.
fn memories_change_nothing_of_any_feature(dialect: &str) {
    let root = format!("{}/..", env!("CARGO_MANIFEST_DIR"));
    let read = |folder: String, extension: &str| {
        let files = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.expect("an entry").path());
        let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|known| known == extension)).collect();
        files.sort();
        files.into_iter().map(|path| std::fs::read_to_string(path).expect("a text")).collect::<Vec<_>>()
    };
    let fixtures = read(format!("{root}/tests/fixtures/{dialect}"), "md");
    let examples = read(format!("{root}/assets/examples/{dialect}"), "yaml");
    let questions = fixtures.iter().flat_map(|fixture| fixture::run(fixture).questions);
    let inputs: Vec<(String, String)> = questions
        .map(|question| question.split_once('\n').map(|(words, text)| (words.to_string(), text.to_string())).expect("options"))
        .chain(examples.into_iter().map(|text| (format!("dialect={dialect}"), text)))
        .collect();
    assert!(inputs.len() > 4, "{dialect}: {} inputs", inputs.len());
    for (number, (words, text)) in inputs.iter().enumerate() {
        let before = split(text);
        let options = options(words).expect("options");
        hold(number as u64, rounds(8) as usize, before.clone(), &options, |documents, chance| edit_lines(documents, &before, chance));
    }
}

#[test]
fn memories_change_nothing_of_any_feature_of_ambassador() {
    memories_change_nothing_of_any_feature("ambassador");
}

#[test]
fn memories_change_nothing_of_any_feature_of_contour() {
    memories_change_nothing_of_any_feature("contour");
}

#[test]
fn memories_change_nothing_of_any_feature_of_ingress() {
    memories_change_nothing_of_any_feature("ingress");
}

#[test]
fn memories_change_nothing_of_any_feature_of_consul() {
    memories_change_nothing_of_any_feature("consul");
}

/// Documents that only a live agent sends, and proxies that this agent does not run.
const LIVE: &str = "---\nKind: consul-agent\nDatacenter: dc1\nNode: node1\nTrustDomain: d.consul\n---\nNode: n2\nAddress: 10.0.0.2\nService: {ID: \
                    item-3-sidecar-proxy, Service: p, Kind: connect-proxy, Port: 20000, Proxy: {DestinationServiceName: item-3, Upstreams: \
                    [{DestinationName: item-10, LocalBindPort: 9191}]}}\n";

#[test]
fn memories_change_nothing_of_a_mesh() {
    for seed in 0..2 {
        let mut before = mesh(24, 5, seed);
        if seed % 2 == 1 {
            before.extend(split(LIVE));
        }
        let options = options("dialect=consul").expect("options");
        hold(seed, 12, before.clone(), &options, |documents, chance| edit_lines(documents, &before, chance));
    }
}

#[test]
fn mesh_edit_rebuilds_only_affected_proxies() {
    let documents = mesh(200, 40, 7);
    let of = |documents: &[String]| {
        let named: Vec<(String, String)> = documents.iter().enumerate().map(|(at, text)| (format!("consul/{at}"), text.clone())).collect();
        inputs(named.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    };
    let options = options("dialect=consul").expect("options");
    let mut compiler = Compiler::new(dialect::ALL);
    let mut known = compiler.compile(&of(&documents), &options);
    let find = |text: &str| documents.iter().position(|document| document.contains(text)).expect("a document");
    // The service's own proxy, and the proxies that call it.
    let upstream = |name: &str| documents.iter().filter(|document| document.contains(&format!("destination_name: {name},"))).count();
    let service = (0..40).map(|number| format!("item-{number}")).max_by_key(|name| upstream(name)).expect("a service");
    assert!(upstream(&service) >= 2, "another service calls {service}");
    let edits = [
        (find(&format!("  name: {service}\n")), "  address: 10.", "  address: 10.9", 1 + upstream(&service)),
        (find("Kind: service-resolver"), "ConnectTimeout: ", "ConnectTimeout: 1", 0),
        (find("Kind: proxy-defaults"), "5000", "6000", 40),
    ];
    for (at, from, to, concerned) in edits {
        let mut edited = documents.clone();
        edited[at] = edited[at].replacen(from, to, 1);
        assert_ne!(edited[at], documents[at]);
        let now = compiler.compile(&of(&edited), &options);
        let others = known.gateways().zip(now.gateways()).filter(|(before, now)| !Arc::ptr_eq(before.ir, now.ir)).count();
        let name = edited[at].lines().find_map(|line| line.strip_prefix("Name: ")).unwrap_or_default();
        let expected = if concerned == 0 { upstream(name) } else { concerned };
        assert!(others <= expected && (others > 0 || expected == 0), "{others} of at most {expected} for {}", edited[at]);
        known = compiler.compile(&of(&documents), &options);
    }
}

#[test]
fn memories_change_nothing_of_consul() {
    let options = options("dialect=consul").expect("options");
    let before = split(CONSUL);
    for seed in 0..rounds(8) {
        hold(seed, 25, before.clone(), &options, |documents, chance| edit_lines(documents, &before, chance));
    }
}

/// Sidecars, gateways, intentions and entries that shape discovery.
const CONSUL: &str = "\
---
Kind: proxy-defaults
Name: global
Config: {protocol: http}
---
service:
  name: web
  port: 8080
  connect:
    sidecar_service:
      proxy:
        upstreams:
        - {destination_name: api, local_bind_port: 9191}
        - {destination_name: db, local_bind_port: 9192}
---
Node: n2
Address: 10.0.0.2
Service:
  ID: api-proxy
  Service: api-proxy
  Kind: connect-proxy
  Port: 20000
  Proxy: {DestinationServiceName: api, DestinationServiceID: api}
---
Node: n3
Address: 10.0.0.3
Service: {ID: api, Service: api, Port: 8080, Meta: {version: v2}}
---
Node: n4
Address: 10.0.0.4
Service:
  ID: db-proxy
  Service: db-proxy
  Kind: connect-proxy
  Port: 20001
  Proxy: {DestinationServiceName: db, DestinationServiceID: db}
---
Kind: service-defaults
Name: db
Protocol: tcp
---
Kind: service-resolver
Name: api
ConnectTimeout: 15s
Subsets:
  v2: {Filter: Service.Meta.version == v2}
---
Kind: service-splitter
Name: api
Splits:
- {Weight: 90}
- {Weight: 10, ServiceSubset: v2}
---
Kind: service-router
Name: api
Routes:
- Match: {HTTP: {PathPrefix: /v2}}
  Destination: {ServiceSubset: v2, PrefixRewrite: /}
---
Kind: service-intentions
Name: web
Sources:
- {Name: api, Action: allow}
- {Name: \"*\", Action: deny}
---
service: {kind: ingress-gateway, name: igw, port: 8888}
---
Kind: ingress-gateway
Name: igw
Listeners:
- Port: 8888
  Protocol: http
  Services: [{Name: api, Hosts: [api.example.com]}]
---
service: {kind: mesh-gateway, name: mgw, port: 8443}
---
service: {kind: terminating-gateway, name: tgw, port: 8444}
---
Kind: terminating-gateway
Name: tgw
Services: [{Name: billing}]
---
Node: outside
Address: billing.example.com
Service: {ID: billing, Service: billing, Port: 443}
";

#[test]
fn memories_change_nothing() {
    memories_change_nothing_of(documents, |_| Options::default(), edit);
}

#[test]
fn memories_change_nothing_of_contour() {
    memories_change_nothing_of(proxies, |_| Options::default(), edit);
}

#[test]
fn memories_change_nothing_of_dependent_proxies() {
    let configured = |seed| if seed % 2 == 0 { "dialect=contour" } else { "dialect=contour controller-arg=--contour-config-name=contour" };
    let around = |_, seed| {
        let texts = [include_str!("../fixtures/contour/cluster.yaml"), DEPENDING];
        let mut documents: Vec<String> = texts.iter().flat_map(|text| text.split("---\n").skip(1)).map(|text| format!("---\n{text}")).collect();
        documents.extend(proxies(8, seed));
        documents
    };
    let mut before = Vec::new();
    memories_change_nothing_of(
        around,
        |seed| options(configured(seed)).expect("options"),
        move |documents, chance| {
            if before.is_empty() {
                before.clone_from(documents);
            }
            edit_around(documents, &before, chance);
            if chance.percent(15) {
                edit(documents, chance);
            }
        },
    );
}

/// Roots with and without TLS that share includes, and all kinds of objects that HTTPProxies look up.
const DEPENDING: &str = "
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: secure, namespace: default}
spec:
  virtualhost:
    fqdn: secure.example.com
    tls: {secretName: cert, minimumProtocolVersion: \"1.3\"}
    authorization: {extensionRef: {name: auth, namespace: default}}
    rateLimitPolicy: {local: {requests: 9, unit: second}}
  includes:
  - {name: team, namespace: teams, conditions: [{prefix: /team}]}
  - {name: page, namespace: teams}
  routes:
  - services: [{name: web, port: 80}]
    permitInsecure: true
    pathRewritePolicy: {replacePrefix: [{replacement: /new}]}
    conditions: [{prefix: /old}]
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: plain, namespace: default}
spec:
  virtualhost: {fqdn: \"*.example.org\"}
  includes:
  - {name: team, namespace: teams, conditions: [{header: {name: x-team, present: true}}]}
  - {name: absent, namespace: teams, conditions: [{prefix: /absent}]}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: team, namespace: teams}
spec:
  includes:
  - {name: page, conditions: [{prefix: /page}, {queryParameter: {name: q, exact: a}}]}
  routes:
  - services: [{name: inner, port: 443, protocol: tls, validation: {caSecret: default/ca, subjectName: inner.example.com}}]
    conditions: [{prefix: /inner}]
    healthCheckPolicy: {path: /health}
  - services: [{name: inner, port: 80}, {name: inner, port: 80, mirror: true}]
    conditions: [{exact: /mirrored}]
    rateLimitPolicy: {local: {requests: 3, unit: minute}}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: page, namespace: teams}
spec:
  routes:
  - services: [{name: inner, port: 80}]
    conditions: [{prefix: /a}]
    pathRewritePolicy: {replacePrefix: [{replacement: /new}]}
    requestHeadersPolicy: {set: [{name: x-to, value: \"%CONTOUR_SERVICE_NAME%\"}]}
  - requestRedirectPolicy: {hostname: else.example.com}
    conditions: [{prefix: /gone}]
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: theirs, namespace: teams}
spec:
  virtualhost: {fqdn: theirs.example.com, tls: {secretName: default/cert}}
  routes:
  - services: [{name: inner, port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: inner, namespace: teams}
spec: {ports: [{name: http, port: 80}, {name: https, port: 443}]}
---
apiVersion: projectcontour.io/v1
kind: TLSCertificateDelegation
metadata: {name: ours, namespace: default}
spec:
  delegations:
  - {secretName: cert, targetNamespaces: [teams]}
  - {secretName: ca, targetNamespaces: [teams]}
---
apiVersion: projectcontour.io/v1alpha1
kind: ExtensionService
metadata: {name: auth, namespace: default}
spec: {protocol: h2c, services: [{name: auth, port: 9443}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: inner-1, namespace: teams, labels: {kubernetes.io/service-name: inner}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints: [{addresses: [10.0.0.1]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: beside, namespace: default}
spec:
  rules:
  - {host: secure.example.com, http: {paths: [{path: /ingress, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}
---
apiVersion: projectcontour.io/v1alpha1
kind: ContourConfiguration
metadata: {name: contour, namespace: projectcontour}
spec:
  envoy: {timeouts: {connectTimeout: 3s}}
  httpproxy: {disablePermitInsecure: false}
";

fn memories_change_nothing_of(
    documents: impl Fn(usize, u64) -> Vec<String>,
    options: impl Fn(u64) -> Options,
    mut edit: impl FnMut(&mut Vec<String>, &mut Chance),
) {
    for seed in 0..rounds(8) {
        hold(seed, 25, documents(25, seed), &options(seed), &mut edit);
    }
}

/// How many of these rounds to run: a third, or all if `CHANCERY_INCREMENTAL` is set, as `cargo xtask test incremental` does.
fn rounds(all: u64) -> u64 {
    if std::env::var_os("CHANCERY_INCREMENTAL").is_some() { all } else { all.div_ceil(3) }
}

/// Edits documents at random, and compares every compile with remembered results to a compile from scratch. Only the first compiler has several
/// threads.
fn hold(seed: u64, steps: usize, mut documents: Vec<String>, options: &Options, mut edit: impl FnMut(&mut Vec<String>, &mut Chance)) {
    let mut chance = Chance::new(seed);
    let mut compiler = Compiler::new(dialect::ALL).with_executor(&Threads);
    let mut written = appgw::Emitted::default();
    for step in 0..steps {
        if step > 0 {
            (0..=chance.below(3)).for_each(|_| edit(&mut documents, &mut chance));
        }
        // Two files: an edit in one must not disturb the remembered results of the other.
        let half = documents.len() / 2;
        let (first, second) = (documents[..half].concat(), documents[half..].concat());
        let inputs = inputs([("first.yaml", first.as_str()), ("second.yaml", second.as_str())]);
        let compilation = compiler.compile(&inputs, options);
        let mut fresh = Work::new(&inputs, options);
        let told = format!("seed {seed}, step {step}");
        assert!(emit_all(&compilation, &mut compiler) == emit_all(&fresh.compilation, &mut fresh.compiler), "configuration of {told}");
        for (now, fresh) in compilation.app_gateways().zip(fresh.compilation.app_gateways()) {
            let text = appgw::emit(now.parts, AppGatewayDocument::Whole, false, &Threads, &mut written).text();
            assert!(text == appgw::text(fresh.parts, AppGatewayDocument::Whole, false), "the Application Gateway of {told}");
        }
        // Object numbers may differ, but visible results may not.
        let remembered = Work { compiler: Compiler::new(dialect::ALL), compilation };
        assert_eq!(remembered.findings(), fresh.findings(), "{told}");
        let ledger = |work: &Work| work.ledger().iter().map(|row| serde_json::to_string(row).expect("JSON")).collect::<Vec<_>>();
        assert_eq!(ledger(&remembered), ledger(&fresh), "{told}");
        let answers = |of: &Compilation| {
            let outputs = of.sides().flat_map(|side| side.dialect().outputs.iter().map(move |output| (output.name, (output.document)(side))));
            outputs.map(|(name, document)| (name, document.map(|document| to_json(&document, false)))).collect::<Vec<_>>()
        };
        assert_eq!(answers(&remembered.compilation), answers(&fresh.compilation), "{told}");
        let origins = |of: &Compilation| {
            let dumped = of.gateways().map(|gateway| to_json(&dump_with_origins(gateway, &of.positions()), false));
            dumped.collect::<Vec<_>>()
        };
        assert!(origins(&remembered.compilation) == origins(&fresh.compilation), "where values come from, of {told}");
        documents_alone_are_the_same(&inputs, options, &mut fresh, &told);
    }
}

/// Checks that a compiler that only builds documents returns the same documents as one that builds everything, and as many findings of each
/// code.
fn documents_alone_are_the_same(inputs: &Inputs, options: &Options, whole: &mut Work, told: &str) {
    let mut compiler = Compiler::new(dialect::ALL).with_executor(&Threads).for_documents();
    let compilation = compiler.compile(inputs, options);
    let mut documents = Work { compiler, compilation };
    let codes = |work: &Work| {
        let mut codes: Vec<_> = work.findings().iter().map(|finding| (finding.severity, finding.code)).collect();
        codes.sort_unstable();
        codes
    };
    assert_eq!(codes(&documents), codes(whole), "findings of {told}");
    let mut texts = Vec::new();
    for gateway in documents.compilation.gateways() {
        for document in [Document::Bootstrap, Document::Resources] {
            let options = envoy::Options { document, executor: documents.compiler.executor(), ..envoy::Options::default() };
            let mut text = String::new();
            let mut put = |part: &Rope| part.pieces().for_each(|piece| text.push_str(piece));
            envoy::v3::stream(gateway.ir, &options, documents.compiler.emitted.of(gateway), &mut put);
            texts.push(text);
        }
    }
    assert!(texts == emit_all(&whole.compilation, &mut whole.compiler), "documents alone, of {told}");
}

/// Returns both documents of every gateway.
fn emit_all(of: &Compilation, compiler: &mut Compiler) -> Vec<String> {
    let mut texts = Vec::new();
    for gateway in of.gateways() {
        for document in [Document::Bootstrap, Document::Resources] {
            let options = envoy::Options { document, executor: compiler.executor(), ..envoy::Options::default() };
            texts.push(envoy::v3::emit(gateway.ir, &options, compiler.emitted.of(gateway)).text());
        }
    }
    texts
}

#[test]
fn edit_keeps_unchanged_values_shared() {
    for (kind, documents, line) in [
        ("Mappings", documents(100, 7), "  connect_timeout_ms: 100\n"),
        ("HTTPProxies", proxies(100, 7), "    loadBalancerPolicy: {strategy: Random}\n"),
    ] {
        let mut edited = documents.clone();
        edited.last_mut().expect("a document").push_str(line);
        let mut compiler = Compiler::new(dialect::ALL);
        let [before, after] = [documents, edited].map(|documents| {
            let text = documents.concat();
            compiler.compile(&inputs([("input.yaml", text.as_str())]), &Options::default())
        });
        let known = |of: &Compilation| routes(of).iter().map(|route| Arc::as_ptr(route).addr()).collect::<BTreeSet<_>>();
        let (old, new) = (known(&before), known(&after));
        assert!(new.difference(&old).count() < 5 && new.len() >= 90, "{kind}: {} of {} routes are new", new.difference(&old).count(), new.len());
        let known = |of: &Compilation| {
            of.gateways().flat_map(|gateway| &gateway.ir.clusters).map(|cluster| Arc::as_ptr(cluster).addr()).collect::<BTreeSet<_>>()
        };
        let (old, new) = (known(&before), known(&after));
        assert!(new.difference(&old).count() < 5, "{kind}: {} of {} clusters are new", new.difference(&old).count(), new.len());
    }
}

#[test]
fn edit_keeps_unchanged_app_gateway_parts_shared() {
    let documents = ingresses(100, 7);
    let mut edited = documents.clone();
    let last = edited.last_mut().expect("a document");
    *last = last.replacen("  annotations:\n", "  annotations:\n    appgw.ingress.kubernetes.io/request-timeout: \"77\"\n", 1);
    let mut compiler = Compiler::new(dialect::ALL);
    let [before, after] = [documents, edited].map(|documents| {
        let text = documents.concat();
        compiler.compile(&inputs([("input.yaml", text.as_str())]), &Options::default())
    });
    let known = |of: &Compilation| {
        let parts = of.app_gateways().next().expect("a gateway").parts.properties.clone().expect("parts");
        let settings = parts.settings.into_iter().flatten().map(|part| Arc::as_ptr(&part).addr());
        let listeners = parts.listeners.into_iter().flatten().map(|part| Arc::as_ptr(&part).addr());
        let rules = parts.rules.into_iter().flatten().map(|part| Arc::as_ptr(&part).addr());
        settings.chain(listeners).chain(rules).collect::<BTreeSet<_>>()
    };
    let (old, new) = (known(&before), known(&after));
    assert!(new.difference(&old).count() < 8 && new.len() > 200, "{} of {} parts are new", new.difference(&old).count(), new.len());
}

fn routes(of: &Compilation) -> Vec<Arc<Route>> {
    let filters = of.gateways().flat_map(|gateway| &gateway.ir.listeners).flat_map(|listener| &listener.chains).flat_map(|chain| &chain.filters);
    let hosts = filters.flat_map(|filter| match filter {
        NetworkFilter::Http(manager) => manager.routes.virtual_hosts.as_slice(),
        NetworkFilter::Tcp(_) => &[],
    });
    // The controller's own routes come from no resource.
    hosts.flat_map(|host| host.routes.iter().cloned()).filter(|route| !route.origins.is_empty()).collect()
}
