/**
 * A Jacobi solver that goes on with fewer ranks when some are lost.
 *
 * It solves u″ = −2 on a line, u = 0 at both ends: u(x) = x (1 − x). A Jacobi iteration comes to that solution from wherever it begins,
 * so a part of the line that was lost with its rank begins again at zero and costs time, not the answer.
 *
 *   banyan run -n 8 --nodes 4 --protocol ulfm --faults "kill node 1 at 1s" examples/ulfm/jacobi-shrink.ts
 */
import { type Communicator, mpi } from "banyan";

const points = 40; // of the line, without its ends
const roundsPerCheck = 50;
const goal = 1e-8; // the largest step of the last round

/** Each rank has room for the whole line, and works on its own part: points first to last − 1. */
const u = new Float64Array(points + 2);
let first = 1;
let last = 1;

/** Every survivor has its old part. Parts that nobody has are zeros. Then the line is dealt out anew. */
function dealOut(comm: Communicator): void {
  const own = new Float64Array(points + 2);
  own.set(u.subarray(first, last), first);
  comm.allreduce(own, "sum", { into: u });
  first = 1 + Math.floor((points * comm.rank) / comm.size);
  last = 1 + Math.floor((points * (comm.rank + 1)) / comm.size);
}

function solve(comm: Communicator): void {
  const left = comm.rank > 0 ? comm.rank - 1 : mpi.PROC_NULL;
  const right = comm.rank < comm.size - 1 ? comm.rank + 1 : mpi.PROC_NULL;
  const source = 2 / (points + 1) ** 2;
  const next = new Float64Array(points + 2);
  for (let round = 1; ; round++) {
    comm.sendrecv(u.subarray(first, first + 1), { dest: left }, u.subarray(last, last + 1), { source: right });
    comm.sendrecv(u.subarray(last - 1, last), { dest: right }, u.subarray(first - 1, first), { source: left });
    let step = 0;
    for (let i = first; i < last; i++) {
      next[i] = (u[i - 1]! + u[i + 1]! + source) / 2;
      step = Math.max(step, Math.abs(next[i]! - u[i]!));
    }
    u.set(next.subarray(first, last), first);
    if (round % roundsPerCheck === 0 && comm.allreduce(Float64Array.of(step), "max")[0]! < goal) return;
  }
}

/** How far the whole line is from the solution, at every rank. */
function measure(comm: Communicator): number {
  let error = 0;
  for (let i = first; i < last; i++) {
    const x = i / (points + 1);
    error = Math.max(error, Math.abs(u[i]! - x * (1 - x)));
  }
  return comm.allreduce(Float64Array.of(error), "max")[0]!;
}

/** The error; null: the attempt met a death, or was revoked because another rank has met one. */
function attempt(comm: Communicator): number | null {
  try {
    dealOut(comm);
    solve(comm);
    return measure(comm);
  } catch (error) {
    if (!(error instanceof mpi.MpiError)) throw error;
    comm.revoke(); // ranks that wait for this one would wait for ever: their calls end as well
    return null;
  }
}

/** Some may be through and others not. All go the same way: the flag is the same everywhere, whoever dies now. */
function allAreThrough(comm: Communicator, isThrough: boolean): boolean {
  try {
    return comm.agree(isThrough ? 1 : 0) === 1;
  } catch (error) {
    if (!(error instanceof mpi.AgreementError)) throw error;
    return error.flags === 1;
  }
}

let comm = mpi.world;
for (;;) {
  const error = attempt(comm);
  if (allAreThrough(comm, error !== null)) {
    if (comm.rank === 0) {
      console.log(`largest error ${error!.toFixed(5)}`);
      console.error(`${comm.size} ranks are left`);
    }
    break;
  }
  const survivors = comm.shrink();
  if (comm !== mpi.world) comm.free();
  comm = survivors;
}
