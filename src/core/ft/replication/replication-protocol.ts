/**
 * Replication for send-deterministic programs, the parallel protocol ("Replication for send-deterministic MPI HPC applications", docs/papers.md,
 * Algorithm 1). Each rank is played by several processes. Replica k of a rank sends to replica k of another: world k. The worlds know
 * of each other by acknowledgements alone: whoever holds a message tells the replicas of its sender that did not send it, and they
 * keep it until then. When a replica dies the next living one sends to its world what that world lacks, and all that follows.
 *
 *   membership.ts        which processes live, and who stands in for whom
 *   sending              messages: sent, kept, sent again (sending/replicated-sends.ts)
 *   acknowledgements.ts  what this process holds, told to those who keep it
 *   revival.ts           a lost replica comes back as a clone of another (clone-source.ts)
 *   comparing            do the replicas of a rank send the same?
 *
 * Receives need no decision: replicas may take messages of ANY_SOURCE in different orders (R5), as long as each takes every message
 * once. A message is known by its rank and number, whichever replica sends it.
 */
import type { RecordId, WorldRank } from "../../base/brand.ts";
import type { ProcessName } from "../../base/identity.ts";
import { lives } from "../../base/saved-classes.ts";
import { Arrival, Pin, unordered } from "../../request/decisions.ts";
import { R_PEER, R_PROTOCOL, R_SEQUENCE, RecordFlag } from "../../request/records.ts";
import { CONTEXT, EXTRA, KIND, kindOf, PacketKind, replicaOf, SEQUENCE, SOURCE, TAG } from "../../wire/packet.ts";
import type { CloneBeginning } from "../clones.ts";
import type { PlannedFlip } from "../definition.ts";
import { PassThrough } from "../pass-through.ts";
import type { Beginning, KeptPayload, ProtocolPorts, RestRounds } from "../protocol.ts";
import { ReceivedNumbers } from "../received-numbers.ts";
import type { SharedOperations } from "../shared-operations.ts";
import { Acknowledgements, heldWord, runMax } from "./acknowledgements.ts";
import type { CloneSource } from "./clone-source.ts";
import { MessageComparison, type Suspicion } from "./comparing/message-comparison.ts";
import { MessageFlips } from "./comparing/message-flips.ts";
import { RevocationVotes } from "./comparing/revocation-votes.ts";
import { isComparison, SendComparison, type SendDivergence } from "./comparing/send-comparison.ts";
import { isRevocation, isVote, SentVotes } from "./comparing/sent-votes.ts";
import { isAsk, isWholeVote, WholeVotes } from "./comparing/whole-votes.ts";
import type { Membership } from "./membership.ts";
import type { ComparedBy } from "./options.ts";
import { ReplicatedOperations } from "./performing/replicated-operations.ts";
import type { Replicated } from "./report.ts";
import { restWord, WorldRounds } from "./rest-rounds.ts";
import { Revival } from "./revival.ts";
import { isRevivalWord } from "./revival-words.ts";
import { SeenOrder } from "./seen-order.ts";
import { Copies } from "./sending/copies.ts";
import { ReplicatedSends, type ReplicatedSendsParts } from "./sending/replicated-sends.ts";
import { WorldGates } from "./world-gates.ts";
import { isNotice, noticeOf, type WorldNotice } from "./world-notices.ts";

const copiesBytesMaxDefault = 16 << 20;

export interface ReplicationOptions {
  readonly rank: number;
  readonly replica: number;
  readonly membership: Membership;
  readonly copiesBytesMax?: number;
  /** One number: the calls that the process has passed, for the observer of its progress. */
  readonly passed?: Float64Array;
  /** Replicas of the rank have been found to send different messages; called once at most. */
  readonly diverged?: (divergence: SendDivergence) => void;
  /** Bits of its messages that flip on their way. */
  readonly flips?: readonly PlannedFlip[];
  /** Are messages compared before the program sees them, and by what? Not unless given. */
  readonly comparing?: ComparedBy | null;
  /** Replicas of a rank have been found to send this process different messages. */
  readonly suspect?: (suspicion: Suspicion) => void;
}

