// π by the midpoint rule: every rank adds up its share of the intervals, one reduction puts them together.
//   npx banyan run -n 4 examples/pi.ts [intervals]
import { mpi } from "banyan";

const { world } = mpi;
const intervals = Number(process.argv[2] ?? 20_000_000);
const width = 1 / intervals;

let sum = 0;
for (let i = world.rank; i < intervals; i += world.size) {
  const x = (i + 0.5) * width;
  sum += 4 / (1 + x * x);
}

const pi = world.reduce(Float64Array.of(sum * width), "sum", { root: 0 });
if (pi !== null) {
  console.log(`π ≈ ${pi[0]!.toFixed(12)}  (error ${Math.abs(pi[0]! - Math.PI).toExponential(1)}, ${world.size} ranks)`);
  mpi.result(pi[0]);
}
