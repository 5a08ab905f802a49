#!/usr/bin/env node
// Runs the program of this platform's package.
"use strict";
const { spawnSync } = require("node:child_process");
const name = `@chancery/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/chancery${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`chancery: the package ${name} is missing. Install chancery with its optional dependencies, or use another way:`);
  console.error("https://github.com/chancery-dev/chancery/blob/main/docs/install.md");
  process.exit(2);
}
const { status, signal, error } = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (error) {
  console.error(`chancery: cannot run ${program}: ${error.message}`);
  process.exit(2);
}
if (signal) process.kill(process.pid, signal);
process.exit(status ?? 2);
