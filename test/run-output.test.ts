/** What ranks print: all of it, in the order of each rank, whole lines, bounded memory. Rows M8, X2. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { banyan, folderOf, messages, program, Run, sorted, until } from "./harness.ts";

const who = `import { mpi } from "banyan"; const { rank, size } = mpi.world;`;

test("M8: standard output carries the program's output and nothing else; the summary goes to standard error", async () => {
  const hello = program("hello.ts", `${who} console.log(\`hello from \${rank as number} of \${size}\`);`);
  const { code, stdout, stderr } = await banyan(["run", "-n", "4", "--nodes", "2", hello]);
  assert.equal(code, 0);
  assert.deepEqual(
    sorted(stdout),
    [0, 1, 2, 3].map((rank) => `hello from ${rank} of 4`),
  );
  assert.match(stderr, /^banyan: 4 ranks on 2 nodes, \d+\.\d+ s, exit 0\n$/);
  const quiet = await banyan(["run", "--quiet", hello]);
  assert.equal(quiet.stderr, "");
});

test("M8: lines of a rank stay in order, lines of different ranks are never mixed, --label names the rank", async () => {
  const path = program(
    "lines.ts",
    `${who}
    for (let i = 0; i < 2000; i++) {
      process.stdout.write(\`rank \${rank} \`);
      process.stdout.write(\`line \${i}\\n\`);
      if (i % 100 === 0) console.error("note", rank, i);
    }`,
  );
  const { code, stdout, stderr } = await banyan(["run", "-n", "12", "--nodes", "3", "--label", path]);
  assert.equal(code, 0);
  const next = new Array(12).fill(0);
  for (const line of stdout.trimEnd().split("\n")) {
    const [, label, rank, number] = /^\[ ?(\d+)\] rank (\d+) line (\d+)$/.exec(line)!;
    assert.equal(label, rank);
    assert.equal(Number(number), next[Number(rank)]++);
  }
  assert.deepEqual(next, new Array(12).fill(2000));
  assert.equal(stderr.split("\n").filter((line) => /^\[ ?\d+\] note \d+ \d+$/.test(line)).length, 12 * 20);
});

test("M8: with --label a last line without an end does not run into what is said of the job", async () => {
  const path = program("label-unfinished.ts", `process.stderr.write("no end");`);
  const { stderr } = await banyan(["run", "-n", "1", "--label", path]);
  assert.match(stderr, /^\[0\] no end\nbanyan: 1 rank on 1 node, .* exit 0\n$/);
});

test("X2: what was printed before a rank threw, exited or was stopped is not lost, unfinished lines included", async () => {
  const path = program(
    "last-words.ts",
    `${who}
    import { writeFileSync } from "node:fs";
    const how = process.argv[2];
    for (let i = 0; i < 500; i++) console.log(rank, i, "x".repeat(100));
    process.stdout.write("unfinished");
    if (how === "spin") writeFileSync(process.argv[3]!, "");
    if (how === "throw") throw new Error("boom");
    if (how === "exit") process.exit(3);
    for (;;);`,
  );
  const spins = folderOf("last-words-said");
  for (const [how, wanted] of [
    ["throw", 1],
    ["exit", 3],
    ["spin", 143],
  ] as const) {
    const run = new Run(["run", path, how, spins], { stdin: "" });
    if (how === "spin") {
      await until(() => existsSync(spins), "it has said all");
      run.child.kill("SIGTERM");
    }
    const { code, stdout } = await run.ended;
    run.assertNothingLeft();
    assert.equal(code, wanted);
    const lines = stdout.split("\n");
    assert.equal(lines.length, 501);
    assert.equal(lines[500], "unfinished");
  }
});

for (const how of ["computes", "sleeps"]) {
  test(`X2: what a rank that ${how} has printed 200 ms before its node is killed arrives, in order, once`, async () => {
    const path = program(
      "killed.ts",
      `${who}
      for (let i = 0; rank === 1 && i < 1000; i++) console.log("line", i);
      const untilMs = performance.now() + 200;
      if (process.argv[2] === "computes") while (performance.now() < untilMs);
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      if (rank === 1) process.kill(process.pid, "SIGKILL");
      for (;;);`,
    );
    const { code, stdout, stderr } = await banyan(["run", "-n", "2", "--nodes", "2", path, how]);
    assert.equal(code, 137);
    assert.match(messages(stderr)[0]!, /^banyan: node 1 \(rank 1\) failed after .* s: killed by SIGKILL$/);
    assert.equal(stdout, Array.from({ length: 1000 }, (_, i) => `line ${i}\n`).join(""));
  });
}

test("X2: unfinished lines of several ranks do not run into each other", async () => {
  const path = program("unfinished.ts", `${who} process.stdout.write("rank " + rank);`);
  const { stdout } = await banyan(["run", "-n", "3", path]);
  assert.deepEqual(sorted(stdout), ["rank 0", "rank 1", "rank 2"]);
  assert.equal(stdout.endsWith("\n"), false);
});

test("M8: long lines, characters split between writes, bytes that are no text", async () => {
  const path = program(
    "bytes.ts",
    `const euro = Buffer.from("€");
    process.stdout.write(euro.subarray(0, 1));
    process.stdout.write(euro.subarray(1));
    process.stdout.write("\\n" + "long".repeat(2.5e6) + "\\n");
    process.stdout.write(Uint8Array.of(0, 255, 254, 10, 13, 10));
    process.stdout.write("6869", "hex");
    process.stdout.end("!");`,
  );
  const run = new Run(["run", path], { stdin: "", readStdout: false });
  const pieces: Buffer[] = [];
  run.child.stdout!.on("data", (bytes) => pieces.push(bytes));
  assert.equal((await run.ended).code, 0);
  const bytes = Buffer.concat(pieces);
  const expected = Buffer.concat([
    Buffer.from(`€\n${"long".repeat(2.5e6)}\n`),
    Buffer.from([0, 255, 254, 10, 13, 10]),
    Buffer.from("hi!"),
  ]);
  assert.equal(Buffer.compare(bytes, expected), 0);
});

test("M8: a slow reader slows the ranks down instead of filling memory, and loses nothing", async () => {
  // 2 ranks × 25 MB, read at 10 MB/s at first.
  const path = program(
    "flood.ts",
    `${who}
    const line = "x".repeat(999) + "\\n";
    for (let i = 0; i < 25_000; i++) process.stdout.write(line);`,
  );
  const run = new Run(["run", "-n", "2", path], { stdin: "", readStdout: false });
  const { stdout } = run.child;
  let bytes = 0;
  let peakMb = 0;
  for await (const piece of stdout!) {
    bytes += (piece as Buffer).length;
    if (bytes >= 10e6) continue;
    await sleep(2);
    peakMb = Math.max(peakMb, ...run.processes().map(({ pid }) => residentMb(pid)));
  }
  const { code } = await run.ended;
  assert.equal(code, 0);
  assert.equal(bytes, 50e6);
  assert(peakMb > 0 && peakMb < 160, `a process held ${peakMb} MB`);
  run.assertNothingLeft();
});

test("M8: nobody reads the output any more: the job ends, quietly", async () => {
  const path = program("endless.ts", `for (let i = 0; ; i++) console.log("line", i);`);
  const run = new Run(["run", "-n", "2", path], { stdin: "", readStdout: false });
  await new Promise((resolve) => run.child.stdout!.once("data", resolve));
  run.child.stdout!.destroy();
  const { code, stderr } = await run.ended;
  assert.equal(code, 141);
  assert.deepEqual(messages(stderr), []);
  run.assertNothingLeft();
});

test("M8: bytes that go past the ranks' own paths are not lost either", async () => {
  const path = program(
    "past.ts",
    `import { writeSync } from "node:fs";
    import { spawnSync } from "node:child_process";
    writeSync(1, "direct\\n");
    spawnSync("echo", ["child"], { stdio: "inherit" });
    console.log("usual");`,
  );
  const { stdout } = await banyan(["run", path]);
  assert.deepEqual(sorted(stdout), ["child", "direct", "usual"]);
});

test("M8: console works as in Node: formats, tables, groups, errors to standard error", async () => {
  const path = program(
    "console.ts",
    `console.log("%d of %s", 3, "x", { a: [1, 2] }); console.group(); console.info("in"); console.groupEnd();
    console.warn("w"); console.error(new Error("e").message); console.table([{ a: 1 }]);
    process.stdout.write("with callback\\n", () => console.log("called back"));`,
  );
  const { stdout, stderr } = await banyan(["run", "--quiet", path]);
  assert.match(stdout, /^3 of x \{ a: \[ 1, 2 \] \}\n {2}in\n┌(.|\n)*┘\nwith callback\ncalled back\n$/);
  assert.equal(stderr, "w\ne\n");
});

test("M8: standard input goes to rank 0, the others see its end at once", async () => {
  const path = program(
    "input.ts",
    `${who}
    let text = "";
    for await (const piece of process.stdin) text += piece;
    console.log(rank, text.length, text.slice(0, 5));`,
  );
  const { code, stdout } = await banyan(["run", "-n", "3", path], { stdin: `start${"y".repeat(1e6)}` });
  assert.equal(code, 0);
  assert.deepEqual(sorted(stdout), ["0 1000005 start", "1 0 ", "2 0 "]);
});

test("M8: a question is seen before its answer is typed; input never keeps the job alive", async () => {
  const path = program(
    "question.ts",
    `import { createInterface } from "node:readline/promises";
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    console.log("hello " + await terminal.question("who? "));
    terminal.close();`,
  );
  const run = new Run(["run", path]);
  await run.printed("who? ");
  run.child.stdin!.write("world\n");
  const { code, stdout } = await run.ended;
  assert.equal(code, 0);
  assert.equal(stdout, "who? hello world\n");
  const ignoring = new Run(["run", program("ignoring.ts", `console.log("done");`)]);
  assert.equal((await ignoring.ended).code, 0);
});

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
