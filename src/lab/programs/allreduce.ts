// One double summed over all ranks.
//   allreduce.ts <batches> <warm-up batches> <rounds per batch>
import { mpi } from "banyan";
import { eachBatch, printSample, readBatches } from "./batches.ts";

const { world } = mpi;
const args = process.argv.slice(2);
const rounds = Number(args[2]);
const mine = Float64Array.of(world.rank);
let sum = 0;

const figures = eachBatch(readBatches(args), () => {
  const start = mpi.wtime();
  for (let round = 0; round < rounds; round++) sum = world.allreduce(mine, "sum")[0]!;
  return ((mpi.wtime() - start) / rounds) * 1e6;
});
if (sum !== (world.size * (world.size - 1)) / 2) throw new Error(`the sum over all ranks came out as ${sum}`);
if (world.rank === 0) printSample("allreduce_us", world.size, figures);
