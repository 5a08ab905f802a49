// Writes `first.json` beside the built page: the answers to what the page asks at a first visit, so that the example and its picture are there
// before the engine is. Two engines are asked, and must agree. Run by the build: `node assets/first.mjs dist`.
// What must not be here: any answer.

import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const dist = resolve(process.argv[2]);

const engine = async (name) => {
  const { default: init, answer } = await import(pathToFileURL(join(dist, `chancery-worker-${name}.js`)));
  await init({ module_or_path: await readFile(join(dist, `chancery-worker-${name}_bg.wasm`)) });
  return (question) => new TextDecoder().decode(answer(new TextEncoder().encode(question)));
};
const engines = [await engine("ambassador"), await engine("all")];

// How long it took here is nobody's business.
const plain = (answer) => answer.replace(/"took":[\d.e+-]+/, '"took":0');

const asked = [];
const ask = (question) => {
  const [one, other] = engines.map((answer) => plain(answer(JSON.stringify(question))));
  const said = JSON.parse(one);
  if (one !== other) throw new Error(`the engines differ about ${JSON.stringify(question).slice(0, 80)}`);
  if (said.fine === undefined) throw new Error(`the first question is refused: ${one}`);
  asked.push([question, one]);
  return said.fine;
};

const text = await readFile(new URL("./examples/ambassador/play.yaml", import.meta.url), "utf8");
ask({ compile: { files: [{ name: "play.yaml", text }], dialect: "ambassador", chosen: false, options: null } });
const focus = { from: [], depth: null, without: [], only_errors: false, machine: false, room: null, written_only: true, fold: null, open: [] };
for (const narrow of [false, true]) ask({ graph: { ...focus, narrow } });
ask({ try: ask({ suggest: null }) });

await writeFile(join(dist, "first.json"), JSON.stringify(asked));
