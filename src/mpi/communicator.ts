/**
 * A communicator as programs see it: messages (point-to-point.ts), collectives (collectives.ts …), what hangs on it
 * (communicator-state.ts), topologies (topologies.ts), going on after failures (survival.ts), and here what makes and ends communicators (MPI 5.0 §7.4, §7.6).
 *
 * Making one is collective: all members of the old one call. Those who are no members of the new one get null.
 */
import { UNDEFINED } from "../core/base/constants.ts";
import { ErrorClass, MpiError } from "../core/base/mpi-error.ts";
import { checkTag } from "../core/binding/checks.ts";
import type { Info } from "../core/comm/info.ts";
import type { Communicator as CoreCommunicator } from "../core/process/communicator.ts";
import {
  Create,
  CreateGroup,
  CreateInter,
  Duplicate,
  Merge,
  Split,
  SplitInter,
} from "../core/process/new-communicators.ts";
import { type InfoLike, infoOf } from "./communicator-state.ts";
import { Group } from "./group.ts";
import type { Request } from "./request.ts";
import { Survival } from "./survival.ts";
import type { Adopted } from "./topologies.ts";

/** "shared": the ranks that share memory, which are those of a node. The others are of the standard's MPI_COMM_TYPE_…. */
export type CommType = "shared" | "hw_unguided" | "hw_guided" | "resource_guided";

export interface InterOptions {
  /** Who speaks for our side: rank in this communicator. */
  readonly leader?: number;
  /** Where the two leaders can talk; only the leader's counts. */
  readonly bridge: Communicator | null;
  /** Rank of the other side's leader in `bridge`. */
  readonly remoteLeader: number;
  readonly tag?: number;
}

export class Communicator extends Survival {
  get isInter(): boolean {
    return this.core.isInter;
  }

  /** Size of the other side of an inter-communicator. */
  get remoteSize(): number {
    return this.#remote("find the size of").core.remote!.size;
  }

  group(): Group {
    return new Group(this.environment, this.core.group);
  }

