#!/usr/bin/env node
// The committed launcher: everything it starts is built into dist/ by `npm run build` (npm ci does it). CommonJS, as package.json beside it
// says: Node needs 10 ms more to start with a module.
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const start = join(__dirname, "../dist/start.cjs");
if (existsSync(start)) require(start);
else {
  process.stderr.write("banyan: Cannot start: dist/ is not built yet; run `npm run build` in the clone\n");
  process.exitCode = 1;
}
