// Tests of the page of `chancery serve`: it follows the served inputs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { launch, open, test } from "../browser.mjs";

const mapping = (field) => `apiVersion: getambassador.io/v3alpha1\nkind: Mapping\nmetadata: {name: quote}\nspec: {hostname: "*", prefix: /quote/, service: quote, ${field}: 3000}\n`;

test("served page follows inputs without secrets", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  await writeFile(join(folder, "quote.yaml"), mapping("timout_ms"));
  await writeFile(join(folder, "web.yaml"), "apiVersion: getambassador.io/v3alpha1\nkind: Listener\nmetadata: {name: web}\nspec: {port: 8080, protocol: HTTP, securityModel: XFP, hostBinding: {namespace: {from: ALL}}}\n");
  await writeFile(join(folder, "secret.yaml"), "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2hunter2}\n");
  const ports = ["xds", "snapshots", "public-snapshots", "ready"].flatMap((name) => [`--${name}`, "off"]);
  const server = spawn(process.env.CHANCERY_BINARY, ["serve", folder, "--format", "json", "--diagnostics", "127.0.0.1:0", ...ports], { stdio: ["ignore", "pipe", "inherit"] });
  const browser = await launch();
  try {
    let url;
    for await (const line of createInterface({ input: server.stdout })) {
      const event = JSON.parse(line);
      if (event.server === "diagnostics") {
        url = `http://${event.address}/`;
        break;
      }
    }
    server.stdout.resume();
    const { page, errors } = await open(browser, url);
    await page.getByText("1 warning", { exact: true }).waitFor();
    assert.match(await page.locator(".live-strip").textContent(), /Server.*up to date/);
    assert.match(await page.locator(".cm-content").textContent(), /timout_ms/);
    await page.getByRole("button", { name: "secret.yaml" }).click();
    await page.getByText("password").first().waitFor();
    assert.doesNotMatch(await page.content(), /hunter2/);
    await writeFile(join(folder, "quote.yaml"), mapping("timeout_ms"));
    await page.getByText("0 warnings", { exact: true }).waitFor();
    // A program that writes in place leaves the file empty for a moment.
    await page.getByText("3 resources", { exact: true }).waitFor();
    await page.click("#tab-live");
    await page.getByText("no longer").waitFor();
    assert.deepEqual(errors, []);
    server.kill();
    await page.getByText("the server does not answer").waitFor();
    assert.match(await page.locator(".status").textContent(), /3 resources/, "the shown state stays");
  } finally {
    server.kill();
    await browser.close();
    await rm(folder, { recursive: true });
  }
});
