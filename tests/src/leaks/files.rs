//! Lists secrets in files that tools write: JSON over several lines, lists, Azure templates, dumps of a running Envoy, HCL; and values in an
//! encoded form.
//!
//! Does not test outputs; see `suite/redaction.rs`.

use super::{Form, HEAD, Values, indented};

/// Formats text over several lines, like an annotation.
fn applied(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(Into::into).collect();
    indented(&lines, 6)
}

/// Returns a Service with an annotation.
fn service(annotation: &str, value: &str) -> String {
    format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n    {annotation}: {value}spec: {{ports: [{{port: 80}}]}}\n")
}

const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn pretty(v: &mut Values) -> String {
    format!(
        "{{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"Secret\",\n  \"metadata\": {{\"name\": \"shop\"}},\n  \"data\": {{\n    \"tls.key\": \"{}\"\n  }},\n  \"stringData\": {{\n    \"a\": \"{}\"\n  }}\n}}\n",
        v.packed(),
        v.plain()
    )
}

/// Files that hold secrets.
pub(super) const FILES: &[Form] = &[
    ("JSON over several lines", pretty),
    ("an annotation over several lines", |v| service(APPLIED, &format!("|\n{}", applied(&pretty(v))))),
    ("a folded annotation", |v| service(APPLIED, &format!(">-\n{}", applied(&pretty(v))))),
    ("an annotation in quotes over several lines", |v| service(APPLIED, &format!("'\n{}      '\n", applied(&pretty(v))))),
    ("an annotation in two quotes over several lines", |v| service(APPLIED, &format!("\"\n{}      \"\n", applied(&pretty(v)).replace('"', "\\\"")))),
    ("a list in JSON", |v| {
        format!(
            "{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n{{\"apiVersion\": \"v1\", \"kind\": \"Service\", \"metadata\": {{\"name\": \"s\"}}}},\n{}]}}\n",
            pretty(v)
        )
    }),
    ("all on a line", |v| {
        format!("{{kind: Secret, apiVersion: v1, metadata: {{name: s}}, data: {{tls.key: {}, b: [{}]}}}}\n", v.packed(), v.plain())
    }),
    ("an item on a line", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- {{kind: Secret, apiVersion: v1, metadata: {{name: s}}, data: {{tls.key: {}}}}}\n- {{kind: Service, apiVersion: v1, metadata: {{name: t}}}}\n- {{stringData: {{a: {}}}, kind: Secret}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("values in escapes", |v| {
        let (hex, unicode) = (v.escaped("x"), v.escaped("u00"));
        format!("{HEAD}stringData:\n  a: \"{hex}\"\n  b: \"{unicode}\"\n  c: \"\\n{}\"\n", v.plain())
    }),
    ("values in escapes in JSON", |v| {
        format!("{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{{\"name\":\"s\"}},\"stringData\":{{\"a\":\"{}\"}}}}\n", v.escaped("u00"))
    }),
    ("escapes in an annotation", |v| {
        let inner = format!("{{\\\"kind\\\":\\\"Secret\\\",\\\"stringData\\\":{{\\\"a\\\":\\\"{}\\\"}}}}", v.escaped("x"));
        service(APPLIED, &format!("\"{inner}\"\n"))
    }),
    ("anchors and aliases in several places", |v| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: &meta\n  name: shop\nstringData: &all\n  tls.key: &key {}\n  tls.crt: *key\n  more: [&one {}, *one]\ndata:\n  <<: *all\n  b: *one\n",
            v.plain(),
            v.plain()
        )
    }),
    ("an anchor in another object", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {{name: c, labels: {{a: &key {}}}}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: shop}}\n  data:\n    tls.key: *key\n    b: {}\n",
            v.packed(),
            v.packed()
        )
    }),
    ("an anchor whose alias is in a comment", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {{name: c, labels: {{a: &key {}}}}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: shop}}\n  data:\n    #tls.key: *key\n    b: {}\n",
            v.packed(),
            v.packed()
        )
    }),
    ("an alias in an item that a dash cut off of its Secret", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {{name: c, labels: {{a: &key {}}}}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: shop}}\n  data:\n-   tls.key: *key\n    b: {}\n",
            v.packed(),
            v.packed()
        )
    }),
    ("tokens below a key that lost a quotation mark", |v| {
        format!(
            "{{\"services\": [{{\"name\": \"web\", \"token\": \"{}\"}}, {{\"name\": \"cart\", token\": {{\"a\": \"{}\"}}}}]}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("the name of a header without a blank before it", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  routes:\n  - requestHeadersPolicy:\n      set::\n      - {{name:X-Api-Key, value: {}}}\n",
            v.plain()
        )
    }),
    ("a comment behind an exclamation mark", |v| {
        format!("{HEAD}stringData:\n  a: !# {}\n  b: ! # {}\n  c: !!str # {}\n    {}\n", v.plain(), v.plain(), v.plain(), v.plain())
    }),
    ("a template for Azure", |v| {
        format!(
            "{{\"$schema\": \"https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#\", \"resources\": [{{\n  \"type\": \"Microsoft.Network/applicationGateways\",\n  \"name\": \"gw\",\n  \"properties\": {{\n    \"sslCertificates\": [{{\n      \"name\": \"shop\",\n      \"properties\": {{\n        \"data\": \"{}\",\n        \"password\": \"{}\"\n      }}\n    }}]\n  }}\n}}]}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("a dump of Envoy", |v| {
        let key = v.key().join("\\n");
        format!(
            "{{\"configs\": [{{\n  \"@type\": \"type.googleapis.com/envoy.admin.v3.SecretsConfigDump\",\n  \"static_secrets\": [{{\"name\": \"s\", \"secret\": {{\n    \"name\": \"s\",\n    \"tls_certificate\": {{\n      \"private_key\": {{\n        \"inline_string\": \"{key}\"\n      }},\n      \"password\": {{\n        \"inline_string\": \"{}\"\n      }}\n    }}\n  }}}}, {{\"name\": \"g\", \"secret\": {{\"generic_secret\": {{\n    \"secret\": {{\n      \"inline_bytes\": \"{}\"\n    }}\n  }}}}}}]\n}}]}}\n",
            v.plain(),
            v.packed()
        )
    }),
    ("an entry in HCL", |v| {
        let key = v.key().join("\\n");
        format!(
            "Kind = \"file-system-certificate\"\nName = \"cert\"\nPrivateKey = \"{key}\" # {}\nMeta {{\n  token = \"{}\"\n}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("headers in HCL", |v| {
        format!(
            "Kind = \"service-router\"\nName = \"web\"\nRoutes = [{{\n  Destination {{\n    Service = \"api\"\n    RequestHeaders {{\n      Set {{\n        Authorization = \"Bearer {}\"\n        x-api-key = \"{}\"\n      }}\n    }}\n  }}\n}}]\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a ConfigMap with a file of keys", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  app.json: |\n    {{\n      \"db\": {{\n        \"password\": \"{}\",\n        \"client_secret\": \"{}\"\n      }}\n    }}\n  app.properties: |\n    password={}\n    api.token = {}\nbinaryData:\n  store: {}\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.packed_key()
        )
    }),
];
