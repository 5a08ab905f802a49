import { launch, serve, open, ready, show, load } from "/work/w/page/tests/browser/browser.mjs";
const b = await launch(); const s = await serve();
const [,, path, view, out, w, h, theme] = process.argv;
const o = await open(b, s.url, { path, width: +(w||1440), height: +(h||900), theme: theme||"light" });
await ready(o.page).catch(e=>console.log("notready", e.message));
if (process.env.YAML) { await load(o.page, {"x.yaml": (await import("node:fs")).readFileSync(process.env.YAML,"utf8")}); await o.page.waitForTimeout(1500);} 
if (view) await show(o.page, view);
await o.page.waitForTimeout(1200);
await o.page.screenshot({ path: out });
console.log((await o.page.locator("#view").textContent()).slice(0, 1500));
console.log('BAR', await o.page.locator(".asked-bar").textContent(), await o.page.inputValue(".asked-url"));
console.log(o.errors);
await b.close(); await s.close(); process.exit(0);
