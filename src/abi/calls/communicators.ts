/** Communicators: MPI 5.0 §7.4 to §7.6, §7.8, and what chapter 11 says about ending them. */
import type { CommRank, WorldRank } from "../../core/base/brand.ts";
import { COMM_TYPE_SHARED, TAG_UB, UNDEFINED } from "../../core/base/constants.ts";
import { fnv1a } from "../../core/base/fnv-1a.ts";
import { ErrorClass, MpiError } from "../../core/base/mpi-error.ts";
import { saves } from "../../core/base/saved-classes.ts";
import { checkTag } from "../../core/binding/checks.ts";
import type { Group } from "../../core/comm/group.ts";
import { Create } from "../../core/process/communicators/create.ts";
import { CreateGroup } from "../../core/process/communicators/create-group.ts";
import { CreateInter } from "../../core/process/communicators/create-inter.ts";
import { CreateInterFromGroups, type OtherGroup } from "../../core/process/communicators/create-inter-from-groups.ts";
import { Duplicate } from "../../core/process/communicators/duplicate.ts";
import { Merge } from "../../core/process/communicators/merge.ts";
import { Split } from "../../core/process/communicators/split.ts";
import { SplitInter } from "../../core/process/communicators/split-inter.ts";
import { deleteAttributes, notDeleted } from "../attributes.ts";
import type { Continuation } from "../callbacks.ts";
import { makeCommunicator, startDuplicate } from "../new-communicator.ts";
import type { CCommunicator } from "../objects.ts";
import { COMM_NULL, type Program } from "../program.ts";
import { type Condition, waitForThen } from "../waiting.ts";
import { putGroup } from "./groups.ts";
import { hintsArgument, infoArgument } from "./info.ts";

const COMM_TYPE_HW_UNGUIDED = 222;
const COMM_TYPE_HW_GUIDED = 223;
const COMM_TYPE_RESOURCE_GUIDED = 224;
/** The ABI's MPI_MAX_OBJECT_NAME. */
const nameBytesMax = 128;
/** The info key that names what MPI_Comm_split_type splits by, and the only thing that we know. */
const resourceKey = "mpi_hw_resource_type";
const sharedMemory = "mpi_shared_memory";

/** All attributes are deleted: the communicator goes. */
class Free implements Continuation {
  private readonly comm: CCommunicator;
  private readonly handleAt: number;

  constructor(comm: CCommunicator, handleAt: number) {
    this.comm = comm;
    this.handleAt = handleAt;
  }

