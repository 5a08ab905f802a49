//! Generates inputs with secrets in all the wrong places that users put them, with a mark in each secret value. No output may contain a mark.
//!
//! Does not test outputs; see `suite/redaction.rs`.

use crate::chance::Chance;

mod accounts;
mod fields;
mod files;
mod slips;

/// An input with secrets.
pub struct Leak {
    /// A short description.
    pub name: String,
    pub text: String,
    /// Parts of each secret value, as written and decoded. No output may contain them.
    pub marks: Vec<String>,
}

impl Leak {
    /// Returns the first mark in an output, with the text around it.
    pub fn found_in(&self, output: &str) -> Option<String> {
        let (mark, at) = self.marks.iter().find_map(|mark| Some((mark, output.find(mark.as_str())?)))?;
        let start = output.floor_char_boundary(at.saturating_sub(160));
        let end = output.ceil_char_boundary((at + mark.len() + 80).min(output.len()));
        Some(format!("`{mark}` in: {}", &output[start..end]))
    }
}

/// Makes secret values and remembers their marks.
struct Values {
    next: u32,
    marks: Vec<String>,
}

impl Values {
    fn mark(&mut self) -> String {
        self.next += 1;
        let mark = format!("Qz{:03}hushhush", self.next);
        self.marks.push(mark.clone());
        mark
    }

    /// Makes plain text.
    fn plain(&mut self) -> String {
        self.mark()
    }

    /// Makes the same in base64.
    fn packed(&mut self) -> String {
        let packed = base64(format!("{}padding", self.mark()).as_bytes());
        self.marks.push(packed[..16].into());
        packed
    }

    /// Makes plain text with its letters in hexadecimal after `\x` or `\u00`.
    fn escaped(&mut self, by: &str) -> String {
        let plain = self.plain();
        let written: String = plain.bytes().map(|byte| format!("\\{by}{byte:02x}")).collect();
        self.marks.push(written.clone());
        written
    }

    /// Makes a private key, line by line.
    fn key(&mut self) -> Vec<String> {
        let body = format!("MIIE{}", self.packed());
        vec!["-----BEGIN PRIVATE KEY-----".into(), body, self.packed(), "-----END PRIVATE KEY-----".into()]
    }

    /// Makes a private key in base64.
    fn packed_key(&mut self) -> String {
        let packed = base64(self.key().join("\n").as_bytes());
        self.marks.extend([packed[48..72].to_string(), packed[80..104].to_string()]);
        packed
    }

    /// Makes a string with a certificate's header that is not a certificate.
    fn no_certificate(&mut self) -> String {
        base64(format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", self.packed()).as_bytes())
    }
}

/// Encodes standard base64 with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = (at(0) << 16) | (at(1) << 8) | at(2);
        for place in 0..4 {
            out.push(if place <= chunk.len() { char::from(ALPHABET[(bits >> (18 - 6 * place)) as usize & 63]) } else { '=' });
        }
    }
    out
}

/// A gateway that uses the Secret, added to some inputs.
const GATEWAY: &str = "\
---
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: https, namespace: default}
spec: {port: 8443, protocol: HTTPS, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop, namespace: default}
spec: {hostname: shop.example.com, tlsSecret: {name: shop}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: shop, namespace: default}
spec: {hostname: shop.example.com, prefix: /, service: shop}
";

const HEAD: &str = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\n  namespace: default\n";

