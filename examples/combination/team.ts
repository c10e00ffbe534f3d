/**
 * Who does what: rank 0 is the manager, the others are groups, and the first of each group is its master (chapter 4 of Walter's thesis, docs/papers.md).
 *
 * A group solves one grid at a time. The manager sends its master a command and hears a report from it; workers know their group alone. A death breaks
 * the group: whoever notices it revokes the group's communicator, so that no member waits for another for ever, and the group takes no more commands.
 */
import { type Communicator, mpi } from "banyan";

export const tags = { command: 1, report: 2, values: 3, watch: 4 } as const;
/** Of a command: what to do with a grid, by its place in the scheme. */
export const commands = { solve: 1, deliver: 2, stop: 3 } as const;
/** Of a report. */
export const reports = { done: 1, broken: 2, goodbye: 3 } as const;

/**
 * How the manager learns that a worker is dead (§6.1): its master tells, or the manager watches the whole world by a receive that nobody ever sends to. The death
 * of a master it notices either way.
 */
export type Learning = "told" | "watch";

export interface Team {
  /** Everybody; the manager is rank 0. */
  readonly all: Communicator;
  /** The manager and the masters: group g's is rank g + 1. Null at workers. */
  readonly leaders: Communicator | null;
  /** The own group, its master first. Null at the manager. */
  readonly group: Communicator | null;
  /** By group: its members' ranks in `all`. */
  readonly members: readonly (readonly number[])[];
}

/**
 * Who dies while the team is made is no part of it: the survivors try again. Where the program sees no deaths there is nothing to agree on. Null: nobody is left to work
 * with.
 */
export function assemble(groupSize: number): Team | null {
  const seesDeaths = mpi.world.getAttribute(mpi.KEYVALS.FT) === true;
  for (let all: Communicator = mpi.world; ; all = all.shrink()) {
    if (all.size < 2) return null;
    const team = divided(all, groupSize);
    if (!seesDeaths || isAgreed(all, team !== null)) return team;
  }
}

function divided(all: Communicator, groupSize: number): Team | null {
  const workers = all.size - 1;
  const groups = Math.max(1, Math.floor(workers / groupSize));
  const members: number[][] = Array.from({ length: groups }, () => []);
  for (let worker = 0; worker < workers; worker++) members[Math.floor((worker * groups) / workers)]!.push(worker + 1);
  const mine = members.findIndex((ranks) => ranks.includes(all.rank));
  const isLeader = all.rank === 0 || members[mine]![0] === all.rank;
  try {
    const group = all.split(mine < 0 ? mpi.UNDEFINED : mine, all.rank);
    const leaders = all.split(isLeader ? 0 : mpi.UNDEFINED, all.rank);
    return { all, leaders, group, members };
  } catch (error) {
    if (!isDeath(error)) throw error;
    all.revoke();
    return null;
  }
}

/** The same answer at everybody, whoever dies now. */
function isAgreed(comm: Communicator, isGood: boolean): boolean {
  try {
    return comm.agree(isGood ? 1 : 0) === 1;
  } catch (error) {
    if (!(error instanceof mpi.AgreementError)) throw error;
    return error.flags === 1;
  }
}

export function isDeath(error: unknown): boolean {
  return (
    error instanceof mpi.MpiError &&
    (error.className.startsWith("MPI_ERR_PROC_FAILED") || error.className === "MPI_ERR_REVOKED")
  );
}

/** Does `call`; false: a process is dead. */
export function survives(call: () => void): boolean {
  try {
    call();
    return true;
  } catch (error) {
    if (!isDeath(error)) throw error;
    return false;
  }
}
