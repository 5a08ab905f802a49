//! Writes the manifests that run `chancery serve` in a cluster: an account, exactly the permissions that it needs, a Deployment and a Service.
//!
//! The same text serves as a manifest and as the templates of the Helm chart. The permissions follow from the kinds
//! tables and from the statuses that controllers write. Does not apply the manifests; `kubectl` does.

use crate::controllers::{provisioner, statuses};
use crate::sources::kube::{WatchedKind, wanted};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The settings of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Install {
    /// The namespace in which it runs.
    pub namespace: String,
    /// The only dialect whose kinds are read; `None` for all.
    pub dialect: Option<String>,
    /// The only namespace that is read; `None` for all.
    pub only_namespace: Option<String>,
    /// The image.
    pub image: String,
    /// The number of replicas.
    pub replicas: u32,
    /// Whether statuses are written.
    pub write_status: bool,
    /// Whether the objects of Gateways are created, as Contour's provisioner does.
    pub write_objects: bool,
    /// The Secret with the xDS server's certificate (`tls.crt`, `tls.key`) and the CA of Envoys (`ca.crt`).
    pub tls_secret: String,
    /// The Application Gateway, if any.
    pub azure: Option<OnAzure>,
    /// Whether it reviews objects before the API server stores them. cert-manager then makes the certificate.
    pub admission: bool,
}

/// An Application Gateway in Azure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnAzure {
    /// Its id.
    pub gateway: String,
    /// Whether it is changed.
    pub apply: bool,
    /// The application or identity of the account in Azure, for workload identity.
    pub client: Option<String>,
}

impl Default for Install {
    fn default() -> Self {
        Self {
            namespace: "chancery".into(),
            dialect: None,
            only_namespace: None,
            image: format!("chancery:{}", env!("CARGO_PKG_VERSION")),
            replicas: 1,
            write_status: false,
            write_objects: false,
            tls_secret: "chancery-xds".into(),
            azure: None,
            admission: false,
        }
    }
}

/// The port of the webhook.
const ADMISSION_PORT: u16 = 8443;

/// Kinds that a Role cannot give access to. `serve --namespace` does without them.
const CLUSTER_SCOPED: [&str; 4] = ["GatewayClass.gateway.networking.k8s.io", "IngressClass.networking.k8s.io", "Namespace", "Node"];

/// Where the CRDs of an API group are kept.
const CRDS: [(&str, &str); 7] = [
    ("appgw.ingress.azure.io", "Azure/application-gateway-kubernetes-ingress, helm/ingress-azure/crds/"),
    ("appgw.ingress.k8s.io", "Azure/application-gateway-kubernetes-ingress, helm/ingress-azure/crds/"),
    ("consul.hashicorp.com", "hashicorp/consul-k8s, charts/consul/templates/crd-*.yaml"),
    ("gateway.envoyproxy.io", "envoyproxy/gateway, charts/gateway-helm/crds/generated/"),
    ("gateway.networking.k8s.io", "kubernetes-sigs/gateway-api, config/crd/experimental/"),
    ("getambassador.io", "emissary-ingress/emissary, manifests/emissary/emissary-crds.yaml.in"),
    ("projectcontour.io", "projectcontour/contour, examples/contour/01-crds.yaml"),
];

/// The Lease that elects the replica that writes.
pub const LEASE: &str = "chancery";

/// The port of the xDS server.
const XDS_PORT: u16 = 8003;

impl Install {
    /// Returns the manifests for `kubectl apply -f`.
    #[must_use]
    pub fn manifests(&self) -> String {
        let namespace = format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {}\n", self.namespace);
        let provisioning = self.write_objects.then(|| self.provisioning());
        let leading = self.writes().then(|| self.leading());
        let (account, reading, service, deployment) = (self.account(), self.reading(), self.service(), self.deployment());
        let namespace = self.crds() + &namespace;
        let admission = self.admission.then(|| self.admission());
        let parts =
            [Some(namespace), Some(account), Some(reading), self.writing(), provisioning, leading, Some(service), Some(deployment), admission];
        parts.into_iter().flatten().collect::<Vec<_>>().join("---\n")
    }

