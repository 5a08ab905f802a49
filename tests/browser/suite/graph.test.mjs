// Tests of the graph's legibility: text sizes, lines and space, with few and many resources, on a wide page and on a phone.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe } from "node:test";
import { clickLine, load, show, test, visitors } from "../browser.mjs";

const site = visitors();

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
const mappings = (count) =>
  Array.from({ length: count }, (_, at) => `---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m${at}, namespace: shop}\nspec: {hostname: shop.example.com, prefix: /m${at}/, service: "m${at}:8080"}\n`).join("");
const proxies = (count) =>
  Array.from({ length: count }, (_, at) => `---\napiVersion: projectcontour.io/v1\nkind: HTTPProxy\nmetadata: {name: p${at}, namespace: shop}\nspec:\n  virtualhost: {fqdn: p${at}.example.com}\n  routes:\n  - conditions: [{prefix: /}]\n    services: [{name: s${at}, port: 80}]\n`).join("");

// Finds all faults of the drawing.
const measure = (page) =>
  page.evaluate(() => {
    const wrong = [];
    const seen = (element) => getComputedStyle(element).display !== "none" && element.getClientRects().length > 0;
    const canvas = document.querySelector(".canvas");
    const scale = canvas.querySelector(":scope > g").getScreenCTM().a;
    for (const text of canvas.querySelectorAll("text")) {
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (seen(text) && size < 11) wrong.push(`${text.textContent}: ${size} px`);
    }
    const boxes = [...canvas.querySelectorAll(".box")].map((box) => {
      const frame = box.querySelector(".box-frame");
      for (const text of box.querySelectorAll(".box-title, .box-caption, .box-note")) {
        const over = text.getBBox().x + text.getBBox().width - frame.getBBox().width;
        if (seen(text) && over > 1) wrong.push(`${text.textContent} is ${over} units wider than its box`);
      }
      return { name: box.textContent, rect: frame.getBoundingClientRect() };
    });
    for (const [at, a] of boxes.entries()) {
      for (const b of boxes.slice(at + 1)) {
        const apart = a.rect.right <= b.rect.left || b.rect.right <= a.rect.left || a.rect.bottom <= b.rect.top || b.rect.bottom <= a.rect.top;
        if (!apart) wrong.push(`${a.name} overlaps ${b.name}`);
      }
    }
    const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
    for (const share of [...canvas.querySelectorAll(".share")].filter(seen)) {
      for (const box of boxes) if (!apart(share.getBoundingClientRect(), box.rect)) wrong.push(`${share.textContent} lies on ${box.name}`);
    }
    const parse = (colour) => colour.match(/[\d.]+/g).map(Number);
    const light = (colour) => {
      const [r, g, b] = parse(colour).map((value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = light(getComputedStyle(document.body).backgroundColor);
    for (const line of canvas.querySelectorAll(".line")) {
      const stroke = light(getComputedStyle(line).stroke);
      const contrast = (Math.max(stroke, ground) + 0.05) / (Math.min(stroke, ground) + 0.05);
      if (contrast < 3) wrong.push(`a line has a contrast of ${contrast.toFixed(2)}`);
      if (getComputedStyle(line).markerEnd === "none") wrong.push("a line has no arrowhead");
    }
    return { wrong: wrong.slice(0, 10), boxes: boxes.length, lines: canvas.querySelectorAll(".line").length };
  });

const inputs = [
  ["3 resources of Emissary", entry + mappings(1), /\/m0\//],
  ["40 resources of Emissary", entry + mappings(38), /Mappings: 37/],
  ["1,000 resources of Emissary", entry + mappings(998), /Mappings: 997/],
  ["3 resources of Contour", proxies(3).slice(4), /HTTPProxy/],
  ["40 resources of Contour", proxies(40).slice(4), /HTTPProxy/],
];

describe("graph legibility", () => {
  for (const [name, text, shows] of inputs) {
    for (const [width, height, theme] of [[1440, 900, "light"], [390, 844, "dark"]]) {
      test(`${name} at ${width} × ${height}, ${theme}`, async () => {
        const { page, errors, close } = await site.visit({ width, height, theme });
        await load(page, { "mine.yaml": text });
        await page.locator(".arrived", { hasText: "Read as" }).waitFor();
        await page.click("#tab-graph");
        await page.locator(".box", { hasText: shows }).first().waitFor({ timeout: 60_000 });
        const { wrong, boxes, lines } = await measure(page);
        assert.deepEqual(wrong, []);
        assert.ok(boxes >= 3 && lines >= 2, `${boxes} boxes, ${lines} lines`);
        assert.deepEqual(errors, []);
        await close();
      });
    }
  }

  for (const example of ["ambassador/tls", "contour/canary", "consul/canary", "consul/api-gateway", "ingress/paths"]) {
    test(`${example} fits on a wide page`, async () => {
      const { page, close } = await site.visit({ width: 1440, height: 900, path: `?example=${example}` });
      await page.locator(".box").first().waitFor();
      const outside = () =>
        page.evaluate(() => {
          const room = document.querySelector(".graph").getBoundingClientRect();
          const frames = [...document.querySelectorAll(".box")].map((box) => [box.textContent, box.querySelector(".box-frame").getBoundingClientRect()]);
          return frames.filter(([, rect]) => rect.left < room.left || rect.right > room.right).map(([name]) => name);
        });
      await page.waitForFunction(() => document.querySelectorAll(".box").length > 2);
      await page.waitForTimeout(300);
      assert.deepEqual(await outside(), []);
      assert.deepEqual((await measure(page)).wrong, []);
      const cut = (await page.locator(".box .box-title").allTextContents()).filter((title) => title.endsWith("…"));
      assert.deepEqual(cut, []);
      await close();
    });
  }

  test("large graph fills the pane from its start", async () => {
    const { page, close } = await site.visit({ path: "?example=ambassador/errors" });
    await page.locator(".box.wrong").first().waitFor();
    await page.waitForTimeout(300);
    const empty = await page.evaluate(() => {
      const room = document.querySelector(".graph").getBoundingClientRect();
      const rects = [...document.querySelectorAll(".box-frame")].map((box) => box.getBoundingClientRect());
      return { above: Math.min(...rects.map((rect) => rect.top)) - room.top, left: Math.min(...rects.map((rect) => rect.left)) - room.left };
    });
    assert.ok(empty.above <= 60 && empty.left <= 60, JSON.stringify(empty));
    await close();
  });

  test("zooming out joins boxes and keeps text legible", async () => {
    const { page, close } = await site.visit({ width: 900, height: 500 });
    await load(page, { "mine.yaml": entry + mappings(38) });
    await page.locator(".box", { hasText: "Mappings: 37" }).first().waitFor();
    for (let at = 0; at < 4; at += 1) {
      await page.getByRole("button", { name: "Zoom out" }).click();
      await page.waitForTimeout(200);
      const { wrong, boxes } = await measure(page);
      assert.deepEqual(wrong, []);
      assert.ok(boxes >= 2);
      const sizes = await page.locator(".box text").evaluateAll((texts) => texts.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a));
      assert.ok(Math.min(...sizes) >= 10.99, `${Math.min(...sizes)} px`);
    }
    await close();
  });
});

describe("graph overview", () => {
  test("overview has one row per rule and no Envoy part", async () => {
    const { page, close } = await site.visit();
    await page.locator(".box", { hasText: "/cart/" }).first().waitFor();
    const boxes = (await page.locator(".box .box-title").allTextContents()).sort();
    assert.deepEqual(boxes, ["/*", "/api/*", "/cart/*", "api:8080", "cart-next:8080", "cart:8080", "http", "shop", "web:80"]);
    assert.deepEqual((await page.locator(".share").allTextContents()).sort(), ["90%", "weight 10%"]);
    assert.equal(await page.locator(".asked-answer").textContent(), "90% cart:8080, 10% cart-next:8080, as /");
    assert.deepEqual((await page.locator(".box.way .box-title").allTextContents()).sort(), ["/cart/*", "cart-next:8080", "cart:8080", "http", "shop"]);
    await page.getByRole("button", { name: "Envoy parts" }).click();
    await page.locator(".box", { hasText: "cluster" }).first().waitFor();
    assert.ok((await page.locator(".box").count()) > 20);
    await close();
  });

  test("request decides the arrow of an intention", async () => {
    const { page, errors, close } = await site.visit({ path: "?example=consul/intentions" });
    await page.locator(".asked-answer.good", { hasText: "orders, by permission 2 of intention orders" }).waitFor();
    await page.locator(".edge.way .edge-label.effect", { hasText: "allow" }).waitFor();
    await page.selectOption(".asked-bar .method", "DELETE");
    await page.locator(".asked-answer.bad", { hasText: "permission 1 of intention orders denies it: deny DELETE /* (403)" }).waitFor();
    await page.locator(".edge.way.denied .edge-label.effect", { hasText: "deny" }).waitFor();
    await page.click("#tab-try");
    const step = page.locator(".stair.lost", { hasText: "Intention" });
    await step.locator(".source", { hasText: "intentions.yaml:13" }).click();
    await page.locator(".cm-line.selected-line", { hasText: "Action: deny" }).waitFor();
    assert.deepEqual(errors, []);
    await close();
  });

  for (const [example, shares, way] of [
    ["envoy-gateway/shop", ["10%", "weight 90%"], ["/cart*", "cart-next:8080", "cart:8080", "shop", "shop.example.com"]],
    ["ingress-nginx/shop", ["0%"], ["/api(/|$)(.*)", "api:8080", "nginx", "shop.example.com"]],
  ]) {
    test(`overview of ${example} lights the path of the request`, async () => {
      const { page, errors, close } = await site.visit({ path: `?example=${example}` });
      await page.waitForFunction((count) => document.querySelectorAll(".box.way").length === count, way.length);
      assert.deepEqual((await page.locator(".box.way .box-title").allTextContents()).sort(), way);
      assert.deepEqual((await page.locator(".share").allTextContents()).sort(), shares);
      assert.deepEqual(errors, []);
      await close();
    });
  }

  test("boxes keep their places after an edit", async () => {
    const { page, close } = await site.visit();
    await page.locator(".box", { hasText: "/cart/" }).first().waitFor();
    const order = () => page.locator(".box").evaluateAll((boxes) => boxes.map((box) => [box.querySelector(".box-title").textContent, box.getBoundingClientRect().top]).sort((a, b) => a[1] - b[1]).map(([title]) => title).filter((title) => title.startsWith("/")));
    const before = await order();
    await page.locator(".selection-worst .fix").click();
    await page.locator(".status", { hasText: "0 warnings" }).waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".box-badge").length === 0);
    assert.deepEqual(await order(), before);
    await close();
  });

  test("export equals the shown graph", async () => {
    const { page, close } = await site.visit();
    await page.locator(".box", { hasText: "/cart/" }).first().waitFor();
    const shown = (await page.locator(".box .box-title").allTextContents()).sort();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "SVG" }).click()]);
    const svg = await readFile(await download.path(), "utf8");
    const written = [...svg.matchAll(/<text class="t"[^>]*>([^<]*)</g)].map(([, title]) => title).sort();
    assert.deepEqual(written, shown);
    assert.match(svg, /90%/);
    await close();
  });
});

