//! Tests hidden and visible text.

use super::RedactionMap;
use alloc::string::String;
use chancery_text::TextRange;

fn masked(text: &str) -> String {
    RedactionMap::new(text).masked(text, TextRange::new(0, text.len() as u32))
}

#[test]
fn secret_shape_and_keys_stay() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  tls.key: U0VDUkVU # note\n  b: [x, {c: d}]\n";
    let shown = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  tls.key: ******** #*****\n  b: [*, {c: *}]\n";
    assert_eq!(masked(text), shown.replace("#*****", "# ****"));
}

#[test]
fn misspelled_name_field_is_still_a_name() {
    let secret =
        |name: &str, label: &str| masked(&["apiVersion: v1\nkind: Secret\nmetadata: {name: ", name, ", labels: {a: ", label, "}}\n"].concat());
    assert!(secret("Shop_TLS", "x").contains("{name: Shop_TLS, "), "{}", secret("Shop_TLS", "x"));
    assert!(!secret("shop", "Shop_TLS").contains("Shop_TLS"));
    for other in ["'hunter2 hunter2'", "hunter2+hunter2==", "hunter2/hunter2"] {
        assert!(!secret(other, "x").contains("hunter2"), "{other}");
    }
}

#[test]
fn references_to_secrets_stay() {
    let texts = [
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g}\nspec:\n  listeners:\n  - tls:\n      certificateRefs:\n      - kind: Secret\n        name: shop-tls\n",
        "apiVersion: getambassador.io/v3alpha1\nkind: TLSContext\nmetadata: {name: t}\nspec: {hosts: [a.example.com], secret: shop-tls}\n",
        "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}], image: 'x@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'}\n",
        "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: p}\nspec:\n  routes:\n  - conditions:\n    - header: {name: X-Token, present: true}\n",
    ];
    for text in texts {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn gateway_object_hides_only_secret_section() {
    let text = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nspec: {prefix: /a/, service: web:80}\nstringData: {password: hunter2}\n";
    assert_eq!(masked(text), text.replace("hunter2", "*******"));
    let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
    let kept = super::take_secrets(&mut root, false);
    assert!(!kept.is_secret);
    assert!(!kept.credentials.is_empty() && kept.credentials.iter().all(|value| value == "hunter2"), "{:?}", kept.credentials);
    assert_eq!(root.at(&["spec", "prefix"]).and_then(|node| node.as_str()), Some("/a/"));
    assert_eq!(root.at(&["stringData", "password"]).and_then(|node| node.as_str()), Some(super::REDACTED));
}

#[test]
fn other_objects_hide_only_credentials() {
    let text = "kind: Mapping\nspec:\n  prefix: /a/\n  add_request_headers:\n    Authorization: Bearer abcdefghijkl\n    x-other: shown\n";
    assert_eq!(masked(text), text.replace("Bearer abcdefghijkl", "****** ************"));
}

#[test]
fn broken_text_hides_values_of_credential_names() {
    let broken = "kind: Mapping\nspec:\n  prefix: /a/\n  *: }\n";
    let texts = [
        ("  access_token- hunter2hunter2\n", "hunter2hunter2"),
        ("  password=hunter2hunter2\n", "hunter2hunter2"),
        ("  Authorization 'Bearer hunter2hunter2', next: 1\n", "hunter2hunter2"),
        ("  token:\nhunter2hunter2\n", "hunter2hunter2"),
        ("  jwks {a: eyJhbGciOiJIUzI1NiJ9\".hunter2hunter2}\n", "hunter2hunter2"),
        ("  - {name: X-Api-Key% value: hunter2hunter2}\n", "hunter2hunter2"),
    ];
    for (line, secret) in texts {
        let shown = masked(&[broken, line].concat());
        assert!(!shown.contains(secret), "{shown}");
        assert!(shown.starts_with("kind: Mapping\nspec:\n  prefix: /a/\n"), "what names nothing stays: {shown}");
    }
}

#[test]
fn comments_and_keys_leak_nothing() {
    let beside = "kind: Mapping\nspec:\n  prefix: /a/ # where the token is: see the guide\n";
    assert_eq!(masked("kind: Mapping\nspec: {prefix: /a/} # takes all\n"), "kind: Mapping\nspec: {prefix: /a/} # takes all\n");
    for lines in
        ["# password: hunter2hunter2\n", "# kind: Secret\n# note: hunter2hunter2\n", "  add_request_headers: {x-token: {value:hunter2hunter2}}\n"]
    {
        let shown = masked(&[beside, lines].concat());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("prefix: /a/"), "{shown}");
    }
}

