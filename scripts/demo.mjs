// `npm run demo`: a solver in C on four nodes, twice; in the second run one node is killed. The answer is the same, bit for
// bit, and the last line says so.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Points on a side: a smaller plate has fewer steps. */
const [points = "255", ranks = "8"] = process.argv.slice(2);
const job = `-n ${ranks} --nodes 4 --protocol logging --checkpoint-every 500ms`.split(" ");
const solver = ["examples/poisson.c", points];

/** Runs the command as a reader would type it; returns its output. */
function run(options) {
  const words = ["run", ...job, ...options, ...solver];
  console.log(`$ npx banyan ${words.map((word) => (word.includes(" ") ? `"${word}"` : word)).join(" ")}`);
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["bin/banyan.js", ...words], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    child.stdout.on("data", (bytes) => {
      printed += bytes;
      process.stdout.write(bytes);
    });
    child.on("close", (code) => {
      console.log();
      resolve({ code, printed });
    });
  });
}

const undisturbed = await run([]);
const killed = await run(["--faults", "kill node 2 at call 800"]);
const isSame = undisturbed.code === 0 && killed.code === 0 && undisturbed.printed === killed.printed;
console.log(
  isSame
    ? "Node 2 was killed with SIGKILL and started again; what was printed is the same, byte for byte."
    : "The two runs differ. Please report it.",
);
process.exit(isSame ? 0 : 1);
