import type { CommRank, Pointer, RecordId, WorldRank } from "../../base/brand.ts";
import { ErrorClass, type ErrorCode } from "../../base/mpi-error.ts";
import { saves } from "../../base/saved-classes.ts";
import { kindCode, unlike } from "../../coll/engine/collective-call.ts";
import { Group } from "../../comm/group.ts";
import type { Engine } from "../../p2p/engine.ts";
import { R_ERROR, R_STATE, R_STATUS_BYTES, RecordFlag, RecordState, SendMode } from "../../request/records.ts";
import type { Communicator } from "../communicator.ts";
import type { Process } from "../process.ts";
import type { AwaitedPeers, Creation } from "../task.ts";
import { ContextAgreement } from "./context-agreement.ts";
import { inCommonOrder } from "./member-order.ts";
import { NewCommunicator } from "./new-communicator.ts";
import { interTag } from "./task-tags.ts";
import { WordBroadcast } from "./word-broadcast.ts";

/** The first word of a greeting with an error in place of a group. */
const failed = -1;

/** The leader of a side that has failed tells the other leader: a message without bytes. What that one says in the call is taken in the next. */
export function refuseOtherSide({ engine }: Process, bridge: Communicator, remoteLeader: number, tag: number): void {
  const peer = bridge.peers.worldRank(remoteLeader as CommRank);
  bridge.leaveWord(peer, tag);
  sayNothing(engine, bridge, peer, tag);
}

/** In the place of a greeting. */
function sayNothing(engine: Engine, { collectiveContext }: Communicator, peer: WorldRank, tag: number): void {
  const request = engine.startSend(0 as Pointer, 0, peer, interTag(tag), collectiveContext, SendMode.STANDARD);
  engine.abandon(request);
}

function failureOf({ failures, revocations }: Process, comm: Communicator): ErrorCode {
  if (revocations.has(comm.context)) return ErrorClass.REVOKED;
  return failures.isAmong(comm) ? ErrorClass.PROC_FAILED : 0;
}

/**
 * MPI_Intercomm_create: the leaders tell each other their groups over `bridge`, then all members agree.
 *
 * When a side fails the other one must not wait. A leader whose side has failed before it greets refuses, with a message without bytes, and takes the other's
 * greeting or refusal for nothing when the two meet again with the same tag (`Communicator.leaveWord`);
 * one that has greeted also introduces its group, whatever happens. A leader that gets no group tells its side so. Deaths later are heard of by
 * all members of both sides, and a revocation of one side is told to the other by revoking the context that they would have.
 */
export class CreateInter extends NewCommunicator {
  private readonly local: Communicator;
  private readonly leader: number;
  private readonly bridge: Communicator | null;
  private readonly remoteLeader: number;
  private readonly tag: number;
  private readonly count: number;
  /** Among the collectives of `local`. */
  private readonly number: number;
  /** The leaders exchange size, context and count, then the members. */
  private phase: "begin" | "greet" | "introduce" | "spread-size" | "spread" | "agree" = "begin";
  private requests: RecordId[] = [];
  private spreading: WordBroadcast | null = null;
  private out = 0 as Pointer;
  private in = 0 as Pointer;
  private greeting: Int32Array = new Int32Array(3);
  private remote: Group = Group.empty;
  /** Of the leader: the other one has sent a message without bytes. */
  private isRefused = false;
  /** Of the leader: why the other one has told nothing; 0: it has. */
  private tradeError = 0;

  constructor(local: Communicator, leader: number, bridge: Communicator | null, remoteLeader: number, tag: number) {
    super();
    this.local = local;
    this.leader = leader;
    this.bridge = bridge;
    this.remoteLeader = remoteLeader;
    this.tag = tag;
    this.count = local.children++;
    this.number = local.nextCollective(kindCode.intercomm_create, unlike, unlike);
    if (bridge === null || !this.leads) return;
    const self = local.group.worldRank(local.rank as CommRank);
    bridge.beginPartial([bridge.peers.worldRank(remoteLeader as CommRank), self]);
  }

  override get creation(): Creation {
    return { comm: this.local, number: this.number, kind: kindCode.intercomm_create };
  }

  /** The other leader, whose words are not here yet. */
  override get awaited(): AwaitedPeers | null {
    const { bridge, requests } = this;
    if (bridge === null || requests.length === 0) return null;
    const peer = bridge.peers.worldRank(this.remoteLeader as CommRank);
    return { comm: bridge, tag: interTag(this.tag), peers: [peer], kind: kindCode.intercomm_create };
  }

  override isAwaiting({ engine }: Process): boolean {
    return this.awaited !== null && !this.requests.every((request) => engine.isComplete(request));
  }

  /** Words that have begun to come are waited for. */
  override abandon({ engine }: Process, error: ErrorCode): void {
    const [theirs] = this.requests;
    if (theirs === undefined || engine.records.get(theirs, R_STATE) !== RecordState.PENDING) return;
    this.error ||= error;
    for (const request of this.requests) engine.cancel(request);
  }

  /** The other leader need not wait for this side. */
  override callOff(process: Process, error: ErrorCode): void {
    this.error = error;
    if (this.leads) refuseOtherSide(process, this.bridge!, this.remoteLeader, this.tag);
  }

  private get leads(): boolean {
    return this.local.rank === this.leader;
  }

