// Tests of opening work: paste, drop, files and links.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { drawn, line, load, ready, show, test, visitors } from "../browser.mjs";

const site = visitors();
const { visit } = site;

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

const mapping = (name) => `apiVersion: getambassador.io/v3alpha1
kind: Mapping
metadata: {name: ${name}, namespace: shop}
spec: {hostname: shop.example.com, prefix: /${name}/, service: ${name}}
`;

// Pastes into the editor, over the whole text or at the cursor.
const paste = async (page, text, all = true) => {
  await page.locator(".cm-content").click();
  if (all) await page.keyboard.press("Control+a");
  await page.locator(".cm-content").evaluate((element, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
};

const arrived = (page, text) => page.locator(".arrived", { hasText: text }).waitFor();

describe("opening work", () => {
  test("paste replaces an unchanged example", async () => {
    const { page, errors, close } = await visit();
    await line(page, "prefix: /api/").click();
    await page.locator(".selection-panel.held").waitFor();
    await paste(page, proxy);
    await arrived(page, "Read as Contour: 2 resources.");
    await page.locator(".selection-hint").waitFor();
    assert.equal(await page.locator(".status select[aria-label='Dialect']").inputValue(), "contour");
    assert.match(await page.locator(".status").textContent(), /2 resources.*0 errors/);
    assert.equal(await page.locator(".graph.has-selection").count(), 0, "nothing recedes");
    await page.locator(".box", { hasText: "/blog" }).first().waitFor();
    await page.click(".arrived >> text=Restore the previous work");
    await page.locator(".status", { hasText: "6 resources" }).waitFor();
    assert.equal(await page.locator(".status select[aria-label='Dialect']").inputValue(), "ambassador");
    assert.deepEqual(errors, []);
    await close();
  });

  test("chosen dialect stays", async () => {
    const { page, close } = await visit();
    await paste(page, proxy);
    await arrived(page, "Read as Contour");
    await page.selectOption('[aria-label="Read as"]', "ambassador");
    await arrived(page, "Read as Emissary");
    await paste(page, proxy.replaceAll("blog", "news"));
    await page.locator(".status select[aria-label='Dialect'] option", { hasText: "detect" }).waitFor({ state: "attached" });
    assert.equal(await page.locator(".status select[aria-label='Dialect']").inputValue(), "ambassador");
    await close();
  });

  test("clear detects the dialect again", async () => {
    const { page, close } = await visit();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Clear everything");
    await page.keyboard.press("Enter");
    await arrived(page, "Everything was cleared.");
    await paste(page, proxy);
    await arrived(page, "Read as Contour: 2 resources.");
    await close();
  });

  test("dropped file replaces the example, next file joins", async () => {
    const { page, close } = await visit();
    await load(page, { "site.yaml": proxy });
    await arrived(page, "Read as Contour: 2 resources.");
    assert.deepEqual(await page.locator(".file-name").allTextContents(), ["site.yaml"]);
    await load(page, { "more.yaml": mapping("more") });
    await arrived(page, "3 resources");
    assert.deepEqual(await page.locator(".file-name").allTextContents(), ["site.yaml", "more.yaml"]);
    await close();
  });

  test("scroll position is kept per file", async () => {
    const { page, close } = await visit();
    const top = () => page.evaluate(() => document.querySelector(".cm-scroller").scrollTop);
    await load(page, { "long.yaml": proxy + "# more\n".repeat(200) });
    await arrived(page, "Read as Contour: 2 resources.");
    await drawn(page);
    assert.ok((await top()) < 10, "the first line is in sight");
    await page.evaluate(() => (document.querySelector(".cm-scroller").scrollTop = 1000));
    await load(page, { "more.yaml": mapping("more") + "# more\n".repeat(200) });
    await arrived(page, "3 resources");
    await drawn(page);
    assert.ok((await top()) < 10, "the first line is in sight");
    await page.getByRole("button", { name: "long.yaml", exact: true }).click();
    await page.waitForFunction(() => Math.abs(document.querySelector(".cm-scroller").scrollTop - 1000) < 30);
    await close();
  });

  test("chosen files open and unreadable files are listed", async () => {
    const { page, close } = await visit();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), page.getByRole("button", { name: "Choose files" }).click()]);
    await chooser.setFiles([
      { name: "site.yaml", mimeType: "application/yaml", buffer: Buffer.from(proxy) },
      { name: "logo.png", mimeType: "image/png", buffer: Buffer.from([137, 80, 78, 71]) },
    ]);
    await arrived(page, "Not read: logo.png (neither YAML nor JSON).");
    await page.locator(".status", { hasText: "2 resources" }).waitFor();
    await close();
  });

  test("output of kubectl and Helm opens", async () => {
    const { page, close } = await visit();
    const object = (name) => `- apiVersion: getambassador.io/v3alpha1
  kind: Mapping
  metadata: {name: ${name}, namespace: shop, uid: 1234, resourceVersion: "7"}
  spec: {hostname: shop.example.com, prefix: /${name}/, service: ${name}}
`;
    await paste(page, `apiVersion: v1\nitems:\n${object("a")}${object("b")}kind: List\nmetadata: {resourceVersion: ""}\n`);
    await arrived(page, "Read as Emissary: 2 resources.");
    await paste(page, `---\n# Source: shop/templates/a.yaml\n${mapping("a")}---\n# Source: shop/templates/b.yaml\n${mapping("b")}---\n# Source: shop/templates/c.yaml\n${mapping("c")}`);
    await arrived(page, "Read as Emissary: 3 resources.");
    await close();
  });

  test("curl command is tried and config dump compared", async () => {
    const { page, close } = await visit();
    await paste(page, "curl -H 'x-beta: 1' http://shop.example.com/cart/1");
    await page.locator("#tab-try[aria-selected='true']").waitFor();
    await page.locator(".verdict.good").waitFor();
    assert.match(await page.locator(".url").inputValue(), /shop\.example\.com/);
    await page.locator(".status", { hasText: "6 resources" }).waitFor();
    // The user's own sources are compared; an example would not be.
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+End");
    await page.keyboard.insertText("# Mine.\n");
    await line(page, "# Mine.").waitFor();
    await paste(page, JSON.stringify({ static_resources: { listeners: [], clusters: [] } }));
    await page.locator("#tab-compare[aria-selected='true']").waitFor();
    await page.locator(".status", { hasText: "6 resources" }).waitFor();
    await close();
  });

  test("link and snapshot open", async () => {
    const { page, close } = await visit();
    await load(page, { "site.yaml": proxy });
    await page.click("text=Share");
    await page.waitForFunction(() => document.querySelector(".share-link")?.value.includes("snapshot="));
    const link = await page.inputValue(".share-link");
    await close();
    const other = await visit();
    await paste(other.page, link);
    await line(other.page, "site.example.com").waitFor();
    await other.page.locator(".status", { hasText: "2 resources" }).waitFor();
    assert.equal(await other.page.locator(".status select[aria-label='Dialect']").inputValue(), "contour");
    await other.close();
  });

  test("paste into edited text is a normal edit", async () => {
    const { page, close } = await visit();
    await load(page, { "site.yaml": proxy });
    await arrived(page, "Read as Contour");
    await paste(page, "# a note\n", false);
    await line(page, "# a note").waitFor();
    await line(page, "site.example.com").waitFor();
    assert.equal(await page.locator(".arrived").count(), 0, "the line disappears when the user continues");
    await close();
  });
});

