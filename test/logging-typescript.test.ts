/**
 * Message logging for programs in TypeScript: a node that is killed with SIGKILL is started again, and its ranks live their lives
 * again, from the beginning, until they have come as far as before. Nothing is seen twice, nothing is lost.
 */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Ended, folderOf, messages, program, Run, sorted, until } from "./harness.ts";
import { long } from "./long.ts";

/**
 * Rank 0 takes what comes first, adds it to a chain that depends on the order, and answers with the chain. In the end every
 * rank knows the answers it got, and rank 0 those it gave: they must be the same, whoever fell on the way. At the messages that are
 * given it stops until there is a file of that name in a folder.
 */
const chain = program(
  "logging-chain.ts",
  `
  import { existsSync } from "node:fs";
  import { mpi } from "banyan";
  const { world } = mpi;
  const rounds = Number(process.argv[2]);
  const [folder = "", ...stops] = process.argv.slice(3);
  const mix = (sum: number, value: number) => (Math.imul(sum ^ value, 0x9e3779b1) ^ (sum >>> 15)) | 0;
  if (world.rank === 0) {
    const given: number[][] = Array.from({ length: world.size }, () => []);
    const value = new Int32Array(1);
    let sum = 1;
    for (let i = 0; i < rounds * (world.size - 1); i++) {
      const { source } = world.recv(value, { source: mpi.ANY_SOURCE, tag: 0 });
      sum = mix(sum, value[0]! + source);
      given[source]!.push(sum);
      world.send(Int32Array.of(sum), { dest: source });
      if (i % 10 === 0) console.log("0 after " + i);
      while (stops.includes(String(i)) && !existsSync(folder + "/" + i)) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      }
    }
    let same = true;
    for (let rank = 1; rank < world.size; rank++) {
      const got = new Int32Array(rounds);
      world.recv(got, { source: rank, tag: 9 });
      same &&= got.every((each, i) => each === given[rank]![i]);
    }
    console.log(same ? "all the same" : "DIFFERENT");
    mpi.result(same);
  } else {
    const got = new Int32Array(rounds);
    const answer = new Int32Array(1);
    for (let i = 0; i < rounds; i++) {
      world.send(Int32Array.of(i * world.rank), { dest: 0 });
      world.recv(answer, { source: 0 });
      got[i] = answer[0]!;
      if (i % 10 === 0) console.log(world.rank + " after " + i);
      if (i % 50 === 0) console.error(world.rank + " goes on");
    }
    world.send(got, { dest: 0, tag: 9 });
  }
`,
);

const rounds = 300;
const logging = ["run", "-n", "4", "--nodes", "2", "--protocol", "logging"];

/** What the program prints, in each rank's order. */
function chainLines(): string[] {
  const lines = ["all the same"];
  for (let i = 0; i < 3 * rounds; i += 10) lines.push(`0 after ${i}`);
  for (let rank = 1; rank < 4; rank++) for (let i = 0; i < rounds; i += 10) lines.push(`${rank} after ${i}`);
  return lines.sort();
}

function assertChain({ code, stdout, stderr }: Ended, kills: number): void {
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), chainLines());
  // Each rank's own lines are in order.
  for (let rank = 0; rank < 4; rank++) {
    const numbers = [...stdout.matchAll(new RegExp(`^${rank} after (\\d+)$`, "gm"))].map((match) => Number(match[1]));
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
  }
  const went = stderr.split("\n").filter((line) => line.endsWith(" goes on"));
  assert.equal(went.length, (3 * rounds) / 50);
  assert.equal(messages(stderr).filter((line) => line.includes("it is started again")).length, kills, stderr);
}

const killed = new Set<number>();

/** Kills the present process of a node; one that was killed a moment ago may have no successor yet. */
async function kill(run: Run, node: number): Promise<void> {
  const present = (): number | undefined =>
    run.processes().find(({ name, pid }) => name === `banyan-node ${node}` && !killed.has(pid))?.pid;
  await until(() => present() !== undefined, `node ${node} runs`);
  const pid = present();
  assert(pid !== undefined);
  killed.add(pid);
  process.kill(pid, "SIGKILL");
}

test("L5 a TypeScript program with wildcards: the node of its workers is killed", long, async () => {
  const run = new Run([...logging, chain, String(rounds)], { stdin: "" });
  await run.printed("2 after 100");
  await kill(run, 1);
  assertChain(await run.ended, 1);
  run.assertNothingLeft();
});

test("L5 the node of the rank that chooses is killed, twice, and then the other", long, async () => {
  const folder = folderOf("logging-chain-stops");
  mkdirSync(folder);
  const run = new Run([...logging, chain, String(rounds), folder, "100", "300", "500"], { stdin: "" });
  for (const [message, node] of [
    [100, 0],
    [300, 0],
    [500, 1],
  ] as const) {
    await run.printed(`0 after ${message}`);
    await kill(run, node);
    writeFileSync(join(folder, `${message}`), "");
  }
  assertChain(await run.ended, 3);
  run.assertNothingLeft();
});

