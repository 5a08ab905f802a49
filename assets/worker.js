// The worker's thread: loads the core, and hands questions in and answers out, each `[number, JSON]`. One that is named `given` is handed
// the compiled program first, or null where there is none.
import init, { answer } from "./chancery-worker.js";

const early = [];
const serve = ({ data: [number, question] }) => postMessage([number, answer(question)]);
const given = new Promise((done) => {
  if (self.name !== "given") done(null);
  self.onmessage = ({ data }) => (Array.isArray(data) ? early.push({ data }) : done(data));
});

const program = await given;
await init(program ? { module_or_path: program } : undefined);
self.onmessage = serve;
early.forEach(serve);
