// The checks that need not run the code: formatting, lint, types. The output of each tool is printed when the tool has ended.
import { spawn } from "node:child_process";

const tools = [
  ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
  ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"],
];

/** True when the tool found nothing. */
function run(words) {
  const said = [];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => said.push(bytes));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      process.stdout.write(Buffer.concat(said));
      resolve(code === 0);
    });
  });
}

const isGood = await Promise.all(tools.map(run));
process.exitCode = isGood.every(Boolean) ? 0 : 1;
