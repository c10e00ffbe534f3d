/**
 * Rounds of messages, one of which is received a round later, and a sum; a checkpoint in every second round. The answer of each rank
 * depends on all of them, and on nothing else.
 *
 *     banyan run -n 4 rounds.ts [rounds] [milliseconds of each]
 */
import { mpi } from "banyan";

const { world } = mpi;
const { rank, size } = world;
const [rounds, pauseMs] = [Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 10)];
const state = mpi.restored<{ round: number; sum: number }>() ?? { round: 0, sum: 0 };
const value = new Int32Array(1);
const before = (rank + size - 1) % size;
const clock = new Int32Array(new SharedArrayBuffer(4));

for (; state.round < rounds; state.round++) {
  if (state.round % 2 === 1) mpi.checkpoint(state);
  world.send(Int32Array.of((state.sum % 1_000_003) + rank), { dest: (rank + 1) % size, tag: 5 });
  if (state.round > 0) {
    world.recv(value, { source: before, tag: 5 });
    state.sum += value[0]!;
  }
  state.sum += world.allreduce(Int32Array.of((state.sum % 1_009) + rank), "sum")[0]!;
  if (state.round % 10 === 0) console.log(`rank ${rank}, round ${state.round}: ${state.sum}`);
  Atomics.wait(clock, 0, 0, pauseMs);
}
world.recv(value, { source: before, tag: 5 });
console.log(`rank ${rank}: ${state.sum + value[0]!}`);
