// Sends questions to the WebAssembly module: node run.mjs MODULE.wasm QUESTIONS ANSWERS
// QUESTIONS is a folder with one file for each question. ANSWERS gets a file of the same name for each answer.
//
// With --time N FILE instead of the folders, compiles FILE to the bootstrap N times, and prints the milliseconds of each run.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [module, ...rest] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { memory, allocate, release, compile } = instance.exports;

function ask(question, all) {
  const at = allocate(question.length);
  new Uint8Array(memory.buffer, at, question.length).set(question);
  const answer = compile(at, question.length, all ? 1 : 0) >>> 0;
  release(at, question.length);
  const length = new DataView(memory.buffer).getUint32(answer, true);
  const bytes = Buffer.from(new Uint8Array(memory.buffer, answer + 4, length));
  release(answer, length + 4);
  return bytes;
}

if (rest[0] === "--time") {
  const question = readFileSync(rest[2]);
  for (let round = 0; round < Number(rest[1]); round++) {
    const start = performance.now();
    ask(question, false);
    console.log((performance.now() - start).toFixed(1));
  }
} else {
  const [questions, answers] = rest;
  for (const name of readdirSync(questions)) {
    writeFileSync(join(answers, name), ask(readFileSync(join(questions, name)), true));
  }
}
