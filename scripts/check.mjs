// Everything that can be said about the code without running it: formatting, lint, types.
import { spawnSync } from "node:child_process";

const steps = [
  ["node_modules/@biomejs/biome/bin/biome", ["check", "--error-on-warnings", "."]],
  ["node_modules/typescript/bin/tsc", ["-p", "tsconfig.json"]],
];
for (const [tool, args] of steps) {
  const { status } = spawnSync(process.execPath, [tool, ...args], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
}
