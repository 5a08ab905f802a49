//! Edits documents of each dialect the way users do, correctly or not.
//!
//! Does not check the results; see the parent module.

use chancery_tests::chance::Chance;

/// Edits a text the way users do, correctly or not.
pub(super) fn edit(documents: &mut Vec<String>, chance: &mut Chance) {
    let at = chance.below(documents.len());
    let Some(document) = documents.get_mut(at) else { return };
    match chance.below(11) {
        0 => *document = document.replacen("service: ", "service: other-", 1),
        1 => *document = document.replacen("prefix: /", "prefix: /edited/", 1),
        2 => document.push_str("  timeout_ms: 1234\n"),
        3 => document.push_str("# a comment\n"),
        4 => document.push_str("  no_such_field: true\n"),
        5 => document.push_str("  weight: 30\n"),
        6 => *document = document.replacen("spec:", "spec: [", 1),
        7 => *document = document.replacen("name: item-", "name: item-1", 1),
        8 => {
            documents.remove(at);
        }
        9 => {
            let copy = document.replacen("namespace: default", "namespace: other", 1);
            documents.push(copy);
        }
        _ => {
            let other = chance.below(documents.len());
            documents.swap(at, other);
        }
    }
}

/// Edits resources that HTTPProxies depend on: Services, Secrets and their permissions, endpoints, includes, the controller's configuration.
pub(super) fn edit_around(documents: &mut [String], before: &[String], chance: &mut Chance) {
    const EDITS: [(&str, &str); 18] = [
        ("port: 80", "port: 81"),
        ("port: 80}", "port: 80, protocol: UDP}"),
        ("port: 80}", "port: 80, appProtocol: kubernetes.io/h2c}"),
        ("kind: Service\nmetadata: {", "kind: Service\nmetadata: {annotations: {projectcontour.io/max-connections: \"7\"}, "),
        ("targetNamespaces: [teams]", "targetNamespaces: [others]"),
        ("tls.crt: LS0", "tls.crt: XS0"),
        ("tls.crt: ", "tls.other: "),
        ("ca.crt: ", "ca.other: "),
        ("10.0.0.1", "10.0.0.2"),
        ("10.0.0.1", "a.example.com"),
        ("prefix: /team", "prefix: /squad"),
        ("includes:\n", "includes:\n  - {name: page, namespace: teams, conditions: [{prefix: /again}]}\n"),
        ("permitInsecure: true", "permitInsecure: false"),
        ("minimumProtocolVersion", "maximumProtocolVersion"),
        ("replacement: /new", "replacement: /newer/"),
        ("connectTimeout: 3s", "connectTimeout: 4s"),
        ("disablePermitInsecure: false", "disablePermitInsecure: true"),
        ("spec:", "spec: # moved\n  # by a line\n "),
    ];
    let at = chance.below(documents.len());
    let Some(document) = documents.get_mut(at) else { return };
    if chance.percent(30) {
        // Restores the original document, or copies another one.
        let from = if chance.percent(70) { at % before.len() } else { chance.below(before.len()) };
        document.clone_from(&before[from]);
        return;
    }
    if chance.percent(20) {
        let line: &&str = chance.pick(&["loadBalancerPolicy: {strategy: Random}", "permitInsecure: true", "enableWebsockets: true"]);
        *document = format!("{document}    {line}\n");
        return;
    }
    let first = chance.below(EDITS.len());
    let edit = (0..EDITS.len()).map(|step| EDITS[(first + step) % EDITS.len()]).find(|(from, _)| document.contains(from));
    if let Some((from, to)) = edit {
        *document = document.replacen(from, to, 1);
    }
}