#[test]
fn paths_and_lookalikes_stay() {
    let texts = [
        "kind: ConfigMap\ndata:\n  a: 'token: ${TOKEN}'\n  b: |\n    password=/run/secrets/db\n    token=%REQ(x-token)%\n",
        "kind: Mapping\nspec: {rewrite: 'docker.io/shop/app:v1@sha256:9f86d081884c', host: 'https://git@example.com/'}\n",
        "kind: ConfigMap\ndata: {a: '{\"url\":\"https://host\",\"https://other\":\"x:y@example.com\"}'}\n",
        "kind: Mapping # Basic Authentication is required\nspec: {regex: '.*token=[a-z]+$1$2'}\n",
    ];
    for text in texts {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn anchored_value_without_alias_is_hidden() {
    let text =
        "kind: List\nitems:\n- kind: Service\n  metadata: {name: c, labels: {a: &key UXowMDFodXNoaHVzaHBhZGRpbmc=}}\n- kind: Secret\n  data:\n";
    let whole = TextRange::new(0, text.len() as u32);
    assert!(RedactionMap::new(text).hides(text, whole), "{}", RedactionMap::new(text).masked(text, whole));
}

#[test]
fn aliased_labels_of_secrets_stay() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: &v v1\n  kind: Service\n  metadata: {name: &n shop, labels: &l {app: shop, team: &t web}}\n- apiVersion: *v\n  kind: Secret\n  metadata: {name: *n, labels: *l, annotations: {team: *t}}\n  stringData: {}\n";
    assert_eq!(masked(text), text);
    // A string that is also a value, or cannot be a label, is hidden.
    let both = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: shop, labels: &l {a: &a hunter, b: hunter2hunter2}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: shop, labels: *l}\n  stringData: {a: *a}\n";
    assert_eq!(masked(both), both.replace("hunter2hunter2", "**************").replace("hunter", "******"));
}

#[test]
fn key_after_empty_password_stays() {
    for text in ["password: \"\"\nenabled:\n", "password: \"\"\nCertificate: \"\"\n", "{password: \"\", hostname: \"\"}\n"] {
        let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
        let kept = super::take_secrets_within(&mut root);
        assert_eq!(kept.credentials, [] as [&str; 0], "{text}");
    }
}

#[test]
fn embedded_object_hides_only_credential() {
    let text = "metadata:\n  annotations:\n    getambassador.io/config: |\n      ---\n      kind: Mapping\n      service: web:80\n      add_request_headers: {authorization: {value: \"Bearer Zm9vYmFyMTIz\"}}\n";
    let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
    let kept = super::take_secrets_within(&mut root);
    assert_eq!(kept.credentials, ["Bearer Zm9vYmFyMTIz"]);
}