  remoteGroup(): Group {
    return new Group(this.environment, this.#remote("find").core.remote!);
  }

  /** IDENT, CONGRUENT (same members in the same order), SIMILAR (in another order) or UNEQUAL. */
  compare(other: Communicator): number {
    return this.core.compare(other.core);
  }

  // Making communicators

  /** The same members, a context of its own; attributes are copied as their keyvals say, topology and info as they are. */
  dup(): Communicator {
    return this.make(new Duplicate(this.#open("duplicate")), this.#likeThis())!;
  }

  idup(): Request<Communicator> {
    return this.#idup(this.getInfo());
  }

  dupWithInfo(info: InfoLike): Communicator {
    const adopted = { ...this.#likeThis(), info: this.guard(() => infoOf(info)) };
    return this.make(new Duplicate(this.#open("duplicate")), adopted)!;
  }

  idupWithInfo(info: InfoLike): Request<Communicator> {
    return this.#idup(this.guard(() => infoOf(info)));
  }

  #idup(info: Info): Request<Communicator> {
    const adopted = { ...this.#likeThis(), info };
    const task = new Duplicate(this.#open("duplicate"));
    const record = this.operations.startTask(task);
    const finish = ({ error }: { error: number }) => (error === 0 ? this.adopt(task.result!, adopted) : undefined);
    return this.requestOf({ record, after: { finish } });
  }

  /** One communicator for each colour, ordered by key, then by rank; colour UNDEFINED: none. */
  split(color: number, key = 0): Communicator | null {
    const core = this.#open("split");
    const isColor = Number.isInteger(color) && (color >= 0 || color === UNDEFINED);
    if (!isColor || !Number.isInteger(key)) {
      const message = `Cannot split by colour ${color} and key ${key}: colours are whole numbers from 0 or UNDEFINED, keys whole numbers`;
      this.raise(new MpiError(ErrorClass.ARG, message));
    }
    const task = core.isInter ? new SplitInter(core, color, key, this.host.process) : new Split(core, color, key);
    return this.make(task);
  }

  /** One communicator for each node; null where the standard lets us say that there is nothing finer. */
  splitType(type: CommType | typeof UNDEFINED, { key = 0, info = {} }: { key?: number; info?: InfoLike } = {}) {
    const { process } = this.host;
    const hint = this.guard(() => infoOf(info)).get("mpi_hw_resource_type");
    const byNode =
      type === "shared" ||
      (type === "hw_guided" && hint === "mpi_shared_memory") ||
      (type === "hw_unguided" && this.core.memberNodes !== undefined);
    return this.split(byNode ? process.nodeMap[process.rank]! : UNDEFINED, key);
  }

  /** The members of `group`, in its order. All of this communicator call; groups of different callers may be disjoint. */
  create(group: Group): Communicator | null {
    const core = this.#open("make a communicator");
    this.#checkMembers(group);
    if (!core.isInter) return this.make(new Create(core, group.core));
    // Both sides tell each other who is in: a split by membership.
    const { rank } = group;
    const isIn = rank !== UNDEFINED;
    return this.make(new SplitInter(core, isIn ? 0 : UNDEFINED, isIn ? rank : 0, this.host.process));
  }

  /** As `create`, but only the members call. */
  createGroup(group: Group, { tag = 0 }: { tag?: number } = {}): Communicator | null {
    const core = this.#open("make a communicator");
    this.#checkMembers(group);
    this.#checkTag(tag);
    if (group.rank === UNDEFINED) return null;
    return this.make(new CreateGroup(core, group.core, tag, this.host.process));
  }

  /** Two groups face each other: MPI_Intercomm_create. */
  createInter({ leader = 0, bridge, remoteLeader, tag = 0 }: InterOptions): Communicator {
    const core = this.#open("make an inter-communicator");
    this.#checkTag(tag);
    if (core.isInter) this.#refuse(ErrorClass.COMM, "make an inter-communicator of an inter-communicator");
    if (!(leader >= 0 && leader < core.size)) {
      this.#refuse(ErrorClass.RANK, `make rank ${leader} the leader: the ranks are 0 to ${core.size - 1}`);
    }
    const isLeader = core.rank === leader;
    const remoteRanks = bridge?.core.peers.size ?? 0;
    if (isLeader && !(remoteLeader >= 0 && remoteLeader < remoteRanks)) {
      this.#refuse(ErrorClass.RANK, `face rank ${remoteLeader}: the bridge has ranks 0 to ${remoteRanks - 1}`);
    }
    return this.make(new CreateInter(core, leader, isLeader ? bridge!.core : null, remoteLeader, tag))!;
  }

  /** Both sides of an inter-communicator as one; the side that says `high` comes second: MPI_Intercomm_merge. */
  merge({ high = false }: { high?: boolean } = {}): Communicator {
    this.#remote("merge");
    return this.make(new Merge(this.#open("merge"), high, this.host.process))!;
  }

  // Ending communicators

  /** Nothing new can be started here; what is under way goes on: MPI_Comm_free. */
  free(): void {
    const core = this.#open("free");
    const { process } = this.host;
    if (core === process.world || core === process.self) this.#refuse(ErrorClass.COMM, `free ${this.label}: it stays`);
    this.guard(() => this.attributes.clear());
    process.freeCommunicator(core);
  }

  /** As `free`, after what is under way here has ended: MPI_Comm_disconnect. */
  disconnect(): void {
    const core = this.#open("disconnect");
    const { process } = this.host;
    if (core === process.world || core === process.self)
      this.#refuse(ErrorClass.COMM, `disconnect ${this.label}: it stays`);
    this.operations.waitUntil(() => !process.isUsing(core));
    this.free();
  }

  /** The rank is ending: MPI_Finalize deletes the attributes of `self` first. */
  finalize(): void {
    this.guard(() => this.attributes.clear());
  }

  // Inside

  /** What a duplicate has in common with this communicator. */
  #likeThis(): Adopted {
    return { topology: this.core.topology, attributesFrom: this, info: this.getInfo() };
  }

  protected override adopt(core: CoreCommunicator, adopted: Adopted = {}): Communicator {
    if (adopted.topology !== undefined) core.topology = adopted.topology;
    const attributes = this.#copiedAttributes(core, adopted.attributesFrom);
    return new Communicator(this.environment, core, {
      errorHandler: this.coreErrorHandler,
      ...(attributes === undefined ? {} : { attributes }),
      ...(adopted.info === undefined ? {} : { info: adopted.info }),
    });
  }

  /** A copy callback that fails takes the new communicator with it. */
  #copiedAttributes(core: CoreCommunicator, from: Communicator | undefined) {
    try {
      return from?.attributes.dup();
    } catch (error) {
      this.host.process.freeCommunicator(core);
      if (error instanceof MpiError) this.raise(error);
      throw error;
    }
  }

  #open(verb: string): CoreCommunicator {
    if (this.core.freed) this.#refuse(ErrorClass.COMM, `${verb}: communicator ${this.label} has been freed`);
    return this.core;
  }

  #remote(verb: string): this {
    if (!this.isInter) this.#refuse(ErrorClass.COMM, `${verb} the other side: ${this.label} is no inter-communicator`);
    return this;
  }

  #checkMembers(group: Group): void {
    const stranger = group.core.worldRanks().find((rank) => !this.core.group.has(rank));
    if (stranger === undefined) return;
    this.#refuse(ErrorClass.GROUP, `make a communicator: rank ${stranger} of the world is not in ${this.label}`);
  }

  #checkTag(tag: number): void {
    this.guard(() => checkTag(tag));
  }

  #refuse(errorClass: number, what: string): never {
    this.raise(new MpiError(errorClass, `Cannot ${what}`));
  }
}
