/**
 * Replication with a leader (ADR 40), for programs that are not send-deterministic. The lowest replica of a rank that lives decides what may come
 * to one thing or another: which message a receive from any source takes, what tests and probes say, what a clock shows. The others
 * make the same calls, wait, and are told. Messages go as in the parallel protocol, which this one extends: replica k sends to replica k, and
 * all replicas send the same, because they are in the same state.
 *
 *   decision-log.ts    the decisions of the rank, held by all living replicas, and who succeeds a leader
 *   told-decisions.ts  those that the program has not come to yet
 *   led-choices.ts     tests, probes, clocks
 *   led-receives.ts    receives from any source
 *   leader-sends.ts    a message leaves when every decision before it is held by all
 */
import type { RecordId, WorldRank } from "../../../base/brand.ts";
import type { ProcessName } from "../../../base/identity.ts";
import { lives } from "../../../base/saved-classes.ts";
import { Pin } from "../../../request/decisions.ts";
import { R_CONTEXT, R_PEER, RecordFlag } from "../../../request/records.ts";
import type { ProtocolPorts, Write } from "../../protocol.ts";
import { isOfProgram } from "../../send-record/send-log.ts";
import type { SharedOperations } from "../../shared-operations.ts";
import { type ReplicationOptions, ReplicationProtocol } from "../replication-protocol.ts";
import type { ReplicatedSendsParts } from "../sending/replicated-sends.ts";
import { DecisionReader, encodeDecision } from "./decision-wire.ts";
import { LeaderSends } from "./leader-sends.ts";
import { LedChoices } from "./led-choices.ts";
import { LedOperations } from "./led-operations.ts";
import { LedReceives } from "./led-receives.ts";

/** The first word of packets about decisions. */
const DecisionPacket = {
  /** Two more words of the stream follow, or one. */
  TWO: 6,
  ONE: 7,
  /** How many decisions the sender holds, and how many its program has come to. */
  HELD: 8,
} as const;

export class LeaderProtocol extends ReplicationProtocol {
  static override readonly unsaved = { ...ReplicationProtocol.unsaved, lastWrite: -1 };
  declare protected readonly sends: LeaderSends;
  private readonly led: LedChoices;
  private readonly receives: LedReceives;
  /** By replica. */
  private readonly readers: readonly DecisionReader[];
  private readonly ledFiles: LedOperations;
  /** The write that was asked about last, and how many decisions must be stable before it. */
  private lastWrite = -1;
  private writeTicket = 0;

  constructor(options: ReplicationOptions, ports: ProtocolPorts) {
    super(options, ports);
    const { log, told } = this.sends;
    this.led = new LedChoices(log, told);
    this.receives = new LedReceives(ports.records, { log, told, choices: this.led });
    this.readers = Array.from({ length: this.membership.replicas }, () => new DecisionReader());
    this.ledFiles = new LedOperations(super.operations, () => this.isStableNow());
  }

  protected override newSends(parts: ReplicatedSendsParts): LeaderSends {
    return new LeaderSends(this.ports, parts);
  }

  override get choices(): LedChoices {
    return this.led;
  }

  /** Whoever changes a file does so when nothing that led to it can be undone. */
  override get operations(): SharedOperations {
    return this.ledFiles;
  }

  private isStableNow(): boolean {
    const { log } = this.sends;
    this.led.closeRun();
    this.flush();
    return log.stable >= log.known;
  }

  // The program

  /** A process that may not pass itself posts all of its receives. */
  override mayPass(): boolean {
    return false;
  }

  override sendPosted(send: RecordId): boolean {
    const { records } = this.ports;
    this.led.closeRun();
    // As for a copy: whether it is complete at once must not depend on room.
    if (records.get(send, R_PEER) === this.rank) records.addFlag(send, RecordFlag.INSISTS);
    const isTaken = super.sendPosted(send);
    this.flush();
    return isTaken;
  }

  override receivePosted(receive: RecordId): Pin {
    super.receivePosted(receive);
    if (!isOfProgram(this.ports.records.get(receive, R_CONTEXT))) return Pin.FREE;
    return this.receives.post(receive);
  }

  override matched(receive: RecordId, source: WorldRank, sequence: number): void {
    this.receives.matched(receive, source, sequence);
  }

  override mayCancel(receive: RecordId): boolean {
    return this.receives.mayCancel(receive);
  }

  override cancelling(receive: RecordId, isMatched: boolean): boolean {
    return this.receives.cancelling(receive, isMatched);
  }

  override writeMayLeave({ number }: Write): boolean {
    const { log } = this.sends;
    if (number !== this.lastWrite) {
      this.lastWrite = number;
      this.led.closeRun();
      this.writeTicket = log.known;
      this.flush();
    }
    return log.stable >= this.writeTicket;
  }

  // Words

  protected override hearReplica(replica: number, a: number, b: number, c: number): void {
    if (a < DecisionPacket.TWO || a > DecisionPacket.HELD) {
      super.hearReplica(replica, a, b, c);
      return;
    }
    if (a === DecisionPacket.HELD) this.sends.log.take(replica, { kind: "held", view: 0, known: b, passed: c });
    else {
      this.read(replica, b);
      if (a === DecisionPacket.TWO) this.read(replica, c);
    }
    this.follow();
  }

  private read(replica: number, next: number): void {
    const word = this.readers[replica]?.push(next) ?? null;
    if (word !== null) this.sends.log.take(replica, word);
  }

  /** Decisions have come, or this process leads now: receives that wait are asked again. */
  private follow(): void {
    const { log } = this.sends;
    const { receives, ports } = this;
    const hasNews = log.news.length !== 0;
    for (const decision of log.news) this.sends.told.add(decision);
    log.news.length = 0;
    if (receives.areWaiting && (hasNews || log.leads)) {
      receives.areWaiting = false;
      ports.pinWaiting((receive) => receives.pinOf(receive));
    }
    this.flush();
  }

  private flush(): void {
    const { log } = this.sends;
    if (log.outbox.length === 0) return;
    for (const { to, word } of log.outbox) {
      const name = { rank: this.rank, replica: to };
      if (word.kind === "held") {
        this.ports.tell(name, { a: DecisionPacket.HELD, b: word.known, c: word.passed });
        continue;
      }
      const words = encodeDecision(word);
      for (let at = 0; at < words.length; at += 2) {
        const a = at + 1 < words.length ? DecisionPacket.TWO : DecisionPacket.ONE;
        this.ports.tell(name, { a, b: words[at]!, c: words[at + 1] ?? 0 });
      }
    }
    log.outbox.length = 0;
  }

  override get isBusy(): boolean {
    const { log } = this.sends;
    return log.hasWords || log.outbox.length !== 0 || this.led.hasOpenRun || super.isBusy;
  }

  override progress(): boolean {
    const { log } = this.sends;
    const hasRun = this.led.progress();
    if (log.hasWords) log.sayHeld();
    const hasWords = log.outbox.length !== 0;
    this.flush();
    return super.progress() || hasWords || hasRun;
  }

  override peerFailed(name: ProcessName, incarnation = 0): void {
    const isOther = name.rank === this.rank && name.replica !== this.replica;
    super.peerFailed(name, incarnation);
    if (!isOther || this.membership.isAlive(name.rank, name.replica)) return;
    this.sends.log.died(name.replica);
    this.follow();
  }
}

lives({ LeaderProtocol });