describe("large graphs", () => {
  const host = (at) => `---\napiVersion: getambassador.io/v3alpha1\nkind: Host\nmetadata: {name: h${at}, namespace: shop}\nspec: {hostname: h${at}.example.com, requestPolicy: {insecure: {action: Route}}}\n`;
  const mapping = (at, number) => `---\napiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: m${at}-${number}, namespace: shop}\nspec: {hostname: h${at}.example.com, prefix: /${number}/, service: "s${at}-${number}:8080"}\n`;
  const hosts = (count, each) => entry + Array.from({ length: count }, (_, at) => host(at) + Array.from({ length: each }, (_, number) => mapping(at, number)).join("")).join("");

  test("Fit joins boxes until all are visible", async () => {
    const { page, close } = await site.visit();
    await load(page, { "hosts.yaml": hosts(12, 1) });
    await page.locator(".box", { hasText: "h7" }).first().waitFor();
    await page.getByRole("button", { name: "Fit" }).click();
    await page.locator(".box", { hasText: /Hosts: \d+/ }).waitFor();
    await page.waitForFunction(() => {
      const pane = document.querySelector(".graph").getBoundingClientRect();
      const boxes = [...document.querySelectorAll(".box")].map((box) => box.getBoundingClientRect());
      return boxes.length > 0 && boxes.every((box) => box.top >= pane.top && box.bottom <= pane.bottom && box.left >= pane.left && box.right <= pane.right);
    });
    await close();
  });

  test("path of the request is level in a grouped graph", async () => {
    const { page, close } = await site.visit();
    await load(page, { "hosts.yaml": hosts(10, 5) });
    await page.locator(".box.way", { hasText: "Service" }).waitFor();
    await page.waitForFunction(() => {
      const tops = [...document.querySelectorAll(".box.way")].map((box) => box.getBoundingClientRect().top);
      return tops.length >= 4 && Math.max(...tops) - Math.min(...tops) < 100;
    });
    await close();
  });
});

