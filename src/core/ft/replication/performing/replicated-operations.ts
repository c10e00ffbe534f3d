/** The operation log of a process, with its words on their way to and from the other replicas of the rank. */
import type { ProcessName } from "../../../base/identity.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { PerformedAnswer, PerformedEntry, SharedOperations } from "../../shared-operations.ts";
import { OperationLog } from "./operation-log.ts";
import { encodeOperation, OperationReader } from "./operation-wire.ts";

/** The first word of packets about operations: two more words of the stream follow, or one. */
const OperationPacket = { TWO: 2, ONE: 3 } as const;

export class ReplicatedOperations implements SharedOperations {
  private readonly ports: ProtocolPorts;
  private readonly rank: number;
  private readonly log: OperationLog;
  /** By replica. */
  private readonly readers: OperationReader[];
  /** What the source of a clone has said of its log. */
  private sourceKnown = 0;
  private sourcePassed = 0;
  /** Bits: replicas that are being made, and cannot be told anything; those that do not know yet that this process has gone on elsewhere. */
  private coming = 0;

  /** `replicas`: how many there can be; `living`: a bit for each that lives. */
  constructor(ports: ProtocolPorts, { rank, replica }: ProcessName, replicas: number, living: number) {
    this.ports = ports;
    this.rank = rank;
    this.log = new OperationLog({ replica, replicas, living });
    this.readers = Array.from({ length: replicas }, () => new OperationReader());
  }

  get isReady(): boolean {
    return this.log.isReady;
  }

  get isHeld(): boolean {
    return this.log.isHeld;
  }

  get mayChange(): boolean {
    return this.log.mayChange;
  }

  ask(): PerformedAnswer {
    const answer = this.log.ask();
    this.flush();
    return answer;
  }

  append(entry: PerformedEntry): void {
    this.log.append(entry);
    this.flush();
  }

  /** A packet of another replica of the rank, its three words. */
  hear(replica: number, kind: number, one: number, two: number): void {
    if (kind !== OperationPacket.TWO && kind !== OperationPacket.ONE) return;
    this.read(replica, one);
    if (kind === OperationPacket.TWO) this.read(replica, two);
    this.flush();
  }

  private read(replica: number, next: number): void {
    const word = this.readers[replica]?.push(next) ?? null;
    if (word !== null) this.log.take(replica, word);
  }

  died(replica: number): void {
    this.coming &= ~(1 << replica);
    this.log.died(replica);
    this.flush();
  }

  // Clones

  get known(): number {
    return this.log.known;
  }

  get passed(): number {
    return this.log.passedCount;
  }

  sourceIs(known: number, passed: number): void {
    this.sourceKnown = Math.max(0, known);
    this.sourcePassed = Math.max(0, passed);
  }

  /** A replica will be back, as a clone of the source that has just spoken. */
  expect(replica: number): void {
    this.coming |= 1 << replica;
    this.log.expect(replica, this.sourceKnown, this.sourcePassed);
  }

  returned(replica: number): void {
    this.coming &= ~(1 << replica);
    this.readers[replica] = new OperationReader();
    this.log.returned(replica);
    this.flush();
  }

  /** This process is a clone, and that replica; `isMoved`: it was that before, and is deaf to each of the others until that has met it. */
  begin(replica: number, living: number, isMoved: boolean): void {
    this.coming = isMoved ? living & ~(1 << replica) : 0;
    for (const other of this.readers.keys()) this.readers[other] = new OperationReader();
    this.log.begin(replica, living, isMoved);
    this.flush();
  }

  /** That replica knows by now that this process has gone on elsewhere. Asked before, its answer would have been for the life before. */
  met(replica: number): void {
    this.coming &= ~(1 << replica);
    this.log.met(replica);
    this.flush();
  }

  private flush(): void {
    for (const { to, word } of this.log.outbox.splice(0)) {
      if ((this.coming & (1 << to)) !== 0) continue;
      const name = { rank: this.rank, replica: to };
      const words = encodeOperation(word);
      for (let at = 0; at < words.length; at += 2) {
        const a = at + 1 < words.length ? OperationPacket.TWO : OperationPacket.ONE;
        this.ports.tell(name, { a, b: words[at]!, c: words[at + 1] ?? 0 });
      }
    }
  }
}

lives({ ReplicatedOperations });
