// For `npm test -- --times`: the processor time that each test file has used, with all processes that it started and waited for. The
// time on the clock tells little, because several files run side by side. What the compile server uses is nobody's: its parent is gone.
import { existsSync, readFileSync } from "node:fs";

/** The first lines of a bundle with tests: it writes down its times when it ends. Linux only. */
export const timesBanner = (file) => `import { appendFileSync as __append, readFileSync as __read } from "node:fs";
import { isMainThread as __isMain } from "node:worker_threads";
if (__isMain && process.env.NODE_TEST_CONTEXT !== undefined) process.on("exit", () => {
  const ticks = __read("/proc/self/stat", "latin1").split(") ").at(-1).split(" ").slice(11, 15).map(Number);
  const name = import.meta.url.replace(/.*\\/\\d+-/, "").replace(".test.mjs", "");
  __append(${JSON.stringify(file)}, JSON.stringify({ name, own: ticks[0] + ticks[1], started: ticks[2] + ticks[3] }) + "\\n");
});`;

/** Ticks are hundredths of a second, on every Linux that Node runs on. */
export function printTimes(file) {
  if (!existsSync(file)) return;
  const times = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  times.sort((a, b) => b.own + b.started - a.own - a.started);
  const seconds = (ticks) => (ticks / 100).toFixed(1).padStart(7);
  console.log("\nProcessor time in seconds: of the file itself, and of what it started");
  for (const { name, own, started } of times) console.log(`${seconds(own)} ${seconds(started)}  ${name}`);
  const total = (of) => seconds(times.reduce((sum, each) => sum + of(each), 0));
  console.log(`${total(({ own }) => own)} ${total(({ started }) => started)}  in all`);
}