  resume(program: Program, code: number): number {
    const comm = this.comm;
    program.owner = comm;
    if (code !== 0) throw notDeleted(code);
    program.communicators.remove(comm.handle);
    program.process.freeCommunicator(comm.core);
    program.ints[this.handleAt >> 2] = COMM_NULL;
    return 0;
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

  isReady({ process }: Program): boolean {
    return !process.isUsing(this.comm.core);
  }

  resume(program: Program): number {
    program.process.disconnect(this.comm.core);
    return deleteAttributes(program, this.comm, new Free(this.comm, this.handleAt));
  }
}

function refuse(errorClass: number, what: string): never {
  throw new MpiError(errorClass, `Cannot ${what}`);
}

/** A tag for what only has a name. */
function tagOf(text: string): number {
  return fnv1a(new TextEncoder().encode(text)) & TAG_UB;
}

export function communicatorCalls(program: Program) {
  const { communicators, groups, ints, process } = program;

  function put(value: number, out: number): number {
    ints[out >> 2] = value;
    return 0;
  }

  function inter(handle: number, verb: string): CCommunicator & { readonly core: { readonly remote: Group } } {
    const comm = program.comm(handle);
    if (!comm.core.isInter) refuse(ErrorClass.COMM, `${verb} the other side: ${comm.label} is no inter-communicator`);
    return comm as CCommunicator & { readonly core: { readonly remote: Group } };
  }

  function checkMembers(comm: CCommunicator, group: Group): void {
    const { core } = comm;
    const stranger = group.worldRanks().find((rank) => !core.group.has(rank));
    if (stranger === undefined) return;
    refuse(ErrorClass.GROUP, `make a communicator: rank ${stranger} of the world is not in ${comm.label}`);
  }

  function checkLeader(what: string, rank: number, size: number): void {
    if (rank >= 0 && rank < size) return;
    refuse(ErrorClass.RANK, `make rank ${rank} the ${what}: the ranks are 0 to ${size - 1}`);
  }

  /** What the leader says of the other group. The others wait for it, so it throws nothing. */
  function otherGroup(local: Group, handle: number, leader: number): OtherGroup {
    const refused = (error: number): OtherGroup => ({ kind: "refused", error });
    const remote = groups.find(handle);
    if (remote === undefined) return refused(ErrorClass.GROUP);
    if (remote.size === 0) return { kind: "empty" };
    if (remote.intersection(local).size > 0) return refused(ErrorClass.GROUP);
    if (!(leader >= 0 && leader < remote.size)) return refused(ErrorClass.RANK);
    const rank = process.world.group.rankOf(remote.worldRank(leader as CommRank));
    return rank === UNDEFINED ? refused(ErrorClass.RANK) : { kind: "leader", rank };
  }

  /** One that the program may end. */
  function mortal(handleAt: number, verb: string): CCommunicator {
    const comm = program.comm(ints[handleAt >> 2]!);
    if (comm === program.world || comm === program.self) refuse(ErrorClass.COMM, `${verb} ${comm.label}: it stays`);
    return comm;
  }

  // Hints are not passed on from one communicator to another (§7.4.4); topologies are.
  function duplicate(handle: number, info: number | null, out: number): number {
    const comm = program.comm(handle);
    const heritage = { topology: comm.core.topology, isDuplicate: true };
    const hints = info === null ? {} : { info: hintsArgument(program, info) };
    return makeCommunicator(program, comm, new Duplicate(comm.core), out, { ...heritage, ...hints });
  }

  function duplicateLater(handle: number, info: number | null, out: number, requestOut: number): number {
    const comm = program.comm(handle);
    const { topology } = comm.core;
    const hints = info === null ? {} : { info: hintsArgument(program, info) };
    const outs = { comm: out, request: requestOut };
    return startDuplicate(program, comm, new Duplicate(comm.core), outs, { topology, ...hints });
  }

  function split(comm: CCommunicator, color: number, key: number, out: number): number {
    const { core } = comm;
    const task = core.isInter ? new SplitInter(core, color, key, process) : new Split(core, color, key);
    return makeCommunicator(program, comm, task, out);
  }

  /** What the standard calls resources: we know of nothing but nodes. */
  function isByNode({ core }: CCommunicator, type: number, resource: string | undefined): boolean {
    switch (type) {
      case COMM_TYPE_SHARED:
        return true;
      case COMM_TYPE_HW_UNGUIDED:
        // Parts must be smaller than the whole.
        return core.memberNodes !== undefined;
      case COMM_TYPE_HW_GUIDED:
      case COMM_TYPE_RESOURCE_GUIDED:
        return resource === sharedMemory;
      case UNDEFINED:
        return false;
      default:
        return refuse(ErrorClass.ARG, `split by type ${type}: there is no such type`);
    }
  }

  return {
    MPI_Comm_rank: (handle: number, out: number): number => put(program.comm(handle).core.rank, out),
    MPI_Comm_size: (handle: number, out: number): number => put(program.comm(handle).core.size, out),
    MPI_Comm_test_inter: (handle: number, out: number): number => put(program.comm(handle).core.isInter ? 1 : 0, out),
    MPI_Comm_remote_size: (handle: number, out: number): number => put(inter(handle, "measure").core.remote.size, out),
    MPI_Comm_group: (handle: number, out: number): number => putGroup(program, program.comm(handle).core.group, out),
    MPI_Comm_remote_group: (handle: number, out: number): number =>
      putGroup(program, inter(handle, "give").core.remote, out),
    MPI_Comm_compare(a: number, b: number, out: number): number {
      return put(program.comm(a).core.compare(communicators.get(b).core), out);
    },

    // What hangs on them

    /** Spaces at the end do not count, and what is too long is cut (§7.8). */
    MPI_Comm_set_name(handle: number, name: number): number {
      program.comm(handle).name = program.text(name).replace(/ +$/, "");
      return 0;
    },
    MPI_Comm_get_name(handle: number, to: number, lengthOut: number): number {
      const name = handle === COMM_NULL ? "MPI_COMM_NULL" : program.comm(handle).name;
      return put(program.putText(to, name, nameBytesMax), lengthOut);
    },
    /** Hints that `info` does not have stay. */
    MPI_Comm_set_info(handle: number, info: number): number {
      const comm = program.comm(handle);
      for (const [key, value] of hintsArgument(program, info)) comm.info.set(key, value);
      return 0;
    },
    MPI_Comm_get_info: (handle: number, out: number): number =>
      put(program.infos.add(program.comm(handle).info.dup()), out),

    // Making them

    MPI_Comm_dup: (handle: number, out: number): number => duplicate(handle, null, out),
    MPI_Comm_dup_with_info: (handle: number, info: number, out: number): number => duplicate(handle, info, out),
    MPI_Comm_idup: (handle: number, out: number, request: number): number => duplicateLater(handle, null, out, request),
    MPI_Comm_idup_with_info: (handle: number, info: number, out: number, request: number): number =>
      duplicateLater(handle, info, out, request),
    MPI_Comm_split(handle: number, color: number, key: number, out: number): number {
      const comm = program.comm(handle);
      if (color < 0 && color !== UNDEFINED) {
        refuse(ErrorClass.ARG, `split by colour ${color}: colours are from 0, or MPI_UNDEFINED`);
      }
      return split(comm, color, key, out);
    },
    MPI_Comm_split_type(handle: number, type: number, key: number, info: number, out: number): number {
      const comm = program.comm(handle);
      const byNode = isByNode(comm, type, infoArgument(program, info).get(resourceKey));
      // The program is told what it was that we split by.
      if (byNode && type === COMM_TYPE_HW_UNGUIDED) program.infos.find(info)?.set(resourceKey, sharedMemory);
      return split(comm, byNode ? process.nodeMap[process.rank]! : UNDEFINED, key, out);
    },
    MPI_Comm_create(handle: number, groupHandle: number, out: number): number {
      const comm = program.comm(handle);
      const group = groups.get(groupHandle);
      checkMembers(comm, group);
      if (!comm.core.isInter) return makeCommunicator(program, comm, new Create(comm.core, group), out);
      // Both sides tell each other who is in: a split by membership.
      const rank = group.rankOf(process.rank as WorldRank);
      return rank === UNDEFINED ? split(comm, UNDEFINED, 0, out) : split(comm, 0, rank, out);
    },
    MPI_Comm_create_group(handle: number, groupHandle: number, tag: number, out: number): number {
      const comm = program.comm(handle);
      const group = groups.get(groupHandle);
      if (comm.core.isInter) refuse(ErrorClass.COMM, `make a communicator: ${comm.label} is an inter-communicator`);
      checkMembers(comm, group);
      checkTag(tag);
      if (!group.has(process.rank as WorldRank)) return put(COMM_NULL, out);
      return makeCommunicator(program, comm, new CreateGroup(comm.core, group, tag, process), out);
    },
    MPI_Comm_create_from_group(groupHandle: number, text: number, info: number, handler: number, out: number): number {
      const group = groups.get(groupHandle);
      const heritage = { info: hintsArgument(program, info), errorHandler: program.errorHandlers.get(handler) };
      if (!group.has(process.rank as WorldRank)) return put(COMM_NULL, out);
      const task = new CreateGroup(process.everybody, group, tagOf(program.text(text)), process);
      return makeCommunicator(program, program.self, task, out, heritage);
    },
    MPI_Intercomm_create(
      handle: number,
      leader: number,
      bridgeHandle: number,
      remoteLeader: number,
      tag: number,
      out: number,
    ): number {
      const comm = program.comm(handle);
      const { core } = comm;
      if (core.isInter) refuse(ErrorClass.COMM, `make an inter-communicator: ${comm.label} is one itself`);
      checkLeader("leader", leader, core.size);
      checkTag(tag);
      // Only the leader's bridge counts.
      const bridge = core.rank === leader ? communicators.get(bridgeHandle).core : null;
      if (bridge !== null) checkLeader("remote leader", remoteLeader, bridge.peers.size);
      return makeCommunicator(program, comm, new CreateInter(core, leader, bridge, remoteLeader, tag), out);
    },
    MPI_Intercomm_create_from_groups(
      localHandle: number,
      leader: number,
      remoteHandle: number,
      remoteLeader: number,
      text: number,
      info: number,
      handler: number,
      out: number,
    ): number {
      const local = groups.get(localHandle);
      const heritage = { info: hintsArgument(program, info), errorHandler: program.errorHandlers.get(handler) };
      const rank = local.rankOf(process.rank as WorldRank);
      if (rank === UNDEFINED) return put(COMM_NULL, out);
      checkLeader("leader", leader, local.size);
      // Only the leader's remote group counts.
      const other = rank === leader ? otherGroup(local, remoteHandle, remoteLeader) : null;
      const task = new CreateInterFromGroups(local, leader, other, tagOf(program.text(text)), process);
      return makeCommunicator(program, program.self, task, out, heritage);
    },
    MPI_Intercomm_merge(handle: number, high: number, out: number): number {
      const comm = inter(handle, "merge with");
      return makeCommunicator(program, comm, new Merge(comm.core, high !== 0, process), out);
    },

    // Ending them

    /** Nothing new can be started here; what is under way goes on. */
    MPI_Comm_free(handleAt: number): number {
      const comm = mortal(handleAt, "free");
      return deleteAttributes(program, comm, new Free(comm, handleAt));
    },
    /** As free, after what is under way here has ended. */
    MPI_Comm_disconnect(handleAt: number): number {
      const comm = mortal(handleAt, "disconnect");
      const next = new Idle(comm, handleAt);
      return waitForThen(program, next, next);
    },
  };
}

saves({ Free, Idle });
