// Every dialect on the page: detection, switching, and the views of its gateways.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { line, load, show, test, visitors } from "../browser.mjs";

const site = visitors();
const visit = (path = "") => site.visit({ path });

const mapping = `apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: shop}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: cart, namespace: shop}
spec: {hostname: "*", prefix: /cart/, service: cart}
`;

const proxy = `apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: site, namespace: shop}
spec:
  virtualhost: {fqdn: site.example.com}
  routes:
  - conditions: [{prefix: /blog}]
    services: [{name: blog, port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: blog, namespace: shop}
spec: {ports: [{port: 80}]}
`;

describe("detection of dialects", () => {
  for (const [dialect, example] of [["ambassador", "ambassador/hello"], ["contour", "contour/hello"], ["ingress", "ingress/paths"], ["consul", "consul/canary"]]) {
    test(`${dialect}: an example selects its dialect`, async () => {
      const { page, errors, close } = await visit(`?example=${example}`);
      assert.equal(await page.locator(".status select[aria-label='Dialect']").inputValue(), dialect);
      assert.deepEqual(errors, []);
      await close();
    });
  }

  test("a new file switches the dialect, and files of two dialects show both", async () => {
    const { page, errors, close } = await visit("?example=ambassador/hello");
    await load(page, { "site.yaml": proxy });
    await page.locator(".arrived", { hasText: "Read as Contour" }).waitFor();
    await load(page, { "cart.yaml": mapping });
    await page.locator(".status", { hasText: "of Emissary and Contour" }).waitFor();
    await show(page, "routes");
    await page.locator("tr.route", { hasText: "/cart/" }).first().waitFor();
    await page.locator("tr.route", { hasText: "/blog" }).first().waitFor();
    // A click on a route of the other gateway shows that gateway.
    const now = await page.locator(".status select[aria-label='Dialect']").inputValue();
    await page.locator("tr.route", { hasText: now === "contour" ? "/cart/" : "/blog" }).first().click();
    const other = now === "contour" ? "ambassador" : "contour";
    await page.waitForFunction((other) => document.querySelector(".status select[aria-label='Dialect']").value === other, other);
    await page.locator("tr.route.lit").first().waitFor();
    assert.deepEqual(errors, []);
    await close();
  });

  test("an edit can change the dialect", async () => {
    const { page, close } = await visit();
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText("Kind: service-resolver\nName: api\n");
    await page.waitForFunction(() => document.querySelector(".status select[aria-label='Dialect']").value === "consul");
    await line(page, "service-resolver").waitFor();
    await close();
  });
});

describe("names of Services", () => {
  for (const [example, answer, box] of [
    ["consul/canary", "90% orders (v1), 10% orders (v2)", "orders (v2)"],
    ["consul/api-gateway", "orders, as /", "orders"],
    ["ingress/paths", "api at 10.1.0.4:8080, as /api/v2/", "api"],
  ]) {
    test(`${example}: answer names Services and highlights the way`, async () => {
      const { page, close } = await visit(`?example=${example}`);
      await page.locator(".asked-answer.good", { hasText: answer }).waitFor();
      await page.locator(".box.way .box-title", { hasText: box }).first().waitFor();
      await show(page, "routes");
      await page.locator("tr.route", { hasText: `to ${box}` }).first().waitFor();
      await close();
    });
  }

  test("proxy with a plain upstream has a request", async () => {
    const { page, close } = await visit("?example=consul/intentions");
    await page.locator(".asked-answer", { hasText: "orders" }).waitFor();
    await show(page, "routes");
    await page.locator("tr.route", { hasText: "to orders" }).first().waitFor();
    await close();
  });
});

