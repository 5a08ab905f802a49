//! Tests of all dialects: a wrong word in a field is always reported, and valid input has no errors.

use crate::check::check;
use crate::compilation::{Options, for_interactive_use};
use crate::compile::{EmittedByGateway, compile};
use crate::diagnostic::{Diagnostic, Policy, Severity, codes};
use crate::dialect;
use crate::executor::Sequential;
use crate::resource::Inputs;
use crate::schema::{Others, Schema, Shape};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const NO_WORD: &str = "no-such-word";

/// Writes values of a schema, as JSON, each with one wrong word.
fn wrong(schema: &Schema, out: &mut Vec<String>) {
    let mut within = |inner: &Schema, around: &dyn Fn(String) -> String| {
        let mut all = Vec::new();
        wrong(inner, &mut all);
        out.extend(all.into_iter().map(around));
    };
    match &schema.shape {
        Shape::String(strings) if !strings.among.is_empty() => out.push(format!("\"{NO_WORD}\"")),
        Shape::Array { items, .. } => within(items, &|item| format!("[{item}]")),
        Shape::Object(members) => {
            for field in members.fields {
                within(&field.schema, &|value| format!("{{\"{}\": {value}}}", field.name));
            }
            if let Others::Values(values) = members.others {
                within(values, &|value| format!("{{\"any\": {value}}}"));
            }
        }
        Shape::OneOf(all) | Shape::AnyOf(all) => all.iter().for_each(|one| within(one, &|value| value)),
        _ => {}
    }
}

#[test]
fn wrong_word_in_any_field_is_reported() {
    let mut silent = Vec::new();
    let mut count = 0;
    for dialect in dialect::ALL {
        for kind in (dialect.kinds)() {
            let mut specs = Vec::new();
            wrong(kind.spec, &mut specs);
            for spec in specs {
                count += 1;
                let object = format!(
                    "{{\"apiVersion\": \"{}\", \"kind\": \"{}\", \"metadata\": {{\"name\": \"a\"}}, \"spec\": {spec}}}",
                    kind.api_version, kind.name
                );
                let mut compilation = compile(&Inputs::one("a.json", object.as_str()), &for_interactive_use(Options::of(dialect)), &[dialect]);
                check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
                let is_said = |finding: &crate::diagnostic::Diagnostic| finding.severity != Severity::Notice && finding.message.contains(NO_WORD);
                if !compilation.all_diagnostics().any(is_said) {
                    silent.push(format!("{}: {object}", dialect.name));
                }
            }
        }
    }
    assert!(count > 100, "{count}");
    assert_eq!(silent, Vec::<String>::new(), "{}", silent.len());
}

fn found(name: &str, text: &str) -> Vec<Diagnostic> {
    let mut compilation = compile(&Inputs::one(name, text), &for_interactive_use(Options::default()), dialect::ALL);
    check(&mut compilation, &Policy::default(), &mut EmittedByGateway::default(), &Sequential);
    compilation.all_diagnostics().cloned().collect()
}

#[test]
fn template_remains_in_name_have_no_fix() {
    let fixes = |name: &str| {
        let text = format!(
            "apiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: \"{name}\"}}\nspec: {{virtualhost: {{fqdn: a.example.com}}, routes: []}}\n"
        );
        let all = found("a.yaml", &text);
        assert!(all.iter().any(|finding| finding.code == &codes::INVALID_NAME), "{name}");
        all.into_iter().filter(|finding| finding.code == &codes::INVALID_NAME && finding.fix.is_some()).count()
    };
    for left in ["{{ .Release.Name }}-web", "${APP}-api", "<your-name>", "__APP_NAME__"] {
        assert_eq!(fixes(left), 0, "{left}");
    }
    assert_eq!(fixes("My_Shop"), 1);
}

#[test]
fn stable_version_has_no_fix_to_older() {
    let fix = |kind: &str, version: &str| {
        let text = format!(
            "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{}}\n---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {{name: a}}\n"
        );
        found("a.yaml", &text).into_iter().find(|finding| finding.code == &codes::UNSUPPORTED_VERSION).expect("a finding").fix
    };
    assert_eq!(fix("BackendTLSPolicy", "gateway.networking.k8s.io/v1"), None);
    assert!(fix("HTTPRoute", "gateway.networking.k8s.io/v7").is_some());
}

#[test]
fn second_hcl_entry_in_file_has_no_fix() {
    let text = "Kind = \"service-defaults\"\nName = \"web\"\nProtocol = \"http\"\n\nKind = \"service-splitter\"\nName = \"web\"\nSplits = []\n";
    let all = found("a.hcl", text);
    let separator: Vec<&Diagnostic> = all.iter().filter(|finding| finding.code == &codes::BROKEN_SEPARATOR).collect();
    assert!(
        matches!(separator[..], [finding] if finding.fix.is_none() && finding.help.as_deref().is_some_and(|help| help.contains("separate file")))
    );
    assert!(all.iter().all(|finding| finding.fix.is_none()), "{all:?}");
}

#[test]
fn fields_and_kinds_of_consul_are_accepted() {
    let is_clean = |name: &str, text: &str| found(name, text).iter().all(|finding| finding.severity != Severity::Error);
    let read_back = "{\"Kind\": \"service-defaults\", \"Name\": \"web\", \"Protocol\": \"http\", \"CreateIndex\": 15, \"ModifyIndex\": 35}";
    assert!(is_clean("a.json", read_back));
    assert!(found("a.json", read_back).iter().all(|finding| finding.code != &codes::NO_EFFECT), "the entry is in effect");
    let resource = |kind: &str| format!("apiVersion: consul.hashicorp.com/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{}}\n");
    assert!(is_clean("a.yaml", &resource("PeeringAcceptor")));
    assert!(!is_clean("a.yaml", &resource("PeeringAcceptors")));
}

#[test]
fn help_does_not_delete_objects_used_elsewhere() {
    let class = "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: agic}\nspec: {controller: azure/application-gateway}\n";
    let mapping = |name: &str| {
        format!(
            "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {{name: {name}}}\nspec: {{hostname: '*', prefix: /{name}/, service: web}}\n"
        )
    };
    for (text, severity) in [(class.into(), Severity::Warning), (format!("{}{}", mapping("a"), mapping("b")), Severity::Notice)] {
        let all = found("a.yaml", &text);
        let finding = all.iter().find(|finding| finding.code == &codes::NO_EFFECT).expect("a finding");
        assert_eq!(finding.severity, severity);
        assert!(finding.help.as_deref().is_some_and(|help| !help.contains("delete")), "{finding:?}");
    }
}