export class ReplicationProtocol extends PassThrough {
  static readonly unsaved = { passed: null, whenBack: null };
  override readonly deathEndsRequests: boolean = false;
  override readonly mayJudgeCollectives: boolean = false;
  override readonly finishedServe: boolean = true;
  override readonly hasFarewell: boolean = false;
  override callsPassed = 0;
  override readonly sharesClocks: boolean;
  override readonly sharesRevocations: boolean;
  protected readonly membership: Membership;
  protected readonly rank: number;
  protected replica: number;
  protected readonly ports: ProtocolPorts;
  protected readonly sends: ReplicatedSends;
  protected readonly acknowledgements: Acknowledgements;
  private readonly files: ReplicatedOperations;
  protected readonly revival: Revival;
  private readonly comparison: SendComparison;
  /** Null: messages are not compared before the program sees them. */
  private readonly comparing: MessageComparison | null;
  private readonly revocations: RevocationVotes;
  private readonly rounds: WorldRounds;
  /** The process may have nothing to do: words about what it has sent, which wait for more to say, are said. */
  private isResting = false;
  /** By rank: the messages that have come; and the order of those that the program has seen. */
  private readonly numbers = new Map<number, ReceivedNumbers>();
  private readonly order = new SeenOrder();
  private readonly gates: WorldGates;
  /** By rank: those of them whose bytes are still to come. */
  private readonly announced = new Map<number, Set<number>>();
  private readonly passed: Float64Array;
  /** Messages that came a second time. */
  private duplicates = 0;
  /** Null: this process is no clone, or everybody knows it. */
  private whenBack: (() => void) | null = null;

  constructor(options: ReplicationOptions, ports: ProtocolPorts) {
    super();
    const { rank, replica, membership, copiesBytesMax, passed, diverged, suspect, comparing = null } = options;
    const isComparing = comparing !== null;
    const { flips: planned = [] } = options;
    const place = { rank, replica };
    this.rank = rank;
    this.replica = replica;
    this.membership = membership;
    this.ports = ports;
    this.gates = new WorldGates(ports, { own: replica, order: this.order, arrived: this.numbers });
    const copies = new Copies(ports.memory, copiesBytesMax ?? copiesBytesMaxDefault);
    const isWhole = comparing === "whole";
    const votes = isComparing ? new (isWhole ? WholeVotes : SentVotes)(ports) : null;
    const flips = planned.length === 0 ? null : new MessageFlips(ports, planned);
    this.sends = this.newSends({ place, membership, copies, order: this.order, gates: this.gates, votes, flips });
    this.acknowledgements = this.newWords(ports, membership, place);
    if (votes !== null) votes.acknowledgements = this.acknowledgements;
    this.files = new ReplicatedOperations(ports, place, membership.replicas, membership.livingOf(rank));
    this.comparison = new SendComparison({
      ports,
      place,
      living: () => membership.livingOf(rank),
      diverged: (divergence) => diverged?.(divergence),
    });
    this.passed = passed ?? new Float64Array(1);
    const numbersOf = (from: number): ReceivedNumbers => this.numbersOf(from);
    const held = (source: WorldRank, sequence: number): void => this.held(source, sequence);
    const suspected = (suspicion: Suspicion): void => suspect?.(suspicion);
    this.sharesClocks = isComparing;
    this.sharesRevocations = isComparing;
    this.revocations = new RevocationVotes({ ports, membership });
    this.rounds = new WorldRounds(ports, membership, replica, () => this.comparing?.isAccusing === true);
    this.comparing = isComparing
      ? new MessageComparison({ ports, membership, rank, isWhole, numbersOf, held, suspect: suspected })
      : null;
    const { sends, acknowledgements, files, order, gates } = this;
    const lose = (name: ProcessName, life: number): void => this.peerFailed(name, life);
    this.revival = new Revival({
      ports,
      membership,
      sends,
      acknowledgements,
      files,
      order,
      gates,
      place,
      numbersOf,
      lose,
      comparing: this.comparing,
    });
  }

  /** A replica of this rank that is lost can be made anew from this process. */
  override get cloning(): CloneSource {
    return this.revival.source;
  }

  /** Where messages are compared all worlds are captured together. */
  override get rests(): RestRounds | null {
    return this.comparing === null ? null : this.rounds;
  }

  /** Images are taken for clones alone. */
  override captured(): number {
    if (this.cloning.isPrepared) this.cloning.captured();
    return 0;
  }

  /** A world is captured: messages that wait for room, or for another world, wait on. */
  override settles(isSettling: boolean): void {
    this.sends.hold(isSettling);
  }

