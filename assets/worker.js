// Runs the worker's thread: loads the program, then passes each question in and its answer out as `[number, JSON as bytes]`.
// If the worker's name is `shared`, the first message is the compiled program, or null if the worker must load it.
import init, { answer } from "./chancery-worker.js";
import { release } from "./bytes.js";

const early = [];
let serve = (message) => early.push(message);
const received = new Promise((resolve) => {
  if (self.name !== "shared") resolve(null);
  self.onmessage = (message) => (Array.isArray(message.data) ? serve(message) : resolve(message.data));
});

const program = await received;
await init(program ? { module_or_path: program } : undefined);

serve = ({ data: [number, question] }) => {
  const said = answer(question);
  release(question);
  postMessage([number, said], [said.buffer]);
};
early.forEach(serve);
