// Every rank prints when it has passed the first barrier, in milliseconds since 1970.
import { mpi } from "banyan";

mpi.world.barrier();
console.log(`sample passed_ms ${mpi.world.size} ${Date.now()}`);