  /** A life that is not the first is a clone: it has the image of another replica of its rank. */
  override begin({ incarnation, data, caughtUp }: Beginning): void {
    if (incarnation === 0) return;
    const { rank } = this;
    const { replica, members } = data as CloneBeginning;
    const isMoved = this.replica === replica;
    this.replica = replica;
    this.ports.becomes({ rank, replica, incarnation });
    this.whenBack = caughtUp;
    this.revival.begin({ rank, replica }, incarnation, { replica, members }, isMoved);
  }

  protected newSends(parts: ReplicatedSendsParts): ReplicatedSends {
    return new ReplicatedSends(this.ports, parts);
  }

  protected newWords(ports: ProtocolPorts, membership: Membership, place: ProcessName): Acknowledgements {
    return new Acknowledgements(ports, membership, place);
  }

  private pass(): void {
    this.passed[0] = ++this.callsPassed;
  }

  /** One replica performs what the program does to files, and tells the others. */
  override get operations(): SharedOperations {
    return this.files;
  }

  // Sends

  /** Messages of a process to itself are nobody else's. A receive may take the short way: it is told of all the same. */
  override mayPass(peer: number): boolean {
    return peer === this.rank && this.comparing === null;
  }

  override sendPosted(send: RecordId): boolean {
    const { records } = this.ports;
    // Marks of a world that is captured stay in it, and are in no other.
    if (records.get(send, R_SEQUENCE) === unordered) return false;
    this.pass();
    if (records.get(send, R_PEER) === this.rank) return false;
    if (this.comparing === null) this.comparison.add(send);
    this.sends.post(send);
    return true;
  }

  /** Asked of what was announced, when its receiver has it; and of messages to this process itself. */
  override sendMayComplete(send: RecordId): boolean {
    const { records } = this.ports;
    if (records.hasFlag(send, RecordFlag.KEPT)) this.sends.delivered(records.get(send, R_PROTOCOL));
    return true;
  }

  override get isBusy(): boolean {
    return this.sends.isBusy || this.acknowledgements.isBusy;
  }

  /**
   * Other replicas of a receiver may lack what only this process, and those of its rank, can send. Where replicas do not send the
   * same, some messages are acknowledged by nobody. Asked when the program is over, or sleeps.
   */
  override get awaitsOthers(): boolean {
    this.isResting = true;
    return (this.sends.unsettled !== 0 || this.sends.owesNotices) && !this.comparison.hasDiverged;
  }

  override progress(): boolean {
    if (this.whenBack !== null) this.comeBack();
    if (this.revival.answers.isBusy) this.revival.answers.answer();
    if (this.isResting) this.rest();
    const letIn = this.comparing?.progress() === true;
    const moved = this.sends.isBusy && this.sends.progress();
    return this.acknowledgements.look() || moved || letIn;
  }

  /** A clone: its world may have come further, and everybody may know it. */
  private comeBack(): void {
    if (this.gates.isAhead) {
      if (this.gates.hasCaughtUp()) this.revival.caughtUp();
      this.sends.gateMoved();
    }
    if (!this.revival.isBack) return;
    this.whenBack?.();
    this.whenBack = null;
  }

  private rest(): void {
    this.isResting = false;
    this.comparison.tellAll();
  }

  // Receives

  override received(_isAnySource: boolean, source: WorldRank, sequence: number): void {
    this.pass();
    this.seen(source, sequence, true);
  }

  override receivePosted(_receive: RecordId): Pin {
    this.pass();
    return Pin.FREE;
  }

  override arrived(words: Int32Array, packet: number): Arrival {
    const rank = words[packet + SOURCE]!;
    if (rank === this.rank) return Arrival.TAKE;
    const kind = words[packet + KIND]!;
    const sender = replicaOf(kind);
    if (!this.membership.isAlive(rank, sender)) return Arrival.DROP;
    this.infer(rank, sender);
    const sequence = words[packet + SEQUENCE]!;
    if (sequence === unordered) return Arrival.TAKE;
    const isAnnounced = kindOf(kind) === PacketKind.RTS;
    if (this.gates.isAhead) this.gates.came(rank, sequence);
    if (!this.numbersOf(rank).add(sequence)) {
      this.comparing?.arrivedAgain(rank, sender, sequence);
      return this.arrivedAgain(rank, sequence, isAnnounced);
    }
    if (isAnnounced) this.announcedOf(rank).add(sequence);
    return this.comparing === null ? Arrival.TAKE : this.comparing.arrived(words, packet);
  }

  override putAside(envelope: RecordId): void {
    this.comparing?.putAside(envelope);
  }