    /// Returns the templates of the Helm chart, each with its file name.
    #[must_use]
    pub fn templates() -> Vec<(&'static str, String)> {
        let value = |name: &str| format!("{{{{ .Values.{name} }}}}");
        let chart = Self {
            namespace: "{{ .Release.Namespace }}".into(),
            image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}".into(),
            tls_secret: value("tlsSecret"),
            ..Self::default()
        };
        let given = |condition: &str, text: &str| format!("{{{{- if {condition} }}}}\n{text}{{{{- end }}}}\n");
        let everywhere = given("not .Values.onlyNamespace", &chart.reading());
        let there = Self { only_namespace: Some(value("onlyNamespace")), ..chart.clone() };
        let reading = everywhere + &given(".Values.onlyNamespace", &there.reading());
        let writing = |of: &Self| Self { write_status: true, ..of.clone() }.writing().unwrap_or_default();
        let provisioning = given(".Values.writeObjects", &chart.provisioning());
        let leading = given("or .Values.writeStatus .Values.writeObjects .Values.azure.apply", &chart.leading());
        let client = "{{- with .Values.azure.clientId }}\n  annotations: {azure.workload.identity/client-id: {{ . | quote }}}\n{{- end }}\n";
        let written = given("not .Values.onlyNamespace", &writing(&chart)) + &given(".Values.onlyNamespace", &writing(&there));
        let deployment = chart.deployment().replace("replicas: 1\n", "replicas: {{ .Values.replicas }}\n").replace(
            "            - --kube\n",
            "            - --kube\n\
             {{- with .Values.dialect }}\n            - --dialect={{ . }}\n{{- end }}\n\
             {{- with .Values.onlyNamespace }}\n            - --namespace={{ . }}\n{{- end }}\n\
             {{- if .Values.writeStatus }}\n            - --write-status\n{{- end }}\n\
             {{- if .Values.writeObjects }}\n            - --controller=gateway-provisioner\n            - --write-objects\n{{- end }}\n\
             {{- with .Values.azure.gatewayId }}\n            - --gateway-id={{ . }}\n{{- end }}\n\
             {{- if .Values.azure.apply }}\n            - --apply\n{{- end }}\n\
             {{- if or .Values.writeStatus .Values.writeObjects .Values.azure.apply }}\n            - --lease=chancery\n{{- end }}\n\
             {{- if gt (int .Values.replicas) 1 }}\n            - --replicas=HEADLESS\n{{- end }}\n\
             {{- range .Values.extraArgs }}\n            - {{ . | quote }}\n{{- end }}\n",
        );
        let deployment = deployment.replace("HEADLESS", &chart.headless());
        let deployment = deployment.replace(
            "    metadata:\n      labels: {app.kubernetes.io/name: chancery}\n",
            "    metadata:\n      labels: {app.kubernetes.io/name: chancery{{ if .Values.azure.gatewayId }}, azure.workload.identity/use: \"true\"{{ end }}}\n",
        );
        vec![
            ("account.yaml", chart.account() + client),
            ("reading.yaml", reading),
            ("writing.yaml", given("or .Values.writeStatus .Values.writeObjects", &written)),
            ("provisioning.yaml", provisioning),
            ("leading.yaml", leading),
            ("service.yaml", chart.service()),
            ("deployment.yaml", deployment),
        ]
    }

    /// Names the CRDs that must be installed first, as comments.
    fn crds(&self) -> String {
        let kinds = self.kinds();
        let needed: Vec<_> = CRDS.iter().filter(|(group, _)| kinds.contains_key(*group)).collect();
        if needed.is_empty() {
            return String::new();
        }
        let mut out = "# Install the CRDs of the kinds that you use first, from GitHub. Chancery skips kinds that are not installed.\n".to_owned();
        needed.into_iter().for_each(|(group, place)| _ = writeln!(out, "#   {group}: {place}"));
        out
    }

    fn account(&self) -> String {
        let client = self.azure.as_ref().and_then(|azure| azure.client.as_ref());
        let client = client.map(|client| format!("  annotations: {{azure.workload.identity/client-id: \"{client}\"}}\n")).unwrap_or_default();
        format!("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: chancery\n  namespace: {}\n{client}", self.namespace)
    }

    /// The permissions to read.
    fn reading(&self) -> String {
        let mut rules = String::new();
        for (group, plurals) in self.kinds() {
            let plurals: Vec<&str> = plurals.iter().map(String::as_str).collect();
            rule(&mut rules, &group, &plurals, "get, list, watch");
        }
        self.role("chancery-reads", &rules)
    }

    /// Whether replicas must elect one that writes.
    fn writes(&self) -> bool {
        self.write_status || self.write_objects || self.azure.as_ref().is_some_and(|azure| azure.apply)
    }

    /// The permissions to write statuses.
    fn writing(&self) -> Option<String> {
        // Contour's provisioner writes the status of each Gateway that it creates objects for.
        if !self.write_status && !self.write_objects {
            return None;
        }
        let watched: BTreeSet<String> = wanted(self.dialect.as_deref()).iter().map(WatchedKind::name).collect();
        let mut by_group: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (_, kind) in statuses::KINDS.iter().filter(|(_, kind)| watched.contains(*kind)) {
            let (name, group) = kind.split_once('.').unwrap_or((kind, ""));
            by_group.entry(group.into()).or_default().push(format!("{}/status", plural(name)));
        }
        let mut rules = String::new();
        for (group, plurals) in &by_group {
            rule(&mut rules, group, &plurals.iter().map(String::as_str).collect::<Vec<_>>(), "patch");
        }
        if watched.contains("ContourConfiguration.projectcontour.io") {
            // The finalizer that holds it while it is used.
            rule(&mut rules, "projectcontour.io", &["contourconfigurations"], "patch");
        }
        Some(self.role("chancery-writes", &rules))
    }

    /// The permissions for the Lease.
    fn leading(&self) -> String {
        let namespace = &self.namespace;
        let lease = format!(
            "  - apiGroups: [\"coordination.k8s.io\"]\n    resources: [\"leases\"]\n    verbs: [create]\n  - apiGroups: \
             [\"coordination.k8s.io\"]\n    resources: [\"leases\"]\n    resourceNames: [\"{LEASE}\"]\n    verbs: [get, update]\n"
        );
        Self { only_namespace: Some(namespace.clone()), ..self.clone() }.role("chancery-leads", &lease)
    }

    /// The permissions to create the objects of Gateways, and the permissions that their roles grant: a grant needs the
    /// granted permission itself.
    fn provisioning(&self) -> String {
        let mut rules = String::new();
        let mut by_group: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for kind in provisioner::KINDS {
            let (name, group) = kind.split_once('.').unwrap_or((kind, ""));
            by_group.entry(group).or_default().push(plural(name));
        }
        for (group, plurals) in by_group {
            rule(&mut rules, group, &plurals.iter().map(String::as_str).collect::<Vec<_>>(), "list, create, patch, delete");
        }
        for ((group, resource), verbs) in provisioner::granted() {
            rule(&mut rules, &group, &[&resource], &verbs.into_iter().collect::<Vec<_>>().join(", "));
        }
        self.role("chancery-provisions", &rules)
    }

    /// A role of one namespace or of the cluster, with its binding.
    fn role(&self, name: &str, rules: &str) -> String {
        let (kind, place) = match &self.only_namespace {
            Some(namespace) => ("Role", format!("  namespace: {namespace}\n")),
            None => ("ClusterRole", String::new()),
        };
        let version = "apiVersion: rbac.authorization.k8s.io/v1";
        format!(
            "{version}\nkind: {kind}\nmetadata:\n  name: {name}\n{place}rules:\n{rules}---\n{version}\nkind: {kind}Binding\nmetadata:\n  name: \
             {name}\n{place}roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: {kind}\n  name: {name}\nsubjects:\n  - kind: ServiceAccount\n    \
             name: chancery\n    namespace: {}\n",
            self.namespace
        )
    }

    /// Returns the plurals of the kinds that are read, by group.
    fn kinds(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let is_readable = |kind: &WatchedKind| self.only_namespace.is_none() || !CLUSTER_SCOPED.contains(&&*kind.name());
        for kind in wanted(self.dialect.as_deref()).into_iter().filter(is_readable) {
            let name = kind.plural.clone().unwrap_or_else(|| plural(&kind.kind));
            out.entry(kind.group).or_default().insert(name);
        }
        out
    }

    /// The name of the headless Service, at which replicas find each other.
    fn headless(&self) -> String {
        format!("chancery.{}.svc:{XDS_PORT}", self.namespace)
    }

    fn service(&self) -> String {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: chancery\n  namespace: {}\n  labels: {{app.kubernetes.io/name: chancery}}\nspec:\n  \
             # Envoys and replicas need the address of each replica, also while one starts.\n  clusterIP: None\n  \
             publishNotReadyAddresses: true\n  selector: {{app.kubernetes.io/name: chancery}}\n  ports:\n    \
             - {{name: xds, port: {XDS_PORT}, targetPort: xds}}\n",
            self.namespace
        )
    }

    /// Returns the webhook with its Service and certificate.
    fn admission(&self) -> String {
        let Self { namespace, .. } = self;
        let mut rules = String::new();
        for (group, plurals) in self.kinds() {
            let all: Vec<String> = plurals.into_iter().collect();
            let _ = writeln!(
                rules,
                "      - {{apiGroups: [\"{group}\"], apiVersions: [\"*\"], operations: [CREATE, UPDATE], resources: [{}]}}",
                all.join(", ")
            );
        }
        let only =
            self.only_namespace.as_ref().map(|only| format!("    namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: {only}}}}}\n"));
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: chancery-admission\n  namespace: {namespace}\n  \
             labels: {{app.kubernetes.io/name: chancery}}\nspec:\n  selector: {{app.kubernetes.io/name: chancery}}\n  ports:\n    \
             - {{name: https, port: 443, targetPort: admission}}\n---\napiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata:\n  \
             name: chancery-admission\n  namespace: {namespace}\nspec: {{selfSigned: {{}}}}\n---\napiVersion: cert-manager.io/v1\n\
             kind: Certificate\nmetadata:\n  name: chancery-admission\n  namespace: {namespace}\nspec:\n  secretName: chancery-admission\n  \
             dnsNames: [chancery-admission.{namespace}.svc]\n  issuerRef: {{name: chancery-admission}}\n---\n\
             apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: chancery\n  \
             annotations: {{cert-manager.io/inject-ca-from: {namespace}/chancery-admission}}\nwebhooks:\n  - name: check.chancery.dev\n    \
             admissionReviewVersions: [v1]\n    sideEffects: None\n    # An object is never lost because this server is down.\n    \
             failurePolicy: Ignore\n    timeoutSeconds: 5\n    clientConfig:\n      \
             service: {{namespace: {namespace}, name: chancery-admission, path: /admission}}\n{}    rules:\n{rules}",
            only.unwrap_or_default()
        )
    }

    fn deployment(&self) -> String {
        let Self { namespace, image, replicas, tls_secret, .. } = self;
        let mut more = String::new();
        if let Some(dialect) = &self.dialect {
            let _ = writeln!(more, "            - --dialect={dialect}");
        }
        if let Some(only) = &self.only_namespace {
            let _ = writeln!(more, "            - --namespace={only}");
        }
        if self.write_status {
            more.push_str("            - --write-status\n");
        }
        if self.write_objects {
            more.push_str("            - --controller=gateway-provisioner\n            - --write-objects\n");
        }
        if let Some(azure) = &self.azure {
            let _ = writeln!(more, "            - --gateway-id={}", azure.gateway);
            more.push_str(if azure.apply { "            - --apply\n" } else { "" });
        }
        if self.writes() {
            let _ = writeln!(more, "            - --lease={LEASE}");
        }
        if self.replicas > 1 {
            let _ = writeln!(more, "            - --replicas={}", self.headless());
        }
        let (mut ports, mut mounts, mut volumes) = (String::new(), String::new(), String::new());
        if self.admission {
            let _ = writeln!(more, "            - --admission=0.0.0.0:{ADMISSION_PORT}");
            more.push_str("            - --admission-cert=/admission/tls.crt\n            - --admission-key=/admission/tls.key\n");
            let _ = writeln!(ports, "            - {{name: admission, containerPort: {ADMISSION_PORT}}}");
            mounts.push_str("            - {name: admission, mountPath: /admission, readOnly: true}\n");
            volumes.push_str("        - name: admission\n          secret: {secretName: chancery-admission}\n");
        }
        let identity = if self.azure.is_some() { ", azure.workload.identity/use: \"true\"" } else { "" };
        format!(
            "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: chancery
  namespace: {namespace}
  labels: {{app.kubernetes.io/name: chancery}}
spec:
  replicas: {replicas}
  selector:
    matchLabels: {{app.kubernetes.io/name: chancery}}
  template:
    metadata:
      labels: {{app.kubernetes.io/name: chancery{identity}}}
    spec:
      serviceAccountName: chancery
      securityContext:
        runAsNonRoot: true
        seccompProfile: {{type: RuntimeDefault}}
      containers:
        - name: chancery
          image: \"{image}\"
          args:
            - serve
            - --kube
{more}            - --format=json
            - --xds=0.0.0.0:8003
            - --xds-cert=/tls/tls.crt
            - --xds-key=/tls/tls.key
            - --xds-client-ca=/tls/ca.crt
            - --ready=0.0.0.0:8006
            - --snapshots=off
            - --public-snapshots=off
          ports:
            - {{name: xds, containerPort: 8003}}
            - {{name: ready, containerPort: 8006}}
{ports}          livenessProbe:
            httpGet: {{path: /healthz, port: ready}}
          readinessProbe:
            httpGet: {{path: /readyz, port: ready}}
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
            limits: {{memory: 1Gi}}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {{drop: [ALL]}}
          volumeMounts:
            - {{name: tls, mountPath: /tls, readOnly: true}}
{mounts}      volumes:
        - name: tls
          secret: {{secretName: \"{tls_secret}\"}}
{volumes}"
        )
    }
}

fn rule(out: &mut String, group: &str, plurals: &[&str], verbs: &str) {
    let _ = writeln!(out, "  - apiGroups: [\"{group}\"]\n    resources: [\"{}\"]\n    verbs: [{verbs}]", plurals.join("\", \""));
}

/// Returns the plural of a kind, as CRDs and Kubernetes form it. A kind that looks like a plural is one.
fn plural(kind: &str) -> String {
    if kind.ends_with('s') && !kind.ends_with("ss") {
        return kind.to_ascii_lowercase();
    }
    kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk("", "v1", kind)).plural
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The committed files are up to date.
    #[test]
    fn committed_manifests_match_output() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging");
        let mut files = vec![("manifests/chancery.yaml".to_owned(), Install::default().manifests())];
        files.extend(Install::templates().into_iter().map(|(name, text)| (format!("helm/chancery/templates/{name}"), text)));
        for (name, text) in files {
            let path = folder.join(&name);
            if std::env::var_os("UPDATE_FIXTURES").is_some() {
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                std::fs::write(&path, &text).expect("a file");
            }
            let known = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(text, known, "{name}: run UPDATE_FIXTURES=1 cargo test -p chancery-live install, and read what changes");
        }
    }

    #[test]
    fn permissions_are_exactly_the_required_ones() {
        let reads = Install { dialect: Some("ambassador".into()), ..Install::default() }.manifests();
        assert!(reads.contains("resources: [\"authservices\", ") && reads.contains("\"mappings\""), "{reads}");
        assert!(!reads.contains("patch") && !reads.contains("httpproxies") && !reads.contains("leases") && !reads.contains('*'), "{reads}");
        let writes = Install { dialect: Some("ambassador".into()), write_status: true, ..Install::default() }.manifests();
        assert!(!Install::default().manifests().contains("api-gateways"), "Consul's own kinds need no permission in Kubernetes");
        assert!(writes.contains("\"mappings/status\"") && writes.contains("--lease=chancery") && !writes.contains("httpproxies/status"), "{writes}");
        assert!(!writes.contains("\"deployments\""), "{writes}");
        let provisions = Install { dialect: Some("contour".into()), write_objects: true, ..Install::default() }.manifests();
        for part in [
            "\"daemonsets\"",
            "\"gateways/status\"",
            "\"httpproxies/status\"",
            "--write-objects",
            "--lease=chancery",
            "--controller=gateway-provisioner",
        ] {
            assert!(provisions.contains(part), "{part}: {provisions}");
        }
        let azure = OnAzure { gateway: "s/g/n".into(), apply: true, client: Some("c-1".into()) };
        let applies = Install { dialect: Some("ingress".into()), azure: Some(azure.clone()), ..Install::default() }.manifests();
        for part in ["--gateway-id=s/g/n\n", "--apply\n", "--lease=chancery\n", "azure.workload.identity/use: \"true\"", "client-id: \"c-1\""] {
            assert!(applies.contains(part), "{part}: {applies}");
        }
        assert!(!applies.contains("patch") && !applies.contains("--write-status"), "--apply changes only Azure: {applies}");
        let shows = Install { azure: Some(OnAzure { apply: false, client: None, ..azure }), ..Install::default() }.manifests();
        assert!(shows.contains("--gateway-id=s/g/n") && !shows.contains("--apply") && !shows.contains("leases"), "{shows}");
        let several = Install { replicas: 3, namespace: "gateway".into(), ..Install::default() }.manifests();
        assert!(several.contains("  replicas: 3\n") && several.contains("--replicas=chancery.gateway.svc:8003\n"), "{several}");
        assert!(several.contains("  clusterIP: None\n") && !Install::default().manifests().contains("--replicas="), "{several}");
        let one = Install { only_namespace: Some("apps".into()), ..Install::default() }.manifests();
        assert!(!one.contains("ClusterRole") && one.contains("--namespace=apps"), "{one}");
        for kind in ["ingressclasses", "gatewayclasses", "\"nodes\"", "\"namespaces\""] {
            assert!(!one.contains(kind) && Install::default().manifests().contains(kind), "a Role cannot give access to {kind}");
        }
        assert!(one.contains("#   getambassador.io: emissary-ingress/emissary, "), "{one}");
        assert_eq!(
            ["Ingress", "HTTPProxy", "ServiceDefaults", "GatewayClass", "BackendTLSPolicy"].map(plural),
            ["ingresses", "httpproxies", "servicedefaults", "gatewayclasses", "backendtlspolicies"]
        );
    }
}
