/**
 * The fault-simulation layer of one process (ADR 45; Walter, Design and Implementation of a Fault Simulation Layer for the Combination
 * Technique on HPC Systems, 2016): a process becomes dead to the program while it lives on and serves the layer. It stands over the ordinary
 * messages and collectives of the base, and uses none of its functions for programs that repair themselves: what those do is done here again,
 * by messages.
 *
 * This object is what the layer does beside the program, whenever its process makes progress: it answers, passes on, takes part. What it does for the
 * calls of the program is in layered-operations.ts.
 *
 * `die` is Sim_FT_kill_me (Fig. 5.9). From then on the process answers that it is dead, reports so to every synchronisation before anybody asks, passes
 * on what others say, receives by command, takes part in the ends of communicators; and it ends with all others.
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import { ANY_TAG } from "../base/constants.ts";
import { ErrorClass, type ErrorCode } from "../base/mpi-error.ts";
import type { Operations, SimulatedDeath } from "../binding/operations.ts";
import type { Group } from "../comm/group.ts";
import type { Communicator } from "../process/communicator.ts";
import { draftOf } from "../process/communicators/draft.ts";
import { partitionedContext } from "../process/context.ts";
import type { Background, Process } from "../process/process.ts";
import type { AwaitedPeers } from "../process/task.ts";
import { R_BYTES } from "../request/records.ts";
import { BackgroundBroadcast } from "./background-broadcast.ts";
import type { BackgroundWay } from "./background-way.ts";
import { CommunicatorEnd, type EndingLayer, ProcessEnd } from "./communicator-end.ts";
import { Handshakes } from "./handshakes.ts";
import { KnownDeaths } from "./known-deaths.ts";
import { Lingering } from "./lingering.ts";
import { Member, type MemberHost } from "./member.ts";
import { PartialCalls } from "./partial-calls.ts";
import type { RecentCall } from "./recent-collectives.ts";
import { Purpose, type SyncVerdict } from "./report.ts";
import { Say, SideChannel, type SideMessage } from "./side-channel.ts";
import { StartedCollectives } from "./started-collectives.ts";
import { WatchedMessages } from "./watched-messages.ts";

export interface FaultLayerOptions {
  /** Successors of a process in the tree of synchronisations. */
  readonly fanOut: number;
  /** How the root of a communicator speaks to all members; by the tree unless given. */
  readonly background?: BackgroundWay;
  /** See `SimulatedDeath`; null unless given. */
  readonly isDue?: (() => boolean) | null;
  /** Called when the process has died. */
  readonly died?: () => void;
  /** Gets every word that this process says to others. `comm`: the communicator that it concerns; null: the two processes. */
  readonly listener?: (to: WorldRank, kind: Say, words: readonly number[], comm: Communicator | null) => void;
}

export class FaultLayer implements Background, MemberHost, EndingLayer, SimulatedDeath {
  readonly base: Operations;
  readonly process: Process;
  readonly rank: WorldRank;
  readonly fanOut: number;
  readonly deaths = new KnownDeaths();
  readonly handshakes = new Handshakes();
  readonly messages: WatchedMessages;
  readonly collectives: StartedCollectives;
  /** Requests that the program has given back and the base has not done with. */
  readonly lingering: Lingering;
  /** Calls that only some members of a communicator make. */
  readonly partial: PartialCalls;
  readonly isDue: (() => boolean) | null;
  isDead = false;
  isBusy = true;
  appendedSeen = 0;
  readonly #hasBroadcasts: boolean;
  readonly #listener: FaultLayerOptions["listener"];
  readonly #died: FaultLayerOptions["died"];
  readonly #side: SideChannel;
  readonly #members = new Map<number, Member>();
  /** Contexts of communicators whose ends are under way. */
  readonly #ending = new Set<number>();
  /** Messages that the dead receives by command: where to. */
  readonly #received = new Map<RecordId, Pointer>();
  #end = -1 as RecordId;

  constructor(base: Operations, process: Process, options: FaultLayerOptions) {
    const { fanOut, background = "tree", isDue = null, died, listener } = options;
    this.base = base;
    this.process = process;
    this.rank = process.rank as WorldRank;
    this.fanOut = fanOut;
    this.isDue = isDue;
    this.#hasBroadcasts = background === "ibcast";
    this.#listener = listener;
    this.#died = died;
    this.messages = new WatchedMessages(process.engine, this.handshakes, this.deaths);
    const stir = (): void => {
      this.isBusy = true;
    };
    this.collectives = new StartedCollectives(base, process.memory, stir);
    this.lingering = new Lingering(base, stir);
    this.partial = new PartialCalls(this);
    this.#side = new SideChannel(process, (message) => this.#heard(message));
    process.background = this;
  }

