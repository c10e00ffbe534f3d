/**
 * Replication on real processes: nodes and ranks are killed, and the job prints, once, what it prints when nothing fails. Rows R1
 * to R5 and R8.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { compile, type ProgramName, randomOf, runOnce } from "../scripts/kill-runs.mjs";
import { banyan, messages, program, Run, sorted, until } from "./harness.ts";
import { long } from "./long.ts";
import { patientMs, timeLimit } from "./patience.ts";

const source = resolve("test/programs/c/replicas.c");
const limit = timeLimit(180_000);
const patient = { stdin: "3\n4\n", timeoutMs: 120_000 };

const run = (ranks: number, nodes: number, ...more: readonly string[]): string[] => [
  ...["run", "-n", `${ranks}`, "--nodes", `${nodes}`, "--protocol", "replication"],
  ...more,
];

const summary = (stderr: string): string => messages(stderr).at(-1)!;

const lastLines = (stdout: string): string[] => sorted(stdout).filter((line) => line.startsWith("rank "));

test(
  "R1, R4 a node is killed: nothing stops, each line is printed once, and the summary says who stood in",
  limit,
  async () => {
    const killed = new Run(run(2, 2, source, "60", "20000"), patient);
    await killed.printed("at work", 2);
    process.kill(killed.nodePid(0), "SIGKILL");
    const { code, stdout, stderr } = await killed.ended;
    assert.equal(code, 0, stderr);
    // What replicas see of each other, and of chance, is the same: the answer of rank 1 follows from what rank 0 has read.
    const rounds = [0, 10, 20, 30, 40, 50].map((round) => `round ${round}: ${sumOf(2, round, 7)}`);
    assert.deepEqual(
      sorted(stdout).filter((line) => !line.startsWith("rank ")),
      ["at work", "at work", ...rounds, ...rounds].sort(),
    );
    assert.match(
      lastLines(stdout).join("\n"),
      /^rank 0 of 2: \d+, pid 10000, chance \d+\nrank 1 of 2: \d+, pid 10001, chance \d+$/,
    );
    assert.match(
      stderr,
      /node 0 \(replica 0 of ranks 0 and 1\) failed after .* SIGKILL; its ranks have other replicas/,
    );
    // Messages are sent for a dead replica to living ones of its world alone; here both die, and how soon is known of each is chance.
    assert.match(
      summary(stderr),
      /exit 0; 2 replicas lost; replica 1 of ranks 0, 1 stood in for replica 0(; \d+ messages? sent for the lost)?$/,
    );
    killed.assertNothingLeft();
  },
);

/** What the program prints in a round: everybody's sum of the others, and the index of the double that is looked at. */
function sumOf(ranks: number, round: number, offset: number): number {
  let total = 0;
  for (let rank = 0; rank < ranks; rank++) {
    for (let other = 0; other < ranks; other++) if (other !== rank) total += offset + other * 100 + round;
    total += round;
  }
  return total;
}

/** Nodes that call their machine by names of their own, where the system allows it. */
const elsewhere = program(
  "elsewhere.sh",
  'exec unshare --user --map-root-user --uts sh -c \'hostname "elsewhere-$$"; exec "$@"\' sh "$@"\n',
);
const canRename = spawnSync("sh", [elsewhere, "true"]).status === 0;

test(
  "R1 replicas on other machines are told the same of chance, process, host and input, and a cancelled send is none",
  limit,
  async () => {
    const apart = canRename ? ["--node-command", `sh ${elsewhere}`] : [];
    const equal = resolve("test/programs/c/equal-replicas.c");
    // Every byte of every message is compared: whatever differs stops the job.
    const job = new Run(run(2, 3, "--replicas", "3", "--compare", "hash", ...apart, equal), { timeoutMs: 120_000 });
    job.child.stdin!.write("1\n2\n");
    await job.printed("read 2\n");
    process.kill(job.nodePid(0), "SIGKILL");
    await until(() => job.stderr.includes("its ranks have other replicas"), "the loss is known");
    job.child.stdin!.end("3\n");
    const { code, stdout, stderr } = await job.ended;
    assert.equal(code, 0, stderr);
    const lines = [0, 1].map(
      (rank) =>
        `rank ${rank}: pid ${10000 + rank}, host ${hostname()}, processor ${hostname()}, input 1230, cancelled 0, chance [0-9a-f]{32}`,
    );
    assert.match(stdout, new RegExp(`^read 1\nread 2\nread 3\n${lines.join("\n")}\n$`));
    const [one, other] = [...stdout.matchAll(/chance (\w+)/g)].map(([, chance]) => chance);
    assert.notEqual(one, other);
    assert.doesNotMatch(stderr, /different messages/);
    job.assertNothingLeft();
  },
);

test("R4 the last replica of a rank is lost: the job ends and says so", { ...limit, ...long }, async () => {
  const killed = new Run(run(2, 3, "--replicate-ranks", "0", source, "500", "20000"), patient);
  await killed.printed("at work", 2);
  process.kill(killed.nodePid(1), "SIGKILL");
  const { code, stderr } = await killed.ended;
  assert.equal(code, 137, stderr);
  assert.match(
    stderr,
    /node 1 \(replica 0 of rank 1\) failed .*; the job cannot go on: no replica of rank 1 is left, and there is no checkpoint to go back to\./,
  );
});