  override mayCount(record: RecordId): boolean {
    return this.comparing === null || this.comparing.mayCount(record);
  }

  /** What this process sends from now on may depend on that message. */
  override seen(source: WorldRank, sequence: number, isOver: boolean): void {
    const { order } = this;
    if (
      source === this.rank ||
      sequence === unordered ||
      (isOver ? order.receive(source, sequence) : !order.show(source, sequence))
    )
      return;
    const strand = order.strands.current;
    if (strand === null) this.addSeen(source, sequence);
    else strand.add(source, sequence);
  }

  private addSeen(source: number, sequence: number): void {
    if (this.order.isFull) this.sends.trimOrder();
    this.order.add(source, sequence);
  }

  override collectiveBegins(collective: RecordId): void {
    if (this.sends.hasGates) this.order.strands.begin(collective, this.order.end);
  }

  override actsFor(collective: RecordId): void {
    this.order.strands.enter(collective);
  }

  override actsForProgram(): void {
    this.order.strands.leave();
  }

  override collectiveSeen(collective: RecordId): void {
    const strand = this.order.strands.end(collective);
    if (strand === null) return;
    for (let i = 0; i < strand.length; i++) this.addSeen(strand.rankAt(i), strand.sequenceAt(i));
  }

  /** A sender that waits for its message to be taken is told that it is here, unless it lacks the bytes of it. */
  private arrivedAgain(rank: number, sequence: number, isAnnounced: boolean): Arrival {
    if (this.ports.isBroken(rank, sequence)) return Arrival.AGAIN;
    this.duplicates++;
    return isAnnounced ? Arrival.HERE : Arrival.DROP;
  }

  override held(source: WorldRank, sequence: number): void {
    if (source === this.rank || sequence === unordered) return;
    this.revival.held(source, sequence);
    const isAwaited = this.announced.get(source)?.delete(sequence) === true;
    this.acknowledgements.held(source, sequence, isAwaited);
  }

  private numbersOf(rank: number): ReceivedNumbers {
    let numbers = this.numbers.get(rank);
    if (numbers === undefined) {
      numbers = new ReceivedNumbers();
      this.numbers.set(rank, numbers);
    }
    return numbers;
  }

  private announcedOf(rank: number): Set<number> {
    let numbers = this.announced.get(rank);
    if (numbers === undefined) {
      numbers = new Set();
      this.announced.set(rank, numbers);
    }
    return numbers;
  }

  // Deaths

  override control(words: Int32Array, packet: number): void {
    const { comparing, rank } = this;
    if (comparing !== null && isVote(words[packet + CONTEXT]!) && words[packet + SOURCE] !== rank) {
      this.hearVote(comparing, words, packet);
      return;
    }
    const name = { rank: words[packet + SOURCE]!, replica: replicaOf(words[packet + KIND]!) };
    if (words[packet + CONTEXT] === restWord) {
      this.rounds.hear(name, words[packet + TAG]!, words[packet + SEQUENCE] !== 0);
      return;
    }
    this.rounds.noticed();
    if (isRevivalWord(words[packet + CONTEXT]!)) {
      this.revival.hear(name, words[packet + CONTEXT]!, words[packet + TAG]!, words[packet + SEQUENCE]!);
      return;
    }
    if (name.rank === this.rank) {
      // Of a life that is over nothing counts: its successor may be expected already.
      if (this.membership.isAlive(name.rank, name.replica) && !this.revival.isDeafTo(name.replica))
        this.hearReplica(name.replica, words[packet + CONTEXT]!, words[packet + TAG]!, words[packet + SEQUENCE]!);
      return;
    }
    if (isNotice(words[packet + CONTEXT]!)) {
      this.hearNotice(name, noticeOf(words[packet + CONTEXT]!, words[packet + TAG]!));
      return;
    }
    if (isWholeVote(words[packet + CONTEXT]!)) {
      this.hearWhole(name, words, packet);
      return;
    }
    if (isRevocation(words[packet + CONTEXT]!)) {
      const { rank, replica } = name;
      if (!this.membership.isAlive(rank, replica)) return;
      this.revocations.hear(rank, replica, words[packet + TAG]!, words[packet + SEQUENCE]!);
      return;
    }
    const first = words[packet + TAG]!;
    const count = ((words[packet + SEQUENCE]! - first) | 0) + 1;
    // A word of a process that may be wrong changes no more than a word can be about.
    if (words[packet + CONTEXT] !== heldWord || count < 1 || count > runMax || name.rank === this.rank) return;
    if (this.membership.isAlive(name.rank, name.replica)) this.sends.receivers.hear(name, first, count);
  }

