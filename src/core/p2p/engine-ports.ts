/**
 * The surroundings of an engine: the transport and the memory of its process, the protocol's hooks, a tracer. The
 * parts of the engine (outbox.ts, matching.ts, transfers.ts, …) share these and one table of records.
 */
import type { Pointer, RecordId, WorldRank } from "../base/brand.ts";
import type { Arrival, Pin } from "../request/decisions.ts";
import type { Memory } from "../request/memory.ts";
import type { Records } from "../request/records.ts";
import type { Transport } from "../wire/transport.ts";
import type { Pass } from "./pass.ts";
import type { Peers } from "./peers.ts";

/** The decisions of a protocol that the engine asks for; `core/ft` has the contract. Without a protocol no call is made. */
export interface EngineHooks {
  mayPass(peer: number): boolean;
  received(isAnySource: boolean, source: WorldRank, sequence: number): void;
  sendPosted(send: RecordId): boolean;
  keepsNow(dest: number): boolean;
  keepNow(from: Pointer, bytes: number, dest: number, tag: number, context: number, sequence: number): void;
  meeting(): void;
  sendMayLeave(send: RecordId): boolean;
  sendMayComplete(send: RecordId): boolean;
  lend(send: RecordId, isForLong: boolean): boolean;
  receivePosted(receive: RecordId): Pin;
  arrived(words: Int32Array, packet: number): Arrival;
  putAside(envelope: RecordId): void;
  mayCount(record: RecordId): boolean;
  held(source: WorldRank, sequence: number): void;
  matched(receive: RecordId, source: WorldRank, sequence: number): void;
  seen(source: WorldRank, sequence: number, isOver: boolean): void;
  collectiveBegins(collective: RecordId): void;
  actsFor(collective: RecordId): void;
  actsForProgram(): void;
  collectiveSeen(collective: RecordId): void;
  cancelling(receive: RecordId, isMatched: boolean): boolean;
  progress(): boolean;
  readonly sharesRevocations: boolean;
  revoking(rank: number, context: number, bits: number): void;
  readonly isBusy: boolean;
  readonly awaitsOthers: boolean;
  control(words: Int32Array, packet: number): void;
}

/** Told of matches while a trace is written; `null` otherwise. */
export interface EngineTracer {
  sent(dest: number, tag: number, bytes: number, sequence: number, context: number): void;
  matched(source: number, tag: number, bytes: number, sequence: number, context: number): void;
}

export interface EnginePorts {
  readonly peers: Peers;
  readonly records: Records;
  readonly transport: Transport;
  readonly memory: Memory;
  readonly hooks: EngineHooks | null;
  /** What each part closes when it begins something that a data plane does not know. */
  readonly pass: Pass;
}
