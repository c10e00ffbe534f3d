// Spawned by spawn.ts; a module, because it awaits outside functions.
import { mpi } from "banyan";

const { world, parent, KEYVALS } = mpi;
await Promise.resolve();
parent!.send([world.getAttribute(KEYVALS.APPNUM), process.argv[2], world.rank], { dest: 0 });
parent!.disconnect();
