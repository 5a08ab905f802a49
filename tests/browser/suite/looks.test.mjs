// Compares each view in both themes with accepted pictures. README shows some of them.
//
// `UPDATE_PICTURES=1` writes new pictures: look at each before you commit it. The fonts are Debian's.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { before, describe } from "node:test";
import { fileURLToPath } from "node:url";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { clickLine, drawn, show, test, visitors } from "../browser.mjs";

const pictures = fileURLToPath(new URL("../../../assets/pictures/", import.meta.url));

// The allowed share of differing pixels: edges of letters.
const MOST = 0.002;

const VIEWS = ["graph", "routes", "envoy", "ir", "findings", "try", "compare"];

describe("appearance", () => {
  const { visit } = visitors();
  before(() => mkdir(pictures, { recursive: true }));

  for (const theme of ["light", "dark"]) {
    for (const view of VIEWS) {
      test(`${view}, ${theme}`, async () => {
        const { page, close } = await visit({ theme, width: 1120, height: 620 });
        await clickLine(page, "name: cart,");
        await page.locator(".cm-line.selected-line", { hasText: "name: cart," }).waitFor();
        await show(page, view);
        if (view === "compare") await page.getByText("Nothing differs.").waitFor();
        if (view === "graph") await page.locator(".box").first().waitFor();
        await page.mouse.move(0, 0);
        await page.evaluate(() => document.fonts.ready);
        await drawn(page);
        // Compile times differ from run to run.
        await page.getByText(/^compiled in/).evaluate((took) => (took.textContent = "compiled in 3 ms"));
        const shot = await page.screenshot({ caret: "hide", animations: "disabled" });
        await close();
        await compare(`${view}-${theme}`, shot);
      });
    }
  }
});

async function compare(name, shot) {
  const path = `${pictures}${name}.png`;
  if (process.env.UPDATE_PICTURES) return writeFile(path, shot);
  const [accepted, got] = [PNG.sync.read(await readFile(path)), PNG.sync.read(shot)];
  assert.deepEqual([got.width, got.height], [accepted.width, accepted.height]);
  const { width, height } = got;
  const difference = new PNG({ width, height });
  const points = pixelmatch(accepted.data, got.data, difference.data, width, height, { threshold: 0.2 });
  if (points <= MOST * width * height) return;
  const folder = fileURLToPath(new URL("../../../target/tmp/looks/", import.meta.url));
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}${name}.png`, shot);
  await writeFile(`${folder}${name}-difference.png`, PNG.sync.write(difference));
  assert.fail(`${points} points of ${width * height} differ: see ${folder}${name}.png, and ${name}-difference.png`);
}
