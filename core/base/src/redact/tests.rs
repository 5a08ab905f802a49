//! What is hidden, and what is not.

use super::Veil;
use alloc::string::String;
use chancery_text::TextRange;

fn masked(text: &str) -> String {
    Veil::new(text).masked(text, TextRange::new(0, text.len() as u32))
}

#[test]
fn shape_and_keys_of_a_secret_stay() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  tls.key: U0VDUkVU # note\n  b: [x, {c: d}]\n";
    let shown = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata:\n  tls.key: ******** #*****\n  b: [*, {c: *}]\n";
    assert_eq!(masked(text), shown.replace("#*****", "# ****"));
}

#[test]
fn a_name_with_a_slip_is_a_name_and_nothing_else_is() {
    let secret =
        |name: &str, label: &str| masked(&["apiVersion: v1\nkind: Secret\nmetadata: {name: ", name, ", labels: {a: ", label, "}}\n"].concat());
    assert!(secret("Shop_TLS", "x").contains("{name: Shop_TLS, "), "{}", secret("Shop_TLS", "x"));
    assert!(!secret("shop", "Shop_TLS").contains("Shop_TLS"));
    for other in ["'hunter2 hunter2'", "hunter2+hunter2==", "hunter2/hunter2"] {
        assert!(!secret(other, "x").contains("hunter2"), "{other}");
    }
}

#[test]
fn what_only_names_a_secret_stays() {
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
fn of_a_gateways_object_only_the_section_of_a_secret_is_hidden() {
    let text = "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nspec: {prefix: /a/, service: web:80}\nstringData: {password: hunter2}\n";
    assert_eq!(masked(text), text.replace("hunter2", "*******"));
    let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
    let kept = super::keep_back(&mut root, false, false);
    assert!(!kept.is_secret);
    assert!(!kept.credentials.is_empty() && kept.credentials.iter().all(|value| value == "hunter2"), "{:?}", kept.credentials);
    assert_eq!(root.at(&["spec", "prefix"]).and_then(|node| node.as_str()), Some("/a/"));
    assert_eq!(root.at(&["stringData", "password"]).and_then(|node| node.as_str()), Some(super::REDACTED));
}

#[test]
fn credentials_elsewhere_are_hidden_alone() {
    let text = "kind: Mapping\nspec:\n  prefix: /a/\n  add_request_headers:\n    Authorization: Bearer abcdefghijkl\n    x-other: shown\n";
    assert_eq!(masked(text), text.replace("Bearer abcdefghijkl", "****** ************"));
}

#[test]
fn a_broken_text_gives_no_value_to_a_word_that_names_a_credential() {
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
fn comments_and_keys_give_nothing_away() {
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
fn what_names_a_place_or_looks_like_a_credential_alone_stays() {
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
fn a_value_whose_anchor_lost_its_alias_is_hidden() {
    let text =
        "kind: List\nitems:\n- kind: Service\n  metadata: {name: c, labels: {a: &key UXowMDFodXNoaHVzaHBhZGRpbmc=}}\n- kind: Secret\n  data:\n";
    let whole = TextRange::new(0, text.len() as u32);
    assert!(Veil::new(text).hides(text, whole), "{}", Veil::new(text).masked(text, whole));
}

#[test]
fn what_a_secret_takes_from_another_object_by_alias_stays_where_it_is_a_name() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: &v v1\n  kind: Service\n  metadata: {name: &n shop, labels: &l {app: shop, team: &t web}}\n- apiVersion: *v\n  kind: Secret\n  metadata: {name: *n, labels: *l, annotations: {team: *t}}\n  stringData: {}\n";
    assert_eq!(masked(text), text);
    // What is a value as well is hidden, and what cannot be a label.
    let both = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: shop, labels: &l {a: &a hunter, b: hunter2hunter2}}\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: shop, labels: *l}\n  stringData: {a: *a}\n";
    assert_eq!(masked(both), both.replace("hunter2hunter2", "**************").replace("hunter", "******"));
}

#[test]
fn a_key_behind_an_empty_password_stays() {
    for text in ["password: \"\"\nenabled:\n", "password: \"\"\nCertificate: \"\"\n", "{password: \"\", hostname: \"\"}\n"] {
        let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
        let kept = super::keep_back_within(&mut root, false);
        assert_eq!(kept.credentials, [] as [&str; 0], "{text}");
    }
}

#[test]
fn of_a_text_with_an_object_only_the_credential_is_kept_back() {
    let text = "metadata:\n  annotations:\n    getambassador.io/config: |\n      ---\n      kind: Mapping\n      service: web:80\n      add_request_headers: {authorization: {value: \"Bearer Zm9vYmFyMTIz\"}}\n";
    let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
    let kept = super::keep_back_within(&mut root, false);
    assert_eq!(kept.credentials, ["Bearer Zm9vYmFyMTIz"]);
}

#[test]
fn the_key_of_tls_settings_is_hidden_and_the_place_of_one_is_not() {
    for text in
        ["tls: {key: SECRETMARKER, certificate: public}\n", "ingress:\n  tls:\n  - host: a\n    key: SECRETMARKER\n", "ssl:\n  key: SECRETMARKER\n"]
    {
        assert_eq!(masked(text), text.replace("SECRETMARKER", "************"));
        let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
        let kept = super::keep_back_within(&mut root, false);
        assert_eq!(kept.credentials, ["SECRETMARKER"], "{text}");
    }
    for text in ["tls: {key: /etc/tls/tls.key}\n", "tls: {hosts: [a.example.com], secretName: web}\n"] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn of_a_registration_with_consul_only_the_token_is_hidden() {
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

/// Asserts that a text is masked where its marker stands, and that its tree keeps each marker back.
fn hides_markers(text: &str, markers: usize) {
    let shown = masked(text);
    assert!(!shown.contains("MARK"), "{shown}");
    let mut root = chancery_text::parse(text, &chancery_text::Limits::default()).root.expect("a tree");
    let kept = super::keep_back(&mut root, false, false);
    let hidden = |number: &usize| kept.credentials.iter().any(|credential| credential.contains(&alloc::format!("MARK{number}")));
    assert_eq!((0..markers).filter(hidden).count(), markers, "{:?}", kept.credentials);
}

#[test]
fn headers_that_a_rewrite_of_application_gateways_sets_are_hidden() {
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
fn a_key_that_stands_for_a_set_of_keys_is_hidden() {
    hides_markers("kind: JWTProvider\nspec: {jsonWebKeySet: {local: {jwks: MARK0-shared}}}\n", 1);
    hides_markers("Kind: jwt-provider\nJSONWebKeySet:\n  Local:\n    JWKS: MARK0-shared\n", 1);
    let public = "Kind: jwt-provider\nJSONWebKeySet: {Local: {JWKS: '{\"keys\": []}'}}\n";
    assert_eq!(masked(public), public);
}

#[test]
fn parameters_and_patches_that_carry_credentials_are_hidden() {
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
