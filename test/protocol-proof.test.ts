/**
 * A second protocol, made of one folder and one line (`test/protocols`): under seeds with deaths, on real processes, with a freeze and
 * a thaw. What it needs of the runtime is what every protocol to come needs. Row X1.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { before, describe, it } from "node:test";
import { plainLayout, protocolConformance, runConformance } from "../src/core/ft/testing/protocol-conformance.ts";
import { failureText } from "../src/sim/failure-text.ts";
import { runSeed } from "../src/sim/run-seed.ts";
import { conformanceWorld } from "../src/sim/testing/conformance-world.ts";
import { banyan, folderOf, inFolder, newFolder } from "./harness.ts";
import { tries } from "./long.ts";
import { timeLimit } from "./patience.ts";
import { delayed } from "./protocols/delayed/definition.ts";
import { buildProof, type ProofBuild } from "./protocols/proof-build.ts";
import { protocols } from "./protocols/registry.ts";

const limit = timeLimit(120_000);
const steps = "40";
const seeds = tries(10, 300);
const frozen = resolve("test/programs/c/frozen.c");

/** How many sends a summary says were delayed. */
function delayedIn(text: string): number {
  const [, count] = /(\d+) sends delayed/.exec(text) ?? [];
  assert(count !== undefined, `no delayed sends in: ${text}`);
  return Number(count);
}

describe("X1: a protocol of one folder and one line", () => {
  it("its folder names it, and one line of a registry", () => {
    assert.deepEqual(
      protocols.map(({ name }) => name),
      ["none", "logging", "ulfm", "replication", "fault-layer", "channel-memory", "delayed"],
    );
    const lines = readFileSync("test/protocols/registry.ts", "utf8").split("\n");
    const naming = lines.filter((line) => line.includes("delayed") && !line.startsWith("import"));
    assert.equal(naming.length, 1);
  });

  it("it keeps the contract of protocols, case by case", () => {
    const layout = plainLayout(delayed);
    let held = 0;
    for (const aCase of protocolConformance)
      if (runConformance(aCase, { layout, world: conformanceWorld }) === null) held++;
    // Not those about dead that come back, or whose ranks others play.
    assert(held >= protocolConformance.length - 3, `${held} of ${protocolConformance.length} cases`);
  });

  it("its worlds come to the same end as without it, also when ranks die", () => {
    let deaths = 0;
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = runSeed({ seed, protocol: delayed });
      assert.equal(outcome.violations.length, 0, failureText({ seed }, outcome));
      deaths += outcome.deaths;
    }
    assert(deaths > seeds / 20, `${deaths} deaths`);
  });
});

describe("X1: the same protocol on real processes", { concurrency: 1 }, () => {
  let proof: ProofBuild;
  let module = "";

  before(async () => {
    proof = await buildProof();
    module = join(newFolder("proof"), "frozen.wasm");
    const compiled = await banyan(["cc", frozen, "-o", module], { timeoutMs: 100_000 });
    assert.equal(compiled.code, 0, compiled.stderr);
  }, limit);

  const run = (...args: string[]) => banyan(args, { command: [process.execPath, proof.launcher], timeoutMs: 100_000 });

  it("`--help` has its name, its line and its option", limit, async () => {
    const { stdout } = await run("run", "--help");
    assert.match(
      stdout,
      /fault tolerance: none, logging, ulfm,\s+replication,\s+fault-layer,\s+channel-memory,\s+delayed/,
    );
    assert.match(stdout, /^ {2}delayed +holds every send back/m);
    assert.match(stdout, /--delay <number>/);
    assert.match(stdout, /--protocol delayed --delay 5/);
  });

  it("its option is checked by it, and refused under other protocols", limit, async () => {
    const tooLarge = await run("run", "--protocol", "delayed", "--delay", "5000", module);
    assert.deepEqual(
      [tooLarge.code, tooLarge.stderr],
      [2, "banyan: Cannot delay sends by 5000 steps: give a whole number up to 1000\n"],
    );
    const elsewhere = await run("run", "--protocol", "logging", "--delay", "5", module);
    assert.deepEqual(
      [elsewhere.code, elsewhere.stderr],
      [2, "banyan: Cannot delay sends: only --protocol delayed does\n"],
    );
    const unknown = await banyan(["run", "--protocol", "delayed", module]);
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [
        2,
        'banyan: Cannot use protocol "delayed": there is none, logging, ulfm, replication, fault-layer, channel-memory\n',
      ],
    );
  });

  it("a program prints the same under it, on several nodes and with ranks that share threads", limit, async () => {
    const plain = await inFolder(newFolder("proof-plain"), () => run("run", "-n", "4", module, steps));
    const sorted = (text: string): string[] => text.split("\n").sort();
    for (const size of [
      ["--nodes", "2"],
      ["--ranks-per-thread", "2"],
    ]) {
      const args = ["run", "-n", "4", ...size, "--protocol", "delayed", "--delay", "5", module, steps];
      const held = await inFolder(newFolder(`proof-${size[1]}${size[0]}`), () => run(...args));
      assert.equal(held.code, 0, held.stderr);
      assert.deepEqual(sorted(held.stdout), sorted(plain.stdout));
      assert(delayedIn(held.stderr) > 4 * Number(steps));
    }
  });

  it("its first failure ends the job, as its definition says", limit, async () => {
    const args = [
      "run",
      "-n",
      "4",
      "--nodes",
      "2",
      "--protocol",
      "delayed",
      "--faults",
      "kill node 1 at call 40 of rank 0",
    ];
    const { code, stderr } = await inFolder(newFolder("proof-killed"), () => run(...args, module, "100000"));
    assert.equal(code, 137, stderr);
    assert.match(stderr, /node 1 /);
  });

  it("a job under it is frozen and thawed: what it has counted is in its images", limit, async () => {
    const options = { ranks: 4, nodes: 2, args: [steps], protocol: "delayed", delay: 2 };
    const whole = await inFolder(newFolder("proof-whole"), async () => proof.launch(module, options).done);
    await inFolder(newFolder("proof-parted"), async () => {
      const first = proof.launch(module, { ...options, jobFolder: "job" });
      for await (const event of first) if (event.kind === "line" && event.text === "step 20") first.freeze();
      assert.equal((await first.done).reason.kind, "frozen");
      const thawed = await proof.thaw("job").done;
      assert.equal(thawed.code, 0);
      // Both nodes have spoken to the part beside the dispatcher, and were answered, in each run.
      assert.deepEqual(
        [whole, thawed].map(({ protocol }) => protocol.job),
        [
          { ranks: 4, confirmed: 2 },
          { ranks: 4, confirmed: 2 },
        ],
      );
      const counts = [whole, thawed].map(({ protocol }) => protocol.ranks);
      assert.deepEqual(thawed.summary, [`${delayedIn(thawed.summary.join())} sends delayed`]);
      // To come to rest for the images takes messages too.
      for (const [rank, report] of (counts[0] as { held: number }[]).entries()) {
        const after = (counts[1] as { held: number }[])[rank]!;
        assert(after.held >= report.held, `rank ${rank}: ${report.held} sends at one go, ${after.held} in two parts`);
      }
    });
  });

  it("a job that was frozen under a protocol that is not there is not thawed", limit, async () => {
    const folder = folderOf("proof-parted/job");
    const { code, stderr } = await banyan(["thaw", folder]);
    assert.equal(code, 2);
    assert.match(stderr, /Cannot use protocol "delayed": there is none, logging, ulfm, replication/);
  });
});
