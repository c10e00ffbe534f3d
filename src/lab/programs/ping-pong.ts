// Half round trips between two ranks.
//   ping-pong.ts <shared | ordinary> <batches> <warm-up batches> <bytes>:<round trips per batch> …
// One buffer is sent and received on both sides: doubles in the node's shared memory, or in an ordinary array.
import { mpi } from "banyan";
import { eachBatch, printSample, readBatches } from "./batches.ts";

const { world } = mpi;
const peer = 1 - world.rank;
const [kind, ...numbers] = process.argv.slice(2);
const batches = readBatches(numbers);

for (const size of numbers.slice(2)) {
  const [bytes, rounds] = size.split(":").map(Number) as [number, number];
  const buffer = kind === "shared" ? sharedArray(bytes) : ordinaryArray(bytes);
  buffer.fill(world.rank === 0 ? 7 : 0);
  const figures = eachBatch(batches, () => halfRoundTripUs(buffer, rounds));
  if (buffer[0] !== 7 || buffer.at(-1) !== 7) throw new Error(`the message of ${bytes} bytes arrived damaged`);
  if (world.rank === 0) printSample("latency_us", bytes, figures);
  mpi.free(buffer);
}

function halfRoundTripUs(buffer: Uint8Array | Float64Array, rounds: number): number {
  const start = mpi.wtime();
  for (let round = 0; round < rounds; round++) {
    if (world.rank === 0) {
      world.send(buffer, { dest: peer, tag: 3 });
      world.recv(buffer, { source: peer, tag: 3 });
    } else {
      world.recv(buffer, { source: peer, tag: 3 });
      world.send(buffer, { dest: peer, tag: 3 });
    }
  }
  return ((mpi.wtime() - start) / rounds / 2) * 1e6;
}

function sharedArray(bytes: number): Uint8Array | Float64Array {
  return bytes < 8 ? mpi.alloc(Uint8Array, bytes) : mpi.alloc(Float64Array, bytes / 8);
}

function ordinaryArray(bytes: number): Uint8Array | Float64Array {
  return bytes < 8 ? new Uint8Array(bytes) : new Float64Array(bytes / 8);
}
