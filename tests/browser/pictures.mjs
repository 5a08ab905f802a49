// The pictures of the README: the page as built, in both themes. `npm run pictures`, and look at them before they are committed.
//
// What must not be here: expectations.

import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { clickLine, drawn, launch, open, ready, serve, show } from "./browser.mjs";

const assets = fileURLToPath(new URL("../../assets/pictures/", import.meta.url));
await mkdir(assets, { recursive: true });
const browser = await launch();
const server = await serve();
for (const theme of ["light", "dark"]) {
  const { page, close } = await open(browser, server.url, { theme, width: 1120, height: 620 });
  await ready(page);
  await clickLine(page, "name: cart,");
  await show(page, "routes");
  await page.locator("tr.route.lit").first().waitFor();
  await page.mouse.move(0, 0);
  await drawn(page);
  await page.screenshot({ path: `${assets}routes-${theme}.png` });
  await close();
}
await browser.close();
await server.close();
