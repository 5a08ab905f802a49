// Tests of the page, view by view.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe } from "node:test";
import { strToU8, zipSync } from "../../../assets/editor/node_modules/fflate/esm/index.mjs";
import { clickLine, line, load, ready, show, test, visitors } from "../browser.mjs";

const { visit } = visitors();

const lit = (page) => page.locator(".cm-line.selected-line").allTextContents();

describe("the first visit", () => {
  test("first visit shows an example with one mistake", async () => {
    const { page, errors, close } = await visit();
    await page.locator(".box").first().waitFor();
    assert.equal(await page.locator("#tab-graph").getAttribute("aria-selected"), "true");
    assert.ok((await page.locator(".box").count()) > 8);
    await page.waitForFunction(() => {
      const room = document.querySelector(".graph").getBoundingClientRect();
      return [...document.querySelectorAll(".box-frame")].every((box) => box.getBoundingClientRect().right <= room.right);
    });
    await page.locator("#tab-findings .badge", { hasText: "1" }).waitFor();
    assert.match(await page.locator(".status").textContent(), /6 resources.*0 errors.*1 warning/);
    await line(page, "timout_ms").scrollIntoViewIfNeeded();
    assert.equal(await page.locator(".cm-lintRange-warning").textContent(), "timout_ms");
    assert.deepEqual(errors, []);
    await close();
  });
});

