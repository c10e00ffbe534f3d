// A plate is heated by four ranks on two nodes; rank 0 collects it and draws it: banyan run -n 4 --nodes 2 examples/plate.ts
import { mpi } from "banyan";

const { world } = mpi;
const columns = 64;
const rows = 6; // of each rank
const steps = 400;
const shades = " .:-=+*#%@";

const above = world.rank === 0 ? mpi.PROC_NULL : world.rank - 1;
const below = world.rank === world.size - 1 ? mpi.PROC_NULL : world.rank + 1;
let now = new Float64Array((rows + 2) * columns);
let next = new Float64Array((rows + 2) * columns);
if (world.rank === 0) {
  now.fill(1, columns / 4, (3 * columns) / 4);
  next.fill(1, columns / 4, (3 * columns) / 4);
}

const from = mpi.wtime();
for (let step = 0; step < steps; step++) {
  const row = (index: number) => now.subarray(index * columns, (index + 1) * columns);
  world.sendrecv(row(1), { dest: above }, row(rows + 1), { source: below });
  world.sendrecv(row(rows), { dest: below }, row(0), { source: above });
  for (let at = columns + 1; at < (rows + 1) * columns - 1; at++) {
    const inside = at % columns !== 0 && at % columns !== columns - 1;
    next[at] = inside ? (now[at - columns]! + now[at + columns]! + now[at - 1]! + now[at + 1]!) / 4 : 0;
  }
  [now, next] = [next, now];
}
const each = ((mpi.wtime() - from) / steps) * 1e6;

console.log(
  `rank ${world.rank} of ${world.size}: ${steps} steps, ${each.toFixed(0)} µs each, borders traded with neighbours`,
);
const plate = world.gather(now.subarray(columns, (rows + 1) * columns), { root: 0 });
world.barrier();
if (plate !== null) {
  for (let row = 0; row < rows * world.size; row++) {
    const line = plate.subarray(row * columns, (row + 1) * columns);
    console.log(Array.from(line, (cell) => shades[Math.min(9, Math.floor(Math.sqrt(cell) * 10))]).join(""));
  }
}
const mine = now.subarray(columns, (rows + 1) * columns).reduce((sum, cell) => sum + cell, 0);
const [heat] = world.allreduce(Float64Array.of(mine), "sum");
if (world.rank === 0) console.log(`all ranks agree: the plate holds ${heat!.toFixed(6)} units of heat`);
