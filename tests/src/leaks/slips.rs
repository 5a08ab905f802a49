//! Lists readable inputs whose typing errors moved a value to an unexpected place. The random test (`mistyped`) found each of them once.
//!
//! Does not test outputs; see `suite/redaction.rs`.

use super::{Form, indented};

/// Inputs in which one or two typing errors moved a value.
pub(super) const SLIPS: &[Form] = &[
    ("a token behind the block of tokens", |v| {
        format!("acl {{\n  tokens {{\n    agent = \"{}\"\n  }} replication = \"{}\"\n}}\n", v.plain(), v.plain())
    }),
    ("a flag that became an anchor", |v| {
        format!("service:\n  name: web\n  checks: [{{name: c, args: [/bin/check, &-token, \"{}\"], interval: 1s}}]\n", v.plain())
    }),
    ("a flag and its value in one word", |v| {
        format!("service::\n  name: web\n  checks: [{{name: c, args: [/bin/check, -token! \"{}\"], interval: 1s}}]\n", v.plain())
    }),
    ("a flag's value that became a key", |v| {
        format!("service:\n  name: web\n  checks: [{{name' c, args: [/bin/check, --token, \"{}\":], interval: 1s}}]\n", v.plain())
    }),
    ("a flag's value that became a key of another flag", |v| {
        format!(
            "service:\n  name: web\n  checks: [{{name: c, args: [/bin/check, --password, \"{}\": ---token, {}], interval: 1s}}]\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a key in base64 without a blank before it", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{password: {}}}\nbinaryData:\n  store:{}\n",
            v.plain(),
            v.packed_key()
        )
    }),
    ("a key that became a part of a name", |v| {
        format!("Kind: inline-certificate\nName: cert\"PrivateKey:'{}\nPrivateKey: {}\nCertificate: x\n", v.packed(), v.packed())
    }),
    ("a comma in the name of a header", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  routes:\n  - requestHeadersPolicy:\n      set::\n       name:X-Api,-Key, value: {}}}\n",
            v.plain()
        )
    }),
    ("a header in a comment whose name lost its dash", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: '*'\n  prefix: /m/\n  service: m\n  add_request_headers:\n    Authorization: Basic {}\n   #xtoken: {{value: {}}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("a comma between a header and its value", |v| {
        format!(
            "Kind: service-router\nName: web\nRoutes:\n- Destination: {{Service: api,  RequestHeaders: {{Set: {{Authorization: Bearer {}, X-Api-Key:,{}}}}}}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("values that slipped out of a Secret to its list", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c}}\n  data: {{a: &key {}}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: shop}}\n \nstringData: {{tls.key: *key, b: {}}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a header's value on a separate line", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: '*'\n  prefix: /m/\n  service: m\n  add_request_headers:\n    Authorization: Basic {}\n    x-token: \nvalue: {}}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("a header's value that became a comment", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: '*'\n  prefix: /m/\n  service: m\n  add_request_headers:\n    x-api-key: #{}\n    x-b: {{value: b}}\n    x-token: #value: {}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a comment that became an item", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- {}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: s}}\n  data:\n    tls.key:*{} # {}\n",
            v.plain(),
            v.packed(),
            v.plain()
        )
    }),
    ("a key of base64 that ends with a colon", |v| format!("metadata: {{name: s}}\nthings::\n  one:{}:\n  two: {}\n", v.packed(), v.plain())),
    ("a fragment in the user of a URL", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, annotations: {{url: 'https://user#:{}@example.com/'}}}}\nspec: {{hostname: '*', prefix: /m/, service: m}}\n",
            v.plain()
        )
    }),
    ("a quotation mark in the user of a URL", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata:\n  name: m\n  annotations:\n    a: https://user\":{}@example.com/\n    b: https://us'er:{}@example.com/\nspec: {{hostname: '*', prefix: /m/, service: m}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a comma in the name of a header in one line", |v| {
        format!("Kind: service-router\nName: web\nRoutes:\n- Destination: {{Service: api, RequestHeaders: {{Set: {{X-Api,-Key: {}}}}}}}\n", v.plain())
    }),
    ("a tab in the user of a URL", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, annotations: {{url: 'https://user\t{}@example.com/'}}}}\nspec: {{hostname: '*', prefix: /m/, service: m}}\n",
            v.plain()
        )
    }),
    ("a hash without the begin of its mark", |v| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  users: |\n    b:SHA}}{}\n", v.packed())
    }),
    ("a key that broke in two", |v| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n    getambassador.io/config: |\n      ---\n      apiVersion: v1\n      kind: Secret\n      name: s\n      data:\n        tls\n.key: {} # {}\nspec: {{ports: [{{port: 80}}]}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("a line that slipped out of a text", |v| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotatio\nns:\n    getambassador.io/config: |\n      ---\n      apiVersion: v1\n      kind: Secret\n      name: s\n      data:\n        tls.key: {}\n# {}\nspec: {{ports: [{{port: 80}}]}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("a file of users that became a text of one line", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  users,:|\n    a:$apr1$xxxxxxxx${}\n\n    b:{{SHA}}{}\n",
            v.plain(),
            v.packed()
        )
    }),
    ("a line behind the end of a key", |v| {
        let key = v.key();
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  tls.key: |\n{}*  packed: {}\n",
            indented(&key, 4).trim_end(),
            v.packed_key()
        )
    }),
    ("another mark for a colon in a file", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  app.yaml:  |\n    db:\n      password* {}\n    !  apiKey: '{}'\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a fragment for the colon in the user of a URL", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, annotations: {{url: 'https://user#{}@example.com/'}}}}\nspec: {{hostname: '*', prefix: /m/, service: m}}\n",
            v.plain()
        )
    }),
    ("a flag that is joined to the word before it", |v| {
        format!(
            "service:\n  name: web\n  checks: [{{name: c, args: [/bin/check#--password, \"{}\", --token, \"{}\"], interval: 1s}}]\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a sign behind the scheme of a header", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  virtualhost: {{fqdn: a.example.com}}\n  routes:\n  - services: [{{name: s, port: 80}}]\n    requestHeadersPolicy: {{set: [{{name: Authorization, value: Bearer% {}}}]}}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: s, namespace: default}}\nspec: {{ports: [{{port: 80}}]}}\n",
            v.plain()
        )
    }),
    ("values that headers and parameters in a list are compared with", |v| {
        format!(
            "apiVersion: consul.hashicorp.com/v1alpha1\nkind: ServiceRouter\nmetadata: {{name: web}}\nspec:\n  routes:\n  - match: {{http: {{header: [{{name: x-api-key, exact: {}}}], queryParam: [{{name: token, exact: {}}}]}}}}\n    destination: {{service: admin}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("an annotation whose last word is token", |v| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: web\n  annotations: {{example.com/token: {}}}\nspec:\n  defaultBackend: {{service: {{name: web, port: {{number: 80}}}}}}\n",
            v.plain()
        )
    }),
    ("a kind that is written twice", |v| {
        format!("apiVersion: v1\nkind: Secret\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{foo: {}}}\n", v.plain())
    }),
    ("an annotation with an object and a token", |v| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n    getambassador.io/config: |\n      ---\n      apiVersion: getambassador.io/v3alpha1\n      kind: Mapping\n      name: m\n      prefix: /m/\n      service: s\n      add_request_headers: {{authorization: {{value: \"Bearer {}\"}}, x-token: {}}}\nspec: {{ports: [{{port: 80}}]}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("a comment that lost its sign and its line break", |v| {
        format!(
            "Kind = \"inline-certificate\"\nName = \"cert\"\nPrivateKey = \"{}\"  {}Meta {{\n  token = \"{}\"\n}}\n",
            v.key().join("\\n"),
            v.plain(),
            v.plain()
        )
    }),
    ("quotation marks that are doubled", |v| format!("Kind = \"inline-certificate\"\nName = \"cert\"\nPrivatKey = \"\"{}\"\"\n", v.packed())),
];
