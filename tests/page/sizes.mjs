// Large inputs of several dialects.

const times = (count, one) => Array.from({ length: count }, (_, at) => one(at)).join("");

const emissary = (count) =>
  `apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: http}\nspec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n` +
  times(Math.ceil(count / 50), (at) => `---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: h${at}}\nspec: {hostname: h${at}.example.com, requestPolicy: {insecure: {action: Route}}}\n`) +
  times(count, (at) => `---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m${at}}\nspec: {hostname: h${Math.floor(at / 50)}.example.com, prefix: /m${at}/, service: s${at % 97}}\n`);

const contour = (count) =>
  times(count, (at) => `---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: p${at}, namespace: team-${at % 20}}\nspec:\n  virtualhost: {fqdn: p${at}.example.com}\n  routes: [{conditions: [{prefix: /}], services: [{name: s, port: 80}]}]\n`) +
  times(20, (at) => `---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: team-${at}}\nspec: {ports: [{port: 80}]}\n`);

const consul = (count) =>
  `Kind: proxy-defaults\nName: global\nConfig:\n  protocol: http\n` +
  times(count, (at) => `---\nKind: service-router\nName: s${at}\nRoutes:\n- Match:\n    HTTP:\n      PathPrefix: /v${at}\n  Destination:\n    Service: s${(at + 1) % count}\n`);

const ingresses = (count) =>
  times(count, (at) => `---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: i${at}, namespace: team-${at % 20}}\nspec:\n  ingressClassName: nginx\n  rules:\n  - host: i${at}.example.com\n    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: s, port: {number: 80}}}}]}\n`) +
  times(20, (at) => `---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: team-${at}}\nspec: {ports: [{port: 80}]}\n`);

// A Mapping with an unknown field.
const broken = "---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: broken}\nspec:\n  hostname: h0.example.com\n  prefix: /broken/\n  service: broken\n  wrong: 1\n";

// Each input with its name, and text that adds a finding.
export const large = () => [
  { name: "emissary-200", text: emissary(200), broken },
  { name: "emissary-1000", text: emissary(1000), broken },
  { name: "emissary-5000", text: emissary(5000), broken },
  { name: "contour-3000", text: contour(3000) },
  { name: "consul-500", text: consul(500) },
  { name: "ingress-nginx-1000", text: ingresses(1000) },
];
