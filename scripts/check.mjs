// Everything that can be said about the code without running it: formatting, lint, types. Each tool says what it has to say when it
// has ended.
import { spawn } from "node:child_process";

const tools = [
  ["node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
  ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json"],
];

/** Whether the tool was content. */
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
