// Measures the page as a user sees it: every example and large inputs, in four sizes, light and dark. Counts text below 11 pixels, cut text without
// an ellipsis, overlapping labels, horizontal scrolling, movement while typing, and violations of accessibility rules. All must be zero.
//
// `cargo xtask setup` and a built page are needed. `node tests/page/acceptance.mjs [WORD...]` measures only the inputs whose names contain a word.
// `CHANCERY_PICTURES=FOLDER` also writes screenshots.

import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AxeBuilder, launch, load, open, ready, serve, show } from "../browser/browser.mjs";
import { measures } from "./measures.mjs";
import { large } from "./sizes.mjs";

const examples = fileURLToPath(new URL("../../assets/examples/", import.meta.url));
const sizes = [[1440, 900], [1024, 768], [844, 390], [390, 844]];
const themes = ["light", "dark"];
const views = ["graph", "routes", "findings", "try"];
const words = process.argv.slice(2);
const pictures = process.env.CHANCERY_PICTURES;

const inputs = [];
for (const dialect of await readdir(examples)) {
  for (const file of (await readdir(join(examples, dialect))).filter((name) => name.endsWith(".yaml"))) {
    inputs.push({ name: `${dialect}/${file.replace(".yaml", "")}`, path: `?example=${dialect}/${file.replace(".yaml", "")}` });
  }
}
inputs.push(...large());
const chosen = inputs.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

const total = { small: 0, cut: 0, overlaps: 0, scrolls: 0, moves: 0, axe: 0 };
const count = (found, where) => {
  for (const [name, list] of Object.entries(found)) {
    total[name] += list.length;
    if (list.length > 0) console.log(`${where}: ${name} ${list.length}: ${list.slice(0, 3).join(" | ")}`);
  }
};

const browser = await launch();
const server = await serve();
if (pictures) await mkdir(pictures, { recursive: true });
try {
  for (const { name, path = "", text } of chosen) {
    for (const [width, height] of sizes) {
      for (const theme of text ? ["light"] : themes) {
        const { page, close } = await open(browser, server.url, { width, height, theme, path });
        await ready(page);
        if (text) {
          await load(page, { "large.yaml": text });
          await page.locator(".arrived", { hasText: /Read as .*: \d{3,} resources/ }).waitFor({ timeout: 120_000 });
          await show(page, "graph");
          await page.locator(".box.folded").first().waitFor({ timeout: 120_000 });
        }
        for (const view of views) {
          const where = `${name} ${width}x${height} ${theme} ${view}`;
          await show(page, view);
          await page.waitForTimeout(200);
          count(await page.evaluate(measures), where);
          if (!text) {
            const { violations } = await new AxeBuilder({ page }).withTags(["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]).analyze();
            count({ axe: violations.map(({ id, nodes }) => `${id} at ${nodes[0].target}`) }, where);
          }
          if (pictures) await page.screenshot({ path: join(pictures, `${name.replace("/", "-")}-${width}x${height}-${theme}-${view}.png`) });
        }
        if (width > 896) {
          const top = () => page.evaluate(() => document.querySelector(".cm-editor").getBoundingClientRect().top);
          const before = await top();
          await page.locator(".cm-content").click({ position: { x: 60, y: 8 } });
          await page.keyboard.type("# a");
          await page.waitForTimeout(1200);
          const after = await top();
          count({ moves: before === after ? [] : [`the editor moved by ${after - before} px`] }, `${name} ${width}x${height}`);
        }
        await close();
      }
    }
  }
} finally {
  await browser.close();
  await server.close();
}
console.log(Object.entries(total).map(([name, number]) => `${name}: ${number}`).join(", "));
process.exitCode = Object.values(total).some((number) => number > 0) ? 1 : 0;
