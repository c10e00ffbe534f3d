/** What `--trace` writes: a file that Perfetto and chrome://tracing open. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { banyan, folderOf, program, runMsMax } from "./harness.ts";
import { timeLimit } from "./patience.ts";

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts?: number;
  readonly dur?: number;
  readonly id?: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const source = `
import { mpi } from "banyan";
const { world } = mpi;
const next = (world.rank + 1) % world.size;
const before = (world.rank + world.size - 1) % world.size;
const request = world.irecv(new Float64Array(4), { source: before, tag: 5 });
world.send(Float64Array.of(1, 2, 3, 4), { dest: next, tag: 5 });
request.wait();
world.allreduce(Float64Array.of(world.rank), "sum");
const large = new Uint8Array(100_000);
if (world.rank === 0) world.send(large, { dest: 1, tag: 6 });
if (world.rank === 1) world.recv(large, { source: 0, tag: 6 });
`;

test("M8 --trace: spans of every rank, an arrow from each send to its match", timeLimit(runMsMax), async () => {
  const file = folderOf("run.json");
  const ended = await banyan(["run", "-n", "4", "--nodes", "2", "--trace", file, program("ring.ts", source)]);
  assert.equal(ended.code, 0, ended.stderr);
  const trace: unknown = JSON.parse(readFileSync(file, "utf8"));
  const events = (Array.isArray(trace) ? trace : (trace as { traceEvents: unknown }).traceEvents) as TraceEvent[];

  for (let rank = 0; rank < 4; rank++) {
    const own = events.filter((event) => event.tid === rank);
    const names = own.filter((event) => event.ph === "X").map((event) => event.name);
    for (const name of ["send", "wait", "allreduce"]) {
      if (name === "send" || name === "allreduce") assert.ok(names.includes(name), `rank ${rank} has no ${name}`);
    }
    assert.ok(own.some((event) => event.name === "match"));
    assert.ok(
      own.every((event) => event.pid === Math.floor(rank / 2)),
      "processes are nodes",
    );
    const threadName = own.find((event) => event.name === "thread_name");
    assert.equal(threadName?.args["name"], `rank ${rank}`);
  }
  assert.ok(events.some((event) => event.ph === "X" && event.name === "recv" && event.args["bytes"] === 100_000));

  const starts = new Map(events.filter((event) => event.ph === "s").map((event) => [event.id, event]));
  const ends = events.filter((event) => event.ph === "f");
  assert.ok(ends.length >= 5);
  for (const end of ends) {
    const start = starts.get(end.id);
    assert.ok(start !== undefined, `the match of ${end.id} has no send`);
    assert.ok(start.ts! <= end.ts! + 1000, `message ${end.id} was matched long before it was sent`);
  }
  for (const event of events) if (event.ph === "X") assert.ok(event.dur! >= 0 && event.ts! > 0);
});
