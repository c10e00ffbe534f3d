/**
 * A collective whose arguments are refused counts all the same: the other ranks may have called it, and later collectives of this
 * rank must not be taken for it. A rank that waits for this one in it is told when it asks (core/process/inquiries.ts).
 */
import { communicatorOf } from "../arguments/arguments.ts";
import type { Program } from "../program.ts";

/** Blocking, non-blocking and persistent collectives, with counts of either size. */
const collective =
  /^MPI_I?(barrier|bcast|gatherv?|scatterv?|allgatherv?|alltoall[vw]?|reduce|allreduce|reduce_scatter(_block)?|scan|exscan|neighbor_all\w+?)(?<persistent>_init)?(_c)?$/i;

/** Those that make a communicator of all members, each by one collective. */
const creation =
  /^MPI_(Comm_i?dup(_with_info)?|Comm_create|Comm_split(_type)?|Cart_create|Cart_sub|Graph_create|Dist_graph_create(_adjacent)?|Intercomm_create|Intercomm_merge|Comm_spawn(_multiple)?)$/;

/** The function of that name has refused its arguments. */
export function countRefused(program: Program, name: string, args: readonly (number | bigint)[]): void {
  const found = collective.exec(name);
  const comm = found === null && !creation.test(name) ? null : communicatorOf(program, name, args);
  if (comm === null) return;
  if (found?.groups?.["persistent"] !== undefined) comm.core.nextPersistent();
  else program.operations.refuse(comm.core);
}
