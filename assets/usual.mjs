// What people usually ask of a worker: each example and each input of the suite's fixtures is compiled, looked at in all views, edited and tried.
// By what runs then, and how often, the build finds what of a worker's program is loaded first (`split.mjs`).
// What must not be here: answers.

import { readFile, readdir } from "node:fs/promises";

const root = new URL("../", import.meta.url);

// The examples by which people get to know each dialect.
export const FIRST = ["ambassador/play", "consul/canary", "contour/hello", "ingress/paths"];

const folder = async (path, ending, texts) => {
  const names = (await readdir(new URL(path, root))).filter((name) => name.endsWith(ending)).sort();
  const read = async (name) => texts(await readFile(new URL(path + name, root), "utf8"), name);
  return (await Promise.all(names.map(read))).flat();
};

// Pairs of a text, and whether it is one of those.
const inputs = async (dialect) => [
  ...(await folder(`assets/examples/${dialect}/`, ".yaml", (text, name) => [[text, FIRST.includes(`${dialect}/${name.replace(".yaml", "")}`)]])),
  ...(await folder(`tests/fixtures/${dialect}/`, ".md", (text) => [...text.matchAll(/^```ya?ml[^\n]*\n(.*?)^```/gms)].map(([, inner]) => [inner, false]))),
];

// Some numbers from 1 to `last`, spread evenly.
const some = (last, most) => Array.from({ length: Math.min(last, most) }, (_, at) => 1 + Math.floor((at * last) / Math.min(last, most)));

const FOCUS = { from: [], depth: null, without: [], only_errors: false, machine: false, narrow: false, room: null, written_only: true, fold: null, open: [] };
const DOCS = ["config", "ir", "envoy"];

const looks = (ask, text) => {
  const lines = text.split("\n");
  for (const focus of [{}, { machine: true }, { only_errors: true }, { narrow: true }, { fold: true }, { room: 900, written_only: false }]) ask({ graph: { ...FOCUS, ...focus } });
  const drawn = ask({ graph: FOCUS });
  for (const { id, title } of (drawn?.frames ?? []).slice(0, 3)) {
    ask({ graph: { ...FOCUS, from: [id], depth: 2 } });
    ask({ seek: { text: title, focus: FOCUS } });
  }
  for (const doc of DOCS) {
    const rows = ask({ rows: { doc, from: 0, count: 60 } })?.rows ?? [];
    for (const { node } of rows.slice(0, 3)) ask({ toggle: { doc, node } });
    for (const open of [true, false]) ask({ fold: { doc, open } });
    for (const form of ["yaml", "json", "tree"]) ask({ form: { doc, form } }), ask({ rows: { doc, from: 0, count: 60 } });
    for (const back of [true, false]) ask({ find: { doc, text: "name", after: null, back } });
    for (const yaml of [true, false]) ask({ text: { doc, yaml } });
    for (const { node } of rows.slice(0, 12)) ask({ select: { row: { doc, node } } });
  }
  for (const line of some(lines.length, 25)) {
    const spot = { file: "input.yaml", line, column: Math.max(lines[line - 1].search(/\S/), 0) };
    ask({ select: { line: { file: spot.file, line } } });
    ask({ graph: FOCUS });
    ask({ hover: spot });
    ask({ complete: { spot: { ...spot, column: lines[line - 1].length }, text } });
    if (line % 3 === 0) ask({ why_not: { line: { file: spot.file, line } } });
  }
  for (const doc of DOCS) ask({ rows: { doc, from: 0, count: 60 } });
  ask("release");
  ask("parts");
  ask("ledger");
};

const requests = (ask) => {
  const filter = { text: "", as_words: false, built_in: true };
  const routes = ask({ routes: filter })?.rows ?? [];
  for (const text of ["cart", "shop.example.com/cart"]) ask({ routes: { ...filter, text } });
  const asked = [null, ...routes.slice(0, 8).map(({ pointer }) => pointer)].map((pointer) => ask({ suggest: pointer })).filter(Boolean);
  const saved = [];
  for (const request of asked) {
    const way = ask({ try: request });
    ask({ routes: { ...filter, text: "/" } });
    if (way) saved.push({ request, expected: way.ending });
  }
  ask({ judge: saved });
  return saved;
};

// What is only asked for by a click of its own: comparing, pictures, files, links.
const handsOn = (ask, work, saved) => {
  ask({ compare: { work } });
  ask({ picture: FOCUS });
  ask({ tests: saved });
  ask({ curl: "curl -H 'x-version: 2' https://shop.example.com/cart?v=2" });
  const shared = ask({ share: { requests: [], with_secrets: false, page: "http://localhost/" } });
  if (shared) ask({ open: shared.link }), ask({ open: shared.file });
};

// Asks it all, or without what is only asked for by a click of its own, of a worker for each input, which `fresh` gives: what is made once, and kept,
// is made for each. Answers do not matter here. After each input, `asked` hears whether it is one of the first.
export const usual = async (dialect, fresh, isAll, asked) => {
  for (const [text, isFirst] of await inputs(dialect)) {
    const answer = await fresh();
    const ask = (question) => JSON.parse(new TextDecoder().decode(answer(new TextEncoder().encode(JSON.stringify(question))))).fine;
    const work = (text) => ({ files: [{ name: "input.yaml", text }], dialect, chosen: false, options: null });
    ask({ compile: work(text) });
    looks(ask, text);
    ask({ keep: { work: work(text), requests: [] } });
    const saved = requests(ask);
    const lines = text.split("\n");
    for (const at of some(lines.length, 12)) {
      for (const edited of [lines.toSpliced(at - 1, 1), lines.with(at - 1, `${lines[at - 1]}x`), lines.with(at - 1, `${lines[at - 1]} # why`), lines.with(at - 1, `${lines[at - 1].slice(0, -2)}`), lines.slice(0, at)]) {
        ask({ compile: work(edited.join("\n")) });
        ask({ graph: FOCUS });
        const request = ask({ suggest: null });
        if (request) ask({ try: request });
        // The line of the cursor is selected again, before anybody looks at a document of the new compile.
        ask({ select: { line: { file: "input.yaml", line: at } } });
        // What an edit does is compared with the work before, where that was asked for once.
        if (isAll) ask({ compare: { work: work(text) } });
        ask("ledger");
      }
    }
    if (isAll) handsOn(ask, work(text), saved);
    asked(isFirst);
  }
};
