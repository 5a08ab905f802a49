// The worker's thread: loads the core, and hands questions in and answers out, each `[number, JSON]`.
import init, { answer } from "./chancery-worker.js";

const early = [];
const serve = ({ data: [number, question] }) => postMessage([number, answer(question)]);

self.onmessage = (event) => early.push(event);
await init();
early.forEach(serve);
self.onmessage = serve;
