/** Row M8: ranks on several nodes of this machine, over TCP. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { test } from "node:test";
import { banyan, folderOf, program, Run, runMsMax } from "./harness.ts";
import { long } from "./long.ts";
import { patientMs, timeLimit } from "./patience.ts";
import { testProgram } from "./programs.ts";

testProgram("point-to-point", "M1 on 2 nodes", [], [[4, 2]]);
testProgram("collectives", "M3 on nodes of unequal size", [[5, 3]]);
testProgram("communicators", "M4 on 2 nodes", [], [[4, 2]]);

const sums = `
import { mpi } from "banyan";
const { world } = mpi;
const values = Float64Array.from({ length: 1000 }, (_, i) => Math.sin(world.rank * 1000 + i) * 10 ** (i % 30));
const small = world.allreduce(values.subarray(0, 3), "sum");
const large = world.allreduce(values, "sum");
if (world.rank === 0) console.log(Buffer.from(small.buffer).toString("hex") + Buffer.from(large.buffer).toString("hex"));
`;

test("M3 a sum has the same bits on one node and on any other placement", timeLimit(runMsMax), async () => {
  const path = program("sums.ts", sums);
  const outputs = new Set<string>();
  for (const nodes of long.skip === undefined ? [1, 2, 3, 6] : [1, 4]) {
    const ended = await banyan(["run", "-n", "6", "--nodes", `${nodes}`, path]);
    assert.equal(ended.code, 0, ended.stderr);
    outputs.add(ended.stdout);
  }
  assert.equal(outputs.size, 1);
});

test(
  "M8 ranks that meet only at their end connect to each other at once, and all of them end",
  timeLimit(2 * runMsMax),
  async () => {
    const path = program("brief.ts", `import { mpi } from "banyan"; console.log(mpi.world.rank);`);
    for (let job = 0; job < (long.skip === undefined ? 10 : 3); job++) {
      const ended = await banyan(["run", "-n", "3", "--nodes", "2", "--timeout", `${patientMs(10_000) / 1000}`, path]);
      assert.equal(ended.code, 0, `job ${job}: ${ended.stderr}`);
    }
  },
);

/** Rank 0 ends at once; rank 1 looks how much processor time rank 0's node takes meanwhile, and then at its message. */
const lastWord = `
import { readFileSync } from "node:fs";
import { mpi } from "banyan";
const { world } = mpi;
const ticksOf = (pid: number) => readFileSync(\`/proc/\${pid}/stat\`, "utf8").split(") ")[1]!.split(" ");
const cpuMs = (pid: number) => (Number(ticksOf(pid)[11]) + Number(ticksOf(pid)[12])) * 10;
const compute = (ms: number) => { for (const until = Date.now() + ms; Date.now() < until; ); };
const word = new Int32Array(5000);
if (world.rank === 0) {
  world.send(Int32Array.of(process.pid), { dest: 1 });
  world.send(word.fill(7), { dest: 1, tag: 1 });
} else {
  const pid = new Int32Array(1);
  world.recv(pid, { source: 0 });
  compute(300);
  const before = cpuMs(pid[0]!);
  compute(1000);
  const took = cpuMs(pid[0]!) - before;
  world.recv(word, { source: 0, tag: 1 });
  console.log(word.every((value) => value === 7) ? "arrived" : "wrong", took < 300 ? "asleep" : \`awake for \${took} ms\`);
}
`;

test("M8 a rank at its end waits, asleep, for one that computes", timeLimit(runMsMax), async () => {
  const ended = await banyan(["run", "-n", "2", "--nodes", "2", program("last-word.ts", lastWord)]);
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(ended.stdout, "arrived asleep\n");
});

test("X7 a rank at its end does not wait for a node that was killed", timeLimit(runMsMax), async () => {
  const path = program(
    "waits-for-ever.ts",
    `import { mpi } from "banyan";
     const { world } = mpi;
     if (world.rank === 0) world.send(Int32Array.of(1), { dest: 1 });
     else {
       world.recv(new Int32Array(1), { source: 0 });
       console.log("computes");
       for (;;);
     }`,
  );
  const run = new Run(["run", "-n", "2", "--nodes", "2", path], { stdin: "" });
  await run.printed("computes");
  process.kill(run.nodePid(1), "SIGKILL");
  const ended = await run.ended;
  assert.equal(ended.code, 128 + 9, ended.stderr);
  run.assertNothingLeft();
});

test("X7 a port in use: one line, exit code 1", timeLimit(runMsMax), async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const ended = await banyan(["run", "-n", "2", "--nodes", "2", "--port", `${port}`, program("idle.ts", "")]);
  server.close();
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /^banyan: Cannot use node 0: Cannot listen on 127\.0\.0\.1:\d+: the port is in use\n$/);
});

/** Goes on until there is a file of this name. */
const exchanging = (enough: string) => `
import { existsSync } from "node:fs";
import { mpi } from "banyan";
const { world } = mpi;
const peer = 1 - world.rank;
const block = new Uint8Array(50_000);
// Both nodes are there, and listen.
world.barrier();
console.log("exchanging");
for (let i = 0; i < 300; i++) world.sendrecv(block.fill(i), { dest: peer }, block.slice(), { source: peer });
for (let more = true; more; ) {
  await new Promise((done) => setTimeout(done, 1));
  world.sendrecv(block, { dest: peer }, block.slice(), { source: peer });
  more = world.allreduce(Int32Array.of(existsSync(${JSON.stringify(enough)}) ? 0 : 1), "min")[0] === 1;
}
if (world.rank === 0) console.log("done");
`;

test("X7 strangers at the nodes' ports are dropped and the job goes on", timeLimit(runMsMax), async () => {
  const port = 20_000 + (process.pid % 20_000);
  const enough = folderOf("exchanging.enough");
  const path = program("exchanging.ts", exchanging(enough));
  const run = new Run(["run", "-n", "2", "--nodes", "2", "--port", `${port}`, path], { stdin: "" });
  await run.printed("exchanging");
  const bothNodes = (bytes: Buffer) => [port, port + 1].map((to) => visit(to, bytes));
  const silent = bothNodes(Buffer.alloc(0));
  const loud = [Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.alloc(1 << 20, 0xff)].flatMap(bothNodes);
  const haveBeenIn = await Promise.all(loud);
  writeFileSync(enough, "");
  assert.deepEqual(haveBeenIn, [true, true, true, true], "they get in, and are thrown out while the job runs");
  const ended = await run.ended;
  assert.deepEqual(await Promise.all(silent), [true, true]);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /done/);
});

/** Connects, says that, and waits until it is thrown out or the job is over; true: it was connected. */
function visit(port: number, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    let isConnected = false;
    const socket = connect(port, "127.0.0.1", () => {
      isConnected = true;
      socket.write(bytes);
    });
    // A stranger can be thrown out before it has seen that it is in.
    socket.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET") isConnected = true;
    });
    socket.on("close", () => resolve(isConnected));
    socket.resume();
  });
}

test("M8: the fast socket calls are found wherever the job is started", async () => {
  const path = program(
    "elsewhere/maps.ts",
    `import { readFileSync } from "node:fs";
    import { mpi } from "banyan";
    mpi.world.barrier();
    console.log(/koffi/.test(readFileSync("/proc/self/maps", "utf8")));`,
  );
  const command = ["env", "-C", dirname(path), process.execPath, resolve("bin/banyan.js")];
  const { stdout, stderr } = await banyan(["run", "-n", "2", "--nodes", "2", path], { command });
  assert.equal(stdout, "true\ntrue\n", stderr);
});