test("L5 both nodes are killed at once", long, async () => {
  const folder = folderOf("logging-chain-both");
  mkdirSync(folder);
  const run = new Run([...logging, chain, String(rounds), folder, "50"], { stdin: "" });
  await run.printed("0 after 50");
  const pids = [0, 1].map((node) => run.nodePid(node));
  for (const pid of pids) process.kill(pid, "SIGKILL");
  writeFileSync(join(folder, "50"), "");
  assertChain(await run.ended, 2);
  run.assertNothingLeft();
});

test("L3 with sets of one rank everything is logged, and a killed node comes back as well", long, async () => {
  const run = new Run([...logging, "--sets", "rank", chain, String(rounds)], { stdin: "" });
  await run.printed("0 after 300");
  await kill(run, 0);
  assertChain(await run.ended, 1);
  run.assertNothingLeft();
});

test("the order in which awaits go on, clocks and randomness are those of the life before", long, async () => {
  const path = program(
    "logging-await.mts",
    `
    import { mpi } from "banyan";
    const { world } = mpi;
    const rounds = 900;
    if (world.rank < 2) {
      // Two conversations at once; which goes on first is a choice, and what it says depends on it.
      let sum = world.rank;
      const talk = async (peer: number) => {
        const got = new Int32Array(1);
        for (let i = 0; i < rounds; i++) {
          await world.irecv(got, { source: peer });
          sum = (Math.imul(sum, 31) + got[0]! + peer + Math.floor(Math.random() * 1000) + Date.now() % 1000) | 0;
          await world.isend(Int32Array.of(sum), { dest: peer });
          if (i % 150 === 0) console.log(world.rank + " with " + peer + " after " + i);
        }
      };
      await Promise.all([talk(2), talk(3)]);
      world.send(Int32Array.of(sum), { dest: 2, tag: 1 });
    } else {
      const got = new Int32Array(1);
      let last = 0;
      for (let i = 0; i < rounds; i++) {
        for (const peer of [0, 1]) {
          world.send(Int32Array.of(i), { dest: peer });
          world.recv(got, { source: peer });
          last = got[0]!;
        }
      }
      if (world.rank === 2) for (const peer of [0, 1]) world.recv(got, { source: peer, tag: 1 });
    }
    world.barrier();
    console.log(world.rank + " ends");
  `,
  );
  const run = new Run([...logging, path], { stdin: "" });
  await run.printed("0 with 2 after 150");
  await kill(run, 0);
  await run.printed("1 with 3 after 450");
  await kill(run, 1);
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  const expected = [0, 1, 2, 3].map((rank) => `${rank} ends`);
  for (const rank of [0, 1]) {
    for (const peer of [2, 3]) for (let i = 0; i < 900; i += 150) expected.push(`${rank} with ${peer} after ${i}`);
  }
  assert.deepEqual(sorted(stdout), expected.sort());
  run.assertNothingLeft();
});

test("rule 9 a node whose ranks have finished is started again when it is killed, and they finish again", async () => {
  const path = program(
    "logging-finished.ts",
    `
    import { existsSync } from "node:fs";
    import { mpi } from "banyan";
    const { world } = mpi;
    // What rank 1 has sent is needed again when rank 0 falls after it.
    if (world.rank === 1) {
      for (let i = 0; i < 1000; i++) world.send(Int32Array.of(i), { dest: 0 });
      console.log("1 has sent all");
    } else {
      const value = new Int32Array(1);
      let sum = 0;
      for (let i = 0; i < 1000; i++) {
        world.recv(value, { source: 1 });
        sum += value[0]!;
      }
      console.log("the sum is " + sum);
      while (!existsSync(process.argv[2]!));
    }
  `,
  );
  const enough = folderOf("logging-finished.enough");
  const run = new Run(["run", "-n", "2", "--nodes", "2", "--protocol", "logging", path, enough], { stdin: "" });
  await run.printed("the sum is");
  await kill(run, 1);
  await until(() => run.stderr.includes("node 1"), "the loss is told");
  await kill(run, 0);
  writeFileSync(enough, "");
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), ["1 has sent all", "the sum is 499500"]);
  run.assertNothingLeft();
});

test("rule 10 a program's own end is not a failure: an exception and an exit code end the job", async () => {
  const throws = program(
    "logging-throws.ts",
    `import { mpi } from "banyan"; if (mpi.world.rank === 1) throw new Error("mine");`,
  );
  const exits = program("logging-exits.ts", `import { mpi } from "banyan"; if (mpi.world.rank === 1) process.exit(7);`);
  const one = await new Run([...logging, throws], { stdin: "" }).ended;
  assert.equal(one.code, 1);
  assert.match(one.stderr, /mine/);
  const seven = await new Run([...logging, exits], { stdin: "" }).ended;
  assert.equal(seven.code, 7);
});