  /** A vote of another rank, and the messages of ours that its sender holds. */
  private hearVote(comparing: MessageComparison, words: Int32Array, packet: number): void {
    this.rounds.noticed();
    const rank = words[packet + SOURCE]!;
    const replica = replicaOf(words[packet + KIND]!);
    if (!this.membership.isAlive(rank, replica)) return;
    const held = words[packet + EXTRA + 1]!;
    if (held > 0 && held <= runMax) this.sends.receivers.hear({ rank, replica }, words[packet + EXTRA]!, held);
    comparing.hear(rank, replica, words[packet + CONTEXT]!, words[packet + TAG]!, words[packet + SEQUENCE]!);
  }

  /** A part of a vote that is a whole message, or a wish for more of one of ours. */
  private hearWhole(name: ProcessName, words: Int32Array, packet: number): void {
    if (!this.membership.isAlive(name.rank, name.replica)) return;
    if (isAsk(words[packet + CONTEXT]!)) this.sends.tellMore(name, words[packet + TAG]!, words[packet + SEQUENCE]!);
    else this.comparing?.hearWhole(words, packet);
  }

  override revoking(rank: number, context: number, bits: number): void {
    this.sends.revoke(rank, context, bits);
  }

  /** In a world that this process stands in for somebody, that rank has sent messages to ours. */
  private hearNotice({ rank, replica }: ProcessName, { world, first, count }: WorldNotice): void {
    if (!this.membership.isAlive(rank, replica) || world >= this.membership.replicas) return;
    if (count === 0) this.gates.hearBefore(world, rank, first);
    else this.gates.hear(world, rank, first, count);
    this.sends.gateMoved();
  }

  /** A packet of another replica of our own rank. */
  protected hearReplica(replica: number, a: number, b: number, c: number): void {
    if (isNotice(a)) this.hearOwnNotice(replica, a, b, c);
    else if (isComparison(a)) this.comparison.hear(replica, a, b, c);
    else this.files.hear(replica, a, b, c);
  }

  private hearOwnNotice(replica: number, a: number, b: number, rank: number): void {
    const notice = noticeOf(a, b);
    const { membership } = this;
    const isSound = notice.world < membership.replicas && rank >= 0 && rank < this.ports.ranks && rank !== this.rank;
    if (isSound && membership.isAlive(this.rank, replica)) this.sends.sentInWorlds.hear(rank, notice);
  }

  /** A message of another replica than the one that this process gets its messages from: the news of the deaths between them is on its way. */
  protected infer(rank: number, sender: number): void {
    const { membership, replica } = this;
    const unknown = this.revival.unknownTo(rank, sender);
    for (;;) {
      const expected = membership.substituteOf(rank, replica, unknown);
      if (expected === sender || expected < 0) return;
      this.peerFailed({ rank, replica: expected });
    }
  }

  override peerFailed(name: ProcessName, incarnation = this.membership.lifeOf(name.rank, name.replica)): void {
    const { membership } = this;
    const { rank, replica } = name;
    const isOwn = rank === this.rank && replica === this.replica;
    const wasAlive = membership.isAlive(rank, replica);
    if (isOwn || incarnation < 0 || !membership.die(rank, replica, incarnation)) return;
    if (wasAlive) this.ports.peerLost(name, incarnation);
    this.sends.lost(name);
    if (rank === this.rank) this.files.died(replica);
    this.revival.died(name);
    this.comparing?.died(rank);
    this.revocations.died(rank);
  }

  /** Runs of messages that were compared with those of other replicas. */
  get runsCompared(): number {
    return this.comparison.compared;
  }

  override get kept(): readonly KeptPayload[] {
    return this.sends.kept;
  }

  override report(): Replicated {
    const { rank, replica, sends, acknowledgements, duplicates, comparing } = this;
    return {
      rank,
      replica,
      stoodInFor: sends.served.stoodInFor,
      sent: sends.sent,
      sentForOthers: sends.sentForOthers,
      acknowledgements: acknowledgements.words,
      duplicates,
      compared: comparing?.compared ?? 0,
      uncompared: comparing?.uncompared ?? 0,
      comparedBytes: sends.comparedBytes,
    };
  }
}

lives({ ReplicationProtocol });