describe("selection", () => {
  test("selected line highlights its parts in all views", async () => {
    const { page, close } = await visit();
    await clickLine(page, "weight: 10");
    await page.locator(".selection-title", { hasText: "spec.weight of Mapping cart-next" }).waitFor();
    assert.ok((await page.locator(".box.lit").count()) >= 2);
    await page.click("#tab-routes");
    await page.locator("tr.route.lit", { hasText: "cart-next" }).first().waitFor();
    await page.click("#tab-envoy");
    await page.locator(".row.lit", { hasText: "default_value" }).first().waitFor();
    await page.click("#tab-ir");
    await page.locator(".row.lit").first().waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".selection-hint").waitFor();
    assert.deepEqual(await lit(page), []);
    await close();
  });

  test("field of Envoy leads to its line", async () => {
    const { page, close } = await visit();
    await page.click("#tab-envoy");
    await page.fill('input[placeholder="Search keys and values"]', "num_retries");
    const row = page.locator(".row", { hasText: "num_retries" }).first();
    await row.click();
    await page.locator(".cm-line.selected-line", { hasText: "num_retries: 2" }).waitFor();
    await close();
  });

  test("bootstrap downloads as a file", async () => {
    const { page, close } = await visit();
    await page.click("#tab-envoy");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Download")]);
    assert.equal(download.suggestedFilename(), "envoy.yaml");
    assert.match(await readFile(await download.path(), "utf8"), /^static_resources:|\nstatic_resources:/);
    await close();
  });

  test("configuration as YAML and JSON shows origins", async () => {
    const { page, close } = await visit();
    await clickLine(page, "prefix: /api/");
    await page.click("#tab-envoy");
    const written = (form) => page.getByRole("button", { name: form, exact: true }).click();
    const said = async (selector) => (await page.locator(`.tree.text ${selector}`).allTextContents()).map((text) => text.trimEnd());
    await written("YAML");
    await page.locator(".tree.text .row.lit", { hasText: "prefix: /api/" }).first().waitFor();
    assert.match(await page.locator(".row.lit", { hasText: "prefix: /api/" }).first().textContent(), /^ +prefix: \/api\/play\.yaml:\d+$/, "the selection is in sight");
    await page.locator(".tree").evaluate((tree) => (tree.scrollTop = 0));
    await page.locator(".tree.text code", { hasText: /^node:$/ }).waitFor();
    assert.deepEqual((await said("code")).slice(0, 3), ["node:", "  id: test-id", "  cluster: ambassador-default"]);
    assert.ok((await said("code")).includes("    - name: http"), "what a list holds begins behind its dash");
    await written("JSON");
    await page.locator(".tree.text .row.lit", { hasText: '"prefix": "/api/",' }).first().waitFor();
    await page.locator(".tree").evaluate((tree) => (tree.scrollTop = 0));
    // Lines of lists are braces, too.
    await page.waitForFunction(() => document.querySelector(".tree.text code")?.textContent.trimEnd() === "{");
    const json = await said("code");
    assert.deepEqual(json.slice(0, 5), ["{", '  "node": {', '    "id": "test-id",', '    "cluster": "ambassador-default"', "  },"]);
    await page.fill('input[placeholder="Search keys and values"]', "num_retries");
    await page.locator(".row.cursor", { hasText: '"num_retries": 2' }).click();
    await page.locator(".cm-line.selected-line", { hasText: "num_retries: 2" }).waitFor();
    await written("Tree");
    await page.locator(".tree:not(.text) .row").first().waitFor();
    await close();
  });

  test("three stages highlight the same selection", async () => {
    const { page, close } = await visit();
    await clickLine(page, "prefix: /api/");
    await page.locator(".selection-panel.held").waitFor();
    await page.click("#tab-ir");
    await page.click("text=Config → Intermediate → Envoy");
    for (const [stage, text] of [["Config", 'prefix"/api/"'], ["Intermediate", "path"], ["Envoy", 'prefix"/api/"']]) {
      await page.locator(`.stage[aria-label="${stage}"] .row.lit`, { hasText: text }).first().waitFor();
    }
    await close();
  });

  test("routes filter by request", async () => {
    const { page, close } = await visit();
    await page.click("#tab-routes");
    await page.locator("tr.route").first().waitFor();
    const all = await page.locator("tr.route").count();
    await page.fill('[aria-label="Filter routes"]', "https://shop.example.com/cart/1?a=b");
    await page.locator(".asked", { hasText: "The routes whose path matches" }).waitFor();
    await page.waitForFunction((all) => document.querySelectorAll("tr.route").length < all, all);
    const paths = await page.locator("tr.route .path").allTextContents();
    assert.deepEqual([...new Set(paths)], ["prefix /cart/", "prefix /"], "in the order in which Envoy tries them, /api/ not among them");
    await page.click("text=Search as text");
    await page.locator("text=No route matches the filter.").waitFor();
    await page.fill('[aria-label="Filter routes"]', "cart-next");
    await page.locator("tr.route").first().waitFor();
    assert.deepEqual([...new Set(await page.locator("tr.route .path").allTextContents())], ["prefix /cart/"]);
    await close();
  });

  test("long route list is limited and filterable", async () => {
    const { page, close } = await visit();
    const mapping = (at) => `---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m${at}, namespace: shop}\nspec: {hostname: "*", prefix: /m${at}/, service: m${at}}\n`;
    await load(page, { "shop.yaml": `apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: http, namespace: shop}\nspec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n${Array.from({ length: 430 }, (_, at) => mapping(at)).join("")}` });
    await page.locator(".status", { hasText: "431 resources" }).waitFor();
    await show(page, "routes");
    await page.locator("text=30 more routes. Filter to find them.").waitFor();
    const listed = await page.locator("tr.route .path").allTextContents();
    assert.equal(listed.length, 400);
    const [other] = Array.from({ length: 430 }, (_, at) => `prefix /m${at}/`).filter((path) => !listed.includes(path));
    await page.fill('[aria-label="Filter routes"]', other.slice("prefix ".length));
    await page.waitForFunction(() => document.querySelectorAll("tr.route").length === 1);
    assert.deepEqual(await page.locator("tr.route .path").allTextContents(), [other]);
    await page.fill('[aria-label="Filter routes"]', "/ambassador/v0/check_ready");
    await page.locator("text=No route matches the filter.").waitFor();
    await page.getByRole("button", { name: /built in/ }).click();
    await page.locator("tr.route", { hasText: "prefix /ambassador/v0/check_ready" }).first().waitFor();
    await close();
  });

  test("field of the loaded configuration leads to its line", async () => {
    const { page, close } = await visit();
    await page.click("#tab-ir");
    await page.click('.segments >> text="Config"');
    await page.fill('input[placeholder="Search keys and values"]', "num_retries");
    await page.locator(".row", { hasText: "num_retries" }).first().click();
    await page.locator(".cm-line.selected-line", { hasText: "num_retries: 2" }).waitFor();
    await close();
  });

  test("route, box and finding lead to their lines", async () => {
    const { page, close } = await visit();
    await page.click("#tab-routes");
    await page.locator("tr.route", { hasText: "prefix /api/" }).first().click();
    await page.locator(".cm-line.selected-line", { hasText: "name: api" }).waitFor();
    await page.click("#tab-graph");
    await page.locator(".box", { hasText: "Mapping" }).filter({ hasText: "web" }).first().dispatchEvent("click");
    await page.locator(".cm-line.selected-line", { hasText: "name: web" }).waitFor();
    await page.click("#tab-findings");
    await page.locator(".finding .source").first().click();
    await page.locator(".cm-line.selected-line", { hasText: "timout_ms" }).waitFor();
    await page.keyboard.press("Alt+ArrowLeft");
    await page.locator(".cm-line.selected-line", { hasText: "name: web" }).waitFor();
    await close();
  });
});

