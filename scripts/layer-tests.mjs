// Tests 1 to 11 of the thesis (§6.2) under the fault layer, in real jobs one after the other, and how many of them were right.
//   node scripts/layer-tests.mjs [--repetitions 128] [--seconds 120] [--only words of a line's name]
// Each repetition is a job of its own, in which each test is made once. "wrong": a call ended otherwise than it should, or the job did not end with 0. "hung": it was
// not over after so many seconds. 128 repetitions of all four lines take five minutes on two cores that do nothing else. Ends with 1 unless all were right.
import { spawn } from "node:child_process";
import { givenOptions } from "./given-options.mjs";

const { values } = givenOptions({
  options: {
    repetitions: { type: "string", default: "128" },
    seconds: { type: "string", default: "120" },
    only: { type: "string", default: "" },
  },
});
const program = "test/programs/c/layer-tests.c";
const lines = [
  { name: "some dead, the root alive, one node", dead: "01001", options: [] },
  { name: "the root and others dead, one node", dead: "10011", options: [] },
  { name: "the root and others dead, two nodes", dead: "10011", options: ["--nodes", "2"] },
  {
    name: "by broadcasts of the runtime, two nodes",
    dead: "10010",
    options: ["--nodes", "2", "--background", "ibcast"],
  },
].filter(({ name }) => name.includes(values.only));

function job({ dead, options }) {
  const args = ["run", "--quiet", "-n", `${dead.length}`, "--fault-layer", ...options, program, dead, "1"];
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["bin/banyan.js", ...args]);
    const [out, said] = [[], []];
    child.stdout.on("data", (bytes) => out.push(bytes));
    child.stderr.on("data", (bytes) => said.push(bytes));
    let isHung = false;
    const timer = setTimeout(() => {
      isHung = true;
      child.kill("SIGTERM");
    }, 1000 * Number(values.seconds));
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ isHung, code, text: Buffer.concat(out).toString(), said: Buffer.concat(said).toString() });
    });
  });
}

let isWell = true;
for (const line of lines) {
  const counts = { right: 0, wrong: 0, hung: 0 };
  const wanted = [...line.dead].flatMap((each, rank) => (each === "0" ? [`rank ${rank}: 0 wrong`] : [])).join("\n");
  const startMs = performance.now();
  for (let i = 0; i < Number(values.repetitions); i++) {
    const { isHung, code, text, said } = await job(line);
    const isRight = code === 0 && text.trim().split("\n").sort().join("\n") === wanted;
    counts[isHung ? "hung" : isRight ? "right" : "wrong"]++;
    if (!isRight) process.stderr.write(`${line.name}, repetition ${i}: code ${code}\n${text}${said}`);
  }
  const each = (performance.now() - startMs) / 1000 / Number(values.repetitions);
  const told = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  process.stdout.write(`${line.name}: ${told.join(", ")}; ${each.toFixed(2)} s each\n`);
  isWell &&= counts.right === Number(values.repetitions);
}
process.exitCode = isWell ? 0 : 1;
