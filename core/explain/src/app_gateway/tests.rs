//! Tests notes about paths of path maps.

use super::route_app_gateway;
use alloc::format;
use alloc::string::{String, ToString as _};
use chancery_base::compilation::{Options, for_interactive_use};
use chancery_base::resource::Inputs;
use chancery_compile::compile;
use chancery_envoy::simulate::Request;

#[test]
fn path_above_the_request_is_near() {
    let near = |path: &str, asked: &str| -> Option<String> {
        let text = format!(
            "apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop, annotations: {{kubernetes.io/ingress.class: azure/application-gateway}}}}
spec:
  rules:
  - http:
      paths:
      - {{path: {path}, pathType: ImplementationSpecific, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}
"
        );
        let options = for_interactive_use(Options::of(&chancery_agic::DIALECT));
        let compilation = compile(&Inputs::one("input.yaml", text), &options, crate::testing::ALL);
        let of = compilation.app_gateways().next().expect("a gateway");
        let request = Request::new("GET", &format!("http://shop.example.com{asked}")).expect("a URL");
        route_app_gateway(of, &compilation.positions(), &request).near_path.map(|path| path.to_string())
    };
    assert_eq!(near("/shop", "/shop/cart").as_deref(), Some("/shop"));
    assert_eq!(near("/shop/", "/SHOP/cart?a=b").as_deref(), Some("/shop/"));
    for (path, asked) in [("/shop", "/shop"), ("/shop", "/shopping"), ("/shop", "/other"), ("/shop/*", "/shop/cart"), ("/shop", "/shop/")] {
        assert_eq!(near(path, asked), None, "{path} {asked}");
    }
}
