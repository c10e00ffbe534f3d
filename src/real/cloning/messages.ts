/** Between a node's main thread and the two threads by which the memory of a process travels: `CloneSender` and `CloneReceiver`. */
import type { MemoryMarks } from "../../core/request/memory-marks.ts";
import type { ImageFacts, ImageHeader } from "../../image/header.ts";
import type { MemoryRange } from "../../image/ranges.ts";
import type { JobSecret } from "../transport/handshake/handshake.ts";
import type { Address } from "../transport/sockets/address.ts";
import type { Lane } from "./lanes.ts";

/** Which clone: the process that it is made from, and the number of its image. */
export interface CloneKey {
  readonly source: number;
  readonly number: number;
}

/** `workerData` of the thread that gives the memory away. */
export interface SenderSetup {
  readonly clone: CloneKey;
  readonly lane: Lane;
  readonly memory: WebAssembly.Memory;
  readonly marks: MemoryMarks;
  readonly job: JobSecret;
  /** Where it listens, at any port. */
  readonly host: string;
}

/** The program stands still: the rest, and the state of its process, which goes with the first lane. */
export interface LastPart {
  readonly header: ImageFacts;
  readonly state: Uint8Array;
  readonly ranges: readonly MemoryRange[];
}

export interface CopiedRound {
  readonly pages: number;
  readonly ms: number;
}

export type FromSender =
  | { readonly kind: "listening"; readonly port: number }
  /** Little is left, or it does not become less. */
  | { readonly kind: "copied"; readonly rounds: readonly CopiedRound[] }
  /** The memory is not needed any more: the program may go on. */
  | { readonly kind: "captured"; readonly last: CopiedRound }
  | { readonly kind: "failed"; readonly problem: string };

/** The one message to the thread that fills the memory of the clone. */
export interface ReceiverSetup {
  readonly clone: CloneKey;
  /** Which lane. */
  readonly index: number;
  /** Fresh; other lanes fill other parts of it. */
  readonly memory: WebAssembly.Memory;
  readonly job: JobSecret;
  readonly from: Address;
}

/** The image is complete; its pages are in the memory. */
export interface ArrivedClone {
  readonly header: ImageHeader;
  readonly state: Uint8Array;
  readonly bytes: number;
}

export type FromReceiver =
  | ({ readonly kind: "arrived" } & ArrivedClone)
  | { readonly kind: "failed"; readonly problem: string };