describe("playing a request", () => {
  test("steps highlight boxes and lines, without motion if the user prefers it", async () => {
    const { page, errors, close } = await site.visit();
    await page.locator(".asked-answer.good").waitFor();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    const sentence = page.locator(".player-sentence");
    await sentence.filter({ hasText: "Listener" }).waitFor();
    const number = async () => Number((await page.locator(".player-count").textContent()).split(" of ")[0]);
    assert.equal(await number(), 1);
    const at = () => page.locator(".dot").evaluate((dot) => dot.getBoundingClientRect().left);
    await page.locator(".dot:not(.off)").waitFor();
    const first = await at();
    await page.waitForTimeout(2500);
    assert.equal(await number(), 1, "nothing moves by itself");
    await page.locator(".brand").click();
    for (let step = 0; step < 3; step += 1) await page.keyboard.press("ArrowRight");
    await sentence.filter({ hasText: "prefix /cart/ matches" }).waitFor();
    await page.locator(".cm-line.selected-line", { hasText: "cart" }).first().waitFor();
    assert.ok((await at()) > first, "the dot is at the rule");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await number(), 3);
    await page.keyboard.press("Escape");
    await page.locator(".player").waitFor({ state: "detached" });
    assert.equal(await page.locator(".cm-line.selected-line").count(), 0);
    assert.deepEqual(errors, []);
    await close();
  });

  test("request plays by itself and stops at its end", async () => {
    const { page, close } = await site.visit();
    await page.emulateMedia({ reducedMotion: "no-preference" });
    await page.locator(".asked-answer.good").waitFor();
    await page.locator(".brand").click();
    await page.keyboard.press("p");
    await page.locator(".player-count", { hasText: /^2 of/ }).waitFor();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.waitForFunction(() => {
      const [now, all] = document.querySelector(".player-count").textContent.split(" of ");
      return now === all && document.querySelector(".player-run").textContent === "Play";
    });
    await close();
  });
});

