//! Checks that ingress-nginx gives the same with kept Ingresses as without.

use super::edits::{edit_lines, split};
use super::{hold, rounds};
use chancery_tests::generate::nginx_ingresses;
use chancery_tests::work::options;

#[test]
fn memories_change_nothing_of_any_feature() {
    super::memories_change_nothing_of_any_feature("ingress-nginx");
}

/// The controller's ConfigMap, and Ingresses with annotations that look up a Secret, a ConfigMap, a Service, and another Ingress of their host.
const AROUND: &str = "\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
data: {proxy-body-size: 2m, annotation-value-word-blocklist: forbidden, allow-snippet-annotations: 'true', annotations-risk-level: Critical}
---
apiVersion: v1
kind: Secret
metadata: {name: users, namespace: default}
data: {auth: YTokYXByMSRhJGI=}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: headers, namespace: default}
data: {x-one: a}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: users
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/auth-type: basic
    nginx.ingress.kubernetes.io/auth-secret: users
    nginx.ingress.kubernetes.io/custom-headers: default/headers
    nginx.ingress.kubernetes.io/default-backend: item-0
    nginx.ingress.kubernetes.io/custom-http-errors: '503'
spec:
  ingressClassName: nginx
  rules:
  - host: shop0.example.com
    http:
      paths:
      - {path: /users, pathType: Prefix, backend: {service: {name: item-1, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: canary
  namespace: default
  annotations:
    nginx.ingress.kubernetes.io/canary: 'true'
    nginx.ingress.kubernetes.io/canary-weight: '10'
spec:
  ingressClassName: nginx
  rules:
  - host: shop0.example.com
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: item-2, port: {number: 80}}}}
";

#[test]
fn memories_change_nothing_of_ingresses() {
    let options = options("dialect=ingress-nginx").expect("options");
    for seed in 0..rounds(6) {
        let mut before = split(&nginx_ingresses(8, seed).concat());
        before.extend(split(AROUND));
        hold(seed, 25, before.clone(), &options, |documents, chance| edit_lines(documents, &before, chance));
    }
}