  override advance(process: Process): boolean {
    for (;;) {
      switch (this.phase) {
        case "begin":
          this.error = failureOf(process, this.local);
          if (this.error !== 0) {
            this.callOff(process, this.error);
            return true;
          }
          this.phase = this.leads ? "greet" : "spread-size";
          break;
        case "greet":
          if (!this.trade(process, Int32Array.of(this.local.size, this.local.context, this.count), 3)) return false;
          this.greeting = this.taken(process, 3);
          this.phase = this.greeting[0] === failed ? "spread-size" : "introduce";
          break;
        case "introduce": {
          const members = Int32Array.from(this.local.group.worldRanks());
          const size = this.greeting[0]!;
          if (!this.trade(process, members, size)) return false;
          const remote = this.taken(process, size);
          if (remote[0] === failed) this.greeting = remote.slice(0, 3);
          else this.remote = Group.of(remote);
          this.phase = "spread-size";
          break;
        }
        case "spread-size": {
          const greeting = this.spread(process, this.greeting);
          if (greeting === null) return false;
          if (this.error !== 0) return this.leave(process);
          this.greeting = greeting;
          if (greeting[0] === failed) {
            this.error = greeting[1]!;
            return true;
          }
          this.phase = "spread";
          break;
        }
        case "spread": {
          const mine = this.leads ? Int32Array.from(this.remote.worldRanks()) : new Int32Array(this.greeting[0]!);
          const members = this.spread(process, mine);
          if (members === null) return false;
          if (this.error !== 0) return this.leave(process);
          this.remote = Group.of(members);
          if (this.remote.intersection(this.local.group).size > 0) {
            this.error = ErrorClass.COMM;
            return true;
          }
          this.phase = "agree";
          break;
        }
        case "agree": {
          const { members, count, seed } = this.places;
          return this.agree(process, members, this.local, count, seed);
        }
      }
    }
  }

  /** The members of both sides, and the origin of their context. */
  private get places(): { readonly members: Group; readonly count: number; readonly seed: number } {
    const [, context, count] = this.greeting;
    const parent = Math.min(this.local.context, context!) ^ Math.imul(Math.max(this.local.context, context!), 31);
    const members = inCommonOrder(this.local.group, this.remote);
    return { members, count: this.count + count!, seed: parent ^ this.tag };
  }

  /** This side has failed, and the other one knows its members: it hears of deaths by itself, of a revocation from the leader. */
  private leave(process: Process): boolean {
    if (this.leads && this.remote.size > 0 && this.error === ErrorClass.REVOKED) {
      const { members, count, seed } = this.places;
      new ContextAgreement(members, seed, count, false).giveUp(process);
    }
    return true;
  }

  protected override sides(): { group: Group; remote: Group | null } {
    return { group: this.local.group, remote: this.remote };
  }

  /** The leaders send each other words. True when ours have left and theirs are here, or will not come. */
  private trade(process: Process, words: Int32Array, wanted: number): boolean {
    const { engine, memory } = process;
    if (this.requests.length === 0) {
      const bridge = this.bridge!;
      const peer = bridge.peers.worldRank(this.remoteLeader as CommRank);
      const tag = interTag(this.tag);
      this.out = memory.allocate(words.byteLength);
      this.in = memory.allocate(wanted * 4);
      new Int32Array(memory.bytes.buffer, this.out, words.length).set(words);
      this.requests = [
        engine.startReceive(this.in, wanted * 4, peer, tag, bridge.collectiveContext),
        engine.startSend(this.out, words.byteLength, peer, tag, bridge.collectiveContext, SendMode.STANDARD),
      ];
    }
    const { records } = engine;
    this.passOver(process, wanted);
    const [theirs, ours] = this.requests as [RecordId, RecordId];
    // The other leader has refused, and takes nothing: words that were only announced to it would wait for ever.
    if (engine.isComplete(theirs) && !engine.isComplete(ours) && !this.isRefused) {
      this.isRefused = records.get(theirs, R_STATUS_BYTES) === 0;
      if (this.isRefused) engine.cancel(ours);
    }
    if (!this.requests.every((request) => engine.isComplete(request))) return false;
    // The other leader expects one word of each call.
    if (this.isRefused && records.hasFlag(ours, RecordFlag.CANCELLED)) {
      const bridge = this.bridge!;
      sayNothing(engine, bridge, bridge.peers.worldRank(this.remoteLeader as CommRank), this.tag);
    }
    let error = records.get(this.requests[0]!, R_STATUS_BYTES) === 0 ? ErrorClass.PROC_FAILED : 0;
    for (const request of this.requests) {
      error = records.get(request, R_ERROR) || error;
      engine.giveBack(request);
    }
    this.requests = [];
    memory.free(this.out);
    this.tradeError = error;
    return true;
  }

  /** Words of earlier calls, which this side had refused, come first. */
  private passOver({ engine }: Process, wanted: number): void {
    const bridge = this.bridge!;
    const peer = bridge.peers.worldRank(this.remoteLeader as CommRank);
    for (;;) {
      const theirs = this.requests[0]!;
      if (!engine.isComplete(theirs) || engine.records.get(theirs, R_ERROR) !== 0) return;
      if (this.error !== 0 || !bridge.takeLeftWord(peer, this.tag)) return;
      engine.giveBack(theirs);
      this.requests[0] = engine.startReceive(this.in, wanted * 4, peer, interTag(this.tag), bridge.collectiveContext);
    }
  }

  private taken(process: Process, wanted: number): Int32Array {
    const words = new Int32Array(process.memory.bytes.buffer, this.in, wanted).slice();
    process.memory.free(this.in);
    return this.tradeError === 0 ? words : Int32Array.of(failed, this.error || this.tradeError, 0);
  }

  /** The leader's words to all members of the local group. */
  private spread(process: Process, words: Int32Array): Int32Array | null {
    this.spreading ??= new WordBroadcast(this.local, this.leader, words, this.number);
    const all = this.spreading.advance(process);
    if (all === null) return null;
    this.error ||= this.spreading.error;
    this.spreading = null;
    return all;
  }
}

saves({ CreateInter });