describe("large graph", () => {
  test("large graph groups boxes and highlights groups", async () => {
    const { page, errors, close } = await visit();
    const entry = `apiVersion: getambassador.io/v3alpha1
kind: Listener
metadata: {name: http, namespace: shop}
spec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}
---
apiVersion: getambassador.io/v3alpha1
kind: Host
metadata: {name: shop, namespace: shop}
spec: {hostname: shop.example.com, requestPolicy: {insecure: {action: Route}}}
`;
    const mappings = Array.from({ length: 200 }, (_, at) => `---
apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: m${at}, namespace: shop}
spec: {hostname: shop.example.com, prefix: /m${at}/, service: s${at}}
`);
    await load(page, { "many.yaml": entry + mappings.join("") });
    const group = page.locator(".box.folded", { hasText: /Mappings: \d+/ });
    await group.waitFor({ timeout: 60_000 });
    assert.ok((await page.locator(".box").count()) < 80, "similar nodes share a box");
    await clickLine(page, "name: m3, ");
    await page.locator(".box.folded.lit", { hasText: /Mappings: \d+/ }).waitFor();
    await group.dispatchEvent("click");
    await page.locator(".box", { hasText: "m3" }).first().waitFor();
    assert.equal(await group.count(), 0);
    await page.getByRole("button", { name: "Group", exact: true }).click();
    await page.getByRole("button", { name: "Group", exact: true }).click();
    await group.waitFor();
    await page.fill('[aria-label="Find in the graph"]', "M77");
    await page.locator(".box.cursor", { hasText: "m77" }).waitFor();
    assert.equal(await group.count(), 1, "the match appears next to its group");
    const fold = page.getByRole("button", { name: "Group", exact: true });
    assert.equal(await fold.getAttribute("aria-pressed"), "true");
    await fold.click();
    await page.locator('button[aria-pressed="false"]', { hasText: /^\s*Group$/ }).waitFor();
    assert.equal(await page.locator(".box.folded").count(), 0);
    assert.deepEqual(errors, []);
    await close();
  });
});

describe("two controllers", () => {
  test("two controllers share graph and ledger", async () => {
    const { page, errors, close } = await visit();
    const shop = await readFile(new URL("../../../assets/examples/ambassador/play.yaml", import.meta.url), "utf8");
    await load(page, { "shop.yaml": `${shop}# Mine.\n` });
    await load(page, { "proxy.yaml": `apiVersion: projectcontour.io/v1
kind: HTTPProxy
metadata: {name: shop, namespace: shop}
spec:
  virtualhost: {fqdn: proxy.example.com}
  routes: [{services: [{name: web, port: 80}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
` });
    await page.getByRole("button", { name: "Envoy parts" }).click();
    for (const caption of ["ambassador · cluster", "contour · cluster"]) await page.locator(".box", { hasText: caption }).first().waitFor();
    assert.equal(await page.locator(".box", { hasText: "HTTPProxy" }).count(), 1);
    await page.click("#tab-findings");
    await page.locator(".group-name", { hasText: "All 8 resources have an effect" }).waitFor();
    assert.deepEqual(errors, []);
    await close();
  });
});

