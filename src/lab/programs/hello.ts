// All ranks meet, and rank 0 prints how many they are; the twin of hello.c.
import { mpi } from "banyan";

const { world } = mpi;
world.barrier();
if (world.rank === 0) console.log(`${world.size} ranks`);
