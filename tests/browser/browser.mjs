// Serves the built page on loopback and opens it in Chromium. Shared by the tests.

import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { after, before, test as run } from "node:test";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export { default as AxeBuilder } from "@axe-core/playwright";

// Ends a test that hangs.
export const test = (name, options, body) => run(name, { timeout: 180_000, ...(body ? options : {}) }, body ?? options);

export const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

// Packs the element's npm package and unpacks it like an installation.
export async function packed() {
  const folder = await mkdtemp(join(tmpdir(), "chancery-package-"));
  execFileSync("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: fileURLToPath(new URL("../../web/npm/", import.meta.url)) });
  const [archive] = await readdir(folder);
  execFileSync("tar", ["-xzf", archive], { cwd: folder });
  return { path: join(folder, "package"), remove: () => rm(folder, { recursive: true, force: true }) };
}

// Serves the built page, the strings of `hosts` at their paths, and `folders` below their paths.
export async function serve(hosts = {}, folders = {}) {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://here").pathname;
    const hosted = hosts[path];
    try {
      const [below, folder] = Object.entries(folders).find(([below]) => path.startsWith(below)) ?? ["/", dist];
      const body = hosted ?? (await readFile(join(folder, normalize(path === "/" ? "index.html" : path.slice(below.length)))));
      response.writeHead(200, { "content-type": hosted ? "text/html" : (kinds[extname(path === "/" ? "index.html" : path)] ?? "application/octet-stream") });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}/`, close: () => new Promise((done) => server.close(done).closeAllConnections()) };
}

export const launch = () =>
  chromium.launch({
    executablePath: process.env.CHANCERY_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });

// Opens the page in a new browser context. `errors` collects the page's errors.
export async function open(browser, url, { width = 1440, height = 900, theme = "light", path = "", init, serviceWorkers = "block" } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce", serviceWorkers });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  if (init) await page.addInitScript(init);
  await page.goto(url + path);
  return { page, context, errors, close: () => context.close() };
}

// Starts a browser and a server for the tests of a file. `visit` opens a page and waits for its first compile; `open` does not wait.
export function visitors(hosts) {
  const site = {
    open: (options) => open(site.browser, site.server.url, options),
    visit: async (options) => {
      const opened = await site.open(options);
      await ready(opened.page);
      return opened;
    },
  };
  before(async () => {
    site.browser = await launch();
    site.server = await serve(hosts);
  });
  after(async () => {
    await site.browser?.close();
    await site.server?.close();
  });
  return site;
}

// Waits until the first compile is shown.
export const ready = (page) =>
  page.waitForFunction(() => /(^|\D)[1-9][\d,]* resource.*compiled in/.test(document.querySelector(".status")?.textContent ?? ""), null, { timeout: 60_000 });

// Shows a view and waits until it is drawn.
export async function show(page, view) {
  await page.click(`#tab-${view}`);
  await page.locator(`#tab-${view}[aria-selected="true"]`).waitFor();
  await page.locator("#view > *").first().waitFor({ state: "attached" });
  await drawn(page);
}

// Waits until pending answers of the worker are shown.
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(done)))));

// Drops files onto the page.
export async function load(page, files) {
  const generation = await page.locator(".status").textContent();
  await page.evaluate((files) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(files)) data.items.add(new File([text], name));
    document.querySelector(".page").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);
  await page.waitForFunction((name) => document.querySelector(".file.active")?.textContent.includes(name), Object.keys(files)[0]);
  return generation;
}

// The first line of the editor that contains a text.
export const line = (page, text) => page.locator(".cm-line", { hasText: text }).first();

export const clickLine = (page, text) => line(page, text).click({ position: { x: 40, y: 8 } });
