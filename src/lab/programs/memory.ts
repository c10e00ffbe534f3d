// Memory of the node while all its ranks but one wait for a message.
import { mpi } from "banyan";
import { printSample } from "./batches.ts";
import { processMemory } from "./process-memory.ts";

const { world } = mpi;
const settleMs = 300;
const nothing = new Uint8Array(0);

world.barrier();
if (world.rank === 0) {
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const { pssMb, rssMb } = processMemory();
  printSample("pss_mb", world.size, [pssMb]);
  printSample("rss_mb", world.size, [rssMb]);
  for (let rank = 1; rank < world.size; rank++) world.send(nothing, { dest: rank });
} else {
  world.recv(nothing, { source: 0 });
}
