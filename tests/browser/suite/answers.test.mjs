// Tests of answers outside the views: unreachable rules, plain words for controller messages, requests in a mesh, exported requests, and the first
// answer.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { clickLine, drawn, load, show, test, visitors } from "../browser.mjs";

const site = visitors();
const root = fileURLToPath(new URL("../../../", import.meta.url));

const api = "apiVersion: getambassador.io/v3alpha1\n";
const listener = `${api}kind: Listener\nmetadata: {name: http, namespace: shop}\nspec: {port: 8080, protocol: HTTP, securityModel: INSECURE, hostBinding: {namespace: {from: ALL}}}\n`;
const mapping = (name, spec) => `---\n${api}kind: Mapping\nmetadata: {name: ${name}, namespace: shop}\nspec:\n  hostname: "*"\n${spec}`;
const shadowed = listener + mapping("everything", "  prefix: /\n  precedence: 10\n  service: all\n") + mapping("quote", "  prefix: /quote/\n  service: quote\n");

describe("why not", () => {
  test("shows the winning rule and a tested fix", async () => {
    const { page, errors, close } = await site.visit();
    await load(page, { "shop.yaml": shadowed });
    await page.locator(".status", { hasText: "3 resources" }).waitFor();
    await clickLine(page, "prefix: /quote/");
    await page.locator(".selection-panel").getByRole("button", { name: "Why not?" }).click();
    const sheet = page.locator(".sheet");
    await sheet.getByText("No simulated request reaches").waitFor();
    assert.match(await sheet.textContent(), /Mapping everything.*matches it first.*precedence: 10/s);
    await sheet.getByRole("button", { name: "set precedence: 11" }).click();
    await page.locator(".cm-line", { hasText: "precedence: 11" }).waitFor();
    await clickLine(page, "prefix: /quote/");
    await page.locator(".selection-panel").getByRole("button", { name: "Why not?" }).click();
    await sheet.getByText("Requests reach it.").waitFor();
    await sheet.locator(".reach-request").first().click();
    await page.locator(".verdict.good", { hasText: "quote" }).waitFor();
    assert.deepEqual(errors, []);
    await close();
  });

  test("works for shadowed routes and unused inputs", async () => {
    const { page, close } = await site.visit();
    await load(page, { "shop.yaml": shadowed + `---\n${api}kind: Mapping\nmetadata: {name: other, namespace: shop}\nspec: {ambassador_id: [else], hostname: "*", prefix: /o/, service: o}\n` });
    await page.locator(".status", { hasText: "4 resources" }).waitFor();
    await show(page, "routes");
    await page.locator("tr.shadowed").getByRole("button", { name: "Why not?" }).click();
    await page.locator(".sheet").getByText("matches it first").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#tab-findings .idle-count", { hasText: "2 idle" }).waitFor();
    await show(page, "findings");
    await page.locator(".idle-row", { hasText: "other" }).getByRole("button", { name: "Why not?" }).click();
    await page.locator(".sheet").getByText("It makes no route").waitFor();
    await close();
  });
});

test("controller message has plain words and the original", async () => {
  const { page, close } = await site.visit({ path: "?example=contour/errors" });
  await show(page, "findings");
  const card = page.locator(".finding", { hasText: "an include names an HTTPProxy that cannot be included" });
  assert.equal(await card.getByText("include default/blog not found").isVisible(), false);
  await card.getByText("The controller's message").click();
  await card.getByText("include default/blog not found").waitFor();
  await close();
});

test("search in Envoy's configuration marks matches", async () => {
  const { page, close } = await site.visit();
  await show(page, "envoy");
  await page.fill('.tree-bar input[type="search"]', "cart");
  await page.locator(".row mark").first().waitFor();
  assert.match((await page.locator(".row.cursor mark").first().textContent()).toLowerCase(), /cart/);
  const first = await page.locator(".row.cursor").textContent();
  await page.getByRole("button", { name: "Next match" }).click();
  await page.waitForFunction((first) => document.querySelector(".row.cursor")?.textContent !== first, first);
  await page.getByRole("button", { name: "Previous match" }).click();
  await page.waitForFunction((first) => document.querySelector(".row.cursor")?.textContent === first, first);
  await close();
});

test("bidirectional control characters are shown by name", async () => {
  const { page, close } = await site.visit();
  await load(page, { "shop.yaml": listener + mapping("quote", '  prefix: "/q\\u202Eq/"\n  service: q\n') });
  await page.locator(".status", { hasText: "2 resources" }).waitFor();
  for (const view of ["graph", "routes"]) {
    await show(page, view);
    await page.waitForFunction(() => document.querySelector("#view").textContent.includes("U+202E"));
    assert.doesNotMatch(await page.locator(".pane-views").textContent(), /\u202e/);
  }
  await close();
});

describe("a mesh", () => {
  test("mesh shows routes, request and sidecar hops", async () => {
    const { page, close } = await site.visit({ path: "?example=consul/canary" });
    await page.locator(".asked-answer.good").waitFor();
    assert.notEqual(await page.inputValue(".asked-url"), "");
    await show(page, "routes");
    assert.match(await page.locator("#view").textContent(), /x-canary is true/);
    await show(page, "try");
    await page.locator(".onward").first().waitFor();
    assert.match(await page.locator(".onward").first().textContent(), /then .*orders/);
    await close();
  });
});

test("exported requests run in `chancery test`", { skip: process.env.CHANCERY_BINARY ? false : "CHANCERY_BINARY names no program" }, async () => {
  const { page, close } = await site.visit();
  await show(page, "try");
  await page.locator(".verdict.good").waitFor();
  await page.click("text=Keep as test");
  await page.locator(".kept.holds").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Export as tests")]);
  assert.equal(download.suggestedFilename(), "requests.yaml");
  const folder = await mkdtemp(join(tmpdir(), "chancery-tests-"));
  const [tests, input] = [join(folder, "requests.yaml"), join(root, "assets/examples/ambassador/play.yaml")];
  const run = () => promisify(execFile)(process.env.CHANCERY_BINARY, ["test", tests, input], { env: { ...process.env, NO_COLOR: "1" } });
  try {
    const text = await readFile(await download.path(), "utf8");
    await writeFile(tests, text);
    assert.match((await run()).stdout, /1 (test )?passed|1 test/);
    await writeFile(tests, text.replace(/outcome: \w+/, "outcome: redirect"));
    await assert.rejects(run(), "another outcome is not as expected");
  } finally {
    await rm(folder, { recursive: true });
  }
  await close();
});

describe("the first answer", () => {
  test("prepared answer equals the worker's answer", async () => {
    let go;
    const gate = new Promise((done) => (go = done));
    const context = await site.browser.newContext({ viewport: { width: 1440, height: 900 }, serviceWorkers: "block" });
    const page = await context.newPage();
    await page.route(/chancery-worker_bg\.wasm/, async (route) => {
      await gate;
      await route.continue();
    });
    await page.goto(site.server.url);
    await page.locator(".cm-line", { hasText: "timout_ms" }).waitFor();
    await page.locator(".box").first().waitFor();
    await page.locator(".asked-answer.good").waitFor();
    await page.locator(".status", { hasText: "loading the compiler" }).waitFor();
    const seen = () => page.evaluate(() => [...document.querySelectorAll(".graph text, .asked-answer, .status-item:not(.grow), .selection-panel")].map((of) => of.textContent).sort());
    const before = await seen();
    go();
    await page.locator(".status", { hasText: "compiled in" }).waitFor({ timeout: 60_000 });
    await drawn(page);
    assert.deepEqual(await seen(), before);
    await context.close();
  });
});
