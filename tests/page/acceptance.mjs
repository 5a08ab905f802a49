// Measures the page as a user sees it: every example and large inputs, in four sizes, light and dark. Counts text below 11 pixels, cut text without
// an ellipsis, overlapping labels, horizontal scrolling, movement while typing, and violations of accessibility rules. All must be zero.
//
// `cargo xtask setup` and a built page are needed. `node tests/page/acceptance.mjs [WORD...]` measures only the inputs whose names contain a word.
// `CHANCERY_PICTURES=FOLDER` also writes screenshots.

import { mkdir, readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, load, open, ready, serve, show } from "../browser/browser.mjs";
import { measures } from "./measures.mjs";
import { large } from "./sizes.mjs";

const examples = fileURLToPath(new URL("../../assets/examples/", import.meta.url));
const sizes = [[1440, 900], [1024, 768], [844, 390], [390, 844]];
const themes = ["light", "dark"];
const views = ["graph", "routes", "findings", "try"];
const rules = ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"];
const axe = await readFile(new URL("../browser/node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const words = process.argv.slice(2);
// Pages that are measured at the same time.
const PAGES = 2;
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

// The violated rules of accessibility, each with the first element. Runs inside the page.
const violations = async (rules) => {
  const { violations } = await globalThis.axe.run({ runOnly: rules, resultTypes: ["violations"] });
  return violations.map(({ id, nodes }) => `${id} at ${nodes[0].target}`);
};

// Measures an input in one size and one theme.
const measure = async ({ name, path = "", text }, [width, height], theme) => {
  const { page, close } = await open(browser, server.url, { width, height, theme, path });
  await ready(page);
  if (text) {
    await load(page, { "large.yaml": text });
    await page.locator(".arrived", { hasText: /Read as .*: \d{3,} resources/ }).waitFor({ timeout: 120_000 });
    await show(page, "graph");
    await page.locator(".box.folded").first().waitFor({ timeout: 120_000 });
  }
  await page.evaluate(axe);
  for (const view of views) {
    const where = `${name} ${width}x${height} ${theme} ${view}`;
    await show(page, view);
    await page.waitForTimeout(200);
    count(await page.evaluate(measures), where);
    count({ axe: await page.evaluate(violations, rules) }, where);
    if (pictures) await page.screenshot({ path: join(pictures, `${name.replace("/", "-")}-${width}x${height}-${theme}-${view}.png`) });
  }
  if (width > 896) {
    const top = () => page.evaluate(() => document.querySelector(".cm-editor").getBoundingClientRect().top);
    const before = await top();
    await page.locator(".cm-content").click({ position: { x: 60, y: 8 } });
    await page.keyboard.type("# a");
    await page.waitForTimeout(1200);
    const after = await top();
    count({ moves: before === after ? [] : [`the editor moved by ${after - before} px`] }, `${name} ${width}x${height} ${theme}`);
  }
  await close();
};

const browser = await launch();
const server = await serve();
if (pictures) await mkdir(pictures, { recursive: true });
const left = sizes.flatMap((size) => themes.flatMap((theme) => chosen.map((input) => [input, size, theme])));
let failed = 0;
const work = async () => {
  for (let next = left.shift(); next; next = left.shift()) {
    const [{ name }, size, theme] = next;
    await measure(...next).catch((error) => {
      failed += 1;
      console.log(`${name} ${size.join("x")} ${theme}: ${error.message.split("\n")[0]}`);
    });
  }
};
try {
  await Promise.all(Array.from({ length: PAGES }, work));
} finally {
  await browser.close();
  await server.close();
}
console.log(Object.entries(total).map(([name, number]) => `${name}: ${number}`).join(", ") + `, not measured: ${failed}`);
process.exitCode = failed > 0 || Object.values(total).some((number) => number > 0) ? 1 : 0;
