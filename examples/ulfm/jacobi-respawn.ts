/**
 * A Jacobi solver that replaces the lost and keeps its rank order. Every rank keeps a copy of another one's part in its memory (a buddy
 * checkpoint); a replacement gets its part from there, all others go back to their own copy of the same round. The answer is the
 * same, bit for bit, as without failures.
 *
 *   banyan run -n 4 --nodes 4 --protocol ulfm --faults "kill node 1 at 1s" examples/ulfm/jacobi-respawn.ts
 */
import { type Communicator, mpi } from "banyan";

const points = 32; // of each rank
const rounds = 2000;
const roundsPerCopy = 100;

/** A part at the end of a round, and the part of another rank that this one keeps. */
interface Copy {
  readonly own: Float64Array;
  readonly kept: Float64Array;
}

/** The last two, because a failure may come while ranks make the newer one: then the older one is whole at everybody's. */
const copies: Copy[] = [];
let newest = -1; // the newest copy that is whole; −1: none, this process is new
const u = new Float64Array(points + 2);

/** Half the ranks away: ranks that are next to each other are often lost together, with their node. */
const keeperOf = (rank: number, size: number): number => (rank + Math.floor(size / 2)) % size;
const keptBy = (rank: number, size: number): number => (rank + size - Math.floor(size / 2)) % size;

function copy(comm: Communicator, number: number): void {
  const { rank, size } = comm;
  const own = u.slice(1, points + 1);
  const kept = new Float64Array(points);
  comm.sendrecv(own, { dest: keeperOf(rank, size), tag: 2 }, kept, { source: keptBy(rank, size), tag: 2 });
  copies[number % 2] = { own, kept };
  // Who passes the barrier knows that all have begun this copy, so all have finished the one before.
  comm.barrier();
  newest = number;
}

/** The newest copy that everybody has who was here before; 0, the beginning, if a rank was lost together with its keeper. */
function restore(comm: Communicator): number {
  const { rank, size } = comm;
  const all = comm.allgather(newest);
  const isNew = (r: number): boolean => all[r]! < 0;
  const isLost = all.some((_, r) => isNew(r) && isNew(keeperOf(r, size)));
  const number = isLost ? 0 : Math.min(...all.filter((each) => each >= 0));
  u.fill(0);
  if (number === 0) for (let i = 1; i <= points; i++) u[i] = rank * points + i;
  else {
    const kept = keptBy(rank, size);
    if (isNew(kept) && !isNew(rank)) comm.send(copies[number % 2]!.kept, { dest: kept, tag: 3 });
    if (isNew(rank)) comm.recv(u.subarray(1, points + 1), { source: keeperOf(rank, size), tag: 3 });
    else u.set(copies[number % 2]!.own, 1);
  }
  copy(comm, number);
  return number;
}

/** The sum of all points: when all agree that they are through, all have the answer. */
function solve(comm: Communicator): number {
  const left = comm.rank > 0 ? comm.rank - 1 : mpi.PROC_NULL;
  const right = comm.rank < comm.size - 1 ? comm.rank + 1 : mpi.PROC_NULL;
  const next = new Float64Array(points + 2);
  for (let round = restore(comm) * roundsPerCopy; round < rounds; round++) {
    if (round % roundsPerCopy === 0 && round / roundsPerCopy > newest) copy(comm, round / roundsPerCopy);
    comm.sendrecv(u.subarray(1, 2), { dest: left }, u.subarray(points + 1), { source: right });
    comm.sendrecv(u.subarray(points, points + 1), { dest: right }, u.subarray(0, 1), { source: left });
    for (let i = 1; i <= points; i++) next[i] = (u[i - 1]! + u[i + 1]!) / 2;
    u.set(next.subarray(1, points + 1), 1);
  }
  const sum = u.subarray(1, points + 1).reduce((a, b) => a + b, 0);
  return comm.allreduce(Float64Array.of(sum), "sum")[0]!;
}

/** The result of `call`; undefined: a process is dead, or the communicator revoked. */
function tried<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof mpi.MpiError) return undefined;
    throw error;
  }
}

/** Has everybody said yes? The answer is the same everywhere, whoever dies now. */
function allAgree(comm: Communicator, isGood: boolean): boolean {
  try {
    return comm.agree(isGood ? 1 : 0) === 1;
  } catch (error) {
    if (!(error instanceof mpi.AgreementError)) throw error;
    return error.flags === 1;
  }
}

/** Everybody gets its old rank; new processes take those of the dead, in their order, which rank 0 tells. */
function inOrder(all: Communicator, rank: number | null, dead: readonly number[] | null): Communicator {
  const ranks = all.bcast(dead);
  return all.split(0, rank ?? ranks[mpi.world.rank]!)!;
}

/**
 * A survivor: the dead are replaced. Tried until it goes well at everybody's, with fewer survivors each time. Of the new processes some may
 * have the new communicator while survivors lack it: they go on only when the first survivor says that all have it.
 */
function replace(broken: Communicator): Communicator {
  for (;;) {
    const alive = broken.shrink();
    const gone = broken.group().difference(alive.group());
    const dead = gone.translate([...Array(gone.size).keys()], broken.group());
    const made: Communicator[] = [];
    const ordered = tried(() => {
      const children = alive.spawn(process.argv[1]!, { count: dead.length });
      made.push(children);
      const all = children.merge();
      made.push(all);
      made.push(inOrder(all, broken.rank, dead));
      return made[2]!;
    });
    if (allAgree(alive, ordered !== undefined)) {
      const tell = (child: number): void => made[0]!.send(true, { dest: child, tag: 4 });
      if (alive.rank === 0) for (const child of dead.keys()) tried(() => tell(child));
      return ordered!;
    }
    // New processes that a failed attempt has started find this out, and leave.
    for (const comm of made) comm.revoke();
  }
}

function start(): Communicator {
  const { world, parent } = mpi;
  if (parent === null) {
    newest = 0; // everybody knows the beginning
    return world;
  }
  const comm = tried(() => {
    const ordered = inOrder(parent.merge({ high: true }), null, null);
    parent.recv({ source: 0, tag: 4 });
    return ordered;
  });
  // Another failure: this process fails too, for all who may wait for it, and the survivors try again with others.
  return comm ?? process.exit(1);
}

/**
 * A survivor's answer, whoever dies now: the first rank that lives prints it, before it agrees that all is done. If it dies in between the
 * next one prints the line again: it may come twice, and is never missing.
 */
function print(comm: Communicator, line: string): void {
  let hasPrinted = false;
  for (let now = comm; ; now = now.shrink()) {
    if (now.rank === 0 && !hasPrinted) console.log(line);
    if (now.rank === 0) hasPrinted = true;
    if (tried(() => now.agree(1)) !== undefined) return;
  }
}

for (let comm = start(); ; comm = replace(comm)) {
  const total = tried(() => solve(comm));
  if (total === undefined) comm.revoke();
  if (!allAgree(comm, total !== undefined)) continue;
  print(comm, `sum ${total} on ${comm.size} ranks`);
  break;
}