/// Edits Ingresses and resources that they depend on: Services, endpoints, pods, Secrets, classes, rewrites.
pub(super) fn edit_ingresses(documents: &mut Vec<String>, before: &[String], chance: &mut Chance) {
    const EDITS: [(&str, &str); 20] = [
        ("    kubernetes.io/ingress.class: azure", "    kubernetes.io/ingress.class: nginx"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/request-timeout: \"77\"\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/rule-priority: \"7\"\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/rule-priority: high\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/ssl-redirect: \"true\"\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/use-private-ip: \"true\"\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/backend-protocol: gopher\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/waf-policy-for-path: /policies/one\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/rewrite-rule-set-custom-resource: set\n    kubernetes.io/ingress.class"),
        ("    kubernetes.io/ingress.class", "    appgw.ingress.kubernetes.io/hostname-extension: a.test,b.test\n    kubernetes.io/ingress.class"),
        ("spec:\n  rules:", "spec:\n  defaultBackend: {service: {name: item-1, port: {number: 80}}}\n  rules:"),
        ("spec:\n  rules:", "spec:\n  tls: [{secretName: cert}]\n  rules:"),
        ("host: item", "host: shop"),
        ("      - path: /", "      - path: /new/"),
        (
            "      - path: /",
            "      - path: /\n        pathType: Prefix\n        backend: {service: {name: item-0, port: {number: 80}}}\n      - path: /",
        ),
        ("targetPort: 8080", "targetPort: http"),
        ("port: 8080}", "port: 8081}"),
        ("ip: 10.", "ip: 11."),
        ("app: web", "app: other"),
        ("path: /ready", "path: /healthz"),
    ];
    let at = chance.below(documents.len());
    if chance.percent(5) {
        documents.remove(at);
        return;
    }
    let Some(document) = documents.get_mut(at) else { return };
    if chance.percent(25) {
        let from = if chance.percent(70) { at % before.len() } else { chance.below(before.len()) };
        document.clone_from(&before[from]);
        return;
    }
    let first = chance.below(EDITS.len());
    let edit = (0..EDITS.len()).map(|step| EDITS[(first + step) % EDITS.len()]).find(|(from, _)| document.contains(from));
    match edit {
        Some((from, to)) => *document = document.replacen(from, to, 1),
        None => document.push_str("# a comment\n"),
    }
}

/// Edits any text: removes, doubles, moves or changes a line, or restores a document.
pub(super) fn edit_lines(documents: &mut Vec<String>, before: &[String], chance: &mut Chance) {
    let at = chance.below(documents.len());
    let other = chance.below(documents.len());
    let line_of = |document: &String, chance: &mut Chance| {
        let lines: Vec<&str> = document.lines().collect();
        lines.get(chance.below(lines.len())).map(ToString::to_string)
    };
    let Some(foreign) = documents.get(other).and_then(|document| line_of(document, chance)) else { return };
    let count = documents.len();
    let Some(document) = documents.get_mut(at) else { return };
    let mut lines: Vec<String> = document.lines().map(ToString::to_string).collect();
    let line = chance.below(lines.len());
    match chance.below(12) {
        0..=3 => {
            if let Some(known) = before.get(chance.below(before.len())) {
                document.clone_from(known);
            }
            return;
        }
        4 if count > 1 => {
            documents.remove(at);
            return;
        }
        5 => {
            documents.swap(at, other);
            return;
        }
        6 => drop(lines.remove(line)),
        7 => lines.insert(line, lines[line].clone()),
        8 => lines[line] = foreign,
        9 => lines[line].push_str(" # a comment"),
        10 => lines[line] = lines[line].replace(['0', '8'], "1"),
        _ => {
            // Puts another line's value under this line's key.
            if let (Some((key, _)), Some((_, value))) = (lines[line].split_once(": "), foreign.split_once(": ")) {
                lines[line] = format!("{key}: {value}");
            }
        }
    }
    *document = lines.iter().map(|line| format!("{line}\n")).collect();
    if !document.starts_with("---") {
        document.insert_str(0, "---\n");
    }
}

/// Splits a text into documents, each with its separator.
pub(super) fn split(text: &str) -> Vec<String> {
    let documents = text.split("---\n").filter(|document| !document.trim().is_empty());
    documents.map(|document| format!("---\n{document}")).collect()
}
