//! Lists credentials in fields of objects other than Secrets: matched headers and parameters, settings of other programs, variables; and fields
//! with a misspelt name.
//!
//! Does not test outputs; see `suite/redaction.rs`.

use super::Form;

/// Inputs with a credential in a field.
pub(super) const FIELDS: &[Form] = &[
    ("a header that a route is matched by", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  virtualhost: {{fqdn: a.example.com}}\n  routes:\n  - services: [{{name: s, port: 80}}]\n    conditions:\n    - header: {{name: x-api-key, exact: {}}}\n    - header: {{name: authorization, contains: {}}}\n    - header: {{name: x-auth-token, notexact: {}}}\n    - header: {{name: x-auth-token, regex: {}}}\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a parameter that a route is matched by", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  virtualhost: {{fqdn: a.example.com}}\n  routes:\n  - services: [{{name: s, port: 80}}]\n    conditions:\n    - queryParameter: {{name: api_key, exact: {}}}\n    - queryParameter: {{name: token, prefix: {}}}\n    - queryParameter: {{name: access_token, regex: {}}}\n",
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("headers and parameters that a service router matches", |v| {
        format!(
            "Kind = \"service-router\"\nName = \"web\"\nRoutes = [{{ Match {{ HTTP {{ PathPrefix = \"/\" Header = [{{ Name = \"x-api-key\" Exact = \"{}\" }}, {{ Name = \"authorization\" Regex = \"{}\" }}] QueryParam = [{{ Name = \"token\" Exact = \"{}\" }}] }} }} Destination {{ Service = \"api\" }} }}]\n",
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a header that an intention asks for", |v| {
        format!(
            "Kind = \"service-intentions\"\nName = \"web\"\nSources = [{{ Name = \"api\" Permissions = [{{ Action = \"allow\" HTTP {{ PathPrefix = \"/\" Header = [{{ Name = \"x-api-key\" Exact = \"{}\" }}] }} }}] }}]\n",
            v.plain()
        )
    }),
    ("a header in the words of another program", |v| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: i\n  annotations:\n    nginx.ingress.kubernetes.io/configuration-snippet: |\n      proxy_set_header Authorization \"Bearer {}\";\n      proxy_set_header X-Api-Key \"{}\";\n      set $password \"{}\";\nspec: {{rules: [{{host: a.example.com, http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: s, port: {{number: 80}}}}}}}}]}}}}]}}\n",
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a header behind a colon of another program", |v| {
        format!(
            "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: i\n  annotations:\n    haproxy.org/request-set-header: \"X-Api-Key {}\"\nspec: {{rules: [{{host: a.example.com, http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: s, port: {{number: 80}}}}}}}}]}}}}]}}\n",
            v.plain()
        )
    }),
    ("such words in a ConfigMap", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  nginx.conf: |\n    proxy_set_header Authorization \"Bearer {}\";\n  redis.conf: |\n    requirepass {}\n  env: PASSWORD {}\n",
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a misspelt value of a header", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  virtualhost: {{fqdn: a.example.com}}\n  routes:\n  - services: [{{name: s, port: 80}}]\n    requestHeadersPolicy:\n      set: [{{name: X-Auth-Token, valu: {}}}]\n    responseHeadersPolicy:\n      set:\n      - Name: x-api-key\n        value: {}\n      - name: x-api-key\n        Value: {}\n      - [x-api-key, {}]\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a misspelt value of a header of Gateway API", |v| {
        format!(
            "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: r, namespace: default}}\nspec:\n  rules:\n  - matches: [{{headers: [{{name: x-api-key, vale: {}}}, {{name: x-api-key, values: [{}]}}]}}]\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a misspelt value below a header", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: \"*\"\n  prefix: /m/\n  service: m\n  add_request_headers:\n    x-password: {{valeu: {}}}\n    x-secret: {{value: x, append: {}}}\n    x-api-key: {{value: [{}]}}\n",
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a comma for the colon of a header", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: \"*\"\n  prefix: /m/\n  service: m\n  add_request_headers:\n    x-token: {{value, {}}}\n",
            v.plain()
        )
    }),
    ("a misspelt variable", |v| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d}}\nspec:\n  template:\n    spec:\n      containers:\n      - name: c\n        env:\n        - {{name: X_TOKEN, val: {}}}\n        - {{nme: SECRET_KEY, value: {}}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a user in the URL of an AuthService", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: AuthService\nmetadata: {{name: a, namespace: default}}\nspec: {{auth_service: \"https://u:{}@auth:80\", proto: http}}\n",
            v.plain()
        )
    }),
    ("settings in a ConfigMap", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  a.json: '{{\"password\" \"{}\"}}'\n  b: pass={}\n  c: access_key={}\n  d: \"credentials: {}\"\n  e: \"app:{}@db:3306\"\n  f: set password {}\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a token in the name of a header", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: \"*\"\n  prefix: /m/\n  service: m\n  add_request_headers:\n    \"Authorization: Bearer {}\": {{value: x}}\n",
            v.plain()
        )
    }),
    ("keys of a Filter", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Filter\nmetadata: {{name: f}}\nspec: {{APIKey: {{keys: [{{value: {}}}]}}}}\n",
            v.plain()
        )
    }),
    ("two words that name a key in HCL", |v| {
        format!(
            "Kind = \"inline-certificate\"\nName = \"cert\"\nPrivatKey = \"{}\"\nprivate	key = [\"{}\", \"{}\"]\n",
            v.packed(),
            v.packed(),
            v.plain()
        )
    }),
    ("a key behind the flag that has it", |v| {
        format!(
            "service:\n  name: web\n  checks: [{{name: c, args: [/bin/check, --password], \"{}\", --token, \"{}\", interval: 1s}}]\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a dash for the mark of an anchor", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {{name: c, labels: {{a: -key {}}}}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: shop}}\n  data:\n    #tls.key: *key\n    b:{}\n",
            v.packed(),
            v.packed()
        )
    }),
    ("a quotation mark before a name", |v| {
        format!(
            "{{\"services\": [{{\"name\": 'web\", \"token\": \"{}\"}}, {{\"name\": \"cart\"', \"token\": {{\"a\": \"{}\"}}}}]}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a certificate with its password", |v| {
        format!(
            "{{\"properties\": {{\"sslCertificates\": [{{\"name\": \"c\", \"properties\": {{\"data\": \"{}\", \"password\": \"{}\"}}}}]}}, \"tags\": {{\"password\": \"{}\"}}}}\n",
            v.packed(),
            v.plain(),
            v.plain()
        )
    }),
];
