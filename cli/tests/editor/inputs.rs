//! One small input for each dialect, with a reference, a mistake and a name to follow.

/// An input of a dialect.
pub struct Sample {
    pub dialect: &'static str,
    pub file: &'static str,
    pub text: &'static str,
    /// A reference to another object of the input, and the line of its definition.
    pub reference: (&'static str, &'static str),
    /// A field with documentation.
    pub field: &'static str,
    /// The beginning of a line whose value is completed, and a value that fits.
    pub completes: (&'static str, &'static str),
}

pub const AMBASSADOR: &str = "\
apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: web, namespace: shop}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop, namespace: shop}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 8080}]}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata:
  name: cart
  namespace: shop
spec:
  hostname: shop.example.com
  prefix: /cart/
  service: cart:8080
  timeout_ms: 4000
  timout_ms: 5000
";

pub const CONTOUR: &str = "\
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata:
  name: cart
  namespace: shop
spec:
  routes:
  - services:
    - name: cart
      port: 80
---
apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata:
  name: shop
  namespace: shop
spec:
  virtualhost:
    fqdn: shop.example.com
  includes:
  - name: cart
    conditions: [{prefix: /cart}]
  routes:
  - conditions: [{prefix: /}]
    timeoutPolicy:
      response: 5s
    services:
    - name: cart
      port: 81
";

pub const ENVOY_GATEWAY: &str = "\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: web
  namespace: shop
spec:
  gatewayClassName: eg
  listeners:
  - name: http
    port: 80
    protocol: HTTP
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: cart
  namespace: shop
spec:
  parentRefs:
  - name: web
    sectionName: http
  hostnames: [shop.example.com]
  rules:
  - matches: [{path: {type: PathPrefix, value: /cart}}]
    timeouts: {request: 5s}
    backendRefs:
    - name: cart
      port: 81
";

pub const INGRESS: &str = "\
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: cart
  namespace: shop
  annotations:
    kubernetes.io/ingress.class: azure/application-gateway
    appgw.ingress.kubernetes.io/request-timeout: \"abc\"
spec:
  rules:
  - host: shop.example.com
    http:
      paths:
      - path: /cart
        pathType: Prefix
        backend:
          service:
            name: cart
            port: {number: 80}
";

pub const NGINX: &str = "\
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: v1
kind: Service
metadata: {name: cart, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: cart
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/proxy-read-timeout: \"abc\"
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example.com
    http:
      paths:
      - path: /cart
        pathType: Prefix
        backend:
          service:
            name: cart
            port: {number: 80}
";

pub const CONSUL: &str = "\
apiVersion: consul.hashicorp.com/v1alpha1
kind: ServiceResolver
metadata:
  name: cart
spec:
  connectTimeout: 5s
  subsets:
    v1: {filter: \"Service.Meta.version == v1\"}
---
apiVersion: consul.hashicorp.com/v1alpha1
kind: ServiceRouter
metadata:
  name: shop
spec:
  routes:
  - match: {http: {pathPrefix: /cart}}
    destination:
      service: cart
      serviceSubset: v1
      requestTimout: 5s
";

/// All samples.
pub const ALL: &[Sample] = &[
    Sample {
        dialect: "ambassador",
        file: "mapping.yaml",
        text: AMBASSADOR,
        reference: ("cart:8080", "metadata: {name: cart"),
        field: "timeout_ms",
        completes: ("  service: ", "cart:8080"),
    },
    Sample {
        dialect: "contour",
        file: "proxy.yaml",
        text: CONTOUR,
        reference: ("cart\n    conditions", "  name: cart\n  namespace: shop\nspec:\n  routes:\n  - services"),
        field: "fqdn",
        completes: ("    - name: ", "cart"),
    },
    Sample {
        dialect: "envoy-gateway",
        file: "route.yaml",
        text: ENVOY_GATEWAY,
        reference: ("web\n    sectionName", "  name: web"),
        field: "hostnames",
        completes: ("    - name: ", "cart"),
    },
    Sample {
        dialect: "ingress",
        file: "ingress.yaml",
        text: INGRESS,
        reference: ("cart\n            port", "metadata: {name: cart"),
        field: "pathType",
        completes: ("            name: ", "cart"),
    },
    Sample {
        dialect: "ingress-nginx",
        file: "nginx.yaml",
        text: NGINX,
        reference: ("cart\n            port", "metadata: {name: cart"),
        field: "pathType",
        completes: ("            name: ", "cart"),
    },
    Sample {
        dialect: "consul",
        file: "mesh.yaml",
        text: CONSUL,
        reference: ("cart\n      serviceSubset", "  name: cart"),
        field: "connectTimeout",
        completes: ("      service: ", "cart"),
    },
];
