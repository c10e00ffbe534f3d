/**
 * The tasks that make communicators (MPI 5.0 §7.4, §7.6), of arguments that are checked here. A face starts the task and gives
 * its program the result.
 */
import type { WorldRank } from "../base/brand.ts";
import { UNDEFINED } from "../base/constants.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import type { Group } from "../comm/group.ts";
import type { Communicator } from "../process/communicator.ts";
import type { NewCommunicator } from "../process/communicators/new-communicator.ts";
import { Create, CreateGroup, CreateInter, Merge, Split, SplitInter } from "../process/new-communicators.ts";
import type { Process } from "../process/process.ts";
import { checkTag, type NamedCommunicator } from "./checks.ts";

function refuse(errorClass: number, what: string): never {
  throw new MpiError(errorClass, `Cannot ${what}`);
}

/** One communicator for each colour, ordered by key, then by rank. */
export function splitTask(process: Process, { core }: NamedCommunicator, color: number, key: number): NewCommunicator {
  const isColor = Number.isInteger(color) && (color >= 0 || color === UNDEFINED);
  if (!isColor || !Number.isInteger(key)) {
    const wanted = "colours are whole numbers from 0 or UNDEFINED, keys whole numbers";
    refuse(ErrorClass.ARG, `split by colour ${color} and key ${key}: ${wanted}`);
  }
  return core.isInter ? new SplitInter(core, color, key, process) : new Split(core, color, key);
}

/** The standard's MPI_COMM_TYPE_…; "shared": the ranks that share memory, which are those of a node. */
export type CommType = "shared" | "hw_unguided" | "hw_guided" | "resource_guided";

/** The info key that names what a communicator is split by, and the only resource that is known: a node. */
export const resourceKey = "mpi_hw_resource_type";
export const sharedMemory = "mpi_shared_memory";

interface SplitByType {
  readonly type: CommType | typeof UNDEFINED;
  readonly key: number;
  /** The value of `resourceKey` in the program's hints. */
  readonly resource: string | undefined;
}

/** One communicator for each node; none where the standard lets us say that there is nothing finer. */
export function splitTypeTask(process: Process, comm: NamedCommunicator, how: SplitByType): NewCommunicator {
  const isByNode = isSplitByNode(comm.core, how);
  return splitTask(process, comm, isByNode ? process.nodeMap[process.rank]! : UNDEFINED, how.key);
}

export function isSplitByNode(core: Communicator, { type, resource }: SplitByType): boolean {
  switch (type) {
    case "shared":
      return true;
    case "hw_unguided":
      // Parts must be smaller than the whole.
      return core.memberNodes !== undefined;
    case "hw_guided":
    case "resource_guided":
      return resource === sharedMemory;
    default:
      return false;
  }
}

/** The members of a group, in its order. All of the old communicator take part. */
export function createTask(process: Process, comm: NamedCommunicator, group: Group): NewCommunicator {
  checkMembers(comm, group);
  if (!comm.core.isInter) return new Create(comm.core, group);
  // Each side tells the other its members: a split by membership.
  const rank = group.rankOf(process.rank as WorldRank);
  return rank === UNDEFINED ? splitTask(process, comm, UNDEFINED, 0) : splitTask(process, comm, 0, rank);
}

/** The same where only the members take part; null: this process is none. */
export function createGroupTask(
  process: Process,
  comm: NamedCommunicator,
  group: Group,
  tag: number,
): NewCommunicator | null {
  if (comm.core.isInter) {
    refuse(ErrorClass.COMM, `make a communicator: ${comm.label} is an inter-communicator`);
  }
  checkMembers(comm, group);
  checkTag(tag);
  return group.has(process.rank as WorldRank) ? new CreateGroup(comm.core, group, tag, process) : null;
}

interface InterArguments {
  /** The rank that speaks for this side. */
  readonly leader: number;
  /** The communicator in which the two leaders can talk; only the leader's counts. */
  readonly bridge: Communicator | null;
  /** Rank of the other side's leader in `bridge`. */
  readonly remoteLeader: number;
  readonly tag: number;
}

/** Two groups face each other. */
export function createInterTask({ core, label }: NamedCommunicator, arguments_: InterArguments): NewCommunicator {
  const { leader, remoteLeader, tag } = arguments_;
  if (core.isInter) refuse(ErrorClass.COMM, `make an inter-communicator: ${label} is one itself`);
  checkLeader("leader", leader, core.size);
  checkTag(tag);
  const isLeader = core.rank === leader;
  const bridge = isLeader ? arguments_.bridge : null;
  if (isLeader) checkLeader("remote leader", remoteLeader, bridge?.peers.size ?? 0);
  return new CreateInter(core, leader, bridge, remoteLeader, tag);
}

/** Both sides of an inter-communicator as one; the side that says `high` comes second. */
export function mergeTask(process: Process, comm: NamedCommunicator, high: boolean): NewCommunicator {
  remoteOf(comm, "merge with");
  return new Merge(comm.core, high, process);
}

/** The other side of an inter-communicator. */
export function remoteOf({ core, label }: NamedCommunicator, verb: string): Group {
  return core.remote ?? refuse(ErrorClass.COMM, `${verb} the other side: ${label} is no inter-communicator`);
}

export function checkLeader(what: string, rank: number, size: number): void {
  if (rank >= 0 && rank < size) return;
  refuse(ErrorClass.RANK, `make rank ${rank} the ${what}: the ranks are 0 to ${size - 1}`);
}

/** A program may not end its world, nor itself. */
export function checkMortal({ world, self }: Process, { core, label }: NamedCommunicator, verb: string): void {
  if (core === world || core === self) refuse(ErrorClass.COMM, `${verb} ${label}: it stays`);
}

function checkMembers({ core, label }: NamedCommunicator, group: Group): void {
  const stranger = group.worldRanks().find((rank) => !core.group.has(rank));
  if (stranger === undefined) return;
  refuse(ErrorClass.GROUP, `make a communicator: rank ${stranger} of the world is not in ${label}`);
}
