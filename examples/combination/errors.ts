/**
 * What lost grids cost: the errors of combined solutions with 0, 1, 2 and 4 lost grids, the median and the worst of all choices of the grids, or of some. The lines
 * are samples for `banyan bench combination`, which draws them.
 *
 *   banyan run examples/combination/errors.ts advection 2
 */
import { mpi } from "banyan";
import { choices, Losses } from "./losses.ts";
import { advection, heat } from "./problems.ts";
import { createScheme } from "./scheme.ts";

const [name = "advection", dims = "2", choicesMax = "200"] = process.argv.slice(2);
const problem = [advection, heat].find((one) => one.name === name);
const shape = [
  { dims: 2, least: 4, depth: 4 },
  { dims: 3, least: 3, depth: 3 },
].find((one) => one.dims === Number(dims));

if (problem === undefined || shape === undefined) {
  console.error("errors: give advection or heat, 2 or 3, and how many choices are tried");
  process.exitCode = 2;
} else if (mpi.world.rank === 0) {
  const losses = new Losses(problem, createScheme(shape));
  for (const count of [0, 1, 2, 4]) {
    const all = choices(losses.classic, count, Number(choicesMax)).map((lost) => losses.after(lost));
    for (const from of ["exact", "full"] as const) {
      const errors = all.map((one) => one[from]).sort((a, b) => a - b);
      console.log(`sample ${from}_median ${count} ${errors[Math.floor(errors.length / 2)]}`);
      console.log(`sample ${from}_worst ${count} ${errors.at(-1)}`);
    }
  }
}