type Form = (&'static str, fn(&mut Values) -> String);

fn indented(lines: &[String], by: usize) -> String {
    lines.iter().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}

/// Secrets whose values are in the wrong fields.
const SHAPES: &[Form] = &[
    ("as it should be", |v| format!("{HEAD}type: kubernetes.io/tls\ndata:\n  tls.crt: {}\n  tls.key: {}\n", v.no_certificate(), v.packed_key())),
    ("plain text", |v| format!("{HEAD}stringData:\n  tls.crt: {}\n  tls.key: |\n{}", v.plain(), indented(&v.key(), 4))),
    ("a key twice", |v| format!("{HEAD}stringData:\n  tls.key: {}\n  tls.key: {}\n  tls.crt: {}\n", v.plain(), v.plain(), v.plain())),
    ("sections twice", |v| format!("{HEAD}data:\n  tls.key: {}\ndata:\n  tls.crt: {}\n", v.packed(), v.packed())),
    ("objects and lists", |v| {
        format!(
            "{HEAD}data:\n  tls.key: {{a: {}, b: [{}, {}]}}\n  tls.crt:\n  - {}\n  - deep: {}\n",
            v.packed(),
            v.packed(),
            v.plain(),
            v.packed(),
            v.plain()
        )
    }),
    ("a section in small letters", |v| format!("{HEAD}stringdata:\n  tls.key: {}\n", v.plain())),
    ("a misspelt section", |v| format!("{HEAD}dta:\n  tls.key: {}\n  other: {}\n", v.packed(), v.plain())),
    ("values in no section", |v| format!("{HEAD}tls.key: {}\npassword: {}\n", v.packed(), v.plain())),
    ("values in metadata", |v| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\n  data:\n    tls.key: {}\n  annotations:\n    note: {}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("values in a list", |v| format!("{HEAD}data:\n- name: tls.key\n  value: {}\n- {}\n", v.packed(), v.plain())),
    ("a section that is a text", |v| format!("{HEAD}data: {}\nstringData: {}\n", v.packed(), v.plain())),
    ("numbers and switches", |v| format!("{HEAD}data:\n  tls.key: 17\n  pin: true\n  tls.crt: {}\n", v.packed())),
    ("not base64", |v| format!("{HEAD}data:\n  tls.key: {}!\n  tls.crt: '{} {}'\n", v.plain(), v.plain(), v.plain())),
    ("a tag", |v| format!("{HEAD}data:\n  tls.crt: !!binary |\n    {}\n  tls.key: !secret {}\n", v.packed(), v.plain())),
    ("quotes", |v| {
        format!(
            "{HEAD}stringData:\n  a: \"{}\\n{}\"\n  b: '{}''{}'\n  c: \"{}\n    {}\"\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("blocks", |v| {
        format!(
            "{HEAD}stringData:\n  a: |-\n    {}\n  b: >\n    {}\n    {}\n  c: |2\n      {}\n  d: |+ # {}\n    {}\n\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a value that continues on the next line", |v| format!("{HEAD}stringData:\n  a: {}\n    {}\n    {}\n", v.plain(), v.plain(), v.plain())),
    ("comments", |v| {
        format!(
            "# {}\n{HEAD}# {}\ndata: # {}\n  # {}\n  tls.key: {} # {}\n# {}\n",
            v.plain(),
            v.plain(),
            v.packed(),
            v.plain(),
            v.packed(),
            v.plain(),
            v.packed()
        )
    }),
    ("a comment before the line that begins it", |v| {
        format!("kind: Service\napiVersion: v1\nmetadata: {{name: s}}\nspec: {{ports: [{{port: 80}}]}}\n# {}\n---\n{HEAD}data: {{}}\n", v.plain())
    }),
    ("an anchor and its alias", |v| format!("{HEAD}stringData:\n  tls.key: &key {}\n  tls.crt: *key\n", v.plain())),
    ("an anchor outside of it", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: c}}\n  data: {{a: &key {}}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: shop}}\n  stringData: {{tls.key: *key}}\n",
            v.plain()
        )
    }),
    ("a merge", |v| {
        format!(
            "apiVersion: v1\nkind: Secret\nbase: &base\n  tls.key: {}\nmetadata: {{name: shop}}\nstringData:\n  <<: *base\n  tls.crt: {}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a password that looks like an anchor", |v| format!("{HEAD}stringData:\n  a: &{}\n  b: !{} x\n", v.plain(), v.plain())),
    ("a password that looks like a comment", |v| format!("{HEAD}stringData:\n  a: #{}\n", v.plain())),
    ("applied by kubectl", |v| {
        let inner = format!("{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"stringData\":{{\"tls.key\":\"{}\"}}}}", v.plain());
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: |\n      {inner}\ndata:\n  tls.key: {}\n",
            v.packed()
        )
    }),
    ("another object with a Secret in an annotation", |v| {
        let inner = format!(
            "{{\\\"kind\\\":\\\"Secret\\\",\\\"metadata\\\":{{\\\"name\\\":\\\"s\\\"}},\\\"data\\\":{{\\\"tls.key\\\":\\\"{}\\\",\\\"b\\\":{{\\\"c\\\":\\\"{}\\\"}}}}}}",
            v.packed(),
            v.packed()
        );
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: \"{inner}\"\nspec: {{ports: [{{port: 80}}]}}\n"
        )
    }),
    ("a Secret in Ambassador's annotation", |v| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n    getambassador.io/config: |\n      ---\n      apiVersion: v1\n      kind: Secret\n      name: s\n      data:\n        tls.key: {} # {}\nspec: {{ports: [{{port: 80}}]}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("one line of JSON", |v| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{{\"name\":\"shop\"}},\"data\":{{\"tls.key\":\"{}\"}},\"stringData\":{{\"a\":\"{}\"}}}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("Windows line ends", |v| {
        format!("{HEAD}data:\n  tls.key: {}\nstringData:\n  a: |\n    {}\n    {}\n", v.packed(), v.plain(), v.plain()).replace('\n', "\r\n")
    }),
    ("hashes of passwords", |v| format!("{HEAD}stringData:\n  auth: |\n    user:$apr1${}$x\n    other:{{SHA}}{}\n", v.plain(), v.packed())),
    ("a name that is none", |v| format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{a: {}}}\nstringData:\n  a: {}\n", v.plain(), v.plain())),
];

