// The first calls of a program, without any warm-up; peers/cold.c is the same in C.
//   cold.ts <ping-pong | allreduce> <windows>
// The windows are the first call, the next 9, 90, 900, … of 8 bytes each. All pairs of ranks have their ping-pong at the same time.
import { mpi } from "banyan";
import { printSample } from "./batches.ts";

const { world } = mpi;
const { rank, size } = world;
const [kind, windows] = process.argv.slice(2);
const isPingPong = kind === "ping-pong";
const metric = `${isPingPong ? "ping_pong" : "allreduce"}_${size}`;
const peer = rank ^ 1;
const mine = Float64Array.of(rank);
const theirs = new Float64Array(1);
const firstCalls = 1_000;

function pingPong(): void {
  if (rank % 2 === 0) world.send(mine, { dest: peer, tag: 3 });
  world.recv(theirs, { source: peer, tag: 3 });
  if (rank % 2 !== 0) world.send(mine, { dest: peer, tag: 3 });
  if (theirs[0] !== peer) throw new Error(`the message of rank ${peer} arrived damaged`);
}

function allreduce(): void {
  const sum = world.allreduce(mine, "sum")[0];
  if (sum !== (size * (size - 1)) / 2) throw new Error(`the sum over all ranks came out as ${sum}`);
}

const once = isPingPong ? pingPong : allreduce;
const seconds: number[] = [];
let last = 0;
for (let window = 0, next = 1; window < Number(windows); window++, next *= 10) {
  const start = mpi.wtime();
  for (; last < next; last++) once();
  seconds.push((mpi.wtime() - start) / (isPingPong ? 2 : 1));
}
if (rank === 0) {
  let [sum, before] = [0, 0];
  for (const [window, taken] of seconds.entries()) {
    const next = 10 ** window;
    printSample(`${metric}_us`, next, [(taken / (next - before)) * 1e6]);
    before = next;
    sum += taken;
    if (next === firstCalls) printSample(`${metric}_first_us`, firstCalls, [(sum / firstCalls) * 1e6]);
  }
}
