// Splits a program of the page: what is loaded first, and further parts, each loaded when something of it is first called (`parts.js`). Only
// bytes depend on what is put where: a function that is not there is loaded, whichever it is.
// Of a worker, usual work is done to see what runs: the first part has what many inputs take to be edited, looked at and tried, `more` what comparing
// and handing on take besides, `seldom` what few inputs take, `rest` all else. Of the page, `host` has what only runs where there is a program around it.
// Run by the build: `node assets/split.mjs NAME FOLDER`; the folder has the program with its names and its script, and gets the parts.
// What must not be here: what usual work is (`usual.mjs`).

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import binaryen from "./editor/node_modules/binaryen/index.js";
import { usual } from "./usual.mjs";

const [name, folder] = process.argv.slice(2);
const program = join(folder, `${name}_bg.wasm`);
const bytes = await readFile(program);
const { none, i32 } = binaryen;

// The function by which a program asks for a part, as it is exported.
const ASKS = "load_part";
// The name of the module from which other parts import.
const FIRST = "first";
// A function of so few lines takes fewer bytes than what would stand for it, and stays.
const SMALL = 6;
// What fewer of the inputs take, one in so many, is not loaded first.
const FEW = 5;
// The linker joins small functions that are the same, and keeps one of their names. Only larger ones are known by their names.
const OF_SEVERAL = 80;
// What only runs with a program around the page.
const HOSTED = /^<?chancery_page::host::(connect|envoys|history|message|panel|real|running|strip)::/;

const read = () => binaryen.readBinary(bytes);
const list = (count, at) => Array.from({ length: count }, (_, index) => at(index));
const functions = (module) => list(module.getNumFunctions(), (at) => binaryen.getFunctionInfo(module.getFunctionByIndex(at)));
const UNUSED = "remove-unused-module-elements";
// Engines do not look at how a place in memory is said to be aligned, and what is alike packs better.
const LAST = [UNUSED, "dealign", "strip-debug", "strip-producers"];

// The functions that run for the first examples or for many inputs, without comparing and handing on and with both, and those that run at all. Each notes
// in a global of its own that it was called.
const ran = async () => {
  const module = read();
  const own = functions(module).filter(({ base }) => !base);
  own.forEach(({ name, body, results }, at) => {
    const note = `ran ${at}`;
    module.addGlobal(note, i32, true, module.i32.const(0));
    module.addGlobalExport(note, note);
    binaryen.Function.setBody(module.getFunction(name), module.block(null, [module.global.set(note, module.i32.const(1)), body], results));
  });
  const noting = module.emitBinary();
  module.dispose();
  const program = new WebAssembly.Module(noting);
  let [notes, instances] = [[], 0];
  // What asks for a part cannot be in one.
  globalThis.loadPart = () => {};
  const fresh = async () => {
    const script = pathToFileURL(join(folder, `${name}.js`));
    script.search = instances += 1;
    const { default: init, answer } = await import(script);
    const exports = await init({ module_or_path: program });
    notes = own.map(({ name }, at) => [name, exports[`ran ${at}`]]);
    exports[ASKS](0);
    return answer;
  };
  // Those that ran in the last one.
  const taken = () => notes.filter(([, note]) => note.value).map(([name]) => name);
  const dialect = name.split("-").at(-1);
  // What many inputs take, and what any does.
  const taking = async (isAll) => {
    const [often, counts] = [new Set(), new Map()];
    let inputs = 0;
    await usual(dialect, fresh, isAll, (isFirst) => {
      inputs += 1;
      for (const name of taken()) isFirst ? often.add(name) : counts.set(name, (counts.get(name) ?? 0) + 1);
    });
    for (const [name, count] of counts) if (count * FEW >= inputs) often.add(name);
    return [often, new Set([...often, ...counts.keys()])];
  };
  const [first] = await taking(false);
  return [first, ...(await taking(true))];
};

const lines = ({ body }) => binaryen.emitText(body).split("\n").length;

// The parts besides the first: the functions of each.
const partsOf = async (module) => {
  const exported = new Set(list(module.getNumExports(), (at) => binaryen.getExportInfo(module.getExportByIndex(at)).value));
  const own = functions(module).filter(({ name, base }) => !base && !exported.has(name));
  if (name === "chancery-page") {
    const hosted = own.filter((one) => HOSTED.test(one.name) && lines(one) > OF_SEVERAL);
    const without = first(new Map([["host", hosted]]), new Map());
    without.runPasses([UNUSED]);
    const stays = new Set(functions(without).map(({ name }) => name));
    without.dispose();
    const away = new Set(hosted);
    return new Map([["host", own.filter((one) => away.has(one) || !stays.has(one.name))]]);
  }
  const [looked, often, all] = await ran();
  const away = own.filter((one) => !looked.has(one.name) && lines(one) > SMALL);
  const of = ({ name }) => (often.has(name) ? "more" : all.has(name) ? "seldom" : "rest");
  return new Map(["more", "seldom", "rest"].map((part) => [part, away.filter((one) => of(one) === part)]));
};

