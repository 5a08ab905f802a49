// Writes `first.json` next to the built page: the answers to the questions of a first visit, so that the example and its graph appear
// before the worker is ready. The build runs `node assets/first.mjs dist`.

import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const dist = resolve(process.argv[2]);
const { default: init, answer } = await import(pathToFileURL(join(dist, "chancery-worker.js")));
await init({ module_or_path: await readFile(join(dist, "chancery-worker_bg.wasm")) });

// The build's own compile time would mislead.
const withoutTime = (answer) => answer.replace(/"took":[\d.e+-]+/, '"took":0');

const asked = [];
const ask = (question) => {
  const text = withoutTime(new TextDecoder().decode(answer(new TextEncoder().encode(JSON.stringify(question)))));
  const { fine } = JSON.parse(text);
  if (fine === undefined) throw new Error(`the worker refuses a first question: ${text}`);
  asked.push([question, text]);
  return fine;
};

const text = await readFile(new URL("./examples/ambassador/play.yaml", import.meta.url), "utf8");
ask({ compile: { files: [{ name: "play.yaml", text }], dialect: "ambassador", chosen: false, options: null } });
const focus = { from: [], depth: null, without: [], only_problems: false, envoy_parts: false, room: null, written_only: true, fold: null, most: null, open: [], keep: [] };
for (const narrow of [false, true]) ask({ graph: { ...focus, narrow } });
ask({ try: ask("suggestions")[0] });

await writeFile(join(dist, "first.json"), JSON.stringify(asked));
