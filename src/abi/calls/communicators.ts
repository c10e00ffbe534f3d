/** Communicators: MPI 5.0 §7.4 to §7.6, §7.8, and what chapter 11 says about ending them. */
import type { CommRank, WorldRank } from "../../core/base/brand.ts";
import { bytesOfText } from "../../core/base/byte-text.ts";
import { COMM_TYPE_SHARED, TAG_UB, UNDEFINED } from "../../core/base/constants.ts";
import { fnv1a } from "../../core/base/fnv-1a.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import {
  type CommType,
  checkLeader,
  checkMortal,
  createGroupTask,
  createInterTask,
  createTask,
  isSplitByNode,
  mergeTask,
  remoteOf,
  resourceKey,
  sharedMemory,
  splitTask,
  splitTypeTask,
} from "../../core/binding/new-communicators.ts";
import type { Group } from "../../core/comm/group.ts";
import { CreateGroup } from "../../core/process/communicators/create-group.ts";
import { CreateInterFromGroups, type OtherGroup } from "../../core/process/communicators/create-inter-from-groups.ts";
import { Duplicate } from "../../core/process/communicators/duplicate.ts";
import { type CallTable, callsOf } from "../call-table.ts";
import { deleteAttributes, notDeleted } from "../handles/attributes.ts";
import { makeCommunicator, startDuplicate } from "../handles/new-communicator.ts";
import type { CCommunicator } from "../handles/objects.ts";
import { COMM_NULL, type Program } from "../program.ts";
import type { Continuation } from "../waiting/callbacks.ts";
import { type Condition, waitForThen } from "../waiting/waiting.ts";
import { putGroup } from "./groups.ts";
import { hintsArgument, infoArgument } from "./info.ts";

/** The ABI's MPI_COMM_TYPE_…. */
const commTypes = new Map<number, CommType | typeof UNDEFINED>([
  [COMM_TYPE_SHARED, "shared"],
  [222, "hw_unguided"],
  [223, "hw_guided"],
  [224, "resource_guided"],
  [UNDEFINED, UNDEFINED],
]);
/** The ABI's MPI_MAX_OBJECT_NAME. */
const nameBytesMax = 128;

/** All attributes are deleted: the communicator goes. */
class Free implements Continuation {
  private readonly comm: CCommunicator;
  private readonly handleAt: number;

  constructor(comm: CCommunicator, handleAt: number) {
    this.comm = comm;
    this.handleAt = handleAt;
  }

  resume(program: Program, code: number): number {
    const { comm } = this;
    program.owner = comm;
    if (code !== 0) throw notDeleted(code);
    program.removeCommunicator(comm.handle);
    program.operations.freeCommunicator(comm.core);
    return program.putInt(this.handleAt, COMM_NULL);
  }
}

/** When nothing is under way on the communicator any more. */
class Idle implements Condition, Continuation {
  private readonly comm: CCommunicator;
  private readonly handleAt: number;

  constructor(comm: CCommunicator, handleAt: number) {
    this.comm = comm;
    this.handleAt = handleAt;
  }

  isReady({ operations }: Program): boolean {
    return !operations.isUsing(this.comm.core);
  }

  resume(program: Program): number {
    program.operations.disconnect(this.comm.core);
    return deleteAttributes(program, this.comm, new Free(this.comm, this.handleAt));
  }
}

/** A tag for communicators that only have a name. */
const tagOf = (text: string): number => fnv1a(bytesOfText(text)) & TAG_UB;

/** One that the program may end. */
function mortal(program: Program, handleAt: number, verb: string): CCommunicator {
  const comm = program.comm(program.ints[handleAt >> 2]!);
  checkMortal(program.process, comm, verb);
  return comm;
}

/** The hints of a duplicate: hints are not passed on from one communicator to another (§7.4.4); topologies are. */
const hintsOf = (program: Program, info: number | null) =>
  info === null ? {} : { info: hintsArgument(program, info) };