/// Secrets of another kind.
const KINDS: &[Form] = &[
    ("kind: Secrets", |v| of_kind("kind: Secrets\n", v)),
    ("kind: secret", |v| of_kind("kind: secret\n", v)),
    ("kind: Secert", |v| of_kind("kind: Secert\n", v)),
    ("kind: SealedSecret", |v| {
        format!(
            "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {{name: s}}\nspec:\n  encryptedData:\n    tls.key: {}\n  template: {{data: {{a: {}}}}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("knd: Secret", |v| of_kind("knd: Secret\n", v)),
    ("Kind: Secret", |v| of_kind("Kind: Secret\n", v)),
    ("no kind", |v| of_kind("", v)),
    ("a kind without a value", |v| of_kind("kind:\n", v)),
    ("no kind but a key", |v| format!("metadata: {{name: s}}\nvalues:\n  certificate: |\n{}  note: {}\n", indented(&v.key(), 4), v.plain())),
    ("no kind but base64", |v| format!("metadata: {{name: s}}\nthings:\n  one: {}\n  two: {}\n", v.packed(), v.plain())),
    ("kind: Opaque", |v| of_kind("kind: Opaque\n", v)),
    ("an item of a list", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n# {}\n- apiVersion: v1\n  kind: Secret\n  metadata: {{name: s}}\n  data:\n    tls.key: {} # {}\n  stringData: {{a: {{b: {}}}}}\n",
            v.plain(),
            v.packed(),
            v.plain(),
            v.plain()
        )
    }),
    ("an item of a SecretList", |v| {
        format!("apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {{name: s}}\n  data:\n    tls.key: {}\n  a: {}\n", v.packed(), v.plain())
    }),
    ("an item of an item", |v| {
        format!(
            "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - kind: Secret\n    apiVersion: v1\n    metadata: {{name: s}}\n    stringData: {{a: {}}}\n",
            v.plain()
        )
    }),
    ("in the values of another object", |v| {
        format!(
            "apiVersion: example.com/v1\nkind: Release\nmetadata: {{name: r}}\nspec:\n  extra:\n  - apiVersion: v1\n    kind: Secret\n    metadata: {{name: s}}\n    stringData: {{a: {}, b: [{}]}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("encrypted by SOPS", |v| {
        format!(
            "{HEAD}data:\n  tls.key: ENC[AES256_GCM,data:{},type:str]\nsops:\n  mac: ENC[AES256_GCM,data:{}]\n  age:\n  - recipient: age1x\n    enc: |\n      {}\n",
            v.packed(),
            v.packed(),
            v.packed()
        )
    }),
];

fn of_kind(kind: &str, v: &mut Values) -> String {
    format!("apiVersion: v1\n{kind}metadata: {{name: shop, namespace: default}}\ndata:\n  tls.key: {}\nstringData:\n  a: {}\n", v.packed(), v.plain())
}

/// Secrets that no parser can read.
const BROKEN: &[Form] = &[
    ("nothing but a key in base64", |v| format!("{}:\n", v.packed())),
    ("the mark of a quote before a value", |v| format!("{HEAD}data:` {}\nstringData% {}\n", v.packed(), v.plain())),
    ("a Secret in Ambassador's annotation of a broken object", |v| {
        let secret = format!("---\napiVersion: v1\nkind: Secret\nname: s\ndata:\n  tls.key: {} # {}\n", v.packed(), v.plain());
        let lines: Vec<String> = secret.lines().map(Into::into).collect();
        let annotation = format!("    getambassador.io/config: |\n{}", indented(&lines, 6));
        format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n{annotation}spec: {{ports:[{{port 80}}]}}\n")
    }),
    ("an annotation without its colon", |v| {
        let secret = format!(r#"{{\"kind\":\"Secret\",\:"metadata\":{{\"name\":\"s\"}},\"data\":{{\"tls.key\":\"{}\"}}}}"#, v.packed());
        let annotation = format!("    kubectl.kubernetes.io/last-applied-configuration \"{secret}\"\n");
        format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n  annotations:\n{annotation}spec: {{ports: [{{port: 80}}]}}\n")
    }),
    ("an open quote", |v| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: 'broken\ndata:\n  tls.key: {}\n  {}: {}\n", v.packed(), v.plain(), v.plain())
    }),
    ("an open bracket", |v| format!("{HEAD}data: {{tls.key: {}, tls.crt: {}\n", v.packed(), v.plain())),
    ("a tab", |v| format!("{HEAD}stringData:\n\ttls.key: {}\n\tother: {}\n", v.plain(), v.plain())),
    ("no colon", |v| format!("{HEAD}stringData:\n  tls.key {}\n  {}\n  a: {}\n", v.plain(), v.plain(), v.plain())),
    ("no blank behind the colon", |v| format!("{HEAD}stringData:\n  {}:{}\n  b:{}\n", v.plain(), v.plain(), v.plain())),
    ("a key that is not indented", |v| format!("{HEAD}data:\n  tls.key: |\n{}", indented(&v.key(), 0))),
    ("wrong indentation", |v| format!("{HEAD}data:\n    a: {}\n  b: {}\n   c: {}\n", v.packed(), v.plain(), v.packed())),
    ("characters that nothing begins with", |v| format!("{HEAD}stringData:\n  a: @{}\n  b: `{}\n  c: %{}\n", v.plain(), v.plain(), v.plain())),
    ("an alias to nothing", |v| format!("{HEAD}stringData:\n  a: *{}\n  b: {}\n", v.plain(), v.plain())),
    ("a line of the block that looks like the end", |v| {
        format!("{HEAD}stringData:\n  a: |\n    {}\n---\n  b: {}\n  c: {}\n---\n{}\n", v.plain(), v.packed(), v.plain(), v.plain())
    }),
    ("sections in a Mapping", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec: {{hostname: '*', prefix: /m/, service: m}}\nstringData:\n  kind: {}\n  tls.key: {} # {}\n  deep: [{{a: {}}}]\ndata: {{tls.crt: {}}}\nstringdata: {}\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain(),
            v.packed(),
            v.plain()
        )
    }),
    ("two objects in one", |v| {
        format!(
            "kind: Mapping\napiVersion: getambassador.io/v3alpha1\nmetadata: {{name: m}}\nspec: {{prefix: /}}\n{HEAD}data:\n  tls.key: {}\n",
            v.packed()
        )
    }),
    ("JSON cut off", |v| {
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{{\"name\":\"shop\"}},\"data\":{{\"tls.key\":\"{}\",\"b\":\"{}",
            v.packed(),
            v.plain()
        )
    }),
    ("a template", |v| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: {{{{ .Release.Name }}}}\ndata:\n  tls.key: {}\n  a: {{{{ \"{}\" | b64enc }}}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("a colon in a text", |v| {
        format!("{HEAD}stringData:\n  a: {}: {}\n  b: {}\n    {}: {}\n", v.plain(), v.plain(), v.plain(), v.plain(), v.plain())
    }),
    ("a bad escape", |v| format!("{HEAD}stringData:\n  a: \"{}\\q{}\"\n  b: {}\n", v.plain(), v.plain(), v.plain())),
    ("text behind quotes", |v| format!("{HEAD}stringData:\n  a: \"{}\" {}\n  b: '{}'{}\n", v.plain(), v.plain(), v.plain(), v.plain())),
    ("no kind, and a tab", |v| format!("metadata: {{name: s}}\ndata:\n\ttls.key: {}\n\tb: {}\n", v.packed(), v.plain())),
    ("a control character", |v| format!("{HEAD}stringData:\n  a: {}\u{1}\n  b: {}\n", v.plain(), v.plain())),
    ("a document that is not an object", |v| format!("{}\n", v.packed())),
    ("a key alone", |v| v.key().join("\n")),
    ("a key in HCL that does not end", |v| {
        let key = v.key().join("\n");
        format!("Kind = \"inline-certificate\"\nName = \"cert\"\nPrivateKey = <<EOF\n{key}\n")
    }),
];

/// Objects other than Secrets that hold credentials.
const OTHERS: &[Form] = &[
    ("a ConfigMap with a key", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  tls.key: |\n{}  packed: {}\n  tls.key: |\n{}",
            indented(&v.key(), 4),
            v.packed_key(),
            indented(&v.key(), 4)
        )
    }),
    ("a ConfigMap with passwords", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  password: {}\n  app.yaml: |\n    db:\n      password: {}\n      apiKey: '{}'\n",
            v.plain(),
            v.plain(),
            v.plain()
        )
    }),
    ("a ConfigMap with users", |v| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  users: |\n    a:$apr1$xxxxxxxx${}\n    b:{{SHA}}{}\n",
            v.plain(),
            v.packed()
        )
    }),
    ("headers of an AuthService", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: AuthService\nmetadata: {{name: a, namespace: default}}\nspec:\n  auth_service: auth:80\n  proto: http\n  add_auth_headers:\n    Authorization: Bearer {}\n    x-api-token: {}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("the token of a TracingService", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: TracingService\nmetadata: {{name: t, namespace: default}}\nspec:\n  service: tracing:80\n  driver: lightstep\n  config:\n    access_token: {}\n    token: {}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("headers of a Mapping", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: '*'\n  prefix: /m/\n  service: m\n  add_request_headers:\n    Authorization: Basic {}\n    x-token: {{value: {}}}\n",
            v.packed(),
            v.plain()
        )
    }),
    ("headers of an HTTPProxy", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  virtualhost: {{fqdn: shop.example.com}}\n  routes:\n  - services: [{{name: s, port: 80}}]\n    requestHeadersPolicy:\n      set:\n      - name: Authorization\n        value: Bearer {}\n      - {{name: X-Api-Key, value: {}}}\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: s, namespace: default}}\nspec: {{ports: [{{port: 80}}]}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("a token in a text", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata:\n  name: m\n  namespace: default\n  annotations:\n    note: eyJhbGciOiJIUzI1NiJ9.{}.x\n    url: https://user:{}@example.com/\nspec: {{hostname: '*', prefix: /m/, service: m}}\n",
            v.plain(),
            v.plain()
        )
    }),
];