  memberOf(comm: Communicator): Member {
    const known = this.#members.get(comm.context);
    if (known !== undefined) return known;
    const member = new Member(comm, this);
    this.#members.set(comm.context, member);
    if (this.deaths.isAmong(member.members)) this.broken(member);
    if (this.isDead) member.die();
    return member;
  }

  newBroadcast(
    { context }: Communicator,
    members: Group,
    heard: (kind: number, words: readonly number[]) => void,
  ): BackgroundBroadcast | null {
    if (!this.#hasBroadcasts) return null;
    return new BackgroundBroadcast(this.process, draftOf(this.process, context, members), heard);
  }

  /** Members begin their broadcasts before anybody speaks. */
  #progressBroadcasts(): boolean {
    const { communicators } = this.process;
    let moved = false;
    for (const comm of communicators.values()) this.memberOf(comm);
    for (const [context, member] of [...this.#members]) {
      if (member.progress()) moved = true;
      if (member.isEnded && member.isSilent && !communicators.has(context)) this.#members.delete(context);
    }
    return moved;
  }

  /** A process that died while others waited for it in a call takes part in that call: nobody asks it to report to what has come of it. */
  made(comm: Communicator): void {
    // Words about it may have come before.
    this.isBusy = true;
    if (this.isDead) this.memberOf(comm);
  }

  /** All members take part in what its root says, which is at least that it says nothing more: also those that have never looked while it was there. */
  freeing(comm: Communicator): void {
    if (this.#hasBroadcasts) this.memberOf(comm).leave();
  }

  progress(): boolean {
    // Before all else: what happens meanwhile is for the next time.
    this.appendedSeen = this.process.engine.unexpected.appended;
    this.isBusy = this.#hasBroadcasts;
    let moved = this.#side.progress();
    if (this.#hasBroadcasts && this.#progressBroadcasts()) moved = true;
    this.lingering.progress();
    this.collectives.progress();
    if (this.#received.size !== 0) this.#freeReceived();
    if (this.#side.isBusy || this.lingering.isBusy || this.collectives.isBusy || this.#received.size !== 0) {
      this.isBusy = true;
    }
    return moved;
  }

  #freeReceived(): void {
    const { engine, memory } = this.process;
    for (const [request, at] of this.#received) {
      if (!engine.isComplete(request)) continue;
      engine.giveBack(request);
      memory.free(at);
      this.#received.delete(request);
    }
  }

  // Deaths

  /** The program is over here: it must not be run any further. The process serves until all end: see `isOver`. */
  die(): void {
    if (this.isDead) return;
    this.isDead = true;
    this.#died?.();
    this.process.engine.completion.forgetWanted();
    for (const comm of [...this.process.communicators.values()]) this.memberOf(comm).die();
    this.partial.heardNews();
  }

  /** A process that died has ended together with all others. */
  get isOver(): boolean {
    return this.#end >= 0 && this.base.isComplete(this.#end);
  }

  /** Asks that process whether it is alive: the number of the question. */
  ask(rank: WorldRank): number {
    const number = this.handshakes.ask(rank);
    this.say(null, rank, Say.ASK, [number]);
    return number;
  }

  /** Is it known that the members will carry out no collective together any more? */
  isBroken({ members, isRevoked }: Member): boolean {
    return isRevoked || this.deaths.isAmong(members);
  }

  /** It is known now: whoever waits at the board waits in vain. */
  broken(member: Member): void {
    const { comm, isRevoked } = member;
    comm.isBroken = true;
    comm.closeToPlane();
    const error = isRevoked ? ErrorClass.REVOKED : ErrorClass.PROC_FAILED;
    member.close(this.process.collectives.withdrawFromBoard(comm, error));
  }

  heardOfDeath(dead: WorldRank): void {
    if (dead === this.rank || !this.deaths.add(dead)) return;
    this.messages.peerDied(dead);
    for (const member of this.#sharedWith(dead)) {
      this.say(null, dead, Say.RECEIVE, [member.comm.context]);
      this.updateWildcards(member);
      this.broken(member);
    }
    // Its answer comes behind all its messages.
    if (!this.deaths.isConfirmed(dead)) this.ask(dead);
    this.partial.heardNews();
  }

  isKnownDead(rank: WorldRank): boolean {
    return this.deaths.has(rank);
  }

  errorOfAwaited({ comm, peers }: AwaitedPeers): ErrorCode {
    if (this.isRevokedContext(comm.context)) return ErrorClass.REVOKED;
    for (const peer of peers) if (this.deaths.isConfirmed(peer)) return ErrorClass.PROC_FAILED;
    return 0;
  }

  isRevokedContext(context: number): boolean {
    return this.#members.get(context)?.isRevoked === true;
  }

  #sharedWith(dead: WorldRank): Member[] {
    const all = [...this.process.communicators.values()].map((comm) => this.memberOf(comm));
    return all.filter(({ members }) => members.has(dead));
  }

  /** Has the program not acknowledged the death of a process that a receive from anybody may wait for? */
  isPending({ comm, members, acknowledged }: Member): boolean {
    if (this.deaths.count === 0) return false;
    return this.deaths
      .of(members)
      .slice(acknowledged)
      .some((rank) => comm.peers.has(rank));
  }

  /** Receives from anybody stand still, or go on. */
  updateWildcards(member: Member): void {
    const { matching } = this.process.engine;
    if (this.isPending(member)) matching.stallWildcards(member.comm.context);
    else matching.resumeWildcards(member.comm.context);
  }

  // What others say

  say(comm: Communicator | null, to: WorldRank, kind: Say, words: readonly number[]): void {
    this.#listener?.(to, kind, words, comm);
    this.#side.say(comm, to, kind, words);
    this.isBusy = true;
  }

  #heard(message: SideMessage): void {
    const { comm, source, kind, words } = message;
    switch (kind) {
      case Say.ASK:
        this.say(null, source, Say.ANSWER, [words[0] ?? 0, this.isDead ? 1 : 0]);
        return;
      case Say.ANSWER:
        this.#heardAnswer(source, words);
        return;
      case Say.RECEIVE:
        if (this.isDead) this.#receive(source, words[0] ?? 0);
        return;
      case Say.COME:
        this.partial.heardCome(source, words);
        return;
      case Say.GO:
        this.partial.heardWord(words);
        return;
      default:
        if (comm !== null) this.memberOf(comm).heard(message);
    }
  }

  #heardAnswer(source: WorldRank, [number = 0, dead = 0]: readonly number[]): void {
    this.handshakes.answered(source, number, dead !== 0);
    if (dead === 0 || !this.deaths.confirm(source)) return;
    this.heardOfDeath(source);
    this.messages.peerSilent(source);
  }

