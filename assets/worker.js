// The worker's thread: loads the core, and hands questions in and answers out, each `[number, JSON]`. Its name is the dialect that it knows, or `all`;
// behind that, `given` says that it is handed the compiled program first, or null where there is none.
const [dialect, given] = self.name.split(" ");

const early = [];
let serve = (message) => early.push(message);
const handed = new Promise((done) => {
  if (!given) done(null);
  self.onmessage = (message) => (Array.isArray(message.data) ? serve(message) : done(message.data));
});

const { default: init, answer } = await import(`./chancery-worker-${dialect}.js`);
const program = await handed;
await init(program ? { module_or_path: program } : undefined);
serve = ({ data: [number, question] }) => postMessage([number, answer(question)]);
early.forEach(serve);