describe("several gateways", () => {
  test("compare covers all gateways", async () => {
    const { page, close } = await visit("?example=contour/provisioner");
    await show(page, "compare");
    await page.locator(".verdict", { hasText: "Nothing differs." }).waitFor();
    await line(page, "backendRefs: [{name: web").click();
    await page.keyboard.press("End");
    for (let at = 0; at < "}]".length; at += 1) await page.keyboard.press("ArrowLeft");
    await page.keyboard.insertText(", timeouts: {request: 7s}");
    await page.locator(".verdict", { hasText: "Requests change" }).waitFor();
    const changes = await page.locator(".changes").first().textContent();
    assert.match(changes, /shop\/inner/);
    assert.match(changes, /shop\/outer/);
    await close();
  });

  test("switch selects a proxy of the mesh", async () => {
    const { page, close } = await visit("?example=consul/canary");
    const gateways = page.locator(".status select[aria-label='Gateway']");
    const all = await gateways.locator("option").allTextContents();
    assert.ok(all.length > 1, String(all));
    await show(page, "envoy");
    await gateways.selectOption(all[1]);
    await page.waitForFunction((id) => document.querySelector(".status select[aria-label='Gateway']").value === id, all[1]);
    await close();
  });
});

describe("request in a mesh", () => {
  test("request goes from a proxy to a service that it reaches", async () => {
    const { page, errors, close } = await visit("?example=consul/intentions");
    const from = page.locator("[aria-label='Receiving gateway']");
    await from.selectOption("orders-sidecar-proxy");
    await page.waitForFunction(() => document.querySelector(".status select[aria-label='Gateway']").value === "orders-sidecar-proxy");
    await page.locator("[aria-label='Destination']").waitFor({ state: "detached" });
    await from.selectOption("web-sidecar-proxy");
    const to = page.locator("[aria-label='Destination']");
    await to.waitFor();
    await page.fill(".asked-url", "http://absent.example.com/");
    await to.selectOption("orders");
    await page.locator(".asked-answer.good", { hasText: "orders" }).waitFor();
    assert.equal(new URL(await page.inputValue(".asked-url")).pathname, "/orders", "a path that the intentions permit");
    assert.deepEqual(errors, []);
    await close();
  });
});

describe("an Application Gateway", () => {
  test("Application Gateway shows document, rules, request and graph", async () => {
    const { page, errors, close } = await visit("?example=ingress/paths");
    assert.equal((await page.locator("#tab-envoy").textContent()).trim(), "Gateway");
    await page.locator(".asked-answer.good", { hasText: "10.1.0.4:8080" }).waitFor();
    await show(page, "routes");
    const rows = await page.locator("tr.route .path").allTextContents();
    assert.deepEqual(rows, ["path /api/v2/*", "path /api/*", "any other path"]);
    assert.deepEqual(await page.locator("tr.route td.order").allTextContents(), ["1", "2", "3"]);
    await page.fill("[aria-label='Filter routes']", "shop.example.com/api/x");
    await page.waitForFunction(() => document.querySelectorAll("tr.route").length === 2);
    await page.fill("[aria-label='Filter routes']", "");
    await page.locator("tr.route", { hasText: "/api/*" }).click();
    await page.locator(".cm-line.selected-line").first().waitFor();
    await show(page, "envoy");
    await page.locator("#view", { hasText: "properties" }).waitFor();
    await show(page, "try");
    await page.locator("#view", { hasText: "Rule" }).waitFor();
    await show(page, "graph");
    await page.locator(".box", { hasText: "port 80" }).first().waitFor();
    await page.locator(".box", { hasText: "/api/v2/*" }).first().waitFor();
    assert.deepEqual(errors, []);
    await close();
  });

  test("compare lists changed parts of the gateway", async () => {
    const { page, close } = await visit("?example=ingress/paths");
    await show(page, "compare");
    await page.locator(".verdict", { hasText: "Nothing differs." }).waitFor();
    await line(page, "path: /api/v2/").click();
    await page.keyboard.press("End");
    await page.keyboard.type("x/");
    await page.locator(".change.changed", { hasText: "/api/v2/x/*" }).waitFor();
    await close();
  });
});
