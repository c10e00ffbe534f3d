/** The operation log of a process, with its words on their way to and from the other replicas of the rank. */
import type { ProcessName } from "../../../base/identity.ts";
import { lives } from "../../../base/saved-classes.ts";
import type { ProtocolPorts } from "../../protocol.ts";
import type { PerformedAnswer, PerformedEntry, SharedOperations } from "../../shared-operations.ts";
import { OperationLog } from "./operation-log.ts";
import { encodeOperation, OperationReader } from "./operation-wire.ts";

/** The first word of packets about operations. */
export const operationWord = 2;
/** A packet has no more bytes than any eager message may have. */
const pieceBytes = 512;

export class ReplicatedOperations implements SharedOperations {
  private readonly ports: ProtocolPorts;
  private readonly rank: number;
  private readonly log: OperationLog;
  /** By replica. */
  private readonly readers: OperationReader[];

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

  /** A packet of another replica of the rank. */
  hear(replica: number, bytes: Uint8Array): void {
    for (const word of this.readers[replica]?.push(bytes) ?? []) this.log.take(replica, word);
    this.flush();
  }

  died(replica: number): void {
    this.log.died(replica);
    this.flush();
  }

  private flush(): void {
    for (const { to, word } of this.log.outbox.splice(0)) {
      const bytes = new Uint8Array(encodeOperation(word).buffer);
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        const payload = bytes.subarray(at, at + pieceBytes);
        this.ports.tell({ rank: this.rank, replica: to }, { a: operationWord, payload });
      }
    }
  }
}

lives({ ReplicatedOperations });
