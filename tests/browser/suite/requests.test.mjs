// Tests of simulated and saved requests.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { clickLine, load, ready, test, visitors } from "../browser.mjs";

const site = visitors();

const visit = async (options) => {
  const opened = await site.visit(options);
  await opened.page.click("#tab-try");
  await opened.page.locator(".verdict").waitFor();
  return opened;
};

const api = "apiVersion: getambassador.io/v3alpha1";
const beta = `${api}
kind: Listener
metadata: {name: http}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
${api}
kind: Host
metadata: {name: all}
spec: {hostname: "*", requestPolicy: {insecure: {action: Route}}}
---
${api}
kind: Mapping
metadata: {name: beta}
spec: {hostname: "*", prefix: /beta/, service: beta, headers: {x-version: "2"}}
`;

const ask = (page, url) => page.fill(".url", url);
const verdict = (page, text) => page.locator(".verdict, .verdict-second", { hasText: text }).first().waitFor();

describe("requests", () => {
  test("first request shows its steps", async () => {
    const { page, errors, close } = await visit();
    assert.equal(await page.inputValue(".url"), "http://shop.example.com/cart/");
    assert.equal(await page.locator(".wide").count(), 0);
    await verdict(page, "goes to cluster_cart_next_shop_8080_shop (10%), cluster_cart_shop_8080_shop (90%) as /");
    const steps = await page.locator(".stair-what").allTextContents();
    assert.deepEqual(steps, ["Listener", "Filter chain", "Virtual host", "Routes", "Forward", "Cluster", "HTTP filters"]);
    await ask(page, "http://shop.example.com/api/items?x=1");
    await verdict(page, "goes to cluster_api_backend_8080_shop as /items?x=1");
    const lost = page.locator(".tried:not(.taken)");
    await lost.filter({ hasText: "only for HTTPS; this request is HTTP" }).first().waitFor();
    await page.click(".stair-more");
    await lost.filter({ hasText: "got /api/items" }).first().waitFor();
    assert.match(await page.locator(".tried.taken").textContent(), /prefix \/api\//);
    assert.deepEqual(errors, []);
    await close();
  });

  test("step, route and source lead to their lines", async () => {
    const { page, close } = await visit();
    await page.locator(".tried.taken .tried-name").click();
    await page.locator(".cm-line.selected-line", { hasText: "name: cart" }).first().waitFor();
    await page.locator(".stair", { hasText: "Listener" }).locator(".stair-name").click();
    await page.locator(".stair.lit", { hasText: "Listener" }).waitFor();
    await page.locator(".cm-line.selected-line", { hasText: "name: http" }).waitFor();
    await close();
  });

  test("route fills the form with its headers", async () => {
    const { page, close } = await visit();
    await page.click("#tab-routes");
    const route = page.locator("tr.route", { hasText: "prefix /api/" }).filter({ hasText: "to api:8080" });
    await route.getByRole("button", { name: "Try" }).first().click();
    await page.locator('#tab-try[aria-selected="true"]').waitFor();
    await page.waitForFunction(() => document.querySelector(".url").value === "http://shop.example.com/api/");
    await verdict(page, "goes to cluster_api_backend_8080_shop as /");
    await load(page, { "beta.yaml": beta });
    await page.locator(".status", { hasText: "3 resources" }).waitFor();
    await page.click("#tab-routes");
    await page.locator("tr.route", { hasText: "prefix /beta/" }).first().getByRole("button", { name: "Try" }).click();
    await page.waitForFunction(() => /x-version: 2/.test(document.querySelector(".wide-headers textarea")?.value));
    await page.locator(".tried.taken", { hasText: "prefix /beta/" }).waitFor();
    await close();
  });

  test("form accepts curl, headers and TLS", async () => {
    const { page, close } = await visit();
    await page.locator(".url").focus();
    await page.evaluate(() => {
      const data = new DataTransfer();
      data.setData("text", "curl -X POST \\\n  -H 'x-version: 2' -d a=1 https://shop.example.com/api/");
      document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    });
    await page.waitForFunction(() => document.querySelector(".method").value === "POST");
    assert.equal(await page.inputValue(".url"), "https://shop.example.com/api/");
    assert.match(await page.inputValue(".wide-headers textarea"), /x-version: 2/);
    await verdict(page, "port 8080 has no TLS. Ask with http://");
    await ask(page, "http://shop.example.com/api/");
    await verdict(page, "goes to cluster_api_backend_8080_shop");
    await page.fill(".wide-headers textarea", "x-forwarded-proto: https\nhost: absent.example.com");
    await verdict(page, "no virtual host has the domain absent.example.com; Envoy answers 404");
    await page.getByLabel("Source address").fill("here");
    await page.keyboard.press("Tab");
    await page.locator(".wrong-request", { hasText: "here is not an IP address" }).waitFor();
    await close();
  });

  test("saved requests run after each edit and reload", async () => {
    const { page, close } = await visit();
    await page.click("text=Keep as test");
    await page.locator(".kept.holds").waitFor();
    assert.equal(await page.locator("#tab-try .badge.good").textContent(), "1");
    await clickLine(page, "weight: 10");
    await page.keyboard.press("End");
    await page.keyboard.type("0");
    await page.locator(".kept.fails", { hasText: /expected: goes to .*cluster_cart_shop_8080_shop \(90%\)/ }).waitFor();
    assert.equal(await page.locator("#tab-try .badge:not(.good)").textContent(), "1");
    await page.reload();
    await ready(page);
    await page.click("#tab-try");
    await page.locator(".kept.fails").waitFor();
    await page.click("text=Accept");
    await page.locator(".kept.holds").waitFor();
    await page.click(".kept-forget");
    await page.locator(".kept").waitFor({ state: "detached" });
    await close();
  });

  test("empty configuration explains the missing parts", async () => {
    const { page, close } = await visit();
    await page.keyboard.press("Control+k");
    await page.locator(".palette-input:focus").waitFor();
    await page.keyboard.type("Clear everything");
    await page.keyboard.press("Enter");
    await page.locator(".empty", { hasText: "Write a URL" }).waitFor();
    await ask(page, "http://absent.example.com/");
    await verdict(page, "has no");
    await ask(page, "ftp://absent");
    await page.locator(".wrong-request", { hasText: "the scheme ftp is not http or https" }).waitFor();
    await close();
  });
});
