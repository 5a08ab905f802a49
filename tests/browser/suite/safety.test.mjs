// Tests with hostile input, without a network, and with failing workers.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { drawn, line, load, ready, show, test, visitors } from "../browser.mjs";

const site = visitors({ "/host/": '<!doctype html><iframe id="f" src="/?embed=findings&theme=dark" width="600" height="300"></iframe><script>window.heard=[];addEventListener("message",(e)=>heard.push(e.data))</script>' });

const hostile = '"><img src=x onerror=window.pwned=1><script>window.pwned=1</script>';

describe("safety", () => {
  test("names cannot inject markup, in any view", async () => {
    const { page, close } = await site.visit();
    const name = JSON.stringify(hostile);
    await load(page, {
      "<img src=x onerror=window.pwned=1>.yaml": `apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: evil, namespace: shop}\nspec:\n  hostname: shop.example.com\n  prefix: ${JSON.stringify("/" + hostile)}\n  service: web\n  ${name}: 1\n  host_rewrite: ${name}\n`,
    });
    for (const view of ["graph", "routes", "envoy", "ir", "findings", "try", "compare"]) {
      await show(page, view);
      assert.equal(await page.evaluate(() => window.pwned), undefined, view);
      assert.equal(await page.locator("img, .page script").count(), 0, view);
    }
    await close();
  });

  test("loaded page makes no network request", async () => {
    const { page, close } = await site.visit();
    await page.waitForLoadState("networkidle");
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    for (const view of ["routes", "envoy", "ir", "findings", "graph"]) await page.click(`#tab-${view}`);
    await page.locator(".cm-line").nth(5).click({ position: { x: 40, y: 8 } });
    await page.keyboard.type("x");
    await page.locator(".status", { hasText: "compiled in" }).waitFor();
    await drawn(page);
    assert.deepEqual(asked.filter((url) => !url.startsWith("blob:")), []);
    await close();
  });

  test("the policy allows no inline script and no eval", async () => {
    const { page, close } = await site.open();
    const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
    const scripts = policy.split(";").find((part) => part.trim().startsWith("script-src")).trim();
    assert.equal(scripts, "script-src 'self' 'wasm-unsafe-eval'");
    assert.equal(await page.evaluate(() => { const script = document.createElement("script"); script.textContent = "window.ran = 1"; document.head.append(script); return window.ran; }), undefined);
    await close();
  });

  test("hanging worker is ended and reported", async () => {
    const init = () => {
      window.ended = 0;
      window.Worker = class extends EventTarget {
        postMessage([number, question]) {
          // The worker answers `hello` and then hangs.
          if (new TextDecoder().decode(question) === '"hello"') setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data: [number, new TextEncoder().encode('{"fine":null}')] })));
        }
        terminate() {
          window.ended += 1;
        }
      };
    };
    const { page, close } = await site.open({ init });
    await page.locator(".status", { hasText: "compiling" }).waitFor();
    await page.locator(".status .wrong", { hasText: "stopped without a result" }).waitFor({ timeout: 20_000 });
    assert.equal(await page.evaluate(() => window.ended), 1);
    await close();
  });

  test("failed worker is reported and restarts", async () => {
    const { page, close } = await site.open({ init: () => (window.Worker = class extends Worker {
      constructor(address, options) {
        super(window.worksAgain ? address : "./none.js", options);
      }
    }) });
    await page.locator(".status .wrong", { hasText: "could not be loaded" }).waitFor();
    await page.evaluate(() => (window.worksAgain = true));
    await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
    await ready(page);
    assert.equal(await page.getByRole("alert").count(), 0);
    await close();
  });

  test("failed page is reported and restarts", async () => {
    for (const file of [/chancery-page_bg\.wasm$/, /chancery-page\.js$/]) {
      const context = await site.browser.newContext({ serviceWorkers: "block" });
      const page = await context.newPage();
      await page.route(file, (route) => route.abort());
      await page.goto(site.server.url);
      await page.getByRole("alert").getByText("This page could not be loaded").waitFor();
      await page.unroute(file);
      await page.getByRole("button", { name: "Try again" }).click();
      await ready(page);
      await context.close();
    }
  });

  test("page works offline after the first visit", async () => {
    const { page, context, close } = await site.visit({ serviceWorkers: "allow" });
    // Only a published page works offline.
    assert.ok(await page.locator("html").getAttribute("data-version"));
    await page.waitForFunction(() => navigator.serviceWorker.controller, null, { timeout: 60_000 });
    await context.setOffline(true);
    await page.reload();
    await ready(page);
    await page.locator(".box").first().waitFor();
    await close();
  });

  test("embedded page accepts files and reports its size", async () => {
    const { page, close } = await site.open({ path: "host/" });
    const frame = page.frameLocator("#f");
    await frame.locator(".alone").waitFor({ timeout: 30_000 });
    await page.waitForFunction(() => window.heard.some((said) => said.type === "chancery:compiled"), null, { timeout: 30_000 });
    assert.equal(await frame.locator(".pane-editor").isVisible(), false);
    assert.equal(await frame.locator("html").getAttribute("data-theme"), "dark");
    await page.evaluate(() => document.getElementById("f").contentWindow.postMessage({ type: "chancery:load", files: [{ name: "a.yaml", text: "apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: a}\nspec: {prefix: /a/, service: a, hostname: '*', tiemout_ms: 1}\n" }] }, "*"));
    await frame.locator(".finding", { hasText: "tiemout_ms" }).waitFor();
    await page.waitForFunction(() => window.heard.some((said) => said.type === "chancery:size" && said.height > 0));
    await close();
  });
});
