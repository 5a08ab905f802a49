//! Lists credentials that can only be recognised by the names or the form around them: accounts, sessions, URLs that grant access.
//!
//! Does not list Secrets; see the parent module.

use super::{Form, Values};

fn in_config_map(lines: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c, namespace: default}}\ndata:\n{lines}")
}

fn mapping(header: &str) -> String {
    format!(
        "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: m, namespace: default}}\nspec:\n  hostname: '*'\n  prefix: /m/\n  service: m\n  add_request_headers:\n{header}"
    )
}

/// Credentials that become unrecognisable if their form has a typing error.
pub(super) const ACCOUNTS: &[Form] = &[
    ("a kubeconfig", |v: &mut Values| {
        format!(
            "apiVersion: v1\nkind: Config\nusers:\n- name: admin\n  user:\n    client-key-data: {}\n    token: {}\n    password: {}\n",
            v.packed(),
            v.plain(),
            v.plain()
        )
    }),
    ("a session in a cookie that is set", |v| mapping(&format!("    Cookie: {{value: 'session={}'}}\n", v.plain()))),
    ("a header of the wrong type", |v| mapping(&format!("    X-Auth-Token: {}\n    Set-Cookie: sid={}\n", v.plain(), v.plain()))),
    ("a cookie in a list of headers", |v| {
        format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: p, namespace: default}}\nspec:\n  virtualhost: {{fqdn: shop.example.com}}\n  routes:\n  - services: [{{name: s, port: 80}}]\n    requestHeadersPolicy: {{set: [{{name: Cookie, value: 'session={}'}}]}}\n",
            v.plain()
        )
    }),
    ("the secret of a client", |v| {
        format!(
            "apiVersion: getambassador.io/v3alpha1\nkind: Filter\nmetadata: {{name: f, namespace: default}}\nspec:\n  OAuth2: {{clientID: shop, secret: {}, authorizationURL: 'https://id.example.com'}}\n",
            v.plain()
        )
    }),
    ("accounts in connection strings", |v| {
        in_config_map(&format!(
            "  a: 'AccountName=x;AccountKey={};EndpointSuffix=core.windows.net'\n  b: 'Endpoint=sb://x.example.com/;SharedAccessKeyName=R;SharedAccessKey={}'\n  c: 'https://a.example.com/c?sv=1&sig={}'\n",
            v.packed(),
            v.packed(),
            v.plain()
        ))
    }),
    ("webhook addresses that grant access", |v| in_config_map(&format!("  slack: https://hooks.slack.com/services/T0/B0/{}\n", v.plain()))),
    ("passwords in lines of programs", |v| {
        in_config_map(&format!(
            "  curl: 'curl -u admin:{} https://x.example.com'\n  netrc: machine x login y password {}\n  sql: CREATE USER x IDENTIFIED BY '{}'\n  vault: hvs.{}\n",
            v.plain(),
            v.plain(),
            v.plain(),
            v.plain()
        ))
    }),
    ("variables of programs", |v| in_config_map(&format!("  SECRET_KEY_BASE: {}\n  PGPASS: {}\n  MYSQL_PWD: {}\n", v.plain(), v.plain(), v.plain()))),
    ("an element of XML", |v| in_config_map(&format!("  x: |\n    <server>\n    <password>{}</password>\n    </server>\n", v.plain()))),
];
