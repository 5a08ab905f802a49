// Tests of the Compare view.

import assert from "node:assert/strict";
import { describe } from "node:test";
import { clickLine, ready, test, visitors } from "../browser.mjs";

const site = visitors();

const visit = async (options) => {
  const opened = await site.visit(options);
  await opened.page.click("#tab-compare");
  return opened;
};

const verdict = (page, text) => page.locator(".verdict", { hasText: text }).waitFor();

const weigh = async (page, more) => {
  await clickLine(page, "weight: 1");
  await page.keyboard.press("End");
  await page.keyboard.type(more);
};

describe("compare", () => {
  test("compare shows changes since opening with their lines", async () => {
    const { page, errors, close } = await visit();
    await verdict(page, "Nothing differs.");
    await weigh(page, "5");
    await verdict(page, "Requests change");
    const mapping = page.locator(".change.changed", { hasText: "Mapping" }).filter({ hasText: "spec.weight" }).first();
    await mapping.locator(".change-path", { hasText: "spec.weight" }).waitFor();
    assert.deepEqual(await mapping.locator(".change-side code").allTextContents(), ["10", "105"]);
    await mapping.locator(".source").first().click();
    await page.locator(".cm-line.selected-line", { hasText: /cart-next|weight: 105/ }).first().waitFor();
    assert.equal(await page.locator(".changes").count(), 3);
    await page.locator(".change", { hasText: "/cart/" }).locator(".chip", { hasText: "Try" }).first().click();
    await page.locator("#tab-try[aria-selected=true]").waitFor();
    await page.waitForFunction(() => document.querySelector(".url").value.includes("/cart/"));
    assert.deepEqual(errors, []);
    await close();
  });

  test("compare uses the pinned state after a reload", async () => {
    const { page, close } = await visit();
    await weigh(page, "5");
    await verdict(page, "Requests change");
    await page.click("text=Pin this state");
    await verdict(page, "Nothing differs.");
    await page.keyboard.press("Escape");
    await clickLine(page, "prefix: /api/");
    await page.keyboard.press("End");
    await page.keyboard.type("v2/");
    await page.locator(".change", { hasText: "spec.prefix" }).first().waitFor();
    await page.reload();
    await ready(page);
    await page.click("#tab-compare");
    await page.selectOption("#compare-with", "pinned");
    await page.locator(".change", { hasText: "spec.prefix" }).first().waitFor();
    assert.equal(await page.locator(".change", { hasText: "spec.weight" }).count(), 0);
    await close();
  });

  test("compare uses another tab", async () => {
    const { page, context, close } = await visit();
    const other = await context.newPage();
    await other.goto(`${site.server.url}?example=canary`);
    await ready(other);
    await page.locator("#compare-with").focus();
    const option = page.locator("#compare-with option", { hasText: "another tab: canary.yaml" });
    await option.waitFor({ state: "attached" });
    await page.selectOption("#compare-with", await option.getAttribute("value"));
    await page.locator(".change.added", { hasText: "Mapping" }).first().waitFor();
    await close();
  });

  test("compare accepts a config dump and refuses other text", async () => {
    const { page, close } = await visit();
    const listener = { "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", name: "old", address: { socket_address: { address: "0.0.0.0", port_value: 9999 } } };
    const dump = JSON.stringify({ configs: [{ "@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", dynamic_listeners: [{ name: "old", active_state: { version_info: "1", listener } }] }] });
    await page.selectOption("#compare-with", "text");
    await page.fill(".dump", dump);
    await verdict(page, "Compared with the running Envoy.");
    await page.locator(".change.removed", { hasText: "old" }).waitFor();
    await page.locator(".change.added", { hasText: "cluster_cart_shop_8080_shop" }).first().waitFor();
    await page.fill(".dump", "<img src=x onerror=window.pwned=1>");
    await page.locator(".wrong-request", { hasText: "contains no resource" }).waitFor();
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    await page.fill(".dump", "");
    await page.locator(".empty", { hasText: "Paste the response of Envoy's /config_dump" }).waitFor();
    await close();
  });

  test("a move from ingress-nginx shows changed requests and the lines of both sides", async () => {
    const { page, errors, close } = await visit({ path: "?example=ingress-nginx/shop" });
    await page.selectOption("#compare-with", "envoy-gateway");
    await verdict(page, "are treated differently by Envoy Gateway");
    await page.locator(".move-text", { hasText: "kind: HTTPRoute" }).first().waitFor();
    const [rows, marks] = [page.locator(".move-row"), page.locator(".move-text mark")];
    for (let at = 0; at < (await rows.count()) && !(await marks.count()); at++) await rows.nth(at).click();
    await page.locator(".move-text mark").first().waitFor();
    await page.locator(".cm-line.selected-line").first().waitFor();
    await page.selectOption("#compare-with", "contour");
    await verdict(page, "by Contour");
    assert.deepEqual(errors, []);
    await close();
  });

  test("a move is offered only for ingress-nginx", async () => {
    const { page, close } = await visit();
    assert.equal(await page.locator("#compare-with optgroup").count(), 0);
    await close();
  });
});
