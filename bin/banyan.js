#!/usr/bin/env node
// The committed launcher: everything it starts is built into dist/ by `npm run build` (npm ci does it).
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const start = fileURLToPath(new URL("../dist/start.cjs", import.meta.url));
if (existsSync(start)) createRequire(import.meta.url)(start);
else {
  process.stderr.write("banyan: Cannot start: dist/ is not built yet; run `npm run build` in the clone\n");
  process.exitCode = 1;
}
