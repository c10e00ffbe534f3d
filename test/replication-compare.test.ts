/** D1 on real processes: bits flip in the memory of a replica; two replicas find it, three outvote it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { banyan, messages, sorted } from "./harness.ts";
import { long } from "./long.ts";
import { timeLimit } from "./patience.ts";

const limit = timeLimit(120_000);
const source = "test/programs/c/compared.c";
/** In the second exchange, before anything of it is sent: in the array, by this seed. */
const flip = "seed 7; flip 8 bits in rank 1 replica 1 at call 6";

const compared = (replicas: number, ...more: readonly string[]): string[] => [
  ...["run", "-n", "2", "--nodes", `${replicas}`, "--protocol", "replication", "--replicas", `${replicas}`],
  ...["--compare", "hash", ...more],
];

/** The same, byte by byte. */
const wholly = (replicas: number, ...more: readonly string[]): string[] =>
  compared(replicas, ...more).map((word) => (word === "hash" ? "whole" : word));

test("D1 two replicas: a flip stops the job, and the message is named in one line", limit, async () => {
  const { code, stdout, stderr } = await banyan(compared(2, "--faults", flip, source));
  assert.notEqual(code, 0, stderr);
  assert.doesNotMatch(stdout, /^rank/m);
  assert.match(stderr, /fault plan: flipped 8 bits in the memory of replica 1 of rank 1, /);
  assert.match(
    stderr,
    /^banyan: Cannot go on: replicas 0 and 1 of rank 1 send different messages, message 2 of rank 1 to rank 0 \(communicator \d+, tag 6, 1048576 bytes\); memory was corrupted, or /m,
  );
});

test("D1 three replicas: a flip is outvoted, and the answer is that of a run without", limit, async () => {
  const right = await banyan(compared(3, source));
  assert.equal(right.code, 0, right.stderr);
  assert.doesNotMatch(right.stderr, /corrupt|different/);
  const { code, stdout, stderr } = await banyan(compared(3, "--faults", flip, source));
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), sorted(right.stdout));
  assert.match(
    stderr,
    /^banyan: replica 1 of rank 1 is corrupt, and is ended: message 2 of rank 1 to rank 0 \(communicator \d+, tag 6, 1048576 bytes\) is not what both others send$/m,
  );
  assert.match(messages(stderr).at(-1)!, /exit 0; 1 replica lost; replica 2 of rank 1 stood in for replica 1/);
});

test("D1 byte by byte: two replicas find a flip, and the message is named", limit, async () => {
  const { code, stdout, stderr } = await banyan(wholly(2, "--faults", flip, source));
  assert.notEqual(code, 0, stderr);
  assert.doesNotMatch(stdout, /^rank/m);
  assert.match(
    stderr,
    /^banyan: Cannot go on: replicas 0 and 1 of rank 1 send different messages, message 2 of rank 1 to rank 0 /m,
  );
});

test("D1 byte by byte: three replicas outvote a flip, and the corrupt one comes back as a clone", {
  ...limit,
  ...long,
}, async () => {
  const args = wholly(3, "--sustain", "--faults", flip, source, "100");
  const [right, { code, stdout, stderr }] = [await banyan(wholly(3, source, "100")), await banyan(args)];
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(right.stderr, /corrupt|different/);
  assert.match(messages(right.stderr).at(-1)!, /[1-9]\d* MB told to be compared/);
  assert.deepEqual(sorted(stdout), sorted(right.stdout));
  assert.match(stderr, /replica 1 of rank 1 is corrupt/);
  assert.match(messages(stderr).at(-1)!, /replica 1 of rank 1 came back \(cloned from replica [02], /);
});

test("D1 a bit that flips in a message on its way is outvoted as well", { ...limit, ...long }, async () => {
  const right = await banyan(compared(3, source));
  const onTheWay = "flip 1 bit in message 4 of rank 0 replica 2";
  const { code, stdout, stderr } = await banyan(compared(3, "--faults", onTheWay, source));
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), sorted(right.stdout));
  assert.match(stderr, /replica 2 of rank 0 is corrupt, and is ended: message 4 of rank 0 to rank 1 /);
});

test("D1 sustained, the corrupt replica is replaced by a clone of another", { ...limit, ...long }, async () => {
  const args = compared(3, "--sustain", "--faults", flip, source, "400");
  const [right, { code, stdout, stderr }] = [await banyan(compared(3, source, "400")), await banyan(args)];
  assert.equal(code, 0, stderr);
  assert.deepEqual(sorted(stdout), sorted(right.stdout));
  assert.match(stderr, /replica 1 of rank 1 is corrupt/);
  assert.match(messages(stderr).at(-1)!, /replica 1 of rank 1 came back \(cloned from replica [02], /);
});

test("D6 one replica is left: messages are not compared, and the summary says how many", {
  ...limit,
  ...long,
}, async () => {
  const args = compared(2, "--faults", "kill rank 3 at call 6", source, "40");
  const { code, stderr } = await banyan(args);
  assert.equal(code, 0, stderr);
  assert.match(
    messages(stderr).at(-1)!,
    /1 replica lost; .*[1-9]\d* messages not compared \(some rank had one replica for [\d.]+ m?s\)/,
  );
});

test("D1 what has nothing to compare is refused before the job starts", limit, async () => {
  const base = ["run", "--protocol", "replication", "--compare"];
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [["hash", "-n", "1"], /^banyan: Cannot compare messages of one rank: it sends none to others, /m],
    [["hash", "-n", "2", "--replicas", "1"], /^banyan: Cannot compare messages of one replica: give --replicas 2, /m],
    [["sums", "-n", "2"], /^banyan: Cannot compare messages by "sums": there is hash, .* and whole, /m],
    [["hash", "-n", "2", "--replication", "leader"], /^banyan: Cannot compare messages under --replication leader: /m],
  ];
  for (const [options, message] of wrong) {
    const { code, stderr } = await banyan([...base, ...options, source]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
});

for (const kernel of ["cg", "ft", "is", "mg"]) {
  for (const [how, command, replicas] of [
    ["by hashes", compared, 2],
    ["by hashes", compared, 3],
    ["byte by byte", wholly, 2],
    ["byte by byte", wholly, 3],
  ] as const) {
    test(`D1 ${kernel} with ${replicas} replicas, ${how}: no false alarm, though it sends its times`, {
      ...limit,
      ...long,
    }, async () => {
      const { code, stdout, stderr } = await banyan(command(replicas, `examples/kernels/${kernel}.c`, "S"));
      assert.equal(code, 0, stderr);
      assert.match(stdout, /Verification: SUCCESSFUL/);
      assert.doesNotMatch(stderr, /corrupt|different|not compared/);
    });
  }
}
