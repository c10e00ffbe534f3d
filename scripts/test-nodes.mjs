// `npm run test:nodes`: the whole suite on every Node that Banyan supports, each fetched from npm for this machine.
//   npm run test:nodes                       all of them
//   npm run test:nodes -- 24 26              only these
//   npm run test:nodes -- 26 -- core/p2p     only test files whose path contains these words
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The even majors that are or will be maintained; the lowest is in `engines` of package.json. */
const majors = ["20", "22", "24", "26"];
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
process.chdir(root);

const given = process.argv.slice(2);
const split = given.indexOf("--");
const wanted = split < 0 ? given : given.slice(0, split);
const forTests = split < 0 ? [] : given.slice(split + 1);
const unknown = wanted.filter((major) => !majors.includes(major));
if (unknown.length > 0) {
  console.error(`Cannot test on Node ${unknown.join(", ")}: give some of ${majors.join(", ")}`);
  process.exit(2);
}

/** The binary of that major's newest version, as npm packs it. */
function fetched(major) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(root, ".banyan", "nodes", major);
  const binary = join(folder, "node_modules", name, "bin", "node");
  mkdirSync(folder, { recursive: true });
  const words = ["install", "--prefix", folder, "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", [...words, `${name}@${major}`], { stdio: ["ignore", "ignore", "inherit"] });
  // A binary that was fetched before is used where npm cannot be reached.
  return existsSync(binary) ? { binary, isNew: status === 0 } : undefined;
}

const results = [];
for (const major of wanted.length === 0 ? majors : wanted) {
  const node = fetched(major);
  if (node === undefined) {
    results.push({ what: `Node ${major}`, ended: "could not be fetched from npm", isFine: false });
    continue;
  }
  const version = spawnSync(node.binary, ["--version"], { encoding: "utf8" }).stdout.trim();
  console.log(`\n=== Node ${version}${node.isNew ? "" : " (fetched before; npm did not answer)"}`);
  const startMs = performance.now();
  // Every search for `node` finds this one first.
  const PATH = `${dirname(node.binary)}${delimiter}${process.env.PATH}`;
  const { status, signal } = spawnSync(node.binary, ["scripts/test.mjs", "--no-check", ...forTests], {
    stdio: "inherit",
    env: { ...process.env, PATH },
  });
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const ended =
    status === 0 ? `passed in ${seconds} s` : `failed (${signal ?? `exit code ${status}`}) after ${seconds} s`;
  results.push({ what: `Node ${version}`, ended, isFine: status === 0 });
}

console.log("");
for (const { what, ended } of results) console.log(`${what}: ${ended}`);
process.exit(results.every(({ isFine }) => isFine) ? 0 : 1);