describe("keyboard", () => {
  test("keys step through findings and leave the editor", async () => {
    const { page, close } = await visit();
    await page.locator(".brand").click();
    const before = await page.evaluate(() => document.querySelector(".cm-content").textContent);
    for (const key of ["j", "j", "k", "j"]) await page.keyboard.press(key);
    await page.locator(".cm-line.selected-line", { hasText: "timout_ms" }).waitFor();
    assert.equal(await page.evaluate(() => document.querySelector(".cm-content").textContent.includes("jj")), false);
    await line(page, "timout_ms").click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest(".cm-editor") === null), true);
    assert.ok(before.length > 100);
    await close();
  });

  test("arrow keys move the focus in the graph", async () => {
    const { page, close } = await visit();
    await page.locator(".box").first().waitFor();
    await page.locator(".graph").focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".visually-hidden[role=status]", { hasText: "Listener" }).waitFor({ state: "attached" });
    await page.keyboard.press("ArrowRight");
    await page.locator(".visually-hidden[role=status]", { hasText: "Host" }).waitFor({ state: "attached" });
    await close();
  });
});

describe("empty views", () => {
  test("problems-only filter explains an empty graph", async () => {
    const { page, close } = await visit();
    await page.locator(".box").first().waitFor();
    await page.getByRole("button", { name: "Problems only" }).click();
    await page.locator(".graph .empty", { hasText: "There are no problems" }).or(page.locator(".box")).first().waitFor();
    const boxes = await page.locator(".box").count();
    const text = await page.locator(".graph").textContent();
    assert.ok(boxes > 0 || /no resource is missing/.test(text));
    assert.doesNotMatch(text, /nothing to draw/);
    await close();
  });
});

describe("the palette", () => {
  test("palette lists only matching entries", async () => {
    const { page, close } = await visit();
    const found = async (text) => {
      await page.keyboard.press("Control+k");
      await page.locator(".palette-input:focus").waitFor();
      await page.keyboard.type(text);
      await page.locator(".choice", { hasText: text }).first().waitFor();
      return page.locator(".choice-label").allTextContents();
    };
    assert.ok((await found("/cart")).includes("prefix /cart/"));
    await page.keyboard.press("Escape");
    assert.ok((await found("cluster_web")).some((label) => label.startsWith("cluster_web")));
    await page.keyboard.press("Enter");
    await page.locator("#tab-envoy[aria-selected='true']").waitFor();
    await page.locator(".row.lit").first().waitFor();
    assert.ok(!(await found("cart")).includes("Clear everything"));
    await close();
  });
});

describe("a reload", () => {
  test("reload keeps pinned state and view", async () => {
    const { page, close } = await visit();
    await show(page, "compare");
    await page.getByRole("button", { name: "Pin this state" }).click();
    await page.waitForFunction(() => localStorage.getItem("chancery.pinned"));
    await page.reload();
    await ready(page);
    assert.equal(await page.locator("#tab-compare").getAttribute("aria-selected"), "true");
    assert.equal(await page.inputValue("#compare-with"), "pinned");
    await close();
  });
});

describe("embedded view", () => {
  test("embedded view has no tabs and no editor", async () => {
    const { page, close } = await site.open({ path: "?embed=graph" });
    await page.locator(".box").first().waitFor();
    for (const hidden of [".tabs", ".cm-editor", ".head", ".status"]) assert.equal(await page.locator(hidden).isVisible(), false, hidden);
    await close();
  });
});