describe("on paper", () => {
  test("print shows only findings, dark on white", async () => {
    const { page, close } = await visit({ theme: "dark" });
    await page.click("#tab-findings");
    await page.locator(".finding").first().waitFor();
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.ok(await page.locator(".finding").first().isVisible());
    for (const hidden of [".cm-editor", ".head", ".tabs"]) assert.ok(!(await page.locator(hidden).first().isVisible()), `${hidden} is not printed`);
    const text = await page.locator(".finding").first().evaluate((finding) => getComputedStyle(finding).color);
    assert.match(text, /^rgb\((\d|[1-9]\d), /, "the text is dark");
    await close();
  });
});

describe("the editor", () => {
  test("editor applies fixes", async () => {
    const { page, close } = await visit();
    await page.click("#tab-findings");
    await page.locator(".finding .chip.fix", { hasText: "rename to" }).click();
    await page.locator("text=No findings.").waitFor();
    assert.match(await line(page, "timeout_ms: 10000").textContent(), /timeout_ms/);
    await close();
  });

  test("editor shows documentation and completions", async () => {
    const { page, close } = await visit();
    await clickLine(page, "prefix: /api/");
    await line(page, "prefix: /api/").hover({ position: { x: 24, y: 8 } });
    await page.locator(".hover-card b", { hasText: "spec.prefix" }).waitFor();
    await page.locator(".hover-card-makes code", { hasText: '"/api/"' }).first().waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.keyboard.type("rewr");
    await page.locator(".cm-completionLabel", { hasText: "rewrite" }).first().waitFor();
    await page.keyboard.press("Escape");
    await close();
  });

  test("editor colours, folds and indents YAML", async () => {
    const { page, close } = await visit();
    const text = [
      "# a note",
      "apiVersion: v1 # and another",
      "kind: List",
      "items:",
      "- &one {a: 'it''s', \"b c\": [1, true, ~], d: x#y}",
      "- text: |",
      "    key: no key",
      "",
      "    # no note",
      "  long: \"over",
      "    two: lines\"",
      "  url: http://example.com:80/a b",
      "end: yes",
    ].join("\n");
    await load(page, { "colours.yaml": text });
    await line(page, "# a note").waitFor();
    const coloured = (sort) => page.locator(`.cm-line .${sort}`).allTextContents();
    assert.deepEqual(await coloured("tok-comment"), ["# a note", "# and another"]);
    assert.deepEqual(await coloured("tok-key"), ["apiVersion", "kind", "items", "a", '"b c"', "d", "text", "long", "url", "end"]);
    assert.deepEqual(await coloured("tok-atom"), ["&one", "1", "true", "~"]);
    assert.deepEqual(await coloured("tok-text"), ["v1", "List", "'it''s'", "x#y", "    key: no key", "    # no note", '"over', '    two: lines"', "http://example.com:80/a b", "yes"]);
    const shown = async () => (await page.locator(".cm-line").allTextContents()).length;
    const before = await shown();
    // The folds are at `items:`, at the literal, and at the quoted text of two lines.
    const folds = page.locator(".cm-foldGutter .fold-mark >> visible=true");
    assert.equal(await folds.count(), 3);
    await folds.nth(1).click();
    await page.locator(".cm-foldPlaceholder").waitFor();
    assert.equal(await shown(), before - 3, "the literal");
    await page.locator(".cm-foldPlaceholder").click();
    await folds.first().click();
    assert.equal(await shown(), before - 8, "a list with the indentation of its key");
    await page.locator(".cm-foldPlaceholder").click();
    const after = async (text) => {
      await line(page, text).click();
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      return page.evaluate(() => getSelection().anchorNode.textContent.length);
    };
    assert.equal(await after("url: http"), 2);
    assert.equal(await after("text: |"), 4);
    assert.equal(await after("end: yes"), 0);
    await close();
  });

  test("format keeps comments", async () => {
    const { page, close } = await visit();
    await load(page, { "plain.yaml": "a:   1 # one\n\n\nb: {c:   2}\n" });
    await line(page, "# one").waitFor();
    await page.keyboard.press("Control+k");
    await page.locator(".palette-input:focus").waitFor();
    await page.keyboard.type("Format");
    await page.keyboard.press("Enter");
    await page.locator(".cm-line", { hasText: /^a: 1 # one$/ }).waitFor();
    await page.locator(".cm-line", { hasText: /^b: \{ ?c: 2 ?\}$/ }).waitFor();
    await close();
  });

  test("archive opens with its folders", async () => {
    const { page, close } = await visit();
    const mapping = (name) => strToU8(`apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: ${name}, namespace: shop}\nspec: {hostname: shop.example.com, prefix: /${name}/, service: ${name}}\n`);
    const archive = zipSync({ "a.yaml": mapping("a"), folder: { "b.yml": mapping("b"), "read.me": strToU8("no") } });
    await page.evaluate((bytes) => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(bytes)], "all.zip"));
      document.querySelector(".page").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }, [...archive]);
    await page.locator(".status", { hasText: "2 resources" }).waitFor();
    assert.deepEqual(await page.locator(".file-name").allTextContents(), ["a.yaml", "folder/b.yml"]);
    await close();
  });

  test("dropped files open in tabs", async () => {
    const { page, close } = await visit();
    const mapping = (name) => `apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: ${name}, namespace: shop}\nspec: {hostname: shop.example.com, prefix: /${name}/, service: ${name}}\n`;
    await load(page, { "first.yaml": mapping("first") });
    await load(page, { "extra.yaml": mapping("extra") });
    await page.locator(".status", { hasText: "2 resources" }).waitFor();
    assert.equal(await page.locator(".file").count(), 2);
    await close();
  });
});

