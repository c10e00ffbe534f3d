/**
 * Collectives of objects, which travel by structured clone: first everybody's lengths, then the bytes. Both halves are
 * numbered when the operation is started, so that collectives started meanwhile do not come between them.
 */
import type { Pointer, RecordId } from "../base/brand.ts";
import { PROC_NULL, ROOT } from "../base/constants.ts";
import { ErrorClass, MpiError } from "../base/mpi-error.ts";
import { saves } from "../base/saved-classes.ts";
import { packed } from "../coll/engine/rounds.ts";
import type { Blocks } from "../coll/engine/schedule.ts";
import type { Collective } from "../coll/plan.ts";
import type { Communicator } from "../process/communicator.ts";
import type { Process } from "../process/process.ts";
import { Task } from "../process/task.ts";
import { R_ERROR } from "../request/records.ts";
import { checkSize } from "./checks.ts";

export type ObjectKind = "bcast" | "gather" | "scatter" | "allgather" | "alltoall";

const none = -1 as RecordId;
const lengthBytes = 8;

export class ObjectCollective extends Task {
  /** What has arrived, by rank; empty where this rank gets nothing. */
  received: Uint8Array[] = [];
  /** What went wrong here, in words; `error` is its code. */
  mistake: MpiError | null = null;
  private readonly kind: ObjectKind;
  private readonly comm: Communicator;
  private readonly root: number;
  private readonly out: readonly Uint8Array[];
  private readonly incoming: number;
  private readonly tags: readonly [lengths: number, bytes: number];
  private phase: "start" | "lengths" | "bytes" = "start";
  private underWay = none;
  private send = 0 as Pointer;
  private receive = 0 as Pointer;
  private lengths: number[] = [];

  /** `out`: one message, or one for each peer. */
  constructor(kind: ObjectKind, comm: Communicator, root: number, out: readonly Uint8Array[]) {
    super();
    this.kind = kind;
    this.comm = comm;
    this.root = root;
    this.out = out;
    this.incoming = incomingCount(kind, comm, root);
    this.tags = [comm.promiseCollective(), comm.promiseCollective()];
  }

  override get together(): Communicator {
    return this.comm;
  }

  override advance(process: Process): boolean {
    try {
      return this.proceed(process);
    } catch (error) {
      if (!(error instanceof MpiError)) throw error;
      this.mistake = error;
      this.error = error.code;
      return this.giveUp();
    }
  }

  /** What has not begun of the two halves never will. */
  private giveUp(): true {
    for (const tag of this.tags) this.comm.endPromise(tag);
    return true;
  }

  private proceed(process: Process): boolean {
    for (;;) {
      switch (this.phase) {
        case "start":
          this.startLengths(process);
          this.phase = "lengths";
          break;
        case "lengths":
          if (!this.isOver(process)) return false;
          if (this.error !== 0) return this.giveUp();
          this.takeLengths(process);
          this.startBytes(process);
          this.phase = "bytes";
          break;
        case "bytes":
          if (!this.isOver(process)) return false;
          if (this.error === 0) this.takeBytes(process);
          return true;
      }
    }
  }

  /** After a failure peers may still read what we sent: that memory stays. */
  private isOver({ engine }: Process): boolean {
    if (!engine.isComplete(this.underWay)) return false;
    this.error = engine.records.get(this.underWay, R_ERROR);
    engine.giveBack(this.underWay);
    return true;
  }

  private startLengths({ memory, collectives }: Process): void {
    const isBcast = this.kind === "bcast";
    this.send = memory.allocate(lengthBytes * this.out.length);
    this.receive = memory.allocate(lengthBytes * Math.max(this.incoming, 1));
    const lengths = this.out.map((bytes) => bytes.length);
    const at = isBcast ? this.receive : this.send;
    new Float64Array(memory.bytes.buffer, at, lengths.length).set(lengths);
    const call = { bytes: lengthBytes, root: this.root, form: this.tags[0] };
    this.underWay = collectives.startEqual(this.comm, this.kind, this.send, this.receive, call);
  }

  private takeLengths({ memory }: Process): void {
    this.lengths = [...new Float64Array(memory.bytes.buffer, this.receive, this.incoming)];
    memory.free(this.send);
    memory.free(this.receive);
    if (this.lengths.every((length) => Number.isSafeInteger(length) && length >= 0)) return;
    throw new MpiError(
      ErrorClass.TYPE,
      `Cannot ${this.kind} objects: another rank gave an array; give objects on all ranks, or arrays on all`,
    );
  }

  private startBytes({ memory, collectives }: Process): void {
    const sends = packed(this.out.map((bytes) => bytes.length));
    const receives = packed(this.lengths);
    checkSize(Math.max(totalOf(sends), totalOf(receives)));
    this.send = memory.allocate(totalOf(sends));
    this.receive = memory.allocate(totalOf(receives));
    const at = this.kind === "bcast" ? this.receive : this.send;
    this.out.forEach((bytes, index) => {
      memory.bytes.set(bytes, at + sends.offsets[index]!);
    });
    const collective = this.collective(sends, receives);
    this.underWay = collectives.start(this.comm, collective, this.send, this.receive, null, this.tags[1]);
  }

  private collective(sends: Blocks, receives: Blocks): Collective {
    const place = { ...this.comm.place, root: this.root, nodes: this.comm.memberNodes };
    const [sent, received] = [sends.bytes[0] ?? 0, receives.bytes[0] ?? 0];
    /** `bytes` of an allgather is for inter-communicators. */
    const gathered = { ...place, bytes: sent, blocks: receives };
    switch (this.kind) {
      case "bcast":
        return { ...place, kind: "bcast", bytes: received };
      case "gather":
        return { ...gathered, kind: "gatherv" };
      case "scatter":
        return { ...place, kind: "scatterv", bytes: received, blocks: sends };
      case "allgather":
        return { ...gathered, kind: "allgatherv" };
      case "alltoall":
        return { ...place, kind: "alltoallv", sends, receives };
    }
  }

  private takeBytes({ memory }: Process): void {
    const { bytes, offsets } = packed(this.lengths);
    this.received = bytes.map((length, index) => {
      const at = this.receive + offsets[index]!;
      return memory.bytes.slice(at, at + length);
    });
    memory.free(this.send);
    memory.free(this.receive);
  }
}

/** How many messages this rank gets. The buffer of a broadcast counts on all ranks that have one. */
function incomingCount(kind: ObjectKind, comm: Communicator, root: number): number {
  const peers = comm.peers.size;
  switch (kind) {
    case "bcast":
      return root === PROC_NULL ? 0 : 1;
    case "gather":
      return root === (comm.isInter ? ROOT : comm.rank) ? peers : 0;
    case "scatter":
      return root === PROC_NULL || root === ROOT ? 0 : 1;
    case "allgather":
    case "alltoall":
      return peers;
  }
}

const totalOf = ({ bytes }: Blocks): number => bytes.reduce((total, length) => total + length, 0);

saves({ ObjectCollective });
