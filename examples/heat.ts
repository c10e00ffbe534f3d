// Heat on a square plate: each rank holds a band of rows and trades its border rows with its neighbours in every step.
//   npx banyan run -n 8 --nodes 4 examples/heat.ts [steps] [size]
import { mpi } from "banyan";

const { world } = mpi;
const steps = Number(process.argv[2] ?? 200);
const size = Number(process.argv[3] ?? 256);

// Rows of this rank; the first ranks take one more when they do not divide evenly.
const rows = Math.floor(size / world.size) + (world.rank < size % world.size ? 1 : 0);
const above = world.rank === 0 ? mpi.PROC_NULL : world.rank - 1;
const below = world.rank === world.size - 1 ? mpi.PROC_NULL : world.rank + 1;

// One halo row at each end. Arrays in the node's shared memory are copied once between ranks of a node.
let now = mpi.alloc(Float64Array, (rows + 2) * size);
let next = mpi.alloc(Float64Array, (rows + 2) * size);
if (world.rank === 0) {
  now.fill(100, 0, size); // the hot edge
  next.fill(100, 0, size);
}

let change = 0;
for (let step = 0; step < steps; step++) {
  const first = now.subarray(size, 2 * size);
  const last = now.subarray(rows * size, (rows + 1) * size);
  const requests = [
    world.irecv(now.subarray(0, size), { source: above, tag: 1 }),
    world.irecv(now.subarray((rows + 1) * size), { source: below, tag: 2 }),
    world.isend(first, { dest: above, tag: 2 }),
    world.isend(last, { dest: below, tag: 1 }),
  ];
  mpi.waitAll(requests);

  change = 0;
  for (let row = 1; row <= rows; row++) {
    for (let column = 1; column < size - 1; column++) {
      const at = row * size + column;
      const mean = (now[at - size]! + now[at + size]! + now[at - 1]! + now[at + 1]!) / 4;
      change = Math.max(change, Math.abs(mean - now[at]!));
      next[at] = mean;
    }
  }
  [now, next] = [next, now];
}

const inside = now.subarray(size, (rows + 1) * size);
let heat = 0;
for (const cell of inside) heat += cell;
const [total] = world.allreduce(Float64Array.of(heat), "sum");
const [largest] = world.allreduce(Float64Array.of(change), "max");
if (world.rank === 0) {
  console.log(
    `${size} × ${size} cells, ${steps} steps: heat ${total!.toFixed(6)}, last change ${largest!.toExponential(3)}`,
  );
}