function duplicate(program: Program, handle: number, info: number | null, out: number): number {
  const comm = program.comm(handle);
  const heritage = { topology: comm.core.topology, isDuplicate: true, ...hintsOf(program, info) };
  return makeCommunicator(program, comm, new Duplicate(comm.core), out, heritage);
}

function duplicateLater(program: Program, handle: number, info: number | null, out: number, request: number): number {
  const comm = program.comm(handle);
  const heritage = { topology: comm.core.topology, ...hintsOf(program, info) };
  return startDuplicate(program, comm, new Duplicate(comm.core), { comm: out, request }, heritage);
}

/** Hints and error handler of a communicator that has no parent. */
const heritageOf = (program: Program, info: number, handler: number) => ({
  info: hintsArgument(program, info),
  errorHandler: program.errorHandlers.get(handler),
});

/** The other group, as the leader sees it. The other members wait for the leader's verdict, so nothing is thrown here. */
function otherGroup({ groups, process }: Program, local: Group, handle: number, leader: number): OtherGroup {
  const refused = (error: number): OtherGroup => ({ kind: "refused", error });
  const remote = groups.find(handle);
  if (remote === undefined) return refused(ErrorClass.GROUP);
  if (remote.size === 0) return { kind: "empty" };
  if (remote.intersection(local).size > 0) return refused(ErrorClass.GROUP);
  if (!(leader >= 0 && leader < remote.size)) return refused(ErrorClass.RANK);
  const rank = process.world.group.rankOf(remote.worldRank(leader as CommRank));
  return rank === UNDEFINED ? refused(ErrorClass.RANK) : { kind: "leader", rank };
}

const lookingAt: CallTable = {
  MPI_Comm_rank: (program, handle: number, out: number) => program.putInt(out, program.comm(handle).core.rank),
  MPI_Comm_size: (program, handle: number, out: number) => program.putInt(out, program.comm(handle).core.size),
  MPI_Comm_test_inter: (program, handle: number, out: number) =>
    program.putInt(out, program.comm(handle).core.isInter ? 1 : 0),
  MPI_Comm_remote_size: (program, handle: number, out: number) =>
    program.putInt(out, remoteOf(program.comm(handle), "measure").size),
  MPI_Comm_group: (program, handle: number, out: number) => putGroup(program, program.comm(handle).core.group, out),
  MPI_Comm_remote_group: (program, handle: number, out: number) =>
    putGroup(program, remoteOf(program.comm(handle), "give"), out),
  MPI_Comm_compare: (program, a: number, b: number, out: number) =>
    program.putInt(out, program.comm(a).core.compare(program.communicators.get(b).core)),
};

const namesAndHints: CallTable = {
  /** Spaces at the end do not count, and what is too long is cut (§7.8). */
  MPI_Comm_set_name(program, handle: number, name: number) {
    program.comm(handle).name = program.text(name).replace(/ +$/, "");
    return 0;
  },
  MPI_Comm_get_name(program, handle: number, to: number, lengthOut: number) {
    const name = handle === COMM_NULL ? "MPI_COMM_NULL" : program.comm(handle).name;
    return program.putInt(lengthOut, program.putText(to, name, nameBytesMax));
  },
  /** Hints that `info` does not have stay. */
  MPI_Comm_set_info(program, handle: number, info: number) {
    const comm = program.comm(handle);
    for (const [key, value] of hintsArgument(program, info)) comm.info.set(key, value);
    return 0;
  },
  MPI_Comm_get_info: (program, handle: number, out: number) =>
    program.putInt(out, program.infos.add(program.comm(handle).info.dup())),
};