describe("overlays", () => {
  test("palette finds resources, findings, views and commands", async () => {
    const { page, close } = await visit();
    await page.keyboard.press("Control+k");
    await page.locator(".palette-input:focus").waitFor();
    await page.keyboard.type("cart-next");
    await page.keyboard.press("Enter");
    await page.locator(".cm-line.selected-line", { hasText: "cart-next" }).waitFor();
    await close();
  });

  test("examples compile with their listed findings", async () => {
    const { page, errors, close } = await visit();
    await page.click("text=Examples");
    const names = await page.locator(".card-name").allTextContents();
    assert.ok(names.length >= 12);
    for (const name of names) {
      if (!(await page.locator(".gallery").isVisible())) await page.click("text=Examples");
      await page.locator(".card", { has: page.locator(`.card-name:text-is("${name}")`) }).first().click();
      await page.locator(".file.active", { hasText: name }).waitFor();
      await page.waitForFunction(() => !/ 0 resources/.test(document.querySelector(".status").textContent));
    }
    assert.deepEqual(errors, []);
    await close();
  });

  test("code page and keyboard shortcuts open", async () => {
    const { page, close } = await visit();
    await page.click("#tab-findings");
    await page.click(".finding .link");
    await page.locator(".sheet h1", { hasText: "unknown-field" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".sheet").waitFor({ state: "detached" });
    await page.locator(".brand").click();
    await page.keyboard.press("?");
    await page.locator(".keys kbd", { hasText: "Ctrl K" }).waitFor();
    await close();
  });
});

describe("browser storage", () => {
  test("reload and undo restore the work", async () => {
    const { page, close } = await visit();
    await clickLine(page, "prefix: /api/");
    await page.keyboard.press("End");
    await page.keyboard.type("kept/");
    await page.waitForFunction(() => localStorage.getItem("chancery.work")?.includes("/api/kept/"));
    await page.reload();
    await ready(page);
    await line(page, "prefix: /api/kept/").waitFor();
    await page.keyboard.press("Control+k");
    await page.locator(".palette-input:focus").waitFor();
    await page.keyboard.type("Clear everything");
    await page.keyboard.press("Enter");
    await page.locator(".status", { hasText: " 0 resources" }).or(page.locator(".status", { hasText: "0 resources" })).first().waitFor();
    await page.click(".arrived >> text=Restore the previous work");
    await line(page, "prefix: /api/kept/").waitFor();
    await close();
  });
});

describe("a phone", () => {
  test("phone has one pane and no overflow", async () => {
    const { page, close } = await visit({ width: 390, height: 844 });
    assert.ok(await page.locator(".cm-editor").isVisible());
    for (const name of ["graph", "routes", "envoy", "ir", "findings", "try", "compare"]) {
      await page.click(`#tab-${name}`);
      assert.ok(await page.locator(".view").isVisible(), name);
      assert.ok(!(await page.locator(".cm-editor").isVisible()), name);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name);
    }
    await page.click(".tab-editor");
    assert.ok(await page.locator(".cm-editor").isVisible());
    await close();
  });

  test("phone rows do not overlap", async () => {
    const { page, close } = await visit({ width: 390, height: 844 });
    for (const name of ["graph", "routes", "envoy", "ir", "findings", "try", "compare"]) {
      await show(page, name);
      const wrong = await page.evaluate(() => {
        const wrong = [];
        const seen = (element) => element.getClientRects().length > 0;
        for (const row of document.querySelectorAll(".tabs, .bar, .graph-ground, .head")) {
          const all = [...row.querySelectorAll("button, input, select")].filter(seen);
          for (const one of all) if (one.scrollWidth > one.clientWidth + 1 && one.tagName === "BUTTON") wrong.push(`${one.textContent} is cut`);
          for (const [at, one] of all.entries()) {
            const a = one.getBoundingClientRect();
            for (const other of all.slice(at + 1)) {
              const b = other.getBoundingClientRect();
              if (a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1) wrong.push(`${one.textContent} lies on ${other.textContent}`);
            }
          }
        }
        const tab = document.querySelector(".tab[aria-selected='true']").getBoundingClientRect();
        if (tab.left < 0 || tab.right > innerWidth) wrong.push("the tab is out of sight");
        return wrong;
      });
      assert.deepEqual(wrong, [], name);
    }
    await close();
  });
});
