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

/** The first message to the thread that gives the memory away. */
export interface SenderSetup {
  readonly clone: CloneKey;
  readonly lane: Lane;
  readonly memory: WebAssembly.Memory;
  readonly marks: MemoryMarks;
  readonly job: JobSecret;
  /** Where it listens, at any port. */
  readonly host: string;
}

/** The program stands still: what is left of its memory. */
export interface LastLook {
  readonly kind: "last-look";
  readonly ranges: readonly MemoryRange[];
}

/** Behind the last look: the state of its process, which goes with the first lane. It is made while the memory is looked at. */
export interface LastPart {
  readonly kind: "last-part";
  readonly header: ImageFacts;
  readonly state: Uint8Array;
}

export type ToSender = ({ readonly kind: "setup" } & SenderSetup) | LastLook | LastPart;

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
  /** Behind that: nothing more will leave. The thread waits for another setup. */
  | { readonly kind: "over" }
  | { readonly kind: "failed"; readonly problem: string };

/** To the thread that fills the memory of the clone. It waits for another one when that has arrived. */
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