const making: CallTable = {
  MPI_Comm_dup: (program, handle: number, out: number) => duplicate(program, handle, null, out),
  MPI_Comm_dup_with_info: (program, handle: number, info: number, out: number) => duplicate(program, handle, info, out),
  MPI_Comm_idup: (program, handle: number, out: number, request: number) =>
    duplicateLater(program, handle, null, out, request),
  MPI_Comm_idup_with_info: (program, handle: number, info: number, out: number, request: number) =>
    duplicateLater(program, handle, info, out, request),
  MPI_Comm_split(program, handle: number, color: number, key: number, out: number) {
    const comm = program.comm(handle);
    return makeCommunicator(program, comm, splitTask(program.process, comm, color, key), out);
  },
  MPI_Comm_split_type(program, handle: number, abiType: number, key: number, info: number, out: number) {
    const comm = program.comm(handle);
    const type = commTypes.get(abiType);
    if (type === undefined) {
      throw new MpiError(ErrorClass.ARG, `Cannot split by type ${abiType}: there is no such type`);
    }
    const how = { type, key, resource: infoArgument(program, info).get(resourceKey) };
    // The program is told which resource the communicator is split by.
    if (type === "hw_unguided" && isSplitByNode(comm.core, how)) {
      program.infos.find(info)?.set(resourceKey, sharedMemory);
    }
    return makeCommunicator(program, comm, splitTypeTask(program.process, comm, how), out);
  },
  MPI_Comm_create(program, handle: number, group: number, out: number) {
    const comm = program.comm(handle);
    return makeCommunicator(program, comm, createTask(program.process, comm, program.groups.get(group)), out);
  },
  MPI_Comm_create_group(program, handle: number, group: number, tag: number, out: number) {
    const comm = program.comm(handle);
    const task = createGroupTask(program.process, comm, program.groups.get(group), tag);
    return task === null ? program.putInt(out, COMM_NULL) : makeCommunicator(program, comm, task, out);
  },
  MPI_Comm_create_from_group(program, handle: number, text: number, info: number, handler: number, out: number) {
    const { process } = program;
    const group = program.groups.get(handle);
    const heritage = heritageOf(program, info, handler);
    if (!group.has(process.rank as WorldRank)) return program.putInt(out, COMM_NULL);
    const task = new CreateGroup(process.everybody, group, tagOf(program.text(text)), process);
    return makeCommunicator(program, program.self, task, out, heritage);
  },
  MPI_Intercomm_create(
    program,
    handle: number,
    leader: number,
    bridgeHandle: number,
    remoteLeader: number,
    tag: number,
    out: number,
  ) {
    const comm = program.comm(handle);
    // Only the leader's bridge counts.
    const bridge = comm.core.rank === leader ? program.communicators.get(bridgeHandle).core : null;
    return makeCommunicator(program, comm, createInterTask(comm, { leader, bridge, remoteLeader, tag }), out);
  },
  MPI_Intercomm_create_from_groups(
    program,
    localHandle: number,
    leader: number,
    remoteHandle: number,
    remoteLeader: number,
    text: number,
    info: number,
    handler: number,
    out: number,
  ) {
    const { groups, process } = program;
    const local = groups.get(localHandle);
    const heritage = heritageOf(program, info, handler);
    const rank = local.rankOf(process.rank as WorldRank);
    if (rank === UNDEFINED) return program.putInt(out, COMM_NULL);
    checkLeader("leader", leader, local.size);
    // Only the leader's remote group counts.
    const other = rank === leader ? otherGroup(program, local, remoteHandle, remoteLeader) : null;
    const task = new CreateInterFromGroups(local, leader, other, tagOf(program.text(text)), process);
    return makeCommunicator(program, program.self, task, out, heritage);
  },
  MPI_Intercomm_merge(program, handle: number, high: number, out: number) {
    const comm = program.comm(handle);
    return makeCommunicator(program, comm, mergeTask(program.process, comm, high !== 0), out);
  },
};

const ending: CallTable = {
  /** Nothing new can be started here; operations under way go on. */
  MPI_Comm_free(program, handleAt: number) {
    const comm = mortal(program, handleAt, "free");
    return deleteAttributes(program, comm, new Free(comm, handleAt));
  },
  /** As free, after the operations under way here have ended. */
  MPI_Comm_disconnect(program, handleAt: number) {
    const next = new Idle(mortal(program, handleAt, "disconnect"), handleAt);
    return waitForThen(program, next, next);
  },
};

const table: CallTable = { ...lookingAt, ...namesAndHints, ...making, ...ending };

export const communicatorCalls = (program: Program) => callsOf(program, table);

saves({ Free, Idle });
