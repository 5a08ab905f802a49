// Measures the speed of the page with large inputs: from a dropped file to a readable graph, from a key press to findings, tasks of the main thread
// while typing, and frames while the graph moves. `node tests/page/speed.mjs [WORD...]` measures only the inputs whose names contain a word.
//
// The published page gives valid numbers (`cargo xtask play --small --build-only`); other builds are slower. Other programs slow it down.

import { clickLine, launch, load, open, ready, serve, show } from "../browser/browser.mjs";
import { large } from "./sizes.mjs";

const words = process.argv.slice(2);
const chosen = large().filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
// Milliseconds from a key press to findings, by the number of resources.
const limits = [[1000, 120], [5000, 300]];
const GRAPH = 1500;
const TASK = 50;
const KEYS = 9;

const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// Drops a file and waits until the graph of the file is drawn.
const drop = (page, text) =>
  page.evaluate(
    (text) =>
      new Promise((done, fail) => {
        const before = new Set([...document.querySelectorAll(".box")]);
        const from = performance.now();
        const data = new DataTransfer();
        data.items.add(new File([text], "large.yaml"));
        document.querySelector(".page").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        const check = () => {
          const boxes = [...document.querySelectorAll(".box.folded")];
          if (boxes.some((box) => !before.has(box)) && document.querySelector(".file.active")?.textContent.includes("large.yaml")) return done(performance.now() - from);
          if (performance.now() - from > 60_000) return fail(new Error("no graph within 60 s"));
          requestAnimationFrame(check);
        };
        check();
      }),
    text,
  );

// Types one letter and waits for the findings.
const type = (page) =>
  page.evaluate(
    () =>
      new Promise((done, fail) => {
        const from = performance.now();
        const seen = new MutationObserver(() => {
          seen.disconnect();
          done(performance.now() - from);
        });
        seen.observe(document.querySelector("[aria-label=Findings]"), { subtree: true, characterData: true, childList: true });
        document.execCommand("insertText", false, "x");
        setTimeout(() => fail(new Error("no answer within 20 s")), 20_000);
      }),
  );

// Moves the graph for two seconds and returns the durations of the frames.
const pan = (page) =>
  page.evaluate(
    () =>
      new Promise((done) => {
        const graph = document.querySelector(".graph");
        const { left, top, width, height } = graph.getBoundingClientRect();
        const at = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true, cancelable: true };
        const frames = [];
        let last = performance.now();
        const step = (now) => {
          frames.push(now - last);
          last = now;
          graph.dispatchEvent(new WheelEvent("wheel", { ...at, deltaX: 0, deltaY: Math.sin(frames.length / 20) * 40 }));
          if (frames.length < 120) requestAnimationFrame(step);
          else done(frames.slice(2));
        };
        requestAnimationFrame(step);
      }),
  );

const browser = await launch();
const server = await serve();
let slow = 0;
const report = (name, value, limit) => {
  const is = value <= limit;
  slow += Number(!is);
  console.log(`${is ? "ok  " : "SLOW"} ${name}: ${value.toFixed(0)} ms (limit ${limit})`);
};
try {
  for (const { name, text, broken } of chosen) {
    const opened = async () => {
      const opened = await open(browser, server.url, { width: 1440, height: 900 });
      await ready(opened.page);
      return opened;
    };
    let { page, close } = await opened();
    report(`${name}: graph after a drop`, await drop(page, text), GRAPH);
    await page.waitForTimeout(1500);
    const frames = await pan(page);
    const sorted = [...frames].sort((a, b) => a - b);
    console.log(`     ${name}: frames of ${middle(frames).toFixed(1)} ms while panning, 95 % within ${sorted[Math.floor(sorted.length * 0.95)].toFixed(1)} ms`);
    if (broken) {
      // A new page: another file is opened next to the first.
      await close();
      ({ page, close } = await opened());
      await load(page, { "broken.yaml": text + broken });
      await page.locator(".status", { hasText: /[1-9]\d* warning/ }).waitFor({ timeout: 60_000 });
      await show(page, "findings");
      await page.locator(".finding", { hasText: "wrong" }).locator(".chip.source").first().click();
      await page.locator(".cm-line", { hasText: "wrong: 1" }).waitFor();
      await clickLine(page, "wrong: 1");
      await page.keyboard.press("Home");
      await page.evaluate(() => {
        globalThis.tasks = [];
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => globalThis.tasks.push(entry.duration))).observe({ type: "longtask" });
      });
      const times = [];
      for (let at = 0; at < KEYS; at += 1) {
        times.push(await type(page));
        await page.waitForTimeout(300);
      }
      const tasks = await page.evaluate(() => globalThis.tasks);
      const count = Number(/\d+/.exec(name)[0]);
      report(`${name}: findings after a key press`, middle(times), limits.find(([most]) => count <= most)[1]);
      report(`${name}: longest task while typing`, Math.max(0, ...tasks), TASK);
    }
    await close();
  }
} finally {
  await browser.close();
  await server.close();
}
process.exitCode = slow > 0 ? 1 : 0;
