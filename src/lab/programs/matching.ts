// What one receive costs when many messages, or many receives, are waiting.
//   matching.ts <batches> <how many wait>:<warm-up batches> …
//
// unexpected: all messages are there before the first receive, which asks for the last tag, the next for the tag before it;
//             every fourth receive takes any source. A list would be walked to its end each time.
// posted:     all receives are posted before the first message; messages come in the opposite order. Every fourth receive
//             takes any source; the last tenth takes any tag and gets the messages nobody asked for by name.
// The payloads are added up: nothing is lost, nothing comes twice.
import { mpi } from "banyan";
import { eachBatch, printSample } from "./batches.ts";
import { processMemory } from "./process-memory.ts";

const { world } = mpi;
const peer = 1 - world.rank;
const nothing = new Uint8Array(0);
const [measured, ...cases] = process.argv.slice(2);
const counts = cases.map((one) => one.split(":").map(Number) as [number, number]);

for (const [waiting, warm] of counts) {
  const payload = mpi.alloc(Float64Array, waiting);
  const parts = Array.from(payload, (_, i) => payload.subarray(i, i + 1));
  const scenarios = { unexpected_us: unexpectedUs, posted_us: postedUs };
  for (const [metric, once] of Object.entries(scenarios)) {
    const figures = eachBatch({ measured: Number(measured), warm }, () => once(waiting, parts));
    if (world.rank === 0) printSample(metric, waiting, figures);
  }
  mpi.free(payload);
}
queuedMb(counts.at(-1)![0], 4096);

function unexpectedUs(waiting: number, parts: readonly Float64Array[]): number {
  const { last, go } = signals(waiting);
  if (world.rank === 1) {
    const sent = parts.map((part, i) => {
      part[0] = i;
      return world.isend(part, { dest: 0, tag: i });
    });
    signal(last);
    mpi.waitAll(sent);
    awaitSignal(go);
    return 0;
  }
  const value = parts[0]!;
  let sum = 0;
  awaitSignal(last);
  const start = mpi.wtime();
  for (let i = waiting - 1; i >= 0; i--) {
    world.recv(value, { source: i % 4 === 0 ? mpi.ANY_SOURCE : 1, tag: i });
    sum += value[0]!;
  }
  const us = ((mpi.wtime() - start) / waiting) * 1e6;
  checkSum(sum, waiting);
  signal(go);
  return us;
}

function postedUs(waiting: number, parts: readonly Float64Array[]): number {
  const { last, go, stray } = signals(waiting);
  const exact = waiting - Math.floor(waiting / 10);
  if (world.rank === 1) {
    awaitSignal(go);
    const sent = parts.map((_, turned) => {
      const i = waiting - 1 - turned;
      parts[i]![0] = i;
      return world.isend(parts[i]!, { dest: 0, tag: i < exact ? i : stray });
    });
    mpi.waitAll(sent);
    awaitSignal(last);
    return 0;
  }
  const received = parts.map((part, i) =>
    world.irecv(part, {
      source: i % 4 === 0 || i >= exact ? mpi.ANY_SOURCE : 1,
      tag: i < exact ? i : mpi.ANY_TAG,
    }),
  );
  const start = mpi.wtime();
  signal(go);
  mpi.waitAll(received);
  const us = ((mpi.wtime() - start) / waiting) * 1e6;
  checkSum(
    parts.reduce((sum, part) => sum + part[0]!, 0),
    waiting,
  );
  signal(last);
  return us;
}

/** How much the node, both ranks in it, grows while so many messages of so many bytes wait for their receives. */
function queuedMb(waiting: number, bytes: number): void {
  const { last, go } = signals(waiting);
  const buffer = mpi.alloc(Uint8Array, bytes);
  if (world.rank === 1) {
    const sent = Array.from({ length: waiting }, (_, i) => world.isend(buffer, { dest: 0, tag: i }));
    signal(last);
    mpi.waitAll(sent);
    awaitSignal(go);
    return;
  }
  const before = processMemory();
  awaitSignal(last);
  const after = processMemory();
  for (let i = 0; i < waiting; i++) world.recv(buffer, { source: 1, tag: i });
  signal(go);
  printSample("queued_payload_mb", waiting, [(waiting * bytes) / 1e6]);
  printSample("queued_mb", waiting, [after.pssMb - before.pssMb]);
}

/** Tags 0 … waiting − 1 are the messages' own. */
function signals(waiting: number): { last: number; go: number; stray: number } {
  return { last: waiting, go: waiting + 1, stray: waiting + 2 };
}

function signal(tag: number): void {
  world.send(nothing, { dest: peer, tag });
}

function awaitSignal(tag: number): void {
  world.recv(nothing, { source: peer, tag });
}

function checkSum(sum: number, waiting: number): void {
  const wanted = (waiting * (waiting - 1)) / 2;
  if (sum !== wanted) throw new Error(`messages were lost or mixed up: their sum is ${sum}, not ${wanted}`);
}