describe("settings on the graph", () => {
  test("click on a line selects the field that refers", async () => {
    const { page, errors, close } = await site.visit();
    const line = page.locator(".edge", { has: page.locator(".share", { hasText: "10%" }) });
    await line.locator(".reach").dispatchEvent("click");
    const weight = page.getByLabel("weight", { exact: true });
    await weight.waitFor();
    assert.equal(await weight.inputValue(), "10");
    assert.deepEqual(errors, []);
    await close();
  });

  test("weight changes in the text, and Compare shows the requests", async () => {
    const { page, errors, close } = await site.visit();
    await page.locator(".box", { hasText: "/cart/" }).first().waitFor();
    const before = await page.locator(".cm-content").textContent();
    await clickLine(page, "weight: 10");
    const weight = page.getByLabel("weight", { exact: true });
    await weight.waitFor();
    assert.equal(await weight.inputValue(), "10");
    await weight.fill("25");
    await weight.press("Enter");
    await page.locator(".cm-line", { hasText: "weight: 25" }).waitFor();
    await page.locator(".share", { hasText: "25%" }).first().waitFor();
    assert.equal((await page.locator(".cm-content").textContent()).replace("weight: 25", "weight: 10"), before, "comments stay");
    await weight.fill("many");
    await weight.press("Enter");
    await page.locator(".toast", { hasText: "does not accept many" }).waitFor();
    await show(page, "compare");
    await page.locator(".verdict", { hasText: "Requests change" }).waitFor();
    assert.deepEqual(errors, []);
    await close();
  });
});