// The slots of a part's functions that are called from outside of it, by name. Functions of one type stand together, which packs better.
const slotsOf = (part, named) => {
  const order = ({ params, results }) => params * 2 ** 20 + results;
  const wanted = part.filter(({ name }) => named.has(name)).sort((one, other) => order(one) - order(other));
  return new Map(wanted.map(({ name }, at) => [name, at]));
};

const table = (part) => `table of ${part}`;

// The first part. A function of another part is replaced by a call through that part's table, at the slot of the function.
const first = (parts, slots) => {
  const module = read();
  const asks = binaryen.getExportInfo(module.getExport(ASKS)).value;
  [...parts].forEach(([part, away], number) => {
    const [there, reach, at] = [`${part} is there`, `reach ${part}`, slots.get(part)];
    module.addTable(table(part), at?.size ?? 1, at?.size ?? 1);
    module.addGlobal(there, i32, true, module.i32.const(0));
    const load = module.block(null, [module.call(asks, [module.i32.const(number)], none), module.global.set(there, module.i32.const(1))]);
    module.addFunction(reach, none, none, [], module.if(module.i32.eqz(module.global.get(there, i32)), load));
    const inOrder = at ? away.filter(({ name }) => at.has(name)).sort((one, other) => at.get(one.name) - at.get(other.name)) : away;
    away.forEach(({ name }) => module.removeFunction(name));
    for (const { name, params, results } of inOrder) {
      const values = binaryen.expandType(params).map((type, index) => module.local.get(index, type));
      const call = module.call_indirect(table(part), module.i32.const(at?.get(name) ?? 0), values, params, results);
      module.addFunction(name, params, results, [], module.block(null, [module.call(reach, [], none), call], results));
    }
  });
  return module;
};

// What other parts may import from the first: its short name there, and whether any part imports it.
const shared = new Map();
const share = (kind, name) => {
  const key = `${kind} ${name}`;
  if (!shared.has(key)) shared.set(key, { kind, name, short: shared.size.toString(36), wanted: kind !== "Function" });
  return shared.get(key).short;
};

// Another part: what is not in it, it imports from the first.
const other = (part, away, slots) => {
  const module = read();
  const own = new Set(away.map(({ name }) => name));
  list(module.getNumExports(), (at) => binaryen.getExportInfo(module.getExportByIndex(at)).name).forEach((name) => module.removeExport(name));
  list(module.getNumElementSegments(), (at) => binaryen.getElementSegmentInfo(module.getElementSegmentByIndex(at)).name).forEach((name) => module.removeElementSegment(name));
  for (const { name } of list(module.getNumTables(), (at) => binaryen.getTableInfo(module.getTableByIndex(at)))) module.addTableImport(name, FIRST, share("Table", name));
  for (const { name, type, mutable } of list(module.getNumGlobals(), (at) => binaryen.getGlobalInfo(module.getGlobalByIndex(at)))) {
    module.removeGlobal(name);
    module.addGlobalImport(name, FIRST, share("Global", name), type, mutable);
  }
  for (const { name, params, results } of functions(module).filter(({ name }) => !own.has(name))) {
    module.removeFunction(name);
    module.addFunctionImport(name, FIRST, share("Function", name), params, results);
  }
  module.addMemoryImport("0", FIRST, share("Memory", "0"));
  module.addTable(table(part), slots.size, slots.size);
  module.addTableImport(table(part), FIRST, share("Table", table(part)));
  module.addActiveElementSegment(table(part), part, [...slots.keys()], module.i32.const(0));
  module.runPasses(["remove-memory-init", UNUSED]);
  const imported = new Set(functions(module).filter(({ base }) => base).map(({ name }) => name));
  for (const one of shared.values()) one.wanted ||= imported.has(one.name);
  return module;
};

const put = async (module, file) => {
  module.runPasses(LAST);
  if (!module.validate()) throw new Error(`${file} is no valid program`);
  await writeFile(file, module.emitBinary());
  module.dispose();
};

const whole = read();
const parts = await partsOf(whole);
whole.dispose();

// First, what parts import is found out. Then the first part is put together once without slots, to see which functions of other parts it calls: these
// get slots.
for (const [part, away] of parts) other(part, away, slotsOf(away, new Set(away.map(({ name }) => name)))).dispose();
const exported = (module) => {
  for (const { kind, name, short, wanted } of shared.values()) if (wanted) module[`add${kind}Export`](name, short);
  return module;
};
const draft = exported(first(parts, new Map()));
draft.runPasses([UNUSED]);
const named = new Set(functions(draft).map(({ name }) => name));
draft.dispose();
const slots = new Map([...parts].map(([part, away]) => [part, slotsOf(away, named)]));

for (const [part, away] of parts) await put(other(part, away, slots.get(part)), join(folder, `${name}_${part}.wasm`));
await put(exported(first(parts, slots)), program);