test("R8 partial replication: the other replica of rank 0 goes on alone", { ...limit, ...long }, async () => {
  const killed = new Run(run(2, 3, "--replicate-ranks", "0", source, "60", "20000"), patient);
  await killed.printed("at work", 2);
  process.kill(killed.nodePid(0), "SIGKILL");
  const { code, stdout, stderr } = await killed.ended;
  assert.equal(code, 0, stderr);
  assert.equal(lastLines(stdout).length, 2);
  assert.match(
    summary(stderr),
    /1 replica lost; replica 1 of rank 0 stood in for replica 0; \d+ messages? sent for the lost/,
  );
});

test("R8 mirrored: a node is killed, nobody stands in for anybody, and nothing stops", {
  ...limit,
  ...long,
}, async () => {
  const killed = new Run(run(2, 2, "--replication", "mirror", source, "60", "20000", "named"), patient);
  await killed.printed("at work", 2);
  process.kill(killed.nodePid(0), "SIGKILL");
  const { code, stdout, stderr } = await killed.ended;
  assert.equal(code, 0, stderr);
  assert.equal(lastLines(stdout).length, 2);
  assert.match(summary(stderr), /exit 0; 2 replicas lost$/);
});

test("R8 replicas that send different messages are told of, once, and the job comes to its end", limit, async () => {
  const { code, stdout, stderr } = await banyan(run(3, 2, resolve("test/programs/c/farm.c"), "100", "1000"), patient);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^100 tasks, sum 338350, 0 workers remember otherwise$/m);
  const found = messages(stderr).filter((line) => line.includes("send different messages"));
  assert.equal(found.length, 1, stderr);
  assert.match(
    found[0]!,
    /replicas 0 and 1 of rank [0-2] send different messages: message \d+ to rank [0-2], tag [5-7], \d+ bytes in one of them; the program is not send-deterministic/,
  );
});

test("R8 mirrored: a receive of any source is refused", { ...limit, ...long }, async () => {
  const { code, stderr } = await banyan(run(2, 2, "--replication", "mirror", source, "2"), patient);
  assert.notEqual(code, 0);
  assert.match(
    stderr,
    /Cannot receive from MPI_ANY_SOURCE under --replication mirror: .* parallel or leader \(.* in MPI_Recv/,
  );
});

test("R1 replicas that must share nodes: the user is told", { ...limit, ...long }, async () => {
  const { code, stderr } = await banyan(run(2, 1, source, "1"), patient);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /the replicas of 2 ranks share nodes, and may be lost together: use --nodes 2 or more/);
});

test("R1 what it cannot do is said before the job starts", limit, async () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["--replicas", "99"], /^banyan: Cannot have 99 processes for each rank: give a whole number from 1 to 16$/m],
    [["--replicate-ranks", "0,7"], /^banyan: Cannot replicate rank 7: the job has ranks 0 to 1$/m],
    [["--replicate-ranks", "one"], /^banyan: Cannot replicate the ranks "one": give a list like 0,1,4-7$/m],
    [["--replication", "by post"], /^banyan: Cannot replicate by "by post": there are parallel, mirror and leader$/m],
    [["--freeze-at", "1s", "--job-dir", "nowhere"], /^banyan: Cannot freeze a job under --protocol replication: /m],
    [["--ranks-per-thread", "2"], /^banyan: Cannot put several ranks into a thread under --protocol replication: /m],
  ];
  for (const [options, message] of wrong) {
    const { code, stderr } = await banyan(run(2, 2, ...options, source));
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
});

const folder = mkdtempSync(join(tmpdir(), "banyan-replicas-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const random = randomOf(Number(process.env["BANYAN_KILL_SEED"] ?? 20261116));

/** hpccg has wildcards. */
for (const name of ["cg", "mg", "hpccg"] as const satisfies readonly ProgramName[]) {
  for (const replicas of [2, 3]) {
    test(`R4 ${name}, ${replicas} replicas: kills at random moments change nothing`, {
      ...limit,
      ...long,
    }, async () => {
      const module = join(folder, `${name}.wasm`);
      if (!existsSync(module)) compile(name, folder);
      const size = { ranks: 4, nodes: 2 * replicas, protocol: "replication", replicas };
      const args = name === "hpccg" ? ["10", "10", "10", "120"] : ["S"];
      const options = { ...size, args, timeoutMs: patientMs(100_000) };
      const calm = await runOnce(module, options);
      assert.equal(calm.code, 0, calm.said.join("; "));
      for (let time = 0; time < 9; time++) {
        // Nodes of one world, or of all but the last: each rank keeps a replica.
        const victims = Array.from({ length: replicas - 1 }, (_, world) => 2 * world + Math.floor(random() * 2));
        const faults = victims.map((node) => `kill node ${node} at ${Math.floor(random() * 1_500)}ms`).join("; ");
        const { code, lines, said } = await runOnce(module, { ...options, faults });
        const what = `${faults}: ${said.join("; ")}`;
        assert.equal(code, 0, what);
        const timeless = (all: readonly (readonly string[])[]): string[][] =>
          all.map((of) => of.filter((text) => !/^(Seconds|Mop\/s|\s*time|\s*rate)\b/.test(text)));
        assert.deepEqual(timeless(lines), timeless(calm.lines), what);
      }
    });
  }
}