  /** Receives whatever of that process has arrived: it knows of the death, and sends no more (§5.3.3). */
  #receive(source: WorldRank, program: number): void {
    const { engine, memory } = this.process;
    this.isBusy = true;
    for (const context of [program, partitionedContext(program)]) {
      for (;;) {
        const envelope = engine.probe(source, ANY_TAG, context);
        if (envelope < 0) break;
        engine.setAside(envelope);
        const bytes = engine.records.get(envelope, R_BYTES);
        const at = memory.allocate(bytes);
        this.#received.set(engine.startMatchedReceive(at, bytes, envelope), at);
      }
    }
  }

  takePartIn(member: Member, call: RecentCall): void {
    this.collectives.join(member, call);
  }

  collectivesKnown(member: Member): void {
    this.collectives.collectivesKnown(member);
  }

  revoked(member: Member): void {
    this.messages.revoked(member.comm);
    this.collectives.revoked(member);
    this.broken(member);
    this.partial.heardNews();
  }

  // Ends

  get world(): Communicator {
    return this.process.world;
  }

  get endings(): number {
    return this.#ending.size;
  }

  get open(): readonly Communicator[] {
    const { communicators, world, self } = this.process;
    return [...communicators.values()].filter(
      (comm) => comm !== world && comm !== self && !this.#ending.has(comm.context),
    );
  }

  /** The program frees the communicator, or the process ends. */
  begin(comm: Communicator): void {
    const member = this.memberOf(comm);
    this.#beginEnd(member, member.enter(Purpose.FREE));
  }

  #beginEnd(member: Member, from: ConstructorParameters<typeof CommunicatorEnd>[2]): void {
    const { process } = this;
    this.#ending.add(member.comm.context);
    const end = new CommunicatorEnd(member, this.collectives, from, (ended) => this.#free(ended));
    process.engine.abandon(process.start(end));
  }

  #free({ comm }: Member): void {
    this.#ending.delete(comm.context);
    const isWorld = comm === this.world;
    if (!isWorld) {
      this.base.freeCommunicator(comm);
      if (!this.#hasBroadcasts) this.#members.delete(comm.context);
    } else if (this.isDead && this.#end < 0) this.#end = this.base.startFinalBarrier();
  }

  ended(member: Member, verdict: SyncVerdict): void {
    if (this.isDead && !this.#ending.has(member.comm.context)) this.#beginEnd(member, verdict);
  }

  /** The request of the end of this process, which stays. */
  startEnd(): RecordId {
    if (this.#end < 0) this.#end = this.process.start(new ProcessEnd(this));
    return this.#end;
  }
}