/// Consul documents that hold keys and tokens.
const CONSUL: &[Form] = &[
    ("a key beside its certificate", |v| {
        let key = v.key();
        format!(
            "Kind: inline-certificate\nName: cert\nCertificate: |\n  -----BEGIN CERTIFICATE-----\n  MIIB\n  -----END CERTIFICATE-----\nPrivateKey: |\n{}",
            indented(&key, 2)
        )
    }),
    ("a key in HCL", |v| {
        let key = v.key().join("\n");
        format!("Kind = \"inline-certificate\"\nName = \"cert\"\nCertificate = \"x\"\nPrivateKey = <<EOF\n{key}\nEOF\n")
    }),
    ("a misspelt key in HCL", |v| {
        format!(
            "Kind = \"inline-certificate\"\nName = \"cert\"\nPrivatKey = \"{}\"\nprivate_key = [\"{}\", \"{}\"]\n",
            v.packed(),
            v.packed(),
            v.plain()
        )
    }),
    ("a key twice", |v| format!("Kind: inline-certificate\nName: cert\nPrivateKey: {}\nPrivateKey: {}\nCertificate: x\n", v.packed(), v.packed())),
    ("the token of a service", |v| {
        format!(
            "service {{\n  name = \"web\"\n  token = \"{}\"\n  port = 8080\n  connect {{ sidecar_service {{ token = \"{}\" }} }}\n}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("the tokens of several services", |v| {
        format!(
            "{{\"services\": [{{\"name\": \"web\", \"token\": \"{}\"}}, {{\"name\": \"cart\", \"token\": {{\"a\": \"{}\"}}}}]}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("an agent's file with tokens and keys", |v| {
        format!(
            "encrypt = \"{}\"\nacl {{\n  tokens {{\n    agent = \"{}\"\n    default = \"{}\"\n  }}\n}}\nservice {{\n  name = \"web\"\n}}\n",
            v.packed(),
            v.plain(),
            v.plain()
        )
    }),
    ("tokens of an agent alone", |v| format!("acl {{\n  tokens {{\n    agent = \"{}\"\n    replication = \"{}\"\n  }}\n}}\n", v.plain(), v.plain())),
    ("a command with a password as a separate word", |v| {
        format!(
            "service:\n  name: web\n  checks: [{{name: c, args: [/bin/check, --password, \"{}\", --token, \"{}\"], interval: 1s}}]\n",
            v.plain(),
            v.plain()
        )
    }),
    ("credentials by many names", |v| {
        let names = ["credentials", "creds", "psk", "DB_PASS", "gossip_key", "ssh_key", "Ocp-Apim-Subscription-Key", "AccountKey"];
        let lines: String = names.iter().map(|name| format!("    {name}: \"{}\"\n", v.plain())).collect();
        format!("service:\n  name: web\n  meta:\n{lines}")
    }),
    ("a header with a token", |v| {
        format!(
            "Kind: service-router\nName: web\nRoutes:\n- Destination: {{Service: api, RequestHeaders: {{Set: {{Authorization: 'Bearer {}', X-Api-Key: {}}}}}}}\n",
            v.plain(),
            v.plain()
        )
    }),
    ("keys for tokens", |v| {
        let keys = format!("{{\"keys\":[{{\"kty\":\"oct\",\"k\":\"{}\"}}]}}", v.packed());
        let packed = base64(keys.as_bytes());
        v.marks.push(packed[40..64].into());
        format!("Kind: jwt-provider\nName: okta\nIssuer: okta\nJSONWebKeySet: {{Local: {{JWKS: {packed}}}}}\n")
    }),
];

/// The forms that typing errors are made in, by their common feature.
const GROUPS: [(&str, &[Form]); 6] =
    [("shape", SHAPES), ("kind", KINDS), ("broken", BROKEN), ("other", OTHERS), ("consul", CONSUL), ("file", files::FILES)];

/// Returns all forms, each with separate values; every second input also has a gateway.
pub fn all() -> Vec<Leak> {
    made_of(GROUPS.into_iter().chain([("account", accounts::ACCOUNTS)]))
}

/// Returns inputs whose typing errors moved a value, and inputs with credentials in fields of objects other than Secrets.
pub fn slips() -> Vec<Leak> {
    made_of([("slip", slips::SLIPS), ("field", fields::FIELDS)])
}

fn made_of(groups: impl IntoIterator<Item = (&'static str, &'static [Form])>) -> Vec<Leak> {
    let mut leaks = Vec::new();
    for (group, (name, make)) in groups.into_iter().flat_map(|(group, forms)| forms.iter().map(move |form| (group, *form))) {
        for beside in [false, true] {
            let mut values = Values { next: 0, marks: Vec::new() };
            let text = make(&mut values);
            let text = match beside {
                false => text,
                true => format!("{}{GATEWAY}", if text.ends_with('\n') { text } else { text + "\n" }),
            };
            let name = format!("{group}: {name}{}", if beside { ", beside a gateway" } else { "" });
            leaks.push(Leak { name, text, marks: values.marks });
        }
    }
    leaks
}

/// Returns Secrets with this many typing errors: structural characters are lost, doubled or exchanged. Values stay whole.
pub fn mistyped(seed: u64, count: usize) -> Vec<Leak> {
    let mut chance = Chance::new(seed);
    (0..count)
        .map(|number| {
            let (group, forms) = chance.pick(&GROUPS);
            let (name, make) = chance.pick(forms);
            let mut values = Values { next: 0, marks: Vec::new() };
            let mut text = make(&mut values);
            let strokes = 1 + chance.below(3);
            for _ in 0..strokes {
                stroke(&mut text, &values.marks, &mut chance);
            }
            Leak { name: format!("mistyped {number} of {seed}: {group}: {name}"), text, marks: values.marks }
        })
        .collect()
}

fn stroke(text: &mut String, marks: &[String], chance: &mut Chance) {
    // Only punctuation and blanks change. Without its form, a string can mean anything; a former alias or a URL's user cannot be recognised
    // either.
    let is_form = |c: char| !c.is_alphanumeric() && !matches!(c, '+' | '/' | '=' | '*' | '@');
    let in_value = |at: usize| marks.iter().any(|mark| text.match_indices(mark.as_str()).any(|(start, mark)| start < at && at < start + mark.len()));
    let places: Vec<usize> = text.char_indices().filter(|(at, c)| is_form(*c) && !in_value(*at)).map(|(at, _)| at).collect();
    if places.is_empty() {
        return;
    }
    let at = *chance.pick(&places);
    let old = text[at..].chars().next().unwrap_or(' ');
    let end = at + old.len_utf8();
    const OTHERS: &[char] = &[' ', '\n', '\t', ':', '-', '"', '\'', '{', '}', '[', ']', '#', '|', '&', '*', '!', ',', '%', '@', '`'];
    match chance.below(4) {
        0 => text.replace_range(at..end, ""),
        1 => text.insert(at, old),
        2 => text.replace_range(at..end, &chance.pick(OTHERS).to_string()),
        _ => text.insert(at, *chance.pick(OTHERS)),
    }
}
