/**
 * A fault-tolerance protocol: what Open MPI's PML-V hooks see, and three decisions: where a send goes, when a request may
 * be reported complete, which packet a receive must take. `none` (beside this file) is the template; the conformance suite
 * is `protocol-conformance.ts`; `registry.ts` lists them all.
 *
 * Who calls: `core/process`, from the engine of one process, always in that process's thread, never re-entrantly. When, and
 * in which order, stands on each method. What an implementation must never do: wait, read a clock, keep state that `save`
 * does not write, call back into the engine except through the `ProtocolPorts` it was made with.
 */
import type { RecordId, WorldRank } from "../base/brand.ts";

/** A choice that could have gone another way; replaying protocols record it, and in replay answer with the recorded one. */
export interface Choice {
  readonly kind: "test" | "probe" | "any" | "some" | "cancel" | "clock" | "random" | "input";
  /** What came out, as small integers whose meaning is the kind's. */
  readonly outcome: readonly number[];
}

/** Output, files, the result, the exit code: what leaves the process without being a message. */
export interface Write {
  readonly kind: "line" | "file" | "result" | "exit";
  readonly number: number;
}

/** What a process that came back holds of one channel: the first sequence it lacks, and later ones it has already. */
export interface ChannelState {
  readonly firstMissing: number;
  readonly held: readonly number[];
}

export interface StateWriter {
  int(value: number): void;
  bytes(value: Uint8Array): void;
}
export interface StateReader {
  int(): number;
  bytes(): Uint8Array;
}

export interface Protocol {
  readonly name: string;

  /** A send was posted and has its sequence number. Called once, before anything of it leaves. */
  sendPosted(send: RecordId): void;
  /** May the packet of this send leave now? Asked before the first byte leaves and again on every progress until true. */
  sendMayLeave(send: RecordId): boolean;
  /** May the program hear that this send is complete? Asked when the engine is done with it, and again until true. */
  sendMayComplete(send: RecordId): boolean;
  /** A receive was posted, not yet matched: replay pins its source and sequence in the record. */
  receivePosted(receive: RecordId): void;
  /** A packet of a message has arrived; before matching. False drops it: a duplicate, or an old life's. Words as in core/wire. */
  arrived(words: Int32Array, packet: number): boolean;
  /** All bytes of the message are in this process, in the buffer or in the unexpected memory. Once for each message. */
  held(source: WorldRank, sequence: number): void;
  /** This receive has taken that message. Called once, before `held` unless the payload came first. */
  matched(receive: RecordId, source: WorldRank, sequence: number): void;
  /** A choice was made; what is returned is what the program is told. */
  outcome(choice: Choice): Choice;
  /** As `sendMayLeave`, for everything else that leaves. */
  writeMayLeave(write: Write): boolean;
  /** A PROTOCOL packet from another process of the job. */
  control(words: Int32Array, packet: number): void;
  /** The dispatcher declared a death; in one order that every process sees. */
  peerFailed(rank: WorldRank, incarnation: number): void;
  /** A new life of that rank is there; `has` is what it holds of the channel from us. */
  peerReturned(rank: WorldRank, incarnation: number, has: ChannelState): void;
  /** All state, so that `restore` of another instance goes on as this one would have. */
  save(writer: StateWriter): void;
  restore(reader: StateReader): void;
}