#[test]
fn tls_key_is_hidden_its_path_is_not() {
    for text in
        ["tls: {key: SECRETMARKER, certificate: public}\n", "ingress:\n  tls:\n  - host: a\n    key: SECRETMARKER\n", "ssl:\n  key: SECRETMARKER\n"]
    {
        assert_eq!(masked(text), text.replace("SECRETMARKER", "************"));
        let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
        let kept = super::take_secrets_within(&mut root);
        assert_eq!(kept.credentials, ["SECRETMARKER"], "{text}");
    }
    for text in ["tls: {key: /etc/tls/tls.key}\n", "tls: {hosts: [a.example.com], secretName: web}\n"] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn consul_registration_hides_only_token() {
    let registrations = [
        "service {\n  name = \"web\"\n  port = 8080\n  token = \"SECRETMARKER\"\n  tags = [\"v1\"]\n}\n",
        "{\"services\":[{\"name\":\"web\",\"port\":8080,\"token\":\"SECRETMARKER\"}]}\n",
    ];
    for text in registrations {
        assert_eq!(masked(text), text.replace("\"SECRETMARKER\"", "**************"));
    }
    let other = "service: {token: SECRETMARKER, a: hunter2hunter2}\n";
    assert!(!masked(other).contains("hunter2"), "it may be a Secret that lost its kind");
}

/// Asserts that each marker is masked in the text and removed from the tree.
fn hides_markers(text: &str, markers: usize) {
    let shown = masked(text);
    assert!(!shown.contains("MARK"), "{shown}");
    let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
    let kept = super::take_secrets(&mut root, false);
    let hidden = |number: &usize| kept.credentials.iter().any(|credential| credential.contains(&alloc::format!("MARK{number}")));
    assert_eq!((0..markers).filter(hidden).count(), markers, "{:?}", kept.credentials);
}

#[test]
fn app_gateway_rewrite_headers_are_hidden() {
    let text = "kind: AzureApplicationGatewayRewrite
spec:
  rewriteRules:
  - conditions:
    - {variable: http_req_Authorization, pattern: Bearer MARK0}
    actions:
      requestHeaderConfigurations:
      - {actionType: set, headerName: Authorization, headerValue: Bearer MARK1}
      - {actionType: set, headerName: x-functions-key, headerValue: MARK2MARK2}
      responseHeaderConfigurations:
      - {actionType: set, headerName: Set-Cookie, headerValue: sid=MARK3MARK3}
      urlConfiguration: {modifiedQueryString: code=MARK4MARK4&sig=x}
";
    hides_markers(text, 5);
    let plain = text.replace("Authorization", "x-team").replace("x-functions-key", "x-shop").replace("Set-Cookie", "x-y").replace("code=", "a=");
    let plain = plain.replace("&sig=x", "&b=c").replace("Bearer ", "");
    assert_eq!(masked(&plain), plain);
}

#[test]
fn single_jwk_is_hidden() {
    hides_markers("kind: JWTProvider\nspec: {jsonWebKeySet: {local: {jwks: MARK0-shared}}}\n", 1);
    hides_markers("Kind: jwt-provider\nJSONWebKeySet:\n  Local:\n    JWKS: MARK0-shared\n", 1);
    let public = "Kind: jwt-provider\nJSONWebKeySet: {Local: {JWKS: '{\"keys\": []}'}}\n";
    assert_eq!(masked(public), public);
}

#[test]
fn parameters_and_patches_hide_credentials() {
    hides_markers("Kind: service-router\nRoutes: [{Destination: {RequestHeaders: {Set: {X-Signature: MARK0MARK0}, Remove: [x-a]}}}]\n", 1);
    hides_markers("Kind: service-router\nRoutes: [{Match: {HTTP: {QueryParam: [{Name: sig, Exact: MARK0MARK0}]}}}]\n", 1);
    for list in ["headers", "query_parameters"] {
        hides_markers(&alloc::format!("match: {{{list}: [{{name: access_token, string_match: {{exact: MARK0MARK0}}}}]}}\n"), 1);
        hides_markers(&alloc::format!("match: {{{list}: [{{name: x-token, string_match: {{prefix: MARK0MARK0}}}}]}}\n"), 1);
        let plain = alloc::format!("match: {{{list}: [{{name: x-team, string_match: {{exact: plain-words}}}}]}}\n");
        assert_eq!(masked(&plain), plain);
    }
    hides_markers("Kind: service-defaults\nEnvoyExtensions: [{Arguments: {Patches: [{Op: add, Path: /a/access_token, Value: MARK0MARK0}]}}]\n", 1);
}

/// The credentials that stay in the tree of an object.
fn credentials(text: &str) -> alloc::vec::Vec<chancery_text::Str> {
    let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
    super::take_secrets(&mut root, false).credentials
}

#[test]
fn program_file_hides_only_credential() {
    let text = "kind: ConfigMap
metadata: {name: c}
data:
  app.yml: |
    api_key: !env_var SHOP_API_KEY
    password: hunter2hunter2
    naming: {anime: default, series: plex-imdb}
    key: QzNNNhushhush1
";
    assert_eq!(credentials(text), ["hunter2hunter2", "QzNNNhushhush1"], "an unknown key may hold another credential");
    assert_eq!(masked(text), text.replace("hunter2hunter2", "**************").replace("QzNNNhushhush1", "**************"));
}

#[test]
fn names_of_credentials_are_no_secrets() {
    let texts = [
        "kind: Release\nspec: {secretKey: api-key, token: GITHUB_TOKEN, client_secret: '{{ .SHOP_SECRET }}', apiKey: '$${SHOP_API_KEY}'}\n",
        "kind: Release\nspec: {existingSecret: shop, userKey: username, passwordKey: password}\n",
        "kind: Release\nspec: {tokens: [{name: reader, secretName: shop-reader}]}\n",
        "kind: Release\nspec: {data: [{remoteRef: {key: shop/credentials, property: password}}], dataFrom: [{extract: {key: /network/shop/token}}]}\n",
        "kind: Release\nspec: {args: [--key=/certs/server.key, --move-leader]}\n",
    ];
    for text in texts {
        assert_eq!(credentials(text), [] as [&str; 0], "{text}");
        assert_eq!(masked(text), text);
    }
    let given = [
        ("{existingSecret: shop, secretKey: QzNNNhushhush1, apiKey: q8s7z6x5y4}", ["QzNNNhushhush1", "q8s7z6x5y4"]),
        ("{existingSecret: '', userKey: hunter, secretKey: hunter2}", ["hunter", "hunter2"]),
        ("{token: my-secret-token, args: [--token, hunter]}", ["my-secret-token", "hunter"]),
    ];
    for (spec, values) in given {
        assert_eq!(credentials(&alloc::format!("kind: Release\nspec: {spec}\n")), values);
    }
}
