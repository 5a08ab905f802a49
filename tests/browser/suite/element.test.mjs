// Tests of <chancery-playground> in another page, from its npm package.

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { launch, packed, serve, test } from "../browser.mjs";

const api = "apiVersion: getambassador.io/v3alpha1\n";
const gateway = `${api}kind: Listener\nmetadata: {name: http}\nspec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n---\n${api}kind: Host\nmetadata: {name: all}\nspec: {hostname: '*', requestPolicy: {insecure: {action: Route}}}\n---\n`;
const mapping = (name, more = "") => `${gateway}${api}kind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /${name}/, service: ${name}, hostname: '*'${more}}\n`;
const secretive = `${api}kind: Host\nmetadata: {name: safe}\nspec: {hostname: safe.example.com, tlsSecret: {name: elsewhere}}\n`;

const element = (attributes, text) =>
  `<chancery-playground ${attributes}><script type="application/yaml" data-name="inline.yaml">\n${text.replace(/^/gm, "      ")}</script></chancery-playground>`;

const host = (body) => `<!doctype html><title>Host</title><body>${body}<script type="module" src="/package/dist/element.js"></script>`;

let browser, server, folder;
before(async () => {
  browser = await launch();
  folder = await packed();
  const hosts = {
    "/one/": host(element('embed="findings" theme="dark" height="auto"', mapping("a", ", tiemout_ms: 1"))),
    "/far/": host(`${element('embed="routes"', mapping("near"))}<div style="height: 6000px"></div>${element('embed="routes" readonly', mapping("far"))}`),
    "/src/": host('<chancery-playground embed="routes" src="/files/shop.yaml"></chancery-playground><chancery-playground embed="routes" src="/files/none.yaml"></chancery-playground>'),
    "/files/shop.yaml": mapping("shop"),
    "/options/": host(element('embed="findings" options="missing-secrets=assume"', secretive)),
  };
  server = await serve(hosts, { "/package/": folder.path });
});
after(async () => {
  await browser?.close();
  await server?.close();
  await folder?.remove();
});

const visit = async (path) => {
  const context = await browser.newContext({ viewport: { width: 1000, height: 700 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  const asked = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.addInitScript(() => {
    window.heard = [];
    for (const name of ["chancery-ready", "chancery-compiled", "chancery-change", "chancery-error"]) {
      addEventListener(name, (event) => window.heard.push({ name, detail: event.detail, at: [...document.querySelectorAll("chancery-playground")].indexOf(event.target) }), { capture: true });
    }
  });
  await page.goto(server.url + path);
  const heard = async (name) => (await page.waitForFunction((name) => window.heard.find((one) => one.name === name), name, { timeout: 60_000 })).jsonValue();
  return { page, asked, heard, close: () => context.close() };
};

describe("the element", () => {
  test("element shows one view with theme and height", async () => {
    const { page, heard, close } = await visit("one/");
    const frame = page.frameLocator("chancery-playground iframe");
    await frame.locator(".finding", { hasText: "tiemout_ms" }).waitFor();
    assert.equal(await frame.locator("html").getAttribute("data-theme"), "dark");
    assert.equal((await heard("chancery-compiled")).detail.warnings, 1);
    await page.waitForFunction(() => document.querySelector("chancery-playground").style.height !== "420px");
    // The element removes the indentation of the surrounding page.
    assert.match(await page.evaluate(() => document.querySelector("chancery-playground").files[0].text), /^apiVersion: .*\nkind: Listener\n/);
    await close();
  });

  test("element applies its options", async () => {
    const { page, close } = await visit("options/");
    const frame = page.frameLocator("chancery-playground iframe");
    await frame.locator(".finding", { hasText: "assumed to exist" }).waitFor();
    await page.evaluate(() => document.querySelector("chancery-playground").setAttribute("options", "missing-secrets=error"));
    await frame.locator(".finding", { hasText: "no Secret" }).waitFor();
    await close();
  });

  test("element follows attributes and property `files`", async () => {
    const { page, heard, close } = await visit("one/");
    const frame = page.frameLocator("chancery-playground iframe");
    await heard("chancery-compiled");
    await page.evaluate((text) => {
      const element = document.querySelector("chancery-playground");
      element.embed = "routes";
      element.theme = "light";
      element.files = [{ name: "b.yaml", text }];
    }, mapping("other"));
    await frame.locator("tr.route", { hasText: "/other/" }).first().waitFor();
    assert.equal(await frame.locator("html").getAttribute("data-theme"), "light");
    await close();
  });

  test("element reports edits", async () => {
    const { page, heard, close } = await visit("one/");
    await heard("chancery-compiled");
    await page.frameLocator("chancery-playground iframe").locator(".chip.fix").first().click();
    const { detail } = await heard("chancery-change");
    assert.match(detail[0].text, /timeout_ms: 1/);
    await close();
  });

  test("visible elements load and share one program", async () => {
    const { page, asked, close } = await visit("far/");
    await page.frameLocator("chancery-playground >> nth=0 >> iframe").locator("tr.route", { hasText: "/near/" }).first().waitFor();
    assert.equal(await page.locator("chancery-playground iframe").count(), 1);
    assert.match(await page.locator("chancery-playground pre").textContent(), /name: far/);
    await page.locator("chancery-playground").nth(1).scrollIntoViewIfNeeded();
    await page.frameLocator("chancery-playground >> nth=1 >> iframe").locator("tr.route", { hasText: "/far/" }).first().waitFor();
    const programs = asked.filter((path) => path.endsWith(".wasm")).sort();
    // No example was compiled: it would have a warning.
    const compiled = await page.evaluate(() => window.heard.filter(({ name }) => name === "chancery-compiled").map(({ detail }) => detail.warnings));
    assert.ok(compiled.length >= 2 && compiled.every((warnings) => warnings === 0), JSON.stringify(compiled));
    assert.deepEqual(programs.map((path) => path.split("/").pop()), ["chancery-page_bg.wasm", "chancery-worker_bg.wasm"]);
    await close();
  });

  test("element loads text from `src`, and reports a missing file", async () => {
    const { page, heard, close } = await visit("src/");
    await page.frameLocator("chancery-playground >> nth=0 >> iframe").locator("tr.route", { hasText: "/shop/" }).first().waitFor();
    assert.match((await heard("chancery-error")).detail, /none\.yaml cannot be loaded: 404/);
    await close();
  });
});
