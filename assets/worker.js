// The worker's thread: loads the core, and hands questions in and answers out, each `[number, JSON in bytes]`, or null where a part of it cannot be loaded.
// Its name is the dialect that it knows, or `all`; behind that, `given` says that it is handed the compiled program first, or null where there is none.
import { Missing, emptied, parts } from "./parts.js";

const [dialect, given] = self.name.split(" ");
parts(`chancery-worker-${dialect}`);

const early = [];
let serve = (message) => early.push(message);
const handed = new Promise((done) => {
  if (!given) done(null);
  self.onmessage = (message) => (Array.isArray(message.data) ? serve(message) : done(message.data));
});

const { default: init, answer } = await import(`./chancery-worker-${dialect}.js`);
const program = await handed;
await init(program ? { module_or_path: program } : undefined);

serve = ({ data: [number, question] }) => {
  try {
    const said = answer(question);
    emptied(question);
    postMessage([number, said], [said.buffer]);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    // What was under way is lost, and so is what this worker knows: the page starts another.
    postMessage(null);
  }
};
early.forEach(serve);
