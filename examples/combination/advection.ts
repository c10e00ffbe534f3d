/**
 * A hill that the wind carries round a torus, solved on many coarse grids at once and combined; grids that are lost with their processes are replaced
 * (docs/combination.md).
 *
 *   banyan run -n 9 examples/combination/advection.ts dims=3
 *   banyan run -n 9 --nodes 9 --protocol ulfm --faults "kill node 3 at 300ms" examples/combination/advection.ts
 */
import { advection } from "./problems.ts";
import { runCombination } from "./program.ts";

runCombination(advection);
