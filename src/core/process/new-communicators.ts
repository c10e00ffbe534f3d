/**
 * The tasks that make communicators (MPI 5.0 §7.4, §7.6). Each first learns who the members are, then agrees with them on a
 * context. The result is null for processes that are no members.
 */
import { assert } from "../base/assert.ts";
import type { CommRank, Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { UNDEFINED } from "../base/constants.ts";
import { Group } from "../comm/group.ts";
import { R_ERROR, SendMode } from "../request/records.ts";
import { Communicator } from "./communicator.ts";
import { agreementTag, ContextAgreement } from "./context-agreement.ts";
import type { Process } from "./process.ts";
import { Task } from "./task.ts";

/** Agrees on the context of a group that is already known, and makes the communicator. */
abstract class NewCommunicator extends Task {
  result: Communicator | null = null;
  #agreement: ContextAgreement | null = null;

  /** Everybody who must agree; an order that all of them know. */
  protected agree(process: Process, members: Group, parent: number, count: number): boolean {
    // The two sides of an inter-communicator have no board.
    const wantsBoard = this.sides(members).remote === null;
    this.#agreement ??= new ContextAgreement(members, parent, count, wantsBoard);
    const agreed = this.#agreement.advance(process);
    if (agreed === null) return false;
    this.error = agreed.error;
    if (agreed.error !== 0) return true;
    const { group, remote } = this.sides(members);
    this.result = process.addCommunicator(agreed.context, group, remote, agreed.board);
    return true;
  }

  /** The groups of the new communicator, once its members have agreed. */
  protected sides(members: Group): { group: Group; remote: Group | null } {
    return { group: members, remote: null };
  }
}

/** MPI_Comm_dup, MPI_Comm_idup; of an inter-communicator too. */
export class Duplicate extends NewCommunicator {
  readonly #parent: Communicator;
  readonly #count: number;

  constructor(parent: Communicator) {
    super();
    this.#parent = parent;
    this.#count = parent.children++;
  }

  override advance(process: Process): boolean {
    return this.agree(process, unionOf(this.#parent), this.#parent.context, this.#count);
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.#parent.group, remote: this.#parent.remote };
  }
}

/** MPI_Comm_create (collective over the parent, of which the members are a part). */
export class Create extends NewCommunicator {
  readonly #parent: Communicator;
  readonly #members: Group;
  readonly #count: number;

  constructor(parent: Communicator, members: Group) {
    super();
    this.#parent = parent;
    this.#members = members;
    this.#count = parent.children++;
  }

  override advance(process: Process): boolean {
    if (!this.#members.has(process.rank as WorldRank)) return true;
    return this.agree(process, this.#members, this.#parent.context, this.#count);
  }
}

/** Small numbers that every member of a communicator tells every other: an allgather of words. */
class Exchange {
  readonly #comm: Communicator;
  readonly #words: readonly number[];
  readonly #tag: number | null;
  #request = -1 as RecordId;
  #buffer = 0 as Pointer;
  error = 0;

  /** With a tag the communicator is only a draft, see context-agreement.ts. */
  constructor(comm: Communicator, words: readonly number[], tag: number | null = null) {
    this.#comm = comm;
    this.#words = words;
    this.#tag = tag;
  }

  /** The words of all members one after another; null while they are under way. */
  advance(process: Process): Int32Array | null {
    const { engine, memory, collectives } = process;
    const bytes = this.#words.length * 4;
    if (this.#request < 0) {
      this.#buffer = memory.allocate(bytes * this.#comm.size);
      new Int32Array(memory.bytes.buffer, this.#buffer + this.#comm.rank * bytes, this.#words.length).set(this.#words);
      this.#request =
        this.#tag === null
          ? collectives.startEqual(this.#comm, "allgather", 0 as Pointer, this.#buffer, { bytes, inPlace: true })
          : collectives.startAgreement(this.#comm, this.#buffer, bytes, this.#tag);
    }
    if (!engine.isComplete(this.#request)) return null;
    this.error = engine.records.get(this.#request, R_ERROR);
    engine.giveBack(this.#request);
    if (this.#tag !== null) collectives.forget(this.#comm);
    const all = new Int32Array(memory.bytes.buffer, this.#buffer, this.#words.length * this.#comm.size).slice();
    memory.free(this.#buffer);
    return all;
  }
}

/** MPI_Comm_split: members with the same colour, in the order of their keys (ties: of their old ranks). */
export class Split extends NewCommunicator {
  readonly #parent: Communicator;
  readonly #color: number;
  readonly #count: number;
  readonly #exchange: Exchange;
  #members: Group | null = null;

  constructor(parent: Communicator, color: number, key: number) {
    super();
    assert(!parent.isInter, "inter-communicators are split by SplitInter");
    this.#parent = parent;
    this.#color = color;
    this.#count = parent.children++;
    this.#exchange = new Exchange(parent, [color, key]);
  }

  override advance(process: Process): boolean {
    if (this.#members === null) {
      const all = this.#exchange.advance(process);
      if (all === null) return false;
      this.error = this.#exchange.error;
      if (this.error !== 0 || this.#color === UNDEFINED) return true;
      this.#members = membersOf(this.#parent.group, all, this.#color);
    }
    return this.agree(process, this.#members, this.#parent.context, this.#count);
  }
}

/** MPI_Comm_split of an inter-communicator: both sides are split by colour, and equal colours face each other. */
export class SplitInter extends NewCommunicator {
  readonly #parent: Communicator;
  readonly #color: number;
  readonly #count: number;
  readonly #exchange: Exchange;
  #own: Group | null = null;
  #other: Group = Group.empty;

  constructor(parent: Communicator, color: number, key: number, process: Process) {
    super();
    this.#parent = parent;
    this.#color = color;
    this.#count = parent.children++;
    const draft = draftOf(process, parent.context, unionOf(parent));
    this.#exchange = new Exchange(draft, [color, key], agreementTag - 1);
  }

  override advance(process: Process): boolean {
    if (this.#own === null) {
      const all = this.#exchange.advance(process);
      if (all === null) return false;
      this.error = this.#exchange.error;
      if (this.error !== 0 || this.#color === UNDEFINED) return true;
      const union = unionOf(this.#parent);
      const members = membersOf(union, all, this.#color);
      this.#own = members.intersection(this.#parent.group);
      this.#other = members.intersection(this.#parent.remote!);
    }
    // Nobody over there has our colour: there is no inter-communicator (MPI 5.0 §7.4.2).
    if (this.#other.size === 0) return true;
    const members = inCommonOrder(this.#own, this.#other);
    return this.agree(process, members, this.#parent.context, this.#count);
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.#own!, remote: this.#other };
  }
}

/** MPI_Comm_create_group: only the members take part, so they have a counter of their own, and agree on it first. */
export class CreateGroup extends NewCommunicator {
  readonly #parent: Communicator;
  readonly #members: Group;
  readonly #tag: number;
  readonly #exchange: Exchange;
  #count = -1;

  constructor(parent: Communicator, members: Group, tag: number, process: Process) {
    super();
    this.#parent = parent;
    this.#members = members;
    this.#tag = tag;
    const draft = draftOf(process, parent.context, members);
    this.#exchange = new Exchange(draft, [parent.groupChildren], groupTag(tag));
  }

  override advance(process: Process): boolean {
    if (this.#count < 0) {
      const counts = this.#exchange.advance(process);
      if (counts === null) return false;
      this.error = this.#exchange.error;
      if (this.error !== 0) return true;
      this.#count = Math.max(...counts);
      this.#parent.groupChildren = Math.max(this.#parent.groupChildren, this.#count + 1);
    }
    // The group's first member and the tag keep apart what several groups of one parent make at the same time.
    const salt = Math.imul(this.#members.worldRank(0 as CommRank) + 1, 0x9e3779b1) ^ this.#tag;
    return this.agree(process, this.#members, this.#parent.context ^ salt, this.#count);
  }
}

/** MPI_Intercomm_create: the leaders tell each other their groups over `bridge`, then everybody agrees. */
export class CreateInter extends NewCommunicator {
  readonly #local: Communicator;
  readonly #leader: number;
  readonly #bridge: Communicator | null;
  readonly #remoteLeader: number;
  readonly #tag: number;
  readonly #count: number;
  /** What the leaders exchange: size, context, count, then the members. */
  #phase: "greet" | "introduce" | "spread-size" | "spread" | "agree" = "greet";
  #requests: RecordId[] = [];
  #out = 0 as Pointer;
  #in = 0 as Pointer;
  #greeting: Int32Array = new Int32Array(3);
  #remote: Group = Group.empty;

  constructor(local: Communicator, leader: number, bridge: Communicator | null, remoteLeader: number, tag: number) {
    super();
    this.#local = local;
    this.#leader = leader;
    this.#bridge = bridge;
    this.#remoteLeader = remoteLeader;
    this.#tag = tag;
    this.#count = local.children++;
  }

  get #leads(): boolean {
    return this.#local.rank === this.#leader;
  }

  override advance(process: Process): boolean {
    for (;;) {
      switch (this.#phase) {
        case "greet":
          if (
            this.#leads &&
            !this.#trade(process, Int32Array.of(this.#local.size, this.#local.context, this.#count), 3)
          )
            return false;
          if (this.error !== 0) return true;
          if (this.#leads) this.#greeting = this.#taken(process, 3);
          this.#phase = "spread-size";
          break;
        case "spread-size": {
          const greeting = this.#spread(process, this.#greeting);
          if (greeting === null) return false;
          if (this.error !== 0) return true;
          this.#greeting = greeting;
          this.#phase = "introduce";
          break;
        }
        case "introduce": {
          const members = Int32Array.from(this.#local.group.worldRanks());
          const size = this.#greeting[0]!;
          if (this.#leads && !this.#trade(process, members, size)) return false;
          if (this.error !== 0) return true;
          if (this.#leads) this.#remote = Group.of(this.#taken(process, size));
          this.#phase = "spread";
          break;
        }
        case "spread": {
          const mine = this.#leads ? Int32Array.from(this.#remote.worldRanks()) : new Int32Array(this.#greeting[0]!);
          const members = this.#spread(process, mine);
          if (members === null) return false;
          if (this.error !== 0) return true;
          this.#remote = Group.of(members);
          this.#phase = "agree";
          break;
        }
        case "agree": {
          const [, context, count] = this.#greeting;
          const parent =
            Math.min(this.#local.context, context!) ^ Math.imul(Math.max(this.#local.context, context!), 31);
          const members = inCommonOrder(this.#local.group, this.#remote);
          return this.agree(process, members, parent ^ this.#tag, this.#count + count!);
        }
      }
    }
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.#local.group, remote: this.#remote };
  }

  /** The leaders send each other words. True when ours have left and theirs are here. */
  #trade(process: Process, words: Int32Array, wanted: number): boolean {
    const { engine, memory } = process;
    if (this.#requests.length === 0) {
      const bridge = this.#bridge!;
      const peer = bridge.peers.worldRank(this.#remoteLeader as CommRank);
      const tag = interTag(this.#tag);
      this.#out = memory.allocate(words.byteLength);
      this.#in = memory.allocate(wanted * 4);
      new Int32Array(memory.bytes.buffer, this.#out, words.length).set(words);
      this.#requests = [
        engine.startReceive(this.#in, wanted * 4, peer, tag, bridge.collectiveContext),
        engine.startSend(this.#out, words.byteLength, peer, tag, bridge.collectiveContext, SendMode.STANDARD),
      ];
    }
    if (!this.#requests.every((request) => engine.isComplete(request))) return false;
    for (const request of this.#requests) {
      this.error ||= engine.records.get(request, R_ERROR);
      engine.giveBack(request);
    }
    this.#requests = [];
    memory.free(this.#out);
    return true;
  }

  #taken(process: Process, wanted: number): Int32Array {
    const words = new Int32Array(process.memory.bytes.buffer, this.#in, wanted).slice();
    process.memory.free(this.#in);
    return words;
  }

  /** The leader's words to everybody in the local group. */
  #spread(process: Process, words: Int32Array): Int32Array | null {
    const { engine, memory, collectives } = process;
    if (this.#requests.length === 0) {
      this.#out = memory.allocate(words.byteLength);
      new Int32Array(memory.bytes.buffer, this.#out, words.length).set(words);
      const call = { bytes: words.byteLength, root: this.#leader };
      this.#requests = [collectives.startEqual(this.#local, "bcast", 0 as Pointer, this.#out, call)];
    }
    const [request] = this.#requests;
    if (!engine.isComplete(request!)) return null;
    this.error ||= engine.records.get(request!, R_ERROR);
    engine.giveBack(request!);
    this.#requests = [];
    const all = new Int32Array(memory.bytes.buffer, this.#out, words.length).slice();
    memory.free(this.#out);
    return all;
  }
}

/** MPI_Intercomm_merge: the side that says `high` comes second; if both say the same, the one with the lowest world rank first. */
export class Merge extends NewCommunicator {
  readonly #inter: Communicator;
  readonly #count: number;
  readonly #exchange: Exchange;
  #members: Group | null = null;

  constructor(inter: Communicator, high: boolean, process: Process) {
    super();
    this.#inter = inter;
    this.#count = inter.children++;
    const draft = draftOf(process, inter.context, unionOf(inter));
    this.#exchange = new Exchange(draft, [high ? 1 : 0], agreementTag - 2);
  }

  override advance(process: Process): boolean {
    if (this.#members === null) {
      const flags = this.#exchange.advance(process);
      if (flags === null) return false;
      this.error = this.#exchange.error;
      if (this.error !== 0) return true;
      this.#members = this.#ordered(flags);
    }
    return this.agree(process, this.#members, this.#inter.context, this.#count);
  }

  #ordered(flags: Int32Array): Group {
    const { group, remote } = this.#inter;
    const union = unionOf(this.#inter);
    const isHigh = (side: Group): boolean => flags[union.rankOf(side.worldRank(0 as CommRank))] === 1;
    if (isHigh(group) === isHigh(remote!)) return union;
    return isHigh(group) ? joined(remote!, group) : joined(group, remote!);
  }
}

/** All processes of a communicator in an order that every one of them knows. */
function unionOf(comm: Communicator): Group {
  return comm.remote === null ? comm.group : inCommonOrder(comm.group, comm.remote);
}

/** Two disjoint groups, the one with the lowest world rank first: both sides come to the same order. */
function inCommonOrder(a: Group, b: Group): Group {
  const lowest = (group: Group): number =>
    group.worldRanks().reduce((low, rank) => Math.min(low, rank), Number.MAX_SAFE_INTEGER);
  return lowest(a) < lowest(b) ? joined(a, b) : joined(b, a);
}

function joined(first: Group, second: Group): Group {
  return Group.of([...first.worldRanks(), ...second.worldRanks()]);
}

/** From (colour, key) of every member of a group to the members with one colour, in order. */
function membersOf(group: Group, colorsAndKeys: Int32Array, color: number): Group {
  const ranks: number[] = [];
  for (let rank = 0; rank < group.size; rank++) if (colorsAndKeys[2 * rank] === color) ranks.push(rank);
  ranks.sort((a, b) => colorsAndKeys[2 * a + 1]! - colorsAndKeys[2 * b + 1]! || a - b);
  return Group.of(ranks.map((rank) => group.worldRank(rank as CommRank)));
}

/** A communicator for messages of a task among some members, in the context of one that exists; it is never given out. */
function draftOf(process: Process, context: number, group: Group): Communicator {
  return new Communicator({ context, group, world: process.rank as WorldRank, nodeOf: process.nodeOf });
}

const groupTag = (tag: number): number => -1000 - 2 * tag;
const interTag = (tag: number): number => -1001 - 2 * tag;
